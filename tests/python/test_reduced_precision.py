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
