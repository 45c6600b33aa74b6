"""Arguments that do not fit: refused with an error that helps, and nothing else happens."""

import subprocess
import sys
from pathlib import Path

import oploom
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


@pytest.mark.parametrize("change", ["fmod_", "remainder_", "floor_divide_"])
@pytest.mark.parametrize("shape", [(600,), (2, 300)])
def test_a_zero_among_wider_divisors_is_found_before_anything_is_written(change, shape):
    """The divisors are read in pieces, whose results are of another dtype than the tensor."""
    x = oploom.arange(600, dtype=oploom.int32).reshape(*shape)
    divisors = oploom.ones(*shape, dtype=oploom.int64)
    divisors[..., -1] = 0
    with pytest.raises(RuntimeError, match="by zero"):
        getattr(x, change)(divisors)
    assert x.flatten().tolist() == list(range(600))
