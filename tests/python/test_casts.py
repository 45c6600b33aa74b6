"""Conversions between all dtypes beside NumPy's, around the lengths at which loops change hands."""

import itertools

import numpy as np
import oploom
import pytest

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
LENGTHS = [0, 1, 7, 64, 255, 256, 257, 700]


def as_bfloat16(x):
    """float32 values rounded to the nearest bfloat16, ties to even, by their bits."""
    bits = x.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), np.float32(np.nan), rounded.view(np.float32))


def values(dtype, n):
    """Numbers that every other dtype holds or rounds: no conversion of them is undefined."""
    random = np.random.default_rng(n)
    x = random.integers(-128 if dtype[0] == "i" else 0, 2 if dtype == "bool" else 128, n)
    if "float" in dtype or "complex" in dtype:
        x = x + random.integers(0, 4, n) / 4
    return x


def converted(x, dtype):
    with np.errstate(over="ignore"):
        if dtype == "bfloat16":
            return as_bfloat16(x.real)
        if dtype == "bool" or "complex" in dtype:
            return x.astype(dtype)
        return x.real.astype(dtype)


@pytest.mark.filterwarnings("ignore:complex values lose their imaginary part")
@pytest.mark.parametrize(
    "source, target", [p for p in itertools.product(DTYPES, DTYPES) if p[0] != p[1]]
)
def test_every_pair(source, target):
    for n in LENGTHS:
        x = converted(values(source, n), source)
        if "complex" in source:
            x = x + 1j * x[::-1].astype(x.dtype)
        t = oploom.tensor(x.tolist(), dtype=getattr(oploom, source))
        expected = converted(x, target)
        if target == "bfloat16":
            expected = expected.astype(np.float32)
        for strided in (False, True):
            operand = oploom.stack([t, t], 1).select(1, 1) if strided else t
            result = oploom.full([n, 2], 7, dtype=getattr(oploom, target)).select(1, 0)
            result.copy_(operand)
            dense = operand.to(getattr(oploom, target))
            for got in (result, dense):
                assert got.tolist() == expected.tolist(), (n, strided)


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "target", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
)
def test_what_is_not_finite(source, target):
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-7, -65504.0] * 50)
    t = oploom.tensor(x.tolist(), dtype=getattr(oploom, source))
    wide = np.array(t.to(oploom.float64).tolist())
    expected = converted(wide, target).astype(np.complex128).real
    got = np.array(t.to(getattr(oploom, target)).to(oploom.complex128).tolist()).real
    np.testing.assert_array_equal(got, expected)
    assert (np.signbit(got[3::6])).all()
