"""generated/native: declarations of what aten/native defines, one header per operator."""

from __future__ import annotations

from dataclasses import dataclass

import jinja2

from codegen.backend import types
from codegen.backend.model import Model, ModelError, Operator
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
        headers = {"generated/ops/Tensor.h"}
        headers |= {_base_header(op) for op in operators if op.structured}
        outputs[f"generated/native/{root}.h"] = template.render(
            root=root,
            family=operators[0].family,
            headers=sorted(headers),
            metas=_metas(operators),
            natives=_natives(operators),
        )
    outputs["generated/native/CMakeLists.txt"] = env.get_template("native_CMakeLists.j2").render()
    return outputs


def native_roots(model: Model) -> list[str]:
    """The roots with something for a person to write."""
    return [
        root
        for root, operators in model.roots.items()
        if any(op.structured or native_functions(op) for op in operators)
    ]


def native_functions(op: Operator) -> list[str]:
    """The functions in at::native that the operator calls, without structured ones."""
    if op.structured or op.scalar_overload_of or op.alias_of or is_made_from_functional(op):
        return []
    names = list(op.dispatch.values())
    if op.composite is not None:
        names.append(composite_function(op))
    return sorted(set(names))


def composite_function(op: Operator) -> str:
    return op.composite_kernel or types.native_name(op)


def is_made_from_functional(op: Operator) -> bool:
    """Whether the operator's whole body comes from its functional sibling: an in-place or out form
    that `autogen` asked for and that is no structured one."""
    return (
        op.autogen_from is not None
        and op.structured is None
        and op.scalar_overload_of is None
        and op.alias_of is None
        and not op.dispatch
        and op.kind in ("inplace", "out")
    )


def structured_meta_class(op: Operator) -> str:
    return f"structured_{op.structured.meta}"


def _base_header(op: Operator) -> str:
    base = op.structured.inherits or "MetaBase"
    if base not in _BASE_HEADERS:
        raise ModelError(f"{op.name}: structured_inherits names '{base}', which no header is known for")
    return _BASE_HEADERS[base]


def _metas(operators: tuple[Operator, ...]) -> list[Declared]:
    """struct at::meta::structured_add_Tensor, once for each functional structured operator."""
    result = []
    for op in operators:
        if op.structured is None or op.structured.role != "functional":
            continue
        base = op.structured.inherits or "MetaBase"
        base = "impl::MetaBase" if base == "MetaBase" else base
        inputs = [types.parameter(a).declaration for a in op.inputs]
        text = "\n".join(
            [
                _struct_head(structured_meta_class(op), base),
                wrapped("void meta(", inputs, ");", 2),
                f'  const char* op_name() const override {{ return "{op.base}"; }}',
                "};",
            ]
        )
        result.append(Declared(op.schema, [text]))
    return result


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
    params = [types.parameter(a).declaration for a in op.inputs]
    params += [f"const Tensor& {out}" for out in out_names(op, operators)]
    return "\n".join(
        [
            _struct_head(f"structured_{name}", f"meta::{structured_meta_class(op)}"),
            wrapped("void impl(", params, ");", 2),
            "};",
        ]
    )


def out_names(op: Operator, operators: tuple[Operator, ...]) -> list[str]:
    """What the outputs of a structured operator are called: as in its out form."""
    for other in operators:
        if other.kind == "out" and other.group == op.name and other.structured:
            return [types.cpp_name(a.name) for a in other.outs]
    if len(op.returns) == 1:
        return ["out"]
    return [types.cpp_name(r.name) if r.name else f"out{i}" for i, r in enumerate(op.returns)]
