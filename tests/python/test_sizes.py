"""Pointwise operators on calls of every size: the shortest have their inputs copied together, short
rows are taken several at a time, long ones are split."""

import itertools

import numpy as np
import oploom
import pytest

DTYPES = ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"]
SHAPES = [
    ((1,), (1,)),
    ((7,), ()),
    ((3, 1), (4,)),
    ((5, 1, 3), (2, 1)),
    ((2, 3, 4), (3, 1)),
    ((2, 3, 1), (3, 4)),
    ((16, 17), (17,)),
    ((40, 1), (1, 40)),
    ((300, 5), (5,)),
    ((5, 300), (5, 1)),
    ((130, 3, 7), (3, 1)),
    ((3, 200, 300), (200, 1)),
]


def numbers(shape, dtype, seed):
    random = np.random.default_rng(seed)
    if dtype == "complex64":
        return np.asarray(random.standard_normal(shape) + 1j * random.standard_normal(shape), dtype)
    return np.asarray(random.integers(0, 2 if dtype == "bool" else 9, shape), dtype)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtypes", itertools.product(DTYPES, DTYPES), ids="-".join)
def test_two_tensors(shapes, dtypes):
    a, b = (numbers(shape, dtype, i) for i, (shape, dtype) in enumerate(zip(shapes, dtypes)))
    ours = oploom.from_numpy(a), oploom.from_numpy(b)
    exact = np.result_type(a, b, np.float64 if "complex64" not in dtypes else np.complex128)
    for first, second in ((0, 1), (1, 0)):
        product = oploom.mul(ours[first], ours[second])
        wanted = ((a, b)[first].astype(exact) * (a, b)[second].astype(exact)).astype(
            product.numpy().dtype
        )
        np.testing.assert_allclose(product.numpy(), wanted, rtol=1e-6)
    equal = oploom.eq(*ours)
    assert equal.dtype == oploom.bool
    np.testing.assert_array_equal(equal.numpy(), a.astype(exact) == b.astype(exact))


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("number", [2, 2.5, True, 1 + 2j], ids=str)
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_a_tensor_and_a_number(shapes, number, dtype):
    a = numbers(shapes[0], dtype, 0)
    result = (oploom.from_numpy(a) * number).numpy()
    np.testing.assert_allclose(result, a * number, rtol=1e-6)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_three_tensors(shapes):
    a, b = (numbers(shape, "float32", i) for i, shape in enumerate(shapes))
    c = numbers(shapes[1], "float64", 2)
    ours = [oploom.from_numpy(x) for x in (a, b, c)]
    result = oploom.addcmul(*ours)
    np.testing.assert_allclose(result.numpy(), a.astype(np.float64) + b.astype(np.float64) * c)


def test_numbers_that_are_kept_stay_what_they_are():
    # A thread uses the tensor of a number again, unless somebody holds it.
    x = oploom.ones(3, requires_grad=True)
    results = [x * (i + 0.5) for i in range(4)]
    for result in reversed(results):
        result.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.full(3, 8.0, np.float32))


@pytest.mark.parametrize("shape", [(3, 50), (40, 9), (70, 1100), (257, 130)], ids=str)
@pytest.mark.parametrize("dtypes", itertools.product(DTYPES, DTYPES), ids="-".join)
def test_a_transposed_tensor(shape, dtypes):
    # Converted on the way where the dtypes differ, in the output and in place too.
    a, b = numbers(shape, dtypes[0], 0), numbers(shape[::-1], dtypes[1], 1)
    ours = oploom.from_numpy(a), oploom.from_numpy(b)
    wanted = a.astype(np.result_type(a, b, np.float64)) * b.T
    product = ours[0] * ours[1].t()
    np.testing.assert_allclose(product.numpy(), wanted.astype(product.numpy().dtype), rtol=2e-3)
    both = ours[1].t() * ours[0]
    np.testing.assert_array_equal(both.numpy(), product.numpy())
    out = oploom.zeros(*shape, dtype=oploom.complex128)
    oploom.mul(ours[0], ours[1].t(), out=out)
    np.testing.assert_array_equal(out.numpy(), product.numpy())
    copy = oploom.zeros(*shape[::-1], dtype=ours[1].dtype)
    copy.copy_(ours[1].t().contiguous().t())
    np.testing.assert_array_equal(copy.numpy(), b)
    if product.dtype == ours[0].dtype:
        in_place = ours[0].clone()
        in_place *= ours[1].t()
        np.testing.assert_array_equal(in_place.numpy(), product.numpy())
