"""The table of mutations fits the code; tools/mutate, run by hand, tries them."""

import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]

ENTRY = """
- id: one
  kind: c10
  breaks: nothing
  file: pytest.ini
  find: {find}
  replace: nothing
  red: [{red}]
"""


def mutate(*words):
    return subprocess.run([sys.executable, TREE / "tools" / "mutate", *map(str, words)],
                          capture_output=True, text=True)


def test_each_text_is_found_once():
    result = mutate("--check")
    assert result.returncode == 0, result.stderr
    assert int(result.stdout.split()[0]) > 90


@pytest.mark.parametrize("find, red, message", [
    ("tests", "gtest c10_test *", "2 times in pytest.ini, expected once"),
    ("not there", "gtest c10_test *", "0 times in pytest.ini, expected once"),
    ("testpaths", "look at it", "'look at it' does not begin with one of gtest"),
    ("nothing", "gtest c10_test *", "breaks nothing"),
    ("testpaths", "gtest c10_test *\n  lines: 3", "unknown or missing: lines"),
])
def test_what_does_not_fit_is_refused(tmp_path, find, red, message):
    table = tmp_path / "mutations.yaml"
    red, _, more = red.partition("\n")
    table.write_text(ENTRY.format(find=find, red=f'"{red}"') + more)
    result = mutate("--check", "--table", table)
    assert result.returncode == 1
    assert message in result.stderr
