"""Arguments that do not fit: refused with an error that helps, and nothing else happens."""

import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("seed", range(3))
def test_no_call_crashes_or_half_happens(seed):
    # In a process of its own: a crash is to fail this test, not to end all of them.
    path = [p for p in sys.path if p]
    code = f"import sys; sys.path[:0] = {path!r}; from tests.ops import fuzz; fuzz.main({seed})"
    result = subprocess.run([sys.executable, "-c", code], cwd=TREE, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout == ""
