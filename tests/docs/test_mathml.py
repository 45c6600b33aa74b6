"""Typeset formulas say what the expression says: MathML is read back and evaluated."""

import math
import random
import xml.etree.ElementTree as ElementTree

import pytest
from scipy import special

from codegen.backend import mathml
from codegen.backend.mathml import Typesetter, leaf, parse

FUNCTIONS = {
    "ln": math.log, "σ": special.expit, "sin": math.sin, "cos": math.cos, "tanh": math.tanh,
    "erf": math.erf, "max": max, "min": min, "sgn": lambda x: (x > 0) - (x < 0),
    "ψ": special.digamma,
}
SIGNS = {"−": "-", "·": "*", "\u2062": "*", "\u2061": "", "=": "==", "≠": "!=", "≤": "<=",
         "≥": ">=", "∧": " and ", "∨": " or ", "¬": " not "}


def spoken(element):
    """MathML as a Python expression. Rows are read from left to right with the usual precedence, so
    that parentheses which are missing on the page are missing here."""
    parts = [spoken(child) for child in element]
    kind = element.tag
    if kind in ("math", "mrow", "mtd"):
        fence = element[0].text if len(element) and element[0].get("fence") else None
        if fence == "|":
            return f"abs({''.join(parts[1:-1])})"
        if fence in ("⌊", "⌈"):
            name = {"⌊⌋": "math.floor", "⌈⌉": "math.ceil", "⌊⌉": "round"}[fence + element[-1].text]
            return f"{name}({''.join(parts[1:-1])})"
        if fence == "{":
            return parts[1]
        return "".join(parts)
    if kind == "mo":
        return SIGNS.get(element.text, element.text)
    if kind == "mi":
        return {"π": "pi", "e": "e_"}.get(element.text, element.text)
    if kind == "mn":
        return element.text.replace("−", "-")
    if kind == "mtext":
        return ""
    if kind == "mfrac":
        return f"(({parts[0]})/({parts[1]}))"
    if kind == "msup":
        return f"{parts[0]}**({parts[1]})"
    if kind == "msqrt":
        return f"math.sqrt({''.join(parts)})"
    if kind == "msub":
        return {"log2": "math.log2", "log10": "math.log10"}[parts[0] + parts[1]]
    if kind == "mtable":
        text = parts[-1][0]
        for value, condition in reversed(parts[:-1]):
            text = f"(({value}) if ({condition}) else ({text}))"
        return f"({text})"
    assert kind == "mtr", kind
    return parts


LANGUAGE = {
    "sigmoid": special.expit, "log": math.log, "exp": math.exp, "sqrt": math.sqrt, "abs": abs,
    "rsqrt": lambda x: 1 / math.sqrt(x), "log1p": math.log1p, "expm1": math.expm1, "pow": pow,
    "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "erf": math.erf, "log2": math.log2,
    "relu": lambda x: max(x, 0), "maximum": max, "minimum": min, "floor": math.floor,
    "ceil": math.ceil, "round": round, "hypot": math.hypot, "log10": math.log10,
    "exp2": lambda x: 2**x, "sign": lambda x: (x > 0) - (x < 0),
}
# In the expression language, and in Python for the oracle.
EXPRESSIONS = [
    ("x - (y - z)", "x - (y - z)"),
    ("x - (y + z)", "x - (y + z)"),
    ("(x + y) * z", "(x + y) * z"),
    ("x * (y + z) * 2", "x * (y + z) * 2"),
    ("x / (y * z) / 3", "x / (y * z) / 3"),
    ("-x * y", "-x * y"),
    ("x * -y", "x * -y"),
    ("x - -y", "x - -y"),
    ("-(x + y)", "-(x + y)"),
    ("-(-x)", "x"),
    ("-(x + y) / z", "-(x + y) / z"),
    ("pow(x + y, z - 1)", "(x + y) ** (z - 1)"),
    ("pow(pow(x, y), z)", "(x ** y) ** z"),
    ("pow(x / y, 2)", "(x / y) ** 2"),
    ("pow(exp(x), y)", "exp(x) ** y"),
    ("-(x * x)", "-(x * x)"),
    ("(-x) * (-x)", "x * x"),
    ("(x + 1) * (x + 1)", "(x + 1) ** 2"),
    ("x * x * x", "x ** 3"),
    ("exp(-x * x / 2)", "exp(-x * x / 2)"),
    ("1 / (1 + exp(-x))", "sigmoid(x)"),
    ("x * sigmoid(x) * (1 - sigmoid(x))", "x * sigmoid(x) * (1 - sigmoid(x))"),
    ("log1p(exp(-abs(x - y)))", "log1p(exp(-abs(x - y)))"),
    ("expm1(x) * y", "expm1(x) * y"),
    ("x - expm1(y)", "x - expm1(y)"),
    ("rsqrt(x + 1) * x", "x / sqrt(x + 1)"),
    ("2 * hypot(x, y)", "2 * hypot(x, y)"),
    ("relu(x - 1) * y", "relu(x - 1) * y"),
    ("floor(x) + ceil(y) * round(z * 3)", "floor(x) + ceil(y) * round(z * 3)"),
    ("x > y ? x : z * (exp(x) - 1)", "x if x > y else z * (exp(x) - 1)"),
    ("x < 1 ? 1 : x < 2 ? y : z", "1 if x < 1 else y if x < 2 else z"),
    ("2 * (x > 1 ? x : y) + z", "2 * (x if x > 1 else y) + z"),
    ("(x > 1 || y > 1) && z > 1 ? 1 : 0", "1 if (x > 1 or y > 1) and z > 1 else 0"),
    ("x > 1 || y > 1 && !(z > 1) ? 1 : 0", "1 if x > 1 or (y > 1 and not z > 1) else 0"),
    ("1.1283791670955126 * exp(-x * x)", "2 / 3.141592653589793 ** 0.5 * exp(-x * x)"),
    ("x * 1.4426950408889634", "x / log(2)"),
    ("0.044715 * x + 1e-6", "0.044715 * x + 1e-6"),
    ("log2(x) * log10(y)", "log2(x) * log10(y)"),
    ("maximum(x, y) - minimum(y, z)", "max(x, y) - min(y, z)"),
]


def evaluated(text, values):
    element = ElementTree.fromstring(text)
    for part in element.iter():
        part.tag = part.tag.rpartition("}")[2]
    names = {"math": math, "pi": math.pi, "e_": math.e, **FUNCTIONS, **values}
    return eval(spoken(element), names)


@pytest.mark.parametrize("text, meant", EXPRESSIONS, ids=[e[0] for e in EXPRESSIONS])
def test_says_what_was_written(text, meant):
    tree = parse(text)
    assert tree is not None
    shown = mathml.math_element(Typesetter({}, frozenset(LANGUAGE)).set(tree))
    source = random.Random(text)
    for _ in range(20):
        values = {name: source.uniform(0.2, 3) for name in "xyz"}
        expected = eval(meant, {"max": max, "min": min, **LANGUAGE, **values})
        assert math.isclose(evaluated(shown, values), expected, rel_tol=1e-9), (shown, values)


@pytest.mark.parametrize("text", ["grad.mm(mat2)", "f(x", "x +", "a ? b", "grads[0]", "at::exp(x)",
                                  'f("text")', "x y", ""])
def test_other_cpp_is_no_expression(text):
    assert parse(text) is None


def test_what_repeats_is_named_once():
    tree = parse("(x * y + 1) * exp(x * y + 1) / (2 + (x * y + 1))")
    assert [n.operation for n in mathml.repeated([tree])] == ["add"]
    assert mathml.repeated([parse("sigmoid(x) + sigmoid(x) * sigmoid(x)")]) == []


def test_letters_are_never_shared():
    assert mathml.letters_for(["self", "input", "other"]) == {"self": "x", "other": "y"}


def test_unknown_functions_are_no_mathematics():
    typesetter = Typesetter({}, frozenset({"exp"}))
    assert typesetter.can_set(parse("exp(x) + 1"))
    assert not typesetter.can_set(parse("sum_backward(x) + 1"))
    assert leaf("-0.5").is_number and not leaf("x").is_number
