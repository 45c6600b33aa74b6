"""Schema types in C++: the one mapping that every output shares."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import Optional, Sequence

from codegen.backend.model import Argument, Code, Operator, Return, Type

# Values are passed by value, these by reference to const.
_BY_REFERENCE = {"Tensor": "Tensor", "Scalar": "Scalar"}
_BY_VALUE = {
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "std::string_view",
    "ScalarType": "ScalarType",
    "Layout": "Layout",
    "Device": "Device",
    "MemoryFormat": "MemoryFormat",
    "Generator": "Generator",
    "DimVector": "DimVector",  # only among the values that a shape function computes
}
_LISTS = {
    "Tensor": ("TensorList", "std::optional<TensorList>"),
    "int": ("IntArrayRef", "OptionalIntArrayRef"),
    "float": ("ArrayRef<double>", "OptionalArrayRef<double>"),
    "bool": ("ArrayRef<bool>", "OptionalArrayRef<bool>"),
    "Scalar": ("ArrayRef<Scalar>", "OptionalArrayRef<Scalar>"),
    "str": ("ArrayRef<std::string_view>", "OptionalArrayRef<std::string_view>"),
}
# What owns the value: members of nodes, variables of bindings.
_OWNED_LISTS = {
    "Tensor": "std::vector<Tensor>",
    "int": "std::vector<int64_t>",
    "float": "std::vector<double>",
    "bool": "std::vector<bool>",
    "Scalar": "std::vector<Scalar>",
    "str": "std::vector<std::string>",
}
# What generated code calls its own variables, and what it calls where arguments are in scope.
_OWN_NAMES = frozenset(
    "any_grad_defined any_wanted apply as_view as_views build_expression check_inplace "
    "check_out_requires_grad check_underived collect_edges compute_expression "
    "compute_requires_grad copy_range "
    "creation_meta defined_grad device_type dispatch_keys dispatch_keys_with_history get_view_meta "
    "grad_fn grad_inputs gradients guard increment_version int64_t kernel ks make_node "
    "maybe_get_output name number numbers "
    "outputs pause places precomputed rebase_history rebase_reshaped release_variables requires_grad "
    "results save_beside save_copy save_list set_history size_t table task_should_compute_output "
    "unpack_list unpack_optional_list variable_list".split()
)
# Types and template parameters, constants, the gradients of several results, and what is made of an
# argument; `T_t` is a tangent.
_OWN_KINDS = re.compile(r"k?[A-Z]\w*(?<!_t)$|grad_\d+$|\w+_(copy|count|range)$")
_NAMED_DEFAULTS = {
    "True": "true",
    "False": "false",
    "Mean": "Reduction::Mean",
    "contiguous_format": "MemoryFormat::Contiguous",
    "preserve_format": "MemoryFormat::Preserve",
    "long": "kLong",
    "strided": "kStrided",
    "cpu": "kCPU",
    "inf": "std::numeric_limits<double>::infinity()",
    "-inf": "-std::numeric_limits<double>::infinity()",
    "nan": "std::numeric_limits<double>::quiet_NaN()",
}
OPTION_NAMES = ("dtype", "layout", "device", "pin_memory")


class UnsupportedType(Exception):
    """A schema type that C++ has no spelling for here."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a C++ function."""

    name: str
    type: str
    default: Optional[str]
    argument: Optional[Argument]  # None for `options`, which stands for four

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}"

    @property
    def declaration_with_default(self) -> str:
        if self.default is None:
            return self.declaration
        return f"{self.type} {self.name} = {self.default}"


@functools.cache
def cpp_name(name: str) -> str:
    """The argument's name, moved out of the way of what generated code has of its own. The front end
    refuses words of C++."""
    return name + "_" if name in _OWN_NAMES or _OWN_KINDS.match(name) else name


def formula(op: Operator, code: Code) -> str:
    """A formula in C++, with arguments, results and saved values as `cpp_name` calls them."""
    known = {value.name for value in (*op.arguments, *op.returns, *op.derivative.saved)}
    return "".join(
        cpp_name(piece) if kind == "name" and piece in known else piece
        for kind, piece in code.pieces
    )


def value_type(type: Type) -> str:
    """The C++ type of a bare value: `Tensor`, `int64_t`."""
    name = _BY_REFERENCE.get(type.base) or _BY_VALUE.get(type.base)
    if name is None:
        raise UnsupportedType(f"schema type '{type.text}' has no C++ type")
    return name


def argument_type(type: Type, write: bool = False) -> str:
    """The type of a parameter: tables, native functions and the C++ API share it."""
    if type.list:
        if type.elem_optional:
            if type.base != "Tensor":
                raise UnsupportedType(f"schema type '{type.text}' has no C++ type")
            return "OptionalTensorList"
        if type.base == "bool" and type.list_size is not None and not type.list_optional:
            return f"std::array<bool, {type.list_size}>"
        if type.base not in _LISTS:
            raise UnsupportedType(f"schema type '{type.text}' has no C++ type")
        return _LISTS[type.base][1 if type.list_optional else 0]
    name = value_type(type)
    if type.optional:
        optional = f"std::optional<{name}>"
        return f"const {optional}&" if type.base in _BY_REFERENCE else optional
    if write:
        return f"{name}&"
    return f"const {name}&" if type.base in _BY_REFERENCE else name


def owned_type(type: Type) -> str:
    """The type of a variable that owns an argument's value."""
    if type.list:
        if type.elem_optional:
            return f"std::vector<std::optional<{value_type(type)}>>"
        if type.base == "bool" and type.list_size is not None and not type.list_optional:
            return f"std::array<bool, {type.list_size}>"
        if type.base not in _OWNED_LISTS:
            raise UnsupportedType(f"schema type '{type.text}' has no C++ type")
        owned = _OWNED_LISTS[type.base]
        return f"std::optional<{owned}>" if type.list_optional else owned
    name = "std::string" if type.base == "str" else value_type(type)
    return f"std::optional<{name}>" if type.optional else name


def one_return_type(ret: Return) -> str:
    if ret.type.list:
        if ret.type.base not in _OWNED_LISTS:
            raise UnsupportedType(f"schema type '{ret.type.text}' has no C++ type")
        return _OWNED_LISTS[ret.type.base]
    name = "std::string" if ret.type.base == "str" else value_type(ret.type)
    return f"{name}&" if ret.is_write and ret.type.is_tensor else name


def return_type(op: Operator) -> str:
    """`Tensor`, `Tensor&`, `std::tuple<Tensor, Tensor>`, `void`."""
    parts = [one_return_type(r) for r in op.returns]
    if not parts:
        return "void"
    if len(parts) == 1:
        return parts[0]
    return f"std::tuple<{', '.join(parts)}>"


def default_value(argument: Argument) -> Optional[str]:
    """The default of a schema argument as C++, or None."""
    default = argument.default
    if default is None:
        return None
    if default == "None":
        return "{}" if argument.type.is_optional_tensor else "std::nullopt"
    if default in _NAMED_DEFAULTS:
        return _NAMED_DEFAULTS[default]
    if default.startswith("["):
        items = [_NAMED_DEFAULTS.get(i, i) for i in re.findall(r"[^\[\],\s]+", default)]
        return "{" + ", ".join(items) + "}"
    if default[:1] in "'\"":
        return '"' + default[1:-1].replace('"', '\\"') + '"'
    return default


def parameter(argument: Argument) -> Parameter:
    """One argument as a parameter."""
    return Parameter(
        name=cpp_name(argument.name),
        type=argument_type(argument.type, argument.is_write),
        default=default_value(argument),
        argument=argument,
    )


@functools.cache
def parameters(op: Operator) -> tuple[Parameter, ...]:
    """The parameters in schema order, outs last: tables, native functions, `_outf`."""
    return _parameters(op, (*op.inputs, *op.outs))


@functools.cache
def out_first_parameters(op: Operator) -> tuple[Parameter, ...]:
    """The parameters of the `_out` form of the C++ API."""
    return _parameters(op, (*op.outs, *op.inputs))


def _parameters(op: Operator, arguments: Sequence[Argument]) -> tuple[Parameter, ...]:
    return tuple(
        replace(parameter(a), default=None) if a.name in op.cpp_no_default_args else parameter(a)
        for a in arguments
    )


def is_option(op: Operator, argument: Argument) -> bool:
    """Whether the argument is one of the four that TensorOptions stands for."""
    return op.tensor_options and argument.name in OPTION_NAMES


def declarations(params: Sequence[Parameter], defaults: bool = False) -> list[str]:
    """The parameters as text. C++ wants defaults at the end only, the schema does not: a default
    that a parameter without one follows is left out."""
    last = max((i for i, p in enumerate(params) if p.default is None), default=-1)
    return [
        p.declaration_with_default if defaults and i > last else p.declaration
        for i, p in enumerate(params)
    ]


def signature(op: Operator) -> str:
    """The function type of the operator: `Tensor(const Tensor&, const Scalar&)`."""
    return f"{return_type(op)}({', '.join(p.type for p in parameters(op))})"


def kernel_parameters(op: Operator, name: str = "ks") -> list[str]:
    """The parameters of a kernel: the key set comes before the schema's."""
    key_set = f"DispatchKeySet {name}" if name else "DispatchKeySet"
    return [key_set, *declarations(parameters(op))]


def native_name(op: Operator) -> str:
    """The name of the native function where the YAML gives none, and of the C++ API's function:
    the base name, with `_out` for an out form."""
    if op.kind == "out" and not op.base.endswith("_out"):
        return f"{op.base}_out"
    return op.base
