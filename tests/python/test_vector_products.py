"""Products with vectors, beside NumPy's."""

import numpy as np
import oploom
import pytest

from tests.python.own_process import run

INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
REDUCED = ["float16", "bfloat16"]
LENGTHS = [0, 1, 7, 16, 31, 63, 64, 65, 130, 1000]


def numbers(shape, dtype):
    """Integers whose products wrap around, or small ones, of which sums are exact in float32."""
    random = np.random.default_rng(sum(shape))
    if dtype not in INTEGERS:
        return random.integers(-8, 9, shape).astype(np.float32)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def as_tensor(x, dtype):
    return oploom.tensor(x).to(getattr(oploom, dtype))


def check(result, expected, dtype):
    """`expected` is exact: rounded to the dtype, or wrapped around."""
    if dtype in REDUCED:
        wanted = oploom.tensor(expected.astype(np.float32)).to(getattr(oploom, dtype))
        assert result.dtype == wanted.dtype and result.tolist() == wanted.tolist()
    else:
        np.testing.assert_array_equal(result.numpy(), expected.astype(dtype))


@pytest.mark.parametrize("dtype", INTEGERS + REDUCED)
@pytest.mark.parametrize("n", LENGTHS)
def test_dot_and_mv(dtype, n):
    a, x = numbers((5, n), dtype), numbers((n,), dtype)
    wide = np.float64 if dtype in REDUCED else np.uint64
    with np.errstate(over="ignore"):
        product = a.astype(wide) @ x.astype(wide)
    ta, tx = as_tensor(a, dtype), as_tensor(x, dtype)
    check(oploom.mv(ta, tx), product, dtype)
    check(oploom.dot(ta[3], tx), product[3], dtype)
    check(oploom.mm(ta, tx[:, None]), product[:, None], dtype)
    check(oploom.mm(tx[None], ta.t()), product[None], dtype)
    check(oploom.bmm(ta[:, None], tx.expand(5, n)[:, :, None]), product[:, None, None], dtype)
    # Columns next to each other; neither next to each other; x spread; y spread.
    columns = ta.t().contiguous().t()
    spread = oploom.zeros([10, 2 * n], dtype=ta.dtype)[::2, ::2]
    spread.copy_(ta)
    x_spread = oploom.zeros([3 * n], dtype=ta.dtype)[::3]
    x_spread.copy_(tx)
    y = oploom.zeros([10], dtype=ta.dtype)
    for matrix in (ta, columns, spread):
        for vector in (tx, x_spread):
            check(oploom.mv(matrix, vector), product, dtype)
            oploom.mv(matrix, vector, out=y[::2])
            check(y[::2], product, dtype)
            assert not y[1::2].any()
            check(oploom.dot(matrix[2], vector), product[2], dtype)


@pytest.mark.parametrize("dtype", INTEGERS + REDUCED)
@pytest.mark.parametrize("m", [63, 64, 65, 100, 130, 1000])
def test_columns(m, dtype):
    """Blocks of rows of a matrix that lies by columns, the last of which overlap."""
    for n in (1, 2, 5, 24):
        a, x, y = numbers((n, m), dtype).T, numbers((n,), dtype), numbers((m,), dtype)
        wide = np.float64 if dtype in REDUCED else np.int64
        with np.errstate(over="ignore"):
            product = a.astype(wide) @ x.astype(wide)
        ta, tx, ty = as_tensor(a.T.copy(), dtype).t(), as_tensor(x, dtype), as_tensor(y, dtype)
        check(oploom.mv(ta, tx), product, dtype)
        spread = oploom.zeros([2 * m], dtype=ta.dtype)[::2]
        oploom.mv(ta, tx, out=spread)
        check(spread, product, dtype)
        with np.errstate(over="ignore"):
            wanted = 3 * product - 2 * y.astype(wide)
        check(oploom.addmv(ty, ta, tx, alpha=3, beta=-2), wanted, dtype)


@pytest.mark.parametrize("dtype", INTEGERS + REDUCED + ["float32", "float64", "complex64"])
@pytest.mark.parametrize("m, n", [(130, 2), (300, 17), (128, 31), (1, 90), (3, 11000), (48, 700),
                                  (9001, 2), (2600, 4), (700, 5), (1999, 8), (1030, 16)])
def test_many_short_rows(m, n, dtype):
    """Rows of a matrix, or of one that is transposed, of fewer numbers than a vector takes."""
    a, x, y = numbers((m, n), dtype), numbers((n,), dtype), numbers((m,), dtype)
    wide = np.int64 if dtype in INTEGERS else np.float64
    with np.errstate(over="ignore"):
        product = a.astype(wide) @ x.astype(wide)
    ta, tx, ty = (as_tensor(v, dtype) for v in (a, x, y))
    x_spread = oploom.zeros([2 * n], dtype=ta.dtype)[::2]
    x_spread.copy_(tx)
    gaps = as_tensor(np.pad(a, [(0, 0), (0, 3)]), dtype)[:, :n]
    for matrix in (ta, ta.t().contiguous().t(), gaps):
        for vector in (tx, x_spread):
            check(oploom.mv(matrix, vector), product, dtype)
            check(vector @ matrix.t(), product, dtype)
            check(matrix @ vector[:, None], product[:, None], dtype)
            check(vector[None] @ matrix.t(), product[None], dtype)
            out = oploom.ones([2 * m], dtype=ta.dtype)
            oploom.mv(matrix, vector, out=out[::2])
            check(out[::2], product, dtype)
            assert (out[1::2] == 1).all()
            wanted = 3 * product - 2 * y.astype(wide)
            check(oploom.addmv(ty, matrix, vector, alpha=3, beta=-2), wanted, dtype)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", *REDUCED])
@pytest.mark.parametrize("m, n", [(2100, 1000), (800, 2700)])
def test_large_products_of_short_vectors(m, n, dtype):
    """More numbers than a cache holds, of which each is a sum of three."""
    a, b = numbers((m, 3), dtype), numbers((3, n), dtype)
    wide = np.float32 if dtype in REDUCED else np.int64
    product = a.astype(wide) @ b.astype(wide)
    ta, tb = as_tensor(a, dtype), as_tensor(b, dtype)
    gaps = as_tensor(np.pad(a, [(0, 0), (0, 2)]), dtype)[:, :3]
    for left, right in [(ta, tb), (ta.t().contiguous().t(), tb), (gaps, tb.t().contiguous().t())]:
        result = left @ right
        assert result.dtype == ta.dtype
        # Sums of three products of up to 8 are numbers of both 16-bit floats.
        got = result.float() if dtype in REDUCED else result
        np.testing.assert_array_equal(got.numpy(), product.astype(got.numpy().dtype))


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("m, k, n", [(3, 50000, 2), (40, 4000, 3), (70, 2500, 9)])
def test_long_sums_down_two_matrices(m, k, n, dtype):
    """What is converted at a time takes whole lines of a transposed factor."""
    a, b, c = numbers((k, m), dtype) // 4, numbers((k, n), dtype) // 4, numbers((m, n), dtype)
    ta, tb, tc = (as_tensor(v, dtype) for v in (a, b, c))
    product = a.T.astype(np.float64) @ b.astype(np.float64)
    check(ta.t() @ tb, product, dtype)
    check(ta.t() @ tb.t().contiguous().t(), product, dtype)
    check(oploom.addmm(tc, ta.t(), tb, alpha=3, beta=-2), 3 * product - 2 * c, dtype)


@pytest.mark.parametrize("dtype", INTEGERS + REDUCED)
@pytest.mark.parametrize("transposed", [False, True])
def test_addmv(dtype, transposed):
    a, x, y = numbers((6, 70), dtype), numbers((70,), dtype), numbers((6,), dtype)
    wide = np.float64 if dtype in REDUCED else np.uint64
    with np.errstate(over="ignore"):
        expected = wide(2) * (a.astype(wide) @ x.astype(wide)) + wide(3) * y.astype(wide)
    matrix = as_tensor(a, dtype)
    if transposed:
        matrix = matrix.t().contiguous().t()
    result = oploom.addmv(as_tensor(y, dtype), matrix, as_tensor(x, dtype), beta=3, alpha=2)
    check(result, expected, dtype)


@pytest.mark.parametrize("dtype", INTEGERS + REDUCED)
@pytest.mark.parametrize("m, n", [(2, 5), (5, 2), (4, 4), (3, 70), (5, 5)])
def test_few_long_vectors(dtype, m, n):
    """Both factors by rows along what is summed up, whole ones and parts of others."""
    k = 1030
    a, b, c = numbers((m, k + 3), dtype), numbers((n, k), dtype), numbers((m, n), dtype)
    wide = np.float64 if dtype in REDUCED else np.uint64
    x, y, z = (v.astype(wide) for v in (a[:, :k], b, c))
    ta, tb, tc = (as_tensor(v, dtype) for v in (a, b, c))
    with np.errstate(over="ignore"):
        product = x @ y.T
        for result in (ta[:, :k] @ tb.t(), oploom.nn.functional.linear(ta[:, :k], tb)):
            check(result, product, dtype)
        out = oploom.zeros([m, n + 2], dtype=ta.dtype)
        oploom.mm(ta[:, :k], tb.t(), out=out[:, 1 : n + 1])
        check(out[:, 1 : n + 1], product, dtype)
        assert not out[:, 0].any() and not out[:, n + 1].any()
        result = oploom.addmm(tc, ta[:, :k], tb.t(), beta=3, alpha=2)
        check(result, wide(3) * z + wide(2) * product, dtype)


@pytest.mark.parametrize("dtype", REDUCED)
def test_nan_and_infinity_arrive(dtype):
    for place in (0, 20, 64, 69):
        a = oploom.ones([2, 70], dtype=getattr(oploom, dtype))
        a[0, place] = float("inf")
        a[1, place] = float("nan")
        ones = oploom.ones([70], dtype=a.dtype)
        first, second = oploom.mv(a, ones).tolist()
        assert first == float("inf") and second != second
        # What is to be written over is not read.
        y = oploom.full([2], float("nan"), dtype=a.dtype)
        assert oploom.addmv(y, oploom.ones_like(a), ones, beta=0).tolist() == [70, 70]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [*LENGTHS, 5000])
def test_matrices_of_one_row_or_column(dtype, n):
    random = np.random.default_rng(n)

    def whole(*shape):  # of which sums are exact
        parts = random.integers(-8, 9, (2, *shape))
        return (parts[0] + 1j * parts[1] if "complex" in dtype else parts[0]).astype(dtype)

    a, x, bias = whole(5, n), whole(n), whole(5)
    ta, tx, tbias = (oploom.tensor(v) for v in (a, x, bias))
    F = oploom.nn.functional
    spread = oploom.zeros([10, 2 * n], dtype=ta.dtype)[::2, ::2]
    spread.copy_(ta)
    for matrix in (ta, ta.t().contiguous().t(), spread):
        for i in (0, 4):
            row = matrix[i : i + 1]
            np.testing.assert_array_equal(oploom.mm(row, tx[:, None]).numpy(), [[a[i] @ x]])
            np.testing.assert_array_equal(oploom.mm(tx[None], row.t()).numpy(), [[a[i] @ x]])
            np.testing.assert_array_equal(F.linear(row[0], tx).numpy(), a[i] @ x)
            result = oploom.addmm(tbias[:1, None], row, tx[:, None], beta=2, alpha=3)
            np.testing.assert_array_equal(result.numpy(), [[2 * bias[0] + 3 * (a[i] @ x)]])
        np.testing.assert_array_equal(oploom.mm(matrix, tx[:, None]).numpy(), (a @ x)[:, None])
        np.testing.assert_array_equal(oploom.mm(tx[None], matrix.t()).numpy(), (a @ x)[None])
        result = oploom.addmm(tbias[:, None], matrix, tx[:, None], beta=2, alpha=3)
        np.testing.assert_array_equal(result.numpy(), (2 * bias + 3 * (a @ x))[:, None])
        result = F.linear(tx, matrix, tbias)
        np.testing.assert_array_equal(result.numpy(), a @ x + bias)
        result = F.linear(matrix, tx[None], tbias[:1])
        np.testing.assert_array_equal(result.numpy(), (a @ x + bias[0])[:, None])


def test_nothing_is_read_behind_a_complex_vector():
    run("""
        import ctypes, mmap
        import numpy as np, oploom
        pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        assert protect(ctypes.c_void_p(start + mmap.PAGESIZE), mmap.PAGESIZE, 0) == 0
        for dtype in (np.complex64, np.complex128):
            for n in (2, 5, 6, 10):
                matrix = np.arange(6 * n).reshape(n, 6).astype(dtype)
                x = np.frombuffer(pages, dtype, n, mmap.PAGESIZE - n * np.dtype(dtype).itemsize)
                x[:] = np.arange(n) + 1j
                product = oploom.mv(oploom.from_numpy(matrix).t(), oploom.from_numpy(x))
                assert product.tolist() == (matrix.T @ x).tolist()
    """)
