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
    entries: list[tuple[str, str, bool]]  # dispatch key, kernel, is for calls with a history only
    call: str  # the function through which the operator is called


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    template = env.get_template("dispatch_Family.j2")
    outputs = {}
    for family, operators in model.families.items():
        tables = [_table(model, op) for op in operators]
        outputs[f"{model.package.folder}/dispatch/{family}.cpp"] = template.render(
            family=family,
            headers=_headers(model, operators),
            tables=tables,
        )
    outputs[f"{model.package.folder}/dispatch/Operators.cpp"] = env.get_template(
        "dispatch_Operators.j2"
    ).render(families=sorted(model.families))
    outputs[f"{model.package.folder}/dispatch/Boxing.cpp"] = env.get_template(
        "dispatch_Boxing.j2"
    ).render(signatures=_signatures(model))
    if model.package.in_tree:
        outputs["generated/dispatch/CMakeLists.txt"] = env.get_template(
            "dispatch_CMakeLists.j2"
        ).render(families=sorted(["Boxing", "Operators", *model.families]))
    return outputs


def _headers(model: Model, operators: tuple[Operator, ...]) -> list[str]:
    headers = {"aten/core/dispatch/Boxing.h", "aten/core/dispatch/CallKeys.h"}
    folder = model.package.folder
    natives = set(native.native_roots(model))
    for op in operators:
        headers.add(f"{folder}/ops/{op.root}.h")
        if op.root in natives:
            headers.add(f"{folder}/native/{op.root}.h")
        if op.structured or native.is_made_from_sibling(op):
            headers.add("aten/native/StructuredOutputs.h")
        if native.is_made_from_sibling(op):
            sibling = _sibling(model, op)
            headers.add(f"{folder}/ops/{sibling.root}.h")
            if sibling.kind != "functional":
                headers.add("generated/ops/clone.h")
        if op.scalar_overload_of:
            headers.add("aten/core/WrappedNumber.h")
            headers.add(f"{folder}/ops/{_tensor_overload(model, op).root}.h")
        if op.alias_of:
            headers.add(f"{folder}/ops/{model.by_name[op.alias_of].root}.h")
        if op.expression:
            headers |= {"aten/native/Expression.h", "aten/iterator/TensorIterator.h"}
            headers.add(f"{folder}/stubs/{op.family}.h")
            if any(expression.calls_number_functions(r.program) for r in op.expression.requirements):
                headers.add("c10/util/number_functions.h")
        if op.has_autograd_kernel:
            headers.add(f"{folder}/autograd/{op.family}Kernels.h")
    return sorted(headers)


def _signatures(model: Model) -> list[str]:
    """The C++ signatures of all operators, each once."""
    return sorted(
        {
            wrapped(
                f"template struct SignatureBoxing<{types.return_type(op)}(",
                [p.type for p in types.parameters(op)],
                ")>;",
            )
            for op in model.operators
        }
    )


def _sibling(model: Model, op: Operator) -> Operator:
    """The operator that a form made by `autogen` calls."""
    source = model.by_name[op.autogen_from]
    functional = model.by_name.get(op.group)
    return functional if source.kind == "functional" and functional is not None else source


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
        for implementation, keys in _keys_by_function(op.structured.impl).items():
            name = f"{op.identifier}_{keys[0]}"
            kernels.append(_structured(model, op, name, f"native::structured_{implementation}", True))
            entries += [(key, name) for key in keys]
        name = f"{op.identifier}_Meta"
        meta = f"meta::{native.structured_meta_class(op)}"
        kernels.append(_structured(model, op, name, meta, False))
        entries.append(("Meta", name))
    else:
        for function, keys in _keys_by_function(op.dispatch).items():
            name = f"{op.identifier}_{keys[0]}"
            kernels.append(_trampoline(op, name, function))
            entries += [(key, name) for key in keys]
        if op.composite is not None or native.is_made_from_sibling(op):
            backends = f"{op.identifier}_composite"
            kernels.append(_composite(model, op, backends))
    if op.is_composite_implicit:
        entries.append(("Autograd", backends))
    if backends and op.takes_tensors and not any(a.type.is_tensor for a in op.arguments):
        # An empty list of tensors has no key; the native function says what is wrong with it.
        entries.insert(0, ("Undefined", backends))
    rows = [(key, kernel, False) for key, kernel in entries]
    if op.has_autograd_kernel and not op.is_composite_implicit:
        rows.append(("Autograd", f"autograd::kernels::{op.identifier}", _only_records(op)))
    return Table(op, expression.bodies(model, op), _head(op), kernels, backends, rows, _call(op))


def _only_records(op: Operator) -> bool:
    """Whether the autograd kernel has nothing to do for tensors without autograd metadata."""
    own = op.has_autograd_kernel and not op.is_composite_implicit
    return own and op.takes_tensors and not any(a.alias for a in (*op.arguments, *op.returns))


def _head(op: Operator) -> str:
    struct = f"_ops::{op.identifier}"
    head = f"constinit OperatorTable<{struct}::schema> {struct}::table("
    if len(head) <= text.WIDTH:
        return head
    return f"constinit OperatorTable<{struct}::schema>\n    {struct}::table("


def _call(op: Operator) -> str:
    params = types.parameters(op)
    head = f"{types.return_type(op)} _ops::{op.identifier}::call("
    arguments = [_keys_of_call(op), *(p.name for p in params)]
    return text.function(
        wrapped(head, types.declarations(params), ") {"),
        [wrapped("return table(", arguments, ");", 2)],
    )


def _keys_of_call(op: Operator) -> str:
    """The expression for the key set of a call."""
    tensors = [types.cpp_name(a.name) for a in op.arguments if a.type.holds_tensors]
    if tensors and _only_records(op):
        return f"dispatch_keys_with_history({', '.join(['table', *tensors])})"
    if tensors:
        return f"dispatch_keys({', '.join(tensors)})"
    device = "device" if any(a.name == "device" for a in op.arguments) else "std::nullopt"
    return f"dispatch_keys_of_device({device})"


def _keys_by_function(dispatch: dict[str, str]) -> dict[str, list[str]]:
    functions: dict[str, list[str]] = {}
    for key, function in sorted(dispatch.items()):
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
    if native.is_made_from_sibling(op):
        sibling = _sibling(model, op)
        if sibling.kind == "functional":
            return _kernel(op, name, _from_functional_body(op, sibling))
        return _kernel(op, name, _from_writing_body(model, op, sibling))
    return _trampoline(op, name, native.composite_function(op))


def _scalar_body(model: Model, op: Operator) -> list[str]:
    """Wraps the numbers whose place holds a tensor in the tensor overload."""
    target = _tensor_overload(model, op)
    values = []
    for mine, theirs in zip(types.parameters(op), types.parameters(target), strict=True):
        wraps = mine.argument.type.base == "Scalar" and theirs.argument.type.is_tensor
        values.append(f"{model.package.at}detail::WrappedNumber({mine.name})" if wraps else mine.name)
    return [wrapped(f"return _ops::{target.identifier}::call(", values, ");", 2)]


# What an out form passes for the options of its functional form, which it does not have.
_OPTIONS_OF_OUT = {
    "dtype": "{}.scalar_type()",
    "layout": "{}.layout()",
    "device": "{}.device()",
    "pin_memory": "std::nullopt",
}


def _from_functional_body(op: Operator, functional: Operator) -> list[str]:
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
    return _assign_outs(op, call, inputs)


def _assign_outs(op: Operator, call: str, inputs: list[str]) -> list[str]:
    outs = [types.cpp_name(a.name) for a in op.outs]
    if len(outs) == 1:
        lines = [wrapped(f"const Tensor result = {call}", inputs, ");", 2)]
        return [*lines, f'  return native::assign_out({outs[0]}, result, "{op.base}");']
    lines = [wrapped(f"const auto results = {call}", inputs, ");", 2)]
    given = "{" + ", ".join(f"&{out}" for out in outs) + "}"
    found = "{" + ", ".join(f"&std::get<{i}>(results)" for i in range(len(outs))) + "}"
    lines.append(wrapped("native::assign_outs(", [f'"{op.base}"', given, found], ");", 2))
    return [*lines, f"  return {{{', '.join(outs)}}};"]


def _from_writing_body(model: Model, op: Operator, source: Operator) -> list[str]:
    """Lets the operator write to copies; what they hold then is the result."""
    own = {a.name for a in op.arguments if a.is_write}
    lines: list[str] = []
    copies: list[str] = []
    arguments: list[str] = []
    for argument in source.arguments:
        name = types.cpp_name(argument.name)
        if argument.is_write and argument.name not in own:
            copies.append(f"{argument.name}_copy")
            clone = f"{model.package.at}_ops::clone::call"
            lines.append(f"  Tensor {copies[-1]} = {clone}({name}, std::nullopt);")
            name = copies[-1]
        arguments.append(name)
    call = f"_ops::{source.identifier}::call("
    fresh = [r for r in source.returns if not r.is_write]
    if op.kind == "out" and fresh:
        return [*lines, *_assign_outs(op, call, arguments)]
    if not fresh:
        lines.append(wrapped(call, arguments, ");", 2))
        if op.kind == "out":
            assign = f'native::assign_out({types.cpp_name(op.outs[0].name)}, {copies[0]}, "{op.base}");'
            return [*lines, f"  return {assign}" if op.returns else f"  {assign}"]
        results = copies
    else:
        lines.append(wrapped(f"auto result = {call}", arguments, ");", 2))
        many = len(fresh) > 1
        first = [f"std::get<{i}>(result)" for i in range(len(fresh))] if many else ["result"]
        results = [*first, *copies]
    if len(results) == 1:
        return [*lines, f"  return {results[0]};"]
    return [*lines, wrapped("return {", results, "};", 2)]


def _structured(model: Model, op: Operator, name: str, struct: str, has_impl: bool) -> str:
    """The kernel of a structured operator: meta() declares the outputs, impl() fills them."""
    inputs = [types.cpp_name(a.name) for a in op.inputs]
    role = op.structured.role
    name_and_kernel = [f'"{op.base}"', "kernel"]
    lines = [f"  {struct} kernel;"]
    if role == "functional":
        count = len(op.returns)
        lines.append(wrapped(f"native::FreshOutputs<{count}> outputs(", name_and_kernel, ");", 2))
    elif role == "inplace":
        count = 1
        lines.append(wrapped("native::InplaceOutput outputs(", [*name_and_kernel, "self"], ");", 2))
    else:
        outs = [types.cpp_name(a.name) for a in op.outs]
        count = len(outs)
        given = [*name_and_kernel, *outs]
        lines.append(wrapped(f"native::GivenOutputs<{count}> outputs(", given, ");", 2))
    read = [
        types.cpp_name(a.name)
        for a in op.inputs
        if a.type.holds_tensors and not (role == "inplace" and a.name == "self")
    ]
    if has_impl and read and role != "functional" and op.structured.inherits is None:
        lines.append(wrapped("outputs.reads(", read, ");", 2))
    holders = [a for a in op.inputs if a.type.holds_tensors]
    several = len(holders) > 1 or any(a.type.list for a in holders)
    if not has_impl and several and op.structured.inherits is None:
        # This kernel serves calls where any of the tensors is on meta. Iterators look themselves.
        names = [f'"{op.base}"', *(types.cpp_name(a.name) for a in holders)]
        lines.append(wrapped("native::check_one_device(", names, ");", 2))
    declares = "const auto precomputed = " if has_impl and op.structured.precomputed else ""
    lines.append(wrapped(f"{declares}kernel.meta(", inputs, ");", 2))
    if has_impl:
        given = {types.cpp_name(a.name) for a in op.inputs if op.structured.precomputed_for(a.name) is None}
        values = [types.cpp_name(a.name) for a in native.impl_inputs(op)]
        values = [v if v in given else f"precomputed.{v}" for v in values]
        values += [f"outputs[{i}]" for i in range(count)]
        lines.append(wrapped("kernel.impl(", values, ");", 2))
    if role == "functional":
        if count == 1:
            lines.append("  return outputs.take(0);")
        else:
            lines.append(f"  return {{{', '.join(f'outputs.take({i})' for i in range(count))}}};")
        return _kernel(op, name, lines)
    lines.append("  outputs.finish();")
    if role == "inplace":
        lines.append("  return self;")
    elif count == 1:
        lines.append(f"  return {outs[0]};")
    else:
        lines.append(f"  return {{{', '.join(outs)}}};")
    return _kernel(op, name, lines)
