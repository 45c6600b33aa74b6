"""generated/dispatch: the operator tables and the kernels that lead to native functions."""

from __future__ import annotations

from dataclasses import dataclass

import jinja2

from codegen.backend import expression, native, text, types
from codegen.backend.model import Model, ModelError, Operator
from codegen.backend.text import wrapped


@dataclass(frozen=True)
class Table:
    """What dispatch_Family.j2 shows of one operator."""

    op: Operator
    bodies: list[tuple[str, str]]  # namespace and definition, of what is made from an expression
    head: str  # the definition up to the bracket
    kernels: list[str]  # whole functions
    backends: str  # the kernel of every backend without an entry of its own, or ""
    entries: list[tuple[str, str]]  # dispatch key, address of the kernel


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    template = env.get_template("dispatch_Family.j2")
    outputs = {}
    for family, operators in model.families.items():
        tables = [_table(model, op) for op in operators]
        outputs[f"generated/dispatch/{family}.cpp"] = template.render(
            family=family,
            headers=_headers(model, operators),
            tables=tables,
        )
    by_name = sorted(model.operators, key=lambda op: op.name)
    outputs["generated/dispatch/Operators.cpp"] = env.get_template("dispatch_Operators.j2").render(
        roots=list(model.roots), operators=by_name
    )
    outputs["generated/dispatch/CMakeLists.txt"] = env.get_template("dispatch_CMakeLists.j2").render(
        families=sorted(["Operators", *model.families])
    )
    return outputs


def _headers(model: Model, operators: tuple[Operator, ...]) -> list[str]:
    headers = {"aten/core/dispatch/Boxing.h"}
    natives = set(native.native_roots(model))
    for op in operators:
        headers.add(f"generated/ops/{op.root}.h")
        if op.root in natives:
            headers.add(f"generated/native/{op.root}.h")
        if op.structured or native.is_made_from_functional(op):
            headers.add("aten/native/StructuredOutputs.h")
        if native.is_made_from_functional(op):
            headers.add(f"generated/ops/{_functional(model, op).root}.h")
        if op.scalar_overload_of:
            headers.add("aten/core/Empty.h")
            headers.add(f"generated/ops/{_tensor_overload(model, op).root}.h")
        if op.alias_of:
            headers.add(f"generated/ops/{model.by_name[op.alias_of].root}.h")
        if op.expression:
            headers |= {"aten/native/Expression.h", "aten/iterator/TensorIterator.h"}
            headers.add(f"generated/stubs/{op.family}.h")
        if op.has_autograd_kernel:
            headers.add(f"generated/autograd/{op.family}Kernels.h")
    return sorted(headers)


def _functional(model: Model, op: Operator) -> Operator:
    functional = model.by_name.get(op.group)
    if functional is None or functional is op:
        raise ModelError(f"{op.name}: is made from its functional form, but has none")
    return functional


def _tensor_overload(model: Model, op: Operator) -> Operator:
    """The operator that a Scalar overload calls: of the same kind, with a tensor for the number."""
    functional = model.by_name[op.scalar_overload_of]
    if op.kind == functional.kind:
        return functional
    for other in model.roots[functional.root]:
        sibling = other.group == functional.name and other.scalar_overload_of is None
        if sibling and other.kind == op.kind:
            return other
    raise ModelError(f"{op.name}: {functional.name} has no {op.kind} form for it to call")


def _table(model: Model, op: Operator) -> Table:
    kernels: list[str] = []
    entries: list[tuple[str, str]] = []
    backends = ""
    if op.structured is not None:
        for key, implementation in sorted(op.structured.impl.items()):
            name = f"{op.identifier}_{key}"
            kernels.append(_structured(model, op, name, f"native::structured_{implementation}", True))
            entries.append((key, name))
        name = f"{op.identifier}_Meta"
        meta = f"meta::{native.structured_meta_class(op)}"
        kernels.append(_structured(model, op, name, meta, False))
        entries.append(("Meta", name))
    else:
        for function, keys in _keys_by_function(op).items():
            name = f"{op.identifier}_{keys[0]}"
            kernels.append(_trampoline(op, name, function))
            entries += [(key, name) for key in keys]
        if op.composite is not None or native.is_made_from_functional(op):
            backends = f"{op.identifier}_composite"
            kernels.append(_composite(model, op, backends))
    if op.is_composite_implicit:
        entries.append(("Autograd", backends))
    elif op.has_autograd_kernel:
        entries.append(("Autograd", f"autograd::kernels::{op.identifier}"))
    if backends and op.takes_tensors and not any(a.type.is_tensor for a in op.arguments):
        # An empty list of tensors has no key; the native function says what is wrong with it.
        entries.insert(0, ("Undefined", backends))
    return Table(op, expression.bodies(op), _head(op), kernels, backends, entries)


def _head(op: Operator) -> str:
    struct = f"_ops::{op.identifier}"
    head = f"constinit OperatorTable<{struct}::schema> {struct}::table("
    if len(head) <= text.WIDTH:
        return head
    return f"constinit OperatorTable<{struct}::schema>\n    {struct}::table("


def _keys_by_function(op: Operator) -> dict[str, list[str]]:
    functions: dict[str, list[str]] = {}
    for key, function in sorted(op.dispatch.items()):
        functions.setdefault(function, []).append(key)
    return functions


# ---- Kernels ----


def _kernel(op: Operator, name: str, body: list[str]) -> str:
    head = f"{types.return_type(op)} {name}("
    opening = wrapped(head, types.kernel_parameters(op, ""), ") {")
    return text.function(opening, body)


def _names(op: Operator) -> list[str]:
    return [p.name for p in types.parameters(op)]


def _trampoline(op: Operator, name: str, function: str) -> str:
    return _kernel(op, name, [wrapped(f"return native::{function}(", _names(op), ");", 2)])


def _composite(model: Model, op: Operator, name: str) -> str:
    if op.alias_of:
        target = model.by_name[op.alias_of].identifier
        return _kernel(op, name, [wrapped(f"return _ops::{target}::call(", _names(op), ");", 2)])
    if op.scalar_overload_of:
        return _kernel(op, name, _scalar_body(model, op))
    if native.is_made_from_functional(op):
        return _kernel(op, name, _from_functional_body(model, op))
    return _trampoline(op, name, native.composite_function(op))


def _scalar_body(model: Model, op: Operator) -> list[str]:
    """Wraps the numbers whose place holds a tensor in the tensor overload."""
    target = _tensor_overload(model, op)
    values = []
    for mine, theirs in zip(types.parameters(op), types.parameters(target), strict=True):
        wraps = mine.argument.type.base == "Scalar" and theirs.argument.type.is_tensor
        values.append(f"detail::wrapped_scalar_tensor({mine.name})" if wraps else mine.name)
    return [wrapped(f"return _ops::{target.identifier}::call(", values, ");", 2)]


# What an out form passes for the options of its functional form, which it does not have.
_OPTIONS_OF_OUT = {
    "dtype": "{}.scalar_type()",
    "layout": "{}.layout()",
    "device": "{}.device()",
    "pin_memory": "std::nullopt",
}


def _from_functional_body(model: Model, op: Operator) -> list[str]:
    functional = _functional(model, op)
    outs = [types.cpp_name(a.name) for a in op.outs]
    own = {a.name for a in op.inputs}
    inputs = [
        types.cpp_name(a.name) if a.name in own else _OPTIONS_OF_OUT[a.name].format(outs[0])
        for a in functional.inputs
    ]
    call = f"_ops::{functional.identifier}::call("
    if op.kind == "inplace":
        lines = [wrapped(f"const Tensor result = {call}", inputs, ");", 2)]
        return [*lines, f'  return native::assign_inplace(self, result, "{op.base}");']
    if len(outs) == 1:
        lines = [wrapped(f"const Tensor result = {call}", inputs, ");", 2)]
        return [*lines, f'  return native::assign_out({outs[0]}, result, "{op.base}");']
    lines = [wrapped(f"const auto results = {call}", inputs, ");", 2)]
    for i, out in enumerate(outs):
        lines.append(f'  native::assign_out({out}, std::get<{i}>(results), "{op.base}");')
    return [*lines, f"  return {{{', '.join(outs)}}};"]


def _structured(model: Model, op: Operator, name: str, struct: str, has_impl: bool) -> str:
    """The kernel of a structured operator: meta() declares the outputs, impl() fills them."""
    inputs = [types.cpp_name(a.name) for a in op.inputs]
    role = op.structured.role
    if role == "functional":
        count = len(op.returns)
        lines = [f"  native::FreshOutputs<{struct}, {count}> kernel;"]
    elif role == "inplace":
        count = 1
        lines = [wrapped(f"native::InplaceOutput<{struct}> kernel(", [f'"{op.base}"', "{&self}"], ");", 2)]
    else:
        outs = [types.cpp_name(a.name) for a in op.outs]
        count = len(outs)
        given = ", ".join(f"&{out}" for out in outs)
        lines = [
            wrapped(f"native::GivenOutputs<{struct}, {count}> kernel(", [f'"{op.base}"', f"{{{given}}}"], ");", 2)
        ]
    read = [
        types.cpp_name(a.name)
        for a in op.inputs
        if a.type.holds_tensors and not (role == "inplace" and a.name == "self")
    ]
    if has_impl and read and role != "functional" and op.structured.inherits is None:
        lines.append(wrapped("kernel.reads(", read, ");", 2))
    lines.append(wrapped("kernel.meta(", inputs, ");", 2))
    if has_impl:
        values = [*inputs, *[f"kernel.output({i})" for i in range(count)]]
        lines.append(wrapped("kernel.impl(", values, ");", 2))
    if role == "functional":
        if count == 1:
            lines.append("  return kernel.take(0);")
        else:
            lines.append(f"  return {{{', '.join(f'kernel.take({i})' for i in range(count))}}};")
        return _kernel(op, name, lines)
    lines.append("  kernel.finish();")
    if role == "inplace":
        lines.append("  return self;")
    elif count == 1:
        lines.append(f"  return {outs[0]};")
    else:
        lines.append(f"  return {{{', '.join(outs)}}};")
    return _kernel(op, name, lines)
