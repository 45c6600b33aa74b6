"""Expressions that oploom and PyTorch evaluate in one process, with one outcome.

Each is Python text over T, the library, F, its nn.functional, and the names in SETUP. Values, dtypes
and shapes must agree; where PyTorch refuses, oploom must, too, in words of its own.
"""

import json

import pytest

from tests.python.with_torch import run_with_torch

PROGRAM = r"""
import json, sys, warnings
import oploom, torch

warnings.simplefilter("ignore")

def second(T, x, f):
    "The gradient of the sum of the gradient of the sum of f(x)."
    x = x.clone().requires_grad_()
    gradient, = T.autograd.grad(f(x).sum(), [x], create_graph=True)
    return T.autograd.grad(gradient.sum(), [x])[0]

def described(T, value):
    if isinstance(value, T.Tensor):
        elements = value.detach().resolve_conj() if T is torch else value.detach()
        if elements.is_complex() if T is torch else elements.dtype.is_complex:
            elements = T.view_as_real(elements)
        return [str(value.dtype).split(".")[-1], list(value.shape),
                elements.to(T.float64).tolist()]
    if isinstance(value, (tuple, list)):
        return [described(T, item) for item in value]
    return str(value).replace("torch.", "oploom.")

def outcome(T, text):
    names = {"T": T, "F": T.nn.functional}
    names["x"] = T.tensor([1.5, -2.25, 0.25])
    names["m"] = T.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
    names["second"] = lambda f: second(T, names["x"], f)
    names["new"] = lambda dtype: T.empty(0, dtype=dtype)
    try:
        return described(T, eval(text, names))
    except Exception as error:
        return "refused"

print(json.dumps([[outcome(oploom, text), outcome(torch, text)] for text in json.load(sys.stdin)]))
"""

PIECEWISE_LINEAR = [
    "T.relu(x)", "F.relu6(x)", "F.hardtanh(x)", "F.leaky_relu(x)", "F.threshold(x, 0.5, 1.0)",
    "F.hardshrink(x)", "F.softshrink(x)", "F.hardswish(x)", "F.elu(x)",
    "T.copysign(x, T.tensor([2.0]))", "T.relu(x) * x",
]  # fmt: skip
# Whose gradient is no function of what they are called on.
WITHOUT_SECOND = ["-x", "x * 2", "T.sign(x)", "T.floor(x)", "T.round(x)", "T.cumsum(x, 0)"]

EXPRESSIONS = [f"second(lambda x: {text})" for text in PIECEWISE_LINEAR + WITHOUT_SECOND]


@pytest.fixture(scope="module")
def outcomes():
    done = run_with_torch(PROGRAM, input=json.dumps(EXPRESSIONS))
    assert done.returncode == 0, done.stderr
    return dict(zip(EXPRESSIONS, json.loads(done.stdout)))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_outcome(text, outcomes):
    ours, theirs = outcomes[text]
    assert same(ours, theirs), f"{ours}, PyTorch {theirs}"


def same(ours, theirs):
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return ours == pytest.approx(theirs, rel=1e-6, nan_ok=True)
    return ours == theirs
