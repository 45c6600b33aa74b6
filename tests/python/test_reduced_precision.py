"""Kernels that convert 16-bit floats to float32 and back: what they give beside float32's own."""

import numpy as np
import oploom
import pytest

DTYPES = [oploom.float16, oploom.bfloat16]
LENGTHS = [1, 2, 7, 16, 31, 64, 65, 130, 1000]


def numbers(shape, dtype):
    x = np.random.default_rng(shape[-1]).standard_normal(shape).astype(np.float32)
    return oploom.tensor(x).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("weighted, biased", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_layer_norm(dtype, n, weighted, biased):
    x = numbers((5, n), dtype)
    weight = numbers((3, n), dtype)[1] if weighted else None
    bias = numbers((3, n), dtype)[2] if biased else None
    wide = [t.float() if t is not None else None for t in (weight, bias)]
    result = oploom.nn.functional.layer_norm(x, [n], weight, bias)
    expected = oploom.nn.functional.layer_norm(x.float(), [n], *wide).to(dtype)
    assert oploom.equal(result, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS[2:])  # of shorter rows nothing is left but what was rounded
def test_layer_norm_gradients(dtype, n):
    x, weight, grad = numbers((5, n), dtype), numbers((3, n), dtype)[1], numbers((7, n), dtype)[:5]

    def gradients(of):
        operands = [of(t).detach().requires_grad_() for t in (x, weight, weight * 2)]
        y = oploom.nn.functional.layer_norm(operands[0], [n], *operands[1:])
        return oploom.autograd.grad([y], operands, [of(grad)])

    exact = gradients(lambda t: t.double())
    for result, wanted in zip(gradients(lambda t: t), exact):
        assert result.dtype == dtype
        tolerance = 2.0**-5 if dtype == oploom.bfloat16 else 2.0**-8
        error = (result.double() - wanted).abs().amax().item()
        assert error <= tolerance * max(1.0, wanted.abs().amax().item())


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dim", [0, 1])
def test_softmax_and_its_gradient(name, dtype, n, dim):
    function = getattr(oploom, name)
    shape = (5, n) if dim == 1 else (n, 5)
    x = numbers(shape, dtype).requires_grad_()
    grad = numbers((*shape[:-1], 2 * shape[-1]), dtype)[:, shape[-1] :]
    y = function(x, dim)
    assert oploom.equal(y.detach(), function(x.detach().float(), dim).to(dtype))
    (result,) = oploom.autograd.grad([y], [x], [grad])
    g, v = grad.double().numpy(), y.detach().double().numpy()
    if name == "softmax":
        wanted = v * (g - (g * v).sum(dim, keepdims=True))
    else:
        wanted = g - np.exp(v) * g.sum(dim, keepdims=True)
    np.testing.assert_allclose(
        result.double().numpy(), wanted, rtol=2.0**-7, atol=2.0**-12 * n**0.5
    )


# ---- Short expressions, whose loops convert in registers, and comparisons ----


def rounded(x, dtype):
    """float32 numbers as the 16-bit ones next to them, ties to even."""
    if dtype == oploom.float16:
        with np.errstate(over="ignore"):
            return x.astype(np.float16).astype(np.float32)
    bits = x.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.where(np.isnan(x), x, bits.astype(np.uint32).view(np.float32))


def every_number(dtype):
    bits = np.arange(1 << 16, dtype=np.uint32)
    if dtype == oploom.bfloat16:
        x = (bits << 16).view(np.float32)
        return np.where(np.isnan(x), np.float32(np.nan), x)  # which loses its sign
    return bits.astype(np.uint16).view(np.float16).astype(np.float32)


def assert_same_numbers(result, wanted):
    result = result.float().numpy()
    np.testing.assert_array_equal(result, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(wanted[numbers]))


ONE, HALF = np.float32(1), np.float32(0.5)
SHORT = {
    "neg": (lambda x: -x, np.negative),
    "abs": (oploom.abs, np.abs),
    "square": (oploom.square, np.square),
    "reciprocal": (oploom.reciprocal, lambda x: ONE / x),
    "sqrt": (oploom.sqrt, np.sqrt),
    "floor": (oploom.floor, np.floor),
    "trunc": (oploom.trunc, np.trunc),
    "round": (oploom.round, np.round),
    "relu": (oploom.relu, lambda x: np.where(x < 0, np.float32(0), x)),
    "rsub": (lambda x: 1 - x, lambda x: ONE - x),
    "hardshrink": (
        oploom.nn.functional.hardshrink,
        lambda x: np.where((x >= -HALF) & (x <= HALF), np.float32(0), x),
    ),
}
PAIRS = {
    "copysign": (oploom.copysign, np.copysign),
    "fmax": (oploom.fmax, np.fmax),
    "fmin": (oploom.fmin, np.fmin),
}
TRUTHS = {
    **{name: (getattr(oploom, name), getattr(np, other)) for name, other in {
        "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
        "ge": "greater_equal"}.items()},
    "signbit": (lambda x, y: oploom.signbit(x), lambda x, y: np.signbit(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("dtype", DTYPES)
def test_short_expressions_of_every_number(name, dtype):
    function, reference = SHORT[name]
    x = every_number(dtype)
    with np.errstate(all="ignore"):
        wanted = rounded(reference(x), dtype)
    tensor = oploom.tensor(x).to(dtype)
    assert_same_numbers(function(tensor), wanted)
    for n in LENGTHS:
        assert_same_numbers(function(tensor[17000 : 17000 + n]), wanted[17000 : 17000 + n])
    rows = tensor.reshape(256, 256)
    assert_same_numbers(function(rows.t()), wanted.reshape(256, 256).T)
    assert_same_numbers(function(rows[::3, ::5]), wanted.reshape(256, 256)[::3, ::5])
    assert_same_numbers(function(rows.flip([1])[:, :100]), wanted.reshape(256, 256)[:, ::-1][:, :100])
    assert function(tensor[:0]).shape == (0,) and function(tensor[5]).dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_changes_signs_keeps_the_other_bits(dtype):
    """Those of NaN, too."""
    bits = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    others = np.random.default_rng(5).permutation(bits)
    x, y = (oploom.tensor(b.view(np.int16)).view(dtype) for b in (bits, others))

    def check(result, wanted):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.view(oploom.int16).numpy().view(np.uint16), wanted)

    for n in [bits.size, *LENGTHS]:
        part = slice(bits.size - n, bits.size)
        check(-x[part], bits[part] ^ 0x8000)
        check(oploom.copysign(x[part], y[part]), bits[part] & 0x7FFF | others[part] & 0x8000)
    check(x.clone().neg_(), bits ^ 0x8000)


@pytest.mark.parametrize("name", [*PAIRS, *TRUTHS])
@pytest.mark.parametrize("dtype", DTYPES)
def test_short_functions_of_two(name, dtype):
    function, reference = {**PAIRS, **TRUTHS}[name]
    rng = np.random.default_rng(3)
    x, y = every_number(dtype), rng.permutation(every_number(dtype))
    x[::7] = y[::7]
    a, b = oploom.tensor(x).to(dtype), oploom.tensor(y).to(dtype)

    def check(result, wanted):
        if name in TRUTHS:
            assert result.dtype == oploom.bool
            np.testing.assert_array_equal(result.numpy(), wanted)
        else:
            # fmax and fmin of zeros may be either.
            result = result.float().numpy()
            np.testing.assert_array_equal(result, wanted)

    wanted = reference(x, y)
    check(function(a, b), wanted)
    for n in LENGTHS:
        check(function(a[33 : 33 + n], b[33 : 33 + n]), wanted[33 : 33 + n])
    rows, others = a.reshape(256, 256), b.reshape(256, 256)
    check(function(rows, others.t()), reference(x.reshape(256, 256), y.reshape(256, 256).T))
    check(function(rows[:, ::2], others[:1, ::2]),
          reference(x.reshape(256, 256)[:, ::2], y.reshape(256, 256)[:1, ::2]))  # fmt: skip
    # Beside a tensor of float32 all is float32.
    check(function(rows, oploom.tensor(y.reshape(256, 256))), wanted.reshape(256, 256))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS)
def test_short_expressions_elsewhere(dtype, n):
    x, grad = numbers((3, n), dtype), numbers((5, n), dtype)[:3]
    wide = x.float()
    assert oploom.equal(x.clone().neg_(), -x)
    out = oploom.full((3, 2 * n), 9.0, dtype=dtype)[:, ::2]
    assert oploom.equal(oploom.square(x, out=out), (wide * wide).to(dtype))
    into_float = oploom.zeros((3, n))
    assert oploom.equal(oploom.square(x, out=into_float), (wide * wide).to(dtype).float())
    # Gradients, one and two at once.
    leaves = [x.clone().requires_grad_(), (x * 2).requires_grad_()]
    wides = [t.detach().float().requires_grad_() for t in leaves]
    for function in (lambda a, b: oploom.copysign(a, b), oploom.fmax):
        result = oploom.autograd.grad([function(*leaves)], leaves, [grad])
        expected = oploom.autograd.grad([function(*wides)], wides, [grad.float()])
        for r, e in zip(result, expected):
            assert r.dtype == dtype and oploom.equal(r, e.to(dtype))
