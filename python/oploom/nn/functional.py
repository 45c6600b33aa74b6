"""The functions behind the modules of oploom.nn."""

from typing import Optional, Sequence

from oploom import _C
from oploom._C import Tensor

_nn = _C._nn
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _reduction(name: str) -> int:
    if name not in _REDUCTIONS:
        raise ValueError(f"expected a reduction of 'none', 'mean' or 'sum', got {name!r}")
    return _REDUCTIONS[name]


def linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """``input @ weight.T + bias``, with weight ``[out, in]``."""
    return _nn.linear(input, weight, bias)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``, elementwise."""
    return input.relu_() if inplace else input.relu()


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, elementwise."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-input))``, elementwise."""
    return input.sigmoid()


def silu(input: Tensor) -> Tensor:
    """``input * sigmoid(input)``, elementwise."""
    return input * input.sigmoid()


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``input`` times the normal distribution function of ``input``, elementwise."""
    if approximate == "none":
        return input * (0.5 * (1 + (input * 0.7071067811865476).erf()))
    if approximate == "tanh":
        inner = 0.7978845608028654 * (input + 0.044715 * input * input * input)
        return 0.5 * input * (1 + inner.tanh())
    raise ValueError(f"gelu(): expected approximate='none' or 'tanh', got {approximate!r}")


def softmax(
    input: Tensor, dim: Optional[int] = None, dtype: Optional[_C.dtype] = None
) -> Tensor:
    """Numbers along ``dim`` that are positive and sum to one."""
    return _C.softmax(input, _softmax_dim("softmax", input, dim), dtype)


def log_softmax(
    input: Tensor, dim: Optional[int] = None, dtype: Optional[_C.dtype] = None
) -> Tensor:
    """The logarithm of ``softmax``."""
    return _C.log_softmax(input, _softmax_dim("log_softmax", input, dim), dtype)


def _softmax_dim(name: str, input: Tensor, dim: Optional[int]) -> int:
    if dim is None:
        raise ValueError(f"{name}(): expected a dim for a {input.dim()}-d tensor, got None")
    return dim


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Sets elements to zero with probability ``p`` and scales the others by ``1 / (1 - p)``."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout(): expected a probability in [0, 1], got {p}")
    return _C.dropout_(input, p, training) if inplace else _C.dropout(input, p, training)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None, eps: float = 1e-5,
) -> Tensor:
    """Gives the last dimensions mean 0 and variance 1, then scales and shifts them."""
    return _C.layer_norm(input, normalized_shape, weight, bias, eps)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: Optional[int] = None,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Rows of ``weight`` by the integers ``input``; the row padding_idx gets no gradient."""
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx < 0:
        padding_idx += weight.size(0)
    return _C.embedding(weight, input, padding_idx, scale_grad_by_freq)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The squared differences, reduced."""
    return _nn.mse_loss(input, target, _reduction(reduction))


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The absolute differences, reduced."""
    difference = (input - target).abs()
    if _reduction(reduction) == 0:
        return difference
    return difference.mean() if reduction == "mean" else difference.sum()


def nll_loss(
    input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """``-input`` at the target class; ``input`` ``[n, classes, ...]`` holds log-probabilities."""
    return _nn.nll_loss_nd(input, target, weight, _reduction(reduction), ignore_index)


def cross_entropy(
    input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of scores ``[n, classes, ...]`` and classes or class probabilities."""
    return _nn.cross_entropy_loss(
        input, target, weight, _reduction(reduction), ignore_index, label_smoothing
    )


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A last dimension with 1 at the given class and 0 elsewhere."""
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex or tensor.dtype == _C.bool:
        raise TypeError(f"one_hot(): expected a tensor of integers, got {tensor.dtype}")
    if num_classes < -1:
        raise ValueError(f"one_hot(): expected a number of classes or -1, got {num_classes}")
    if tensor.numel() > 0:
        low, high = int(tensor.min().item()), int(tensor.max().item())
        if num_classes == -1:
            num_classes = high + 1
        if low < 0 or high >= num_classes:
            raise IndexError(
                f"one_hot(): expected classes in [0, {num_classes - 1}], "
                f"got {low if low < 0 else high}"
            )
    elif num_classes == -1:
        raise ValueError("one_hot(): an empty tensor does not say how many classes there are")
    classes = _C.arange(num_classes, device=tensor.device)
    return (tensor.unsqueeze(-1) == classes).to(_C.int64)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Divides by the norm along ``dim``, which is taken to be at least ``eps``."""
    return input / input.norm(p, (dim,), True).clamp(min=eps)
