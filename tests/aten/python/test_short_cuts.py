"""What small contiguous operands take a short way for, against NumPy and against the long way."""

import itertools

import numpy as np
import oploom
import pytest

DTYPES = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]


def made(dtype, count=6):
    return oploom.arange(count).to(getattr(oploom, dtype)).reshape(2, count // 2)


def strided(tensor):
    """The same values, with gaps, and with dimensions that lie in memory from the first to the last:
    operands of two dimensions and more are walked through then, and not gathered first, however
    small they are."""
    order = range(tensor.dim())[::-1]
    wide = oploom.stack([tensor, tensor], -1)[..., 0].permute(*order).contiguous()
    wide = oploom.stack([wide, wide], -1)[..., 0].permute(*order)
    assert tensor.dim() < 2 or wide.stride() == tuple(sorted(wide.stride()))
    return wide


@pytest.mark.parametrize("first, second", itertools.product(DTYPES, DTYPES))
def test_where(first, second):
    a, b = made(first), made(second).flip(1)
    condition = oploom.tensor([[True, False, True], [False, False, True]])
    result = oploom.where(condition, a, b)
    assert result.dtype is oploom.promote_types(a.dtype, b.dtype)
    expected = oploom.where(strided(condition), strided(a), strided(b))
    assert result.dtype is expected.dtype and result.equal(expected)
    wide = np.where(condition.numpy(), a.to(oploom.complex64).numpy(), b.to(oploom.complex64).numpy())
    assert np.array_equal(result.to(oploom.complex64).numpy(), wide)
    out = oploom.empty(2, 3, dtype=result.dtype)
    assert oploom.where(condition, a, b, out=out).equal(result)


# Operands of 12 rows and 5 columns, or broadcast to such: what lies in memory in the order of its
# dimensions, with gaps and without, is gathered before small calls.
VIEWS = {
    "dense": lambda t: t(12, 5),
    "columns": lambda t: t(12, 9)[:, 2:7],
    "rows": lambda t: t(36, 5)[::3],
    "both": lambda t: t(24, 15)[1::2, ::3],
    "expanded rows": lambda t: t(1, 10)[:, ::2].expand(12, 5),
    "expanded columns": lambda t: t(24, 1)[::2].expand(12, 5),
    "an expanded number": lambda t: t(1).expand(12, 5),
    "a row": lambda t: t(10)[::2],
    "a column": lambda t: t(12, 3)[:, 1:2],
    "a diagonal": lambda t: t(12, 12).diagonal()[:, None],
    "a number": lambda t: t(3)[1],
    "overlapping": lambda t: t(30).as_strided((12, 5), (2, 1)),
    "every place twice": lambda t: t(30).as_strided((12, 5), (1, 1)),
    "transposed": lambda t: t(5, 12).t(),
    "transposed columns": lambda t: t(9, 12)[2:7].t(),
    "strided": lambda t: strided(t(12, 5)),
    "one, farther": lambda t: t(12, 1, 8).transpose(0, 1)[..., :5],
    "one, nearer": lambda t: t(6, 12, 9).permute(1, 2, 0)[:, 2:7, 3:4].squeeze(2),
    "one of any stride": lambda t: t(40).as_strided((1, 12, 5), (2, 3, 1)),
    "dense but for one": lambda t: t(60).as_strided((12, 1, 5), (5, 1, 1)),
}
PAIRS = [("float32", "float32"), ("float32", "int64"), ("uint8", "bool"), ("float16", "float64")]


def numbers(dtype, seed):
    """Makes tensors of small whole numbers, which every dtype can hold."""
    def make(*shape):
        values = np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 9, shape)
        return oploom.tensor(values).to(getattr(oploom, dtype))

    return make


def on_meta(tensor):
    return oploom.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


@pytest.mark.parametrize("dtypes", PAIRS)
@pytest.mark.parametrize("first, second", itertools.product(VIEWS, VIEWS))
def test_small_operands_of_any_strides(first, second, dtypes):
    a, b = (VIEWS[v](numbers(d, k)) for k, (v, d) in enumerate(zip((first, second), dtypes)))
    x, y = a.to(oploom.float64).numpy(), b.to(oploom.float64).numpy()
    result = a * b
    assert result.dtype is oploom.result_type(a, b)
    assert np.array_equal(result.to(oploom.float64).numpy(), x * y)
    if a.is_contiguous() and b.is_contiguous():  # whatever the stride of a dimension of size 1
        assert result.is_contiguous()
    else:
        assert result.stride() == (on_meta(a) * on_meta(b)).stride()
    assert np.array_equal((a < b).numpy(), x < y)
    out = oploom.empty(result.shape, dtype=result.dtype)
    assert oploom.mul(a, b, out=out) is out and out.equal(result)
    shape = np.broadcast_shapes(x.shape, y.shape)
    for view in VIEWS.values():
        condition = view(numbers("bool", 2))
        if np.broadcast_shapes(shape, tuple(condition.shape)) != shape:
            continue
        chosen = oploom.where(condition, a, b)
        assert chosen.dtype is result.dtype
        assert np.array_equal(chosen.to(oploom.float64).numpy(), np.where(condition.numpy(), x, y))
    if a.dtype is b.dtype is oploom.float32:
        sums = oploom.addcmul(a, b, a)
        assert np.array_equal(sums.to(oploom.float64).numpy(), x + y * x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("view", VIEWS)
def test_small_operand_of_any_strides(view, dtype):
    a = VIEWS[view](numbers(dtype, 0))
    x = a.to(oploom.complex128).numpy()
    assert np.array_equal((a * 3).to(oploom.complex128).numpy(), (x != 0) * 3 if dtype == "bool" else x * 3)
    assert np.array_equal((a == 1).numpy(), x == 1)
    roots = oploom.sqrt(a)
    assert roots.is_floating_point() or roots.is_complex()
    np.testing.assert_allclose(roots.to(oploom.complex128).numpy(), np.sqrt(x), rtol=4e-3)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 1, 3, 4), (1, 3, 1, 4), (3, 2, 1, 1), (9, 16, 31, 8)])
@pytest.mark.parametrize("order", itertools.permutations(range(4)))
def test_operands_in_one_other_layout(order, shape, dtype):
    def laid_out(seed):
        """Dense, the dimensions in memory in this order."""
        t = numbers(dtype, seed)(*(shape[d] for d in order))
        return t.permute(*np.argsort(order).tolist())

    a, b = laid_out(0), laid_out(1)
    x, y = a.numpy(), b.numpy()
    for function, reference in ((oploom.mul, np.multiply), (oploom.ne, np.not_equal)):
        result = function(a, b)
        assert np.array_equal(result.numpy(), reference(x, y))
        assert result.stride() == function(on_meta(a), on_meta(b)).stride()
        for out in (oploom.empty_strided(shape, a.stride(), dtype=result.dtype),
                    oploom.empty(shape, dtype=result.dtype), oploom.empty(0, dtype=result.dtype)):
            assert function(a, b, out=out) is out and out.equal(result)
    roots = oploom.sqrt(a)
    np.testing.assert_allclose(roots.numpy(), np.sqrt(x, dtype=np.float32), rtol=1e-6)
    assert roots.stride() == oploom.sqrt(on_meta(a)).stride()
    if dtype != "bool":
        assert np.array_equal(oploom.addcmul(a, a, b).numpy(), x + x * y)
    other = a.contiguous()
    assert np.array_equal((a * other).numpy(), x * x) and np.array_equal((other * b).numpy(), x * y)
    expected = np.multiply(x, y)
    assert a.mul_(b) is a and np.array_equal(a.numpy(), expected)


def test_one_layout_in_memory_that_is_shared():
    """Rows of transposed operands are not written while others are still to be read from them."""
    a = oploom.arange(110.0).reshape(11, 10)
    before = a.clone()
    with pytest.raises(RuntimeError, match="share a part of their memory"):
        a[:-1].t().add_(a[1:].t())
    assert a.equal(before)
    assert a.t().add_(a.t()).equal(2 * before.t())


def test_where_into_an_operand():
    a, b = made("float32"), -made("float32")
    condition = oploom.tensor([[True, False, True], [False, False, True]])
    expected = np.where(condition.numpy(), a.numpy(), b.numpy())
    oploom.where(condition, a, b, out=b)
    assert np.array_equal(b.numpy(), expected)


@pytest.mark.parametrize("to, source", itertools.product(DTYPES, DTYPES))
def test_copies(to, source):
    a = made(source)
    target = oploom.empty(2, 3, dtype=getattr(oploom, to))
    target.copy_(a)
    assert target.equal(strided(a).to(target.dtype))
    rows = oploom.empty(4, 3, dtype=target.dtype)
    rows.copy_(a[1].expand(4, 3))
    assert rows.equal(target[1].repeat(4, 1))


def test_copy_of_a_tensors_own_row():
    a = oploom.arange(12.0).reshape(4, 3)
    a.copy_(a[2].expand(4, 3))
    assert a.tolist() == [[6, 7, 8]] * 4


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (5,), (0, 3), (2, 3, 4), (300, 200)])
def test_fill(dtype, shape):
    target = oploom.zeros(shape, dtype=getattr(oploom, dtype))
    target.fill_(1)
    assert target.eq(1).all().item()
    if shape:
        spread = strided(target)
        spread.fill_(0)
        assert not spread.any().item()


@pytest.mark.parametrize("length", [*range(1, 70), 127, 128, 129, 200])
def test_rows_of_every_length(length):
    rows = np.random.default_rng(length).normal(size=(3, length))
    tensor = oploom.tensor(rows)
    assert np.allclose(tensor.sum(1).numpy(), rows.sum(1), rtol=1e-13, atol=1e-13)
    assert np.array_equal(tensor.amax(1).numpy(), rows.max(1))
    assert np.array_equal(tensor.amin(1).numpy(), rows.min(1))
    shares = np.exp(rows - rows.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    assert np.allclose(tensor.softmax(1).numpy(), shares, rtol=1e-13, atol=0)
    assert np.allclose(tensor.log_softmax(1).numpy(), np.log(shares), rtol=1e-12, atol=1e-12)
    for place in {0, length // 2, length - 1}:
        tensor[1, place] = float("nan")
        assert tensor.amax(1).isnan().tolist() == [False, True, False]
        tensor[1, place] = 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_to_itself(dtype):
    a = oploom.tensor([[0, 1], [0, 0]]).to(getattr(oploom, dtype))
    assert a.equal(a) and a.equal(a[:]) and not a.equal(a.T)
    bits = oploom.tensor([1, 0], dtype=oploom.int32)
    assert not bits.equal(bits.view(oploom.float32))
    if a.dtype.is_floating_point or a.dtype.is_complex:
        a[1, 0] = float("nan")
        assert not a.equal(a)


@pytest.mark.parametrize("shape", [(20_000,), (300_001,), (1, 3, 100_000), (170, 180),
                                   (4, 1, 2, 3000)])
def test_one_difference_anywhere(shape):
    """Large tensors are compared in pieces, whatever their layout."""
    a = np.arange(np.prod(shape)).reshape(shape).astype(np.float32)
    last = a.size - 1
    for place in [None, 0, 1023, 1024, 17407, 17408, last // 2, last - 1, last]:
        b = a.copy()
        if place is not None:
            b.flat[place] = -1
        x, y = oploom.tensor(a), oploom.tensor(b)
        for left, right in [(x, y), (x.T, y.T), (x, y.T.clone().T), (x, oploom.stack([y, y], -1)[..., 1])]:
            assert left.equal(right) == (place is None)


@pytest.mark.parametrize("rows, columns", [(1, 9_000_001), (2999, 3001), (40_001, 225)])
def test_large_tensors_are_joined(rows, columns):
    """Of 36 MB and more, which is written past the cache where rows are long; to any place in a line."""
    a = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    b = -a[:, : columns // 3]
    for dim, parts in ((1, [b, a]), (0, [a[:1], a])):
        tensors = [oploom.tensor(np.ascontiguousarray(part)) for part in parts]
        assert np.array_equal(oploom.cat(tensors, dim).numpy(), np.concatenate(parts, dim))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("count", [3, 4, 15, 16, 17, 64, 65])
def test_planes_become_pixels(count, dtype):
    random = np.random.default_rng(count)
    for rows in (99, 100, 1001, 6000):
        planes = random.integers(0, 250, (count, rows)).astype(dtype)
        tensors = [oploom.tensor(plane) for plane in planes]
        assert np.array_equal(oploom.stack(tensors, -1).numpy(), planes.T)
        # To any place, as elements of twice the size, and beside rows of other lengths.
        memory = oploom.full((rows * (2 * count + 1) + 3,), 7, dtype=tensors[0].dtype)
        for other, first in itertools.product((1, 2, 3), (1, 2)):
            parts = [np.repeat(plane, 2).reshape(rows, 2) for plane in planes]
            parts[-1] = np.repeat(planes[-1], other).reshape(rows, other)
            wanted = np.concatenate(parts, 1)
            out = memory[first : first + wanted.size].view(wanted.shape)
            memory.fill_(7)
            oploom.cat([oploom.tensor(part) for part in parts], 1, out=out)
            assert np.array_equal(out.numpy(), wanted)
            assert memory[first - 1].item() == memory[first + wanted.size].item() == 7


@pytest.mark.parametrize("count, rows, dtype", [(3, 3_000_001, "uint8"), (4, 1_000_001, "float32"),
                                                (16, 1_000_001, "int16"), (20, 400_001, "float64")])
def test_large_planes_become_pixels(count, rows, dtype):
    """Of 9 to 64 MB; those from 32 MB on are written past the cache."""
    planes = (np.arange(count * rows) % 251).reshape(count, rows).astype(dtype)
    joined = oploom.stack([oploom.tensor(plane) for plane in planes], -1)
    assert np.array_equal(joined.numpy(), planes.T)


@pytest.mark.parametrize("columns", [3, 70, 700, 3000])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_rows_that_are_shifted_in_place(dtype, columns):
    for shift, first in itertools.product([1, 2, 9, 33], [0, 1, 5]):
        memory = np.arange(2 * (columns + 40) + first).astype(dtype)
        left, right = (oploom.tensor(memory)[first:].reshape(2, -1) for _ in range(2))
        wanted = memory[first:].reshape(2, -1)
        left[:, :-shift] = left[:, shift:]
        right[:, shift:] = right[:, :-shift]
        assert np.array_equal(left[:, :-shift].numpy(), wanted[:, shift:])
        assert np.array_equal(right[:, shift:].numpy(), wanted[:, :-shift])


# Outputs and inputs of 32 MB and more are read and written as what comes from memory.
LARGE = 32 << 20


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("columns", [60, 65, 1000, 4099])
def test_places_of_extremes_in_large_rows(dtype, columns):
    rows = LARGE // (np.dtype(dtype).itemsize * columns) + 1
    numbers = np.random.default_rng(columns).integers(-50, 50, (rows, columns)).astype(dtype)
    # In every second row there is one of each at every place in turn, in the others several.
    row = np.arange(0, rows, 2)
    numbers[row, row % columns] = 100
    numbers[row, (row + 7) % columns] = -100
    if dtype != "int32":
        numbers[5::9, columns - 1] = np.nan
        numbers[6::9, 3::11] = np.nan
        numbers[7::9, ::13] = np.inf
    tensor = oploom.tensor(numbers)
    for values, places, largest, where in (
        (*tensor.max(1), numbers.max(1), numbers.argmax(1)),
        (*tensor.min(1), numbers.min(1), numbers.argmin(1)),
    ):
        assert np.array_equal(values.numpy(), largest, equal_nan=dtype != "int32")
        assert np.array_equal(places.numpy(), where)
    assert tensor.argmax().item() == numbers.argmax()
    clean = np.nan_to_num(numbers)
    assert oploom.tensor(clean).argmin().item() == clean.argmin()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("odd", [0, 1, 3])
def test_large_transposed_copies(dtype, odd):
    """Of rows that begin at lines of the cache, and that do not."""
    size = np.dtype(dtype).itemsize
    rows = int((LARGE / size) ** 0.5) // 64 * 64 + 64 + odd
    columns = LARGE // (size * rows) + 70
    numbers = np.random.default_rng(odd).integers(0, 200, (rows, columns)).astype(dtype)
    tensor = oploom.tensor(numbers)
    assert np.array_equal(tensor.t().contiguous().numpy(), numbers.T)
    wide = oploom.zeros(columns, rows + 2, dtype=tensor.dtype)
    wide[:, 1:-1].copy_(tensor.t())
    assert np.array_equal(wide.numpy()[:, 1:-1], numbers.T)
    assert not wide[:, 0].any().item() and not wide[:, -1].any().item()
    across = oploom.empty(rows, columns, dtype=tensor.dtype)
    across.t().copy_(tensor.flip(0).t())
    assert np.array_equal(across.numpy(), numbers[::-1])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("columns", [60, 67, 128, 131, 300])
def test_large_operands_with_short_transposed_rows(dtype, columns):
    size = np.dtype(dtype).itemsize
    rows = LARGE // (size * columns) + 70
    values = np.random.default_rng(columns).integers(0, 200, (columns, rows)).astype(dtype)
    others = np.random.default_rng(1).integers(0, 9, (rows, columns)).astype(dtype)
    tensor, other = oploom.tensor(values), oploom.tensor(others)
    assert np.array_equal(tensor.t().contiguous().numpy(), values.T)
    result = oploom.empty(rows, columns, dtype=tensor.dtype)
    oploom.sub(tensor.t(), other, out=result)
    assert np.array_equal(result.numpy(), values.T - others)
    oploom.add(other[:1], tensor.t(), out=result)
    assert np.array_equal(result.numpy(), others[:1] + values.T)


@pytest.mark.parametrize("columns", [999, 4096])
def test_reductions_of_large_tensors(columns):
    rows = LARGE // (4 * columns) + 3
    numbers = np.random.default_rng(columns).normal(size=(rows, columns)).astype(np.float32)
    tensor, wide = oploom.tensor(numbers), numbers.astype(np.float64)
    for dim in (0, 1):
        assert np.allclose(tensor.sum(dim).numpy(), wide.sum(dim), rtol=1e-5, atol=1e-2)
        assert np.array_equal(tensor.amax(dim).numpy(), numbers.max(dim))
        assert np.array_equal(tensor.argmin(dim).numpy(), numbers.argmin(dim))
        assert np.allclose(tensor.var(dim).numpy(), wide.var(dim, ddof=1), rtol=1e-5)
        assert np.allclose(tensor.cumsum(dim).numpy(), wide.cumsum(dim), rtol=1e-4, atol=1e-2)
    assert np.allclose(tensor.sum().item(), wide.sum(), rtol=1e-5, atol=1e-1)
    assert tensor.amin().item() == numbers.min()
