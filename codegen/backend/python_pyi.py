"""The type stubs of oploom._C: the generated functions and methods beside hand-written ones."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING, NamedTuple, Sequence

import jinja2

from codegen.backend.model import Model, Operator, Return, Type

if TYPE_CHECKING:
    from codegen.backend.python import Function, Parameter, Signature

# Builtins are spelled with an underscore: Tensor has methods called int, float and bool, and the
# module has dtypes of these names.
_TYPES = {
    "Tensor": "Tensor",
    "Scalar": "_number",
    "int": "_int",
    "float": "_float",
    "bool": "_bool",
    "str": "_str",
    "ScalarType": "_dtype",
    "Layout": "_layout",
    "Device": "_device",
    "MemoryFormat": "_memory_format",
    "Generator": "Generator",
}
_DEFAULTS = {"Mean": "1", "contiguous_format": "...", "preserve_format": "...", "strided": "..."}


def annotation(type: Type) -> str:
    """The type of a parameter."""
    name = _TYPES[type.base]
    if type.list:
        if type.elem_optional:
            name = f"Optional[{name}]"
        listed = f"Sequence[{name}]"
        if type.list_size:
            listed = f"Union[{name}, {listed}]"
        return f"Optional[{listed}]" if type.list_optional else listed
    return f"Optional[{name}]" if type.optional else name


def _one_return(ret: Return) -> str:
    name = _TYPES[ret.type.base]
    name = {"_device": "device", "_dtype": "dtype"}.get(name, name)
    return f"Tuple[{name}, ...]" if ret.type.list else name


def return_annotation(op: Operator) -> str:
    if not op.returns:
        return "None"
    if len(op.returns) == 1:
        return _one_return(op.returns[0])
    if all(r.name for r in op.returns):
        return f"_return_types.{op.base}"
    return f"Tuple[{', '.join(_one_return(r) for r in op.returns)}]"


def return_text(op: Operator) -> str:
    """The result as docstrings state it."""
    named = len(op.returns) > 1
    parts = [f"{_one_return(r)} {r.name}" if named and r.name else _one_return(r)
             for r in op.returns]
    shown = [p.replace("_number", "number").replace("_", "", p.startswith("_")) for p in parts]
    if not shown:
        return "None"
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"


def _parameter(parameter: "Parameter", name: str) -> str:
    argument = parameter.argument
    if argument is not None:
        kind = annotation(argument.type)
    elif parameter.name == "out":
        kind = "Tensor" if parameter.type_text == "Tensor" else "Sequence[Tensor]"
    else:
        kind = "_bool"
    if parameter.default is None:
        return f"{name}: {kind}"
    default = _DEFAULTS.get(parameter.default, parameter.default)
    if parameter.default in ("None", "[]") and not kind.startswith("Optional"):
        kind = f"Optional[{kind}]"
    if default.startswith("["):
        default = "(" + default[1:-1] + ("," if default != "[]" else "") + ")"
    if default == "-inf" or not (default in ("None", "True", "False", "...") or default[0] in "-0123456789('\""):
        default = "..."
    if kind.startswith(("Sequence", "Union")) and default[0] in "-0123456789":
        kind = f"Union[_int, {kind}]" if not kind.startswith("Union") else kind
    return f"{name}: {kind} = {default}"


def _takes_varargs(signature: "Signature", method: bool) -> bool:
    """Whether sizes can be given one by one: x.view(2, 3)."""
    positional = [
        p
        for p in signature.parameters
        if not p.kwarg_only and not (method and p.name == "self")
    ]
    if len(positional) != 1 or positional[0].argument is None:
        return False
    kind = positional[0].argument.type
    return kind.list and kind.base == "int"


def _declarations(signature: "Signature", method: bool) -> list[str]:
    """`(self, other: Tensor, *, alpha: _number = 1) -> Tensor`, with sizes in both forms."""
    result = [_declaration(signature, method, varargs=False)]
    if _takes_varargs(signature, method):
        result.append(_declaration(signature, method, varargs=True))
    return result


def _declaration(signature: "Signature", method: bool, varargs: bool) -> str:
    parts = ["self"] if method else []
    starred = False
    for parameter in signature.parameters:
        if method and (parameter.name == "self" or parameter.name == "out"):
            continue
        name = "input" if parameter.name == "self" else parameter.name
        if keyword.iskeyword(name):
            name += "_"
        if varargs and not parameter.kwarg_only:
            parts.append(f"*{name}: _int")
            starred = True
            continue
        if parameter.kwarg_only and not starred:
            parts.append("*")
            starred = True
        parts.append(_parameter(parameter, name))
    return f"({_defaults_last(parts)}) -> {return_annotation(signature.op)}"


def _defaults_last(parts: Sequence[str]) -> str:
    """Schemas may have required parameters after optional ones; Python wants a default there."""
    result = []
    optional = False
    for part in parts:
        if part.startswith("*"):
            optional = False
        elif optional and "=" not in part:
            part += " = ..."
        optional = optional or "=" in part
        result.append(part)
    return ", ".join(result)


def stub(function: "Function", method: bool, indent: int) -> list[str]:
    """The lines that declare a function or method."""
    pad = " " * indent
    use = [s for s in function.signatures if (s.op.is_method if method else s.op.is_function)]
    declared: list[str] = []
    for signature in use:
        declared += [d for d in _declarations(signature, method) if d not in declared]
    static = function.module != "" and not method
    lines = []
    for declaration in declared:
        if len(declared) > 1:
            lines.append(f"{pad}@overload")
        if static:
            lines.append(f"{pad}@staticmethod")
        lines.append(f"{pad}def {function.name}{declaration}: ...")
    return lines


def _field(ret: Return) -> str:
    """The type of a field of a named tuple, in a module where `int` is Python's."""
    name = re.sub(r"\b_(\w)", r"\1", _one_return(ret))
    return name.replace("Tuple", "tuple").replace("number", "complex")


def result_types(functions: Sequence["Function"]) -> list[dict]:
    """The named tuples that operators of several named results return."""
    found: dict[str, list[str]] = {}
    for function in functions:
        for signature in function.signatures:
            op = signature.op
            if len(op.returns) > 1 and all(r.name for r in op.returns):
                fields = [f"{r.name}: {_field(r)}" for r in op.returns]
                found.setdefault(op.base, fields)
    return [{"name": name, "fields": found[name]} for name in sorted(found)]


def render(model: Model, functions: Sequence["Function"], env: jinja2.Environment) -> str:
    from codegen.backend import python

    methods = [line for f in functions if f.is_method for line in stub(f, True, 4)]
    plain = [f for f in functions if f.module == "" and f.is_function]
    modules = sorted({f.module for f in functions if f.module})
    slots = []
    for _, base, name in python.BINARY_SLOTS:
        if python._binary(model, "", base):
            other = "Tensor" if name == "matmul" else "Union[Tensor, _number]"
            slots += [f"def __{name}__(self, other: {other}) -> Tensor: ...",
                      f"def __r{name}__(self, other: {other}) -> Tensor: ..."]
            if python._inplace(model, "", base):
                slots.append(f"def __i{name}__(self, other: {other}) -> Tensor: ...")
    slots += [
        f"def __{name}__(self, other: object) -> Tensor: ...  # type: ignore[override]"
        if name in ("eq", "ne")
        else f"def __{name}__(self, other: Union[Tensor, _number]) -> Tensor: ..."
        for name in python.COMPARISONS
        if python._binary(model, "", name)
    ]
    slots += [
        f"def __{name}__(self) -> Tensor: ..."
        for _, base, name in python.UNARY_SLOTS
        if base in model.by_name
    ]
    hand_written = _hand_written(env)
    functions_text = [line for f in plain
                      if f.name not in hand_written.functions or not model.package.in_tree
                      for line in stub(f, False, 0)]
    modules_text = [
        {"name": m, "lines": [line for f in functions if f.module == m and f.is_function
                              for line in stub(f, False, 4)]}
        for m in modules
    ]
    if not model.package.in_tree:
        return env.get_template("python_package.pyi.j2").render(
            functions=functions_text, modules=modules_text
        )
    return env.get_template("python_stub.pyi.j2").render(
        slots=slots,
        methods=[line for f in functions if f.is_method and f.name not in hand_written.members
                 for line in stub(f, True, 4)],
        functions=functions_text,
        modules=modules_text,
    ) if methods or plain else ""


class _HandWritten(NamedTuple):
    functions: set[str]
    members: set[str]


def _hand_written(env: jinja2.Environment) -> _HandWritten:
    """What the template declares or imports itself, functions and members of Tensor: it wins over
    what is generated."""
    source, _, _ = env.loader.get_source(env, "python_stub.pyi.j2")
    body = source[source.index("class Tensor"):]
    functions = r"^(?:def |from oploom\.functional import \w+ as )(\w+)"
    return _HandWritten(set(re.findall(functions, source, re.MULTILINE)),
                        set(re.findall(r"^    (?:def )?(\w+)[(:]", body, re.MULTILINE)))
