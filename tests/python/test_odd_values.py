"""Values and memory that are allowed by what hands them over, and that kernels do not expect."""

from math import inf, nan

import numpy as np
import oploom
import pytest

UNALIGNED = np.zeros(81)[1:].view(np.complex128)
NOT_BOOLS = np.array([2, 3, 0, 1] * 4, dtype=np.uint8).view(np.bool_)


@pytest.mark.parametrize("make", [
    oploom.from_numpy,
    oploom.from_dlpack,
    lambda array: oploom.frombuffer(bytearray(8 + array.nbytes), dtype=oploom.complex128, offset=8),
])
def test_unaligned_memory_is_refused(make):
    with pytest.raises(ValueError, match="begins at a multiple of 16 bytes; copy it first"):
        make(UNALIGNED)


@pytest.mark.parametrize("make", [oploom.asarray, oploom.as_tensor, oploom.tensor])
def test_unaligned_memory_is_copied(make):
    assert make(UNALIGNED).sum().item() == 0


def test_an_argument_called_by_a_word_of_python():
    assert not oploom.can_cast(from_=oploom.float32, to=oploom.int32)
    assert not oploom.can_cast(**{"from": oploom.float32, "to": oploom.int32})
    assert oploom.zeros(3).uniform_(from_=2, to=2).tolist() == [2, 2, 2]


def test_bools_of_other_bytes_are_refused():
    with pytest.raises(ValueError, match="expected bools whose bytes are 0 or 1"):
        oploom.from_numpy(NOT_BOOLS)
    with pytest.raises(ValueError, match="expected bools whose bytes are 0 or 1"):
        oploom.frombuffer(bytearray([0, 1, 255]), dtype=oploom.bool)


def test_bools_that_are_changed_later_do_not_reach_beyond_the_result():
    memory = np.zeros(16, dtype=np.uint8)
    mask = oploom.from_numpy(memory.view(np.bool_))
    memory[:] = 3
    assert oploom.arange(16).masked_select(mask).tolist() == list(range(16))
    assert mask.nonzero().shape == (16, 1)


def test_numpy_numbers_and_arrays_on_the_left():
    x = oploom.ones(2, requires_grad=True)
    for result in (np.sqrt(2) * x, np.float64(3) - x, np.ones(2) / x, np.float32(2) ** x):
        assert isinstance(result, oploom.Tensor) and result.requires_grad
    whole = oploom.tensor([1, 2])
    assert (np.float32(2) * whole).dtype is oploom.float32
    assert (np.float64(1) == whole).tolist() == [True, False]
    assert (np.array([1, 3]) < whole).tolist() == [False, False]
    assert (np.ones((2, 2)) @ oploom.ones(2, dtype=oploom.float64)).tolist() == [2, 2]
    same = whole
    same += np.array([1, 1])
    assert same is whole and whole.tolist() == [2, 3]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e20])
def test_floats_that_are_no_integers(value):
    x = oploom.zeros(2, dtype=oploom.int64)
    with pytest.raises(ValueError, match="does not fit int64"):
        x[[0]] = value
    with pytest.raises(ValueError, match="does not fit int64"):
        x[x == 0] = value
    with pytest.raises(ValueError, match="does not fit int64"):
        oploom.tensor([value], dtype=oploom.int64)
    assert x.tolist() == [0, 0]


def test_complex_zero_to_the_power_zero():
    z = oploom.tensor([0j, 1 + 1j], requires_grad=True)
    assert (z**0).tolist() == [1, 1]
    assert (z ** oploom.tensor([0j, 0j])).tolist() == [1, 1]
    (first,) = oploom.autograd.grad((z**2).real.sum(), z, create_graph=True)
    (second,) = oploom.autograd.grad(first.real.sum(), z)
    assert second.tolist() == [2, 2]


def test_exponents_beyond_the_dtype():
    assert (oploom.tensor([2.0, 0.5]) ** 1e300).tolist() == [float("inf"), 0]


@pytest.mark.parametrize("change, message", [
    (lambda grad: grad.double(), "dtype of a gradient from float32 to float64"),
    (lambda grad: grad > 0, "dtype of a gradient from float32 to bool"),
    (lambda grad: oploom.ones(3, device="meta"), "from the device cpu to meta"),
])
def test_hooks_keep_dtype_and_device(change, message):
    x = oploom.ones(3, requires_grad=True)
    x.register_hook(change)
    with pytest.raises(RuntimeError, match=message):
        x.sum().backward()
    assert x.grad is None


def test_data_of_a_tensor_that_requires_grad():
    x = oploom.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="floating-point or complex dtype, got int64"):
        x.data = oploom.zeros(3, dtype=oploom.int64)
    assert x.dtype is oploom.float32


def test_where_with_two_numbers_has_the_default_dtype():
    for condition in (oploom.tensor([True, False]), oploom.tensor(True)):
        assert oploom.where(condition, 2.5, 2.5).dtype is oploom.float32
        assert oploom.where(condition, 2, 3).dtype is oploom.int64


def test_means_of_nothing():
    loss = oploom.nn.functional.cross_entropy(oploom.zeros(0, 3), oploom.zeros(0, 3))
    assert loss.isnan().item()
    assert oploom.zeros(0).var(correction=-1).isnan().item()
    assert oploom.zeros(0, 3).std(dim=0, correction=-2).isnan().all().item()


@pytest.mark.parametrize("dtype", [oploom.float16, oploom.bfloat16, oploom.float32])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_smoothed_cross_entropy_keeps_the_dtype(dtype, reduction):
    x = oploom.randn(3, 4).to(dtype)
    loss = oploom.nn.functional.cross_entropy(x, oploom.tensor([0, 1, 2]), reduction=reduction,
                                              label_smoothing=0.1)
    assert loss.dtype is dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_16_bit_float_is_classified(dtype):
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.int16)
    x = oploom.from_dlpack(bits).view(getattr(oploom, dtype))
    if dtype == "float16":
        numbers = bits.view(np.float16)
    else:
        numbers = (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    for name in ["isnan", "isinf", "isfinite"]:
        result = np.from_dlpack(getattr(oploom, name)(x))
        np.testing.assert_array_equal(result, getattr(np, name)(numbers), name)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_clamp_passes_nan_on(dtype):
    numbers = [nan, -inf, -2.0, -0.0, 0.5, 3.0, inf] * 11
    x = oploom.tensor(numbers, dtype=getattr(oploom, dtype))
    for low, high in [(-1, 1), (1, -1), (-inf, 2), (nan, 1), (-1, nan), (nan, nan)]:
        wanted = np.minimum(np.maximum(numbers, low), high)
        np.testing.assert_array_equal(oploom.clamp(x, low, high).tolist(), wanted)
        np.testing.assert_array_equal(x.clone().clamp_(low, high).tolist(), wanted)
        wanted = np.maximum(numbers, low)
        np.testing.assert_array_equal(oploom.clamp_min(x, low).tolist(), wanted)
        np.testing.assert_array_equal(oploom.clamp(x, min=low).tolist(), wanted)
        wanted = np.minimum(numbers, high)
        np.testing.assert_array_equal(oploom.clamp_max(x, high).tolist(), wanted)
        np.testing.assert_array_equal(oploom.clamp(x, max=high).tolist(), wanted)
