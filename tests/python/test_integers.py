"""Division, powers, shifts, conditions and sequences of integers beside NumPy's."""

import numpy as np
import oploom
import pytest


def pairs(dtype):
    """All of 8 bits; of wider ones, the ends of the range, small numbers and random ones."""
    info = np.iinfo(dtype)
    if info.bits == 8:
        a, b = np.meshgrid(np.arange(info.min, info.max + 1), np.arange(info.min, info.max + 1))
    else:
        random = np.random.default_rng(info.bits)
        near = np.concatenate([np.arange(-9, 10), [info.min, info.min + 1, info.max - 1, info.max]])
        odd = np.concatenate([near, random.integers(info.min, info.max, 500, dtype, endpoint=True)])
        odd = np.concatenate([odd, odd // 3, random.integers(-1000, 1000, 100)])
        a, b = np.meshgrid(odd, odd)
        # Products and their neighbours: quotients that are integers, and that nearly are.
        small = random.integers(1, 1 << info.bits // 2 - 1, (2, 20000))
        if info.bits == 64:
            # Those of 52 bits, which are divided as doubles, and the ends of their range.
            small = np.concatenate([small, random.integers(1, 1 << 25, (2, 20000))], axis=1)
            for last in ((1 << 51) - np.arange(1, 5), (1 << 51) + np.arange(9)):
                ends = np.meshgrid(*[np.concatenate([near[:19], last, -last])] * 2)
                a, b = (np.concatenate([x.ravel(), y.ravel()]) for x, y in zip((a, b), ends))
        close = (small[0] * small[1])[:, None] + np.arange(-1, 2)
        a = np.concatenate([a.ravel(), close.ravel(), -close.ravel()])
        b = np.concatenate([b.ravel(), *[np.repeat(small[1], 3)] * 2])
    a, b = a.ravel().astype(dtype), b.ravel().astype(dtype)
    return a[b != 0], b[b != 0]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_quotients_and_remainders(dtype):
    a, b = pairs(dtype)
    x, y = oploom.tensor(a), oploom.tensor(b)
    with np.errstate(over="ignore"):
        floor = a // b
        inexact = (floor * b != a) & ((a < 0) != (b < 0))
        expected = {
            "floor_divide": (oploom.floor_divide(x, y), floor),
            "trunc": (oploom.div(x, y, rounding_mode="trunc"), floor + inexact.astype(dtype)),
            "remainder": (oploom.remainder(x, y), np.remainder(a, b)),
            "fmod": (oploom.fmod(x, y), np.fmod(a, b)),
        }
    for name, (result, wanted) in expected.items():
        assert result.dtype == x.dtype
        wrong = np.flatnonzero(result.numpy() != wanted)
        assert wrong.size == 0, (name, a[wrong[0]], b[wrong[0]], result[int(wrong[0])].item())


@pytest.mark.parametrize("n", [1, 15, 64, 1000])
@pytest.mark.parametrize("step", [1, 2])
def test_zero_is_found_wherever_it_is(n, step):
    for place in {0, n // 2, n - 1}:
        for dtype in (oploom.uint8, oploom.int32, oploom.int64):
            divisors = oploom.ones([n * step], dtype=dtype)[::step]
            divisors[place] = 0
            out = oploom.full([n], 7, dtype=dtype)
            with pytest.raises(RuntimeError, match="division of an integer by zero"):
                oploom.floor_divide(oploom.ones([n], dtype=dtype), divisors, out=out)
            assert bool((out == 7).all())


@pytest.mark.parametrize("shape", [(4,), (5, 1), (6, 1, 1), (5, 4), (6, 1, 4), (6, 5, 1), (1,), (6, 5, 4)])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_zero_is_found_beside_many_elements(shape, dtype):
    x = oploom.ones(6, 5, 4, dtype=oploom.int32)
    for place in np.ndindex(shape):
        divisors = np.ones(shape, dtype)
        x // oploom.tensor(divisors)
        divisors[place] = 0
        for y in (oploom.tensor(divisors), oploom.tensor(divisors).expand(6, 5, 4)):
            with pytest.raises(RuntimeError, match="division of an integer by zero"):
                x // y


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 8, 14, 15, 16, 17, 100])
def test_powers_wrap_around(dtype, exponent):
    info = np.iinfo(dtype)
    x = np.arange(-150, 151).astype(dtype)
    x = np.concatenate([x, np.array([info.min, info.max], dtype)])
    expected = np.ones_like(x)
    with np.errstate(over="ignore"):
        for _ in range(exponent):
            expected = expected * x
    result = oploom.tensor(x) ** exponent
    assert result.dtype == getattr(oploom, dtype)
    np.testing.assert_array_equal(result.numpy(), expected)
    exponents = oploom.full([len(x)], exponent, dtype=result.dtype)
    assert oploom.equal(oploom.pow(oploom.tensor(x), exponents), result)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 17, 5000])
def test_arange(dtype, n):
    for start, step in [(0, 1), (5, 3), (-7, -2), (1, 300)]:
        end = start + n * step
        with np.errstate(over="ignore"):
            expected = (start + step * np.arange(n)).astype(dtype)
        result = oploom.arange(start, end, step, dtype=getattr(oploom, dtype))
        np.testing.assert_array_equal(result.numpy(), expected)
        spread = oploom.zeros([2 * n], dtype=result.dtype)
        oploom.arange(start, end, step, out=spread[::2])
        np.testing.assert_array_equal(spread[::2].numpy(), expected)
        assert not spread[1::2].any()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_every_shift(dtype):
    """Of every byte; of longer numbers those with one bit or none, their neighbours and some more."""
    info = np.iinfo(dtype)
    if info.bits == 8:
        numbers = counts = np.arange(info.min, info.max + 1)
    else:
        powers = [2**k + d for k in range(info.bits - 1) for d in (-1, 0, 1)]
        numbers = [*powers, *(-p for p in powers), info.min, info.max, info.max // 3, info.min // 3]
        counts = [*range(-3, info.bits + 3), 255, 256, 2**14, info.min, info.min + 1, info.max]
    a, b = (x.ravel() for x in np.meshgrid(np.array(numbers, dtype), np.array(counts, dtype)))
    # A shift by all bits but one and then by one more is defined.
    most = np.where((b < 0) | (b >= info.bits), info.bits - 1, b).astype(dtype)
    last = (most != b).astype(dtype)
    x, y = oploom.tensor(a), oploom.tensor(b)
    wanted_of = {"bitwise_left_shift": a << most << last, "bitwise_right_shift": a >> most >> last}
    for name, wanted in wanted_of.items():
        function = getattr(oploom, name)
        np.testing.assert_array_equal(function(x, y).numpy(), wanted)
        for n in (1, 7, 33, 100):
            np.testing.assert_array_equal(function(x[99 : 99 + n], y[99 : 99 + n]).numpy(),
                                          wanted[99 : 99 + n])  # fmt: skip
        np.testing.assert_array_equal(function(x[::3], y[::3]).numpy(), wanted[::3])
        rows = function(oploom.tensor(numbers, dtype=x.dtype), oploom.tensor(counts, dtype=x.dtype)[:, None])
        np.testing.assert_array_equal(rows.numpy().ravel(), wanted)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float64",
                                   "float32", "bfloat16", "float16"])  # fmt: skip
@pytest.mark.parametrize("name", ["isposinf", "isneginf", "signbit"])
def test_conditions_of_rows_of_any_length(name, dtype):
    """Those of integers that none of them meets, too."""
    function, kind = getattr(oploom, name), getattr(oploom, dtype)
    rng = np.random.default_rng(4)
    if kind.is_floating_point:
        x = rng.choice([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf, np.nan], (40, 300))
    else:
        x = rng.integers(0 if dtype in ("bool", "uint8") else -3, 2, (40, 300))
    wanted = getattr(np, name)(x.astype(float))
    numbers = oploom.tensor(x).to(kind)

    def check(result, part):
        assert result.dtype == oploom.bool
        np.testing.assert_array_equal(result.numpy(), part)

    for n in (0, 1, 3, 8, 15, 31, 64, 65, 129, 300):
        check(function(numbers[1, :n]), wanted[1, :n])
    check(function(numbers), wanted)
    check(function(numbers.t()), wanted.T)
    check(function(numbers[::2, 1::3]), wanted[::2, 1::3])
    check(function(numbers[3, 5]), wanted[3, 5])
    out = oploom.ones([300, 40], dtype=oploom.bool)
    assert function(numbers, out=out.t()).data_ptr() == out.data_ptr()
    check(out, wanted.T)
    wide = oploom.ones([40, 600])
    function(numbers, out=wide[:, ::2])
    np.testing.assert_array_equal(wide.numpy()[:, ::2], wanted)
    assert bool((wide[:, 1::2] == 1).all())


@pytest.mark.parametrize("n", [1, 3, 4, 5, 17, 1000])
def test_running_sums_wrap_around(n):
    x = np.random.default_rng(n).integers(-(1 << 63), (1 << 63) - 1, (7, n))
    with np.errstate(over="ignore"):
        wanted = np.cumsum(x, 1)
    numbers = oploom.tensor(x)
    np.testing.assert_array_equal(oploom.cumsum(numbers, 1).numpy(), wanted)
    np.testing.assert_array_equal(oploom.cumsum(numbers[2], 0).numpy(), wanted[2])
    np.testing.assert_array_equal(oploom.cumsum(numbers.t().contiguous().t(), 1).numpy(), wanted)
    numbers.cumsum_(1)
    np.testing.assert_array_equal(numbers.numpy(), wanted)
