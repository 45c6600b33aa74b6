"""Reductions of rows of every length, beside NumPy's, and the same bits of every instruction set."""

import hashlib
import itertools
import os
import subprocess
import sys

import numpy as np
import oploom
import pytest

FLOATS = ["float32", "float64", "float16", "bfloat16"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64"]
OPERATORS = ["sum", "prod", "mean", "norm", "var"]
OPERATORS += ["amax", "amin", "argmax", "argmin", "any", "all"]
LENGTHS = [*range(1, 70), 96, 127, 128, 129, 130]


def numbers(shape, dtype):
    random = np.random.default_rng(shape[-1])
    if dtype in INTEGERS:
        return oploom.tensor(random.integers(0, 5, shape)).to(getattr(oploom, dtype))
    # Products of a hundred neither overflow nor vanish.
    x = random.uniform(0.5, 1.5, shape) * random.choice([-1, 1], shape)
    if dtype in COMPLEX:
        x = x * np.exp(1j * random.uniform(0, 6, shape))
    return oploom.tensor(x).to(getattr(oploom, dtype))


def layouts(n, rows, dtype):
    """Rows of n numbers: without gaps, apart from one another, and with gaps."""
    yield numbers((rows, n), dtype)
    yield numbers((rows, n + 3), dtype)[:, 2:-1]
    yield numbers((rows, 2 * n), dtype)[:, ::2]


def applies(operator, dtype):
    if dtype in COMPLEX:
        return operator not in ("amax", "amin", "argmax", "argmin")
    return dtype not in INTEGERS or operator not in ("mean", "norm", "var")


def reduce(operator, x, dim=1, **others):
    if operator == "norm":
        return oploom.norm(x, 2, dim, **others)
    return getattr(oploom, operator)(x, dim, **others)


def wide_array(x):
    return x.to(oploom.complex128 if x.is_complex() else oploom.float64).numpy()


def expected(operator, x, dim=1):
    wide = wide_array(x)
    if operator == "norm":
        return np.linalg.norm(wide, axis=dim)
    if operator == "var":
        return wide.var(axis=dim, ddof=1)
    if operator == "logsumexp":
        return np.log(np.exp(wide).sum(axis=dim))
    return getattr(np, operator)(wide, axis=dim)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + INTEGERS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_of_every_length(operator, dtype):
    if not applies(operator, dtype):
        return
    rounding = {"float16": 6e-4, "bfloat16": 5e-3, "float32": 2e-5, "complex64": 2e-5}
    rtol = rounding.get(dtype, 1e-12)
    for n in LENGTHS:
        if operator == "var" and n == 1:
            continue
        if operator == "prod" and dtype in INTEGERS and n > 20:
            break  # a double no longer holds them
        for x in layouts(n, 67, dtype):
            result = wide_array(reduce(operator, x))
            # Terms may cancel, and the least float16 is no less than that.
            atol = {"sum": rtol * n, "mean": rtol, "prod": 6e-8 * (dtype == "float16")}.get(operator, 0)
            np.testing.assert_allclose(result, expected(operator, x), rtol, atol)


def permuted_and_expanded(dtype):
    """Tensors of more numbers than are reduced as they lie, in layouts that results do not have."""
    for shape, orders in [
        ((7, 5, 8, 100), [(0, 2, 3, 1), (2, 1, 0, 3), (3, 2, 1, 0)]),
        ((2, 100, 4, 12), [(0, 1, 3, 2), (1, 0, 2, 3), (0, 2, 3, 1)]),
        ((33, 17, 1, 20), [(0, 1, 2, 3), (3, 1, 0, 2)]),
        ((1, 90, 100), [(0, 1, 2), (2, 1, 0)]),
    ]:
        for order in orders:
            stored = [shape[d] for d in order]
            x = numbers(stored, dtype).permute([order.index(d) for d in range(len(shape))])
            yield x
            yield numbers([*stored[:-1], stored[-1] + 1], dtype)[..., 1:].permute(
                [order.index(d) for d in range(len(shape))])
        for d in range(len(shape)):
            yield numbers((*shape[:d], 1, *shape[d + 1:]), dtype).expand(shape)
    yield numbers((1, 1, 50), dtype).expand(20, 30, 50)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64", "bool", "uint8", "int64"])
@pytest.mark.parametrize("operator", [*OPERATORS, "logsumexp"])
@pytest.mark.filterwarnings("ignore:Degrees of freedom", "ignore:invalid value", "ignore:divide by zero")
def test_results_in_another_order_than_their_elements(operator, dtype):
    if not applies(operator, dtype) or (operator == "logsumexp" and dtype == "complex64"):
        return
    rtol = {"bfloat16": 5e-3, "float32": 2e-5, "complex64": 2e-5}.get(dtype, 1e-12)
    atol = {"sum": 100, "mean": 1, "prod": 1, "var": 1, "logsumexp": 1}.get(operator, 0) * rtol
    for x in permuted_and_expanded(dtype):
        for dim in range(x.ndim):
            if operator == "prod" and dtype in INTEGERS and x.shape[dim] > 20:
                continue
            if operator == "logsumexp" and dtype in INTEGERS:
                rtol = 2e-6  # of float32
            result, wanted = reduce(operator, x, dim), expected(operator, x, dim)
            np.testing.assert_allclose(wide_array(result), wanted, rtol, atol)
            kept = reduce(operator, x, dim, keepdim=True)
            assert kept.shape == (*x.shape[:dim], 1, *x.shape[dim + 1:])
            np.testing.assert_array_equal(wide_array(kept.squeeze(dim)), wide_array(result))
            other = oploom.empty(result.shape[::-1], dtype=result.dtype).permute(
                list(range(result.ndim))[::-1])
            if operator != "logsumexp":
                reduce(operator, x, dim, out=other)
                np.testing.assert_array_equal(wide_array(other), wide_array(result))
            if operator in ("amax", "amin"):
                values, indices = getattr(oploom, operator[1:])(x, dim)
                np.testing.assert_array_equal(wide_array(values), wide_array(result))
                places = getattr(np, "arg" + operator[1:])(wide_array(x), axis=dim)
                np.testing.assert_array_equal(indices.numpy(), places)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "int16"])
@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_running_results_of_permuted_tensors(order, dtype):
    for shape in [(20, 18, 160), (160, 3, 40), (60, 1, 50)]:
        x = numbers(shape, dtype).permute(order)
        for dim in range(3):
            for operator in ("cumsum", "cumprod"):
                run = getattr(oploom, operator)
                result = run(x, dim)
                wide = x.numpy().astype({"complex64": "complex128"}.get(dtype, "float64"))
                if dtype.startswith("int"):
                    wide = x.numpy().astype("int64")
                wanted = getattr(np, operator)(wide, axis=dim)
                np.testing.assert_allclose(result.numpy(), wanted, 1e-4, 1e-4)
                # The same where no element has to be fetched from afar.
                assert oploom.equal(result, run(x.contiguous(), dim))
                # A result with a layout of its own, and one in place.
                other = oploom.empty(x.shape[::-1], dtype=result.dtype).permute(2, 1, 0)
                assert oploom.equal(run(x, dim, out=other), result)
                same = x.to(result.dtype).clone()
                assert oploom.equal(run(same, dim, out=same), result)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int64"])
@pytest.mark.parametrize("width", [1, 2, 3, 5, 7, 12, 15, 16])
def test_running_results_of_short_rows_with_gaps(width, dtype):
    rows, random = 2100, np.random.default_rng(width)
    for operator in ("cumsum", "cumprod"):
        values = random.integers(*((-9, 10) if operator == "cumsum" else (-1, 2)), (rows, width + 3))
        whole = oploom.tensor(values).to(getattr(oploom, dtype))
        wanted = getattr(np, operator)(values[:, 1:width + 1], axis=1)
        x = whole[:, 1:width + 1]
        run = getattr(oploom, operator)
        np.testing.assert_array_equal(run(x, 1, dtype=x.dtype).to(oploom.int64).numpy(), wanted)
        for source in (x, x.contiguous()):
            target = oploom.full(values.shape, 7).to(x.dtype)
            run(source, 1, dtype=x.dtype, out=target[:, 2:width + 2])
            np.testing.assert_array_equal(target[:, 2:width + 2].to(oploom.int64).numpy(), wanted)
            assert (target[:, :2] == 7).all() and (target[:, width + 2:] == 7).all()
        turned = whole.view(30, 70, width + 3)[..., 1:width + 1].transpose(0, 1)
        np.testing.assert_array_equal(run(turned, 2, dtype=x.dtype).to(oploom.int64).numpy(),
                                      wanted.reshape(30, 70, width).transpose(1, 0, 2))
        run(x, 1, dtype=x.dtype, out=x)
        values[:, 1:width + 1] = wanted
        np.testing.assert_array_equal(whole.to(oploom.int64).numpy(), values)


def test_bits_of_instruction_sets():
    """How numbers are grouped depends on nothing but sizes and strides."""
    environment = {k: v for k, v in os.environ.items() if k != "OPLOOM_CPU_CAPABILITY"}
    sets = ["default", "avx2", "avx512"]
    ask = "import oploom; print(oploom.get_cpu_capability())"
    best = subprocess.check_output([sys.executable, "-c", ask], text=True, env=environment)
    sets = sets[: sets.index(best.strip().lower()) + 1]
    found = {
        name: subprocess.check_output(
            [sys.executable, __file__], text=True, env={**environment, "OPLOOM_CPU_CAPABILITY": name}
        )
        for name in sets
    }
    for name in sets[1:]:
        assert found[name] == found["default"], name


def cancelling(rows, n, dtype):
    """Rows whose sums are what was rounded, and little else, so that 16-bit floats show it too."""
    random = np.random.default_rng(n)
    x = numbers((rows, n), "complex128" if dtype in COMPLEX else "float64").numpy()
    x *= 2.0 ** random.integers(-6, 7, x.shape)
    x[:, (n + 1) // 2 :] = -x[:, : n // 2][:, ::-1]
    return oploom.tensor(x).to(getattr(oploom, dtype))


def main():
    for dtype in FLOATS + COMPLEX:
        for operator in ("sum", "prod", "mean", "norm", "var", "cumsum", "cumprod"):
            digest = hashlib.sha256()
            for n in [*LENGTHS, 1000, 20000]:
                x = cancelling(20 if n < 1000 else 3, n, dtype)
                columns = x.t().contiguous().t()
                gaps = oploom.stack([x, x], 2)[:, :, 1]
                for rows in (x, columns, gaps):
                    result = reduce(operator, rows).contiguous()
                    digest.update(result.view(oploom.uint8).numpy().tobytes())
            print(dtype, operator, digest.hexdigest())


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_places_of_extremes_side_by_side(dtype):
    for rows, columns in [(2, 40), (3, 600), (9, 5), (23, 33), (21, 700), (700, 10), (90, 65)]:
        x = numbers((rows, columns), dtype)
        if dtype in FLOATS:
            x[rows // 2, columns // 3] = np.nan
        turned = x.t().contiguous().t()
        gaps = numbers((rows, 2 * columns), dtype)[:, ::2]
        gaps.copy_(x)
        wanted = wide_array(x)
        for layout in (x, turned, gaps):
            assert np.array_equal(layout.argmax(0).numpy(), wanted.argmax(0)), (rows, columns)
            values, places = layout.min(0)
            assert np.array_equal(places.numpy(), wanted.argmin(0)), (rows, columns)
            assert np.array_equal(wide_array(values), wanted.min(0), equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "uint8"])
def test_place_of_the_extreme_of_many(dtype):
    x = numbers((300_000,), dtype)
    for place in (299_999, 170_001, 65_000, 3):  # the first of those that are there by then
        x[place] = 9
        assert x.argmax().item() == place
        assert x[::2].argmax().item() == x.to(oploom.float64).numpy()[::2].argmax()


@pytest.mark.parametrize("shape", [(257, 63), (600, 130), (301, 333), (120, 1152), (3, 90, 700)])
def test_columns_are_the_same_however_many_threads_share_them(shape):
    x = oploom.tensor(np.random.default_rng(0).random(shape, dtype=np.float32))
    dim = len(shape) - 2
    functions = [lambda: x.sum(dim), lambda: x.var(dim), lambda: x.argmax(dim),
                 lambda: x.max(dim)[0], lambda: x.cumsum(dim), lambda: x.cumprod(dim),
                 lambda: x.softmax(dim), lambda: x.log_softmax(dim)]
    threads = oploom.get_num_threads()
    try:
        oploom.set_num_threads(1)
        expected = [f().tolist() for f in functions]
        for count in (2, 3, 16):
            oploom.set_num_threads(count)
            assert [f().tolist() for f in functions] == expected
    finally:
        oploom.set_num_threads(threads)


@pytest.mark.parametrize("shape", [(8, 3, 100, 130), (4, 16, 70, 90), (3, 100, 9, 50), (16, 7, 5, 33), (2, 2, 700, 90)])
def test_outer_and_inner_dimensions(shape):
    """Few rows for each output, or long ones that are shared out; the same bits for all threads."""
    values = np.random.default_rng(0).random(shape) - 0.4
    threads = oploom.get_num_threads()
    for dtype in ("float32", "float64", "bfloat16", "int16"):
        x = oploom.tensor(values * 100).to(getattr(oploom, dtype))
        wide = wide_array(x)
        for dims in [(0, 2, 3), (0, 3), (1, 3), (0, 2), (1, 2, 3)]:
            functions = [x.sum, x.amax] if dtype == "int16" else [x.sum, x.amax, x.var, x.mean]
            wanted = [wide.sum(dims), wide.max(dims), wide.var(dims, ddof=1), wide.mean(dims)]
            try:
                oploom.set_num_threads(1)
                results = [f(dims) for f in functions]
                for result, value in zip(results, wanted):
                    rtol = 5e-3 if dtype == "bfloat16" else 1e-5
                    np.testing.assert_allclose(wide_array(result), value, rtol, atol=10 * rtol)
                oploom.set_num_threads(3)
                assert [f(dims).tolist() for f in functions] == [r.tolist() for r in results]
            finally:
                oploom.set_num_threads(threads)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "int64", "int16", "bool"])
@pytest.mark.parametrize("width", [1, 2, 4, 5, 8, 13, 16])
def test_many_short_rows_with_gaps(width, dtype):
    """More of them than are put together at once, along one dimension and two."""
    rtol = {"float16": 6e-4, "bfloat16": 5e-3, "float64": 1e-12}.get(dtype, 2e-5)
    for shape, dims in [((2600, width), [0]), ((3, 700, width), [0, 1, (0, 1), (1, 2), (0, 1, 2)])]:
        x = numbers((*shape[:-1], width + 2), dtype)[..., 1:-1]
        for operator, dim in itertools.product(["sum", "amax", "any", "var"], dims):
            if applies(operator, dtype):
                result = wide_array(reduce(operator, x, dim))
                atol = 2600 * rtol if operator == "sum" else rtol
                np.testing.assert_allclose(result, expected(operator, x, dim), rtol, atol)


@pytest.mark.parametrize("window", [(2, 2), (3, 1), (1, 5), (4, 9)])
@pytest.mark.parametrize("channels", [1, 3, 16, 40])
def test_windows(window, channels):
    """Dimensions that are reduced and kept by turns, channels before pictures or behind."""
    high, wide = window
    shape = (2, 5, high, 6, wide, channels)
    values = np.random.default_rng(0).random(shape) - 0.4
    for dtype in ("float32", "float64", "bfloat16", "complex64", "int16", "bool"):
        x = oploom.tensor(values * 100).to(getattr(oploom, dtype))
        if dtype == "bool":
            x = oploom.tensor(values > 0.4)
        for order in [(0, 1, 2, 3, 4, 5), (0, 5, 1, 2, 3, 4), (3, 0, 4, 5, 2, 1)]:
            dims = (order.index(2), order.index(4))
            for y in (x.permute(order), x.permute(order).contiguous()):
                array = wide_array(y)
                rtol = 5e-3 if dtype == "bfloat16" else 1e-5
                for keep in (False, True):
                    wanted = [(y.sum, array.sum), (y.any, array.any), (y.all, array.all)]
                    if dtype not in ("int16", "bool"):
                        wanted.append((y.mean, array.mean))
                    if dtype != "complex64":
                        wanted += [(y.amax, array.max), (y.amin, array.min)]
                    for ours, theirs in wanted:
                        result = wide_array(ours(dims, keepdim=keep))
                        value = theirs(dims, keepdims=keep)
                        assert result.shape == value.shape
                        np.testing.assert_allclose(result, value, rtol, atol=10 * rtol)


if __name__ == "__main__":
    main()
