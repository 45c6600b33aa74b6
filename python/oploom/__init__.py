"""oploom: tensors with automatic differentiation, whose operators are woven from YAML files."""

import builtins

from oploom import _C
from oploom._C import *  # noqa: F403  (shadows builtins: oploom.float is a dtype)
from oploom._C import Tensor, __version__
from oploom._printing import set_printoptions
from oploom.autograd.grad_mode import enable_grad, no_grad, set_grad_enabled
from oploom.functional import (  # type: ignore[no-redef, assignment]
    einsum,
    is_complex,
    is_floating_point,
    nonzero,
    norm,
)

from oploom import autograd, cuda, func, nn, ops, optim, special  # isort: skip

e = 2.718281828459045
pi = 3.141592653589793
inf = builtins.float("inf")
nan = builtins.float("nan")
newaxis = None


def is_tensor(obj: object) -> builtins.bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)
