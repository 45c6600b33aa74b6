"""generated/ops: the C++ API. One header per operator, class Tensor, the umbrella Functions.h."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional, Sequence

import jinja2

from codegen.backend import text, types
from codegen.backend.model import Model, Operator, Package
from codegen.backend.text import wrapped
from codegen.backend.types import Parameter

# Operator name -> the number of its first parameters that must not have a default.
Trimmed = dict[str, int]

# C++ operators on tensors: spelling, operator that does it. Each exists when its operator does.
_BINARY = [
    ("+", "add"),
    ("-", "sub"),
    ("*", "mul"),
    ("/", "div"),
    ("%", "remainder"),
    ("&", "bitwise_and"),
    ("|", "bitwise_or"),
    ("^", "bitwise_xor"),
    ("<<", "bitwise_left_shift"),
    (">>", "bitwise_right_shift"),
    ("<", "lt"),
    ("<=", "le"),
    (">", "gt"),
    (">=", "ge"),
    ("==", "eq"),
    ("!=", "ne"),
]
_COMPOUND = [
    ("+=", "add_"),
    ("-=", "sub_"),
    ("*=", "mul_"),
    ("/=", "div_"),
    ("&=", "bitwise_and_"),
    ("|=", "bitwise_or_"),
    ("^=", "bitwise_xor_"),
    ("<<=", "bitwise_left_shift_"),
    (">>=", "bitwise_right_shift_"),
]
_UNARY = [("-", "neg"), ("~", "bitwise_not"), ("!", "logical_not")]


@dataclass(frozen=True)
class Block:
    """What ops_header.j2 shows of one operator."""

    op: Operator
    signature: str
    call: str
    functions: list[str]  # whole inline functions
    methods: list[str]


def render(model: Model, env: jinja2.Environment) -> dict[str, str]:
    outputs = {}
    folder = f"{model.package.folder}/ops"
    header = env.get_template("ops_header.j2")
    for root, operators in model.roots.items():
        trimmed = _ambiguous_defaults([op for op in operators if op.is_function], method=False)
        blocks = [_block(model, op, trimmed) for op in operators]
        outputs[f"{folder}/{root}.h"] = header.render(root=root, blocks=blocks)
    outputs[model.package.api_header] = env.get_template("ops_Functions.j2").render(
        roots=[root for root, ops in model.roots.items() if not all(op.internal for op in ops)]
    )
    if model.package.in_tree:
        outputs |= _tensor_class(model, env)
    else:
        outputs[model.package.base_header] = env.get_template("ops_namespace.j2").render()
    return outputs


def _tensor_class(model: Model, env: jinja2.Environment) -> dict[str, str]:
    outputs = {}
    outputs["generated/ops/Tensor.h"] = env.get_template("ops_Tensor.j2").render(
        methods=_method_declarations(model),
        bases=model.bases,
        names=model.by_name,
        compound=_compound(model),
    )
    outputs["generated/ops/TensorOperators.h"] = env.get_template("ops_TensorOperators.j2").render(
        compound=_compound(model),
        functions=_operator_functions(model),
        roots=_operator_roots(model),
        bases=model.bases,
        names=model.by_name,
    )
    outputs["generated/ops/CMakeLists.txt"] = env.get_template("ops_CMakeLists.j2").render()
    return outputs


# ---- One operator ----


def _block(model: Model, op: Operator, trimmed: Trimmed) -> Block:
    params = types.parameters(op)
    returns = types.return_type(op)
    return Block(
        op=op,
        signature=wrapped(f"using schema = {returns}(", [p.type for p in params], ");", 2),
        call=wrapped(f"OPLOOM_API static {returns} call(", types.declarations(params), ");", 2),
        functions=_functions(model.package, op, trimmed) if op.is_function else [],
        methods=_methods(model.package, op) if op.is_method else [],
    )


def _function(
    head: str, params: Sequence[Parameter], body: list[str], defaults: bool, const: bool = False
) -> str:
    tail = ") const {" if const else ") {"
    return text.function(wrapped(f"{head}(", types.declarations(params, defaults), tail), body)


def _call(op: Operator, arguments: list[str]) -> str:
    return wrapped(f"return _ops::{op.identifier}::call(", arguments, ");", 2)


def _functions(package: Package, op: Operator, trimmed: Trimmed) -> list[str]:
    """at::name, in all its forms."""
    returns = types.return_type(op)
    name = types.native_name(op)
    params = types.parameters(op)
    names = [p.name for p in params]
    head = f"inline {returns} {name}"
    if op.kind == "out":
        first = _trim(types.out_first_parameters(op), trimmed.get(op.name))
        return [
            _function(head, first, [_call(op, names)], defaults=True),
            _function(f"{head}f", params, [_call(op, names)], defaults=False),
        ]
    if op.tensor_options:
        return [
            _with_options(package, op, head, params, method=False, keep=trimmed.get(op.name)),
            _function(head, params, [_call(op, names)], defaults=False),
        ]
    params = _trim(params, trimmed.get(op.name))
    return [_function(head, params, [_call(op, names)], defaults=True)]


def _methods(package: Package, op: Operator) -> list[str]:
    """The inline definitions of the methods that Tensor.h declares."""
    head = f"inline {types.return_type(op)} Tensor::{op.base}"
    params = [p for p in types.parameters(op) if p.name != "self"]
    names = [_this(op) if p.name == "self" else p.name for p in types.parameters(op)]
    if op.tensor_options:
        return [
            _with_options(package, op, head, types.parameters(op), method=True),
            _function(head, params, [_call(op, names)], defaults=False, const=True),
        ]
    return [_function(head, params, [_call(op, names)], defaults=False, const=True)]


def _this(op: Operator) -> str:
    argument = op.self_argument
    return "const_cast<Tensor&>(*this)" if argument and argument.is_write else "*this"


def _options_parameters(op: Operator, params: Sequence[Parameter]) -> list[Parameter]:
    """The parameters with `TensorOptions options` in the place of the four."""
    result = []
    for p in params:
        if p.argument is None or not types.is_option(op, p.argument):
            result.append(p)
        elif p.name == "dtype":
            default = "{}" if p.default in ("std::nullopt", None) else p.default
            result.append(Parameter("options", "TensorOptions", default, None))
    return result


_OPTION_VALUES = {
    "dtype": "options.dtype_opt()",
    "layout": "options.layout_opt()",
    "device": "options.device_opt()",
    "pin_memory": "options.pinned_memory_opt()",
}


def _with_options(
    package: Package,
    op: Operator,
    head: str,
    params: Sequence[Parameter],
    method: bool,
    keep: Optional[int] = None,
) -> str:
    every = _trim(_options_parameters(op, params), keep)
    shown = [p for p in every if not (method and p.name == "self")]
    values = []
    for p in params:
        if p.argument is not None and types.is_option(op, p.argument):
            values.append(_OPTION_VALUES[p.name])
        elif p.argument is not None and p.argument.type.base == "MemoryFormat":
            values.append(f"{package.at}detail::memory_format_of(options, {p.name})")
        elif method and p.name == "self":
            values.append(_this(op))
        else:
            values.append(p.name)
    call = wrapped(f"Tensor result = _ops::{op.identifier}::call(", values, ");", 2)
    body = [call, f"  return {package.at}detail::with_requires_grad(std::move(result), options);"]
    return _function(head, shown, body, defaults=not method, const=method)


# ---- class Tensor ----


def _method_declarations(model: Model) -> list[str]:
    lines = []
    trimmed: Trimmed = {}
    for operators in model.roots.values():
        methods = [op for op in operators if op.is_method]
        trimmed.update(_ambiguous_defaults(methods, method=True))
    for op in model.operators:
        if not op.is_method:
            continue
        keep = trimmed.get(op.name)
        returns = types.return_type(op)
        every = types.parameters(op)
        shown = [p for p in every if p.name != "self"]
        if op.tensor_options:
            options = [p for p in _options_parameters(op, every) if p.name != "self"]
            options = _trim(options, keep)
            lines.append(_declaration(f"{returns} {op.base}", options, True))
            lines.append(_declaration(f"{returns} {op.base}", shown, False))
        else:
            lines.append(_declaration(f"{returns} {op.base}", _trim(shown, keep), True))
    return lines


def _declaration(head: str, params: Sequence[Parameter], defaults: bool) -> str:
    return wrapped(f"{head}(", types.declarations(params, defaults), ") const;", 2)


# ---- Defaults ----


def _trim(params: Sequence[Parameter], keep: Optional[int]) -> Sequence[Parameter]:
    """The parameters without the defaults of the first `keep` ones."""
    if keep is None:
        return params
    return [replace(p, default=None) if i < keep else p for i, p in enumerate(params)]


def _ambiguous_defaults(operators: Sequence[Operator], method: bool) -> Trimmed:
    """For each operator that must do without some defaults, the number of parameters that have none.

    Two overloads whose first n parameters have the same types, and which both can be called with n
    arguments, make such a call ambiguous in C++: arange(start, end) and arange(start, end, step=1).
    The longer of the two then needs one argument more.
    """
    shown: dict[str, Sequence[Parameter]] = {}
    needed: dict[str, int] = {}
    for op in operators:
        params = types.out_first_parameters(op) if op.kind == "out" else types.parameters(op)
        if op.tensor_options:
            params = _options_parameters(op, params)
        if method:
            params = [p for p in params if p.name != "self"]
        shown[op.name] = params
        without = [i for i, p in enumerate(params) if p.default is None]
        needed[op.name] = without[-1] + 1 if without else 0
    trimmed: Trimmed = {}
    for op in operators:
        for other in operators:
            same = types.native_name(op) == types.native_name(other) and op is not other
            if not same or len(shown[op.name]) <= len(shown[other.name]):
                continue
            mine, theirs = shown[op.name], shown[other.name]
            for n in range(needed[other.name], len(theirs) + 1):
                prefix = [p.type for p in mine[:n]] == [p.type for p in theirs[:n]]
                if prefix and needed[op.name] <= n:
                    needed[op.name] = trimmed[op.name] = n + 1
    return trimmed


# ---- C++ operators ----


def _overloads(model: Model, base: str) -> set[str]:
    return {op.overload for op in model.bases.get(base, ())}


def _operator_functions(model: Model) -> list[str]:
    """operator+ and its like, as far as the operators exist."""
    functions = []
    for symbol, base in _UNARY:
        if base in model.bases:
            head = f"inline Tensor operator{symbol}(const Tensor& self) {{"
            functions.append(text.function(head, [f"  return at::{base}(self);"]))
    tensor, scalar = "const Tensor&", "const Scalar&"
    for symbol, base in _BINARY:
        overloads = _overloads(model, base)
        if "Tensor" not in overloads:
            continue
        forms = [(tensor, tensor, "self")]
        if "Scalar" in overloads:
            forms.append((tensor, scalar, "self"))
        forms.append((scalar, tensor, "detail::WrappedNumber(self)"))
        for left, right, value in forms:
            head = f"inline Tensor operator{symbol}({left} self, {right} other) {{"
            functions.append(text.function(head, [f"  return at::{base}({value}, other);"]))
    return functions


def _compound(model: Model) -> list[dict[str, str]]:
    """operator+= and its like: symbol, operator and type of the other side."""
    result = []
    for symbol, base in _COMPOUND:
        for overload in ("Tensor", "Scalar"):
            if overload in _overloads(model, base):
                result.append({"symbol": symbol, "base": base, "other": overload})
    return result


def _operator_roots(model: Model) -> list[str]:
    """The headers that the C++ operators and the indexing methods need."""
    bases = {base for _, base in _BINARY} | {base for _, base in _UNARY}
    roots = set(model.roots)
    return sorted((bases | {"item", "select", "index", "copy", "fill"}) & roots)
