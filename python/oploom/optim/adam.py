"""Adam and AdamW."""

import math
from typing import Any, Dict, Tuple

from oploom import _C
from oploom.optim.optimizer import Optimizer, Parameters, check_at_least_zero


class Adam(Optimizer):
    """Steps by the running mean of the gradient over the root of that of its square.

    ``betas`` are the decay rates of the two; ``weight_decay`` adds that much of the parameter to
    its gradient; ``amsgrad`` keeps the largest mean square seen.
    """

    _decoupled = False

    def __init__(
        self, params: Parameters, lr: float = 1e-3, betas: Tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, amsgrad: bool = False, *,
        maximize: bool = False,
    ) -> None:
        check_at_least_zero(type(self).__name__, lr=lr, eps=eps, weight_decay=weight_decay)
        for i, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Adam(): expected betas[{i}] in [0, 1), got {beta}")
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
            maximize=maximize,
        ))

    def _update(self, group: Dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        lr, decay = group["lr"], group["weight_decay"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            gradient = -parameter.grad if group["maximize"] else parameter.grad
            if decay != 0:
                if self._decoupled:
                    parameter.mul_(1 - lr * decay)
                else:
                    gradient = gradient.add(parameter, alpha=decay)
            state = self.state[parameter]
            if not state:
                state["step"] = 0
                state["exp_avg"] = _C.zeros_like(parameter).detach()
                state["exp_avg_sq"] = _C.zeros_like(parameter).detach()
                if group["amsgrad"]:
                    state["max_exp_avg_sq"] = _C.zeros_like(parameter).detach()
            state["step"] += 1
            mean, square = state["exp_avg"], state["exp_avg_sq"]
            mean.mul_(beta1).add_(gradient, alpha=1 - beta1)
            square.mul_(beta2).add_(gradient * gradient, alpha=1 - beta2)
            if group["amsgrad"]:
                square = state["max_exp_avg_sq"] = _C.maximum(state["max_exp_avg_sq"], square)
            # Both means begin at zero; the corrections take that out again.
            root = square.sqrt().div_(math.sqrt(1 - beta2 ** state["step"])).add_(group["eps"])
            parameter.add_(mean / root, alpha=-lr / (1 - beta1 ** state["step"]))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself, apart from the gradient."""

    _decoupled = True

    def __init__(
        self, params: Parameters, lr: float = 1e-3, betas: Tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
