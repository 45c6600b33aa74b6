"""Forward mode in generated/autograd: the `_dual` functions, which run an operator and compute the
tangent of its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from codegen.backend import expression, text, types
from codegen.backend.model import Argument, Forward, Model, Operator, Term
from codegen.backend.text import wrapped


@dataclass(frozen=True)
class DualText:
    """What autograd_Family.cpp.j2 shows of one function."""

    comments: list[str]
    body: str


def dual_name(op: Operator) -> str:
    return f"{op.identifier}_dual"


def arguments(op: Operator) -> list[Argument]:
    """The arguments whose tangents matter: those that have a gradient."""
    if op.derivative is None:
        return [a for a in op.inputs if a.type.holds_tensors]
    names = {name for g in op.derivative.inputs for name in g.names}
    written = {a.name for a in op.inputs if a.is_write}
    return [a for a in op.inputs if a.name in names or a.name in written]


def _has_differentiable_output(op: Operator) -> bool:
    if any(a.is_write for a in op.inputs):
        return True
    flags = op.derivative.output_differentiability if op.derivative else None
    return any(r.type.holds_tensors for r in op.returns) and (not flags or any(flags))


def entry(op: Operator) -> list[str]:
    """The statements with which a kernel hands duals over."""
    if op.kind == "out" or not arguments(op) or not _has_differentiable_output(op):
        return []
    given = ", ".join(types.cpp_name(a.name) for a in arguments(op))
    condition = f"forward_ad::is_on() && forward_ad::any_tangent({given})"
    if not has_dual(op):
        call = f'forward_ad::throw_no_formula("{op.base}");'
    else:
        passed = ["ks", *(p.name for p in types.parameters(op))]
        call = wrapped(f"return {dual_name(op)}(", passed, ");", 4).lstrip()
    head = f"  if ({condition}) {{"
    if len(head) > text.WIDTH:
        names = [types.cpp_name(a.name) for a in arguments(op)]
        head = wrapped("if (forward_ad::is_on() && forward_ad::any_tangent(", names, ")) {", 2)
    return [head, f"    {call}", "  }"]


def _is_constant_in_place(op: Operator) -> bool:
    """An operator that overwrites its argument with something that has no derivative."""
    return op.derivative is not None and not op.derivative.inputs and op.kind == "inplace"


def has_dual(op: Operator) -> bool:
    if op.kind == "out" or op.derivative is None or not _has_differentiable_output(op):
        return False
    return bool(op.derivative.forward) or _is_constant_in_place(op)


def dual(model: Model, op: Operator, result_names: list[str]) -> Optional[DualText]:
    if not has_dual(op):
        return None
    comments = [text.comment(op.schema)]
    for formula in op.derivative.forward:
        comments.append(text.comment(f"{', '.join(formula.names)}: {formula.formula}", 0, "//   "))
    # Kept apart, so that the kernel itself stays as small as without it.
    head = f"OPLOOM_COLD {types.return_type(op)} {dual_name(op)}("
    opening = wrapped(head, types.kernel_parameters(op), ") {")
    write = any(a.is_write for a in op.inputs)
    lines = _inplace(model, op) if write else _functional(model, op, result_names)
    return DualText(comments, text.function(opening, ["  const forward_ad::Pause pause;", *lines]))


class _Tangents:
    """The tangents that the formulas of an operator use, and which of them may be missing."""

    def __init__(self, op: Operator) -> None:
        by_name = {a.name: a for a in op.inputs}
        forward = op.derivative.forward
        terms = [t for f in forward for t in f.terms]
        used = frozenset().union(
            *(t.names for t in terms), *(f.together.names for f in forward if f.together)
        )
        wanted = {n for t in terms for n in t.tangents}
        self.used = [a for a in op.inputs if a.name in wanted]
        self.mentioned = {a.name for a in self.used if f"{a.name}_t" in used}
        # Where a term needs several, missing ones are zeros.
        together = {n for t in terms if len(t.tangents) > 1 for n in t.tangents}
        self.zeros = {n for n in together if n in self.mentioned}
        self.zeros |= {n for n in wanted if by_name[n].type.list}
        self.certain = set(self.zeros) | (together - self.mentioned)
        if len(arguments(op)) == 1:
            self.certain |= wanted

    def declarations(self) -> list[str]:
        lines = []
        for a in self.used:
            if a.name not in self.mentioned and a.name in self.certain:
                continue
            function = "tangent_or_zeros" if a.name in self.zeros else "tangent_of"
            kind = "std::vector<Tensor>" if a.type.list else "Tensor"
            name = types.cpp_name(a.name)
            lines.append(f"  const {kind} {a.name}_t = forward_ad::{function}({name});")
        return lines

    def condition(self, term: Term) -> str:
        names = [f"{n}_t.defined()" for n in term.tangents if n not in self.certain]
        return " && ".join(names)


def _value(model: Model, op: Operator, term: Term, indent: int) -> tuple[list[str], str]:
    """The statements before a term, and the term."""
    if term.program is None:
        return [], types.formula(op, term.cpp)
    scalars = expression.number_values(op)
    return expression.tensor_statements(model, term.program, scalars, indent)


def _sum(model: Model, op: Operator, formula: Forward, tangents: _Tangents, target: str,
         indent: int) -> list[str]:
    """The statements that compute the tangent of one result."""
    pad = " " * indent
    if len(formula.terms) == 1 and not tangents.condition(formula.terms[0]):
        before, value = _value(model, op, formula.terms[0], indent)
        return [*before, text.assign(f"{pad}Tensor {target} = ", value)]
    lines = [f"{pad}Tensor {target};"]
    if formula.together:
        names = [n for t in formula.terms for n in t.tangents]
        condition = " && ".join(f"{n}_t.defined()" for n in dict.fromkeys(names))
        lines += [
            f"{pad}if ({condition}) {{",
            text.assign(f"{pad}  {target} = ", types.formula(op, formula.together)),
            f"{pad}}} else {{",
            *("  " + line.replace("\n", "\n  ") for line in _terms(model, op, formula, tangents, target, indent)),
            f"{pad}}}",
        ]
        return lines
    return lines + _terms(model, op, formula, tangents, target, indent)


def _terms(model: Model, op: Operator, formula: Forward, tangents: _Tangents, target: str,
           indent: int) -> list[str]:
    pad = " " * indent
    lines = []
    for term in formula.terms:
        condition = tangents.condition(term)
        inner = indent + 2 if condition or term.program else indent
        before, value = _value(model, op, term, inner)
        add = text.assign(f"{' ' * inner}forward_ad::add_term({target}, ", value, ");")
        if condition:
            lines += [f"{pad}if ({condition}) {{", *before, add, f"{pad}}}"]
        elif before:
            lines += [f"{pad}{{", *before, add, f"{pad}}}"]
        else:
            lines.append(text.assign(f"{pad}forward_ad::add_term({target}, ", value, ");"))
    return lines


def _run(op: Operator, head: str) -> str:
    names = ["ks", *(p.name for p in types.parameters(op))]
    return wrapped(f"{head}kernels::{op.identifier}(", names, ");", 2)


def _functional(model: Model, op: Operator, results: list[str]) -> list[str]:
    head = f"auto [{', '.join(results)}] = " if len(results) > 1 else f"auto {results[0]} = "
    tangents = _Tangents(op)
    lines = [_run(op, head), *tangents.declarations()]
    store = "set_view_tangent" if op.is_view else "set_tangent"
    names = [r.name or ("result" if len(op.returns) == 1 else f"result{i}")
             for i, r in enumerate(op.returns)]
    for formula in op.derivative.forward:
        given = formula.names[0]
        place = names.index(given) if given in names else int(given.removeprefix("result") or 0)
        result = results[place]
        target = f"{result}_t"
        if op.returns[place].type.list:
            _, value = _value(model, op, formula.terms[0], 2)
            lines.append(text.assign(f"  auto {target} = ", value))
        elif len(results) > 1:
            # The caller may not have asked for all of them.
            lines += [
                f"  if ({result}.defined()) {{",
                *_sum(model, op, formula, tangents, target, 4),
                f"    forward_ad::{store}({result}, std::move({target}));",
                "  }",
            ]
            continue
        else:
            lines += _sum(model, op, formula, tangents, target, 2)
        lines.append(f"  forward_ad::{store}({result}, std::move({target}));")
    if len(results) == 1:
        return [*lines, f"  return {results[0]};"]
    return [*lines, wrapped("return {", [f"std::move({n})" for n in results], "};", 2)]


def _inplace(model: Model, op: Operator) -> list[str]:
    written = [types.cpp_name(a.name) for a in op.inputs if a.is_write]
    returned = [] if not op.returns else [f"  return {written[0]};"]
    run = _run(op, "")
    if _is_constant_in_place(op):
        lines = [f"  forward_ad::update_tangent({name}, Tensor());" for name in written]
        return [run, *lines, *returned]
    formula = op.derivative.forward[0]
    tangents = _Tangents(op)
    compute = _sum(model, op, formula, tangents, "result_t", 2)
    if "inplace_view" in op.tags:
        store = f"  forward_ad::reshape_tangent({written[0]}, std::move(result_t));"
    else:
        store = f"  forward_ad::update_tangent({written[0]}, result_t);"
    before = tangents.declarations()
    if formula.uses_self:
        before.append("  const Tensor self_p = self.clone();")
    if formula.uses_output:
        return [*before, run, *compute, store, *returned]
    return [*before, *compute, run, store, *returned]
