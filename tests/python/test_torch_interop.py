"""oploom and PyTorch in one process, imported in either order, exchanging tensors by DLPack.

Runs where PyTorch is installed, for this Python or for another one named by OPLOOM_TORCH_PYTHON.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Not resolved: in the build tree the sources are links beside the extension.
PACKAGE = Path(__import__("oploom").__file__).absolute().parent.parent

EXCHANGE = """
a = oploom.arange(6, dtype=oploom.float32).view(2, 3)
t = torch.from_dlpack(a)
assert t.shape == (2, 3) and t.data_ptr() == a.data_ptr()
t.add_(1)
assert a[1, 2].item() == 6
b = oploom.from_dlpack(torch.ones(3, dtype=torch.int64) * 7)
assert b.dtype is oploom.int64 and b.sum().item() == 21
x = oploom.ones(3, requires_grad=True)
(x * x).sum().backward()
w = torch.ones(3, requires_grad=True)
(w * w).sum().backward()
assert x.grad.tolist() == w.grad.tolist() == [2, 2, 2]
try:
    oploom.mm(oploom.ones(2, 3), oploom.ones(2, 3))
except RuntimeError as error:
    assert "mm" in str(error)
try:
    torch.mm(torch.ones(2, 3), torch.ones(2, 3))
except RuntimeError as error:
    assert "mat1" in str(error)
print("exchanged")
"""


def interpreters():
    yield os.environ.get("OPLOOM_TORCH_PYTHON", sys.executable)
    yield "/usr/bin/python3"


def python_with_torch():
    for python in interpreters():
        probe = subprocess.run([python, "-c", "import torch"], capture_output=True)
        if probe.returncode == 0:
            return python
    pytest.skip("PyTorch is not installed")


@pytest.mark.parametrize("imports", ["import oploom, torch", "import torch, oploom"])
def test_one_process(imports):
    python = python_with_torch()
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([python, "-c", f"{imports}\n{EXCHANGE}"], capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 0 and "exchanged" in done.stdout, done.stderr
