"""Every message of the front end has a row in tests/codegen/diagnostics/*.cases.

Reads the messages out of the sources: each string literal that is a piece of a sentence must be
shown by some row. The rows themselves are checked by Diagnostics_test.cpp.
"""

import re

import pytest

from codegen.backend.__main__ import TREE

FRONTEND = TREE / "codegen" / "frontend"
SOURCES = sorted(
    [
        *FRONTEND.glob("Load*.cpp"),
        *FRONTEND.glob("passes/*.cpp"),
        *FRONTEND.glob("expression/*.cpp"),
        FRONTEND / "Formula.cpp",
        FRONTEND / "Yaml.cpp",
        TREE / "c10" / "core" / "SchemaParser.cpp",
    ]
)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Lines that are no code, or that report a mistake of our own.
SKIPPED = re.compile(r"//|.*logic_error\(")
# Two words, the first of them small: data and C++ have no such text, messages have.
SENTENCE = re.compile(r"[a-z]{2,}[,:;]? +'?[a-zA-Z'{]")
# Texts of documentation, which no diagnostic shows.
DOCUMENTATION = "``"


def pieces(source):
    text = "\n".join(
        line for line in source.read_text().splitlines() if not SKIPPED.match(line.strip())
    )
    for literal in LITERAL.findall(text):
        piece = literal.encode().decode("unicode_escape").strip()
        if len(piece) >= 10 and SENTENCE.search(piece) and DOCUMENTATION not in piece:
            yield piece


@pytest.fixture(scope="module")
def shown():
    texts = []
    for path in (TREE / "tests" / "codegen" / "diagnostics").glob("*.cases"):
        expected = False
        for line in path.read_text().splitlines():
            if line.startswith(("=== ", "--- ")):
                expected = line == "--- expected"
            elif expected:
                texts.append(line)
    return "\n".join(texts)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_each_message_has_a_row(source, shown):
    missing = sorted({piece for piece in pieces(source) if piece not in shown})
    assert not missing, f"no row in tests/codegen/diagnostics shows {missing}"


def test_the_sources_hold_messages():
    assert sum(len(list(pieces(source))) for source in SOURCES) > 150
