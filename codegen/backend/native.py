"""generated/native: declarations of what aten/native defines, one header per operator."""

from __future__ import annotations

import functools
import textwrap
from dataclasses import dataclass
from typing import Optional

import jinja2

from codegen.backend import types
from codegen.backend.model import Argument, Model, ModelError, Operator, Package
from codegen.backend.text import WIDTH, wrapped

# Header with the base class of a structured operator, by the name in `structured_inherits`.
_BASE_HEADERS = {
    "TensorIteratorBase": "aten/iterator/TensorIterator.h",
    "MetaBase": "aten/core/MetaBase.h",
}


@dataclass(frozen=True)
class Declared:
    """Declarations that belong to one schema."""

    schema: str
    declarations: list[str]


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    template = env.get_template("native_header.j2")
    outputs = {}
    for root in native_roots(model):
        operators = model.roots[root]
        headers = {model.package.base_header}
        headers |= {_base_header(op) for op in operators if op.structured}
        outputs[f"{model.package.folder}/native/{root}.h"] = template.render(
            root=root,
            family=operators[0].family,
            headers=sorted(headers),
            metas=_metas(model, operators),
            natives=_natives(operators),
        )
    signatures = env.get_template("native_signatures.j2")
    for family, checks in _signatures(model).items():
        path = f"{model.package.folder}/native/signatures/{family}.h"
        outputs[path] = signatures.render(family=family, roots=checks)
    if model.package.in_tree:
        outputs["generated/native/CMakeLists.txt"] = env.get_template(
            "native_CMakeLists.j2"
        ).render()
    return outputs


def _signatures(model: Model) -> dict[str, list[tuple[str, list[str]]]]:
    """The checks of each family, by root: see Note [Signatures of native functions]."""
    expected: dict[str, list[tuple[Operator, list[str]]]] = {}
    for op in model.operators:
        for name in [] if op.internal else native_functions(op):
            parameters = [p.type for p in types.parameters(op)]
            known = expected.setdefault(name, [])
            if parameters not in [p for _, p in known]:
                known.append((op, parameters))
    # A family of structured operators alone has an empty file, so that each source ends alike.
    checks: dict[str, dict[str, list[str]]] = {
        op.family: {} for root in native_roots(model) for op in model.roots[root]
    }
    for name in sorted(expected):
        for op, parameters in expected[name]:
            others = [p for _, p in expected[name] if p is not parameters]
            leading = _telling(parameters, others)
            if leading is not None:
                check = _signature_check(model.package, op, name, leading)
                checks[op.family].setdefault(op.root, []).append(check)
    return {family: sorted(roots.items()) for family, roots in sorted(checks.items())}


def _telling(parameters: list[str], others: list[list[str]]) -> Optional[list[str]]:
    """The shortest beginning that no other list has; None where another one goes on."""
    for count in range(len(parameters) + 1):
        if all(other[:count] != parameters[:count] for other in others):
            return parameters[:count]
    return None


def _signature_check(package: Package, op: Operator, name: str, leading: list[str]) -> str:
    scope = package.cpp.replace("inline oploom_v1", "").rstrip(":")
    declaration = f"{types.return_type(op)} {name}({', '.join(types.declarations(types.parameters(op)))})"
    message = (
        f"{op.schema}: {scope}::native::{name} must be '{declaration}', and no other function there may "
        "have its name"
    )
    parts = textwrap.wrap(message, WIDTH - 12, break_long_words=False, break_on_hyphens=False)
    literals = [f'    "{part} "' for part in parts[:-1]] + [f'    "{parts[-1]}");']
    *first, last = [p.type for p in types.parameters(op)] or [""]
    expected = f"{', '.join([*first, last])})".split(", ")
    expected[0] = f"{types.return_type(op)}({expected[0]}"
    alone = "Alone" if package.in_tree else "at::native::Alone"
    pattern = wrapped(f"static_assert({alone}<", [*expected, *leading], f">::check(&{name}, 0),")
    return "\n".join([pattern, *literals])


@functools.cache
def native_roots(model: Model) -> tuple[str, ...]:
    """The roots with something for a person to write."""
    return tuple(
        root
        for root, operators in model.roots.items()
        if any(op.structured or native_functions(op) for op in operators)
    )


def native_functions(op: Operator) -> list[str]:
    """The functions in at::native that the operator calls, without structured ones."""
    if op.structured or op.scalar_overload_of or op.alias_of or is_made_from_sibling(op):
        return []
    names = list(op.dispatch.values())
    if op.composite is not None:
        names.append(composite_function(op))
    return sorted(set(names))


def composite_function(op: Operator) -> str:
    return op.composite_kernel or types.native_name(op)


def is_made_from_sibling(op: Operator) -> bool:
    """Whether the operator's whole body is a call of the operator it was made from, and copies: a
    form that `autogen` asked for and that is no structured one."""
    return (
        op.autogen_from is not None
        and op.structured is None
        and op.scalar_overload_of is None
        and op.alias_of is None
        and not op.dispatch
    )


def structured_meta_class(op: Operator) -> str:
    return f"structured_{op.structured.meta}"


def _base_header(op: Operator) -> str:
    base = op.structured.inherits or "MetaBase"
    if base not in _BASE_HEADERS:
        raise ModelError(f"{op.name}: structured_inherits names '{base}', which no header is known for")
    return _BASE_HEADERS[base]


def _metas(model: Model, operators: tuple[Operator, ...]) -> list[Declared]:
    """struct at::meta::structured_add_Tensor, once for each functional structured operator."""
    result = []
    for op in operators:
        if op.structured is None or op.structured.role != "functional":
            continue
        base = op.structured.inherits or "MetaBase"
        base = f"{model.package.at}impl::MetaBase" if base == "MetaBase" else base
        inputs = [types.parameter(a).declaration for a in op.inputs]
        returns = "Precomputed" if op.structured.precomputed else "void"
        text = "\n".join(
            [
                _struct_head(structured_meta_class(op), base),
                *_precomputed_struct(op),
                wrapped(f"{returns} meta(", inputs, ");", 2),
                "};",
            ]
        )
        result.append(Declared(op.schema, [text]))
    return result


def _precomputed_struct(op: Operator) -> list[str]:
    """What meta() returns for impl()."""
    if not op.structured.precomputed:
        return []
    fields = [
        f"    {types.owned_type(v.type)} {types.cpp_name(v.name)};"
        for p in op.structured.precomputed
        for v in p.values
    ]
    return ["  struct Precomputed {", *fields, "  };"]


def _natives(operators: tuple[Operator, ...]) -> list[Declared]:
    result = []
    for op in operators:
        if op.structured is not None:
            if op.structured.role == "functional":
                names = sorted(set(op.structured.impl.values()))
                result.append(Declared(op.schema, [_impl_struct(op, n, operators) for n in names]))
            continue
        names = native_functions(op)
        if names:
            returns = types.return_type(op)
            params = types.declarations(types.parameters(op), defaults=True)
            declared = [wrapped(f"{returns} {name}(", params, ");") for name in names]
            result.append(Declared(op.schema, declared))
    return result


def _struct_head(name: str, base: str) -> str:
    head = f"struct {name} : public {base} {{"
    return head if len(head) <= WIDTH else f"struct {name}\n    : public {base} {{"


def _impl_struct(op: Operator, name: str, operators: tuple[Operator, ...]) -> str:
    params = [types.parameter(a).declaration for a in impl_inputs(op)]
    params += [f"const Tensor& {out}" for out in out_names(op, operators)]
    return "\n".join(
        [
            _struct_head(f"structured_{name}", f"meta::{structured_meta_class(op)}"),
            wrapped("void impl(", params, ");", 2),
            "};",
        ]
    )


def impl_inputs(op: Operator) -> list[Argument]:
    """What impl() of a structured operator gets before the outputs."""
    arguments: list[Argument] = []
    for argument in op.inputs:
        values = op.structured.precomputed_for(argument.name)
        arguments += (argument,) if values is None else values
    return [*arguments, *op.structured.precomputed_in_addition]


def out_names(op: Operator, operators: tuple[Operator, ...]) -> list[str]:
    """What the outputs of a structured operator are called: as in its out form."""
    for other in operators:
        if other.kind == "out" and other.group == op.name and other.structured:
            return [types.cpp_name(a.name) for a in other.outs]
    if len(op.returns) == 1:
        return ["out"]
    return [types.cpp_name(r.name) if r.name else f"out{i}" for i, r in enumerate(op.returns)]
