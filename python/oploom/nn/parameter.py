"""Parameter: a tensor that a Module owns and an optimizer changes."""

from typing import Any, Iterable, Optional

from oploom import _C
from oploom._C import Tensor
from oploom._checks import check_bools, check_tensor


class Parameter(Tensor):
    """A leaf that requires grad; assigned to an attribute of a Module, it is one of its
    parameters."""

    def __new__(cls, data: Optional[Tensor] = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = _C.empty(0)
        check_tensor("Parameter", "data", data)
        check_bools("Parameter", requires_grad=requires_grad)
        return _C._make_subclass(cls, data, requires_grad)

    def __init__(self, data: Optional[Tensor] = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


def zero_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Takes the gradients away, or makes them zero, which NaN becomes, too."""
    for parameter in parameters:
        gradient = parameter.grad
        if set_to_none or gradient is None:
            parameter.grad = None
        else:
            parameter.grad = gradient.detach().zero_()
