"""Python's operators: numbers on either side, in place, comparison, foreign types."""

import operator

import numpy as np
import oploom
import pytest

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
          operator.mod, operator.pow]
COMPARE = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


@pytest.mark.parametrize("function", BINARY + COMPARE)
def test_binary_against_numpy(function):
    a = np.array([1.0, 2.0, 3.5, 7.0])
    b = np.array([2.0, 2.0, 0.5, 3.0])
    x, y = oploom.tensor(a), oploom.tensor(b)
    np.testing.assert_allclose(function(x, y).numpy(), function(a, b))
    np.testing.assert_allclose(function(x, 2).numpy(), function(a, 2))
    np.testing.assert_allclose(function(2, x).numpy(), function(2, a))
    np.testing.assert_allclose(function(x, 1.5).numpy(), function(a, 1.5))
    np.testing.assert_allclose(function(x, np.float64(1.5)).numpy(), function(a, 1.5))


@pytest.mark.parametrize("function", [operator.floordiv, operator.mod])
def test_division_of_negative_numbers(function):
    a = np.array([7, -7, 7, -7, 6, -6])
    b = np.array([2, 2, -2, -2, 3, 3])
    for dtype in (np.int64, np.float32):
        c, d = a.astype(dtype), b.astype(dtype)
        result = function(oploom.tensor(c), oploom.tensor(d))
        np.testing.assert_array_equal(result.numpy(), function(c, d))
        assert function(oploom.tensor(c), -2).tolist() == function(c, -2).tolist()


@pytest.mark.parametrize("function", [operator.and_, operator.or_, operator.xor])
def test_bits_against_numpy(function):
    a, b = np.array([6, 5, 12]), np.array([3, 1, 2])
    x, y = oploom.tensor(a), oploom.tensor(b)
    assert function(x, y).tolist() == function(a, b).tolist()
    assert function(x, 2).tolist() == function(a, 2).tolist()


def test_unary():
    x = oploom.tensor([1, -2])
    assert (-x).tolist() == [-1, 2] and abs(x).tolist() == [1, 2] and (~x).tolist() == [-2, 1]
    assert (+x) is x
    assert (~oploom.tensor([True, False])).tolist() == [False, True]


def test_matmul():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    x, y = oploom.tensor(a), oploom.tensor(b)
    np.testing.assert_allclose((x @ y).numpy(), a @ b)
    with pytest.raises(TypeError):
        x @ 2


@pytest.mark.parametrize("function, result", [
    (operator.iadd, [3, 4]), (operator.isub, [-1, 0]), (operator.imul, [2, 4]),
    (operator.itruediv, [0.5, 1]),
])
def test_in_place(function, result):
    x = oploom.tensor([1.0, 2.0])
    y = function(x, 2)
    assert y is x and x.tolist() == result
    x = oploom.tensor([1.0, 2.0])
    assert function(x, oploom.tensor([2.0, 2.0])) is x and x.tolist() == result


def test_foreign_types():
    x = oploom.ones(2)
    for other in ("a", None, [1, 2], object()):
        with pytest.raises(TypeError, match="unsupported operand|can only concatenate"):
            x + other
    assert (x == "a") is False and (x != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        x < "a"

    class Greedy:
        def __radd__(self, other):
            return "asked"

    assert x + Greedy() == "asked"


def test_overloads_keep_dtypes():
    x = oploom.tensor([1, 2])
    assert (1 / x).tolist() == [1, 0.5] and (x / 2).dtype is oploom.float32
    assert (3 - x).tolist() == [2, 1] and (3 - x).dtype is oploom.int64
    assert (2**x).tolist() == [2, 4] and (2**x).dtype is oploom.int64
    assert (7 // x).tolist() == [7, 3] and (7 % x).tolist() == [0, 1]


def test_numpy_arrays_on_the_other_side():
    x, a = oploom.ones(2, dtype=oploom.float64), np.array([1.0, 2.0])
    assert np.asarray(x + a).tolist() == [2, 3]


def test_einsum_and_norm_take_the_convenient_forms():
    a = oploom.arange(6, dtype=oploom.float64).view(2, 3)
    product = np.arange(6.0).reshape(2, 3) @ np.arange(6.0).reshape(2, 3).T
    assert oploom.einsum("ij,kj->ik", a, a).tolist() == product.tolist()
    assert oploom.einsum("ij,kj->ik", [a, a]).tolist() == product.tolist()
    assert oploom.einsum("ij,kj,k->ik", a, a, oploom.ones(2, dtype=a.dtype), path=[0, 2, 0, 1]).tolist() == product.tolist()
    with pytest.raises(RuntimeError, match="path"):
        oploom.einsum("ij,kj->ik", a, a, path=[0])
    expected = np.linalg.norm(np.arange(6.0).reshape(2, 3), axis=1)
    np.testing.assert_allclose(oploom.norm(a, dim=1).numpy(), expected)
    np.testing.assert_allclose(oploom.norm(a).item(), np.sqrt(55.0))
    assert oploom.norm(a.float(), dtype=oploom.float64).dtype is oploom.float64
    out = oploom.empty(0, dtype=oploom.float64)
    assert oploom.norm(a, dim=1, out=out) is out
    np.testing.assert_allclose(out.numpy(), expected)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "remainder", "fmod", "eq", "ne", "lt", "le", "gt", "ge",
                                  "bitwise_and", "bitwise_or", "bitwise_xor"])
def test_a_number_as_second_operand_works_with_out(name):
    function = getattr(oploom, name)
    x = oploom.tensor([[5, -3, 2], [0, 7, -2]])
    expected = function(x, 2)
    out = oploom.empty(0, dtype=expected.dtype)
    assert function(x, 2, out=out) is out
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_einsum_keeps_integers(dtype):
    a = np.arange(6, dtype=dtype).reshape(2, 3)
    for equation, operands in [("ij->i", [a]), ("ij->", [a]), ("ij,kj->ik", [a, a]),
                               ("ij,kl->i", [a, a])]:
        result = oploom.einsum(equation, *map(oploom.tensor, operands)).numpy()
        expected = np.einsum(equation, *operands)
        assert result.dtype == expected.dtype and result.tolist() == expected.tolist()


def test_logsumexp_of_integers():
    for values, dtype in [([2, 3, 5], oploom.uint8), ([-100, 100], oploom.int8), ([True], oploom.bool)]:
        result = oploom.tensor(values, dtype=dtype).logsumexp(0)
        assert result.dtype is oploom.float32
        np.testing.assert_allclose(result.item(), np.logaddexp.reduce(np.array(values, "float64")),
                                   rtol=1e-6)


def test_topk_of_a_number():
    values, indices = oploom.tensor(5.0).topk(0)
    assert values.item() == 5 and indices.item() == 0


def test_tensors_have_at_most_64_dimensions():
    x = oploom.arange(6.0).reshape([2] + [1] * 62 + [3])
    assert x.dim() == 64
    assert x.sum(63).flatten().tolist() == [3, 12] and x.flip([63])[0].flatten().tolist() == [2, 1, 0]
    for wider in (lambda: x.unsqueeze(0), lambda: x.expand(1, *x.shape), lambda: oploom.ones([1] * 67),
                  lambda: x.reshape([1] * 64 + [6]), lambda: oploom.stack([x, x])):
        with pytest.raises(RuntimeError, match="at most 64 dimensions, got 6[57]"):
            wider()
    y = oploom.ones(2)
    with pytest.raises(RuntimeError, match="at most 64 dimensions"):
        y.resize_([1] * 65)
    assert y.shape == (2,)


@pytest.mark.parametrize("function", ["sort", "topk", "max"])
def test_two_outputs_share_no_memory(function):
    x = oploom.tensor([[3, 1, 2], [6, 5, 4]])
    args = {"sort": [x], "topk": [x, 3], "max": [x, 0]}[function]
    memory = oploom.zeros(12, dtype=oploom.int64)
    shape = (3,) if function == "max" else (2, 3)
    count = int(np.prod(shape))
    both = memory[:count].view(shape)
    beside = memory[1 : count + 1].view(shape)
    for second in (both, beside):
        with pytest.raises(RuntimeError, match="outputs that share no memory"):
            getattr(oploom, function)(*args, out=(both, second))
        assert memory.tolist() == [0] * 12
    getattr(oploom, function)(*args, out=(both, memory[6 : 6 + count].view(shape)))
    assert both.flatten().tolist()[0] == {"sort": 1, "topk": 3, "max": 6}[function]


def test_random_functions_fill_a_given_tensor():
    for function, *args in ((oploom.rand, [50]), (oploom.randn, [50]), (oploom.randint, 9, [50]),
                            (oploom.randint, -9, 9, [50])):
        drawn = [function(*args, generator=oploom.Generator().manual_seed(4),
                          out=oploom.empty(0)).tolist() for _ in range(2)]
        assert drawn[0] == drawn[1] and len(set(drawn[0])) > 5
        assert drawn[0] == function(*args, generator=oploom.Generator().manual_seed(4)).tolist()
    probability = oploom.tensor([0.0, 1.0, 0.0, 1.0])
    out = oploom.empty(0)
    assert oploom.bernoulli(probability, out=out) is out and out.tolist() == [0, 1, 0, 1]
    assert oploom.empty(2, 3, out=out) is out and out.shape == (2, 3)


@pytest.mark.parametrize("dtype", [oploom.float16, oploom.bfloat16, oploom.float32, oploom.float64])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "norm", "logsumexp"])
def test_reductions_write_to_an_output_of_another_floating_dtype(name, dtype):
    x = oploom.tensor([[1.0, 2.0, 4.0], [0.5, 0.25, 3.0]])
    arguments = {"norm": (2, 1), "var": (1, False), "std": (1, False)}.get(name, (1,))
    function, out = getattr(oploom, name), oploom.empty(0, dtype=dtype)
    assert function(x, *arguments, out=out) is out and out.dtype is dtype
    expected = function(x, *arguments)
    np.testing.assert_allclose(out.float().numpy(), expected.numpy(), rtol=1e-2)
    if dtype in (oploom.float32, oploom.float64):
        np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-6)


def test_outputs_of_another_dtype_have_limits():
    x, z = oploom.arange(4.0), oploom.tensor([3j, 4])
    for name in ("var", "std"):
        out = oploom.empty((), dtype=oploom.float64)
        getattr(oploom, name)(x, None, correction=1, out=out)
        assert out.item() == pytest.approx(getattr(np, name)(np.arange(4.0), ddof=1))
    out = oploom.empty((), dtype=oploom.float64)
    assert oploom.norm(z, 2, (0,), out=out).item() == 5
    assert oploom.mean(z, 0, out=oploom.empty((), dtype=oploom.complex128)).item() == 2 + 1.5j
    whole = oploom.zeros((), dtype=oploom.int64)
    for name, arguments in [("mean", (0,)), ("norm", (2, 0)), ("var", (0, True))]:
        with pytest.raises(RuntimeError, match=rf"{name}\(\): .*int64"):
            getattr(oploom, name)(x, *arguments, out=whole)
    with pytest.raises(RuntimeError, match="expected an output of dtype float32, got float64"):
        oploom.mean(x, 0, dtype=oploom.float32, out=out)
    with pytest.raises(RuntimeError, match="expected a floating-point or complex dtype, got int64"):
        oploom.mean(oploom.arange(4), 0, out=out)
    assert whole.item() == 0 and out.item() == 5


def test_functions_that_fill_have_an_output_too():
    x, out = oploom.tensor([[1.0, 2.0], [3.0, 4.0]]), oploom.empty(0)
    for expected, write in [
        ([[1, 2], [3, 4]], lambda: oploom.clone(x, out=out)),
        ([[5, 6], [5, 6]], lambda: oploom.copy(x, oploom.tensor([5, 6]), out=out)),
        ([[7, 7], [7, 7]], lambda: oploom.fill(x, 7, out=out)),
        ([[8, 8], [8, 8]], lambda: oploom.fill(x, oploom.tensor(8), out=out)),
        ([[1, 2], [9, 9]], lambda: oploom.masked_fill(x, x > 2, 9, out=out)),
        ([[0, 0], [0, 0]], lambda: oploom.zero(x, out=out)),
        ([[1, 2], [5, 6]], lambda: oploom.index_put(
            x, (oploom.tensor([1]),), oploom.tensor([5.0, 6.0]), out=out)),
        ([[1, 1], [1, 1]], lambda: oploom.ones_like(x, out=out)),
        ([[3, 3], [3, 3]], lambda: oploom.full_like(x, 3, out=out)),
        ([[1, 1], [1, 1]], lambda: oploom.bernoulli(x, 1.0, out=out)),
        ([[1, 0], [1, 0]], lambda: oploom.bernoulli(x, oploom.tensor([1.0, 0.0]), out=out)),
        ([[1, 12], [3, 4]], lambda: oploom.scatter(
            x, 1, oploom.tensor([[1, 1]]), oploom.tensor([[2.0, 3.0]]), reduce="multiply", out=out)),
        ([[1, 6], [3, 4]], lambda: oploom.scatter(
            x, 1, oploom.tensor([[1, 1]]), 2, reduce="add", out=out)),
    ]:
        out = oploom.empty(0)
        assert write() is out and out.tolist() == expected
    assert oploom.bernoulli(x, oploom.tensor([0.0, 1.0])).tolist() == [[0, 1], [0, 1]]
    assert x.tolist() == [[1, 2], [3, 4]]


def test_scatter_with_reduce_has_no_gradient():
    x = oploom.ones(2, requires_grad=True)
    result = x.scatter(0, oploom.tensor([0]), 2, reduce="multiply")
    with pytest.raises(NotImplementedError, match=r"scatter\.value_reduce"):
        result.sum().backward()


LOGIC = ["logical_and", "logical_or", "logical_xor"]
REAL = [0.0, -0.0, 1.0, -2.5, 1e-7, -1e-7, np.inf, -np.inf, np.nan]
NUMBERS = {
    **{name: np.array([0, 1, 2, 64, 127, 0]) for name in ("bool", "uint8")},
    **{f"int{bits}": np.array([0, 1, -1, -2 ** (bits - 1), 2 ** (bits - 2), 0])
       for bits in (8, 16, 32, 64)},
    **{name: np.array(REAL) for name in ("float16", "bfloat16", "float32")},
    "float64": np.array([*REAL, 5e-324, -5e-324]),
    **{name: np.array([complex(a, b) for a in REAL for b in REAL])
       for name in ("complex64", "complex128")},
}


def numbers_of(name, count):
    """`count` numbers, all of those named and their pairs, as a tensor; their truth."""
    numbers = np.resize(NUMBERS[name], count)
    return oploom.tensor(numbers).to(getattr(oploom, name)), numbers != 0


@pytest.mark.parametrize("count", [1, 7, 600, 5003])
@pytest.mark.parametrize("name", NUMBERS)
def test_logic_goes_by_what_is_not_zero(name, count):
    a, x = numbers_of(name, count)
    b, y = numbers_of(name, count + 1)  # each number beside each other one
    b, y = b.flip([0])[:count], y[::-1][:count]
    assert oploom.logical_not(a).tolist() == (~x).tolist()
    assert oploom.logical_not(a[::2]).tolist() == (~x[::2]).tolist()
    for op in LOGIC:
        function, expected = getattr(oploom, op), getattr(np, op)(x, y)
        assert function(a, b).tolist() == expected.tolist()
        assert function(a[::2], b[::2]).tolist() == expected[::2].tolist()
        assert function(a[:1], b).tolist() == getattr(np, op)(x[:1], y).tolist()
        in_place = a.clone()
        getattr(in_place, op + "_")(b)
        assert in_place.dtype == a.dtype and (in_place != 0).tolist() == expected.tolist()


@pytest.mark.parametrize("op", LOGIC)
def test_logic_of_two_dtypes_converts_neither_to_the_other(op):
    # In float32 the first would be 0, in int8 the other one.
    tiny, zeros = oploom.tensor(1e-300, dtype=oploom.float64), oploom.zeros([3])
    wide = oploom.tensor(256)
    expected = op != "logical_and"
    assert getattr(oploom, op)(zeros, tiny).tolist() == [expected] * 3
    assert getattr(oploom, op)(zeros.to(oploom.int8), wide).tolist() == [expected] * 3
    assert getattr(oploom, op)(tiny, zeros.to(oploom.bool)).tolist() == [expected] * 3


@pytest.mark.parametrize("count", [1, 31, 255, 256, 257, 600, 5003])
@pytest.mark.parametrize("name", [name for name in NUMBERS if "complex" not in name])
def test_conditions_of_rows_of_any_length(name, count):
    numbers = np.resize(NUMBERS[name], count)
    if count > 256:
        numbers = numbers[np.random.default_rng(1).permutation(count)]  # no two pieces are alike
    x = oploom.tensor(numbers).to(getattr(oploom, name))
    for tensor, expected in ((x, numbers), (x[::2], numbers[::2])):
        assert oploom.signbit(tensor).tolist() == np.signbit(expected.astype(float)).tolist()
        assert oploom.isneginf(tensor).tolist() == (expected == -np.inf).tolist()
        assert oploom.isposinf(tensor).tolist() == (expected == np.inf).tolist()
