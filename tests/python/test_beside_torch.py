"""Expressions that oploom and PyTorch evaluate in one process, with one outcome.

Each is Python text over T, the library, F, its nn.functional, and what `outcome` below names. Values,
dtypes and shapes must agree; where PyTorch refuses, oploom must, too, in words of its own.
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

def gradient(T, f, x):
    x = x.clone().requires_grad_()
    return T.autograd.grad(f(x), [x])[0]

def set_part(z, name, value):
    setattr(z, name, value)
    return z

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
    names["z"] = T.tensor([1 + 2j, 3 - 4j])
    names["p"] = T.tensor([0.25, 0.5])
    names["q"] = T.tensor([0.5, 0.75])
    names["n"] = T.tensor([1, 0])
    names["new"] = lambda dtype: T.empty(0, dtype=dtype)
    names["gradient"] = lambda f, x: gradient(T, f, x)
    names["set_part"] = lambda name, value: set_part(names["z"], name, value)
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

# Indices mean nothing in another dtype, and the other outputs are not converted to, either.
OUTPUTS = [
    f"T.{call}, out=(new({values}), new({indices})))"
    for call in ("sort(m", "sort(m, stable=True", "topk(m, 2", "max(m, 1", "min(m, 1")
    for values, indices in (("T.float32", "T.int64"), ("T.float32", "T.float32"),
                            ("T.float32", "T.int32"), ("T.float64", "T.int64"))
] + [
    f"T.{call}, out=new({dtype}))"
    for call in ("argmax(m, 1", "argmin(m, 1", "nonzero(m")
    for dtype in ("T.int64", "T.int32", "T.float32")
]  # fmt: skip
NORMS = [
    "T.norm(m)", "T.norm(m, p='fro')", "T.norm(m, p='fro', dim=1)", "T.norm(m, None)",
    "T.norm(m, p='fro', dim=(0, 1), keepdim=True)", "T.norm(m, p='abc')", "T.norm(m, 1)",
    "T.norm(m, 3, 1, True)", "T.norm(m, 2, 1, dtype=T.float64)", "T.norm(m, 1, out=new(T.float32))",
    "m.norm()", "m.norm('fro')", "m.norm(dim=1)", "m.norm(1, 0)", "m.norm(p=float('inf'))",
    "m.norm(3, [0, 1])", "m.norm(2, 1, True, T.float64)",
]  # fmt: skip
NO_DIMENSIONS = [
    f"T.{name}({arguments})"
    for name in ("amax", "amin")
    for arguments in ("m", "m, ()", "m, dim=()", "m, dim=None", "m, dim=(), keepdim=True",
                      "T.ones(0, 3)", "T.ones(0, 3), 1", "T.ones(0, 3), dim=None", "m, dim='a'")
]  # fmt: skip
PLACES = [
    "T.where(m > 2)", "T.where(T.tensor(2.0))", "T.where(T.tensor(False))",
    "T.where(T.zeros(2, 0, 3))", "T.where(m > 2, m)", "m[T.where(m > 2)]", "T.nonzero(m > 2)",
    "T.nonzero(m > 2, as_tuple=True)", "T.nonzero(m > 2, as_tuple=False)",
    "T.nonzero(m, out=new(T.int64), as_tuple=True)", "(m > 2).nonzero()",
    "(m > 2).nonzero(as_tuple=True)", "T.tensor(3).nonzero(as_tuple=True)", "m.nonzero(True)",
    "T.nonzero(T.tensor(0), as_tuple=True)", "T.nonzero(T.zeros(2, 0, 3), as_tuple=True)",
]  # fmt: skip
DTYPES = [
    "T.result_type(T.tensor([1, 2]), 1.0)", "T.result_type(T.tensor([1.0]), 1j)",
    "T.result_type(T.tensor([1], dtype=T.uint8), T.tensor(1))", "T.result_type(1, 1.0)",
    "T.result_type(T.tensor([1], dtype=T.uint8), T.tensor([1], dtype=T.int8))",
    "T.result_type(T.tensor(1.0, dtype=T.float64), T.tensor([1.0]))", "T.result_type(1, True)",
    "T.result_type(1.0, m.half())", "T.result_type(1j, True)", "T.result_type(True, m)",
    "T.can_cast(T.float64, T.int32)", "T.can_cast(T.int32, T.float32)",
    "T.can_cast(T.complex64, T.float32)", "T.can_cast(T.int64, T.bool)",
    "T.can_cast(T.float64, to=T.float32)", "T.promote_types(T.int32, T.float32)",
    "T.promote_types(T.uint8, T.int8)", "T.promote_types(type1=T.float16, type2=T.bfloat16)",
    "T.is_complex(z)", "T.is_complex(m)", "T.is_floating_point(z)", "T.is_floating_point(m)",
]  # fmt: skip
# Without what PyTorch 1.13 lacks (remainder and bits of a number, with out=) and oploom does (complex32).
NUMBER_FIRST = [
    f"T.{name}({number}, {tensor})"
    for name in ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide",
                 "remainder", "floor_divide", "bitwise_and", "bitwise_or", "bitwise_xor",
                 "bitwise_left_shift", "bitwise_right_shift")
    for number in ("5", "2.5", "True", "2j")
    for tensor in ("x", "T.tensor([1, 2])", "T.tensor([1, 2], dtype=T.uint8)",
                   "T.tensor([True, True])", "z", "T.tensor(3)", "m.half()")
    if (number, tensor) != ("2j", "m.half()")
] + [
    "T.add(2, x, alpha=3)", "T.sub(2, x, alpha=3)", "T.subtract(2, x, alpha=0.5)",
    "T.div(2, x, rounding_mode='floor')", "T.divide(7, T.tensor([2, -2]), rounding_mode='trunc')",
    "T.div(2, x, rounding_mode=None)", "T.div(2, T.tensor([0]), rounding_mode='floor')",
    "T.mul(2, x, out=new(T.float32))", "T.add(2, x, alpha=2, out=new(T.float64))",
    "T.div(2, x, rounding_mode='floor', out=new(T.float32))", "T.sub(2, x, out=new(T.int64))",
    "T.remainder(5, T.tensor([0]))", "gradient(lambda x: T.div(5, x).sum(), x)",
    "gradient(lambda x: T.sub(5, x, alpha=2).sum(), x)", "gradient(lambda x: T.mul(5, x).sum(), x)",
    "second(lambda x: T.div(5, x))", "T.mul(T.tensor(2.0), T.tensor([1, 2]))",
    "gradient(lambda t: T.mul(t, x).sum(), T.tensor(2.0))",
    "gradient(lambda t: T.pow(t, p).sum(), T.tensor(2.0))",
]  # fmt: skip
COMPLEX = [
    "z.real", "z.imag", "m.imag", "m.real is m", "z.real.data_ptr() == z.data_ptr()",
    "set_part('real', T.tensor([9.0, 8.0]))", "set_part('imag', T.tensor([9.0, 8.0]))",
    "set_part('imag', 1)", "set_part('real', T.tensor([1.0, 2.0, 3.0]))",
    "T.complex(m, 2 * m)", "T.complex(m, m.double())", "T.complex(m.long(), m.long())",
    "T.complex(m, m[0])", "T.complex(m, m, out=new(T.complex64))", "T.polar(m, m / 3)",
    "T.polar(m, m.double())",
    "gradient(lambda z: (2 * z.real + 3 * z.imag).sum(), z)",
    "gradient(lambda x: T.view_as_real(T.complex(x, x * x)).sum(), x)",
    "gradient(lambda p: T.polar(p, p).real.sum(), p)",
    "gradient(lambda p: T.polar(p, p).imag.sum(), p)",
    "T.sinc(z)", "T.sinc(T.tensor([0j, 0.25, 2 - 1j]))", "T.special.sinc(z.to(T.complex128))",
    "gradient(lambda z: T.sinc(z).real.sum(), z)",
] + [
    f"(lambda r: (r.dtype, r.shape[0]))({call})"
    for dtype in ("T.complex64", "T.complex128")
    for call in (f"T.rand(2, dtype={dtype})", f"T.randn(2, dtype={dtype})",
                 f"T.rand_like(T.zeros(2, dtype={dtype}))",
                 f"T.zeros(3, dtype={dtype}).uniform_(-1, 1)")
]  # fmt: skip
# Where oploom takes more than PyTorch does, as integers and flags in place of numbers, it is not
# asked to refuse.
LOSSES = [
    f"F.{name}(p, {target}, reduction='{reduction}')"
    for name, targets in (
        ("mse_loss", ("q", "q.double()", "q.half()", "q.bfloat16()", "n", "n > 0")),
        ("l1_loss", ("q", "q.double()", "q.half()", "n")),
        ("smooth_l1_loss", ("q", "q.double()", "q.half()", "n", "n > 0")),
        ("huber_loss", ("q", "q.half()", "n", "n > 0")),
        ("kl_div", ("q", "q.double()")),
        ("binary_cross_entropy", ("q",)),
        ("binary_cross_entropy_with_logits", ("q", "q.double()")),
        ("cross_entropy", ("q", "q.double()", "q.half()")),
    )
    for target in targets
    for reduction in ("none", "mean", "sum")
] + [
    f"gradient(lambda p: F.{name}(p{to}, {target}), p)"
    for name in ("l1_loss", "smooth_l1_loss", "kl_div")
    for to, target in ((".double()", "q"), ("", "q.double()"), ("", "q"))
] + [
    "F.mse_loss(n, p)", "F.mse_loss(p.double(), q)", "F.mse_loss(p, q, reduction='other')",
]  # fmt: skip

EXPRESSIONS = [
    *(f"second(lambda x: {text})" for text in PIECEWISE_LINEAR + WITHOUT_SECOND),
    *OUTPUTS, *NORMS, *NO_DIMENSIONS, *PLACES, *DTYPES, *NUMBER_FIRST,
    *COMPLEX, *LOSSES,
]  # fmt: skip


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
