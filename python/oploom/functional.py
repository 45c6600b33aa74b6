"""Functions whose Python form is more convenient than their schema."""

from oploom import _C
from oploom._C import Tensor


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums products of tensors as the equation says, for instance ``einsum("ij,jk->ik", a, b)``.

    The operands can also be given as one list.
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    return _C.einsum(equation, list(operands))


def norm(input: Tensor, p=2, dim=None, keepdim=False, *, dtype=None, out=None) -> Tensor:
    """The ``p``-norm of the elements, of all of them or along the dimensions ``dim``."""
    options = {} if out is None else {"out": out}
    if dtype is not None:
        options["dtype"] = dtype
    return _C.norm(input, p, [] if dim is None else dim, keepdim, **options)
