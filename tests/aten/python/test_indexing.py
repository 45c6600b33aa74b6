"""Indexing against NumPy: reading and writing with every kind of index."""

import itertools
import sys

import numpy as np
import oploom
import pytest

A = np.arange(60.0).reshape(3, 4, 5)
J = np.array([2, 0, 2])
M = A[..., 0] % 2 == 0
B = np.array([True, False, True])

BASIC = [
    0, -1, (0, 1), (0, 1, 2), slice(None), slice(1, 3), slice(None, None, 2), slice(-2, None),
    slice(5, 2), (slice(None), 1), (Ellipsis, 2), (0, Ellipsis), (Ellipsis, None), None,
    (None, 0, None), (slice(1), slice(2, 4), slice(0, 5, 2)), Ellipsis, (), (1, Ellipsis, 2, 3),
    np.int64(1), slice(np.int64(1), np.int64(3)), slice(0, 10**30),
]
ADVANCED = [
    J, (slice(None), J), (J, J), (J, slice(None), J), M, B, (B, 0), (slice(None), slice(None), J),
    (J[:, None], J), (0, J), (J, 0), (None, J), [0, 2], ([0, 1], [1, 2]), (Ellipsis, [1, 3]),
    [True, False, True], True, False, (J, Ellipsis), np.array([], dtype=np.int64), [],
    range(0, 3, 2), (slice(None), range(3, -1, -1)),
    (slice(1, 3), [0, 3], slice(None, None, 2)),
    (M, J[[0, 1, 2, 0, 1, 2]]), (M, [0, 1, 2, 3, 4, 0]), (M, range(5, -1, -1)[1]), (M, None),
    (None, M, [0, 1, 2, 3, 4, 0]), (Ellipsis, M, [4] * 6), (M, slice(1, 4)),
]


def ours(index):
    """The index with tensors in place of arrays."""
    if isinstance(index, tuple):
        return tuple(ours(i) for i in index)
    if isinstance(index, np.ndarray):
        return oploom.tensor(index)
    return index


@pytest.mark.parametrize("index", BASIC, ids=str)
def test_basic_is_a_view(index):
    x = oploom.tensor(A)
    result = x[ours(index)]
    expected = A[index]
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result.numpy(), expected)
    if expected.size:
        result.fill_(-1)
        assert (x == -1).sum().item() == expected.size


@pytest.mark.parametrize("index", ADVANCED, ids=str)
def test_advanced(index):
    x = oploom.tensor(A)
    expected = A[index]
    result = x[ours(index)]
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result.numpy(), expected)


def test_numpy_arrays_as_indices():
    x = oploom.tensor(A)
    np.testing.assert_array_equal(x[J].numpy(), A[J])
    np.testing.assert_array_equal(x[M].numpy(), A[M])
    np.testing.assert_array_equal(x[:, J].numpy(), A[:, J])


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=str)
def test_assigning_a_number(index):
    x, a = oploom.tensor(A), A.copy()
    x[ours(index)] = 7
    a[index] = 7
    np.testing.assert_array_equal(x.numpy(), a)


@pytest.mark.parametrize("index", [0, (slice(None), 1), J[:2], M, (Ellipsis, 2), slice(1, 3), B],
                         ids=str)
def test_assigning_tensors(index):
    x, a = oploom.tensor(A), A.copy()
    values = np.random.default_rng(0).normal(size=A[index].shape)
    x[ours(index)] = oploom.tensor(values)
    a[index] = values
    np.testing.assert_array_equal(x.numpy(), a)


def test_assigning_broadcasts_and_converts():
    x = oploom.zeros(2, 3)
    x[:, 0] = oploom.tensor([1, 2])
    x[0, 1:] = [5, 6]
    x[1] += 1
    x[1, 2] = oploom.tensor(9.0)
    assert x.tolist() == [[1, 5, 6], [3, 1, 9]]
    x[:] = oploom.ones(1, 2, 3)
    assert x.sum().item() == 6
    x[np.array([0])] = np.array([[7, 8, 9]])
    assert x[0].tolist() == [7, 8, 9]
    x[x > 6] = oploom.tensor([[[0.5]]])
    assert x[0].tolist() == [0.5, 0.5, 0.5]
    x[[0, 1], 0] = [[[3, 4]]]
    assert x[:, 0].tolist() == [3, 4]


def test_complex_values_are_not_taken_for_real():
    x = oploom.zeros(3)
    value = oploom.tensor([1 + 5j])
    for index in (oploom.tensor([0]), [1], x == 0):
        with pytest.raises(RuntimeError, match="expected real values for a tensor of dtype float32"):
            x[index] = value
    assert x.tolist() == [0, 0, 0]
    z = oploom.zeros(3, dtype=oploom.complex64)
    z[[1]] = value
    z[[2]] = oploom.tensor([2.0])
    assert z.tolist() == [0, 1 + 5j, 2]


def test_masks_of_uint8():
    x = oploom.tensor(A)
    result = x[oploom.tensor(M.astype(np.uint8)), 1]
    np.testing.assert_array_equal(result.numpy(), A[M, 1])
    assert x[oploom.tensor(1, dtype=oploom.uint8)].shape == (1, 3, 4, 5)


def test_tensor_scalars_as_indices():
    x = oploom.tensor(A)
    i = oploom.tensor(1)
    assert x[i].shape == (4, 5) and x[i, oploom.tensor(2), 0].item() == A[1, 2, 0]
    assert x[oploom.tensor(True)].shape == (1, 3, 4, 5)


@pytest.mark.parametrize("dtype", [oploom.bool, oploom.uint8])
def test_masks_without_data_are_refused(dtype):
    x, mask = oploom.zeros(3), oploom.empty((), dtype=dtype, device="meta")
    with pytest.raises(NotImplementedError):
        x[mask]
    with pytest.raises(NotImplementedError):
        x[mask] = 1


@pytest.mark.parametrize("index, error, message", [
    (3, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    ((0, -5), IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
    ((0, 0, 0, 0), IndexError, "too many indices: 4 for a tensor of 3 dimensions"),
    ((Ellipsis, Ellipsis), IndexError, "only one '...'"),
    (slice(None, None, -1), ValueError, "step greater than 0, got -1"),
    (slice(None, None, 0), ValueError, "step greater than 0, got 0"),
    ("a", IndexError, "got str"),
    (1.5, IndexError, "got float"),
    ({}, IndexError, "got dict"),
    ([0.5], IndexError, "integer or bool"),
])
def test_refused(index, error, message):
    x = oploom.tensor(A)
    with pytest.raises(error, match=message):
        x[index]
    with pytest.raises(error, match=message):
        x[index] = 0
    np.testing.assert_array_equal(x.numpy(), A)


def test_refused_others():
    x = oploom.tensor(A)
    with pytest.raises(IndexError):
        x[oploom.tensor([0, 3])]
    with pytest.raises(IndexError):
        x[oploom.tensor([True, False])]
    with pytest.raises(IndexError, match="0-d"):
        oploom.tensor(1.0)[0]
    three, two = oploom.tensor([0, 1, 0]), oploom.tensor([0, 1])
    with pytest.raises(IndexError, match=r"broadcast together, got \[3\] and \[2\]"):
        x[three, two]
    with pytest.raises(IndexError, match=r"broadcast together, got \[3\] and \[2\]"):
        x[three, two] = 0
    with pytest.raises(TypeError, match="deleted"):
        del x[0]
    with pytest.raises((RuntimeError, ValueError)):
        x[0] = oploom.ones(7)


def test_no_index_is_out_of_bounds_of_a_result_without_elements():
    x = oploom.zeros(0, 3, requires_grad=True)
    y = x[..., oploom.tensor([5])]
    assert y.shape == (0, 1)
    y.sum().backward()
    assert x.grad.shape == (0, 3)
    x.detach()[:, oploom.tensor([5])] = 1
    with pytest.raises(IndexError, match="out of bounds"):
        oploom.zeros(0)[oploom.tensor([0])]


def test_indices_are_let_go_of():
    class Index(int):
        pass

    x = oploom.tensor(A)
    bounds = [Index(1), Index(2), Index(1)]  # not among the small numbers that Python shares
    large = 10**6
    before = [sys.getrefcount(b) for b in (*bounds, large)]
    for _ in range(10):
        x[slice(*bounds)], x[bounds[0]], x[0, large:]
        x[bounds[0], slice(*bounds)] = 1
        with pytest.raises(IndexError):
            x[large]
    assert [sys.getrefcount(b) for b in (*bounds, large)] == before


def test_gradients_flow_through_indexing():
    x = oploom.tensor(A, requires_grad=True)
    (x[0, 1:3] * 2).sum().backward()
    expected = np.zeros_like(A)
    expected[0, 1:3] = 2
    np.testing.assert_array_equal(x.grad.numpy(), expected)
    x.grad = None
    x[oploom.tensor(J)].sum().backward()
    expected = np.zeros_like(A)
    np.add.at(expected, J, 1)
    np.testing.assert_array_equal(x.grad.numpy(), expected)


SHAPES = [(5, 7), (40, 3), (3, 40), (6, 5, 4), (2, 30, 20), (3, 5, 2, 8), (7,), (130,)]
WRITTEN = [oploom.float32, oploom.float64, oploom.int64, oploom.uint8, oploom.bool, oploom.bfloat16,
           oploom.complex128]


def layouts(shape, rng):
    """Arrays of small integers, and functions that give tensors of them in one layout each."""
    values = rng.integers(0, 3, shape)

    def turned(dtype):
        return oploom.tensor(values.T.copy()).to(dtype).permute(*range(values.ndim)[::-1])

    def gaps(dtype):
        wide = oploom.zeros(tuple(2 * n for n in shape), dtype=dtype)
        return wide[(slice(None, None, 2),) * len(shape)].copy_(oploom.tensor(values))

    for make in (lambda dtype: oploom.tensor(values).to(dtype), turned, gaps):
        yield values, make


def indices_of(shape, rng):
    """Masks of neighbouring dimensions, dense and sparse, and index tensors of one and two of them."""
    for first in range(len(shape)):
        before = (slice(None),) * first
        for last in range(first + 1, len(shape) + 1):
            for part in (0.5, 0.02, 0, 1):
                yield (*before, rng.random(shape[first:last]) < part)
        n = shape[first]
        yield (*before, rng.permutation(n)[:rng.integers(0, n + 1)] - n)
        yield (*before, rng.permutation(n)[:n // 2 * 2].reshape(2, -1))
        yield (*before, np.array(n - 1))
        if first + 1 < len(shape):
            m = min(n, shape[first + 1])
            yield (*before, rng.permutation(m), rng.permutation(m))
            yield (*before, rng.permutation(n)[:, None], rng.permutation(shape[first + 1]))


def values_for(shape, rng):
    """Integers that are broadcast to a shape, along no dimension or along some."""
    yield rng.integers(0, 3, ())
    yield rng.integers(0, 3, shape)
    for d in range(len(shape)):
        yield rng.integers(0, 3, shape[d:])
        yield rng.integers(0, 3, (*shape[:d], 1, *shape[d + 1:]))


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dtype", WRITTEN, ids=str)
def test_writing_in_all_ways(dtype, accumulate):
    rng = np.random.default_rng(17)
    cases = 0
    for shape in SHAPES:
        for held, make in layouts(shape, rng):
            for index in indices_of(shape, rng):
                for values in values_for(held[index].shape, rng):
                    expected = held.copy()
                    if accumulate:  # NumPy 2.2 adds other memory where it has to broadcast
                        every = np.broadcast_to(values, expected[index].shape).copy()
                        np.add.at(expected, index, every)
                    else:
                        expected[index] = values
                    if dtype == oploom.bool:
                        expected = (expected != 0).astype(np.int64)
                    x = make(dtype)
                    where = [None if isinstance(i, slice) else oploom.tensor(i) for i in index]
                    x.index_put_(where, oploom.tensor(values).to(dtype), accumulate=accumulate)
                    result = x.to(oploom.complex128).numpy()
                    assert np.array_equal(result, expected), (shape, index, values.shape)
                    cases += 1
    assert cases > 2000


@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (20, 300, 8), (12, 6, 5)], ids=str)
def test_places_that_are_named_again_and_again(shape):
    rng = np.random.default_rng(5)
    for dim, size in enumerate(shape):
        index = rng.integers(0, size, 500)
        moved = (*shape[:dim], 500, *shape[dim + 1:])
        for values in values_for(moved, rng):
            each = np.moveaxis(np.broadcast_to(values, moved), dim, 0)
            last, total = np.zeros(shape), np.zeros(shape)
            for i, value in zip(index, each, strict=True):
                np.moveaxis(last, dim, 0)[i] = value
                np.moveaxis(total, dim, 0)[i] += value
            where = (*[None] * dim, oploom.tensor(index))
            given = oploom.tensor(values).to(oploom.float32)
            for expected, accumulate in ((last, False), (total, True)):
                x = oploom.zeros(shape)
                x.index_put_(where, given, accumulate=accumulate)
                np.testing.assert_array_equal(x.numpy(), expected)
                y = oploom.zeros(shape)
                places = oploom.tensor(index).reshape([-1 if d == dim else 1
                                                       for d in range(len(shape))]).expand(moved)
                (y.scatter_add_ if accumulate else y.scatter_)(dim, places, given.expand(moved))
                np.testing.assert_array_equal(y.numpy(), expected)


def test_values_that_do_not_fit_a_mask_leave_it_as_it_was():
    x = oploom.zeros(3, 4)
    mask = oploom.tensor([[True, False, False, True]] * 3)
    for accumulate in (False, True):
        for n in (0, 2, 5, 7):
            with pytest.raises(RuntimeError, match=rf"values of shape \[{n}\] cannot be broadcast to "
                                                   r"the shape of the indexing result, \[6\]"):
                x.index_put_((mask,), oploom.ones(n), accumulate=accumulate)
    with pytest.raises(RuntimeError, match=r"\[6, 2\] cannot be broadcast to .* result, \[6\]"):
        x.index_put_((mask,), oploom.ones(6, 2))
    assert not x.any()


@pytest.mark.parametrize("index", [(slice(None), B), (M,), (slice(None), A[0] % 3 == 0), (J,),
                                   (slice(None), J), (J, J)], ids=str)
def test_gradients_of_what_is_read_and_written(index):
    shape = (3, 4, 5) if index[-1].shape != (3,) or len(index) != 2 else (3, 3, 5)
    a = np.arange(float(np.prod(shape))).reshape(shape)
    where = tuple(ours(i) for i in index)
    x = oploom.tensor(a).requires_grad_()
    weights = np.random.default_rng(3).random(a[index].shape)
    (x[where] * oploom.tensor(weights)).sum().backward()
    expected = np.zeros(shape)
    np.add.at(expected, index, weights)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-15)
    y, v = oploom.tensor(a).requires_grad_(), oploom.tensor(weights).requires_grad_()
    z = y * 1
    z[where] = v
    (z * oploom.tensor(a)).sum().backward()
    kept = a.copy()
    kept[index] = 0
    np.testing.assert_array_equal(y.grad.numpy(), kept)
    np.testing.assert_array_equal(v.grad.numpy(), a[index])


@pytest.mark.parametrize("shape", [(9, 4, 31, 10), (10, 4, 31, 9), (12, 20, 9, 1), (1100, 5), (3, 65, 70)], ids=str)
def test_few_positions_of_many_lines(shape):
    rng = np.random.default_rng(8)
    turned = rng.integers(0, 100, shape[::-1]).T
    for dtype in (oploom.float32, oploom.uint8, oploom.complex128):
        x = oploom.tensor(turned.T.copy()).to(dtype).permute(*range(len(shape))[::-1])
        for t in (x, x.contiguous(), x.flip(0).transpose(0, 1).contiguous().transpose(0, 1)):
            values = t.to(oploom.complex128).numpy()
            for dim, size in enumerate(shape):
                for count in (1, 3, 8, 20):
                    index = rng.integers(0, size, count)
                    expected = values.take(index, axis=dim)
                    given = oploom.empty(expected.shape[::-1], dtype=dtype).permute(
                        *range(len(shape))[::-1])
                    oploom.index_select(t, dim, oploom.tensor(index), out=given)
                    where = (slice(None),) * dim + (oploom.tensor(index - size),)
                    for result in (oploom.index_select(t, dim, oploom.tensor(index)), given, t[where]):
                        assert np.array_equal(result.to(oploom.complex128).numpy(), expected)
                    moved = (*shape[:dim], count, *shape[dim + 1:])
                    for given in (rng.integers(0, 9, moved), rng.integers(0, 9, moved[1:]), 3):
                        each = np.moveaxis(np.broadcast_to(given, moved), dim, 0)
                        last, total = values.copy(), values.copy()
                        for i, value in zip(index, each, strict=True):
                            np.moveaxis(last, dim, 0)[i] = value
                            np.moveaxis(total, dim, 0)[i] += value
                        for expected, accumulate in ((last, False), (total, True)):
                            y = t.clone(memory_format=oploom.preserve_format)
                            y.index_put_([None] * dim + [oploom.tensor(index)],
                                         oploom.tensor(given).to(dtype), accumulate=accumulate)
                            assert np.array_equal(y.to(oploom.complex128).numpy(), expected)
                with pytest.raises(IndexError, match=f"index {size} is out of bounds for dimension"):
                    oploom.index_select(t, dim, oploom.tensor([0, size]))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64", "complex64", "complex128"])
def test_columns_of_short_rows(dtype):
    rng = np.random.default_rng(9)
    # The last ones are shared out among threads.
    for rows, columns in [(r, c) for r in (63, 64, 65, 131) for c in (2, 3, 5, 8, 15, 16, 17, 64)] + [(50000, 3)]:
        x = rng.integers(0, 100, (rows, columns)).astype(dtype)
        t = oploom.tensor(x)
        for count in (2, 3, 4, 16, 33, 64):
            index = rng.integers(0, columns, count)
            wanted = x[:, index]
            np.testing.assert_array_equal(t.index_select(1, oploom.tensor(index)).numpy(), wanted)
            np.testing.assert_array_equal(t[:, oploom.tensor(index - columns)].numpy(), wanted)
        for wrong in (-1, columns):
            with pytest.raises(IndexError, match="out of bounds"):
                t.index_select(1, oploom.tensor([0, wrong]))


@pytest.mark.parametrize("shape", [(4, 3, 50, 60), (3, 40, 2, 30), (2, 2, 60, 64)], ids=str)
def test_sums_at_few_positions(shape):
    rng = np.random.default_rng(10)
    orders = ((0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 3, 1), (0, 1, 3, 2))
    for order, step, dtype in itertools.product(orders, (1, 2), ("uint8", "float32", "bfloat16")):
        back = np.argsort(order)

        def laid_out(values, order=order, step=step, back=back, dtype=dtype):
            # In that order, with gaps between rows, or elements.
            wide = np.zeros([2 * values.shape[d] for d in order], values.dtype)
            t = oploom.tensor(wide).to(getattr(oploom, dtype))
            t = t[tuple(slice(0, values.shape[d] * step, step) for d in order)].permute(*back)
            return t.copy_(oploom.tensor(values))

        values = rng.integers(0, 9, shape)
        for dim, size in enumerate(shape):
            for count in (1, 3, 4, 5):
                index = rng.integers(0, size, count)
                terms = rng.integers(0, 9, (*shape[:dim], count, *shape[dim + 1:]))
                expected = values.copy()
                np.add.at(expected, (slice(None),) * dim + (index,), 2 * terms)
                t = laid_out(values)
                t.index_add_(dim, oploom.tensor(index), laid_out(terms), alpha=2)
                np.testing.assert_array_equal(t.to(oploom.int64).numpy(), expected)


@pytest.mark.parametrize("shape", [(70, 1, 1), (1, 30, 1), (1, 1, 70), (70, 30, 1), (1, 30, 70)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_positions_of_expanded_tensors(shape, dtype):
    random = np.random.default_rng(0)
    x = random.integers(0, 200, shape).astype(dtype)
    whole = np.broadcast_to(x, (70, 30, 70))
    t = oploom.tensor(x).expand(whole.shape)
    for dim in range(3):
        index = random.integers(0, whole.shape[dim], 45)
        wanted = whole.take(index, dim)
        positions = oploom.tensor(index)
        lines = positions.reshape([-1 if d == dim else 1 for d in range(3)]).expand(wanted.shape)
        assert np.array_equal(t.index_select(dim, positions).numpy(), wanted)
        assert np.array_equal(t[(slice(None),) * dim + (positions,)].numpy(), wanted)
        assert np.array_equal(t.gather(dim, lines).numpy(), wanted)
        # Of fewer lines than there are.
        few = lines[:, :20]
        assert np.array_equal(t.gather(dim, few).numpy(), wanted[:, :few.shape[1]])
        out = oploom.zeros(*reversed(wanted.shape), dtype=t.dtype).permute(2, 1, 0)
        oploom.index_select(t, dim, oploom.tensor(index), out=out)
        assert np.array_equal(out.numpy(), wanted)
        for wrong in (-1, whole.shape[dim]):
            index[-1] = wrong
            positions = oploom.tensor(index)
            with pytest.raises(IndexError, match="out of bounds"):
                oploom.index_select(t, dim, positions, out=out)
            assert np.array_equal(out.numpy(), wanted)
            with pytest.raises(IndexError, match="out of bounds"):
                t[(slice(None),) * dim + (oploom.tensor(np.append(index, whole.shape[dim])),)]


@pytest.mark.parametrize("dtype, rounding", [(oploom.float16, 2.0**-11), (oploom.bfloat16, 2.0**-8)])
def test_sums_of_16_bit_floats_are_rounded_once(dtype, rounding):
    rng = np.random.default_rng(2)
    for shape, dim in (((60, 70), 0), ((60, 70), 1), ((8, 30, 9), 1), ((600,), 0)):
        places = [4 * n if d == dim else n - n // 8 for d, n in enumerate(shape)]
        index = rng.integers(0, shape[dim], places)
        for turned in (False, True):
            def tensor(values, turned=turned):
                t = oploom.tensor(values).to(dtype)
                return t.transpose(0, -1).contiguous().transpose(0, -1) if turned else t
            x = tensor(rng.uniform(0, 1, shape))
            source = tensor(rng.uniform(0, 1, [n + 3 for n in places]))
            expected = x.to(oploom.float64).numpy().copy()
            to = list(np.indices(places))
            to[dim] = index
            terms = source.to(oploom.float64).numpy()[tuple(slice(0, n) for n in places)]
            np.add.at(expected, tuple(to), terms.copy())
            x.scatter_add_(dim, oploom.tensor(index), source)
            np.testing.assert_allclose(x.to(oploom.float64).numpy(), expected, rtol=1.01 * rounding)


# Positions whole pages apart, and short rows inside that become one with their neighbours.
@pytest.mark.parametrize("shape", [(130, 1024), (2, 40, 4096), (1, 700, 2048), (3, 9, 7, 3), (2, 30, 5, 3, 2),
                                   (2, 900, 6, 20)], ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_gather_and_scatter_of_blocks(shape, dtype):
    rng = np.random.default_rng(4)
    x, other = (rng.integers(0, 9, shape).astype(dtype) for _ in range(2))
    for dim in range(len(shape)):
        for fewer in (0, 1):
            places = tuple(max(1, n - (fewer if d != dim else n // 3)) for d, n in enumerate(shape))
            index = rng.integers(0, shape[dim], places)
            part = tuple(slice(0, n) for n in places)
            at = list(np.indices(places))
            at[dim] = index
            where = oploom.tensor(index)
            assert np.array_equal(oploom.tensor(x).gather(dim, where).numpy(), x[tuple(at)])
            total = x.copy()
            np.add.at(total, tuple(at), other[part])
            added = oploom.tensor(x).scatter_add(dim, where, oploom.tensor(other))
            assert np.array_equal(added.numpy(), total)
            # One of those that name a position is kept: the last one, as NumPy does.
            last = x.copy()
            last[tuple(at)] = other[part]
            assert np.array_equal(oploom.tensor(x).scatter(dim, where, oploom.tensor(other)).numpy(), last)
