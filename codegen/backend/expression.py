"""Kernels of expression operators, and C++ for programs of operators on tensors.

generated/stubs/<Family>.h declares the kernels, generated/cpu/<Family>.cpp defines them and is
compiled once for each instruction set; generated/cuda/<Family>.cu defines the same ones for a GPU.
What calls them, shape functions and the like, is rendered by dispatch.py into
generated/dispatch/<Family>.cpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Sequence

import jinja2

from codegen.backend import text, types
from codegen.backend.model import Expression, Instruction, Model, Operator, Program
from codegen.backend.text import wrapped

_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and": "&",
    "or": "|",
}


def is_number(argument: str) -> bool:
    return argument[0].isdigit() or argument[0] == "-" or argument in ("inf", "nan")


def number(value: str, kind: str) -> str:
    """A decimal number as C++ of type `kind`."""
    if value in ("inf", "-inf"):
        return f"{value[:-3]}std::numeric_limits<{kind}>::infinity()"
    if value == "nan":
        return f"std::numeric_limits<{kind}>::quiet_NaN()"
    return f"{kind}({value})"


# ---- Programs as text ----


def _uses(program: Program) -> dict[str, int]:
    counts: dict[str, int] = {}
    for instruction in program.instructions:
        for argument in instruction.arguments:
            counts[argument] = counts.get(argument, 0) + 1
    for output in program.outputs:
        counts[output] = counts.get(output, 0) + 1
    return counts


def statements(
    program: Program,
    spell: Callable[[Instruction, list[str]], str],
    leaf: Callable[[str], str],
    skip: Sequence[str] = (),
    indent: int = 2,
    kind: str = "const auto",
) -> tuple[list[str], list[str]]:
    """The program as statements, and the text of its outputs.

    A value that is used once is written where it is used, until lines grow long. `spell` writes one
    operation, `leaf` an argument or a number; instructions named in `skip` have been computed
    elsewhere and are leaves.
    """
    counts = _uses(program)
    values: dict[str, str] = {}
    lines = []

    def name(value: str) -> None:
        lines.append(text.assign(f"{' ' * indent}{kind} {value} = ", values[value]))
        values[value] = value

    def spelled(instruction: Instruction) -> str:
        return spell(instruction, [values.get(a) or leaf(a) for a in instruction.arguments])

    for instruction in program.instructions:
        if instruction.name in skip:
            continue
        value = spelled(instruction)
        # Where no line holds it, and it cannot be broken at commas, its longest argument is named.
        inlined = [a for a in instruction.arguments if values.get(a, a) != a]
        inlined.sort(key=lambda a: len(values[a]))
        while inlined and indent + 4 + len(value) >= text.WIDTH and not text.outermost_call(value):
            name(inlined.pop())
            value = spelled(instruction)
        result = instruction.name in program.outputs
        if counts[instruction.name] == 1 and (result or len(value) < 60):
            values[instruction.name] = value
            continue
        values[instruction.name] = value
        name(instruction.name)
    return lines, [values.get(o) or leaf(o) for o in program.outputs]


def _bracketed(argument: str) -> str:
    """An operand of an operator."""
    simple = re.fullmatch(r"[\w.:<>]+(\(.*\))?", argument)
    return argument if simple and _balanced(argument) else f"({argument})"


def _balanced(argument: str) -> bool:
    """Whether the first bracket closes at the end: `f(a)`, and not `f(a) + g(b)`."""
    depth = 0
    for i, c in enumerate(argument):
        depth += (c == "(") - (c == ")")
        if depth == 0 and c == ")" and i + 1 < len(argument):
            return False
    return True


# ---- Kernels ----


def _vec(instruction: Instruction, arguments: list[str]) -> str:
    operator = _OPERATORS.get(instruction.operation)
    if operator:
        return f"{_bracketed(arguments[0])} {operator} {_bracketed(arguments[1])}"
    if instruction.operation == "not":
        return f"!{_bracketed(arguments[0])}"
    return f"{instruction.operation}({', '.join(arguments)})"


@dataclass(frozen=True)
class Target:
    """What a kernel's functor is written in terms of."""

    numbers: str  # the class that holds what is computed at once
    function: str  # before a function of a kernel
    outputs: str  # the class of several results


CPU = Target("Vec<T>", "OPLOOM_ALWAYS_INLINE", "std::array")
CUDA = Target("Number<T>", "OPLOOM_HOST_DEVICE", "Outputs")


@dataclass(frozen=True)
class Kernel:
    """One loop: what expression_kernels.cpp.j2 and expression_kernels.cu.j2 show of it."""

    name: str  # of its stub, without `_stub`
    comment: str
    body: str  # the class template
    kind: str  # of aten/cpu/Expression.h: floating, complex, numeric, any or truth

    @property
    def cuda_registration(self) -> str:
        kernel = f"{self.kind}_kernel<{self.name}_op>"
        return wrapped("OPLOOM_REGISTER_CUDA_KERNEL(", [f"{self.name}_stub", kernel], ");")


def kernels(op: Operator, target: Target = CPU) -> list[Kernel]:
    """The kernel of an operator. A gradient of several inputs has one more for each of them alone."""
    expression = op.expression
    # On the CPU, where there is no kernel for integers, nothing is computed.
    integers = expression.integers and not (expression.false_of_integers and target is CPU)
    kind = "truth" if expression.promotion == "bool" and integers else {
        (False, False): "floating",
        (False, True): "complex",
        (True, False): "numeric",
        (True, True): "any",
    }[(integers, expression.complex)]
    outputs = expression.program.outputs
    note = text.comment(f"{op.schema}: {expression.text}")
    whole = _kernel_class(op, op.identifier, expression.program, target)
    made = [Kernel(op.identifier, note, whole, kind)]
    if len(outputs) > 1:
        for i, output in enumerate(outputs):
            name = f"{op.identifier}_{i}"
            note = text.comment(f"{op.schema}, output {i} alone")
            part = expression.program.part(output)
            made.append(Kernel(name, note, _kernel_class(op, name, part, target), kind))
    return made


def _properties(expression: Expression) -> list[str]:
    """What aten/cpu/Expression.h chooses loops by."""
    lines = [f"  static constexpr int kCost = {expression.cost};"]
    if expression.signs:
        lines.append("  static constexpr bool kSigns = true;")
    return lines


def _kernel_class(op: Operator, name: str, program: Program, target: Target) -> str:
    expression = op.expression
    uniform = [i for i in program.instructions if i.uniform]
    flags = {a.name for a in op.inputs if a.type.base == "bool"}
    computed = [i for i in program.instructions if not i.uniform] if target is CPU else []
    two_forms = any(i.two_forms for i in computed)
    short_forms = expression.short_forms and any(i.short_form for i in computed)
    many_constants = any(i.many_constants for i in computed)
    functions = {i.operation for i in program.instructions} | {"usual"}

    def named(argument: str) -> str:
        # A parameter would hide what has its name.
        return argument + "_" if argument in functions else types.cpp_name(argument)

    def leaf(argument: str) -> str:
        return f"V({number(argument, 'T')})" if is_number(argument) else named(argument)

    known = flags | {i.name for i in uniform}

    def spell(instruction: Instruction, arguments: list[str]) -> str:
        # What is the same for all elements is decided before one of two values is computed.
        if instruction.operation == "select" and instruction.arguments[0] in known:
            condition, chosen, other = arguments
            return f"all({condition}) ? {chosen} : {other}"
        # See Note [Usual arguments] in aten/cpu/vec/math_base.h.
        told = (two_forms and instruction.two_forms) or (short_forms and instruction.short_form)
        return _vec(instruction, ["usual", *arguments] if told else arguments)

    used = _uses(program)
    scalars = [(s, i) for i, s in enumerate(expression.scalars) if s in used]

    members = []
    initialisers = []
    for scalar, place in scalars:
        member = named(scalar)
        if scalar in flags:
            members.append(f"  typename V::Mask {member};")
            initialisers.append(f"{member}(truth<V>(numbers[{place}].to<bool>()))")
        else:
            members.append(f"  V {member};")
            initialisers.append(f"{member}(numbers[{place}].to<T>())")
    setup = []
    for instruction in uniform:
        value = _vec(instruction, [leaf(a) for a in instruction.arguments])
        members.append(f"  {'typename V::Mask' if instruction.truth else 'V'} {instruction.name};")
        setup.append(f"    {instruction.name} = {value};")
    head = f"  explicit {name}_op(const Scalar*{' numbers' if initialisers else ''})"
    if initialisers:
        head = wrapped(f"{head} : ", initialisers, " {")
    else:
        head += " {"
    constructor = "\n".join([head, *setup, "  }"]) if setup else head + "}"

    parameters = [f"const V& {named(i)}" if i in used else "const V&" for i in expression.inputs]
    lines, outputs = statements(
        program, spell, leaf, skip=[i.name for i in uniform], indent=4
    )
    if len(outputs) == 1:
        lines.append(text.assign("    return ", outputs[0]))
    else:
        lines.append(wrapped(f"return {target.outputs}<V, {len(outputs)}>{{", outputs, "};", 4))
    if two_forms or short_forms:
        parameters.insert(0, "U& usual")
    call = wrapped(f"  {target.function} auto operator()(", parameters, ") const {")
    return "\n".join(
        [
            "template <typename T>",
            f"struct {name}_op {{",
            f"  static constexpr int kOutputs = {len(outputs)};",
            f"  static constexpr int kInputs = {len(expression.inputs)};",
            *(_properties(expression) if target is CPU else []),
            *(["  static constexpr bool kTwoForms = true;"] if two_forms else []),
            *(["  static constexpr bool kShortForms = true;"] if short_forms else []),
            *(["  static constexpr bool kManyConstants = true;"] if many_constants else []),
            f"  using V = {target.numbers};",
            constructor,
            *(["  template <typename U>"] if two_forms or short_forms else []),
            text.function(call, lines),
            *members,
            "};",
        ]
    )


# ---- What calls the kernels ----


def bodies(model: Model, op: Operator) -> list[tuple[str, str]]:
    """Definitions for the operator, each with the namespace that it belongs to."""
    if op.expression is None:
        return []
    if op.structured is None:
        return [("native", _gradient(op))]
    meta = f"structured_{op.structured.meta}"
    inputs = [types.parameter(a).declaration for a in op.inputs]
    tensors = ", ".join(f"&{types.cpp_name(i)}" for i in op.expression.inputs)
    shape = [
        wrapped(
            "native::build_expression(",
            ["*this", "maybe_get_output()", f"{{{tensors}}}", f"{{{_traits(op, 'native::')}}}"],
            ");",
            2,
        )
    ]
    body = [*_requirements(model, op), *shape]
    made = [("meta", text.function(wrapped(f"void {meta}::meta(", inputs, ") {"), body))]
    for implementation in sorted(set(op.structured.impl.values())):
        run = [
            *_numbers(op),
            f"  const ExpressionKernel* kernel = {op.identifier}_stub.get(device_type());",
            f"  kernel->run(*this, *kernel, {'numbers' if op.expression.scalars else 'nullptr'});",
        ]
        head = wrapped(
            f"void structured_{implementation}::impl(", [*inputs, "const Tensor& out"], ") {"
        )
        made.append(("native", text.function(head, run)))
    return made


def _requirements(model: Model, op: Operator) -> list[str]:
    """The checks of an operator's numbers."""
    lines = []
    for requirement in op.expression.requirements:
        condition = number_text(model, requirement.program, number_values(op))
        message = ["this->op_name()"]
        before = f"(): expected {' '.join(requirement.text.split())}, got "
        for name in requirement.scalars:
            label = f"{name} = " if len(requirement.scalars) > 1 else ""
            message += [text.quoted(before + label), types.cpp_name(name)]
            before = ", "
        lines.append(wrapped("OPLOOM_CHECK_VALUE(", [condition, *message], ");", 2))
    return lines


def _traits(op: Operator, scope: str = "") -> str:
    promotion = {"same": "Same", "float": "ToFloat", "bool": "Truth"}[op.expression.promotion]
    integers = "true" if op.expression.integers else "false"
    complex_numbers = "true" if op.expression.complex else "false"
    return (
        f"{scope}ExpressionTraits::Promotion::{promotion}, /*integers=*/{integers}, "
        f"/*complex=*/{complex_numbers}{'' if op.expression.reduced else ', /*reduced=*/false'}"
    )


def _numbers(op: Operator) -> list[str]:
    if not op.expression.scalars:
        return []
    by_name = {a.name: a for a in op.inputs}
    values = [
        types.cpp_name(s) if by_name[s].type.base == "Scalar" else f"Scalar({types.cpp_name(s)})"
        for s in op.expression.scalars
    ]
    return [wrapped("const Scalar numbers[] = {", values, "};", 2)]


def _gradient(op: Operator) -> str:
    """The native function of a gradient: new tensors, as many as are wanted."""
    count = len(op.returns)
    inputs = [types.parameter(a).declaration for a in op.inputs]
    head = wrapped(f"{types.return_type(op)} {op.identifier}(", inputs, ") {")
    first = types.cpp_name(op.expression.inputs[0])
    tensors = "{" + ", ".join(f"&{types.cpp_name(i)}" for i in op.expression.inputs) + "}"
    numbers = "numbers" if op.expression.scalars else "nullptr"

    def compute(stub: str, outputs: str, indent: int) -> str:
        kernel = f"{first}.is_meta() ? nullptr : {stub}.get({first}.device().type())"
        values = [f'"{op.base}"', kernel, outputs, tensors, numbers, f"{{{_traits(op)}}}"]
        return wrapped("compute_expression(", values, ");", indent)

    lines = _numbers(op)
    mask = types.cpp_name(op.inputs[-1].name)
    if count == 1:
        lines += ["  Tensor result;", compute(f"{op.identifier}_stub", "{&result}", 2), "  return result;"]
        return text.function(head, lines)
    names = [f"result{i}" for i in range(count)]
    lines.append(f"  Tensor {', '.join(names)};")
    for i, name in enumerate(names):
        others = [f"!{mask}[{k}]" for k in range(count) if k != i]
        word = "  if" if i == 0 else "  } else if"
        lines.append(f"{word} ({mask}[{i}] && {' && '.join(others)}) {{")
        lines.append(compute(f"{op.identifier}_{i}_stub", f"{{&{name}}}", 4))
    everything = ", ".join(f"&{name}" for name in names)
    lines += [
        "  } else {",
        compute(f"{op.identifier}_stub", f"{{{everything}}}", 4),
        "  }",
        f"  return {{{', '.join(names)}}};",
    ]
    return text.function(head, lines)


# ---- Programs of operators on tensors ----


def number_values(op: Operator) -> dict[str, str]:
    """The C++ of the value of each argument that is a number."""
    return {
        a.name: types.cpp_name(a.name) + (".toDouble()" if a.type.base == "Scalar" else "")
        for a in op.inputs
        if not a.type.holds_tensors
    }


def number_text(model: Model, program: Program, scalars: dict[str, str]) -> str:
    """A program of numbers alone as one expression."""
    values: dict[str, str] = {}
    for instruction in program.instructions:
        arguments = [values.get(a) or _number_leaf(a, scalars) for a in instruction.arguments]
        values[instruction.name] = _number_operation(instruction.operation, arguments)
    output = program.outputs[0]
    return values.get(output) or _number_leaf(output, scalars)


def _number_leaf(argument: str, scalars: dict[str, str]) -> str:
    if is_number(argument):
        return number(argument, "double") if argument[-1] in "fn" else argument
    return scalars.get(argument, types.cpp_name(argument))


def tensor_statements(
    model: Model, program: Program, scalars: dict[str, str], indent: int
) -> tuple[list[str], str]:
    """A program of tensor operators, for generated/autograd. `scalars` gives the C++ of the numbers
    among the arguments."""
    numbers = {i.name for i in program.instructions if i.uniform} | set(scalars)
    at = model.package.at  # a package may have an operator of the same name

    def leaf(argument: str) -> str:
        match = re.fullmatch(r"grads\[(\d+)\]", argument)
        return f"grad_{match.group(1)}" if match else _number_leaf(argument, scalars)

    def spell(instruction: Instruction, arguments: list[str]) -> str:
        operation = instruction.operation
        if instruction.uniform:
            return _number_operation(operation, arguments)
        if operation in ("add", "sub", "mul", "div"):
            return f"{_bracketed(arguments[0])} {_OPERATORS[operation]} {_bracketed(arguments[1])}"
        if operation == "neg":
            return f"-{_bracketed(arguments[0])}"
        if operation == "conj":
            return f"{_bracketed(arguments[0])}.conj()"
        as_tensor = [
            f"number({value})" if is_number(operand) or operand in numbers else value
            for value, operand in zip(arguments, instruction.arguments)
        ]
        if operation == "select":
            condition = instruction.arguments[0]
            if condition in numbers:
                return f"({arguments[0]} ? {as_tensor[1]} : {as_tensor[2]})"
            return f"{at}where({', '.join(arguments)})"
        name = f"logical_{operation}" if operation in ("and", "or", "not") else operation
        passed = [
            value if place in model.package.number_arguments.get(name, ()) else wrapped_value
            for place, (value, wrapped_value) in enumerate(zip(arguments, as_tensor))
        ]
        return f"{at}{name}({', '.join(passed)})"

    lines, outputs = statements(program, spell, leaf, indent=indent)
    return lines, outputs[0]


def calls_number_functions(program: Program) -> bool:
    """Whether C++ for the program computes functions of numbers that are no tensors."""
    own = {*_OPERATORS, "conj", "neg", "not", "select"}
    return any(i.uniform and i.operation not in own for i in program.instructions)


def _number_operation(operation: str, arguments: list[str]) -> str:
    if operation == "div":
        # Of whole numbers C++ would drop the remainder.
        top = arguments[0]
        arguments = [f"{top}." if top.lstrip("-").isdigit() else f"double({top})", arguments[1]]
    if operation == "neg":
        return f"-{_bracketed(arguments[0])}"
    if operation in _OPERATORS:
        symbol = {"and": "&&", "or": "||"}.get(operation, _OPERATORS[operation])
        return f"{_bracketed(arguments[0])} {symbol} {_bracketed(arguments[1])}"
    if operation == "conj":  # numbers are real
        return arguments[0]
    if operation == "not":
        return f"!{_bracketed(arguments[0])}"
    if operation == "select":
        return f"({' ? '.join(_bracketed(a) for a in arguments[:2])} : {_bracketed(arguments[2])})"
    return f"c10::numbers::{operation}({', '.join(arguments)})"


# ---- Files ----


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    outputs = {}
    sources = []
    folder = model.package.folder
    for family, operators in model.families.items():
        made = [kernel for op in operators if op.expression for kernel in kernels(op)]
        if not made:
            continue
        sources.append(family)
        outputs[f"{folder}/stubs/{family}.h"] = env.get_template("expression_stubs.h.j2").render(
            family=family, kernels=made
        )
        outputs[f"{folder}/cpu/{family}.cpp"] = env.get_template("expression_kernels.cpp.j2").render(
            family=family, kernels=made
        )
        made = [k for op in operators if op.expression for k in kernels(op, CUDA)]
        outputs[f"{folder}/cuda/{family}.cu"] = env.get_template("expression_kernels.cu.j2").render(
            family=family, kernels=made
        )
    if model.package.in_tree:
        for place, suffix, variable in (
            ("cpu", "cpp", "OPLOOM_EXPRESSION_KERNELS"),
            ("cuda", "cu", "OPLOOM_CUDA_EXPRESSION_KERNELS"),
        ):
            outputs[f"generated/{place}/sources.cmake"] = env.get_template(
                "expression_sources.cmake.j2"
            ).render(families=sources, place=place, suffix=suffix, variable=variable)
        outputs["generated/stubs/CMakeLists.txt"] = env.get_template(
            "expression_CMakeLists.j2"
        ).render()
    return outputs
