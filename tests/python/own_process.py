"""Programs that run in a Python of their own: where one crashes, its test fails and no other."""

import subprocess
import sys
import textwrap


def run(code, **options):
    """What the program prints, given this process's module path; the test fails if it does."""
    path = [p for p in sys.path if p]
    program = f"import sys; sys.path[:0] = {path!r}\n" + textwrap.dedent(code)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout
