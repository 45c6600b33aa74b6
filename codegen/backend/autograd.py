"""generated/autograd: the nodes of derivatives.yaml, and the kernels that record operators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Optional, Sequence

import jinja2

from codegen.backend import expression, forward, text, types
from codegen.backend.model import (
    Argument,
    Code,
    Derivative,
    Gradient,
    Model,
    ModelError,
    Operator,
    Program,
    Saved,
)
from codegen.backend.text import wrapped

# What CopySlices and the kernels rely on: see Note [Views and in-place changes].
_RESHAPES_IN_PLACE = "inplace_view"


@dataclass(frozen=True)
class NodeText:
    """What autograd_Family.h.j2 and .cpp.j2 show of one node."""

    name: str
    comments: list[str]  # the schema and the formulas
    release: str  # the definition of release_variables, or ""
    members: list[str]
    apply: str


@dataclass(frozen=True)
class KernelText:
    comments: list[str]
    body: str


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    outputs = {}
    sources = []
    folder = f"{model.package.folder}/autograd"
    for family, all_operators in model.families.items():
        operators = [op for op in all_operators if op.has_autograd_kernel]
        if not operators:
            continue
        sources.append(family)
        nodes = [_node_text(model, node) for node in _nodes(operators)]
        outputs[f"{folder}/{family}Kernels.h"] = env.get_template(
            "autograd_Kernels.h.j2"
        ).render(family=family, declarations=[_signature(op, ";") for op in operators])
        if nodes:
            outputs[f"{folder}/{family}.h"] = env.get_template(
                "autograd_Family.h.j2"
            ).render(family=family, nodes=nodes)
        outputs[f"{folder}/{family}.cpp"] = env.get_template(
            "autograd_Family.cpp.j2"
        ).render(
            family=family,
            nodes=nodes,
            kernels=[KernelText(_comments(op), _kernel(op)) for op in operators],
            duals=[d for op in operators if (d := forward.dual(model, op, _result_names(op)))],
            headers=_headers(model, operators),
        )
    if model.package.in_tree:
        outputs["generated/autograd/CMakeLists.txt"] = env.get_template(
            "autograd_CMakeLists.j2"
        ).render(families=sources)
    return outputs


def _headers(model: Model, operators: Sequence[Operator]) -> list[str]:
    """The headers of the operators that a family records and that its formulas call."""
    folder = f"{model.package.folder}/ops"
    core = model.package.core_operators
    headers = {f"{folder}/{op.root}.h" for op in operators} | {*model.package.helper_headers}
    for op in operators:
        called = {"clone"} if any(a.is_write for a in op.inputs) else set()
        if op.derivative is not None:
            terms = [t for f in op.derivative.forward for t in f.terms]
            code = [t.cpp for t in terms] + [f.together for f in op.derivative.forward]
            code += [g.cpp for g in op.derivative.inputs]
            called = called.union(*(c.calls for c in code if c is not None))
            for formula in [*op.derivative.inputs, *terms]:
                if formula.program is not None:
                    called |= _operators_of(formula.program)
                    if expression.calls_number_functions(formula.program):
                        headers.add("c10/util/number_functions.h")
        # A name that ends in `_` may be a root of its own or an in-place form.
        called |= {name.removesuffix("_") for name in called}
        headers |= {f"{folder}/{model.bases[name][-1].root}.h" for name in called & model.bases.keys()}
        headers |= {f"generated/ops/{name}.h" for name in called & core}
    return sorted(headers)


def _operators_of(program: Program) -> set[str]:
    """The operators that a program of tensors calls, by their base names."""
    called = {i.operation for i in program.instructions if not i.uniform}
    return called | {"where", "zeros_like"} | {f"logical_{name}" for name in called}


def _comments(op: Operator, gradients: Sequence[Gradient] = ()) -> list[str]:
    lines = [text.comment(op.schema)]
    lines += [text.comment(f"{', '.join(g.names)}: {g.formula}", 0, "//   ") for g in gradients]
    return lines


# ---- Plans ----


@dataclass(frozen=True)
class Plan:
    """The derivative of one operator, worked out as far as C++ needs it."""

    op: Operator
    derivative: Derivative

    @cached_property
    def arguments(self) -> list[Argument]:
        """The arguments that have a gradient, in the schema's order: the edges of the node."""
        names = {name for g in self.derivative.inputs for name in g.names}
        return [a for a in self.op.inputs if a.name in names]

    @cached_property
    def has_lists(self) -> bool:
        return any(a.type.list for a in self.arguments)

    def place(self, name: str) -> int:
        return [a.name for a in self.arguments].index(name)

    @cached_property
    def single_gradient(self) -> bool:
        """Whether the formulas know one gradient only, `grad`: that of the first output."""
        return not self.mentions("grads")

    def mentions(self, name: str) -> bool:
        """Whether a formula uses a value of this name."""
        return any(name in g.cpp.names for g in self.derivative.inputs)

    @cached_property
    def differentiable_outputs(self) -> list[int]:
        return _differentiable_outputs(self.op, self.derivative)[: 1 if self.single_gradient else None]

    @cached_property
    def readers(self) -> list[Gradient]:
        """The formulas that read `grad`."""
        return [g for g in self.derivative.inputs if "grad" in g.cpp.names]

    @cached_property
    def last_reader(self) -> Optional[Gradient]:
        """The last of them, where it reads `grad` once, as an operand: see Note [Spare tensors]."""
        if not self.readers or self.mentions("grads"):
            return None
        last = self.readers[-1]
        pieces = last.cpp.pieces
        if last.program is not None or pieces.count(("name", "grad")) != 1:
            return None
        after = pieces[pieces.index(("name", "grad")) + 1 :]
        return None if after and after[0][1].startswith(".") else last

    @cached_property
    def numbers_outputs(self) -> bool:
        """Whether the number of each output is known here, as it is where none is a list."""
        return not any(self.op.returns[i].type.list for i in self.differentiable_outputs)

    def only_reader(self, saved: Saved) -> Optional[Gradient]:
        """The formula that reads a saved value, where it is one among several."""
        readers = [g for g in self.derivative.inputs if set(g.names) & set(saved.used_by)]
        return readers[0] if len(readers) == 1 < len(self.derivative.inputs) else None

    def condition(self, saved: Saved) -> Optional[str]:
        """When a tensor has to be saved, or None for always."""
        if self.has_lists or len(saved.used_by) == len(self.arguments):
            return None
        places = [self.place(user) for user in saved.used_by]
        return " || ".join(f"grad_fn->should_compute_output({place})" for place in places)


def _differentiable_outputs(op: Operator, derivative: Optional[Derivative]) -> list[int]:
    flags = derivative.output_differentiability if derivative else None
    places = [i for i, r in enumerate(op.returns) if r.type.holds_tensors]
    if not flags:
        return places
    return [i for i in places if i >= len(flags) or flags[i]]


def _nodes(operators: Sequence[Operator]) -> list[Plan]:
    """One plan for each node. An in-place form shares the node of its functional form."""
    plans: dict[str, Plan] = {}
    for op in operators:
        if op.kind == "out" or op.derivative is None or not op.derivative.inputs:
            continue
        plan = Plan(op, op.derivative)
        known = plans.setdefault(op.derivative.node, plan)
        if _shape(known) != _shape(plan):
            raise ModelError(
                f"{op.name}: shares the node {op.derivative.node} with {known.op.name}, "
                "but saves other values or has other formulas"
            )
    return [plans[name] for name in sorted(plans)]


def _shape(plan: Plan) -> tuple[object, ...]:
    derivative = plan.derivative
    return (
        tuple((g.names, g.cpp) for g in derivative.inputs),
        tuple((s.name, s.type, s.cpp) for s in derivative.saved),
    )


# ---- Nodes ----


def _is_tensor(saved: Saved) -> bool:
    return saved.type is not None and saved.type.holds_tensors


def _member(saved: Saved) -> str:
    """The declaration of a saved value."""
    name = types.cpp_name(saved.name)
    if _is_tensor(saved):
        kind = "std::vector<SavedTensor>" if saved.type.list else "SavedTensor"
        return f"{kind} {name}_;"
    return f"{_stored_type(saved)} {name}{{}};"


def _stored_type(saved: Saved) -> str:
    cpp = saved.cpp if saved.type is None else types.owned_type(saved.type)
    if cpp is None:
        raise ModelError(f"the saved value '{saved.name}' has no type")
    # Shapes are short: they are kept in the node.
    return cpp.replace("std::vector<int64_t>", "DimVector") if cpp == "std::vector<int64_t>" else cpp


def _node_text(model: Model, plan: Plan) -> NodeText:
    derivative = plan.derivative
    release = []
    for saved in derivative.saved:
        if not _is_tensor(saved):
            continue
        name = types.cpp_name(saved.name)
        if saved.type.list:
            release.append(f"    for (SavedTensor& tensor : {name}_) tensor.reset_data();")
        else:
            release.append(f"    {name}_.reset_data();")
    members = [f"  {_member(s)}" for s in derivative.saved]
    members += [f"  size_t {a.name}_count{{}};" for a in plan.arguments if a.type.list]
    return NodeText(
        name=derivative.node,
        comments=_comments(plan.op, derivative.inputs),
        release=text.function("  void release_variables() override {", release) if release else "",
        members=members,
        apply=_apply(model, plan),
    )


def _apply(model: Model, plan: Plan) -> str:
    derivative = plan.derivative
    node = derivative.node
    lines = []
    if plan.has_lists:
        lines.append("  IndexRangeGenerator places;")
        for a in plan.arguments:
            count = f"{a.name}_count" if a.type.list else "1"
            lines.append(f"  const IndexRange {types.cpp_name(a.name)}_range = places.range({count});")
        lines.append("  variable_list grad_inputs(places.size());")
    else:
        lines.append(f"  variable_list grad_inputs({len(plan.arguments)});")
    if plan.single_gradient:
        if any(reader is not plan.last_reader for reader in plan.readers):
            lines.append("  const Tensor& grad = grads[0];")
            lines.append("  if (!grad.defined()) return grad_inputs;")
        else:
            lines.append("  if (!grads[0].defined()) return grad_inputs;")
    else:
        if plan.mentions("grad"):
            lines.append("  const Tensor& grad = grads[0];")
        lines.append("  if (!any_grad_defined(grads)) return grad_inputs;")
    lines += _unpacked(plan, None, "  ")
    for gradient in derivative.inputs:
        lines += _gradient(model, plan, gradient)
    lines.append("  return grad_inputs;")
    return text.function(f"variable_list {node}::apply(variable_list&& grads) {{", lines)


def _unpacked(plan: Plan, reader: Optional[Gradient], pad: str) -> list[str]:
    """The saved tensors that one formula reads alone, or that several do (None)."""
    tensors = [saved for saved in plan.derivative.saved if _is_tensor(saved)]
    return [pad + _unpack(saved) for saved in tensors if plan.only_reader(saved) is reader]


def _unpack(saved: Saved) -> str:
    name = types.cpp_name(saved.name)
    if saved.type.list:
        function = "unpack_optional_list" if saved.type.elem_optional else "unpack_list"
        return f"const auto {name} = {function}({name}_, this);"
    if saved.type.optional:
        return f"const std::optional<Tensor> {name} = {name}_.unpack_optional(this);"
    return f"const Tensor {name} = {name}_.unpack(this);"


def _wanted(plan: Plan, name: str) -> str:
    if plan.has_lists:
        return f"any_wanted(*this, {types.cpp_name(name)}_range)"
    return f"task_should_compute_output({plan.place(name)})"


def _gradient(model: Model, plan: Plan, gradient: Gradient) -> list[str]:
    """The lines that compute one formula where somebody wants it."""
    lines = []
    wanted = [_wanted(plan, name) for name in gradient.names]
    condition = " || ".join(wanted)
    if len(gradient.names) > 1 or len(plan.derivative.inputs) > 1 or plan.has_lists:
        lines.append(wrapped("  if (", [condition], ") {") if len(wanted) == 1 else _any_of(wanted))
        pad = "    "
    else:
        pad = "  "
    lines += _unpacked(plan, gradient, pad)
    if gradient.program is not None:
        lines += _program(model, plan, gradient, len(pad))
        if pad == "    ":
            lines.append("  }")
        return lines
    handed_over = gradient is plan.last_reader
    code = types.formula(plan.op, _hand_over(model, gradient) if handed_over else gradient.cpp)
    if "grad_input_mask" in gradient.cpp.names:
        head = f"{pad}const std::array<bool, {len(wanted)}> grad_input_mask = {{"
        lines.append(text.wrapped(head, wanted, "};"))
    if len(gradient.names) > 1:
        lines.append(text.assign(f"{pad}auto gradients = ", code))
        for i, name in enumerate(gradient.names):
            value = f"std::move(std::get<{i}>(gradients))"
            lines.append(f"{pad}{_store(plan, name, value)}")
    elif plan.has_lists:
        name = types.cpp_name(gradient.names[0])
        lines.append(text.assign(f"{pad}copy_range(grad_inputs, {name}_range, ", code, ");"))
    else:
        lines.append(text.assign(f"{pad}grad_inputs[{plan.place(gradient.names[0])}] = ", code))
    if pad == "    ":
        lines.append("  }")
    return lines


def _hand_over(model: Model, gradient: Gradient) -> Code:
    """The formula, with `grad` as what the result may be written to."""
    pieces = list(gradient.cpp.pieces)
    place = pieces.index(("name", "grad"))
    called = pieces[0][1] if pieces[0][0] == "call" and place == 2 else ""
    operators = model.bases.get(called, ())
    computed = any(op.expression is not None and op.structured is None for op in operators)
    pieces[place] = ("text", "SpareGradient(grads[0])" if computed else "std::move(grads[0])")
    return Code(tuple(pieces))


def _program(model: Model, plan: Plan, gradient: Gradient, indent: int) -> list[str]:
    """The lines that compute a gradient by operators on tensors."""
    pad = " " * indent
    scalars = expression.number_values(plan.op)
    lines = []
    for i in range(len(plan.op.returns)):
        if f"grads[{i}]" in gradient.program.names:
            lines.append(f"{pad}const Tensor grad_{i} = defined_grad(grads, {i});")
    computed, value = expression.tensor_statements(model, gradient.program, scalars, indent)
    place = plan.place(gradient.names[0])
    return [*lines, *computed, text.assign(f"{pad}grad_inputs[{place}] = ", value)]


def _any_of(conditions: list[str]) -> str:
    return "  if (" + " ||\n      ".join(conditions) + ") {"


def _store(plan: Plan, name: str, value: str) -> str:
    if plan.has_lists:
        return f"copy_range(grad_inputs, {types.cpp_name(name)}_range, {value});"
    return f"grad_inputs[{plan.place(name)}] = {value};"


# ---- Kernels ----


def _signature(op: Operator, tail: str) -> str:
    head = f"{types.return_type(op)} {op.identifier}("
    return wrapped(head, types.kernel_parameters(op), ")" + tail)


def _kernel(op: Operator) -> str:
    if op.kind == "out":
        lines = _out(op)
    elif any(a.is_write for a in op.inputs):
        lines = _inplace(op)
    else:
        lines = _functional(op)
    return text.function(_signature(op, " {"), [*_refuse(op), *forward.entry(op), *lines])


def _refuse(op: Operator) -> list[str]:
    """The statements that keep a gradient from getting lost without a word."""
    return [
        wrapped("check_underived(", [f'"{op.base}"', f'"{a.name}"', types.cpp_name(a.name)], ");", 2)
        for a in op.underived
    ]


def _redispatch(op: Operator, indent: int, head: str = "return ") -> str:
    names = [p.name for p in types.parameters(op)]
    call = f"{head}_ops::{op.identifier}::table("
    return wrapped(call, ["ks & c10::after_autograd_keyset", *names], ");", indent)


def _below(op: Operator, variable: str) -> list[str]:
    """The statements that run the operator itself and bind its result, or drop it."""
    if variable:
        return [
            f"  {variable} = [&] {{",
            "    AutoDispatchBelowAutograd guard;",
            _redispatch(op, 4),
            "  }();",
        ]
    return ["  {", "    AutoDispatchBelowAutograd guard;", _redispatch(op, 4, ""), "  }"]


def _passed_on(op: Operator) -> list[str]:
    return ["  AutoDispatchBelowAutograd guard;", _redispatch(op, 2)]


def _differentiable_arguments(op: Operator) -> list[Argument]:
    """The arguments whose requires_grad decides whether to record."""
    if op.derivative is not None and op.derivative.inputs:
        return Plan(op, op.derivative).arguments
    skipped = op.derivative.non_differentiable if op.derivative else ()
    return [a for a in op.inputs if a.type.holds_tensors and a.name not in skipped]


def _names(arguments: Sequence[Argument]) -> str:
    return ", ".join(types.cpp_name(a.name) for a in arguments)


def _new_node(op: Operator, pad: str, declare: bool) -> list[str]:
    """The statements that make the node, collect its edges and save the inputs."""
    head = f"{pad}auto grad_fn = " if declare else f"{pad}grad_fn = "
    arguments = _differentiable_arguments(op)
    edged = ["*grad_fn", *(types.cpp_name(a.name) for a in arguments)]
    edges = wrapped("collect_edges(", edged, ");", len(pad))
    if op.derivative is None or not op.derivative.inputs:
        return [f'{head}make_node<NotImplemented>("{op.name}");', edges]
    plan = Plan(op, op.derivative)
    lines = [f"{head}make_node<{op.derivative.node}>();", edges]
    for a in plan.arguments:
        if a.type.list:
            lines.append(f"{pad}grad_fn->{a.name}_count = {types.cpp_name(a.name)}.size();")
    for saved in op.derivative.saved:
        if not _is_taken_after(op, saved):
            lines += _save(op, plan, saved, pad)
    return lines


def _is_taken_after(op: Operator, saved: Saved) -> bool:
    if saved.source == "output":
        return True
    return saved.source == "expr" and saved.of not in {a.name for a in op.inputs}


def _save(op: Operator, plan: Plan, saved: Saved, pad: str) -> list[str]:
    name = types.cpp_name(saved.name)
    if not _is_tensor(saved):
        return [wrapped(f"{pad}grad_fn->{name} = ", [_plain_value(op, saved)], ";")]
    value = _source(op, saved)
    is_output = saved.source == "output"
    written = [a.name for a in op.inputs if a.is_write]
    if saved.type.list:
        line = f"{name}_ = save_list({value}, {str(is_output).lower()});"
    elif is_output and written:
        line = f"{name}_ = SavedTensor({value}, true, get_view_meta({value}) != nullptr);"
    elif is_output and plan.numbers_outputs:
        place = _result_names(op).index(value)
        known = plan.differentiable_outputs
        line = f"{name}_.save_output({value}, {known.index(place)});" if place in known else (
            f"{name}_.save_input({value});"
        )
    elif is_output:
        line = f"{name}_ = SavedTensor({value}, true);"
    elif saved.of in written:
        line = f"{name}_ = save_copy({value});"
    elif written and not saved.type.optional:
        line = f"{name}_ = save_beside({value}, {types.cpp_name(written[0])});"
    else:
        line = f"{name}_.save_input({value});"
    line = f"grad_fn->{line}"
    condition = plan.condition(saved)
    if condition is None:
        return [pad + line]
    if len(pad) + len(condition) + len(line) + 6 <= text.WIDTH:
        return [f"{pad}if ({condition}) {line}"]
    return [f"{pad}if ({condition}) {{", f"{pad}  {line}", f"{pad}}}"]


def _source(op: Operator, saved: Saved) -> str:
    """The variable that a saved value is taken from."""
    if saved.source == "output" and any(a.is_write for a in op.inputs):
        return next(types.cpp_name(a.name) for a in op.inputs if a.is_write)
    return types.cpp_name(saved.of)


def _plain_value(op: Operator, saved: Saved) -> str:
    if saved.source == "input":
        name = types.cpp_name(saved.of)
        if saved.type.list and saved.type.list_optional:
            owned = types.owned_type(saved.type)
            inner = owned[len("std::optional<") : -1]
            return f"{name}.has_value() ? {owned}({inner}({name}->begin(), {name}->end())) : std::nullopt"
        if saved.type.list and saved.type.base == "str":
            return f"{types.owned_type(saved.type)}({name}.begin(), {name}.end())"
        if saved.type.list and saved.type.base not in ("int", "bool"):
            return f"{name}.vec()"
        if saved.type.base == "str" and saved.type.optional:
            return f"{name}.has_value() ? std::optional<std::string>(*{name}) : std::nullopt"
        return name
    code = types.formula(op, saved.expr)
    if _stored_type(saved) == "DimVector":
        code = code.removesuffix(".vec()")
    return code


def _result_names(op: Operator) -> list[str]:
    if len(op.returns) == 1:
        return [types.cpp_name(op.returns[0].name or "result")]
    return [types.cpp_name(r.name or f"result{i}") for i, r in enumerate(op.returns)]


def _bind_results(op: Operator) -> list[str]:
    names = _result_names(op)
    declared = f"auto [{', '.join(names)}]" if len(names) > 1 else f"{types.return_type(op)} {names[0]}"
    return _below(op, declared)


def _return_results(op: Operator) -> str:
    names = _result_names(op)
    if len(names) == 1:
        return f"  return {names[0]};"
    return wrapped("return {", [f"std::move({n})" for n in names], "};", 2)


def _save_outputs(op: Operator, pad: str) -> list[str]:
    if op.derivative is None or not op.derivative.inputs:
        return []
    plan = Plan(op, op.derivative)
    lines = []
    for saved in op.derivative.saved:
        if _is_taken_after(op, saved):
            lines += _save(op, plan, saved, pad)
    return lines


def _functional(op: Operator) -> list[str]:
    names = _result_names(op)
    numbered = True
    if op.derivative is not None and op.derivative.inputs:
        plan = Plan(op, op.derivative)
        outputs, numbered = plan.differentiable_outputs, plan.numbers_outputs
    else:
        outputs = _differentiable_outputs(op, op.derivative)
    arguments = _differentiable_arguments(op)
    if not outputs or not arguments or (op.derivative is not None and not op.derivative.inputs):
        return _passed_on(op)
    # The last output takes the node over, after what the node saves of the outputs.
    history = [f"set_history({names[i]}, grad_fn);" for i in outputs]
    if numbered:
        history[-1] = history[-1].replace("grad_fn", "std::move(grad_fn)")
    recording = [*_save_outputs(op, ""), *history] if numbered else [*history, *_save_outputs(op, "")]
    condition = f"compute_requires_grad({_names(arguments)})"
    if not op.is_view:
        return [
            f"  if (!{condition}) {{",
            *("  " + line.replace("\n", "\n  ") for line in _passed_on(op)),
            "  }",
            *_new_node(op, "  ", declare=True),
            *_bind_results(op),
            *("  " + line for line in recording),
            _return_results(op),
        ]
    base = next(types.cpp_name(a.name) for a in op.inputs if a.alias is not None)
    node = op.derivative.node if op.derivative is not None else "NotImplemented"
    track = [
        f"  as_views({base}, {n});" if r.type.list else f"  as_view({base}, {n}, creation_meta());"
        for n, r in zip(names, op.returns)
    ]
    return [
        f"  c10::intrusive_ptr<{node}> grad_fn;",
        f"  if ({condition}) {{",
        *_new_node(op, "    ", declare=False),
        "  }",
        *_bind_results(op),
        *track,
        "  if (grad_fn) {",
        *("    " + line for line in recording),
        "  }",
        _return_results(op),
    ]


def _inplace(op: Operator) -> list[str]:
    written = [types.cpp_name(a.name) for a in op.inputs if a.is_write]
    arguments = _differentiable_arguments(op)
    shown = written + [types.cpp_name(a.name) for a in arguments if not a.is_write]
    bump = [f"  increment_version({name});" for name in written]
    returned = _return_written(op, written)
    lines = [wrapped("const bool requires_grad = compute_requires_grad(", shown, ");", 2)]
    lines += [f"  check_inplace({name}, requires_grad);" for name in written]
    if any(a.is_write and a.type.list for a in op.inputs):  # never recorded: see check_inplace
        return [*lines, *_below(op, ""), *bump, *returned]
    no_gradient = op.derivative is not None and not op.derivative.inputs
    make = (
        ["    grad_fn = make_node<NoGradient>();", f"    collect_edges(*grad_fn, {written[0]});"]
        if no_gradient
        else _new_node(op, "    ", declare=False)
    )
    node = "NoGradient" if no_gradient else op.derivative.node if op.derivative else "NotImplemented"
    rebase = "rebase_reshaped" if _RESHAPES_IN_PLACE in op.tags else "rebase_history"
    saves = [] if no_gradient else _save_outputs(op, "    ")
    passed = "grad_fn" if saves or len(written) > 1 else "std::move(grad_fn)"
    return [
        *lines,
        f"  c10::intrusive_ptr<{node}> grad_fn;",
        "  if (requires_grad) {",
        *make,
        "  }",
        *_below(op, ""),
        *bump,
        "  if (grad_fn) {",
        *(f"    {rebase}({name}, {passed});" for name in written),
        *saves,
        "  }",
        *returned,
    ]


def _return_written(op: Operator, written: list[str]) -> list[str]:
    if not op.returns:
        return []
    if len(op.returns) == 1:
        return [f"  return {written[0]};"]
    return [f"  return {{{', '.join(written)}}};"]


def _out(op: Operator) -> list[str]:
    outs = [types.cpp_name(a.name) for a in op.outs]
    arguments = [a for a in op.arguments if a.type.holds_tensors]
    skipped = op.derivative.non_differentiable if op.derivative else ()
    names = [types.cpp_name(a.name) for a in arguments if a.name not in skipped]
    return [
        wrapped(f'check_out_requires_grad("{op.base}", ', names, ");", 2),
        *_below(op, ""),
        *(f"  increment_version({name});" for name in outs),
        *_return_written(op, outs),
    ]
