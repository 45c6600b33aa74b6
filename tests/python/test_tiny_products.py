"""Products of batches of matrices in any layout; tiny ones are computed side by side."""

import numpy as np
import oploom
import pytest

SIZES = [1, 2, 3, 4, 5, 8, 9]
COMPLEX = ["complex64", "complex128"]


def numbers(shape, dtype):
    # Small enough for all sums to be exact; in 16 bits, they are rounded once.
    rng = np.random.default_rng(sum(shape))
    values = rng.integers(-3, 4, shape)
    if dtype in COMPLEX:
        values = values + 1j * rng.integers(-3, 4, shape)
    return oploom.tensor(values).to(getattr(oploom, dtype))


DTYPES = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 0, "float64": 0, **dict.fromkeys(COMPLEX, 0)}
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


def array_of(x):
    return x.to(oploom.complex128 if x.is_complex() else oploom.float64).numpy().copy()


def same(x, wanted):
    """But for that rounding; integers wrap around."""
    dtype = str(x.dtype).split(".")[-1]
    if dtype in INTEGERS:
        return np.array_equal(array_of(x), wanted.astype(np.int64).astype(dtype))
    return np.allclose(array_of(x), wanted, rtol=DTYPES[dtype], atol=0)


def layouts(batch, m, n, dtype):
    return {
        "dense": numbers((batch, m, n), dtype),
        "turned": numbers((batch, n, m), dtype).transpose(1, 2),
        "rows with gaps": numbers((batch, m, n + 2), dtype)[..., 1 : n + 1],
        "columns with gaps": numbers((batch, n, m + 3), dtype)[..., 1 : m + 1].transpose(1, 2),
        "elements with gaps": numbers((batch, 2 * m, 2 * n), dtype)[:, ::2, 1::2],
        "one matrix": numbers((m, n), dtype).expand(batch, m, n),
        "batch inside": numbers((m, n, batch), dtype).permute(2, 0, 1),
    }


@pytest.mark.parametrize("dtype", [*DTYPES, *INTEGERS])
@pytest.mark.parametrize("batch", [15, 16, 65, 200])
def test_products(batch, dtype):
    for m in SIZES:
        for k in SIZES:
            for n in SIZES:
                a, b = numbers((batch, m, k), dtype), numbers((batch, k, n), dtype)
                assert same(oploom.bmm(a, b), array_of(a) @ array_of(b)), (m, k, n)


TINY = [(1, 7, 1), (3, 3, 3), (3, 3, 1), (1, 4, 5), (2, 6, 4)]
LARGER = [(1, 64, 1), (40, 1, 33), (33, 20, 40)]


@pytest.mark.parametrize("dtype, m, k, n", [
    (dtype, *sizes) for dtype in [*DTYPES, *INTEGERS]
    for sizes in TINY + (LARGER if dtype not in COMPLEX else [])])
def test_layouts(dtype, m, k, n):
    batch = 77
    for left, a in layouts(batch, m, k, dtype).items():
        for right, b in layouts(batch, k, n, dtype).items():
            wanted = array_of(a) @ array_of(b)
            assert same(oploom.bmm(a, b), wanted), (left, right)
            for target, c in layouts(batch, m, n, dtype).items():
                if target == "one matrix":
                    continue
                before = array_of(c)
                oploom.bmm(a, b, out=c)
                assert same(c, wanted), (left, right, target)
                c.copy_(oploom.tensor(before))
                c.baddbmm_(a, b, beta=3, alpha=2)
                assert same(c, 3 * before + 2 * wanted), (left, right, target)
                for beta, alpha in [(2 - 1j, 3), (2, 1j)] if dtype in COMPLEX else []:
                    c.copy_(oploom.tensor(before))
                    c.baddbmm_(a, b, beta=beta, alpha=alpha)
                    assert same(c, beta * before + alpha * wanted), (left, right, target)


def test_odd_numbers():
    """An infinity or NaN stays in its own product; what beta = 0 multiplies is not read."""
    a = np.ones((40, 2, 3), "float32")
    b = np.ones((40, 3, 2), "float32")
    a[7, 0, 1], b[20, 2, 1] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        wanted = a @ b
    product = oploom.bmm(oploom.tensor(a), oploom.tensor(b))
    assert np.array_equal(product.numpy(), wanted, equal_nan=True)
    target = oploom.full((40, 2, 2), float("nan"))
    target.baddbmm_(oploom.tensor(a), oploom.tensor(b), beta=0)
    assert np.array_equal(target.numpy(), wanted, equal_nan=True)


@pytest.mark.parametrize("batch", [2, 77])
def test_factors_that_the_dtype_does_not_hold_are_refused(batch):
    a = oploom.ones(batch, 3, 3).to(oploom.uint8)
    c = oploom.zeros(batch, 3, 3).to(oploom.uint8)
    for factors in ({"alpha": 300}, {"beta": 300}):
        with pytest.raises(RuntimeError, match="uint8"):
            c.baddbmm_(a, a, **factors)
    assert not c.any()
