"""Rows of a few elements: copied by their ends, joined, repeated and written with gaps between them."""

import numpy as np
import oploom
import pytest

DTYPES = ["uint8", "int16", "float16", "float32", "float64", "complex64", "complex128"]
WIDTHS = [*range(1, 42), 48, 63, 64, 65, 66, 127, 128, 130, 300]
ROWS = 41


def numbers(shape, dtype):
    rng = np.random.default_rng(shape[-1])
    values = rng.integers(0, 9, shape)
    if "complex" in dtype:
        values = values + 1j * rng.integers(0, 9, shape)
    return oploom.tensor(values).to(getattr(oploom, dtype))


def parts(w, dtype):
    """Rows of w elements between others, a column, and a row."""
    whole = numbers((ROWS, w + 3), dtype)
    return whole, whole[:, 1 : w + 1], numbers((ROWS, 1), dtype), numbers((w,), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("w", WIDTHS)
def test_copies(w, dtype):
    whole, rows, column, row = parts(w, dtype)
    wanted = whole.numpy()[:, 1 : w + 1].copy()
    assert (rows.contiguous().numpy() == wanted).all()
    for source, copied in [(rows, wanted), (column, column.numpy()), (row, row.numpy())]:
        target = numbers((ROWS, w + 3), dtype) * 0 + 7
        target[:, 2 : w + 2].copy_(source)
        assert (target.numpy()[:, 2 : w + 2] == copied).all()
        assert (target.numpy()[:, :2] == 7).all() and (target.numpy()[:, w + 2 :] == 7).all()
    assert (oploom.flip(rows, (1,)).numpy() == wanted[:, ::-1]).all()
    assert (oploom.roll(rows, 1, 1).numpy() == np.roll(wanted, 1, 1)).all()
    assert (rows.expand(3, ROWS, w).contiguous().numpy() == wanted).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("w", [2, 3, 5, 7, 8, 9, 16, 24, 47, 64, 96, 128])
def test_copies_of_many_rows(w, dtype):
    """More rows than go by one buffer: of every second element, with gaps between them, turned."""
    rows = 17000 // w
    other = numbers((rows, w), dtype)
    y = other.numpy()
    sources = [numbers((rows, 2 * w), dtype)[:, ::2], numbers((rows, w + 2), dtype)[:, 1:-1]]
    for source in [*sources, numbers((w, rows), dtype).t(), other * 2]:
        x = source.numpy()
        for result, wanted in [
            (oploom.cat([source, other], 1), np.concatenate([x, y], 1)),
            (oploom.stack([source, other], 2), np.stack([x, y], 2)),
            (oploom.stack([source, other, source], 2), np.stack([x, y, x], 2)),
            (oploom.flip(source, (0,)), x[::-1]),
            (oploom.flip(source, (1,)), x[:, ::-1]),
            (oploom.flip(source, (0, 1)), x[::-1, ::-1]),
        ]:
            np.testing.assert_array_equal(result.numpy(), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("w", WIDTHS)
def test_results(w, dtype):
    whole, rows, column, row = parts(w, dtype)
    x, c, r = rows.numpy().copy(), column.numpy(), row.numpy()
    dense = rows.contiguous()
    for result, wanted in [
        (dense + column, x + c),
        (rows + column, x + c),
        (column - rows, c - x),
        (rows + row, x + r),
        (rows + rows, x + x),
        (rows + dense, x + x),
        (rows * 3, x * 3),
        (oploom.where(rows == column, rows, row), np.where(x == c, x, r)),
        (oploom.addcmul(rows, dense, column), x + x * c),
    ]:
        assert (result.numpy() == wanted).all()


@pytest.mark.parametrize("dtype", DTYPES + ["int8", "int32", "int64", "bfloat16", "bool"])
@pytest.mark.parametrize(
    "w", [8, 9, 16, 17, 31, 32, 33, 50, 63, 64, 65, 100, 129, 200, 255, 256, 300, 1000]
)
def test_columns_beside_many_rows(w, dtype):
    """So many that they are taken as one row; of operators with two and three inputs."""
    rows = 40000 // w + 5  # no multiple of a vector
    memory = numbers((rows * w + 1,), dtype)
    dense, every_second = memory[1:].reshape(rows, w), numbers((rows, 2), dtype)[:, :1]
    column = numbers((rows, 1), dtype)
    x, c, e = (
        t.to(oploom.float32).numpy() if dtype == "bfloat16" else t.numpy()
        for t in (dense, column, every_second)
    )
    if dtype == "bool":
        cases = [
            (dense & column, x & c),
            (every_second | dense, x | e),
            (dense ^ column.expand(rows, w), x ^ c),
        ]
    else:
        cases = [
            (dense + column, x + c),
            (every_second - dense, e - x),
            (oploom.sub(dense, column, alpha=2), x - 2 * c),
            (column * every_second.expand(rows, w), c * e + 0 * x),
            (oploom.addcmul(dense, column, every_second), x + c * e),
            (oploom.addcmul(column, dense, every_second), c + x * e),
            (dense.clone().mul_(column), x * c),
        ]
    if "complex" not in dtype and dtype != "bool":
        cases += [(oploom.maximum(dense, column), np.maximum(x, c)), (dense > column, x > c)]
    if "float" in dtype:
        cases += [
            (oploom.lerp(dense, column, 0.5), x + (c - x) / 2),
            (oploom.isclose(every_second, dense), e == x),
        ]
    for result, wanted in cases:
        assert (
            result.to(oploom.float32 if dtype == "bfloat16" else result.dtype).numpy() == wanted
        ).all()
    out = oploom.cat([memory, memory[:1]])[1:-1].reshape(rows, w)
    if dtype != "bool":
        oploom.mul(dense, column, out=out)
        assert (out.to(oploom.float32 if dtype == "bfloat16" else out.dtype).numpy() == x * c).all()


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "int64", "complex64"]
)
@pytest.mark.parametrize("other", ["bool", "uint8", "int16", "bfloat16"])
@pytest.mark.parametrize("w", [2, 4, 5, 17, 64, 129, 1000])
def test_columns_of_another_dtype(w, other, dtype):
    """Which are converted for many rows at a time, more than once here."""
    rows = 2500 if w < 100 else 70
    dense, column = numbers((3, rows, w), dtype), numbers((3, rows, 1), other)
    of_all, one = numbers((1, rows, 1), other), numbers((3, 1, 1), other)
    values = [
        t.to(oploom.complex64 if "complex" in dtype else oploom.float64).numpy()
        for t in (dense, column, of_all, one)
    ]
    x, c, a, o = values
    cases = [
        (dense * column, x * c),
        (column + dense, x + c),
        (dense + of_all, x + a),
        (one * dense, x * o),
    ]
    cases += [(dense * one + column, x * o + c), (dense == column, x == c)]
    if dtype in ("float32", "float64", "complex64"):
        cases += [
            (dense.clone().mul_(column), x * c),
            (dense.transpose(0, 1) + of_all.transpose(0, 1), (x + a).transpose(1, 0, 2)),
        ]
    for result, wanted in cases:
        assert (
            (result.to(oploom.float32).numpy() == wanted).all()
            if result.dtype == oploom.bfloat16
            else (result.numpy() == wanted).all()
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("w", WIDTHS)
def test_results_with_gaps(w, dtype):
    """In place and into a given output; what lies between the rows stays as it is."""
    for change in [
        lambda x, c, r: x.add_(c),
        lambda x, c, r: x.mul_(2),
        lambda x, c, r: x.add_(r),
        lambda x, c, r: x.sub_(x.contiguous() + c),
        lambda x, c, r: oploom.mul(x, c, out=x),
        lambda x, c, r: oploom.add(r, c, out=x),
        lambda x, c, r: oploom.addcmul(x, x, c, out=x),
    ]:
        whole, rows, column, row = parts(w, dtype)
        before, dense = whole.numpy().copy(), rows.contiguous()
        wanted = change(dense, column, row).numpy()
        change(rows, column, row)
        after = whole.numpy()
        assert (after[:, 1 : w + 1] == wanted).all()
        assert (after[:, :1] == before[:, :1]).all()
        assert (after[:, w + 1 :] == before[:, w + 1 :]).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("w", [*range(1, 36), 64, 127, 513])
def test_filled_rows_with_gaps(w, dtype):
    for rows in (1, 7, 8, 60):
        whole = numbers((rows, w + 2), dtype)
        wanted = whole.to(oploom.complex128).numpy().copy()
        whole[:, 1 : w + 1].fill_(3)
        wanted[:, 1 : w + 1] = 3
        assert (whole.to(oploom.complex128).numpy() == wanted).all()
        whole[:, 2:].zero_()
        wanted[:, 2:] = 0
        assert (whole.to(oploom.complex128).numpy() == wanted).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("w", [*range(1, 42), 64, 127, 129])
@pytest.mark.parametrize("step", [2, 3, 4])
def test_every_few_elements(w, step, dtype):
    """Rows whose elements have gaps between them, of inputs, of outputs, and in place; and their columns."""
    rows = 83
    whole = numbers((rows, step * w + 1), dtype)
    every = whole[:, 1::step]
    column, row = numbers((rows, 1), dtype), numbers((w,), dtype)
    x = every.numpy().copy()
    assert (every.contiguous().numpy() == x).all()
    assert ((every + row).numpy() == x + row.numpy()).all()
    for i in {0, w // 2, w - 1}:
        assert (every[:, i].contiguous().numpy() == x[:, i]).all()
        assert ((every[:, i] * every[:, 0]).numpy() == x[:, i] * x[:, 0]).all()
    for change, wanted in [
        (lambda y: y.add_(every), x + x),
        (lambda y: y.mul_(column), x * column.numpy()),
        (lambda y: y.add_(row), x + row.numpy()),
        (lambda y: y.mul_(3), x * 3),
        (lambda y: y.copy_(row), np.broadcast_to(row.numpy(), x.shape)),
        (lambda y: oploom.add(every, column, out=y), x + column.numpy()),
        (lambda y: y[:, 0].add_(y[:, w - 1]), np.concatenate([x[:, :1] + x[:, -1:], x[:, 1:]], 1)),
    ]:
        target = whole.clone()
        y = target[:, 1::step]
        change(y)
        assert (y.numpy() == wanted).all()
        others = np.delete(target.numpy(), np.arange(1, step * w + 1, step), axis=1)
        assert (others == np.delete(whole.numpy(), np.arange(1, step * w + 1, step), axis=1)).all()
    # As `x[i] += y` does: what is assigned has been changed in its place.
    target = whole.clone()
    target[:, 1::step] += every
    assert (target.numpy()[:, 1::step] == x + x).all()


def test_a_view_is_copied_to_another_one_of_the_same_elements():
    """A copy to itself does nothing; one of the same place with other strides does."""
    whole = numbers((6, 9), "float32")
    view = whole[:, ::2][:5, :5]
    before = view.numpy().copy()
    view.copy_(view.view_as(view))
    assert (view.numpy() == before).all()
    view.copy_(view.t())
    assert (view.numpy() == before.T).all()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float32", "float64", "complex64"])
@pytest.mark.parametrize("rows", [100, 517, 3000])
def test_columns_that_are_repeated_in_many_rows(rows, dtype):
    """Elements of a column that are repeated many at a time, up to a few in each row."""
    for w in range(1, 14):
        x, column, row = numbers((rows, w), dtype), numbers((rows, 1), dtype), numbers((w,), dtype)
        assert (oploom.add(x, column).numpy() == x.numpy() + column.numpy()).all()
        assert (oploom.mul(column, row).numpy() == column.numpy() * row.numpy()).all()
        assert (x.clone().sub_(column).numpy() == x.numpy() - column.numpy()).all()
