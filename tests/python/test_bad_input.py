"""Arguments that do not fit: refused with an error that helps, and nothing else happens."""

from pathlib import Path

import numpy as np
import oploom
import pytest

from tests.python.own_process import run

TREE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("seed", range(3))
def test_no_call_crashes_or_half_happens(seed):
    assert run(f"from tests.ops import fuzz; fuzz.main({seed})", cwd=TREE) == ""


@pytest.mark.parametrize("change", ["fmod_", "remainder_", "floor_divide_"])
@pytest.mark.parametrize("shape", [(600,), (2, 300)])
def test_a_zero_among_wider_divisors_is_found_before_anything_is_written(change, shape):
    """The divisors are read in pieces, whose results are of another dtype than the tensor."""
    x = oploom.arange(600, dtype=oploom.int32).reshape(*shape)
    divisors = oploom.ones(*shape, dtype=oploom.int64)
    divisors[..., -1] = 0
    with pytest.raises(RuntimeError, match="by zero"):
        getattr(x, change)(divisors)
    assert x.flatten().tolist() == list(range(600))


@pytest.mark.parametrize("name, dims", [("addmm", (2, 2, 2)), ("addmv", (1, 2, 1)), ("baddbmm", (3, 3, 3))])
def test_products_of_bools_are_refused_before_anything_is_written(name, dims):
    operands = [oploom.ones(*[2] * n, dtype=oploom.bool) for n in dims]
    out = oploom.zeros_like(operands[0])
    with pytest.raises(NotImplementedError, match=name + r"\(\): expected numbers, got bool"):
        getattr(oploom, name)(*operands, out=out)
    assert not out.any()


UNREADABLE = """import oploom
empty = oploom.arange(10.0)[7:7]
index = oploom.tensor(0)
calls = [
    lambda: oploom.zeros(2).scatter(0, index, empty),
    lambda: oploom.zeros(()).scatter_add(0, index, empty),
    lambda: oploom.value_selecting_reduction_backward(empty, 0, index, [2], True),
]
for call in calls:
    try:
        call()
    except RuntimeError as error:
        assert "no larger size than src" in str(error)
    else:
        raise AssertionError("nothing was refused")
ones = oploom.ones(5, 3)
meta = oploom.ones(3, device="meta")
try:
    oploom.native_layer_norm_backward(
        ones, ones, [3], ones[:, :1], ones[:, :1], meta, None, [True] * 3
    )
except RuntimeError as error:
    assert "on the same device" in str(error)
else:
    raise AssertionError("nothing was refused")
number = oploom.tensor(1.5)
for function in [oploom.hypot, oploom.atan2, oploom.xlogy, oploom.nn.functional.huber_loss]:
    for _, tangent in [
        oploom.func.jvp(lambda x: function(x, meta), (number,), (number,)),
        oploom.func.jvp(lambda x: function(meta, x), (number,), (number,)),
    ]:
        assert tangent.is_meta
"""


def test_numbers_beside_what_has_no_memory_do_not_crash():
    run(UNREADABLE)


def test_an_output_that_cannot_grow_keeps_the_others_from_being_written():
    values = oploom.zeros(3, dtype=oploom.int64)
    indices = oploom.from_numpy(np.array([7]))
    with pytest.raises(RuntimeError, match="cannot grow"):
        oploom.sort(oploom.tensor([[2, 1], [1, 2]]), 0, out=(values, indices))
    assert values.tolist() == [0, 0, 0] and indices.tolist() == [7]

    x = oploom.from_numpy(np.array([[7]])).expand(3, 5)
    indices = oploom.ones(3, 5, dtype=oploom.int64)
    with pytest.raises(RuntimeError, match="cannot grow"):
        oploom.min(x, 0, out=(x.detach(), indices))
    assert indices.shape == (3, 5) and indices.sum() == 15


def test_an_output_that_is_refused_is_as_it_was():
    out = oploom.ones(3, 2, dtype=oploom.int64)
    ones = oploom.ones(2, 2, dtype=oploom.int64)
    with pytest.raises(NotImplementedError, match="embedding_dense_backward"):
        oploom.embedding_dense_backward(ones, oploom.tensor([1, 1]), 3, 0, False, out=out)
    assert out.sum() == 6

    out = oploom.ones(4, 3, 3, dtype=oploom.float16, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        oploom.softmax(oploom.ones(4, 1, 3, dtype=oploom.bfloat16), 2, out=out)
    assert out.shape == (4, 3, 3)


@pytest.mark.parametrize("function", [
    lambda x, **out: oploom.exp(x, **out),
    lambda x, **out: oploom.add(x, x, **out),
    lambda x, **out: oploom.cumsum(x, 0, **out),
    lambda x, **out: oploom.gather(x, 0, oploom.arange(99, -1, -1), **out),
    lambda x, **out: oploom.cat([x, x], **out),
])
def test_an_output_that_grows_over_an_input(function):
    x = oploom.arange(100.0) / 50
    expected = function(x)
    assert function(x, out=x[1:1]).tolist() == expected.tolist()


def test_a_factory_gives_its_output_what_it_was_asked_for():
    out = oploom.ones(2)
    assert oploom.zeros(2, dtype=oploom.float32, device="cpu", out=out, requires_grad=True) is out
    assert out.tolist() == [0, 0] and out.requires_grad


COMPLEX = oploom.ones(3, dtype=oploom.complex64)
WHOLE = oploom.ones(3, dtype=oploom.int64)
ONES = oploom.ones(3)
MATRIX = oploom.ones(3, 4)
SAME = oploom.ones(1).expand(3)  # one element three times
LINE = oploom.arange(4.0)
nn, optim, F = oploom.nn, oploom.optim, oploom.nn.functional
LAYER = nn.Linear(2, 2)


def square(x):
    return x * x


def checked(**options):
    return oploom.autograd.gradcheck(square, oploom.ones(1, dtype=oploom.float64), **options)


def sgd(**settings):
    return optim.SGD([ONES], **settings)


def adam(**settings):
    return optim.Adam([ONES], **settings)


INTEGERS = "uint8, int8, int16, int32, int64"
# What is called, and how its message begins, whichever operator it is made of found the mistake.
MESSAGES = [
    (lambda: oploom.amax(COMPLEX), "amax(): dtype 'complex64' is not supported on CPU"),
    (lambda: COMPLEX.argmin(), "argmin(): dtype 'complex64' is not supported on CPU"),
    (lambda: oploom.rand(3, dtype=oploom.int64), "rand(): expected a floating or complex dtype"),
    (lambda: oploom.rand_like(WHOLE), "rand_like(): expected a floating or complex dtype"),
    (lambda: oploom.randn_like(WHOLE), "randn_like(): expected a floating or complex dtype"),
    (lambda: oploom.randn(3, out=WHOLE.clone()), "randn(): expected a floating or complex dtype"),
    (lambda: oploom.zeros(3, dtype=oploom.int64, out=ONES),
     "zeros(): expected out of the dtype int64 that was asked for, got float32"),
    (lambda: oploom.full((3,), 2, device="meta", out=ONES),
     "full(): expected out on the device meta that was asked for, got cpu"),
    (lambda: oploom.zeros_like(ONES, out=WHOLE, requires_grad=True),
     "zeros_like(): expected out of a floating-point or complex dtype to require grad, got int64"),
    (lambda: oploom.einsum("\u00e9", ONES), "einsum(): expected letters, ',', '...' and '->', got '"),
    (lambda: oploom.randperm(5, dtype=oploom.complex64), "randperm(): expected a real dtype"),
    (lambda: oploom.embedding(MATRIX, oploom.tensor([5])), "embedding(): index 5 is out of bounds"),
    (lambda: MATRIX @ oploom.ones(4, 3, dtype=oploom.int64), "matmul(): expected operands of one "),
    (lambda: oploom.nn.functional.linear(MATRIX, oploom.ones(2, 4, dtype=oploom.int64)),
     "linear(): expected operands of one dtype, got float32 and int64"),
    (lambda: oploom.nn.functional.linear(MATRIX, oploom.ones(2, 4), ONES),
     "linear(): expected bias of shape [out] for weight of shape [out, in], got [3] and [2, 4]"),
    (lambda: ONES[:0].chunk(2**62), "chunk(): expected at most 2147483647 chunks of a dimension of "),
    (lambda: WHOLE // 0, "floor_divide(): division of an integer by zero"),
    (lambda: COMPLEX // COMPLEX, "floor_divide(): complex numbers are not supported"),
    (lambda: oploom.arccos_(WHOLE.clone()), "arccos_(): "),
    (lambda: oploom.copy(ONES, LINE), "copy(): cannot expand sizes [4] to [3]"),
    (lambda: ONES.__setitem__(slice(2), LINE), "__setitem__(): cannot expand sizes [4] to [2]"),
    (lambda: ONES.__setitem__([0, 1], LINE), "__setitem__(): values of shape [4] cannot be broadcast"),
    (lambda: SAME.__setitem__(..., 1), "__setitem__(): several elements of the tensor to be written"),
    (lambda: ONES[oploom.tensor([3])], "__getitem__(): index 3 is out of bounds"),
    (lambda: setattr(ONES, "grad", MATRIX), "grad: expected a gradient of shape [3], got [3, 4]"),
    (lambda: setattr(ONES, "grad", 3), "grad: expected a Tensor or None, got int"),
    (lambda: SAME.zero_(), "zero_(): several elements of the tensor to be written share"),
    (lambda: SAME.uniform_(), "uniform_(): several elements"),
    (lambda: SAME.masked_fill_(ONES > 0, 1), "masked_fill_(): several elements"),
    (lambda: SAME.scatter_(0, WHOLE, ONES), "scatter_(): several elements"),
    (lambda: SAME.index_put_((WHOLE,), ONES), "index_put_(): several elements"),
    (lambda: oploom.cat([ONES], out=SAME), "cat(): several elements"),
    (lambda: oploom.sort(ONES, out=(SAME, WHOLE.clone())), "sort(): several elements"),
    (lambda: oploom.cumsum(LINE[:3], 0, out=LINE[1:]), "cumsum(): the tensor to be written and an "),
    (lambda: ONES & ONES, f"bitwise_and(): dtype 'float32' is not supported on CPU, expected one of "
     f"{INTEGERS}, bool"),
    (lambda: ~ONES, f"bitwise_not(): dtype 'float32' is not supported on CPU, expected one of "
     f"{INTEGERS}, bool"),
    (lambda: (ONES > 0) % (ONES > 0), f"remainder(): dtype 'bool' is not supported on CPU, expected "
     f"one of {INTEGERS}, float16, float32, float64, bfloat16"),
    (lambda: oploom.tensor([1, 2j], dtype=oploom.float32), "expected a real number for float32, got"),
    (lambda: oploom.Generator().manual_seed("a"), "manual_seed(): expected an integer as seed, got s"),
    (lambda: oploom.Generator().set_state((1, 2, 3)), "set_state(): expected what get_state() returne"),
    (lambda: oploom.Generator().set_state((1, -1)), "set_state(): expected what get_state() returned, "
     "two integers from 0 to 2^64 - 1, got (1, -1)"),
    (lambda: oploom.Generator().set_state((2**64, 0)), "set_state(): expected what get_state() return"),
    # What is written in Python.
    (lambda: sgd(lr=None), "SGD(): expected a number as lr, got NoneType"),
    (lambda: sgd(lr=True), "SGD(): expected a number as lr, got bool"),
    (lambda: sgd(lr=LINE), "SGD(): expected a number as lr, got Tensor"),
    (lambda: sgd(momentum="a"), "SGD(): expected a number as momentum, got str"),
    (lambda: sgd(weight_decay=(0, 1)), "SGD(): expected a number as weight_decay, got tuple"),
    (lambda: sgd(dampening=None), "SGD(): expected a number as dampening, got NoneType"),
    (lambda: sgd(dampening=oploom.nan), "SGD(): expected a number as dampening, got nan"),
    (lambda: sgd(nesterov=1, momentum=0.9), "SGD(): expected a bool as nesterov, got int"),
    (lambda: optim.SGD(3), "SGD(): expected an iterable of Tensors or dicts as params, got int"),
    (lambda: optim.SGD([3]), "SGD(): expected Tensors, got int"),
    (lambda: optim.SGD([{"params": 3}]), "SGD(): expected an iterable of Tensors as 'params' of a"),
    (lambda: optim.SGD([{"lr": 1}]), "SGD(): expected a group as a dict with 'params', got a dict"),
    (lambda: sgd().add_param_group(LINE), "SGD(): expected a group as a dict with 'params', got T"),
    (lambda: adam(lr="a"), "Adam(): expected a number as lr, got str"),
    (lambda: adam(eps=None), "Adam(): expected a number as eps, got NoneType"),
    (lambda: adam(amsgrad="a"), "Adam(): expected a bool as amsgrad, got str"),
    (lambda: adam(betas=0.9), "Adam(): expected betas as a tuple of two numbers, got 0.9"),
    (lambda: adam(betas=(0.9,)), "Adam(): expected betas as a tuple of two numbers, got (0.9,)"),
    (lambda: adam(betas=(0.9, "a")), "Adam(): expected a number as betas[1], got str"),
    (lambda: optim.AdamW([ONES], betas=(2, 0)), "AdamW(): expected betas[0] in [0, 1), got 2"),
    (lambda: nn.Dropout("a"), "Dropout(): expected a number as p, got str"),
    (lambda: F.dropout(ONES, "a"), "dropout(): got (Tensor, str, bool); expected one of"),
    (lambda: F.dropout(ONES, oploom.nan), "dropout(): expected p in [0, 1], got nan"),
    (lambda: nn.Linear(2.0, 3), "Linear(): expected an integer as in_features, got float"),
    (lambda: nn.Linear(2, -1), "Linear(): expected out_features of at least 0, got -1"),
    (lambda: nn.Linear(2, True), "Linear(): expected an integer as out_features, got bool"),
    (lambda: nn.Embedding("a", 3), "Embedding(): expected an integer as num_embeddings, got str"),
    (lambda: nn.Embedding(3, -2), "Embedding(): expected embedding_dim of at least 0, got -2"),
    (lambda: nn.Embedding(3, 2, 1.0), "Embedding(): expected an integer as padding_idx, got float"),
    (lambda: nn.LayerNorm([2, "a"]), "LayerNorm(): expected an integer as normalized_shape[1], go"),
    (lambda: nn.LayerNorm(-1), "LayerNorm(): expected normalized_shape[0] of at least 0, got -1"),
    (lambda: nn.Parameter(3), "Parameter(): expected a Tensor as data, got int"),
    (lambda: nn.Parameter(ONES, "a"), "Parameter(): expected a bool as requires_grad, got str"),
    (lambda: nn.init.ones_(3), "ones_(): expected a Tensor as tensor, got int"),
    (lambda: nn.init.zeros_(None), "zeros_(): expected a Tensor as tensor, got NoneType"),
    (lambda: nn.init.constant_(3, 1), "constant_(): expected a Tensor as tensor, got int"),
    (lambda: nn.init.uniform_([ONES]), "uniform_(): expected a Tensor as tensor, got list"),
    (lambda: nn.init.normal_(3), "normal_(): expected a Tensor as tensor, got int"),
    (lambda: nn.init.eye_(3), "eye_(): expected a Tensor as tensor, got int"),
    (lambda: nn.init.xavier_normal_(3), "xavier_normal_(): expected a Tensor as tensor, got int"),
    (lambda: nn.init.xavier_uniform_(MATRIX, "a"), "xavier_uniform_(): expected a number as gain"),
    (lambda: nn.init.xavier_uniform_(MATRIX, -1), "xavier_uniform_(): expected gain of at least 0"),
    (lambda: nn.init.kaiming_normal_(ONES), "kaiming_normal_(): expected a tensor of 2 or more di"),
    (lambda: nn.init.kaiming_uniform_(MATRIX, mode=3), "kaiming_uniform_(): expected mode 'fan_in"),
    (lambda: nn.init.calculate_gain("leaky_relu", "a"), "calculate_gain(): expected a number as p"),
    (lambda: F.one_hot(WHOLE, "a"), "one_hot(): expected an integer as num_classes, got str"),
    (lambda: F.one_hot(WHOLE, 2.5), "one_hot(): expected an integer as num_classes, got float"),
    (lambda: F.one_hot([1]), "one_hot(): expected a Tensor as tensor, got list"),
    (lambda: F.embedding(WHOLE, 3), "embedding(): got (int, Tensor, int, bool); expected one of"),
    (lambda: F.embedding(WHOLE, 3, 1), "embedding(): expected a Tensor as weight, got int"),
    (lambda: F.embedding(WHOLE, MATRIX, "a"), "embedding(): expected an integer as padding_idx, g"),
    (lambda: F.embedding(WHOLE, oploom.ones(())), "embedding(): expected weight of shape [n, widt"),
    (lambda: F.relu(3), "relu(): got (int); expected one of"),
    (lambda: F.softmax(3), "softmax(): expected a dim to sum along, got None"),
    (lambda: F.softshrink(ONES, "a"), "softshrink(): got (Tensor, str); expected one of"),
    (lambda: F.normalize(3), "normalize(): expected a Tensor as input, got int"),
    (lambda: F.mse_loss(ONES, ONES, []), "mse_loss(): expected a reduction of 'none', 'mean' or '"),
    (lambda: F.binary_cross_entropy(ONES, 3), "binary_cross_entropy(): expected a Tensor as targe"),
    (lambda: nn.NLLLoss(weight=3), "register_buffer(): expected a Tensor or None as 'weight', got"),
    (lambda: nn.Sequential(LAYER, 3), "add_module(): expected a Module or None as '1', got int"),
    (lambda: nn.Sequential(LAYER)[1], "__getitem__(): expected an index of one of 1 modules, got"),
    (lambda: nn.ModuleList([LAYER])["a"], "__getitem__(): expected an integer as index, got str"),
    (lambda: nn.ModuleList(3), "extend(): expected an iterable of Modules, got int"),
    (lambda: nn.ModuleDict(3), "ModuleDict(): expected a mapping from names to Modules, got int"),
    (lambda: nn.ModuleDict({3: LAYER}), "add_module(): expected a name that is a str, got int"),
    (lambda: LAYER.register_parameter("a", ONES), "register_parameter(): expected a Parameter or"),
    (lambda: LAYER.load_state_dict({3: ONES}), "load_state_dict() of Linear:\n  missing: weight, bias"
     "\n  unexpected: 3"),
    (lambda: LAYER.to(oploom.int64), "to(): expected a floating-point or complex dtype, got oploo"),
    (lambda: oploom.autograd.backward(3), "backward(): expected a Tensor or a sequence of Tensors"),
    (lambda: oploom.autograd.grad(ONES, None), "grad(): expected a Tensor or a sequence of Tensor"),
    (lambda: oploom.autograd.grad(ONES, ONES, [ONES] * 2), "grad(): expected one gradient for eac"),
    (lambda: checked(eps="a"), "gradcheck(): expected a number as eps, got str"),
    (lambda: checked(eps=0), "gradcheck(): expected eps above 0, got 0"),
    (lambda: checked(atol=-1), "gradcheck(): expected atol of at least 0, got -1"),
    (lambda: oploom.autograd.gradgradcheck(square, 3), "gradgradcheck(): expected at least one in"),
    (lambda: oploom.no_grad(False), "no_grad(): expected a function to decorate, got bool"),
    (lambda: oploom.set_grad_enabled("a"), "set_grad_enabled(): expected a bool as mode, got str"),
    (lambda: oploom.is_floating_point(3), "is_floating_point(): expected a Tensor as input, got i"),
    (lambda: oploom.nonzero(3, as_tuple=True), "nonzero(): expected a Tensor as input, got int"),
    (lambda: oploom.set_printoptions("a"), "set_printoptions(): expected a number as precision, g"),
    (lambda: oploom.set_printoptions(profile=[]), "set_printoptions(): expected a profile of ['de"),
    (lambda: oploom.set_printoptions(sci_mode="a"), "set_printoptions(): expected a bool as sci_m"),
]


@pytest.mark.parametrize("call, begins", MESSAGES, ids=[m[1].partition(":")[0] for m in MESSAGES])
def test_a_message_names_what_was_called(call, begins):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call()
    assert str(caught.value).startswith(begins)
    assert ONES.tolist() == [1, 1, 1] and WHOLE.tolist() == [1, 1, 1] and SAME.tolist() == [1, 1, 1]
    assert LINE.tolist() == [0, 1, 2, 3]
