"""Makes the arguments of an operator from the samples in its record.

A record is the `test` block of an operator in its YAML entry. In a sample, the value of a
Tensor argument is a shape, `[3, 4]`, or a description,
`{shape: [5], dtype: int64, low: 0, high: 4}` or `{values: [[1, 2], [3, 4]], dtype: int64}`; the value
of any other argument is the value itself.
"""

from __future__ import annotations

import functools
import importlib
import zlib
from dataclasses import dataclass, field, replace
from typing import Any, Optional, Union

import numpy as np

import oploom

GROUPS = {
    "bool": ["bool"],
    "integral": ["uint8", "int8", "int16", "int32", "int64"],
    "floating": ["float16", "bfloat16", "float32", "float64"],
    "complex": ["complex64", "complex128"],
}
GROUPS["numeric"] = GROUPS["integral"] + GROUPS["floating"]
GROUPS["real"] = GROUPS["bool"] + GROUPS["numeric"]
GROUPS["all"] = GROUPS["real"] + GROUPS["complex"]
GROUPS["floating_complex"] = GROUPS["floating"] + GROUPS["complex"]
GROUPS["bool_integral"] = GROUPS["bool"] + GROUPS["integral"]
GROUPS["numeric_complex"] = GROUPS["numeric"] + GROUPS["complex"]

# What NumPy computes references in: wide enough that its own rounding does not count.
WIDE = {
    "float16": np.float64,
    "bfloat16": np.float64,
    "float32": np.float64,
    "complex64": np.complex128,
}

TENSORS = ("Tensor", "Tensor?")
TENSOR_LISTS = ("Tensor[]", "Tensor?[]")


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str
    kwarg_only: bool = False


@dataclass(frozen=True)
class Dims:
    """A shape by letters, which stand for the same size wherever they occur."""

    sizes: tuple[str, ...]


@dataclass(frozen=True)
class Like:
    """The shape of an argument, or the one that a list of sizes holds; -1 there says nothing."""

    argument: str


@dataclass(frozen=True)
class Reduced:
    """The shape of an argument, some dimensions dropped or made 1."""

    argument: str


ShapeTerm = Union[None, Dims, Like, Reduced]


@dataclass(frozen=True)
class Shape:
    """What the key `shape` says of the tensor arguments that are no lists, and of the results."""

    inputs: tuple[ShapeTerm, ...]
    results: tuple[ShapeTerm, ...]


@dataclass(frozen=True)
class Operator:
    """What the tests know of an operator; generated from the model."""

    name: str  # add.Tensor
    base: str  # add
    parameters: tuple[Parameter, ...]
    record: Optional[dict[str, Any]]
    method_only: bool = False
    module: Optional[str] = None  # the Python module of a package; None for oploom's own
    python_module: Optional[str] = None
    pointwise: bool = False
    changes_self: bool = False  # called on a copy of self, which is its result
    random: bool = False
    is_view: bool = False
    inplace: bool = False  # there is a form that changes self
    out: tuple[str, ...] = ()  # names of the outputs of the out= form
    differentiable: tuple[str, ...] = ()  # arguments that have a gradient
    underived: tuple[str, ...] = ()  # those that should have one, and are refused for lack of it
    shape: Optional[Shape] = None

    def dtypes(self) -> list[str]:
        if "none" in (self.record or {}):
            return ["float32"]  # one test, which is skipped with the reason
        claimed = (self.record or {}).get("dtypes", "floating")
        names = [claimed] if isinstance(claimed, str) else claimed
        return [d for name in names for d in GROUPS.get(name, [name])]

    def samples(self) -> list[dict[str, Any]]:
        record = self.record or {}
        given = record.get("samples")
        if given is None and self.pointwise:
            given = self._pointwise_samples()
        return [s if isinstance(s, dict) else self._by_position(s) for s in given or []]

    def _by_position(self, values):
        return {p.name: v for p, v in zip(self.parameters, values)}

    def _pointwise_samples(self):
        tensors = [p.name for p in self.parameters if p.type == "Tensor"]
        record = self.record or {}
        others = {}
        for p in self.parameters:
            if p.type in TENSORS:
                continue
            if p.name in record.get("arguments", {}):
                others[p.name] = record["arguments"][p.name]
            elif isinstance(record.get("domain"), dict) and p.name in record["domain"]:
                middle = sum(record["domain"][p.name]) / 2
                others[p.name] = int(middle) if p.type.startswith("int") else middle
        broadcast = [[4, 1, 3], [5, 3], [1]]
        samples = [
            {name: [3, 37] for name in tensors},
            {name: [] for name in tensors},
            {name: [2, 0, 3] for name in tensors},
        ]
        if len(tensors) > 1:
            samples.append({name: broadcast[i % 3] for i, name in enumerate(tensors)})
        return [{**sample, **others} for sample in samples]

    def function(self):
        """The Python function of this operator; a copy is changed of the `self` that it is given."""
        found = self._found()
        if not self.changes_self:
            return found
        return lambda self, *rest, **named: found(self.clone(), *rest, **named)

    def _found(self):
        if self.module is not None:
            place = importlib.import_module(self.module)
            if self.python_module is not None:
                place = getattr(place, self.python_module)
            return getattr(place, self.base)
        for place in (oploom, oploom._C, oploom._C._nn, oploom._C._special, oploom.Tensor):
            found = getattr(place, self.base, None)
            if found is not None and not (self.method_only and place is not oploom.Tensor):
                return found if callable(found) else found.__get__  # an attribute, such as mT
        raise AttributeError(f"{self.base} is not in the Python API")

    def inplace_function(self):
        """The Python function of the form that changes self."""
        if self.changes_self:
            return self._found()
        if self.module is None and hasattr(oploom.Tensor, self.base + "_"):
            return getattr(oploom.Tensor, self.base + "_")
        return replace(self, base=self.base + "_").function()


@dataclass
class Call:
    """The arguments of one call, as NumPy arrays and as tensors made from them."""

    operator: Operator
    arrays: dict[str, Any]  # for references: wide arrays, lists of them, or plain values
    tensors: dict[str, Any]  # for the operator
    swept: list[str] = field(default_factory=list)  # tensor arguments of the swept dtype

    def run(call, function=None, /, **changes):
        return call.bind(function, **changes)()

    def bind(call, function=None, /, **changes):
        """The call as a function without arguments, some arguments changed."""
        function = function or call.operator.function()
        arguments = {**call.tensors, **changes}
        positional, keywords = [], {}
        for p in call.operator.parameters:
            if p.name not in arguments:
                continue
            # Once an optional argument is left out, the rest can only be given by name.
            if p.kwarg_only or len(positional) < call._position(p):
                keywords[p.name] = arguments.pop(p.name)
            else:
                positional.append(arguments.pop(p.name))
        return functools.partial(function, *positional, **keywords, **arguments)

    def _position(self, parameter):
        return [p.name for p in self.operator.parameters].index(parameter.name)

    def swept_tensors(self, name):
        """The tensors of an argument, a tensor or a list of them, that may have a gradient."""
        value = self.tensors.get(name)
        values = value if isinstance(value, list) else [value]
        return [t for t in values if isinstance(t, oploom.Tensor) and t.is_floating_point()]

    def changed(self, name, change):
        """The argument with such tensors changed."""
        value, chosen = self.tensors[name], self.swept_tensors(name)
        replaced = [change(t) if any(t is c for c in chosen) else t
                    for t in (value if isinstance(value, list) else [value])]
        return replaced if isinstance(value, list) else replaced[0]

    def tensor_names(self):
        return [n for n, v in self.tensors.items() if isinstance(v, oploom.Tensor)]


def to_numpy(tensor):
    """A copy as a NumPy array; bfloat16, which NumPy lacks, as float32."""
    tensor = tensor.detach()
    if tensor.dtype is oploom.bfloat16:
        tensor = tensor.to(oploom.float32)
    return np.array(tensor.numpy())


def widen(tensor, dtype):
    array = to_numpy(tensor)
    return array.astype(WIDE[dtype]) if dtype in WIDE else array


def make_array(spec, dtype, domain, rng):
    """Returns the values of one tensor argument and its dtype's name."""
    spec = spec if isinstance(spec, dict) else {"shape": spec}
    dtype = spec.get("dtype", dtype)
    if "values" in spec:
        return np.array(spec["values"], dtype=None if spec["values"] else np.float64), dtype
    shape = tuple(spec["shape"])
    low, high = domain or (-2, 2)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool), dtype
    if dtype in GROUPS["integral"]:
        low = int(np.ceil(spec.get("low", low if domain else -5)))
        high = int(np.floor(spec.get("high", high if domain else 5)))
        if dtype == "uint8":
            low = max(low, 0)
        high = max(high, low + 1)
        if spec.get("unique"):
            return rng.permutation(int(np.prod(shape))).reshape(shape) + low, dtype
        return rng.integers(low, high, shape, endpoint="high" not in spec), dtype
    low, high = spec.get("low", low), spec.get("high", high)
    values = rng.uniform(low, high, shape)
    if dtype in GROUPS["complex"]:
        values = values + 1j * rng.uniform(low, high, shape)
    return values, dtype


def make_tensor(array, dtype):
    kind = getattr(oploom, dtype)
    return oploom.tensor(np.ascontiguousarray(array)).to(kind).reshape(array.shape)


def make_call(operator, sample, dtype, index=0) -> Call:
    """The same operator, sample, dtype and index give the same values in every process."""
    record = operator.record or {}
    domains = record.get("domain") or {}
    if not isinstance(domains, dict):
        domains = {p.name: domains for p in operator.parameters}
    rng = np.random.default_rng(zlib.crc32(f"{operator.name} {dtype} {index}".encode()))
    call = Call(operator, {}, {})
    for p in operator.parameters:
        if p.name not in sample:
            continue
        value = sample[p.name]
        if value is None or p.type not in TENSORS + TENSOR_LISTS:
            call.arrays[p.name] = value
            call.tensors[p.name] = _plain(value, p.type)
            continue
        domain = domains.get(p.name)
        specs = [value] if p.type in TENSORS else value
        made = []
        for spec in specs:
            if spec is None:
                made.append((None, None))
                continue
            array, kind = make_array(spec, dtype, domain, rng)
            tensor = make_tensor(array, kind)
            made.append((tensor, widen(tensor, kind)))
            if p.type in TENSORS and not (isinstance(spec, dict) and "dtype" in spec):
                call.swept.append(p.name)
        if p.type in TENSORS:
            call.tensors[p.name], call.arrays[p.name] = made[0]
        else:
            call.tensors[p.name] = [t for t, _ in made]
            call.arrays[p.name] = [a for _, a in made]
    return call


def _plain(value, kind):
    if isinstance(value, str) and kind.startswith("ScalarType"):
        return getattr(oploom, value)
    if isinstance(value, str) and kind.startswith("Scalar"):
        return complex(value)
    return value


def wide_name(dtype):
    """The dtype that references for `dtype` are computed in."""
    return np.dtype(WIDE[dtype]).name if dtype in WIDE else dtype
