"""Optimizers against the formulas written out in NumPy."""

import copy

import numpy as np
import oploom
import pytest
from oploom import nn, optim

START = np.array([1.0, -2.0, 3.0])
TARGET = np.array([0.5, 0.5, 0.5])


def run(make, steps=5):
    x = oploom.tensor(START, requires_grad=True)
    optimizer = make([x])
    for _ in range(steps):
        optimizer.zero_grad()
        ((x - oploom.tensor(TARGET)) ** 2).sum().backward()
        optimizer.step()
    return x.detach().numpy()


@pytest.mark.parametrize("momentum, nesterov, decay, dampening", [
    (0, False, 0, 0), (0.9, False, 0, 0), (0.9, True, 0, 0), (0.5, False, 0.1, 0),
    (0.5, False, 0, 0.25),
])
def test_sgd(momentum, nesterov, decay, dampening):
    x, v = START.copy(), None
    for _ in range(5):
        g = 2 * (x - TARGET) + decay * x
        v = g if v is None else momentum * v + (1 - dampening) * g
        x -= 0.1 * (g + momentum * v if nesterov else (v if momentum else g))
    result = run(lambda p: optim.SGD(p, lr=0.1, momentum=momentum, nesterov=nesterov,
                                     weight_decay=decay, dampening=dampening))
    np.testing.assert_allclose(result, x)


@pytest.mark.parametrize("cls, decay", [(optim.Adam, 0), (optim.Adam, 0.1), (optim.AdamW, 0.1)])
def test_adam(cls, decay):
    x, m, s = START.copy(), 0.0, 0.0
    for step in range(1, 6):
        g = 2 * (x - TARGET)
        if cls is optim.AdamW:
            x = x * (1 - 0.1 * decay)
        else:
            g = g + decay * x
        m = 0.9 * m + 0.1 * g
        s = 0.999 * s + 0.001 * g * g
        root = np.sqrt(s / (1 - 0.999**step)) + 1e-8
        x = x - 0.1 * m / (1 - 0.9**step) / root
    np.testing.assert_allclose(run(lambda p: cls(p, lr=0.1, weight_decay=decay)), x, rtol=1e-6)


def test_amsgrad():
    """Gradients that become small: the steps stay as short as the largest ones made them."""
    gradients = [np.array([4.0, -1.0]), np.array([0.1, 0.1]), np.array([0.1, -0.1])]
    x, m, s, largest = np.zeros(2), 0.0, 0.0, 0.0
    parameter = oploom.zeros(2, dtype=oploom.float64, requires_grad=True)
    optimizer = optim.Adam([parameter], lr=0.1, betas=(0.9, 0.5), amsgrad=True)
    for step, g in enumerate(gradients, 1):
        m = 0.9 * m + 0.1 * g
        s = 0.5 * s + 0.5 * g * g
        largest = np.maximum(largest, s)
        x = x - 0.1 * m / (1 - 0.9**step) / (np.sqrt(largest) / np.sqrt(1 - 0.5**step) + 1e-8)
        parameter.grad = oploom.tensor(g)
        optimizer.step()
    np.testing.assert_allclose(parameter.detach().numpy(), x)


def test_maximize():
    assert abs(run(lambda p: optim.SGD(p, lr=0.1, maximize=True))).max() > 3


def adam_reference(x, g, m, v, most, step, *, lr=0.1, betas=(0.8, 0.9), decay=0.0, eps=1e-3,
                   decoupled=False, amsgrad=False, maximize=False):
    g = -g if maximize else g
    x, g = (x * (1 - lr * decay), g) if decoupled else (x, g + decay * x)
    m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
    most = np.maximum(most, v) if amsgrad else most
    root = np.sqrt(most if amsgrad else v) / np.sqrt(1 - betas[1]**step) + eps
    return x - lr * m / (1 - betas[0]**step) / root, m, v, most


def laid_out(values, dtype, layout):
    """The values as a tensor in one of several layouts."""
    values = oploom.tensor(values).to(dtype)
    if layout == "transposed":
        return values.t().contiguous().t()
    if layout == "gaps":
        wide = oploom.zeros(values.shape[0], 2 * values.shape[1], dtype=dtype)
        wide[:, ::2] = values
        return wide[:, ::2]
    return values


@pytest.mark.parametrize("layouts", [("plain",) * 5, ("transposed",) * 5, ("gaps",) * 5,
                                     ("plain", "transposed", "gaps", "plain", "plain")])
@pytest.mark.parametrize("dtype, tolerance", [(oploom.float64, 1e-12), (oploom.float32, 1e-6),
                                              (oploom.bfloat16, 2e-2), (oploom.float16, 3e-3)])
@pytest.mark.parametrize("options", [{}, {"decay": 0.1}, {"decay": 0.1, "decoupled": True},
                                     {"amsgrad": True}, {"maximize": True, "decay": 0.2}])
def test_fused_adam(options, dtype, tolerance, layouts):
    """Sizes around those of vectors, and one that several threads share."""
    generator = np.random.default_rng(0)
    for shape in [(0, 3), (1, 1), (3, 5), (7, 9), (150, 301)]:
        arrays = [generator.normal(size=shape) for _ in range(3)]
        arrays += [generator.uniform(0.1, 1, size=shape) for _ in range(2)]
        tensors = [laid_out(a, dtype, layout) for a, layout in zip(arrays, layouts)]
        arrays = [t.to(oploom.float64).numpy().copy() for t in tensors]
        x, g, m, v, most = tensors
        step = getattr(oploom._C, "_fused_adamw_" if options.get("decoupled") else "_fused_adam_")
        step([x], [g], [m], [v], [most] if options.get("amsgrad") else [], [oploom.tensor(3.0)],
             lr=0.1, beta1=0.8, beta2=0.9, weight_decay=options.get("decay", 0.0), eps=1e-3,
             amsgrad=options.get("amsgrad", False), maximize=options.get("maximize", False))
        expected = adam_reference(*arrays, 3, **options)
        for got, wanted in zip((x, m, v, most), expected):
            np.testing.assert_allclose(got.to(oploom.float64).numpy(), wanted, atol=tolerance,
                                       rtol=tolerance)
        assert g.to(oploom.float64).numpy().tolist() == arrays[1].tolist()


def fused(self, grads, means, squares, steps=None, largest=(), **options):
    steps = [oploom.tensor(1.0) for _ in self] if steps is None else steps
    options = {"lr": 0.1, "beta1": 0.9, "beta2": 0.9, "weight_decay": 0.0, "eps": 1e-8,
               "amsgrad": False, "maximize": False, **options}
    oploom._C._fused_adam_(self, grads, means, squares, list(largest), steps, **options)


def test_fused_adam_scales_and_skips():
    x, g, m, v = (oploom.full((3,), value) for value in (1.0, 8.0, 0.0, 0.0))
    fused([x], [g], [m], [v], found_inf=oploom.tensor(1.0))
    assert x.tolist() == [1] * 3 and m.tolist() == [0] * 3
    fused([x], [g], [m], [v], grad_scale=oploom.tensor(4.0), found_inf=oploom.tensor(0.0))
    assert g.tolist() == [2] * 3
    np.testing.assert_allclose(m.numpy(), 0.2, rtol=1e-6)
    np.testing.assert_allclose(x.numpy(), 0.9, rtol=1e-6)


def test_fused_adam_is_seen_by_autograd():
    x = oploom.ones(3, requires_grad=True)
    state = oploom.zeros(3), oploom.zeros(3)
    with pytest.raises(RuntimeError, match="list of tensors"):
        fused([x], [oploom.ones(3)], [state[0]], [state[1]])
    assert x.tolist() == [1] * 3
    y = oploom.ones(3)
    square = (x * y).sum()  # saves y
    with oploom.no_grad():
        fused([y], [oploom.ones(3)], [state[0]], [state[1]])
    with pytest.raises(RuntimeError, match="in place"):
        square.backward()


@pytest.mark.parametrize("change, message", [
    ({"grads": []}, "expected grads to hold a tensor for each of the 2 in self, got 0"),
    ({"steps": []}, "expected state_steps to hold a tensor for each of the 2 in self"),
    ({"amsgrad": True}, "expected max_exp_avg_sqs to hold"),
    ({"means": [(3,), (4,)]}, r"expected exp_avgs\[1\] to have the shape \[3\]"),
    ({"squares": [(3,), oploom.float64]}, r"expected exp_avg_sqs\[1\] .* dtype"),
    ({"steps": [(), (2,)]}, r"state_steps\[1\] to hold one number"),
    ({"self": [(3,), oploom.int64]}, r"floating-point dtype, got .* for self\[1\]"),
    ({"grad_scale": oploom.ones(2)}, "grad_scale to hold one number"),
])
def test_fused_adam_refuses_before_it_changes_anything(change, message):
    def tensors(specs):
        return [oploom.ones(3, dtype=s) if isinstance(s, oploom.dtype) else oploom.ones(s)
                for s in specs]

    lists = {name: tensors([(3,), (3,)]) for name in ("self", "grads", "means", "squares")}
    lists["steps"] = tensors([(), ()])
    lists.update({k: tensors(v) if isinstance(v, list) else v for k, v in change.items()})
    with pytest.raises(RuntimeError, match=message):
        fused(**lists)
    assert lists["self"][0].tolist() == [1] * 3


def test_a_step_of_adam_that_is_refused_does_not_count():
    parameters = [nn.Parameter(oploom.ones(3)), nn.Parameter(oploom.ones(2))]
    optimizer = oploom.optim.Adam(parameters, lr=0.1)
    (parameters[0].sum() + parameters[1].sum()).backward()
    optimizer.step()
    parameters[1].grad.data = oploom.ones(5)
    with pytest.raises(RuntimeError, match="shape"):
        optimizer.step()
    assert [optimizer.state[p]["step"].item() for p in parameters] == [1, 1]


def test_fused_adam_refuses_shared_memory():
    both = oploom.ones(4)
    with pytest.raises(RuntimeError, match=r"^_fused_adam_\(\): .* memory"):
        fused([both[:3]], [oploom.ones(3)], [both[1:]], [oploom.zeros(3)])
    assert both.tolist() == [1] * 4


@pytest.mark.parametrize("layouts", [("plain",) * 3, ("transposed",) * 3, ("gaps",) * 3,
                                     ("plain", "transposed", "gaps")])
@pytest.mark.parametrize("dtype, tolerance", [(oploom.float64, 1e-12), (oploom.float32, 1e-6),
                                              (oploom.bfloat16, 2e-2), (oploom.float16, 3e-3)])
@pytest.mark.parametrize("options", [{"momentum": 0.0}, {"momentum": 0.0, "maximize": True}, {},
                                     {"dampening": 0.25, "weight_decay": 0.1}, {"nesterov": True},
                                     {"is_first_step": True, "maximize": True}])
def test_fused_sgd(options, dtype, tolerance, layouts):
    """Sizes around those of vectors, and one that several threads share."""
    options = {"weight_decay": 0.0, "momentum": 0.9, "lr": 0.1, "dampening": 0.0,
               "nesterov": False, "maximize": False, "is_first_step": False, **options}
    generator = np.random.default_rng(0)
    for shape in [(0, 3), (1, 1), (3, 5), (7, 9), (150, 301)]:
        x, g, v = (laid_out(generator.normal(size=shape), dtype, how) for how in layouts)
        if options["is_first_step"]:
            v.fill_(float("nan"))
        x0, g0, v0 = (t.to(oploom.float64).numpy().copy() for t in (x, g, v))
        oploom._C._fused_sgd_([x], [g], [v] if options["momentum"] else [], **options)
        way = (-g0 if options["maximize"] else g0) + options["weight_decay"] * x0
        if options["momentum"]:
            first = way if options["is_first_step"] else (
                options["momentum"] * v0 + (1 - options["dampening"]) * way)
            v0 = first
            way = way + options["momentum"] * v0 if options["nesterov"] else v0
        for got, wanted in ((x, x0 - 0.1 * way), (v, v0), (g, g0)):
            np.testing.assert_allclose(got.to(oploom.float64).numpy(), wanted, atol=tolerance,
                                       rtol=tolerance)


def test_fused_sgd_reads_gradients_only():
    """One that is expanded, unless it is to be scaled; and found_inf."""
    x, v, one = oploom.ones(3), oploom.zeros(3), oploom.ones(1)
    settings = (0.0, 0.5, 1.0, 0.0, False, False, False)
    names = ("weight_decay", "momentum", "lr", "dampening", "nesterov", "maximize",
             "is_first_step")
    options = dict(zip(names, settings))
    oploom._C._fused_sgd_([x], [one.expand(3)], [v], **options)
    assert x.tolist() == [0] * 3 and v.tolist() == [1] * 3
    with pytest.raises(RuntimeError, match="memory"):
        oploom._C._fused_sgd_([x], [one.expand(3)], [v], grad_scale=one, **options)
    with pytest.raises(RuntimeError, match=r"momentum_buffer_list\[0\] to have the shape \[3\]"):
        oploom._C._fused_sgd_([x], [oploom.ones(3)], [oploom.ones(2)], **options)
    with pytest.raises(RuntimeError, match="momentum_buffer_list to hold a tensor for each"):
        oploom._C._fused_sgd_([x], [oploom.ones(3)], [], **options)
    oploom._C._fused_sgd_([x], [oploom.ones(3)], [v], found_inf=one, **options)
    assert x.tolist() == [0] * 3 and v.tolist() == [1] * 3
    grad = oploom.full((3,), 4.0)
    oploom._C._fused_sgd_([x], [grad], [v], grad_scale=oploom.tensor(2.0), **options)
    assert grad.tolist() == [2] * 3 and v.tolist() == [2.5] * 3 and x.tolist() == [-2.5] * 3


def test_sgd_begins_with_the_first_gradient_of_each_parameter():
    a, b = (oploom.zeros(2, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([a, b], lr=1.0, momentum=0.5, dampening=0.5)
    a.grad = oploom.ones(2)
    optimizer.step()
    b.grad = oploom.ones(2)
    optimizer.step()
    assert a.tolist() == [-2] * 2 and b.tolist() == [-1] * 2


def test_groups_and_closure():
    a, b = (oploom.ones(1, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (a + b).sum()
        loss.backward()
        return loss

    with oploom.no_grad():
        assert optimizer.step(closure).item() == 2
    assert a.item() == pytest.approx(0.9) and b.item() == 0
    assert "lr: 1.0" in repr(optimizer)


def test_state_dict():
    x = oploom.tensor(START, requires_grad=True)
    optimizer = optim.Adam([x], lr=0.1)
    (x * x).sum().backward()
    optimizer.step()
    y = copy.deepcopy(x)
    other = optim.Adam([y], lr=0.5)
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["lr"] == 0.1
    optimizer.step()
    other.step()
    assert x.tolist() == y.tolist()
    with pytest.raises(ValueError, match="groups of"):
        optim.Adam([x, y]).load_state_dict(optimizer.state_dict())


@pytest.mark.parametrize("make, message", [
    (lambda p: optim.SGD(p, lr=-1), "lr"),
    (lambda p: optim.SGD([]), "no parameters"),
    (lambda p: optim.SGD([p[0], p[0]]), "twice"),
    (lambda p: optim.SGD([p[0] * 2]), "leaves"),
    (lambda p: optim.SGD(p, nesterov=True), "momentum"),
    (lambda p: optim.Adam(p, betas=(1.0, 0.9)), "betas"),
])
def test_bad_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make([oploom.ones(1, requires_grad=True)])


def stepped(make):
    """An optimizer of two groups that has made a step, and its parameters."""
    a, b = (oploom.ones(3, requires_grad=True) for _ in range(2))
    optimizer = make([{"params": [a]}, {"params": [b], "lr": 0.5}])
    (a + b).sum().backward()
    optimizer.step()
    return optimizer, a, b


def momentum(groups):
    return optim.SGD(groups, lr=0.1, momentum=0.9)


def change_state(**values):
    return lambda saved: saved["state"][1].update(values)


@pytest.mark.parametrize("make, change, message", [
    (momentum, lambda s: s.pop("state"), r"with 'state' and .* got a dict with \['param_groups'\]"),
    (momentum, lambda s: s.pop("param_groups"), r"got a dict with \['state'\]"),
    (momentum, lambda s: s.update(state=3), "expected what state_dict"),
    (momentum, lambda s: s.update(param_groups=3), "expected what state_dict"),
    (momentum, lambda s: s["param_groups"][1].pop("params"), "which have 'params'"),
    (momentum, lambda s: s["param_groups"].pop(), r"groups of \[1, 1\] parameters, got \[1\]"),
    (momentum, lambda s: s["param_groups"][1]["params"].append(2), r"got \[1, 2\]"),
    (momentum, lambda s: s["param_groups"][1].update(lr="a"), "expected a number as lr, got str"),
    (momentum, lambda s: s["param_groups"][1].update(momentum=-1), "momentum of at least 0"),
    (momentum, lambda s: s["state"].update({7: {}}), r"\[\[0\], \[1\]\], got state of \[7\]"),
    (momentum, lambda s: s["state"].update({1: 3}), "state of parameter 1 as a dict, got int"),
    (momentum, change_state(momentum_buffer=oploom.ones(2)),
     r"momentum_buffer of parameter 1 as a Tensor of shape \(3,\), got \(2,\)"),
    (momentum, change_state(momentum_buffer=None), r"shape \(3,\), got NoneType"),
    (optim.Adam, change_state(step=oploom.ones(3)), r"step of parameter 1 as .* \(\), got \(3,\)"),
    (optim.Adam, lambda s: s["state"][1].pop("exp_avg_sq"), r"exp_avg_sq of .* got NoneType"),
    (optim.Adam, lambda s: s["param_groups"][1].update(amsgrad=True), "max_exp_avg_sq of "),
    (optim.Adam, lambda s: s["param_groups"][1].update(betas=(0.9,)), "betas as a tuple of two"),
])
def test_a_state_that_does_not_fit_changes_nothing(make, change, message):
    optimizer, _, _ = stepped(make)
    saved = copy.deepcopy(optimizer.state_dict())
    saved["param_groups"][0]["lr"] = 7.0
    before = repr(optimizer.state_dict())
    change(saved)
    with pytest.raises((TypeError, ValueError), match=r"load_state_dict\(\): .*" + message):
        optimizer.load_state_dict(saved)
    assert repr(optimizer.state_dict()) == before


@pytest.mark.parametrize("make", [momentum, optim.Adam])
def test_a_state_gets_the_dtype_of_its_parameter(make):
    optimizer, a, b = stepped(make)
    twins = [p.detach().to(oploom.float64).requires_grad_() for p in (a, b)]
    other = make([{"params": [p]} for p in twins])
    other.load_state_dict(optimizer.state_dict())
    for p in (a, b, *twins):
        p.grad = oploom.ones_like(p).detach()
    optimizer.step()
    other.step()
    for p, twin in zip((a, b), twins):
        np.testing.assert_allclose(p.detach().numpy(), twin.detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("group", [{"lr": "a"}, {"lr": -1}, {"weight_decay": None}, {"params": 3}])
@pytest.mark.parametrize("make", [momentum, optim.Adam])
def test_a_group_that_does_not_fit_is_refused_before_a_step(make, group):
    optimizer, _, _ = stepped(make)
    with pytest.raises((TypeError, ValueError), match="expected"):
        optimizer.add_param_group({"params": [oploom.ones(3)], **group})
    assert len(optimizer.param_groups) == 2


def test_a_first_step_that_is_refused_leaves_no_momentum():
    x = oploom.zeros(2, requires_grad=True)
    optimizer = optim.SGD([x], lr=1.0, momentum=0.5)
    x.grad = oploom.ones(2)
    x.grad.data = oploom.ones(3)
    with pytest.raises(RuntimeError, match="shape"):
        optimizer.step()
    assert not optimizer.state
    x.grad = oploom.ones(2)
    optimizer.step()
    assert x.tolist() == [-1] * 2


def test_a_step_of_adam_with_changed_betas_does_not_count():
    optimizer, a, _ = stepped(optim.Adam)
    optimizer.param_groups[0]["betas"] = (0.9,)
    with pytest.raises(ValueError, match="unpack"):
        optimizer.step()
    assert optimizer.state[a]["step"].item() == 1


def test_a_small_network_learns():
    oploom.manual_seed(0)
    x = oploom.rand(64, 2)
    y = (x[:, 0] > x[:, 1]).long()
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = optim.AdamW(model.parameters(), lr=0.05)
    loss_of = nn.CrossEntropyLoss()
    for _ in range(60):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.2
    assert (model(x).argmax(1) == y).sum().item() >= 60
