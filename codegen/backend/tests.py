"""generated/tests: a test class for each operator with a record, for tests/ops/harness.py, and the
examples of all operators, for tests/ops/examples.py."""

from __future__ import annotations

import pprint
from dataclasses import dataclass

import jinja2

from codegen.backend.model import Model, Operator
from codegen.backend.text import comment

# Python values of the schema defaults that references may need by name.
CONSTANTS = {"None": "None", "True": "True", "False": "False", "Mean": "1", "Sum": "2",
             "contiguous_format": "None", "long": '"int64"', "float": '"float32"'}


# The tests of tests.ops.harness.OperatorTests.
TESTS = ("test_values", "test_gradcheck", "test_gradgradcheck", "test_layouts", "test_out",
         "test_inplace", "test_meta", "test_capability", "test_errors")


@dataclass(frozen=True)
class TestClass:
    name: str  # TestAddTensor
    schema: str  # as a comment
    fields: list[str]  # keyword arguments of tests.ops.samples.Operator, as source text
    defaults: str  # a dict, as source text
    removed: list[str]  # inherited tests that do not apply


def class_name(op: Operator) -> str:
    parts = op.identifier.split("_")
    return "Test" + "".join(part[:1].upper() + part[1:] for part in parts)


def default_value(text: str) -> str:
    if text in CONSTANTS:
        return CONSTANTS[text]
    if text.startswith("["):
        return text
    try:
        float(text)
        return text
    except ValueError:
        return repr(text.strip("'\""))


def siblings(model: Model, op: Operator) -> list[Operator]:
    return [o for o in model.operators if o.group == op.name and o is not op]


def test_class(model: Model, op: Operator) -> TestClass:
    record = op.test
    forms = siblings(model, op)
    out = next((o for o in forms if o.kind == "out"), None)
    inplace = any(o.kind == "inplace" for o in forms)
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
    if "pointwise" in op.tags:
        fields.append("pointwise=True,")
    if inplace:
        fields.append("inplace=True,")
    if differentiable:
        fields.append(f"differentiable={tuple(differentiable)!r},")

    removed = []
    if not differentiable:
        removed += ["test_gradcheck", "test_gradgradcheck"]
    if out is None:
        removed.append("test_out")
    if not inplace:
        removed.append("test_inplace")
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
                     sorted(set(removed), key=TESTS.index))


def pprint_field(name: str, value) -> list[str]:
    lines = pprint.pformat(value, width=88, sort_dicts=False).splitlines()
    return [f"{name}={lines[0]}", *lines[1:-1], lines[-1] + ","] if len(lines) > 1 else [
        f"{name}={lines[0]},"
    ]


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    template = env.get_template("tests.py.j2")
    files = {}
    for family, operators in model.families.items():
        tested = [
            op
            for op in operators
            if op.kind == "functional" and op.autogen_from is None and not op.internal
        ]
        tested += [op for op in operators if op.kind != "functional" and op.test is not None]
        if tested:
            classes = [test_class(model, op) for op in tested]
            files[f"generated/tests/test_{family}.py"] = template.render(
                family=family, classes=classes
            )
    examples = [op for op in model.operators if op.example]
    if examples:
        files["generated/tests/test_examples.py"] = env.get_template("tests_examples.py.j2").render(
            examples=[{"name": op.name, "lines": [repr(line) for line in op.example.rstrip().split("\n")]}
                      for op in examples]
        )
    return files
