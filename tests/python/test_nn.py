"""oploom.nn: modules, their bookkeeping, layers, losses and initial values."""

import copy
import inspect
import math
import pickle

import numpy as np
import oploom
import pytest
from oploom import nn
from oploom.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 3)
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(3, 2, bias=False))
        self.scale = nn.Parameter(oploom.ones(1))
        self.register_buffer("count", oploom.zeros(1))
        self.register_buffer("scratch", oploom.zeros(1), persistent=False)

    def forward(self, x):
        return self.second(self.first(x)) * self.scale


NAMES = ["scale", "first.weight", "first.bias", "second.1.weight"]


def test_bookkeeping():
    net = Net()
    assert [n for n, _ in net.named_parameters()] == NAMES
    assert [n for n, _ in net.named_buffers()] == ["count", "scratch"]
    assert [n for n, _ in net.named_children()] == ["first", "second"]
    assert len(list(net.modules())) == 5
    assert list(net.state_dict()) == ["scale", "count", *NAMES[1:]]
    assert net(oploom.ones(5, 4)).shape == (5, 2)
    net.eval()
    assert not any(m.training for m in net.modules())
    net.train()
    assert all(m.training for m in net.modules())
    assert "(first): Linear(in_features=4, out_features=3, bias=True)" in repr(net)


def test_attributes():
    net = Net()
    with pytest.raises(TypeError, match="got Tensor"):
        net.scale = oploom.ones(1)
    net.scale = None
    assert net.scale is None and "scale" not in dict(net.named_parameters())
    net.count = oploom.ones(1)
    assert net.state_dict()["count"].item() == 1
    del net.first
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'first'"):
        net.first

    class Forgetful(nn.Module):
        def __init__(self):
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Forgetful()
    shared = nn.Linear(2, 2)
    assert len(list(nn.Sequential(shared, shared).parameters())) == 2
    other = nn.Linear(2, 2, bias=False)
    other.weight = shared.weight
    assert len(list(nn.Sequential(shared, other).parameters())) == 2


def test_parameter():
    data = oploom.zeros(2)
    p = nn.Parameter(data)
    assert isinstance(p, oploom.Tensor) and p.requires_grad and p.is_leaf
    assert p.data_ptr() == data.data_ptr()
    assert repr(p) == "Parameter containing:\ntensor([0., 0.], requires_grad=True)"
    assert type(copy.deepcopy(p)) is nn.Parameter
    assert type(pickle.loads(pickle.dumps(p))) is nn.Parameter
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    (p * 2).sum().backward()
    assert p.grad.tolist() == [2, 2]


def test_state_dict_round_trip():
    a, b = Net(), Net()
    result = b.load_state_dict(a.state_dict())
    assert result.missing_keys == [] and result.unexpected_keys == []
    x = oploom.rand(3, 4)
    assert a(x).tolist() == b(x).tolist()
    loaded = pickle.loads(pickle.dumps(a.state_dict()))
    assert b.load_state_dict(loaded)
    with pytest.raises(RuntimeError, match="missing: scale"):
        b.load_state_dict({})
    with pytest.raises(RuntimeError, match="unexpected: other"):
        b.load_state_dict({**a.state_dict(), "other": x})
    with pytest.raises(RuntimeError, match=r"scale: expected shape \(1,\), got \(3, 4\)"):
        b.load_state_dict({**a.state_dict(), "scale": x})
    assert b.load_state_dict({}, strict=False).missing_keys == list(a.state_dict())
    with pytest.raises(RuntimeError, match="bias: expected a tensor with data, got one on meta"):
        oploom.nn.Linear(1, 1).load_state_dict(
            {"weight": x[:1, :1], "bias": oploom.ones(1, device="meta")}
        )
    with pytest.raises(TypeError, match="expected a mapping from names to Tensors, got list"):
        b.load_state_dict([x])
    with pytest.raises(RuntimeError, match="count: expected a Tensor, got int"):
        b.load_state_dict({**oploom.nn.Linear(1, 1).state_dict(), "scale": x[0, :1], "count": 1},
                          strict=False)
    assert b.scale.item() == 1  # where something does not fit, nothing is copied
    c = copy.deepcopy(a)
    assert c(x).tolist() == a(x).tolist() and c.scale is not a.scale
    assert pickle.loads(pickle.dumps(a))(x).tolist() == a(x).tolist()


def test_conversion_keeps_parameters():
    net = Net()
    p = net.scale
    net.double()
    assert net.scale is p and p.dtype is oploom.float64 and net.count.dtype is oploom.float64
    assert net(oploom.ones(1, 4, dtype=oploom.float64)).dtype is oploom.float64
    net.to("cpu").float()
    assert p.dtype is oploom.float32 and p.requires_grad


@pytest.mark.parametrize("name, dtype", [
    ("half", oploom.float16), ("bfloat16", oploom.bfloat16), ("float", oploom.float32),
    ("double", oploom.float64),
])
def test_conversion_to_a_dtype_is_of_floating_numbers(name, dtype):
    net = Net()
    net.register_buffer("steps", oploom.zeros(2, dtype=oploom.int64))
    net.register_buffer("phases", oploom.ones(2, dtype=oploom.complex64) * 1j)
    net(oploom.ones(1, 4)).sum().backward()
    before = list(net.parameters())
    assert getattr(net, name)() is net
    assert all(a is b for a, b in zip(net.parameters(), before, strict=True))
    assert all(p.dtype is dtype and p.grad.dtype is dtype for p in net.parameters())
    assert net.count.dtype is net.scratch.dtype is dtype
    assert net.steps.dtype is oploom.int64 and net.phases.tolist() == [1j, 1j]


def test_forward_hooks():
    layer, log = nn.Identity(), []

    def doubles(module, args):
        log.append((module, args))
        return args[0] * 2

    def squares(module, args, result):
        log.append((module, args, result))
        return result * result

    before, after = layer.register_forward_pre_hook(doubles), layer.register_forward_hook(squares)
    assert layer(3) == 36
    assert log == [(layer, (3,)), (layer, (6,), 6)]
    with layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,)):
        assert layer(3) == 49  # (3 * 2 + 1) squared
    with layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,), prepend=True):
        assert layer(3) == 64  # ((3 + 1) * 2) squared
    with layer.register_forward_hook(lambda module, args, result: result + 1):
        assert layer(3) == 37
    with layer.register_forward_hook(lambda module, args, result: result + 1, prepend=True):
        assert layer(3) == 49
    with layer.register_forward_hook(lambda module, args, result: None):
        assert layer(3) == 36
    assert copy.deepcopy(layer)(3) == 36
    after.remove()
    after.remove()
    assert layer(3) == 6
    before.remove()
    assert layer(3) == 3
    assert nn.Identity()(3) == 3  # hooks belong to one module


def test_forward_hooks_with_keywords():
    class Scale(nn.Module):
        def forward(self, x, factor=1):
            return x * factor

    layer, seen = Scale(), []
    layer.register_forward_hook(lambda *given: seen.append(given[1:]), with_kwargs=True)
    with layer.register_forward_pre_hook(
        lambda module, args, kwargs: (args, {"factor": kwargs["factor"] + 1}), with_kwargs=True
    ):
        assert layer(2, factor=3) == 8
    assert layer(2, factor=3) == 6
    assert seen == [((2,), {"factor": 4}, 8), ((2,), {"factor": 3}, 6)]
    layer.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="pre-hook of Scale: expected None or a tuple .* got tuple"):
        layer(2, factor=3)
    with pytest.raises(TypeError, match="expected a function as hook, got int"):
        layer.register_forward_hook(3)


def test_a_hook_may_remove_itself_and_outlive_its_module():
    layer, calls = nn.Identity(), []

    def once(module, args, result):
        calls.append(result)
        handle.remove()

    handle = layer.register_forward_hook(once)
    last = layer.register_forward_hook(lambda module, args, result: calls.append("last"))
    layer(1)
    layer(2)
    assert calls == [1, "last", "last"]
    del layer
    last.remove()


def test_zero_grad():
    net = Net()
    net(oploom.ones(1, 4)).sum().backward()
    assert net.scale.grad is not None
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    (net(oploom.ones(1, 4)) * oploom.inf * 0).sum().backward()
    assert net.scale.grad.isnan().item()
    net.zero_grad(set_to_none=False)
    assert all(p.grad.tolist() == oploom.zeros_like(p).tolist() for p in net.parameters())
    net.requires_grad_(False)
    assert not net(oploom.ones(1, 4)).requires_grad


@pytest.mark.parametrize("by_frequency", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("width", [1, 5, 64])
def test_embedding_gradients(width, dtype, by_frequency):
    rows = [1, 2, 1, 3, 1, 2, 5, 3]
    weight = oploom.randn((7, width)).to(getattr(oploom, dtype)).requires_grad_(True)
    indices = oploom.tensor(rows).reshape(2, 4)
    # Halves and quarters, of which all sums are exact.
    grad = (oploom.randint(-8, 9, (2, 4, width)).to(oploom.float32) / 4).to(getattr(oploom, dtype))
    F.embedding(indices, weight, padding_idx=2, scale_grad_by_freq=by_frequency).backward(grad)
    uses, wanted = np.bincount(rows), np.zeros((7, width), "complex128")
    for row, x in zip(rows, grad.to(oploom.complex128).numpy().reshape(8, width)):
        if row != 2:
            wanted[row] += x / (uses[row] if by_frequency else 1)
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2}.get(dtype, 1e-6) if by_frequency else 0
    assert np.allclose(weight.grad.to(oploom.complex128).numpy(), wanted, rtol=0, atol=tolerance)


def test_linear():
    layer = nn.Linear(3, 2)
    x = oploom.rand(4, 3)
    expected = x.numpy() @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(x).detach().numpy(), expected, rtol=1e-5, atol=1e-6)
    bound = 1 / math.sqrt(3)
    assert abs(layer.weight).max().item() <= bound
    assert nn.Linear(3, 2, bias=False).bias is None
    with pytest.raises(RuntimeError):
        layer(oploom.rand(4, 5))


def test_activations():
    x = oploom.tensor([-1.0, 0.0, 2.0])
    a = x.numpy().astype(np.float64)
    assert nn.ReLU()(x).tolist() == [0, 0, 2]
    np.testing.assert_allclose(nn.Tanh()(x).numpy(), np.tanh(a), rtol=1e-5)
    np.testing.assert_allclose(nn.Sigmoid()(x).numpy(), 1 / (1 + np.exp(-a)), rtol=1e-5)
    np.testing.assert_allclose(nn.Softmax(0)(x).numpy(), np.exp(a) / np.exp(a).sum(), rtol=1e-5)
    np.testing.assert_allclose(
        nn.LogSoftmax(0)(x).numpy(), a - np.log(np.exp(a).sum()), rtol=1e-5
    )
    y = x.clone()
    assert nn.ReLU(inplace=True)(y) is y and y.tolist() == [0, 0, 2]
    assert nn.SiLU(inplace=True)(y) is y and y.tolist() == F.silu(nn.ReLU()(x)).tolist()
    for name in ("relu", "elu", "celu", "selu", "hardtanh", "leaky_relu"):
        y = x.clone()
        assert getattr(F, f"{name}_")(y) is y and y.tolist() == getattr(F, name)(x).tolist()
    y = x.clone()
    assert F.threshold_(y, 1, -3) is y and y.tolist() == [-3, -3, 2]
    with pytest.raises(ValueError, match="dim"):
        F.softmax(x)


def test_dropout():
    oploom.manual_seed(0)
    layer = nn.Dropout(0.25)
    x = oploom.ones(10000)
    y = layer(x)
    kept = (y != 0).sum().item()
    assert 7200 < kept < 7800 and y.max().item() == pytest.approx(4 / 3)
    layer.eval()
    assert layer(x).tolist() == x.tolist()
    with pytest.raises(ValueError, match="1.5"):
        nn.Dropout(1.5)


def test_a_dropout_in_place_that_is_refused_draws_nothing():
    leaf = oploom.ones(3, requires_grad=True)
    before = oploom.default_generator.get_state()
    for x, message in ((leaf, "leaf"), (oploom.ones(1).expand(3), "share")):
        with pytest.raises(RuntimeError, match=message):
            F.dropout(x, inplace=True)
        assert oploom.default_generator.get_state() == before and x.tolist() == [1] * 3
    y = oploom.ones(1000)
    assert F.dropout(y, inplace=True) is y and 0 < (y == 0).sum().item() < 1000
    assert oploom.default_generator.get_state() != before


def test_layer_norm():
    layer = nn.LayerNorm(5)
    x = oploom.rand(4, 5) * 3
    a = x.numpy()
    expected = (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(layer(x).detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    assert nn.LayerNorm((4, 5), elementwise_affine=False).weight is None
    assert nn.LayerNorm(np.int64(5)).normalized_shape == (5,)
    with pytest.raises(TypeError, match="integer"):
        nn.LayerNorm(1.5)


def test_embedding():
    layer = nn.Embedding(10, 3, padding_idx=0)
    index = oploom.tensor([[0, 2], [9, 2]])
    result = layer(index)
    assert result.shape == (2, 2, 3) and result[0, 0].tolist() == [0, 0, 0]
    assert result[0, 1].tolist() == layer.weight[2].tolist()
    result.sum().backward()
    assert layer.weight.grad[2].tolist() == [2, 2, 2]
    assert layer.weight.grad[0].tolist() == [0, 0, 0]


def test_losses():
    rng = np.random.default_rng(0)
    scores, classes = rng.normal(size=(5, 3)), np.array([0, 2, 1, 1, 0])
    x, t = oploom.tensor(scores), oploom.tensor(classes)
    logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    picked = -logs[np.arange(5), classes]
    assert nn.CrossEntropyLoss()(x, t).item() == pytest.approx(picked.mean())
    assert nn.CrossEntropyLoss(reduction="sum")(x, t).item() == pytest.approx(picked.sum())
    assert nn.NLLLoss()(oploom.tensor(logs), t).item() == pytest.approx(picked.mean())
    np.testing.assert_allclose(
        nn.NLLLoss(reduction="none")(oploom.tensor(logs), t).numpy(), picked
    )
    np.testing.assert_allclose(F.cross_entropy(x, t, reduction="none").numpy(), picked)
    y = oploom.tensor(rng.normal(size=(5, 3)))
    assert nn.MSELoss()(x, y).item() == pytest.approx(((scores - y.numpy()) ** 2).mean())
    assert nn.L1Loss()(x, y).item() == pytest.approx(abs(scores - y.numpy()).mean())
    with pytest.raises(ValueError, match="reduction"):
        F.mse_loss(x, y, "average")


@pytest.mark.parametrize("other", ["float16", "float64", "int64", "bool"])
@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss])
def test_losses_of_two_dtypes(loss, other):
    x = oploom.tensor([0.25, 2.0], requires_grad=True)
    y = oploom.tensor([1, 0]).to(getattr(oploom, other))
    common = oploom.promote_types(oploom.float32, y.dtype)
    expected = loss(x.detach().to(common), y.to(common))
    value = loss(x, y)
    assert value.dtype is common and value.item() == expected.item()
    (gradient,) = oploom.autograd.grad(value, x, create_graph=True)
    assert gradient.dtype is oploom.float32
    # The second derivative goes through the gradient's own formula.
    if y.dtype is oploom.bool and loss is not F.mse_loss:
        return  # their programs subtract tensors as they are
    (second,) = oploom.autograd.grad(gradient.sum(), x)
    assert second.dtype is oploom.float32
    if loss is F.mse_loss:
        assert gradient.tolist() == [-0.75, 2.0] and second.tolist() == [1.0, 1.0]


def test_init():
    oploom.manual_seed(1)
    w = oploom.empty(50, 40)
    nn.init.kaiming_uniform_(w, nonlinearity="relu")
    assert abs(w).max().item() <= math.sqrt(6 / 40) and w.std().item() == pytest.approx(
        math.sqrt(2 / 40), rel=0.1)
    nn.init.xavier_normal_(w)
    assert w.std().item() == pytest.approx(math.sqrt(2 / 90), rel=0.1)
    assert nn.init.zeros_(w) is w and w.sum().item() == 0
    assert nn.init.eye_(oploom.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    p = nn.Parameter(oploom.empty(3))
    nn.init.constant_(p, 2.0)
    assert p.tolist() == [2, 2, 2] and p.is_leaf
    with pytest.raises(ValueError, match="2 or more"):
        nn.init.kaiming_uniform_(oploom.empty(3))
    for function in (nn.init.kaiming_uniform_, nn.init.xavier_normal_):
        assert function(oploom.empty(0, 0)).shape == (0, 0)


@pytest.mark.parametrize("bias", [False, True])
def test_a_linear_layer_begins_within_the_root_of_its_inputs(bias):
    oploom.manual_seed(1)
    layer = nn.Linear(100, 300, bias)
    for parameter in layer.parameters():
        assert abs(parameter).max().item() <= 1 / math.sqrt(100)
        # The deviation of a uniform distribution.
        assert parameter.std().item() == pytest.approx(0.1 / math.sqrt(3), rel=0.1)
        assert parameter.mean().item() == pytest.approx(0, abs=0.01)


def test_gains():
    gain = nn.init.calculate_gain
    assert [gain(n) for n in ("linear", "sigmoid", "tanh")] == [1, 1, 5 / 3]
    assert gain("relu") == math.sqrt(2)
    assert gain("leaky_relu", 3) == pytest.approx(math.sqrt(2 / 10))
    assert gain("leaky_relu") == pytest.approx(math.sqrt(2 / 1.0001))
    with pytest.raises(ValueError, match="unknown nonlinearity 'cubic'"):
        gain("cubic")


def test_normalize():
    x = oploom.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    y = F.normalize(x)
    np.testing.assert_allclose(y.detach().numpy(), [[0.6, 0.8], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(F.normalize(x, p=1, dim=0).detach().numpy(), [[1, 1], [0, 0]])


def test_a_padding_row_counts_from_either_end():
    weight = oploom.ones(4, 2, requires_grad=True)
    for padding, row in ((1, 1), (-1, 3)):
        weight.grad = None
        F.embedding(oploom.tensor([0, 1, 2, 3]), weight, padding_idx=padding).sum().backward()
        assert weight.grad.tolist() == [[0, 0] if i == row else [1, 1] for i in range(4)]


def test_a_name_that_is_taken_is_refused():
    model = nn.Linear(1, 1)
    with pytest.raises(KeyError, match="'forward' exists"):
        model.register_buffer("forward", oploom.ones(1))
    model.register_parameter("weight", nn.Parameter(oploom.ones(1, 1)))
    assert model.weight.item() == 1


def test_a_name_belongs_to_one_kind():
    model = nn.Linear(1, 1)
    with pytest.raises(KeyError, match="'weight' exists"):
        model.register_buffer("weight", oploom.ones(1))
    with pytest.raises(KeyError, match="'weight' exists"):
        model.add_module("weight", nn.ReLU())
    assert not list(model.buffers()) and not list(model.children())


def test_what_is_assigned_to_a_name():
    model = nn.Linear(1, 1)
    with pytest.raises(TypeError, match="'weight' can be assigned a Parameter or None, got ReLU"):
        model.weight = nn.ReLU()
    for name, message in (("a.b", "without '.'"), ("", "without '.'"), ("forward", "exists")):
        with pytest.raises(KeyError, match=message):
            setattr(model, name, nn.Parameter(oploom.ones(1)))
    model.weight = nn.Parameter(oploom.ones(1, 1))
    assert list(model.state_dict()) == ["weight", "bias"]
    model.scale = 3
    model.scale = nn.ReLU()
    model.scale = nn.Parameter(oploom.ones(1))
    assert list(model.state_dict()) == ["weight", "bias", "scale"] and not list(model.children())


def test_a_buffer_that_is_registered_again_may_be_saved():
    model = Net()
    model.register_buffer("scratch", oploom.ones(1))
    assert "scratch" in model.state_dict()
    model.register_buffer("scratch", oploom.ones(1), persistent=False)
    assert "scratch" not in model.state_dict()


def test_a_conversion_changes_what_it_names():
    layer = nn.Linear(2, 2, device="meta").to(oploom.float64)
    assert layer.weight.is_meta and layer.weight.dtype is oploom.float64
    layer = nn.Linear(2, 2).to(float)
    assert layer.weight.dtype is oploom.float64
    assert layer.to(device="meta").weight.dtype is oploom.float64
    layer = nn.Linear(2, 2)
    layer.weight.requires_grad_(False)
    with pytest.raises(TypeError, match="floating-point or complex dtype"):
        layer.to(oploom.int64)
    assert layer.weight.dtype is oploom.float32


def test_defaults_of_layers():
    assert nn.Dropout().p == 0.5
    assert inspect.signature(nn.functional.dropout).parameters["p"].default == 0.5
    oploom.manual_seed(3)
    weight = nn.Embedding(50, 40).weight.detach()
    assert weight.std().item() == pytest.approx(1, rel=0.1)
    with pytest.raises(ValueError, match=r"padding_idx in \[-5, 4\], got 5"):
        nn.Embedding(5, 2, padding_idx=5)
    for padding_idx in (3, -4):
        with pytest.raises(ValueError, match=rf"embedding\(\): .* in \[-3, 2\], got {padding_idx}"):
            F.embedding(oploom.tensor([1]), oploom.ones(3, 2), padding_idx=padding_idx)


def test_targets_of_probabilities_are_not_broadcast():
    p = oploom.full((3, 4), 0.5)
    for loss in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        with pytest.raises(ValueError, match=r"input's shape \(3, 4\), got \(4,\)"):
            loss(p, oploom.ones(4))
        assert loss(p, oploom.ones(4).expand_as(p)).shape == ()


def test_seeds():
    largest = 2**64 - 1
    for seed, kept in ((0, 0), (-1, largest), (largest, largest), (-(2**63), 2**63)):
        assert oploom.manual_seed(seed).initial_seed() == kept
    for seed in (2**64, -(2**63) - 1, 10**30):
        with pytest.raises(ValueError, match=f"expected a seed from .*, got {seed}"):
            oploom.manual_seed(seed)
    assert oploom.initial_seed() == 2**63
    with pytest.raises(TypeError):
        oploom.manual_seed(1.5)


def test_one_hot():
    one_hot = nn.functional.one_hot
    t = oploom.tensor([[0, 2], [1, 0]])
    assert one_hot(t).tolist() == [[[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0]]]
    assert one_hot(oploom.tensor(1), 4).tolist() == [0, 1, 0, 0]
    assert one_hot(t).dtype is oploom.int64
    assert one_hot(oploom.empty(0, dtype=oploom.int64), 3).shape == (0, 3)
    with pytest.raises(IndexError, match=r"classes in \[0, 1\], got 2"):
        one_hot(t, 2)
    with pytest.raises(IndexError, match="got -1"):
        one_hot(t - 1)
    with pytest.raises(TypeError, match="integers, got oploom.float32"):
        one_hot(t.to(oploom.float32))
    with pytest.raises(ValueError, match="number of classes or -1, got -2"):
        one_hot(t, -2)
    with pytest.raises(ValueError, match="does not say how many"):
        one_hot(oploom.empty(0, dtype=oploom.int64))


def test_containers():
    layers = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])
    layers.append(nn.ReLU())
    assert len(layers) == 3 and len(list(layers.parameters())) == 4
    assert isinstance(layers[-1], nn.ReLU) and len(layers[:2]) == 2
    named = nn.ModuleDict({"a": nn.ReLU()})
    named["b"] = nn.Tanh()
    assert list(named) == ["a", "b"] and "b" in named
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    assert isinstance(model[1], nn.ReLU) and len(model[:1]) == 1
    assert model.append(nn.Tanh())(oploom.ones(1, 2)).shape == (1, 2)


def test_modules_are_added_all_or_none():
    layers = nn.ModuleList([nn.ReLU()])
    with pytest.raises(TypeError, match=r"extend\(\): expected a Module or None as 1, got int"):
        layers.extend([nn.ReLU(), 3])
    assert len(layers) == 1
    with pytest.raises(TypeError, match="iterable"):
        nn.ModuleList(0)


class Squared(nn.ReLU):
    def forward(self, input):
        return super().forward(input) ** 2


def nodes_of(result):
    names = []
    node = result.grad_fn
    while node is not None:
        names.append(node.name())
        node = next((n for n, _ in node.next_functions if n is not None), None)
    return names


@pytest.mark.parametrize("shape", [(5, 4), (2, 3, 4), (4,), (0, 4)])
def test_sequential_fuses_layers_with_relu(shape):
    oploom.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3, bias=False), nn.ReLU(),
                          nn.Linear(3, 2))
    x = oploom.randn(shape, requires_grad=True)
    expected = x
    for layer in model:
        expected = layer(expected)
    result = model(x)
    assert [n for n in nodes_of(result) if "Relu" in n] == ["LinearReluBackward0"] * 2
    np.testing.assert_array_equal(result.detach().numpy(), expected.detach().numpy())
    inputs = [x, *model.parameters()]
    by_one = oploom.autograd.grad(result.sum(), inputs)
    for fused, apart in zip(by_one, oploom.autograd.grad(expected.sum(), inputs)):
        np.testing.assert_allclose(fused.numpy(), apart.numpy(), rtol=1e-6, atol=1e-7)


def test_sequential_fuses_nothing_that_is_seen_or_changed():
    calls = []
    seen = nn.Linear(2, 2)
    seen.register_forward_hook(lambda module, args, result: calls.append(result.shape))
    patched = nn.ReLU()
    patched.forward = lambda input: calls.append("patched") or input
    model = nn.Sequential(seen, nn.ReLU(), nn.Linear(2, 2), patched, nn.Linear(2, 2), Squared(),
                          nn.Linear(2, 2))
    assert "LinearReluBackward0" not in nodes_of(model(oploom.ones(1, 2)))
    assert calls == [(1, 2), "patched"]
    watched = nn.ReLU()
    watched.register_forward_pre_hook(lambda module, args: calls.append("before"))
    nn.Sequential(nn.Linear(2, 2), watched)(oploom.ones(1, 2))
    assert calls[-1] == "before"
