"""Layers with parameters, and those that change shapes or drop elements."""

import math
from typing import Iterable, Optional, Sequence, Tuple, Union

from oploom import _C
from oploom._C import Tensor
from oploom._checks import as_size, check_numbers
from oploom.nn import functional as F
from oploom.nn import init
from oploom.nn.module import Module
from oploom.nn.parameter import Parameter


class Identity(Module):
    """Returns its input."""

    def forward(self, input: Tensor) -> Tensor:
        return input


class Flatten(Module):
    """Joins the dimensions from ``start_dim`` to ``end_dim``."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return _C.flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Linear(Module):
    """x @ weight.T + bias, with weight ``[out_features, in_features]``."""

    weight: Parameter
    bias: Optional[Parameter]

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True,
        device: Union[_C.device, str, None] = None, dtype: Optional[_C.dtype] = None,
    ) -> None:
        super().__init__()
        self.in_features = as_size("Linear", "in_features", in_features)
        self.out_features = as_size("Linear", "out_features", out_features)
        shape = (out_features, in_features)
        self.weight = Parameter(_C.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_C.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias uniformly from within 1 / sqrt(in_features)."""
        # The same as kaiming_uniform_(weight, a=sqrt(5)), without its rounding errors.
        bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Dropout(Module):
    """In training sets each element to zero with probability ``p`` and scales the others."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_numbers("Dropout", p=p)
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout(): expected a probability in [0, 1], got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class LayerNorm(Module):
    """Gives the last dimensions mean 0 and variance 1, then scales and shifts them."""

    weight: Optional[Parameter]
    bias: Optional[Parameter]

    def __init__(
        self, normalized_shape: Union[int, Sequence[int]], eps: float = 1e-5,
        elementwise_affine: bool = True, bias: bool = True,
        device: Union[_C.device, str, None] = None, dtype: Optional[_C.dtype] = None,
    ) -> None:
        super().__init__()
        shape = normalized_shape if isinstance(normalized_shape, Iterable) else [normalized_shape]
        self.normalized_shape: Tuple[int, ...] = tuple(
            as_size("LayerNorm", f"normalized_shape[{i}]", size) for i, size in enumerate(shape)
        )
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            empty = _C.empty(self.normalized_shape, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if empty is None else Parameter(empty))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the scale to 1 and the shift to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class Embedding(Module):
    """Looks up rows of ``weight`` ``[num_embeddings, embedding_dim]`` by integers."""

    weight: Parameter

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: Optional[int] = None,
        scale_grad_by_freq: bool = False, device: Union[_C.device, str, None] = None,
        dtype: Optional[_C.dtype] = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = as_size("Embedding", "num_embeddings", num_embeddings)
        self.embedding_dim = as_size("Embedding", "embedding_dim", embedding_dim)
        self.padding_idx = padding_idx
        if padding_idx is not None:
            self.padding_idx = F._padding_row("Embedding", padding_idx, self.num_embeddings)
        self.scale_grad_by_freq = scale_grad_by_freq
        shape = (num_embeddings, embedding_dim)
        self.weight = Parameter(_C.empty(shape, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws normally distributed rows; the row of padding_idx is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.scale_grad_by_freq)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx}"
