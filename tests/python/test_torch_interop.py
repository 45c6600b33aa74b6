"""oploom and PyTorch in one process, imported in either order, exchanging tensors by DLPack.

Runs where PyTorch is installed, for this Python or for another one named by OPLOOM_TORCH_PYTHON.
"""

import pytest

from tests.python.with_torch import run_with_torch

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


@pytest.mark.parametrize("imports", ["import oploom, torch", "import torch, oploom"])
def test_one_process(imports):
    done = run_with_torch(f"{imports}\n{EXCHANGE}")
    assert done.returncode == 0 and "exchanged" in done.stdout, done.stderr
