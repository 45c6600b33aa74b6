"""A Python in which oploom and PyTorch can be imported together, for tests that compare the two."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Not resolved: in the build tree the sources are links beside the extension.
PACKAGE = Path(__import__("oploom").__file__).absolute().parent.parent


def interpreters():
    yield os.environ.get("OPLOOM_TORCH_PYTHON", sys.executable)
    yield "/usr/bin/python3"


def run_with_torch(program, *arguments, **options):
    """Runs the program in the first Python that has PyTorch; skips the test if there is none."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    for python in interpreters():
        probe = subprocess.run([python, "-c", "import torch"], capture_output=True)
        if probe.returncode == 0:
            return subprocess.run([python, "-c", program, *arguments], capture_output=True,
                                  text=True, env=environment, **options)
    pytest.skip("PyTorch is not installed")
