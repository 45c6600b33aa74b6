"""Layout of generated C++: breaks long lines as clang-format would for our .clang-format."""

from __future__ import annotations

import re
import textwrap
from typing import Iterable, Sequence

from codegen.backend.model import Package

WIDTH = 100


def wrapped(head: str, items: Sequence[str], tail: str = "", indent: int = 0) -> str:
    """`head` + `items` joined by commas + `tail`, broken after commas where a line grows too long.

    `head` ends with the opening bracket and `tail` begins with the closing one. Continuation lines
    are aligned with the first item; where that does not fit, the items begin on a new line.
    """
    pad = " " * indent
    line = pad + head + ", ".join(items) + tail
    if len(line) <= WIDTH:
        return line
    aligned = _packed(pad + head, " " * (indent + len(head)), items, tail)
    if aligned is not None:
        return aligned
    broken = _packed(pad + " " * 4, pad + " " * 4, items, tail)
    return f"{pad}{head}\n" + (broken if broken is not None else f"{pad}    " + ", ".join(items) + tail)


def _packed(first: str, other: str, items: Sequence[str], tail: str) -> str | None:
    lines = [first]
    for i, item in enumerate(items):
        piece = item + ("," if i + 1 < len(items) else tail)
        fresh = lines[-1] in (first, other) and lines[-1].strip() in ("", first.strip())
        glue = "" if fresh else " "
        if len(lines[-1] + glue + piece) <= WIDTH:
            lines[-1] += glue + piece
        elif fresh or len(other + piece) > WIDTH:
            return None
        else:
            lines.append(other + piece)
    return "\n".join(lines)


def comment(text: str, indent: int = 0, mark: str = "// ") -> str:
    """The text as a comment, broken at spaces; lines after the first are indented."""
    pad = " " * indent + mark
    lines = []
    current = pad
    for word in text.split():
        glue = "" if current in (pad, pad + "    ") else " "
        if len(current + glue + word) > WIDTH and glue:
            lines.append(current)
            current = pad + "    " + word
        else:
            current += glue + word
    return "\n".join([*lines, current])


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def quoted(text: str) -> str:
    """The text as a C++ string literal, on one line."""
    return f'"{escaped(text)}"'


def literal(text: str, indent: int) -> str:
    """The text as a C++ string literal, broken at spaces into adjacent literals."""
    text = escaped(text)
    room = WIDTH - indent - 4
    pieces: list[str] = []
    current = ""
    for word in _words(text):
        if current and len(current) + len(word) > room:
            pieces.append(current)
            current = word
        else:
            current += word
    pieces.append(current)
    return ("\n" + " " * indent).join(f'"{p}"' for p in pieces)


def _words(text: str) -> Iterable[str]:
    parts = text.split(" ")
    for i, part in enumerate(parts):
        yield part + (" " if i + 1 < len(parts) else "")


def function(opening: str, body: Sequence[str]) -> str:
    """A whole function: on one line where its one statement fits, else the body on its own lines.

    `opening` ends with the brace; the statements carry their own indentation.
    """
    if len(body) == 1 and "\n" not in opening and "\n" not in body[0]:
        line = f"{opening} {body[0].strip()} }}"
        if len(line) <= WIDTH:
            return line
    indent = " " * (len(opening) - len(opening.lstrip(" ")))
    return "\n".join([opening, *body, indent + "}"])


def assign(head: str, code: str, tail: str = ";") -> str:
    """`head` + expression + `tail`, broken at the commas of the outermost call or after `head`."""
    line = head + code + tail
    if len(line) <= WIDTH:
        return line
    call = outermost_call(code)
    if call is not None:
        return wrapped(head + call[0] + "(", call[1], ")" + tail)
    indent = " " * (len(head) - len(head.lstrip()) + 4)
    return head.rstrip() + "\n" + indent + code + tail


def outermost_call(code: str) -> tuple[str, list[str]] | None:
    """`f(a, g(b, c))` as ("f", ["a", "g(b, c)"]); None where the expression is something else."""
    match = re.match(r"[\w.:]+\(", code)
    if match is None or not code.endswith(")"):
        return None
    depth = 0
    items = [""]
    body = code[match.end() : -1]
    for c in body:
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(c, 0)
        if depth < 0:
            return None
        if c == "," and depth == 0:
            items.append("")
        else:
            items[-1] += c
    return match.group()[:-1], [item.strip() for item in items]


def banner(package: Package, module: str, what: str, change: str) -> str:
    """The first lines of a generated C++ file: what it is, its generator, what to change instead."""
    files = " and ".join([*package.schema_files, *package.derivative_files])
    cure = f"{change} then run tools/regenerate" if package.in_tree else "Change these and build again"
    note = f"Generated by codegen/backend/{module} from {files}; do not edit. {cure}."
    lines = textwrap.wrap(note, WIDTH - 3, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"// {line}" for line in [what, *lines])
