"""Automatic differentiation."""

from typing import Any, Iterable, Optional, Sequence, Tuple, Union

from oploom import _C
from oploom._C import Node, Tensor
from oploom.autograd import forward_ad
from oploom.autograd.grad_mode import enable_grad, no_grad, set_grad_enabled
from oploom.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "GradcheckError", "Node", "backward", "enable_grad", "forward_ad", "grad", "gradcheck",
    "gradgradcheck", "no_grad", "set_grad_enabled",
]

Tensors = Union[Tensor, Sequence[Tensor]]
Gradients = Union[None, Tensor, Sequence[Optional[Tensor]]]


def _as_tuple(op: str, name: str, value: Any) -> Tuple[Any, ...]:
    if isinstance(value, Tensor):
        return (value,)
    if not isinstance(value, Iterable):
        raise TypeError(
            f"{op}(): expected a Tensor or a sequence of Tensors as {name}, got "
            f"{type(value).__name__}"
        )
    return tuple(value)


def _gradients_of(
    op: str, name: str, outputs: Tuple[Tensor, ...], gradients: Gradients
) -> Tuple[Any, ...]:
    if gradients is None:
        return (None,) * len(outputs)
    given = _as_tuple(op, name, gradients)
    if len(given) != len(outputs):
        raise RuntimeError(
            f"{op}(): expected one gradient for each of {len(outputs)} outputs, got {len(given)}"
        )
    return given


def backward(
    tensors: Tensors,
    grad_tensors: Gradients = None,
    retain_graph: Optional[bool] = None,
    create_graph: bool = False,
    inputs: Optional[Tensors] = None,
) -> None:
    """Sums the gradients of ``tensors`` into the ``grad`` of the leaves of their graph.

    ``grad_tensors`` are the gradients of the tensors themselves, 1 for those of one element.
    ``retain_graph`` keeps what was saved for another pass; ``create_graph`` records this one.
    With ``inputs`` only these tensors get a gradient.
    """
    outputs = _as_tuple("backward", "tensors", tensors)
    wanted = None if inputs is None else _as_tuple("backward", "inputs", inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("backward(): inputs is empty")
    _C._run_backward(
        outputs, _gradients_of("backward", "grad_tensors", outputs, grad_tensors), retain_graph,
        create_graph, wanted, True, True,
    )


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Gradients = None,
    retain_graph: Optional[bool] = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> Tuple[Optional[Tensor], ...]:
    """Returns the gradients of the sum of ``outputs`` with respect to ``inputs``.

    No tensor's ``grad`` is touched. An input that the outputs do not depend on is an error, unless
    ``allow_unused``: its gradient is then None.
    """
    roots = _as_tuple("grad", "outputs", outputs)
    result = _C._run_backward(
        roots, _gradients_of("grad", "grad_outputs", roots, grad_outputs), retain_graph,
        create_graph, _as_tuple("grad", "inputs", inputs), False, allow_unused,
    )
    assert result is not None
    return result
