"""The operator reference: static HTML with typeset formulas and a search, made from the model.

    oploom model | python3 -m codegen.backend.docs --sources . --out build/docs

Unlike the other outputs it is not committed and belongs to no build; `tools/docs` makes it. Pages
use nothing from outside their folder, so that they work from a disk as from a server.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

import jinja2

from codegen.backend import mathml, ops, python, python_pyi, types
from codegen.backend.__main__ import TREE, environment
from codegen.backend.mathml import Node, Typesetter
from codegen.backend.model import Derivative, Model, ModelError, Operator, Package, read_model

PYTHON = TREE / "python" / "oploom"

# The groups of dtypes that test records speak of; tests/docs holds them against oploom.testing.
_INTEGRAL = ("uint8", "int8", "int16", "int32", "int64")
_FLOATING = ("float16", "bfloat16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
DTYPES = {
    "bool": ("bool",),
    "integral": _INTEGRAL,
    "floating": _FLOATING,
    "complex": _COMPLEX,
    "numeric": _INTEGRAL + _FLOATING,
    "real": ("bool",) + _INTEGRAL + _FLOATING,
    "all": ("bool",) + _INTEGRAL + _FLOATING + _COMPLEX,
    "floating_complex": _FLOATING + _COMPLEX,
    "bool_integral": ("bool",) + _INTEGRAL,
    "numeric_complex": _INTEGRAL + _FLOATING + _COMPLEX,
}


@dataclass(frozen=True)
class Formula:
    """What the templates show of a formula: mathematics, or code where it is none."""

    label: str  # HTML
    math: str = ""
    code: str = ""


@dataclass(frozen=True)
class Section:
    """A functional operator with its in-place and out forms."""

    anchor: str
    name: str
    schemas: list[str]
    text: str  # HTML; "" where it repeats the page's
    formula: str
    legend: str
    derivatives: list[Formula]
    derivative_note: str
    derivative_legend: str
    tangents: list[tuple[str, str]]  # results and their forward formulas, where somebody wrote them
    saved: list[str]
    dtypes: list[str]
    dtype_note: str
    requires: list[str]  # conditions on numbers
    devices: list[str]
    device_note: str
    tags: list[tuple[str, str]]
    examples: list[str]
    links: list[tuple[str, str]]


@dataclass(frozen=True)
class Page:
    root: str
    family: str
    summary: str  # plain text
    text: str  # HTML
    python: list[str]
    cpp: list[str]
    sections: list[Section]
    names: list[str]  # all that a reader may search for

    @property
    def path(self) -> str:
        return f"op/{self.root}.html"


# ---- Text ----


def prose(text: str) -> str:
    """Paragraphs with ``code`` in them, as HTML."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "".join(f"<p>{inline(' '.join(p.split()))}</p>" for p in paragraphs if p)


def inline(text: str) -> str:
    return re.sub(r"``(.+?)``", r"<code>\1</code>", html.escape(text, quote=False))


def first_sentence(text: str) -> str:
    plain = " ".join(text.split("\n\n")[0].split()).replace("``", "")
    match = re.match(r".*?[.:;](?=\s|$)", plain)
    return (match.group(0).rstrip(".:;") + ".") if match else plain


def code(text: str) -> str:
    """A declaration, with its name set off."""
    escaped = html.escape(text, quote=False)
    return re.sub(r"^([^(]*?)([\w]+)\(", r'\1<b class="fn">\2</b>(', escaped, count=1)


def session(example: str) -> str:
    """A Python session: what is typed and what is printed look different."""
    lines = []
    for line in example.rstrip().split("\n"):
        prompt = next((p for p in (">>> ", "... ") if line.startswith(p)), "")
        rest = html.escape(line[len(prompt):], quote=False)
        lines.append(f'<span class="prompt">{html.escape(prompt)}</span>{rest}' if prompt
                     else f'<span class="output">{rest}</span>')
    return "\n".join(lines)


# ---- Signatures ----


def python_signatures(model: Model) -> dict[str, list[str]]:
    """For each root, how its functions and methods are called in Python."""
    found: dict[str, list[str]] = {}
    for function in python.functions(model):
        for signature in function.signatures:
            op = signature.op
            result = f" -> {python_pyi.return_text(op)}"
            lines = found.setdefault(op.root, [])
            if op.is_function:
                name = _public_name(model.package, function)
                lines.append(_python(name, signature.parameters, result))
            if function.is_method and op.is_method:
                own = [p for p in signature.parameters if p.name not in ("self", "out")]
                lines.append(_python(f"Tensor.{op.base}", own, result))
    return found


def _public_name(package: Package, function: python.Function) -> str:
    """Where people find the function. Of oploom's submodules, nn/functional.py defines some anew, and
    special.py passes them on without the prefix; the others are for such files to call."""
    module, name = function.module, function.name
    if not module:
        return f"{package.python}.{name}"
    if not package.in_tree:
        return f"{package.python}.{module}.{name}"
    functional = PYTHON / module / "functional.py"
    if functional.is_file() and f"\ndef {name}(" in functional.read_text():
        return f"oploom.{module}.functional.{name}"
    if name.startswith(f"{module}_") and (PYTHON / f"{module}.py").is_file():
        return f"oploom.{module}.{name.removeprefix(module + '_')}"
    return f"oploom._C._{module}.{name}"


def _python(head: str, parameters: Sequence[python.Parameter], result: str) -> str:
    items = []
    for parameter in parameters:
        if parameter.kwarg_only and not any(i.startswith("*") for i in items):
            items.append(f"*, {parameter.text}")
        else:
            items.append(parameter.text)
    return f"{head}({', '.join(items)}){result}"


def cpp_signatures(operators: Sequence[Operator], namespace: str) -> list[str]:
    """The functions of the namespace and the methods of Tensor."""
    functions = ops._ambiguous_defaults([o for o in operators if o.is_function], method=False)
    methods = ops._ambiguous_defaults([o for o in operators if o.is_method], method=True)
    lines = []
    for op in operators:
        result = types.return_type(op)
        out = op.kind == "out"
        params = types.out_first_parameters(op) if out else types.parameters(op)
        if op.tensor_options and not out:
            params = ops._options_parameters(op, params)
        if op.is_function:
            shown = types.declarations(ops._trim(params, functions.get(op.name)), True)
            lines.append(f"{result} {namespace}::{types.native_name(op)}({', '.join(shown)})")
        if op.is_method and not out:
            own = ops._trim([p for p in params if p.name != "self"], methods.get(op.name))
            shown = types.declarations(own, True)
            lines.append(f"{result} Tensor::{op.base}({', '.join(shown)}) const")
    return lines


# ---- Formulas ----


class Formulas:
    """The formula of an operator and of its derivatives."""

    def __init__(self, model: Model) -> None:
        self.functions = frozenset(f.name for f in model.functions)
        self.scope = f"{model.package.cpp}::"  # before the package's own names in formulas
        # Operators that a formula may call and that the notation has no sign for: gradients that the
        # front end derived, or that are written as an expression of their own.
        self.spelled_out = {o.base: o for o in model.operators
                            if o.expression and o.base not in self.functions}

    def typesetter(self, names: Sequence[str]) -> Typesetter:
        return Typesetter(mathml.letters_for([*names, "pi", "e", "inf", "nan"]), self.functions)

    def expression(self, op: Operator) -> tuple[str, str]:
        """The formula and what its letters mean."""
        if op.expression is None:
            return "", ""
        names = [a.name for a in op.inputs]
        typesetter = self.typesetter(names)
        trees = mathml.from_program(op.expression.program)
        body = self._with_shared(typesetter, trees, names)
        return body, self._legend(typesetter, trees, names)

    def derivatives(self, op: Operator, derivative: Derivative) -> tuple[list[Formula], str]:
        arguments = [a.name for a in op.inputs]
        names = ["grad", *arguments, "result"]
        shown = []
        used: list[Node] = []
        for gradient in derivative.inputs:
            for position, name in enumerate(gradient.names):
                tree = self._tree(gradient.formula, position, op)
                typesetter = self.typesetter(names)
                if tree is None or not typesetter.can_set(tree):
                    if position == 0:
                        label = ", ".join(f"<code>{html.escape(n)}</code>" for n in gradient.names)
                        shown.append(Formula(label, code=gradient.formula))
                    continue
                letter = mathml.leaf(name)
                left = ("<mfrac><mrow><mo>∂</mo><mi>L</mi></mrow>"
                        f"<mrow><mo>∂</mo>{typesetter.set(letter)}</mrow></mfrac><mo>=</mo>")
                body = self._with_shared(typesetter, [tree], names, left)
                shown.append(Formula(f"<code>{html.escape(name)}</code>", body))
                used += [letter, tree]
        legend = self._legend(self.typesetter(names), used, names)
        if used and op.expression is not None and op.expression.complex:
            legend += "; for complex numbers, what multiplies the gradient is conjugated"
        return shown, legend

    def _tree(self, formula: str, position: int, op: Operator) -> Optional[Node]:
        tree = mathml.parse(formula.replace(self.scope, ""))
        if tree is None:
            return None
        backward = self.spelled_out.get(tree.operation)
        if backward is not None:
            # What the operator computes stands in place of its name.
            values = dict(zip((a.name for a in backward.inputs), tree.arguments))
            trees = mathml.from_program(backward.expression.program)
            tree = without_conj(trees[position if len(trees) > 1 else 0]).replace(values)
        elif position:
            return None
        return zero_where_nothing(tree)

    def _with_shared(self, typesetter: Typesetter, trees: Sequence[Node], names: Sequence[str],
                     left: str = "") -> str:
        """The formula, and `where` with the parts that it repeats."""
        free = [c for c in "suvwzqh" if c not in typesetter.letters.values() and c not in names]
        definitions = []
        for part in mathml.repeated(trees)[: len(free)]:
            body = typesetter.set(part)
            letter = free[len(definitions)]
            definitions.append(f"<mi>{letter}</mi><mo>=</mo>{body}")
            typesetter.shared[part] = letter
        body = left + "<mo>,</mo>".join(typesetter.set(tree) for tree in trees)
        lines = [mathml.math_element(f"<mrow>{body}</mrow>")]
        if definitions:
            where = "<mo>,</mo><mspace width=\"0.7em\"/>".join(definitions)
            lines.append(mathml.math_element(f"<mrow><mtext>where&#xa0;</mtext>{where}</mrow>"))
        return "".join(lines)

    @staticmethod
    def _legend(typesetter: Typesetter, trees: Sequence[Node], names: Sequence[str]) -> str:
        """What the letters stand for, as far as they are not the arguments' own names."""
        seen = {n.leaf for tree in trees for n in tree.walk() if n.leaf}
        parts = []
        for name in names:
            letter = typesetter.letters.get(name)
            if letter is None or name not in seen:
                continue
            shown = mathml.math_element(f"<mi>{letter}</mi>", block=False)
            meaning = {"grad": "the gradient of the result", "result": "the result"}.get(
                name, f"<code>{name}</code>")
            parts.append(f"{shown} is {meaning}")
        return ", ".join(parts)


def without_conj(node: Node) -> Node:
    """The gradient as it is for real numbers: found derivatives are `grad * conj(factor)`."""
    if node.operation == "conj":
        return without_conj(node.arguments[0])
    return Node(node.operation, tuple(without_conj(a) for a in node.arguments), node.leaf)


def zero_where_nothing(node: Node) -> Node:
    """`zeros_like(x)` is how formulas say 0."""
    return mathml.leaf("0") if node.operation == "zeros_like" else node


# ---- Sections and pages ----


def dtypes(op: Operator) -> list[str]:
    """The dtypes that the operator's test record claims."""
    if op.test is None or "none" in op.test:
        return []
    claimed = op.test.get("dtypes", "floating")
    if not op.takes_tensors and "dtypes" not in op.test:
        return []
    names = [claimed] if isinstance(claimed, str) else claimed
    wanted = {d for name in names for d in DTYPES.get(name, (name,))}
    return [d for d in DTYPES["all"] if d in wanted]


def dtype_note(op: Operator) -> str:
    if op.expression is None:
        return ""
    if op.expression.promotion == "bool":
        return "The result is bool."
    if op.expression.promotion == "float":
        return "Integers become floating point."
    return "Integers stay integers." if op.expression.integers else ""


def devices(op: Operator) -> tuple[list[str], str]:
    if op.scalar_overload_of or op.composite:
        return [], "Wherever the operators that it calls run."
    keys = set(op.dispatch) | ({"Meta"} if op.structured else set())
    return [k for k in ("CPU", "CUDA", "Meta") if k in keys] + sorted(
        keys - {"CPU", "CUDA", "Meta"}), ""


def derivative_note(op: Operator) -> str:
    if op.scalar_overload_of:
        return f"That of <code>{op.scalar_overload_of}</code>, which it calls."
    derivative = op.derivative
    if op.is_composite_implicit:
        return "Differentiable through the operators that it is made of."
    if derivative is None:
        if not op.takes_tensors or not op.returns_tensors:
            return "None: it has no tensors to differentiate."
        return "None."
    if op.underived:
        names = ", ".join(f"<code>{a.name}</code>" for a in op.underived)
        return f"None with respect to {names}: calls refuse what requires grad there."
    if not derivative.inputs:
        return "None: it is not differentiable by its nature."
    return ""


def tangents(op: Operator) -> list[tuple[str, str]]:
    """The forward formulas. That of an expression is its differential, which the gradients show."""
    if op.derivative is None or op.expression is not None:
        return []
    return [(", ".join(f.names), f.formula) for f in op.derivative.forward]


def saved(derivative: Optional[Derivative]) -> list[str]:
    if derivative is None:
        return []
    return [s.expr or s.of if s.source == "expr" else s.of for s in derivative.saved]


class Site:
    """Everything that pages have in common."""

    def __init__(self, model: Model, sources: dict[str, str]) -> None:
        self.model = model
        self.sources = sources
        self.formulas = Formulas(model)
        self.namespace = "at" if model.package.in_tree else model.package.cpp
        self.python = python_signatures(model)
        self.derivative_places = {
            name: (file, line)
            for file in model.package.derivative_files
            for name, line in _entries(sources.get(file, "")).items()
        }
        self.pages = [
            self.page(root, [o for o in operators if not o.internal])
            for root, operators in model.roots.items()
            if any(not o.internal for o in operators)
        ]

    def page(self, root: str, operators: list[Operator]) -> Page:
        groups: dict[str, list[Operator]] = {}
        for op in operators:
            groups.setdefault(op.group, []).append(op)
        heads = [next((o for o in forms if o.name == name), forms[0])
                 for name, forms in groups.items()]
        # What people wrote comes before what `autogen` made of it.
        heads.sort(key=lambda o: (o.autogen_from is not None, o.kind != "functional", o.line))
        text = next((o.doc for o in heads if o.doc), "")
        sections = []
        told = {text.strip()}
        for op in heads:
            repeats = op.doc.strip() in told
            told.add(op.doc.strip())
            sections.append(self.section(op, groups[op.group], "" if repeats else op.doc))
        return Page(
            root=root,
            family=heads[0].family,
            summary=first_sentence(text),
            text=prose(text),
            python=[code(line) for line in self.python.get(root, [])],
            cpp=[code(line) for line in cpp_signatures(operators, self.namespace)],
            sections=sections,
            names=sorted({o.base for o in operators}),
        )

    def section(self, op: Operator, forms: list[Operator], text: str) -> Section:
        formula, legend = self.formulas.expression(op)
        derivatives: list[Formula] = []
        derivative_legend = ""
        if op.derivative is not None:
            derivatives, derivative_legend = self.formulas.derivatives(op, op.derivative)
        where, where_note = devices(op)
        return Section(
            anchor=op.identifier,
            name=op.name,
            schemas=[o.schema for o in forms],
            text=prose(text),
            formula=formula,
            legend=legend,
            derivatives=derivatives,
            derivative_note=derivative_note(op),
            derivative_legend=derivative_legend,
            tangents=tangents(op),
            saved=saved(op.derivative),
            dtypes=dtypes(op),
            dtype_note=dtype_note(op),
            requires=[r.text for r in op.expression.requirements] if op.expression else [],
            devices=where,
            device_note=where_note,
            tags=[(t, self.model.tags.get(t, "")) for t in op.tags],
            examples=[session(op.example)] if op.example else [],
            links=self.links(op),
        )

    def links(self, op: Operator) -> list[tuple[str, str]]:
        places = [(op.file, op.line)]
        if op.name in self.derivative_places:
            places.append(self.derivative_places[op.name])
        return [(f"{file}:{line}", f"../source/{file}.html#L{line}") for file, line in places
                if file in self.sources]

    def families(self) -> dict[str, list[Page]]:
        found: dict[str, list[Page]] = {}
        for page in self.pages:
            found.setdefault(page.family, []).append(page)
        return {name: found[name] for name in sorted(found)}


def _entries(text: str) -> dict[str, int]:
    """The line of each entry of derivatives.yaml."""
    lines = {}
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(r"- name: ([\w.]+)\(", line):
            lines[match.group(1)] = number
    return lines


def family_title(name: str) -> str:
    """`BinaryOps` as people read it."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).split()
    return " ".join([words[0], *(w.lower() for w in words[1:])]).replace(" ops", " operators")


def yaml_line(line: str) -> str:
    """A line of YAML with its comment or key set off."""
    shown = html.escape(line, quote=False)
    if line.lstrip().startswith("#"):
        return f"<i>{shown}</i>"
    return re.sub(r"^(\s*(?:- )?)([\w, -]+?)(:)(?=\s|$)", r"\1<b>\2</b>\3", shown)


def function_rows(model: Model) -> list[dict[str, str]]:
    """The functions of the expression language, with notation and derivatives."""
    known = frozenset(f.name for f in model.functions)
    rows = []
    for function in model.functions:
        letters = {**mathml.letters_for(["pi", "e", "inf"]), "result": "r"}
        typesetter = Typesetter(letters, known)
        call = Node(function.name, tuple(mathml.leaf(p) for p in function.parameters))
        partials = []
        for partial in function.partials:
            tree = mathml.parse(partial)
            assert tree is not None, f"{function.name}: its derivative is no expression"
            partials.append(mathml.math_element(f"<mrow>{typesetter.set(tree)}</mrow>", False))
        rows.append({
            "call": f"{function.name}({', '.join(function.parameters)})",
            "name": function.name,
            "math": mathml.math_element(f"<mrow>{typesetter.set(call)}</mrow>", False),
            "partials": partials,
            "integers": function.integers,
            "complex": function.complex,
        })
    return rows


def render(model: Model, env: jinja2.Environment, sources: dict[str, str]) -> dict[str, str]:
    """Every page as {path in the folder: text}. `sources` are the YAML files by name."""
    site = Site(model, sources)
    families = {name: (family_title(name), pages) for name, pages in site.families().items()}
    index = [
        [page.root, page.path, page.summary, family_title(page.family), " ".join(page.names)]
        for page in site.pages
    ]
    shared = {"families": families, "count": len(model.operators) -
              sum(o.internal for o in model.operators)}
    outputs = {
        "index.html": env.get_template("docs_index.html.j2").render(
            up="", title="Operators", **shared),
        "style.css": env.get_template("docs_style.css.j2").render(),
        "search.js": env.get_template("docs_search.js.j2").render(
            index=json.dumps(index, ensure_ascii=False, separators=(",", ":"))),
    }
    if model.functions:
        outputs["expressions.html"] = env.get_template("docs_expressions.html.j2").render(
            up="", title="Expressions", functions=function_rows(model), **shared)
    operator = env.get_template("docs_operator.html.j2")
    for page in site.pages:
        outputs[page.path] = operator.render(
            up="../", title=page.root, page=page, family=families[page.family][0],
            siblings=families[page.family][1], **shared)
    source = env.get_template("docs_source.html.j2")
    for name, text in sources.items():
        outputs[f"source/{name}.html"] = source.render(
            up="../", title=name, lines=[yaml_line(line) for line in text.rstrip().split("\n")],
            **shared)
    return outputs


def write(folder: Path, outputs: dict[str, str]) -> None:
    """Makes `folder` hold these files; pages that nothing makes any more are removed."""
    for path, content in outputs.items():
        file = folder / path
        if not file.is_file() or file.read_text() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    for file in folder.rglob("*.html"):
        if file.relative_to(folder).as_posix() not in outputs:
            file.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="codegen.backend.docs", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--model", default="-", help="the model's JSON file; - for standard input")
    parser.add_argument("--sources", nargs="*", default=[], help="the YAML files, to be shown")
    parser.add_argument("--out", default="build/docs", help="the folder to fill")
    options = parser.parse_args()
    text = sys.stdin.read() if options.model == "-" else Path(options.model).read_text()
    try:
        model = read_model(json.loads(text))
        sources = {Path(file).name: Path(file).read_text() for file in options.sources}
        outputs = render(model, environment(model.package), sources)
    except (ModelError, types.UnsupportedType) as error:
        print(f"docs: {error}", file=sys.stderr)
        return 1
    write(Path(options.out), outputs)
    print(f"{options.out}/index.html: {len(outputs)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
