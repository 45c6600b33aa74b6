"""oploom: tensors with automatic differentiation, whose operators are woven from YAML files."""

import builtins

# `as` tells type checkers that a name is meant for users.
from oploom import _C
from oploom._C import *  # noqa: F403  (shadows builtins: oploom.float is a dtype)
from oploom._C import Tensor as Tensor
from oploom._C import __version__ as __version__
from oploom._printing import set_printoptions as set_printoptions
from oploom.autograd.grad_mode import enable_grad as enable_grad
from oploom.autograd.grad_mode import no_grad as no_grad
from oploom.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from oploom.functional import einsum as einsum
from oploom.functional import is_complex as is_complex
from oploom.functional import is_floating_point as is_floating_point
from oploom.functional import nonzero as nonzero
from oploom.functional import norm as norm

from oploom import autograd as autograd  # isort: skip
from oploom import cuda as cuda  # isort: skip
from oploom import func as func  # isort: skip
from oploom import nn as nn  # isort: skip
from oploom import ops as ops  # isort: skip
from oploom import optim as optim  # isort: skip
from oploom import return_types as return_types  # isort: skip
from oploom import special as special  # isort: skip

e = 2.718281828459045
pi = 3.141592653589793
inf = builtins.float("inf")
nan = builtins.float("nan")
newaxis = None


def is_tensor(obj: object) -> builtins.bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)
