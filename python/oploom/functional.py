"""Functions whose Python form is more convenient than their schema."""

from typing import Any, Dict, Literal, Optional, Sequence, Tuple, Type, Union, overload

from oploom import _C
from oploom._C import Tensor
from oploom._checks import check_tensor

_Number = Union[int, float, complex]
_Dtype = Union[_C.dtype, Type[Any]]


@overload
def einsum(
    equation: str, *operands: Tensor, path: Optional[Sequence[int]] = None
) -> Tensor: ...
@overload
def einsum(
    equation: str, operands: Sequence[Tensor], /, *, path: Optional[Sequence[int]] = None
) -> Tensor: ...
def einsum(equation: str, *operands: Any, path: Optional[Sequence[int]] = None) -> Tensor:
    """Sums products of tensors as the equation says, for instance ``einsum("ij,jk->ik", a, b)``.

    The operands can also be given as one list. They are contracted in the order that takes the
    fewest multiplications, or in that of ``path``: positions of two operands for each product,
    which goes behind the others, one after the other, as in ``path=[0, 2, 0, 1]``.
    """
    listed = len(operands) == 1 and isinstance(operands[0], (list, tuple))
    return _C.einsum(equation, list(operands[0] if listed else operands), path=path)


@overload
def nonzero(
    input: Tensor, *, out: Optional[Tensor] = None, as_tuple: Literal[False] = False
) -> Tensor: ...
@overload
def nonzero(
    input: Tensor, *, out: None = None, as_tuple: Literal[True]
) -> Tuple[Tensor, ...]: ...
@overload
def nonzero(
    input: Tensor, *, out: Optional[Tensor] = None, as_tuple: bool = False
) -> Union[Tensor, Tuple[Tensor, ...]]: ...
def nonzero(
    input: Tensor, *, out: Optional[Tensor] = None, as_tuple: bool = False
) -> Union[Tensor, Tuple[Tensor, ...]]:
    """The coordinates of the elements that are not zero, one row each, in order.

    With ``as_tuple``, a tuple of one tensor for each dimension, which indexing takes.
    """
    if not as_tuple:
        return _C.nonzero(input, out=out)
    if out is not None:
        raise TypeError("nonzero(): out goes with as_tuple=False")
    check_tensor("nonzero", "input", input)
    return _C.nonzero_numpy(input)


def is_complex(input: Tensor) -> bool:
    """Whether the dtype of ``input`` is complex."""
    check_tensor("is_complex", "input", input)
    return input.is_complex()


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype of ``input`` is a real float."""
    check_tensor("is_floating_point", "input", input)
    return input.is_floating_point()


def norm(
    input: Tensor,
    p: Union[_Number, str, None] = "fro",
    dim: Union[int, Sequence[int], None] = None,
    keepdim: bool = False,
    out: Optional[Tensor] = None,
    dtype: Optional[_Dtype] = None,
) -> Tensor:
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
    options: Dict[str, Any] = {} if out is None else {"out": out}
    if dtype is not None:
        options["dtype"] = dtype
    return _C.norm(input, p, [] if dim is None else dim, keepdim, **options)


# The methods, which take no out=; aten/python/TensorMethods.cpp calls them.


def _tensor_nonzero(
    self: Tensor, *, as_tuple: bool = False
) -> Union[Tensor, Tuple[Tensor, ...]]:
    return nonzero(self, as_tuple=as_tuple)


def _tensor_norm(
    self: Tensor,
    p: Union[_Number, str, None] = "fro",
    dim: Union[int, Sequence[int], None] = None,
    keepdim: bool = False,
    dtype: Optional[_Dtype] = None,
) -> Tensor:
    return norm(self, p, dim, keepdim, dtype=dtype)
