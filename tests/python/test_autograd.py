"""Autograd from Python: backward, grad, hooks, modes, checks of gradients."""

import gc
import threading
import weakref

import numpy as np
import oploom
import pytest
from oploom.autograd import GradcheckError, grad, gradcheck, gradgradcheck


def leaf(*values):
    return oploom.tensor(values, dtype=oploom.float64, requires_grad=True)


def test_backward_accumulates():
    x = leaf(1, 2, 3)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4, 6]
    (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8, 12]
    x.grad = None
    (x * x).backward(oploom.tensor([1.0, 0.0, 1.0], dtype=oploom.float64))
    assert x.grad.tolist() == [2, 0, 6]
    oploom.autograd.backward([x.sum(), (2 * x).sum()])
    assert x.grad.tolist() == [5, 3, 9]


def test_grad_and_second_order():
    x = leaf(1, 2)
    y = (x * x * x).sum()
    (g,) = grad(y, x, create_graph=True)
    assert g.tolist() == [3, 12] and x.grad is None and g.requires_grad
    (h,) = grad(g.sum(), [x])
    assert h.tolist() == [6, 12]


@pytest.mark.parametrize("function", [
    oploom.relu, oploom.nn.functional.leaky_relu, oploom.nn.functional.hardtanh,
    lambda x: oploom.fmax(x, oploom.zeros_like(x)),
    lambda x: oploom.nn.functional.l1_loss(x, oploom.zeros_like(x)),
])  # fmt: skip
def test_a_straight_line_has_a_second_derivative(function):
    # The gradient is a function of x, if a constant one on either side of the corner.
    x = leaf(1.5, -2.25, 0.25)
    (g,) = grad(function(x).sum(), x, create_graph=True)
    (h,) = grad(g.sum(), x)
    assert h.tolist() == [0, 0, 0]


def test_unused_inputs():
    x, y = leaf(1), leaf(2)
    with pytest.raises(RuntimeError):
        grad(x.sum(), [x, y])
    assert grad(x.sum(), [x, y], allow_unused=True)[1] is None


def test_errors():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="(?i)scalar|one element"):
        (x * 2).backward()
    with pytest.raises(RuntimeError):
        oploom.ones(1).sum().backward()
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="(?i)second time|freed|retain_graph"):
        y.backward()
    with pytest.raises(RuntimeError):
        x.add_(1)  # a leaf that requires grad
    with pytest.raises(RuntimeError):
        oploom.ones(2, dtype=oploom.int64).requires_grad_()
    with pytest.raises(TypeError, match="got int"):
        x.requires_grad = 1
    with pytest.raises(RuntimeError, match="expected one gradient"):
        grad(x.sum(), x, [None, None])
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        x.grad = oploom.ones(3)
    with pytest.raises(TypeError, match="str"):
        x.backward("a")


def test_changed_saved_tensor_is_noticed():
    x = leaf(1, 2)
    y = x * 1
    z = (y * y).sum()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="(?i)in.?place"):
        z.backward()


def test_modes():
    x = leaf(1)
    assert oploom.is_grad_enabled()
    with oploom.no_grad():
        assert not (x * 2).requires_grad and not oploom.is_grad_enabled()
        with oploom.enable_grad():
            assert (x * 2).requires_grad
    assert oploom.is_grad_enabled()

    @oploom.no_grad()
    def off():
        return oploom.is_grad_enabled()

    @oploom.no_grad
    def also_off():
        return oploom.is_grad_enabled()

    assert off() is False and also_off() is False and oploom.is_grad_enabled()
    assert off.__name__ == "off"
    with pytest.raises(ValueError):
        with oploom.no_grad():
            raise ValueError
    assert oploom.is_grad_enabled()
    with oploom.set_grad_enabled(False):
        assert not oploom.is_grad_enabled()
    assert oploom.is_grad_enabled()
    seen = []
    with oploom.no_grad():
        thread = threading.Thread(target=lambda: seen.append(oploom.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_hooks():
    x = leaf(1, 2)
    seen = []
    handle = x.register_hook(lambda g: seen.append(g.tolist()))
    double = x.register_hook(lambda g: g * 2)
    (3 * x).sum().backward()
    assert seen == [[3, 3]] and x.grad.tolist() == [6, 6]
    handle.remove()
    handle.remove()
    double.remove()
    x.grad = None
    (3 * x).sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [3, 3]
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert x.grad.tolist() == [23, 23]


def test_hook_errors_come_through():
    x = leaf(1)

    def fail(g):
        raise KeyError("from the hook")

    x.register_hook(fail)
    with pytest.raises(KeyError, match="from the hook"):
        x.sum().backward()
    y = leaf(1)
    y.register_hook(lambda g: "text")
    with pytest.raises(TypeError, match="a hook must return None or a Tensor, got str"):
        y.sum().backward()
    with pytest.raises(TypeError):
        y.register_hook(3)


def test_hook_is_dropped_with_its_graph():
    class Marker:
        pass

    marker = Marker()
    alive = weakref.ref(marker)
    x = leaf(1)
    y = x * 2
    y.register_hook(lambda g, marker=marker: None)
    del marker
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None


def test_graph_from_python():
    x = leaf(1)
    y = x * 2
    assert y.grad_fn.name() == "MulBackward0" and repr(y.grad_fn) == "<MulBackward0>"
    assert y.grad_fn == y.grad_fn and y.grad_fn != (x * 3).grad_fn
    accumulate = y.grad_fn.next_functions[0][0]
    assert "AccumulateGrad" in accumulate.name()
    assert not y.is_leaf and x.is_leaf
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [1] and y.retains_grad


def test_detach():
    x = leaf(1, 2)
    y = (x * 2).detach()
    assert not y.requires_grad and y.grad_fn is None
    z = x * 2
    assert z.detach_() is z and z.grad_fn is None and z.is_leaf


def test_views():
    x = leaf(1, 2, 3)
    y = x * 1
    v = y[1:]
    assert v._base is y
    v.mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [1, 10, 10]


def test_long_graph_dies_quietly():
    x = leaf(1)
    y = x
    for _ in range(50000):
        y = y + 1
    node = y.grad_fn
    del y
    del node
    assert x.grad is None


def test_backward_in_threads():
    errors = []

    def work(seed):
        try:
            x = oploom.full((100,), float(seed), requires_grad=True)
            for _ in range(20):
                x.grad = None
                (x * x).sum().backward()
                assert x.grad.tolist() == [2.0 * seed] * 100
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_gradcheck():
    x, y = leaf(0.5, 1.5), leaf(2.0, 3.0)
    assert gradcheck(lambda a, b: a * b, (x, y))
    assert gradcheck(lambda a: (a * a, a + 1), x)
    assert gradgradcheck(lambda a, b: a * b, (x, y))
    assert gradgradcheck(lambda a: a * a * a, x)
    assert gradgradcheck(lambda a: a + 1, x)
    z = oploom.tensor([1 + 2j, 0.5 - 1j], dtype=oploom.complex128, requires_grad=True)
    assert gradcheck(lambda a: a * a, z)


def test_gradcheck_finds_wrong_gradients():
    x = leaf(0.5, 1.5)

    def wrong(a):
        y = a * a
        if y.requires_grad:
            y.register_hook(lambda g: g * 1.1)
        return y

    assert not gradcheck(wrong, x, raise_exception=False)
    with pytest.raises(GradcheckError, match="finite differences"):
        gradcheck(wrong, x)
    assert gradcheck(lambda a: a * a.detach(), x, raise_exception=False) is False

    def wrong_twice(a):
        y = a * a
        if y.requires_grad:
            y.register_hook(lambda g: g.detach())
        return y

    assert gradcheck(wrong_twice, x)
    assert not gradgradcheck(wrong_twice, x, raise_exception=False)
    with pytest.raises(ValueError, match="float64"):
        gradcheck(lambda a: a, oploom.ones(2, requires_grad=True))
    with pytest.raises(ValueError, match="requires grad"):
        gradcheck(lambda a: a, oploom.ones(2, dtype=oploom.float64))


def test_gradcheck_leaves_its_inputs_as_they_were():
    x = leaf(0.5, 1.5)

    def fails_away_from(a):
        if a[0].item() != 0.5:
            raise ArithmeticError
        return a * a

    with pytest.raises(ArithmeticError):
        gradcheck(fails_away_from, x)
    assert x.tolist() == [0.5, 1.5]


def test_gradgradcheck_needs_a_gradient():
    with pytest.raises(GradcheckError, match="no output requires grad"):
        gradgradcheck(lambda a: a.detach(), leaf(1))
    assert not gradgradcheck(lambda a: 3, leaf(1), raise_exception=False)
    with pytest.raises(TypeError, match=r"a Tensor as grad_outputs\[1\], got int"):
        gradgradcheck(lambda a: (a, a), leaf(1), [leaf(1), 3])


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_gradients_of_the_parts_of_no_numbers(shape):
    z = oploom.zeros(shape, dtype=oploom.complex64, requires_grad=True)
    oploom.view_as_real(z).sum().backward()
    assert z.grad.shape == shape and z.grad.dtype is oploom.complex64


def test_no_memory_is_kept():
    gc.collect()
    before = oploom.memory_stats()["allocated_bytes"]
    x = leaf(*range(100))
    for _ in range(10):
        (x * x).sum().backward()
    del x
    gc.collect()
    assert oploom.memory_stats()["allocated_bytes"] == before


def test_resize_is_refused_where_a_gradient_would_be_lost():
    x = oploom.ones(4, requires_grad=True)
    for t in (x, x * 2):
        with oploom.no_grad(), pytest.raises(RuntimeError, match="resize_.*requires grad"):
            t.resize_(2)
        assert t.shape == (4,)
    assert (x * 2).detach().resize_(2).shape == (2,)


@pytest.mark.parametrize("bias", [False, True])
def test_the_gradient_of_a_weight_is_laid_out_as_the_weight(bias):
    x = oploom.rand(4, 5)
    weight = oploom.rand(3, 5, requires_grad=True)
    args = [oploom.rand(3)] if bias else []
    gradient, = grad(oploom.nn.functional.linear(x, weight, *args).sum(), weight)
    assert gradient.is_contiguous()
    np.testing.assert_allclose(gradient.numpy(), np.ones((3, 4)) @ x.numpy(), rtol=1e-6)
    by_columns = oploom.rand(4, 5).t().requires_grad_()
    gradient, = grad((by_columns @ oploom.rand(4, 3)).sum(), by_columns)
    assert gradient.stride() == (1, 5)


def test_a_layer_is_one_node():
    """With the leaves behind it, and second derivatives of every dimension of input and weight."""
    x, weight, bias = (oploom.rand(*s, requires_grad=True) for s in ((4, 5), (3, 5), (3,)))
    node = oploom.nn.functional.linear(x, weight, bias).grad_fn
    assert node.name() == "LinearBackward0"
    assert [n.name() for n, _ in node.next_functions] == ["AccumulateGrad"] * 3
    for shape, out in [((4,), (3, 4)), ((2, 4), (3, 4)), ((2, 1, 4), (3, 4)), ((2, 4), (4,)),
                       ((4,), (4,)), ((0, 4), (3, 4))]:
        inputs = [oploom.rand(s, dtype=oploom.float64, requires_grad=True)
                  for s in (shape, out, out[:-1])]
        assert gradcheck(oploom.nn.functional.linear, inputs)
        assert gradgradcheck(oploom.nn.functional.linear, inputs)


def test_what_has_no_formula_is_refused():
    """Its gradient would get lost; where nobody asks for one it is taken as any tensor."""
    nll_loss = oploom.nn.functional.nll_loss
    x, target = leaf([1, 2], [3, 5]), oploom.tensor([0, 1])
    weight = leaf(1, 3)
    for self in (x, x.detach()):
        with pytest.raises(NotImplementedError,
                           match=r"nll_loss_nd\(\): the derivative with respect to 'weight' is not i"):
            nll_loss(self, target, weight=weight)
    with oploom.autograd.forward_ad.dual_level():
        dual = oploom.autograd.forward_ad.make_dual(weight.detach(), oploom.ones(2).double())
        with pytest.raises(NotImplementedError, match="detach"):
            nll_loss(x, target, weight=dual)
    assert nll_loss(x, target, weight=weight.detach()).item() == -4
    with oploom.no_grad():
        assert nll_loss(x, target, weight=weight).item() == -4
    assert x.grad is None and weight.grad is None


def test_integers_never_require_grad():
    x = oploom.ones(3, requires_grad=True)
    for change in (lambda y: y.copy_(x), lambda y: y.fill_(x[0]),
                   lambda y: y.masked_fill_(oploom.tensor([True, False, True]), x[0])):
        y = oploom.ones(3, dtype=oploom.int64)
        change(y)
        assert not y.requires_grad and y.grad_fn is None
        z = oploom.ones(3)
        change(z)
        assert z.requires_grad


def test_a_gradient_lies_where_its_tensor_does():
    x = oploom.ones(2, requires_grad=True)
    for y in (x, x * 2):
        with pytest.raises(RuntimeError, match="expected a gradient on device cpu .* got one on meta"):
            y.backward(oploom.ones(2, device="meta"))
    assert x.grad is None
