"""Forward mode: derivatives along a direction, computed beside the values.

    with forward_ad.dual_level():
        x = forward_ad.make_dual(point, direction)
        value, derivative = forward_ad.unpack_dual(f(x))

A level belongs to the thread that opens it, and tangents end with it.
"""

from typing import NamedTuple, Optional

from oploom import _C
from oploom._C import Tensor

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """What ``unpack_dual`` returns; without a tangent, ``tangent`` is None."""

    primal: Tensor
    tangent: Optional[Tensor]


def enter_dual_level() -> None:
    """Opens a level in this thread; there can be one at a time."""
    _C._enter_dual_level()


def exit_dual_level() -> None:
    """Closes the level of this thread, and frees the tangents made in it."""
    _C._exit_dual_level()


class dual_level:
    """Opens a level for a ``with`` block."""

    def __enter__(self) -> None:
        enter_dual_level()

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor) -> Tensor:
    """Returns an alias of ``tensor``, history included, with that tangent.

    ``tangent`` has the shape, dtype and device of ``tensor``. Changing the result in place changes
    both.
    """
    return _C._make_dual(tensor, tangent)


def unpack_dual(tensor: Tensor) -> UnpackedDualTensor:
    """Returns the tensor without its tangent, and the tangent, or None where there is none."""
    return UnpackedDualTensor(*_C._unpack_dual(tensor))
