"""The Python example of the README runs as written; the C++ one is tests/package's program."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_python_example_runs():
    code = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL).group(1)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loss, values = done.stdout.split(maxsplit=1)
    assert float(loss) > 0 and values.startswith("[")
