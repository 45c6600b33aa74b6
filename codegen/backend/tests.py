"""Tests: a class for each operator with a record, for oploom/testing/harness.py, and the examples
of all operators, for oploom/testing/examples.py."""

from __future__ import annotations

import keyword
import math
import pprint
from dataclasses import dataclass, replace
from typing import Any, Optional

import jinja2

from codegen.backend.model import Model, Operator, Program, Shape, ShapeTerm
from codegen.backend.text import comment

# Python values of the schema defaults that references may need by name.
CONSTANTS = {"None": "None", "True": "True", "False": "False", "Mean": "1", "Sum": "2",
             "contiguous_format": "None", "long": '"int64"', "float": '"float32"'}


# The tests of oploom.testing.harness.OperatorTests.
TESTS = ("test_values", "test_gradcheck", "test_gradgradcheck", "test_forward",
         "test_forward_over_reverse", "test_forward_inplace", "test_layouts", "test_out",
         "test_inplace", "test_meta", "test_shape", "test_capability", "test_errors")


@dataclass(frozen=True)
class TestClass:
    name: str  # TestAddTensor
    schema: str  # as a comment
    fields: list[str]  # keyword arguments of oploom.testing.samples.Operator, as source text
    defaults: str  # a dict, as source text
    removed: list[str]  # inherited tests that do not apply
    refuses: bool  # arguments that have no derivative: OperatorTests.check_underived is a test


def class_name(op: Operator) -> str:
    parts = op.identifier.split("_")
    return "Test" + "".join(part[:1].upper() + part[1:] for part in parts)


def default_value(text: str) -> str:
    if text in CONSTANTS:
        return CONSTANTS[text]
    if text.startswith("["):
        values = [default_value(value.strip()) for value in text[1:-1].split(",") if value.strip()]
        return f"[{', '.join(values)}]"
    try:
        number = float(text)
    except ValueError:
        return repr(text.strip("'\""))
    return text if math.isfinite(number) else f"float({text!r})"


# NumPy's and SciPy's names for the functions of the expression language that are not np.<name>.
_NUMPY = {
    "acos": "np.arccos",
    "acosh": "np.arccosh",
    "asin": "np.arcsin",
    "asinh": "np.arcsinh",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "atanh": "np.arctanh",
    "digamma": "sp.special.digamma",
    "erf": "sp.special.erf",
    "erfc": "sp.special.erfc",
    "erfcx": "sp.special.erfcx",
    "erfinv": "sp.special.erfinv",
    "i0": "sp.special.i0",
    "i0e": "sp.special.i0e",
    "i1": "sp.special.i1",
    "i1e": "sp.special.i1e",
    "lgamma": "sp.special.gammaln",
    "logit": "sp.special.logit",
    "mish": "(lambda x: x * np.tanh(np.logaddexp(x, 0)))",
    "ndtr": "sp.special.ndtr",
    "ndtri": "sp.special.ndtri",
    "polygamma": "sp.special.polygamma",
    "pow": "np.float_power",  # np.power() refuses negative powers of integers
    "sigmoid": "sp.special.expit",
    "select": "np.where",
    "softplus": "(lambda x: np.logaddexp(x, 0))",
    "and": "np.logical_and",
    "or": "np.logical_or",
    "not": "np.logical_not",
    "neg": "np.negative",
}
_NUMBERS = {"inf": "np.inf", "-inf": "-np.inf", "nan": "np.nan"}
_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">",
            "ge": ">=", "eq": "==", "ne": "!="}


def reference_name(name: str) -> str:
    """What references call an argument: `lambda_`, `np_` where its name means something in them."""
    return name + "_" if keyword.iskeyword(name) or name in ("np", "sp", "builtins") else name


def numpy_expression(program: Program) -> str:
    """What a program computes, as a Python expression of NumPy and SciPy."""
    values: dict[str, str] = {}

    def value_of(operand: str) -> str:
        if operand in values:
            return values[operand]
        return _NUMBERS.get(operand) or reference_name(operand)

    for instruction in program.instructions:
        arguments = [value_of(a) for a in instruction.arguments]
        symbol = _SYMBOLS.get(instruction.operation)
        if symbol:
            value = f"({arguments[0]} {symbol} {arguments[1]})"
        elif instruction.operation == "rsqrt":
            value = f"(1 / np.sqrt({arguments[0]}))"
        elif instruction.operation == "sigmoid_product":
            value = f"({arguments[0]} * sp.special.expit({arguments[1]}))"
        elif instruction.operation == "relu":
            value = f"np.maximum({arguments[0]}, 0)"
        else:
            function = _NUMPY.get(instruction.operation, f"np.{instruction.operation}")
            value = f"{function}({', '.join(arguments)})"
        values[instruction.name] = value
    return value_of(program.outputs[0])


def complete_record(op: Operator) -> Optional[dict[str, Any]]:
    """The operator's record; of an expression, NumPy's value of it is the reference."""
    if op.expression is None:
        return op.test
    record = dict(op.test or {})
    if not {"numpy", "oploom", "none"} & record.keys():
        record = {"numpy": numpy_expression(op.expression.program), **record}
        record.setdefault("dtypes", ["int64", "float32", "float64"])
    if numbers := missing_numbers(op, record):
        record["arguments"] = {**record.get("arguments", {}), **numbers}
    return record


def missing_numbers(op: Operator, record: dict[str, Any]) -> dict[str, Any]:
    """A value for each number of an expression that samples which are made up would lack: it has no
    default, the record says nothing of it, and no condition is laid on it."""
    if op.expression is None or "samples" in record:
        return {}
    domain = record.get("domain")
    said = {*record.get("arguments", {}), *(domain if isinstance(domain, dict) else ())}
    for requirement in op.expression.requirements:
        said.update(requirement.scalars)
    return {a.name: True if a.type.base == "bool" else 2 for a in op.inputs
            if a.default is None and not a.type.holds_tensors and a.name not in said}


def siblings(model: Model, op: Operator) -> list[Operator]:
    return [o for o in model.groups.get(op.name, ()) if o is not op]


def with_record(model: Model, op: Operator) -> Operator:
    """Where an operator that writes to `self` has a functional form, the record serves that, whose
    tests are those of the in-place form as well."""
    for other in model.groups.get(op.group, ()):
        if op.kind == "inplace" and other.kind == "functional" and other.autogen_from == op.name:
            return replace(other, test=op.test)
    return op


def test_class(model: Model, op: Operator) -> TestClass:
    record = complete_record(op)
    forms = siblings(model, op)
    out = next((o for o in forms if o.kind == "out"), None)
    changes_self = op.kind == "inplace" and "none" not in (record or {})
    inplace = changes_self or any(o.kind == "inplace" for o in forms)
    derivative = op.derivative
    if derivative is not None:
        differentiable = [n for g in derivative.inputs for n in g.names]
    elif op.is_composite_implicit and (record or {}).get("grad", True):
        differentiable = [a.name for a in op.arguments if a.type.holds_tensors]
    else:
        differentiable = []
    if (record or {}).get("grad") is False:
        differentiable = []
    parameters = [
        f"Parameter({a.name!r}, {a.type.text!r}" + (", kwarg_only=True)" if a.kwarg_only else ")")
        for a in op.inputs
    ]
    fields = [
        f"name={op.name!r},",
        f"base={op.base!r},",
        "parameters=(",
        *(f"    {p}," for p in parameters),
        "),",
        *pprint_field("record", record),
    ]
    if not op.is_function:
        fields.append("method_only=True,")
    if not model.package.in_tree:
        fields.append(f"module={model.package.python!r},")
        if op.python_module:
            fields.append(f"python_module={op.python_module!r},")
    if changes_self:
        fields.append("changes_self=True,")
    if "pointwise" in op.tags:
        fields.append("pointwise=True,")
    if op.shape is not None:
        fields += shape_field(op.shape)
    if inplace:
        fields.append("inplace=True,")
    if differentiable:
        fields.append(f"differentiable={tuple(differentiable)!r},")
    refused = tuple(a.name for a in op.underived)
    if refused:
        fields.append(f"underived={refused!r},")

    removed = []
    if not differentiable:
        removed += ["test_gradcheck", "test_gradgradcheck", "test_forward",
                    "test_forward_over_reverse"]
    if out is None or not op.is_function or changes_self:
        removed.append("test_out")
    if not inplace:
        removed.append("test_inplace")
    if not inplace or not differentiable:
        removed.append("test_forward_inplace")
    if op.shape is None:
        removed.append("test_shape")
    if not (record or {}).get("errors"):
        removed.append("test_errors")
    if not op.takes_tensors:
        removed += ["test_layouts", "test_meta"]
    if not op.returns_tensors:
        removed.append("test_meta")
    if "none" in (record or {}):
        removed = [name for name in TESTS if name != "test_values"]
    defaults = {a.name: default_value(a.default) for a in op.inputs if a.default is not None}
    text = ", ".join(f"{name!r}: {value}" for name, value in defaults.items())
    return TestClass(class_name(op), comment(op.schema, mark="# "), fields, "{" + text + "}",
                     sorted(set(removed), key=TESTS.index),
                     bool(refused) and "none" not in (record or {}))


def shape_field(shape: Shape) -> list[str]:
    def terms(values: tuple[ShapeTerm, ...]) -> str:
        return "(" + "".join(f"{term(v)}, " for v in values).rstrip() + ")"

    def term(value: ShapeTerm) -> str:
        if value.kind == "dims":
            return f"Dims({value.sizes!r})"
        return "None" if value.kind == "any" else f"{value.kind.capitalize()}({value.argument!r})"

    return [f"shape=Shape({terms(shape.inputs)}, {terms(shape.results)}),"]


def pprint_field(name: str, value) -> list[str]:
    lines = pprint.pformat(value, width=88, sort_dicts=False).splitlines()
    return [f"{name}={lines[0]}", *lines[1:-1], lines[-1] + ","] if len(lines) > 1 else [
        f"{name}={lines[0]},"
    ]


def imports(classes: list[TestClass]) -> list[str]:
    """What the classes use of oploom.testing.samples."""
    fields = "\n".join(line for c in classes for line in c.fields)
    names = ("Dims", "Like", "Operator", "Parameter", "Reduced", "Shape")
    return [n for n in names if n == "Operator" or f"{n}(" in fields]


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    template = env.get_template("tests.py.j2")
    files = {}
    for family, operators in model.families.items():
        tested = [
            op
            for op in operators
            if op.kind == "functional" and op.autogen_from is None and not op.internal
        ]
        tested += [with_record(model, op) for op in operators
                   if op.kind != "functional" and op.test is not None]
        if tested:
            classes = [test_class(model, op) for op in tested]
            files[f"{model.package.folder}/tests/test_{family}.py"] = template.render(
                family=family, classes=classes, imports=imports(classes)
            )
    examples = [op for op in model.operators if op.example]
    if examples:
        path = f"{model.package.folder}/tests/test_examples.py"
        files[path] = env.get_template("tests_examples.py.j2").render(
            examples=[
                {"name": op.name, "lines": [repr(s) for s in op.example.rstrip().split("\n")]}
                for op in examples
            ]
        )
    return files
