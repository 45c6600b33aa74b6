"""Forward mode from Python: dual levels, duals, jvp."""

import threading

import numpy as np
import oploom
import pytest
from oploom.autograd import forward_ad, grad
from oploom.func import jvp


def vector(*values):
    return oploom.tensor(values, dtype=oploom.float64)


def test_a_dual_is_unpacked_by_name():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(vector(1, 2), vector(3, 4))
        y = x.exp()
        unpacked = forward_ad.unpack_dual(y)
        np.testing.assert_allclose(unpacked.primal.numpy(), np.exp([1, 2]))
        np.testing.assert_allclose(unpacked.tangent.numpy(), [3, 4] * np.exp([1, 2]))
        primal, tangent = unpacked
        assert forward_ad.unpack_dual(primal).tangent is None
        assert forward_ad.unpack_dual(vector(1)).tangent is None
    assert forward_ad.unpack_dual(y).tangent is None
    assert forward_ad.unpack_dual(y).primal is not None


def test_levels_do_not_nest_and_end_with_an_exception():
    with pytest.raises(KeyError):
        with forward_ad.dual_level():
            raise KeyError
    with forward_ad.dual_level():
        with pytest.raises(RuntimeError, match="cannot be nested"):
            forward_ad.enter_dual_level()
    with pytest.raises(RuntimeError, match="none is open"):
        forward_ad.exit_dual_level()
    with pytest.raises(RuntimeError, match="no dual level is open"):
        forward_ad.make_dual(vector(1), vector(1))


def test_mistakes_are_named():
    with forward_ad.dual_level():
        with pytest.raises(TypeError, match="expected two Tensors, got float and Tensor"):
            forward_ad.make_dual(1.0, vector(1))
        with pytest.raises(RuntimeError, match="expected a tangent of shape"):
            forward_ad.make_dual(vector(1), vector(1, 2))
        x = forward_ad.make_dual(vector(1), vector(1))
        with pytest.raises(RuntimeError, match="results written to out= have none"):
            oploom.exp(x, out=vector(0))
        with pytest.raises(NotImplementedError, match="nextafter.*no forward formula"):
            oploom.nextafter(x, x)


def test_levels_belong_to_threads():
    found = []

    def work():
        with forward_ad.dual_level():
            x = forward_ad.make_dual(vector(2), vector(1))
            found.append(forward_ad.unpack_dual(x * x).tangent.item())

    with forward_ad.dual_level():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [4]


def test_jvp_of_several_arguments_and_results():
    def function(a, b):
        return {"tuple": None} if a is None else (a * b, [b.sum(), vector(5)])

    value, along = jvp(function, (vector(1, 2), vector(3, 4)), (vector(1, 0), vector(0, 1)))
    assert value[0].tolist() == [3, 8]
    assert along[0].tolist() == [3, 2]
    assert value[1][0].item() == 7
    assert along[1][0].item() == 1
    assert along[1][1].tolist() == [0], "zeros where nothing depends on the arguments"


def test_jvp_refuses_what_it_cannot_use():
    with pytest.raises(TypeError, match="as tuples of Tensors"):
        jvp(oploom.exp, vector(1), vector(1))
    with pytest.raises(ValueError, match="1 primals and 2 tangents"):
        jvp(oploom.exp, (vector(1),), (vector(1), vector(2)))
    with pytest.raises(TypeError, match="the function gave float"):
        jvp(lambda x: x.item(), (vector(1),), (vector(1),))


def test_jvp_agrees_with_the_gradient_of_a_network():
    oploom.manual_seed(0)
    layers = oploom.nn.Sequential(
        oploom.nn.Linear(5, 7), oploom.nn.Tanh(), oploom.nn.LayerNorm(7), oploom.nn.Linear(7, 3)
    ).to(oploom.float64)
    x, v = oploom.randn(4, 5, dtype=oploom.float64), oploom.randn(4, 5, dtype=oploom.float64)

    def loss(x):
        return oploom.nn.functional.cross_entropy(layers(x), oploom.tensor([0, 2, 1, 1]))

    _, along = jvp(loss, (x,), (v,))
    leaf = x.clone().requires_grad_()
    gradient, = grad(loss(leaf), leaf)
    np.testing.assert_allclose(along.item(), (gradient * v).sum().item(), rtol=1e-12)


def test_hessian_vector_product():
    x = vector(0.3, -0.2, 0.7).requires_grad_()
    v = vector(1, 2, -1)

    def function(x):
        return (x.sin() * x.sum()).sum()

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        gradient, = grad(function(dual), x)
        product = forward_ad.unpack_dual(gradient).tangent
    first, = grad(function(x), x, create_graph=True)
    expected, = grad((first * v).sum(), x)
    np.testing.assert_allclose(product.numpy(), expected.numpy(), rtol=1e-12)


def test_tangents_of_leaves_accumulate_in_grad():
    x = vector(1, 2).requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, vector(1, 1))
        (dual * dual * dual).sum().backward()
        assert x.grad.tolist() == [3, 12]
        assert forward_ad.unpack_dual(x.grad).tangent.tolist() == [6, 12]
