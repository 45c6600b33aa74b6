"""Copies to another order of dimensions, as models and images want them, compared with NumPy."""

import numpy as np
import oploom
import pytest

DTYPES = ["uint8", "int16", "float32", "float64", "complex128"]


def numbers(shape, dtype):
    n = int(np.prod(shape))
    return (np.arange(n) * 7 % 251).astype(dtype).reshape(shape)


def check(array, shape, dims):
    """Copies array.reshape(shape).transpose(dims), and the same of some of its last dimension."""
    tensor = oploom.from_dlpack(array)
    parts = array.reshape(shape)
    copy = tensor.reshape(shape).permute(dims).contiguous()
    np.testing.assert_array_equal(np.from_dlpack(copy), parts.transpose(dims))
    if shape[-1] > 2:
        copy = tensor.reshape(shape).narrow(-1, 1, shape[-1] - 1).permute(dims).contiguous()
        np.testing.assert_array_equal(np.from_dlpack(copy), parts[..., 1:].transpose(dims))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 7, 9])
def test_channels(channels, dtype):
    # Of the larger ones, threads take parts that begin anywhere.
    for n, high, wide in [(1, 1, 9), (2, 3, 5), (3, 8, 8), (2, 17, 31), (1, 150, 133)]:
        check(numbers((n, channels, high, wide), dtype), (n, channels, high, wide), (0, 2, 3, 1))
        check(numbers((n, high, wide, channels), dtype), (n, high, wide, channels), (0, 3, 1, 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("side", [2, 4, 7, 14, 16, 19])
def test_patches(side, channels, dtype):
    for n, high, wide in [(2, 1, 2), (1, 3, 2), (2, 12, 11)]:
        image = (n, channels, high, side, wide, side)
        check(numbers(image, dtype), image, (0, 2, 4, 3, 5, 1))
        check(numbers(image, dtype), image, (0, 2, 4, 1, 3, 5))
        patches = (n, high, wide, side, side, channels)
        check(numbers(patches, dtype), patches, (0, 5, 1, 3, 2, 4))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [2, 3, 4, 8])
def test_pixel_shuffle(scale, dtype):
    for n, channels, high, wide in [(1, 3, 5, 6), (2, 3, 16, 40)]:
        shape = (n, channels, scale, scale, high, wide)
        check(numbers(shape, dtype), shape, (0, 1, 4, 2, 5, 3))
        shape = (n, channels, high, scale, wide, scale)
        check(numbers(shape, dtype), shape, (0, 1, 3, 5, 2, 4))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("channels", [2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("wide", [2, 3, 7, 8, 11, 16, 40, 224])
def test_reversed_pixels(wide, channels, dtype):
    array = numbers((2, 3, wide, channels), dtype)
    tensor = oploom.from_dlpack(array)
    for dims in [(2,), (3,), (2, 3), (1, 2), (1, 2, 3)]:
        np.testing.assert_array_equal(np.from_dlpack(tensor.flip(dims)), np.flip(array, dims))
    # Fewer channels, every second one, and every second pixel.
    for part in np.s_[..., 1:], np.s_[..., :-1], np.s_[..., ::2], np.s_[..., ::2, :]:
        copy = tensor[part].contiguous()
        np.testing.assert_array_equal(np.from_dlpack(copy), array[part])
        backwards = np.from_dlpack(tensor[part].flip((2,)))
        np.testing.assert_array_equal(backwards, np.flip(array[part], 2))
    # Rows that overlap, and rows with gaps behind them.
    flat = tensor.reshape(-1)
    for size in range(2, 6):
        windows = np.lib.stride_tricks.sliding_window_view(array.reshape(-1), size)
        copy = flat.as_strided((len(windows), size), (1, 1)).contiguous()
        np.testing.assert_array_equal(np.from_dlpack(copy), windows)
    into = oploom.zeros((2, 3, wide, channels + 1), dtype=tensor.dtype)
    into[..., 1:] = tensor.flip((3,))
    wanted = np.pad(array[..., ::-1], [(0, 0)] * 3 + [(1, 0)])
    np.testing.assert_array_equal(np.from_dlpack(into), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_order(dtype):
    array = numbers((3, 4, 17, 19), dtype)
    for dims in np.ndindex(4, 4, 4, 4):
        if len(set(dims)) == 4:
            check(array, array.shape, dims)
