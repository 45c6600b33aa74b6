"""Python bindings: generated/python/<Family>.cpp, the number protocol, and the type stubs.

One C++ function serves all overloads of a Python name. Its signatures are text in the schema
language, which the parser in aten/python reads and error messages show; what is generated below
them is the call of the operator with each argument converted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Sequence

import jinja2

from codegen.backend import python_pyi, text, types
from codegen.backend.model import Argument, Model, Operator, Package, Type

# Submodules of oploom._C: python_module in the YAML -> their names.
MAIN_MODULE = ""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a Python signature."""

    name: str
    type_text: str  # schema language: Tensor?, int[2]
    default: Optional[str]  # schema language, None if required
    kwarg_only: bool
    argument: Optional[Argument]  # None for `out` and `requires_grad`

    @property
    def text(self) -> str:
        shown = f"{self.type_text} {self.name}"
        return shown if self.default is None else f"{shown}={self.default}"


@dataclass
class Signature:
    """A functional, in-place or mutable operator together with its `out=` form."""

    op: Operator
    out: Optional[Operator]
    parameters: list[Parameter] = field(default_factory=list)

    @property
    def use(self) -> str:
        if self.op.is_method and self.op.is_function:
            return "kBoth"
        return "kMethod" if self.op.is_method else "kFunction"

    @property
    def text(self) -> str:
        return f"{self.op.base}({parameter_list(self.parameters)})"

    def index(self, name: str) -> int:
        return next(i for i, p in enumerate(self.parameters) if p.name == name)


@dataclass
class Function:
    """All signatures of one Python name in one module."""

    name: str
    module: str
    family: str
    signatures: list[Signature]

    @property
    def identifier(self) -> str:
        return f"{self.module}_{self.name}" if self.module else f"py_{self.name}"

    @property
    def is_function(self) -> bool:
        return any(s.op.is_function for s in self.signatures)

    @property
    def is_method(self) -> bool:
        return self.module == MAIN_MODULE and any(s.op.is_method for s in self.signatures)


def parameter_list(parameters: Sequence[Parameter]) -> str:
    parts: list[str] = []
    for parameter in parameters:
        if parameter.kwarg_only and "*" not in parts:
            parts.append("*")
        parts.append(parameter.text)
    return ", ".join(parts)


def type_text(type: Type) -> str:
    """The type in the schema language, without what only C++ tells apart."""
    base = type.base
    if type.list:
        inner = base + ("?" if type.elem_optional else "")
        size = "" if type.list_size is None else str(type.list_size)
        return f"{inner}[{size}]" + ("?" if type.list_optional else "")
    return base + ("?" if type.optional else "")


def make_signature(op: Operator, out: Optional[Operator]) -> Signature:
    signature = Signature(op, out)
    for argument in op.inputs:
        signature.parameters.append(
            Parameter(argument.name, type_text(argument.type), argument.default,
                      argument.kwarg_only, argument)
        )
    if out is not None:
        kind = "Tensor" if len(out.outs) == 1 else f"Tensor[{len(out.outs)}]"
        signature.parameters.append(Parameter("out", kind, "None", True, None))
    if op.tensor_options:
        signature.parameters.append(Parameter("requires_grad", "bool", "False", True, None))
    return signature


# Where two overloads take the same Python objects, the more specific one is tried first.
_RANK = {"Tensor": 0, "int": 2, "bool": 3, "float": 4, "Scalar": 5}


def specificity(signature: Signature) -> tuple:
    ranks = []
    rank_of_self = []
    for parameter in signature.parameters:
        if parameter.kwarg_only or parameter.argument is None:
            continue
        kind = parameter.argument.type
        rank = (1 if kind.base == "Tensor" else 6) if kind.list else _RANK.get(kind.base, 7)
        (rank_of_self if parameter.name == "self" else ranks).append(rank)
    return (ranks, rank_of_self, signature.op.name)


def functions(model: Model) -> list[Function]:
    """Every Python function and method, sorted by module and name."""
    out_of: dict[str, Operator] = {}
    for op in model.operators:
        if op.kind == "out" and op.group != op.name:
            out_of[op.group] = op
    made: dict[tuple[str, str], Function] = {}
    for op in model.operators:
        paired = op.kind == "out" and op.group in model.by_name and op.group != op.name
        if paired or op.internal or not (op.is_function or op.is_method):
            continue
        module = op.python_module or MAIN_MODULE
        out = out_of.get(op.name)
        # A method takes no out=; that form is C++'s alone, as in the field.
        if out is not None and (
            not op.is_function or (out.python_module or MAIN_MODULE) != module
        ):
            out = None
        known = made.setdefault((module, op.base), Function(op.base, module, op.family, []))
        known.signatures.append(make_signature(op, out))
    for function in made.values():
        function.signatures.sort(key=specificity)
    return [made[key] for key in sorted(made)]


# ---- C++ ----

_ACCESSORS = {
    "Tensor": "tensor",
    "Scalar": "scalar",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "ScalarType": "scalar_type",
    "Layout": "layout",
    "Device": "device",
    "MemoryFormat": "memory_format",
    "Generator": "generator",
    "str": "string",
}
_LIST_ACCESSORS = {"int": "integers", "float": "numbers", "Scalar": "scalars"}


def conversion(argument: Argument, index: int) -> str:
    """The C++ expression for an argument of the operator."""
    kind = argument.type
    default = types.default_value(argument)
    if argument.default == "None":
        default = None
    if kind.list:
        if kind.base == "Tensor":
            return f"a.optional_tensors({index})" if kind.elem_optional else f"a.tensors({index})"
        if kind.base == "bool" and kind.list_size is not None:
            return f"a.booleans<{kind.list_size}>({index})"
        accessor = _LIST_ACCESSORS.get(kind.base)
        if accessor is None:
            raise types.UnsupportedType(f"schema type '{kind.text}' has no Python form")
        size = f", {kind.list_size}" if kind.base == "int" and kind.list_size else ""
        if kind.list_optional:
            return f"a.optional_{accessor}({index}{size})"
        if default is not None and kind.base == "int":
            values = default if default.startswith("{") else "{" + default + "}"
            return f"a.{accessor}_or({index}, {values}{size})"
        return f"a.{accessor}({index}{size})"
    accessor = _ACCESSORS.get(kind.base)
    if accessor is None:
        raise types.UnsupportedType(f"schema type '{kind.text}' has no Python form")
    if argument.is_write:
        return f"a.mutable_tensor({index})"
    if kind.optional and (default is None or argument.default is None):
        return f"a.optional_{accessor}({index})"
    if default is not None and kind.base != "Tensor":
        return f"a.{accessor}({index}, {default})"
    return f"a.{accessor}({index})"


def _caller(op: Operator) -> str:
    if op.is_view:
        return "call_view"
    return "call" if op.takes_tensors else "call_factory"


def _call(op: Operator, conversions: Sequence[str], indent: int, tail: str) -> str:
    """`call<_ops::add_Tensor>(...)` and what closes the statement."""
    return text.wrapped(f"{_caller(op)}<_ops::{op.identifier}>(", conversions, tail, indent)


def _named(op: Operator) -> bool:
    return len(op.returns) > 1 and all(r.name for r in op.returns)


def _statement(signature: Signature, op: Operator, conversions: list[str], indent: int) -> str:
    """Converts the arguments, calls the operator and returns its result as a Python object."""
    if not op.returns:
        pad = " " * indent
        return _call(op, conversions, indent, ");") + f"\n{pad}Py_RETURN_NONE;"
    grad = ""
    if signature.op.tensor_options:
        grad = f", a.boolean({signature.index('requires_grad')}, false)"
    head = "return to_python("
    if _named(op):
        head = "return to_python(type, "
    if grad:
        head += "with_requires_grad("
    call = f"{head}{_caller(op)}<_ops::{op.identifier}>("
    tail = ")" + (grad + ")" if grad else "") + ");"
    return text.wrapped(call, conversions, tail, indent)


def _body(package: Package, signature: Signature, indent: int) -> list[str]:
    lines = []
    op = signature.op
    if _named(op):
        names = [f'"{package.python}.return_types"', f'"{op.base}"']
        lines.append(text.wrapped("static PyTypeObject* type = return_type(", names, ");", indent))
    if signature.out is not None:
        lines += _out_call(signature, indent)
    conversions = [
        conversion(p.argument, i)
        for i, p in enumerate(signature.parameters)
        if p.argument is not None
    ]
    lines.append(_statement(signature, op, conversions, indent))
    return lines


def _out_call(signature: Signature, indent: int) -> list[str]:
    out = signature.out
    assert out is not None
    position = signature.index("out")
    conversions = [conversion(a, signature.index(a.name)) for a in out.inputs]
    pad = " " * indent
    lines = [f"{pad}if (a.given({position})) {{"]
    if signature.op.tensor_options:
        checked = [
            f'"{out.base}"',
            f"a.mutable_tensor({position})",
            f"a.optional_scalar_type({signature.index('dtype')})",
            f"a.optional_device({signature.index('device')})",
            f"a.boolean({signature.index('requires_grad')}, false)",
        ]
        lines.append(text.wrapped("check_out(", checked, ");", indent + 2))
    if len(out.outs) == 1:
        conversions.append(f"a.mutable_tensor({position})")
    else:
        lines.append(f"{pad}  auto outs = a.outs<{len(out.outs)}>({position});")
        conversions += [f"outs[{i}]" for i in range(len(out.outs))]
    lines.append(_statement(signature, out, conversions, indent + 2))
    lines.append(f"{pad}}}")
    return lines


def documentation(function: Function) -> str:
    """The docstring: every signature, then the text and the examples of the YAML."""
    lines = [
        f"{s.text} -> {python_pyi.return_text(s.op)}"
        for s in function.signatures
    ]
    seen: list[str] = []
    for signature in function.signatures:
        doc = signature.op.doc.strip()
        if doc and doc not in seen:
            seen.append(doc)
    for signature in function.signatures:
        if signature.op.example:
            seen.append(signature.op.example.rstrip())
    for doc in seen:
        lines += ["", *doc.split("\n")]
    return "\n".join(lines)


def _doc_literal(doc: str, indent: int) -> str:
    lines = doc.split("\n")
    pad = "\n" + " " * indent
    pieces = []
    for i, line in enumerate(lines):
        end = "\\n" if i + 1 < len(lines) else ""
        escaped = text.literal(line, indent)
        pieces.append(escaped[:-1] + end + '"')
    return pad.join(pieces)


def _signature_entry(signature: Signature) -> str:
    head = f"    {{{signature.use},"
    line = f'{head} "{signature.text}"}},'
    if len(line) <= text.WIDTH:
        return line
    return f"{head}\n     {text.literal(signature.text, 5)}}},"


def _view(package: Package, function: Function) -> dict:
    """What the template shows of a function."""
    schemas = []
    for signature in function.signatures:
        schemas.append(signature.op.schema)
        if signature.out is not None:
            schemas.append(signature.out.schema)
    return {
        "name": function.name,
        "identifier": function.identifier,
        "module": function.module,
        "is_function": function.is_function,
        "is_method": function.is_method,
        "schemas": [text.comment(s) for s in schemas],
        "signatures": [_signature_entry(s) for s in function.signatures],
        "head": text.wrapped(
            f"PyObject* {function.identifier}(",
            ["PyObject* self", "PyObject* const* args", "Py_ssize_t nargs", "PyObject* kwnames"],
            ") {",
        ),
        "cases": [_body(package, s, 6 if len(function.signatures) > 1 else 2) for s in function.signatures],
        "doc": _doc_literal(documentation(function), 6),
    }


# ---- The number protocol ----

# Slot of PyNumberMethods, operator, Python's name of the method.
BINARY_SLOTS = (
    ("add", "add", "add"),
    ("subtract", "sub", "sub"),
    ("multiply", "mul", "mul"),
    ("true_divide", "div", "truediv"),
    ("floor_divide", "floor_divide", "floordiv"),
    ("remainder", "remainder", "mod"),
    ("matrix_multiply", "matmul", "matmul"),
    ("and", "bitwise_and", "and"),
    ("or", "bitwise_or", "or"),
    ("xor", "bitwise_xor", "xor"),
    ("lshift", "bitwise_left_shift", "lshift"),
    ("rshift", "bitwise_right_shift", "rshift"),
    ("power", "pow", "pow"),
)
UNARY_SLOTS = (("negative", "neg", "neg"), ("invert", "bitwise_not", "invert"),
               ("absolute", "abs", "abs"))
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")
_TENSOR_OVERLOADS = ("Tensor", "Tensor_Tensor", "")
_SCALAR_OVERLOADS = ("Scalar", "Tensor_Scalar")


def _overload(model: Model, base: str, overloads: Sequence[str], first: str,
              second: str) -> Optional[Operator]:
    """The overload whose first two arguments have these types, and whose others have defaults."""
    for overload in overloads:
        op = model.by_name.get(f"{base}.{overload}" if overload else base)
        if op is None or len(op.inputs) < 2:
            continue
        kinds = [a.type.text.split("(")[0] for a in op.inputs[:2]]
        rest = all(a.default is not None for a in op.inputs[2:])
        if kinds == [first, second] and rest:
            return op
    return None


def _lambda(op: Optional[Operator], first: str, second: str) -> str:
    """A C++ lambda of two operands that calls the operator; `kNone` where there is none."""
    if op is None:
        return "kNone"
    rest = [types.default_value(a) or "" for a in op.inputs[2:]]
    call = ", ".join(["x", "y", *rest])
    return (
        f"[]({first} x, {second} y) -> decltype(auto) {{\n"
        f"        return call<_ops::{op.identifier}>({call});\n"
        f"      }}"
    )


_T, _M, _S = "const Tensor&", "Tensor&", "const Scalar&"


def _binary(model: Model, slot: str, base: str) -> Optional[dict]:
    tensors = _overload(model, base, _TENSOR_OVERLOADS, "Tensor", "Tensor")
    if tensors is None:
        return None
    scalar = _overload(model, base, _SCALAR_OVERLOADS, "Tensor", "Scalar")
    reverse = _overload(model, base, ("Scalar",), "Scalar", "Tensor")
    return {
        "slot": slot,
        "base": base,
        "calls": [_lambda(tensors, _T, _T), _lambda(scalar, _T, _S), _lambda(reverse, _S, _T)],
        "numbers": "false" if slot == "matrix_multiply" else "true",
        "root": tensors.root,
    }


def _inplace(model: Model, slot: str, base: str) -> Optional[dict]:
    name = base + "_"
    tensor = _overload(model, name, _TENSOR_OVERLOADS, "Tensor", "Tensor")
    if tensor is None:
        return None
    scalar = _overload(model, name, ("Scalar",), "Tensor", "Scalar")
    return {
        "slot": slot,
        "base": name,
        "calls": [_lambda(tensor, _M, _T), _lambda(scalar, _M, _S)],
        "root": tensor.root,
    }


def number_slots(model: Model) -> dict:
    """What the template of the number protocol shows; slots without an operator stay empty."""
    binary = [b for slot, base, _ in BINARY_SLOTS if (b := _binary(model, slot, base))]
    inplace = [b for slot, base, _ in BINARY_SLOTS if (b := _inplace(model, slot, base))]
    compare = [b for base in COMPARISONS if (b := _binary(model, base, base))]
    unary = [
        {"slot": slot, "base": base, "identifier": op.identifier, "root": op.root}
        for slot, base, _ in UNARY_SLOTS
        if (op := model.by_name.get(base))
    ]
    roots = sorted({e["root"] for e in [*binary, *inplace, *compare, *unary]})
    return {"binary": binary, "inplace": inplace, "compare": compare, "unary": unary,
            "roots": roots}


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    """One file for each family, the list of families, the number protocol and the stubs."""
    all_functions = functions(model)
    by_family: dict[str, list[Function]] = {}
    for function in all_functions:
        by_family.setdefault(function.family, []).append(function)
    outputs: dict[str, str] = {}
    package = model.package
    folder = f"{package.folder}/python"
    family_template = env.get_template("python_family.cpp.j2")
    for family in sorted(by_family):
        members = by_family[family]
        roots = sorted({
            op.root
            for f in members
            for s in f.signatures
            for op in (s.op, s.out)
            if op is not None
        })
        outputs[f"{folder}/{family}.cpp"] = family_template.render(
            family=family, functions=[_view(package, f) for f in members], roots=roots
        )
    families = sorted(by_family)
    outputs[f"{folder}/Families.cpp"] = env.get_template("python_families.cpp.j2").render(
        families=families
    )
    results = python_pyi.result_types(all_functions)
    template = env.get_template("python_return_types.py.j2")
    outputs[f"{folder}/{package.python}/return_types.py"] = template.render(results=results)
    if package.in_tree:
        outputs |= _extension_with_types(model, families, env)
    else:
        outputs |= _extension_of_operators(package, all_functions, env)
    outputs[f"{folder}/{package.python}/_C.pyi"] = python_pyi.render(model, all_functions, env)
    return outputs


def _extension_with_types(
    model: Model, families: Sequence[str], env: jinja2.Environment
) -> dict[str, str]:
    """oploom._C itself, whose hand-written part is in aten/python."""
    slots = env.get_template("python_number_slots.cpp.j2").render(**number_slots(model))
    sources = env.get_template("python_sources.cmake.j2").render(
        files=[*(f"{family}.cpp" for family in families), "Families.cpp", "NumberSlots.cpp"]
    )
    return {
        "generated/python/NumberSlots.cpp": slots,
        "generated/python/sources.cmake": sources,
    }


def _extension_of_operators(package: Package, made: Sequence[Function],
                            env: jinja2.Environment) -> dict[str, str]:
    """A package's extension module, and the Python package around it."""
    folder = f"{package.folder}/python"
    private = [f.name for f in made
               if f.module == MAIN_MODULE and f.is_function and f.name.startswith("_")]
    return {
        f"{folder}/Module.cpp": env.get_template("python_module.cpp.j2").render(),
        f"{folder}/{package.python}/__init__.py": env.get_template("python_init.py.j2").render(
            private=private),
        f"{folder}/{package.python}/py.typed": "",
    }
