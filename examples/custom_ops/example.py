"""The operators of mathx from Python, in three ways."""

import mathx
import oploom

x = oploom.tensor([0.5, 1.0, 2.0], dtype=oploom.float64, requires_grad=True)
w = mathx.lambert_w(x)
w.sum().backward()
print(w, x.grad, sep="\n")

assert isinstance(w, oploom.Tensor)
assert oploom.ops.mathx.mish is mathx.mish
assert abs(w[1].item() - 0.5671432904097838) < 1e-12  # the omega constant

out = oploom.empty(3, dtype=oploom.float64)
mathx.mish(x.detach(), out=out)
print(out, mathx.rms_norm(out, eps=0.0), sep="\n")
print(mathx.lambert_w.__doc__)
