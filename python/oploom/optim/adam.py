"""Adam and AdamW."""

from typing import Any, Dict, Tuple

from oploom import _C
from oploom._C import Tensor
from oploom.optim.optimizer import Optimizer, Parameters, check_at_least_zero


class Adam(Optimizer):
    """Steps by the running mean of the gradient over the root of that of its square.

    ``betas`` are the decay rates of the two; ``weight_decay`` adds that much of the parameter to
    its gradient; ``amsgrad`` keeps the largest mean square seen.
    """

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

    _fused_step = staticmethod(_C._fused_adam_)

    def _update(self, group: Dict[str, Any]) -> None:
        parameters = [p for p in group["params"] if p.grad is not None]
        states = [self._state_of(p, group["amsgrad"]) for p in parameters]
        steps = [state["step"] for state in states]
        for step in steps:
            step.add_(1)
        beta1, beta2 = group["betas"]
        try:
            self._fused_step(
                parameters, [p.grad for p in parameters], [s["exp_avg"] for s in states],
                [s["exp_avg_sq"] for s in states],
                [s["max_exp_avg_sq"] for s in states] if group["amsgrad"] else [], steps,
                lr=group["lr"], beta1=beta1, beta2=beta2, weight_decay=group["weight_decay"],
                eps=group["eps"], amsgrad=group["amsgrad"], maximize=group["maximize"],
            )
        except Exception:
            for step in steps:
                step.sub_(1)
            raise

    def _state_of(self, parameter: Tensor, amsgrad: bool) -> Dict[str, Tensor]:
        state = self.state[parameter]
        if not state:
            state["step"] = _C.zeros(())
            for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if amsgrad else 2]:
                state[name] = _C.zeros_like(parameter).detach()
        return state


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself, apart from the gradient."""

    _fused_step = staticmethod(_C._fused_adamw_)

    def __init__(
        self, params: Parameters, lr: float = 1e-3, betas: Tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
