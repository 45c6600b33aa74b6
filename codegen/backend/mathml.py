"""Typesets expressions of the expression language as MathML, which browsers show by themselves.

An expression comes as a program of the model (`from_program`) or as text (`parse`), becomes a tree
(`Node`), and the tree becomes MathML (`Typesetter`). `parse` returns None for C++ that is more than
an expression: a formula that calls methods or helpers has no form that mathematics would know.
"""

from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass, field
from typing import Iterable, Mapping, Optional, Sequence

from codegen.backend.model import Program


@dataclass(frozen=True)
class Node:
    """A name, a number (`operation` empty, the text in `leaf`), or an operation on other nodes."""

    operation: str
    arguments: tuple["Node", ...] = ()
    leaf: str = ""

    @property
    def is_number(self) -> bool:
        return bool(self.leaf) and (self.leaf[0] in "-.0123456789" or self.leaf in ("inf", "nan"))

    def size(self) -> int:
        return 1 + sum(a.size() for a in self.arguments)

    def replace(self, values: Mapping[str, "Node"]) -> "Node":
        """The tree with names replaced by what they stand for."""
        if self.leaf:
            return values.get(self.leaf, self)
        return Node(self.operation, tuple(a.replace(values) for a in self.arguments))

    def walk(self) -> Iterable["Node"]:
        yield self
        for argument in self.arguments:
            yield from argument.walk()


def leaf(text: str) -> Node:
    return Node("", (), text)


def from_program(program: Program) -> list[Node]:
    """The tree of each output."""
    made: dict[str, Node] = {}

    def value(name: str) -> Node:
        return made.get(name) or leaf(name)

    for instruction in program.instructions:
        arguments = tuple(value(a) for a in instruction.arguments)
        if instruction.operation == "sigmoid_product":  # one step for kernels, two on paper
            factor, x = arguments
            made[instruction.name] = Node("mul", (factor, Node("sigmoid", (x,))))
        else:
            made[instruction.name] = Node(instruction.operation, arguments)
    return [value(name) for name in program.outputs]


# ---- Text ----

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><=|>=|==|!=|&&|\|\||[-+*/<>!?:(),]))"
)
_BINARY = {
    "||": (1, "or"),
    "&&": (2, "and"),
    "==": (3, "eq"),
    "!=": (3, "ne"),
    "<": (4, "lt"),
    "<=": (4, "le"),
    ">": (4, "gt"),
    ">=": (4, "ge"),
    "+": (5, "add"),
    "-": (5, "sub"),
    "*": (6, "mul"),
    "/": (6, "div"),
}


class _NoExpression(Exception):
    pass


class _Parser:
    """The usual C++ precedence, by climbing."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                raise _NoExpression
            self.tokens.append((str(match.lastgroup), match.group(str(match.lastgroup))))
            position = match.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, wanted: Optional[str] = None) -> tuple[str, str]:
        if self.at >= len(self.tokens) or wanted not in (None, self.peek()):
            raise _NoExpression
        self.at += 1
        return self.tokens[self.at - 1]

    def conditional(self) -> Node:
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.take("?")
        then = self.conditional()
        self.take(":")
        return Node("select", (condition, then, self.conditional()))

    def binary(self, lowest: int) -> Node:
        left = self.unary()
        while (found := _BINARY.get(self.peek())) and found[0] >= lowest:
            self.take()
            left = Node(found[1], (left, self.binary(found[0] + 1)))
        return left

    def unary(self) -> Node:
        if self.peek() == "-":
            self.take()
            return Node("neg", (self.unary(),))
        if self.peek() == "!":
            self.take()
            return Node("not", (self.unary(),))
        kind, text = self.take()
        if text == "(":
            inner = self.conditional()
            self.take(")")
            return inner
        if kind == "sign":
            raise _NoExpression
        if kind == "name" and self.peek() == "(":
            self.take("(")
            arguments = [] if self.peek() == ")" else [self.conditional()]
            while self.peek() == ",":
                self.take(",")
                arguments.append(self.conditional())
            self.take(")")
            return Node(text, tuple(arguments))
        return leaf(text)


def parse(text: str) -> Optional[Node]:
    """The tree of an expression, None for any other C++."""
    try:
        parser = _Parser(text)
        node = parser.conditional()
    except _NoExpression:
        return None
    return node if parser.at == len(parser.tokens) else None


# ---- Notation ----

# Names of arguments that mathematics writes with a letter of its own.
LETTERS = {
    "self": "x",
    "input": "x",
    "other": "y",
    "target": "t",
    "weight": "w",
    "grad": "g",
    "grad_output": "g",
    "result": "r",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "lambd": "λ",
    "lambda": "λ",
    "threshold": "θ",
    "eps": "ε",
    "tensor1": "u",
    "tensor2": "v",
    "exponent": "p",
    "pi": "π",
    "e": "e",
    "inf": "∞",
    "nan": "NaN",
}
# Functions that are written as a name before their argument; others keep the name they have.
_NAMES = {
    "log": "ln",
    "sigmoid": "σ",
    "sign": "sgn",
    "lgamma": "ln Γ",
    "digamma": "ψ",
    "erfinv": "erf⁻¹",
    "ndtr": "Φ",
    "ndtri": "Φ⁻¹",
    "maximum": "max",
    "minimum": "min",
    "acos": "arccos",
    "asin": "arcsin",
    "atan": "arctan",
    "acosh": "arcosh",
    "asinh": "arsinh",
    "atanh": "artanh",
}
_SUBSCRIPTS = {"log2": ("log", "2"), "log10": ("log", "10"), "i0": ("I", "0"), "i1": ("I", "1")}
_OPERATIONS = frozenset("add sub mul div neg and or not select conj".split())
_RELATIONS = {"lt": "<", "le": "≤", "gt": ">", "ge": "≥", "eq": "=", "ne": "≠"}
_FENCES = {"abs": ("|", "|"), "floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉"), "round": ("⌊", "⌉")}

_TIMES = '<mo lspace="0.12em" rspace="0.12em">·</mo>'
_THIN = "<mo>&#x2062;</mo>"  # invisible times
_APPLY = "<mo>&#x2061;</mo>"  # function application


def _mo(sign: str) -> str:
    return f"<mo>{html.escape(sign)}</mo>"


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _fraction(above: str, below: str) -> str:
    return f"<mfrac>{above}{below}</mfrac>"


def _mn(text: str) -> str:
    return f"<mn>{text}</mn>"


def _ln(number: str) -> str:
    return _row("<mi>ln</mi>", _APPLY, _mo("("), _mn(number), _mo(")"))


_PI = "<mi>π</mi>"
# Numbers that formulas can only give to sixteen digits.
_CONSTANTS: tuple[tuple[float, str], ...] = (
    (math.pi, _PI),
    (math.e, "<mi>e</mi>"),
    (2 / math.sqrt(math.pi), _fraction(_mn("2"), f"<msqrt>{_PI}</msqrt>")),
    (math.sqrt(math.pi) / 2, _fraction(f"<msqrt>{_PI}</msqrt>", _mn("2"))),
    (1 / math.sqrt(2 * math.pi), _fraction(_mn("1"), f"<msqrt>{_mn('2')}{_THIN}{_PI}</msqrt>")),
    (math.sqrt(2 * math.pi), f"<msqrt>{_mn('2')}{_THIN}{_PI}</msqrt>"),
    (math.sqrt(2 / math.pi), f"<msqrt>{_fraction(_mn('2'), _PI)}</msqrt>"),
    (math.sqrt(2), f"<msqrt>{_mn('2')}</msqrt>"),
    (math.sqrt(0.5), _fraction(_mn("1"), f"<msqrt>{_mn('2')}</msqrt>")),
    (math.log(2), _ln("2")),
    (1 / math.log(2), _fraction(_mn("1"), _ln("2"))),
    (1 / math.log(10), _fraction(_mn("1"), _ln("10"))),
    (math.pi / 180, _fraction(_PI, _mn("180"))),
    (180 / math.pi, _fraction(_mn("180"), _PI)),
)

# How tightly what was set holds together.
_OR, _AND, _RELATION, _SUM, _PRODUCT, _PREFIX, _POWER, _ATOM = range(8)


@dataclass(frozen=True)
class _Set:
    text: str
    binds: int


@dataclass
class Typesetter:
    """Sets trees. `letters` is what each name is written as; without one it stays as it is."""

    letters: Mapping[str, str]
    functions: frozenset[str]  # the functions of the language
    shared: dict[Node, str] = field(default_factory=dict)  # written once, and called by a letter

    def can_set(self, node: Node) -> bool:
        """Whether all of it is mathematics."""
        return all(
            not n.operation
            or n.operation in self.functions
            or n.operation in _RELATIONS
            or n.operation in _OPERATIONS
            for n in node.walk()
        )

    def set(self, node: Node) -> str:
        return self._set(node).text

    def _set(self, node: Node) -> _Set:
        if node in self.shared:
            return _Set(f"<mi>{self.shared[node]}</mi>", _ATOM)
        if node.leaf:
            return self._leaf(node.leaf)
        if node.operation in ("add", "sub"):
            sign = "+" if node.operation == "add" else "−"
            right = self.inner(node.arguments[1], _SUM + (node.operation == "sub"))
            if self._set(node.arguments[1]).binds == _PREFIX:
                right = self.inner(node.arguments[1], _ATOM)
            return _Set(_row(self.inner(node.arguments[0], _SUM), _mo(sign), right), _SUM)
        method = getattr(self, f"_{node.operation}", None)
        if method is not None:
            return method(*node.arguments)
        if node.operation in _RELATIONS:
            a, b = (self.inner(x, _SUM) for x in node.arguments)
            return _Set(_row(a, _mo(_RELATIONS[node.operation]), b), _RELATION)
        return self._call(node)

    def inner(self, node: Node, least: int) -> str:
        """The node, in parentheses unless it binds at least so tightly."""
        done = self._set(node)
        return done.text if done.binds >= least else _row(_mo("("), done.text, _mo(")"))

    def _leaf(self, text: str) -> _Set:
        if text == "-inf":
            return _Set(_row(_mo("−"), "<mi>∞</mi>"), _PREFIX)
        if leaf(text).is_number and text not in ("inf", "nan"):
            value = float(text)
            size = abs(value)
            for known, shown in _CONSTANTS:
                if math.isclose(size, known, rel_tol=4e-16):
                    break
            else:
                shown = self._decimal(size)
            return _Set(shown, _ATOM) if value >= 0 else _Set(_row(_mo("−"), shown), _PREFIX)
        if text in ("true", "false"):
            return _Set(f"<mtext>{text}</mtext>", _ATOM)
        shown = self.letters.get(text, text)
        variant = ' mathvariant="normal"' if shown in ("∞", "π") else ""
        return _Set(f"<mi{variant}>{html.escape(shown)}</mi>", _ATOM)

    @staticmethod
    def _decimal(size: float) -> str:
        text = f"{size:.17g}" if float(f"{size:.15g}") != size else f"{size:.15g}"
        if "e" not in text:
            return _mn(text)
        digits, power = text.split("e")
        tens = f"<msup>{_mn('10')}{_mn(str(int(power)).replace('-', '−'))}</msup>"
        return tens if digits == "1" else _row(_mn(digits), _TIMES, tens)

    def _neg(self, a: Node) -> _Set:
        return _Set(_row(_mo("−"), self.inner(a, _PRODUCT if a.operation != "neg" else _ATOM)),
                    _PREFIX)

    def _mul(self, a: Node, b: Node) -> _Set:
        if a == b:
            return self._power(a, leaf("2"))
        if a.operation == "mul" and a.arguments == (b, b):
            return self._power(b, leaf("3"))
        if self._is_number(b) and not self._is_number(a):
            a, b = b, a
        first, second = self._set(a), self._set(b)
        left = first.text if first.binds in (_PRODUCT, _POWER, _ATOM) else self.inner(a, _ATOM)
        right = second.text if second.binds in (_PRODUCT, _POWER, _ATOM) else self.inner(b, _ATOM)
        thin = self._is_number(a) and bool(b.leaf) and not self._is_number(b)
        return _Set(_row(left, _THIN if thin else _TIMES, right), _PRODUCT)

    @staticmethod
    def _is_number(node: Node) -> bool:
        return node.is_number

    def _div(self, a: Node, b: Node) -> _Set:
        if a.operation == "neg":
            return self._neg(Node("div", (a.arguments[0], b)))
        return _Set(_fraction(self.set(a), self.set(b)), _ATOM)

    def _power(self, a: Node, b: Node) -> _Set:
        base = self._set(a)
        shown = base.text if base.binds == _ATOM and a.operation != "div" else _row(
            _mo("("), base.text, _mo(")"))
        return _Set(f"<msup>{shown}{self.set(b)}</msup>", _POWER)

    _pow = _power

    def _exp(self, a: Node) -> _Set:
        return self._power_of("<mi>e</mi>", a)

    def _exp2(self, a: Node) -> _Set:
        return self._power_of(_mn("2"), a)

    def _power_of(self, base: str, a: Node) -> _Set:
        return _Set(f"<msup>{base}{self.set(a)}</msup>", _POWER)

    def _expm1(self, a: Node) -> _Set:
        return _Set(_row(self._exp(a).text, _mo("−"), _mn("1")), _SUM)

    def _log1p(self, a: Node) -> _Set:
        return self._call(Node("log", (Node("add", (leaf("1"), a)),)))

    def _sqrt(self, a: Node) -> _Set:
        return _Set(f"<msqrt>{self.set(a)}</msqrt>", _ATOM)

    def _rsqrt(self, a: Node) -> _Set:
        return _Set(_fraction(_mn("1"), self._sqrt(a).text), _ATOM)

    def _relu(self, a: Node) -> _Set:
        return self._call(Node("maximum", (a, leaf("0"))))

    def _hypot(self, a: Node, b: Node) -> _Set:
        return self._sqrt(Node("add", (Node("mul", (a, a)), Node("mul", (b, b)))))

    def _conj(self, a: Node) -> _Set:
        # A bar would say less clearly where it ends.
        return _Set(f"<msup>{self.inner(a, _ATOM)}{_mo('*')}</msup>", _POWER)

    def _polygamma(self, n: Node, x: Node) -> _Set:
        order = _row(_mo("("), self.set(n), _mo(")"))
        return _Set(
            _row(f"<msup><mi>ψ</mi>{order}</msup>", _APPLY, _mo("("), self.set(x), _mo(")")), _ATOM
        )

    def _and(self, a: Node, b: Node) -> _Set:
        return _Set(_row(self.inner(a, _AND), _mo("∧"), self.inner(b, _AND)), _AND)

    def _or(self, a: Node, b: Node) -> _Set:
        return _Set(_row(self.inner(a, _OR), _mo("∨"), self.inner(b, _OR)), _OR)

    def _not(self, a: Node) -> _Set:
        return _Set(_row(_mo("¬"), self.inner(a, _ATOM)), _PREFIX)

    def _select(self, condition: Node, then: Node, otherwise: Node) -> _Set:
        """Cases; a chain of conditions becomes one brace."""
        rows = []
        while True:
            rows.append((self.set(then), _row("<mtext>if&#xa0;</mtext>", self.set(condition))))
            if otherwise.operation != "select" or otherwise in self.shared:
                break
            condition, then, otherwise = otherwise.arguments
        rows.append((self.set(otherwise), "<mtext>otherwise</mtext>"))
        cells = "".join(
            f"<mtr><mtd>{value}</mtd><mtd>{condition}</mtd></mtr>" for value, condition in rows
        )
        table = f'<mtable class="cases">{cells}</mtable>'
        return _Set(_row('<mo stretchy="true" fence="true">{</mo>', table), _SUM)

    def _call(self, node: Node) -> _Set:
        name = node.operation
        if name in _FENCES:
            left, right = (f'<mo fence="true">{sign}</mo>' for sign in _FENCES[name])
            return _Set(_row(left, self.set(node.arguments[0]), right), _ATOM)
        if name in _SUBSCRIPTS:
            base, index = _SUBSCRIPTS[name]
            shown = f"<msub><mi>{base}</mi>{_mn(index)}</msub>"
        else:
            shown = f"<mi>{html.escape(_NAMES.get(name, name))}</mi>"
        inside = _mo(",").join(self.set(a) for a in node.arguments)
        return _Set(_row(shown, _APPLY, _mo("("), inside, _mo(")")), _ATOM)


def letters_for(names: Sequence[str]) -> dict[str, str]:
    """A letter for each name that has one and that no other name has taken."""
    chosen: dict[str, str] = {}
    for name in names:
        letter = LETTERS.get(name)
        if letter is not None and letter not in chosen.values():
            chosen[name] = letter
    return chosen


def repeated(trees: Sequence[Node]) -> list[Node]:
    """Parts worth a letter of their own: needed more than twice, and more than a function of one
    argument. Smaller parts first, because larger ones may be made of them."""
    counts: dict[Node, int] = {}
    for tree in trees:
        for node in tree.walk():
            if not node.leaf:
                counts[node] = counts.get(node, 0) + 1
    found = [n for n, count in counts.items() if count > 2 and n.size() > 3]
    return sorted(found, key=lambda n: (n.size(), repr(n)))


def math_element(body: str, block: bool = True) -> str:
    display = ' display="block"' if block else ""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{display}>{body}</math>'
