"""Reversing and filling elements of every size, which are moved whatever their dtype is."""

import itertools

import numpy as np
import oploom
import pytest

DTYPES = "bool uint8 int16 float16 bfloat16 int32 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (200,), (3, 67), (5, 1, 33), (2, 3, 4)])
def test_flip(dtype, shape):
    count = int(np.prod(shape, dtype=int))
    x = np.arange(count).reshape(shape) % 100
    tensor = oploom.tensor(x).to(getattr(oploom, dtype))
    x = x.astype(bool) if dtype == "bool" else x
    for size in range(len(shape) + 1):
        for dims in itertools.combinations(range(len(shape)), size):
            expected = np.flip(x, dims)
            assert oploom.flip(tensor, list(dims)).tolist() == expected.tolist(), dims
            # Of what lies otherwise in memory.
            turned = tensor.permute(list(reversed(range(len(shape)))))
            back = [len(shape) - 1 - d for d in dims]
            assert oploom.flip(turned, back).tolist() == expected.T.tolist(), dims
            if shape and shape[-1] > 1:
                every_second = oploom.flip(tensor[..., ::2], list(dims))
                assert every_second.tolist() == np.flip(x[..., ::2], dims).tolist(), dims


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 5, 64, 257])
def test_fill(dtype, n):
    value = True if dtype == "bool" else 2 - 3j if "complex" in dtype else 2.5
    for rows, step in itertools.product([1, 3], [1, 2]):
        whole = oploom.zeros([rows, (n + 2) * step], dtype=getattr(oploom, dtype))
        part = whole[:, step : (n + 1) * step : step]
        part.fill_(value)
        wanted = oploom.tensor(value).to(whole.dtype).item()
        assert part.tolist() == [[wanted] * n] * rows
        assert int((whole != 0).sum()) == rows * n
