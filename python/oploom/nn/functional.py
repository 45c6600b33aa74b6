"""The functions behind the modules of oploom.nn."""

from typing import Optional, Sequence

from oploom import _C
from oploom._C import Tensor
from oploom._checks import as_integer, check_tensor

_nn = _C._nn
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _reduction(op: str, name: str) -> int:
    try:
        return _REDUCTIONS[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"{op}(): expected a reduction of 'none', 'mean' or 'sum', got {name!r}"
        ) from None


def _padding_row(op: str, padding_idx: int, rows: int) -> int:
    """The row that padding_idx stands for."""
    padding_idx = as_integer(op, "padding_idx", padding_idx)
    if not -rows <= padding_idx < rows:
        raise ValueError(
            f"{op}(): expected padding_idx in [{-rows}, {rows - 1}], got {padding_idx}"
        )
    return padding_idx % rows


def _check_same_shape(op: str, input: Tensor, target: Tensor) -> None:
    check_tensor(op, "input", input)
    check_tensor(op, "target", target)
    if input.shape != target.shape:
        raise ValueError(
            f"{op}(): expected a target of the input's shape {tuple(input.shape)}, got "
            f"{tuple(target.shape)}; if it is to be repeated, say target.expand_as(input)"
        )


def linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """``input @ weight.T + bias``, with weight ``[out, in]``."""
    return _nn.linear(input, weight, bias)


def linear_relu(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """``relu(linear(input, weight, bias))``, as one operator."""
    return _nn.linear_relu(input, weight, bias)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``, elementwise."""
    return _C.relu_(input) if inplace else _C.relu(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, elementwise."""
    return _C.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-input))``, elementwise."""
    return _C.sigmoid(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``, elementwise."""
    return _C.silu_(input) if inplace else _C.silu(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``alpha * expm1(input)``."""
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``alpha * expm1(input / alpha)``."""
    return _C.celu_(input, alpha) if inplace else _C.celu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """``elu`` with the constants that keep mean 0 and variance 1 from layer to layer."""
    return _C.selu_(input) if inplace else _C.selu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input``, multiplied by ``negative_slope`` where it is negative."""
    function = _nn.leaky_relu_ if inplace else _nn.leaky_relu
    return function(input, negative_slope)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``input``, limited to the range from 0 to 6."""
    return _nn.relu6_(input) if inplace else _nn.relu6(input)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """``input``, limited to the range from ``min_val`` to ``max_val``."""
    function = _nn.hardtanh_ if inplace else _nn.hardtanh
    return function(input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``input / 6 + 1 / 2``, limited to the range from 0 to 1."""
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * hardsigmoid(input)``."""
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
    return _nn.mish_(input) if inplace else _nn.mish(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` where it is above ``threshold``, else ``value``."""
    function = _C.threshold_ if inplace else _C.threshold
    return function(input, threshold, value)


# The forms in place under names of their own.
relu_, celu_, selu_, threshold_ = _C.relu_, _C.celu_, _C.selu_, _C.threshold_
elu_, hardtanh_, leaky_relu_ = _nn.elu_, _nn.hardtanh_, _nn.leaky_relu_


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``input``, or 0 where its magnitude is at most ``lambd``."""
    return _C.hardshrink(input, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``input`` moved by ``lambd`` towards 0, at most up to 0."""
    return _nn.softshrink(input, lambd)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``; ``input`` where ``beta * input`` is above threshold."""
    return _nn.softplus(input, beta, threshold)


def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of ``sigmoid(input)``."""
    return _nn.log_sigmoid(input)


def softsign(input: Tensor) -> Tensor:
    """``input / (1 + abs(input))``."""
    return _nn.softsign(input)


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return _nn.tanhshrink(input)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``input`` times the normal distribution function of ``input``, elementwise."""
    return _C.gelu(input, approximate=approximate)


def softmax(
    input: Tensor, dim: Optional[int] = None, dtype: Optional[_C.dtype] = None
) -> Tensor:
    """Numbers along ``dim`` that are positive and sum to one."""
    return _C.softmax(input, _softmax_dim("softmax", dim), dtype)


def log_softmax(
    input: Tensor, dim: Optional[int] = None, dtype: Optional[_C.dtype] = None
) -> Tensor:
    """The logarithm of ``softmax``."""
    return _C.log_softmax(input, _softmax_dim("log_softmax", dim), dtype)


def _softmax_dim(op: str, dim: Optional[int]) -> int:
    if dim is None:
        raise ValueError(f"{op}(): expected a dim to sum along, got None")
    return dim


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Sets elements to zero with probability ``p`` and scales the others by ``1 / (1 - p)``."""
    if not inplace:
        return _C.dropout(input, p, training)
    state = _C.default_generator.get_state()
    try:
        return _C.dropout_(input, p, training)
    except Exception:  # may come after random numbers were drawn
        _C.default_generator.set_state(state)
        raise


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
    row = -1
    if padding_idx is not None:
        check_tensor("embedding", "weight", weight)
        row = _padding_row("embedding", padding_idx, weight.size(0))
    return _C.embedding(weight, input, row, scale_grad_by_freq)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The squared differences, reduced."""
    return _nn.mse_loss(input, target, _reduction("mse_loss", reduction))


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The absolute differences, reduced."""
    return _nn.l1_loss(input, target, _reduction("l1_loss", reduction))


def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """``l1_loss``, with a parabola where the difference is less than ``beta``."""
    return _nn.smooth_l1_loss(input, target, _reduction("smooth_l1_loss", reduction), beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Half the squared differences up to ``delta``, a straight line beyond."""
    return _nn.huber_loss(input, target, _reduction("huber_loss", reduction), delta)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean"
) -> Tensor:
    """The cross entropy of probabilities ``target``, of the same shape, and ``input``."""
    _check_same_shape("binary_cross_entropy", input, target)
    return _nn.binary_cross_entropy(
        input, target, weight, _reduction("binary_cross_entropy", reduction)
    )


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean",
    pos_weight: Optional[Tensor] = None,
) -> Tensor:
    """``binary_cross_entropy`` of ``sigmoid(input)``, finite for large ``input``, too."""
    _check_same_shape("binary_cross_entropy_with_logits", input, target)
    number = _reduction("binary_cross_entropy_with_logits", reduction)
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def kl_div(
    input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """The Kullback-Leibler divergence; ``input`` holds log-probabilities. ``reduction`` may also be
    'batchmean': the sum, divided by the size of the first dimension."""
    if reduction == "batchmean":
        return _C.kl_div(input, target, 2, log_target=log_target) / input.size(0)
    return _C.kl_div(input, target, _reduction("kl_div", reduction), log_target=log_target)


def nll_loss(
    input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """``-input`` at the target class; ``input`` ``[n, classes, ...]`` holds log-probabilities."""
    return _nn.nll_loss_nd(input, target, weight, _reduction("nll_loss", reduction), ignore_index)


def cross_entropy(
    input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of scores ``[n, classes, ...]`` and classes or class probabilities."""
    return _nn.cross_entropy_loss(
        input, target, weight, _reduction("cross_entropy", reduction), ignore_index, label_smoothing
    )


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A last dimension with 1 at the given class and 0 elsewhere."""
    check_tensor("one_hot", "tensor", tensor)
    num_classes = as_integer("one_hot", "num_classes", num_classes)
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
    zeros = _C.zeros((*tensor.shape, num_classes), dtype=_C.int64, device=tensor.device)
    return zeros.scatter_(-1, tensor.unsqueeze(-1).to(_C.int64), 1)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Divides by the norm along ``dim``, which is taken to be at least ``eps``."""
    check_tensor("normalize", "input", input)
    return input / input.norm(p, (dim,), True).clamp(min=eps)
