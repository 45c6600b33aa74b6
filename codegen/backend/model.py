"""The model that the front end prints, as frozen dataclasses. Knows operators, nothing about C++.

The JSON is described in codegen/frontend/MODEL.md. Every class here reads its own part of it with
`read`; a missing key is an error that names the operator, an unknown key is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Collection, Optional

VERSION = 4


class ModelError(Exception):
    """The model is not one that this back end can read."""


@dataclass(frozen=True)
class Type:
    """A schema type: `int[2]?` is base int, list, list_size 2, list_optional."""

    base: str  # Tensor, int, float, bool, Scalar, str, ScalarType, Device, Generator, ...
    optional: bool = False  # T?, not a list
    list: bool = False
    list_size: Optional[int] = None  # the 2 of int[2]
    list_optional: bool = False  # T[]?
    elem_optional: bool = False  # T?[]
    text: str = ""

    @staticmethod
    def read(json: dict[str, Any]) -> "Type":
        base = json["base"]
        return Type(
            base="int" if base == "SymInt" else base,
            optional=bool(json.get("optional")),
            list=bool(json.get("list")),
            list_size=json.get("list_size"),
            list_optional=bool(json.get("list_optional")),
            elem_optional=bool(json.get("elem_optional")),
            text=json.get("text", base),
        )

    @property
    def is_tensor(self) -> bool:
        """Exactly `Tensor`."""
        return self.base == "Tensor" and not self.optional and not self.list

    @property
    def is_optional_tensor(self) -> bool:
        return self.base == "Tensor" and self.optional and not self.list

    @property
    def is_tensor_list(self) -> bool:
        """`Tensor[]`, `Tensor?[]` or `Tensor[]?`."""
        return self.base == "Tensor" and self.list

    @property
    def holds_tensors(self) -> bool:
        return self.base == "Tensor"


@dataclass(frozen=True)
class Alias:
    before: tuple[str, ...]
    after: tuple[str, ...]
    write: bool

    @staticmethod
    def read(json: Optional[dict[str, Any]]) -> Optional["Alias"]:
        if json is None:
            return None
        return Alias(tuple(json["before"]), tuple(json["after"]), bool(json["write"]))


@dataclass(frozen=True)
class Argument:
    name: str
    type: Type
    alias: Optional[Alias] = None
    default: Optional[str] = None  # as in the schema: "1", "None", "[0, 1]", "Mean", ...
    kwarg_only: bool = False
    out: bool = False

    @staticmethod
    def read(json: dict[str, Any]) -> "Argument":
        return Argument(
            name=json["name"],
            type=Type.read(json["type"]),
            alias=Alias.read(json.get("alias")),
            default=json.get("default"),
            kwarg_only=bool(json.get("kwarg_only")),
            out=bool(json.get("out")),
        )

    @property
    def is_write(self) -> bool:
        return self.alias is not None and self.alias.write


@dataclass(frozen=True)
class Return:
    name: Optional[str]
    type: Type
    alias: Optional[Alias] = None

    @staticmethod
    def read(json: dict[str, Any]) -> "Return":
        return Return(json.get("name"), Type.read(json["type"]), Alias.read(json.get("alias")))

    @property
    def is_write(self) -> bool:
        return self.alias is not None and self.alias.write


@dataclass(frozen=True)
class Precomputed:
    """Values that meta() computes for impl(): in the place of an argument, or in addition."""

    replaces: Optional[str]
    values: tuple[Argument, ...]

    @staticmethod
    def read(json: dict[str, Any]) -> "Precomputed":
        return Precomputed(json["replaces"], tuple(Argument.read(v) for v in json["values"]))


@dataclass(frozen=True)
class ShapeTerm:
    """What is said of one shape."""

    kind: str  # any, dims, like or reduced
    argument: str
    sizes: tuple[str, ...]


@dataclass(frozen=True)
class Shape:
    """The shapes of the results, and of the tensor arguments that are no lists, or none at all."""

    text: str  # as written
    inputs: tuple[ShapeTerm, ...]
    results: tuple[ShapeTerm, ...]

    @staticmethod
    def read(json: Optional[dict[str, Any]]) -> Optional["Shape"]:
        def terms(values: list[dict[str, Any]]) -> tuple[ShapeTerm, ...]:
            return tuple(
                ShapeTerm(v["kind"], v.get("argument", ""), tuple(v.get("sizes", ())))
                for v in values
            )

        if json is None:
            return None
        return Shape(json["text"], terms(json["inputs"]), terms(json["results"]))


@dataclass(frozen=True)
class Structured:
    """How the operator takes part in a structured kernel: `meta` and `impl` name the structs
    at::meta::structured_<meta> and at::native::structured_<impl[key]>."""

    meta: str
    impl: dict[str, str]
    inherits: Optional[str]
    role: str  # functional, inplace or out
    precomputed: tuple[Precomputed, ...] = ()

    @staticmethod
    def read(json: Optional[dict[str, Any]]) -> Optional["Structured"]:
        if json is None:
            return None
        return Structured(
            meta=json["meta"],
            impl=dict(json["impl"]),
            inherits=json.get("inherits"),
            role=json["role"],
            precomputed=tuple(Precomputed.read(p) for p in json["precomputed"]),
        )

    def precomputed_for(self, argument: str) -> Optional[tuple[Argument, ...]]:
        """What impl() gets in the place of the argument; None where it gets the argument."""
        for precomputed in self.precomputed:
            if precomputed.replaces == argument:
                return precomputed.values
        return None

    @property
    def precomputed_in_addition(self) -> tuple[Argument, ...]:
        return tuple(v for p in self.precomputed if p.replaces is None for v in p.values)


@dataclass(frozen=True)
class Code:
    """C++ in the order of its text: pairs of "text", "name" or "call", and what stands there."""

    pieces: tuple[tuple[str, str], ...]

    @staticmethod
    def read(json: Optional[list[Any]]) -> Optional["Code"]:
        if json is None:
            return None
        return Code(
            tuple(
                ("text", piece) if isinstance(piece, str) else next(iter(piece.items()))
                for piece in json
            )
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Of values."""
        return frozenset(text for kind, text in self.pieces if kind == "name")

    @cached_property
    def calls(self) -> frozenset[str]:
        """The functions and methods called, without namespaces."""
        return frozenset(text.rpartition("::")[2] for kind, text in self.pieces if kind == "call")


@dataclass(frozen=True)
class Saved:
    """Something that a node keeps for its backward pass."""

    name: str
    source: str  # input, output or expr
    of: str  # the argument or output that it is, or comes from
    expr: Optional[Code]  # self.sizes()
    type: Optional[Type]
    cpp: Optional[str]  # the C++ type, where it is no schema type
    output_index: Optional[int] = None  # of an output, or of an expression of one
    after: bool = False  # is known only when the operator has run
    clone: bool = False  # must be copied before the operator writes over it
    used_by: tuple[str, ...] = ()  # the arguments whose gradients need it

    @staticmethod
    def read(json: dict[str, Any]) -> "Saved":
        kind = json.get("type")
        return Saved(
            name=json["name"],
            source=json["source"],
            of=json["of"],
            expr=Code.read(json["expr"]),
            type=Type.read(kind) if isinstance(kind, dict) else None,
            cpp=json.get("cpp"),
            output_index=json.get("output_index"),
            after=bool(json.get("after")),
            clone=bool(json.get("clone")),
            used_by=tuple(json["used_by"]),
        )


@dataclass(frozen=True)
class Instruction:
    """One operation of a program. Arguments are names, or numbers in decimal notation."""

    name: str  # of the value it computes
    operation: str
    arguments: tuple[str, ...]
    uniform: bool  # the same for every element
    truth: bool  # true or false, not a number
    two_forms: bool  # kernels for the CPU have a shorter form for usual arguments
    short_form: bool  # and one for results of 16 bits
    many_constants: bool  # registers are left for two vectors, not for four


@dataclass(frozen=True)
class Program:
    """Instructions in an order in which they can be carried out."""

    instructions: tuple[Instruction, ...]
    outputs: tuple[str, ...]

    @staticmethod
    def read(json: Optional[dict[str, Any]]) -> Optional["Program"]:
        if json is None:
            return None
        instructions = tuple(
            Instruction(
                i["name"],
                i["operation"],
                tuple(i["arguments"]),
                i["uniform"],
                i["truth"],
                i["two_forms"],
                i["short_form"],
                i["many_constants"],
            )
            for i in json["instructions"]
        )
        return Program(instructions, tuple(json["outputs"]))

    @cached_property
    def names(self) -> frozenset[str]:
        """Of all that is computed or used."""
        used = {argument for i in self.instructions for argument in i.arguments}
        return frozenset(used | set(self.outputs))

    def part(self, output: str) -> "Program":
        """What is needed for one output alone."""
        wanted = {output}
        kept = []
        for instruction in reversed(self.instructions):
            if instruction.name in wanted:
                kept.append(instruction)
                wanted.update(instruction.arguments)
        return Program(tuple(reversed(kept)), (output,))


@dataclass(frozen=True)
class Requirement:
    """A condition that the numbers of an expression operator have to meet."""

    text: str
    scalars: tuple[str, ...]  # the numbers in it
    program: Program

    @staticmethod
    def read(json: dict[str, Any]) -> "Requirement":
        return Requirement(json["text"], tuple(json["scalars"]), Program.read(json["program"]))


@dataclass(frozen=True)
class Expression:
    """The kernel of an expression operator, or of the gradient of one."""

    text: str
    promotion: str  # same, float or bool
    integers: bool
    complex: bool
    false_of_integers: bool  # a condition that no integer meets
    reduced: bool  # float16 and bfloat16 too
    signs: bool  # the results are numbers of the inputs with other signs
    short_forms: bool  # those of functions serve for results of 16 bits
    cost: int  # in additions, roughly
    inputs: tuple[str, ...]  # tensor arguments
    scalars: tuple[str, ...]  # numbers
    program: Program
    requirements: tuple[Requirement, ...]

    @staticmethod
    def read(json: Optional[dict[str, Any]]) -> Optional["Expression"]:
        if json is None:
            return None
        program = Program.read(json["program"])
        return Expression(
            json["text"],
            json["promotion"],
            json["integers"],
            json["complex"],
            json["false_of_integers"],
            json["reduced"],
            json["signs"],
            json["short_forms"],
            json["cost"],
            tuple(json["inputs"]),
            tuple(json["scalars"]),
            program,
            tuple(Requirement.read(r) for r in json["requires"]),
        )


@dataclass(frozen=True)
class Gradient:
    """One formula: the gradient of `names`."""

    names: tuple[str, ...]
    formula: str
    cpp: Code
    program: Optional[Program]  # what computes it, where that is not `cpp`

    @staticmethod
    def read(json: dict[str, Any]) -> "Gradient":
        return Gradient(
            tuple(json["names"]),
            json["formula"],
            Code.read(json["cpp"]),
            Program.read(json["program"]),
        )


@dataclass(frozen=True)
class Term:
    """A term of a forward formula, which is there if the inputs `tangents` have one."""

    tangents: tuple[str, ...]
    cpp: Optional[Code]
    program: Optional[Program]  # what computes it, where there is no `cpp`

    @staticmethod
    def read(json: dict[str, Any]) -> "Term":
        return Term(tuple(json["tangents"]), Code.read(json["cpp"]), Program.read(json["program"]))

    @property
    def names(self) -> frozenset[str]:
        """Of the values that it uses."""
        return self.program.names if self.cpp is None else self.cpp.names


@dataclass(frozen=True)
class Forward:
    """The tangent of the output `names`: the sum of the terms."""

    names: tuple[str, ...]
    formula: str
    terms: tuple[Term, ...]
    together: Optional[Code]  # of the sum, for when every input has a tangent
    uses_output: bool
    uses_self: bool  # the value that an in-place form has overwritten

    @staticmethod
    def read(json: dict[str, Any]) -> "Forward":
        return Forward(
            tuple(json["names"]),
            json["formula"],
            tuple(Term.read(t) for t in json["terms"]),
            Code.read(json["together"]),
            json["uses_output"],
            json["uses_self"],
        )


@dataclass(frozen=True)
class Derivative:
    node: str  # AddBackward0
    inputs: tuple[Gradient, ...]
    forward: tuple[Forward, ...]
    saved: tuple[Saved, ...]
    non_differentiable: tuple[str, ...]
    output_differentiability: Optional[tuple[bool, ...]]
    uses_grad_input_mask: bool
    json: dict[str, Any]  # all of it, for keys that only one output cares about

    @staticmethod
    def read(json: Optional[dict[str, Any]]) -> Optional["Derivative"]:
        if json is None:
            return None
        flags = json.get("output_differentiability")
        return Derivative(
            node=json["node"],
            inputs=tuple(Gradient.read(i) for i in json["inputs"]),
            forward=tuple(Forward.read(f) for f in json["forward"]),
            saved=tuple(Saved.read(s) for s in json["saved"]),
            non_differentiable=tuple(json.get("non_differentiable") or ()),
            output_differentiability=None if flags is None else tuple(flags),
            uses_grad_input_mask=bool(json.get("uses_grad_input_mask")),
            json=json,
        )


# A struct with one of these names would hide a namespace from everything after it.
_TAKEN = frozenset({"std", "c10", "at"})


def _safe(identifier: str, others: Collection[str]) -> str:
    """With as many `_` as tell it from namespaces and from its own in-place form."""
    while identifier in _TAKEN or identifier in others:
        identifier += "_"
    return identifier


@dataclass(frozen=True, eq=False)
class Operator:
    """One operator with overload: `add.Tensor`, `add_.Tensor`, `add.out` are three of them."""

    name: str  # add_.Tensor
    base: str  # add_
    overload: str  # Tensor
    root: str  # add: names the headers
    identifier: str  # add__Tensor: the C++ struct in at::_ops
    schema: str
    kind: str  # functional, inplace, out or mutable
    group: str  # the name of the functional sibling
    family: str  # names the file in aten/native and in generated/*
    file: str
    line: int
    autogen_from: Optional[str]
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]
    variants: tuple[str, ...]
    tensor_options: bool  # takes dtype, layout, device, pin_memory
    cpp_no_default_args: tuple[str, ...]  # arguments whose default the C++ API leaves out
    dispatch: dict[str, str]  # dispatch key -> native function
    composite: Optional[str]  # implicit or explicit
    composite_kernel: Optional[str]
    structured: Optional[Structured]
    expression: Optional[Expression]
    internal: bool  # for generated code only
    scalar_overload_of: Optional[str]
    alias_of: Optional[str]
    is_view: bool
    tags: tuple[str, ...]
    python_module: Optional[str]
    doc: str
    shape: Optional[Shape]
    example: str  # a Python session, as doctest reads it
    test: Any
    derivative: Optional[Derivative]

    @staticmethod
    def read(json: dict[str, Any]) -> "Operator":
        return Operator(
            name=json["name"],
            base=json["base"],
            overload=json["overload"],
            root=json["root"],
            identifier=json["identifier"],
            schema=json["schema"],
            kind=json["kind"],
            group=json["group"],
            family=json["family"],
            file=json["source"]["file"],
            line=json["source"]["line"],
            autogen_from=json.get("autogen_from"),
            arguments=tuple(Argument.read(a) for a in json["arguments"]),
            returns=tuple(Return.read(r) for r in json["returns"]),
            variants=tuple(json["variants"]),
            tensor_options=bool(json["tensor_options"]),
            cpp_no_default_args=tuple(json.get("cpp_no_default_args") or ()),
            dispatch=dict(json["dispatch"]),
            composite=json.get("composite"),
            composite_kernel=json.get("composite_kernel"),
            structured=Structured.read(json.get("structured")),
            expression=Expression.read(json.get("expression")),
            internal=bool(json.get("internal")),
            scalar_overload_of=json.get("scalar_overload_of"),
            alias_of=json.get("alias_of"),
            is_view=bool(json["is_view"]),
            tags=tuple(json.get("tags") or ()),
            python_module=json.get("python_module"),
            doc=json.get("doc") or "",
            shape=Shape.read(json.get("shape")),
            example=json.get("example") or "",
            test=json.get("test"),
            derivative=Derivative.read(json.get("derivative")),
        )

    @cached_property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments that are no out arguments."""
        return tuple(a for a in self.arguments if not a.out)

    @cached_property
    def outs(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.out)

    @cached_property
    def self_argument(self) -> Optional[Argument]:
        for argument in self.arguments:
            if argument.name == "self":
                return argument
        return None

    @property
    def is_method(self) -> bool:
        return "method" in self.variants

    @property
    def is_function(self) -> bool:
        return "function" in self.variants

    @property
    def is_composite_implicit(self) -> bool:
        return self.composite == "implicit"

    @property
    def takes_tensors(self) -> bool:
        return any(a.type.holds_tensors for a in self.arguments)

    @property
    def returns_tensors(self) -> bool:
        return any(r.type.holds_tensors for r in self.returns)

    @property
    def has_autograd_kernel(self) -> bool:
        """Whether generated/autograd defines at::autograd::kernels::<identifier> for it.

        Composite implicit operators are differentiated through what they call. An operator that
        neither takes tensors nor gives or writes any has nothing to record; the rest has a kernel,
        so that views are tracked, versions bumped, and a missing derivative is reported.
        """
        if self.is_composite_implicit or not self.takes_tensors:
            return False
        return self.returns_tensors or any(a.is_write for a in self.arguments)

    @property
    def underived(self) -> tuple[Argument, ...]:
        """The tensors of which derivatives.yaml says nothing, though it has the operator: neither
        their gradient, nor that they have none. Calls refuse them where one is asked for."""
        derivative = self.derivative
        if derivative is None or self.kind == "out" or self.is_composite_implicit:
            return ()
        if derivative.output_differentiability and not any(derivative.output_differentiability):
            return ()
        said = {name for g in derivative.inputs for name in g.names} | {*derivative.non_differentiable}
        return tuple(a for a in self.inputs if a.type.holds_tensors and a.name not in said)


@dataclass(frozen=True)
class Function:
    """A function of the expression language."""

    name: str
    parameters: tuple[str, ...]
    partials: tuple[str, ...]  # for each parameter, or none at all
    integers: bool  # of integers it gives integers
    complex: bool

    @staticmethod
    def read(json: dict[str, Any]) -> "Function":
        return Function(json["name"], tuple(json["parameters"]), tuple(json["partials"]),
                        json["integers"], json["complex"])


# The namespace in which oploom's own operators are registered.
_TREE = "aten"


@dataclass(frozen=True)
class Package:
    """Operators that are generated together: oploom's own, or those of a project outside the tree.

    What back ends need to know of the difference is told by these fields; none asks for a name.
    """

    name: str  # the namespace in the registry: aten, mathx
    python: str  # the Python module: oploom, mathx
    schema_files: tuple[str, ...]  # without folders
    derivative_files: tuple[str, ...]
    helper_headers: tuple[str, ...]  # of a project's own functions that its formulas call
    core_operators: frozenset[str]  # of oploom, which a project's formulas may call
    # Which arguments of an operator a form of it takes as numbers.
    number_arguments: dict[str, frozenset[int]]

    @property
    def in_tree(self) -> bool:
        """Whether this package defines what all others share: class Tensor and its methods, the
        rooms of the build, the extension module with the types."""
        return self.name == _TREE

    @property
    def cpp(self) -> str:
        """The C++ namespace."""
        return "at::inline oploom_v1" if self.in_tree else self.name

    @property
    def at(self) -> str:
        """What goes before the names of nested namespaces that both at and c10 have: a package sees
        the names of both, of which neither hides the other's."""
        return "" if self.in_tree else "at::"

    @property
    def folder(self) -> str:
        """Where the outputs lie, and what their includes begin with."""
        return "generated" if self.in_tree else self.name

    def native_macro(self, root: str) -> str:
        """The macro by which a file with checks of signatures knows what was declared before it."""
        return f"OPLOOM_NATIVE_{root}" if self.in_tree else f"OPLOOM_NATIVE_{self.name}_{root}"

    @property
    def base_header(self) -> str:
        """The header that everything else needs: class Tensor, in reach of the package's namespaces."""
        return "generated/ops/Tensor.h" if self.in_tree else f"{self.name}/namespace.h"

    @property
    def api_header(self) -> str:
        return "generated/ops/Functions.h" if self.in_tree else f"{self.name}/ops.h"


@dataclass(frozen=True, eq=False)
class Model:
    version: int
    package: Package
    operators: tuple[Operator, ...]  # sorted by name
    functions: tuple[Function, ...] = ()
    tags: dict[str, str] = field(default_factory=dict)  # with their descriptions

    @cached_property
    def by_name(self) -> dict[str, Operator]:
        return {o.name: o for o in self.operators}

    @cached_property
    def families(self) -> dict[str, tuple[Operator, ...]]:
        return _grouped(self.operators, "family")

    @cached_property
    def roots(self) -> dict[str, tuple[Operator, ...]]:
        return _grouped(self.operators, "root")

    @cached_property
    def bases(self) -> dict[str, tuple[Operator, ...]]:
        return _grouped(self.operators, "base")

    @cached_property
    def groups(self) -> dict[str, tuple[Operator, ...]]:
        return _grouped(self.operators, "group")


def _grouped(operators: tuple[Operator, ...], key: str) -> dict[str, tuple[Operator, ...]]:
    groups: dict[str, list[Operator]] = {}
    for op in operators:
        groups.setdefault(getattr(op, key), []).append(op)
    return {name: tuple(groups[name]) for name in sorted(groups)}


def read_model(json: dict[str, Any]) -> Model:
    if json.get("version") != VERSION:
        raise ModelError(
            f"the model has version {json.get('version')}, this back end reads version {VERSION}"
        )
    operators = []
    for entry in json["operators"]:
        try:
            operators.append(Operator.read(entry))
        except KeyError as error:
            name = entry.get("name", "an operator without a name")
            raise ModelError(f"{name}: the model lacks the key {error}") from error
    identifiers = {o.identifier for o in operators}
    operators = [
        replace(o, identifier=_safe(o.identifier, identifiers)) if o.identifier in _TAKEN else o
        for o in operators
    ]
    # Within a group of overloads the functional form comes first, then in-place, then out.
    rank = {"functional": 0, "mutable": 1, "inplace": 2, "out": 3}
    operators.sort(key=lambda o: (o.root, rank[o.kind], o.name))
    functions = tuple(Function.read(f) for f in json.get("functions", ()))
    tags = {t["name"]: t["description"].strip() for t in json.get("tags", ())}
    return Model(json["version"], _read_package(json), tuple(operators), functions, tags)


def _read_package(json: dict[str, Any]) -> Package:
    try:
        return Package(
            name=json["namespace"],
            python=json["python_module"],
            schema_files=tuple(json["schema_files"]),
            derivative_files=tuple(json["derivative_files"]),
            helper_headers=tuple(json["helper_headers"]),
            core_operators=frozenset(json["core_operators"]),
            number_arguments={n: frozenset(p) for n, p in json["number_arguments"].items()},
        )
    except KeyError as error:
        raise ModelError(f"the model lacks the key {error}") from error
