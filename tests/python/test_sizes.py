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
