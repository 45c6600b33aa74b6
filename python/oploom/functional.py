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


def nonzero(input: Tensor, *, out=None, as_tuple: bool = False):
    """The coordinates of the elements that are not zero, one row each, in order.

    With ``as_tuple``, a tuple of one tensor for each dimension, which indexing takes.
    """
    if not as_tuple:
        return _C.nonzero(input, out=out)
    if out is not None:
        raise TypeError("nonzero(): out goes with as_tuple=False")
    return _C.nonzero_numpy(input)


def is_complex(input: Tensor) -> bool:
    """Whether the dtype of ``input`` is complex."""
    return input.is_complex()


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype of ``input`` is a real float."""
    return input.is_floating_point()


def norm(input: Tensor, p="fro", dim=None, keepdim=False, out=None, dtype=None) -> Tensor:
    """The ``p``-norm of the elements, of all of them or along the dimensions ``dim``.

    ``p`` is a number, which may be infinite; ``"fro"`` and ``None`` mean 2.
    """
    if isinstance(p, str):
        if p == "nuc":
            raise NotImplementedError(
                "norm(): the nuclear norm 'nuc' needs singular values, which oploom does not "
                "compute; p may be a number or 'fro'"
            )
        if p != "fro":
            raise ValueError(f"norm(): expected p to be a number or 'fro', got {p!r}")
        p = 2
    options = {} if out is None else {"out": out}
    if dtype is not None:
        options["dtype"] = dtype
    return _C.norm(input, p, [] if dim is None else dim, keepdim, **options)


# The methods, which take no out=; aten/python/TensorMethods.cpp calls them.


def _tensor_nonzero(self: Tensor, *, as_tuple: bool = False):
    return nonzero(self, as_tuple=as_tuple)


def _tensor_norm(self: Tensor, p="fro", dim=None, keepdim=False, dtype=None) -> Tensor:
    return norm(self, p, dim, keepdim, dtype=dtype)
