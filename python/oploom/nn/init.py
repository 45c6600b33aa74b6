"""Initial values of parameters. Each function changes its tensor in place and returns it."""

import math
from typing import Optional, Tuple

from oploom._C import Generator, Tensor
from oploom._checks import check_at_least_zero, check_numbers, check_tensor
from oploom.autograd.grad_mode import no_grad


@no_grad()
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Optional[Generator] = None
) -> Tensor:
    """Numbers uniformly from [a, b)."""
    check_tensor("uniform_", "tensor", tensor)
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Optional[Generator] = None
) -> Tensor:
    """Normally distributed numbers."""
    check_tensor("normal_", "tensor", tensor)
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def _fill(op: str, tensor: Tensor, val: float) -> Tensor:
    check_tensor(op, "tensor", tensor)
    return tensor.fill_(val)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same number everywhere."""
    return _fill("constant_", tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return _fill("ones_", tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return _fill("zeros_", tensor, 0.0)


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix, zeros elsewhere."""
    check_tensor("eye_", "tensor", tensor)
    if tensor.dim() != 2:
        raise ValueError(f"eye_(): expected a matrix, got a {tensor.dim()}-d tensor")
    tensor.fill_(0.0)
    for i in range(min(tensor.shape)):
        tensor[i, i] = 1.0
    return tensor


def calculate_gain(nonlinearity: str, param: Optional[float] = None) -> float:
    """The factor by which a nonlinearity shrinks the standard deviation, to make up for."""
    if nonlinearity in ("linear", "sigmoid"):
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        check_numbers("calculate_gain", param=slope)
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"calculate_gain(): unknown nonlinearity {nonlinearity!r}")


def _fans(op: str, tensor: Tensor) -> Tuple[int, int]:
    """How many inputs feed an output, and outputs an input."""
    check_tensor(op, "tensor", tensor)
    if tensor.dim() < 2:
        raise ValueError(
            f"{op}(): expected a tensor of 2 or more dimensions, got a {tensor.dim()}-d one"
        )
    receptive = math.prod(tensor.shape[2:])
    return tensor.shape[1] * receptive, tensor.shape[0] * receptive


def _xavier_std(op: str, tensor: Tensor, gain: float) -> float:
    check_at_least_zero(op, gain=gain)
    return gain * math.sqrt(2.0 / max(sum(_fans(op, tensor)), 1))


def _kaiming_std(op: str, tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"{op}(): expected mode 'fan_in' or 'fan_out', got {mode!r}")
    fan = _fans(op, tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fan, 1))


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Optional[Generator] = None
) -> Tensor:
    """Uniform, with the variance 2 / (fan_in + fan_out), times gain squared."""
    bound = math.sqrt(3.0) * _xavier_std("xavier_uniform_", tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: Optional[Generator] = None
) -> Tensor:
    """Normal, with the variance 2 / (fan_in + fan_out), times gain squared."""
    return normal_(tensor, 0.0, _xavier_std("xavier_normal_", tensor, gain), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Optional[Generator] = None,
) -> Tensor:
    """Uniform, with a variance that keeps activations as large from layer to layer."""
    std = _kaiming_std("kaiming_uniform_", tensor, a, mode, nonlinearity)
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: Optional[Generator] = None,
) -> Tensor:
    """Normal, with a variance that keeps activations as large from layer to layer."""
    std = _kaiming_std("kaiming_normal_", tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, std, generator)
