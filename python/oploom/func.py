"""Functions that differentiate functions."""

from typing import Any, Callable, Sequence, Tuple

import oploom
from oploom._C import Tensor
from oploom.autograd import forward_ad

__all__ = ["jvp"]


def _leaves(value: Any, change: Callable[[Tensor], Any]) -> Any:
    """The value with every tensor in it changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_leaves(part, change) for part in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_leaves(part, change) for part in value)
    raise TypeError(f"jvp(): the function gave {type(value).__name__}, expected Tensors")


def _tangent(tensor: Tensor) -> Tensor:
    tangent = forward_ad.unpack_dual(tensor).tangent
    return oploom.zeros_like(tensor) if tangent is None else tangent


def jvp(func: Callable[..., Any], primals: Sequence[Tensor], tangents: Sequence[Tensor]
        ) -> Tuple[Any, Any]:
    """Returns ``func(*primals)`` and its derivative along ``tangents``, in one forward pass.

    Both are sequences of as many Tensors; the derivative is arranged as the value is, with zeros
    where nothing depends on the primals.
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("jvp(): expected primals and tangents as tuples of Tensors")
    if not primals or len(primals) != len(tangents):
        raise ValueError(
            f"jvp(): expected as many tangents as primals and at least one, got {len(primals)} "
            f"primals and {len(tangents)} tangents"
        )
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(p, t) for p, t in zip(primals, tangents)]
        result = func(*duals)
        value = _leaves(result, lambda t: forward_ad.unpack_dual(t).primal)
        return value, _leaves(result, _tangent)
