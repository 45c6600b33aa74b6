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
