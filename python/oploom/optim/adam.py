"""Adam and AdamW."""

from typing import Any, Dict, Tuple

from oploom import _C
from oploom._C import Tensor
from oploom._checks import check_at_least_zero, check_bools, check_numbers
from oploom.optim.optimizer import Optimizer, Parameters


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
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
            maximize=maximize,
        ))

    _fused_step = staticmethod(_C._fused_adam_)

    def _check_settings(self, op: str, settings: Dict[str, Any]) -> None:
        check_at_least_zero(op, **{n: settings[n] for n in ("lr", "eps", "weight_decay")})
        check_bools(op, amsgrad=settings["amsgrad"], maximize=settings["maximize"])
        betas = settings["betas"]
        if not isinstance(betas, (tuple, list)) or len(betas) != 2:
            raise TypeError(f"{op}(): expected betas as a tuple of two numbers, got {betas!r}")
        for i, beta in enumerate(betas):
            check_numbers(op, **{f"betas[{i}]": beta})
            if not 0 <= beta < 1:
                raise ValueError(f"{op}(): expected betas[{i}] in [0, 1), got {beta}")

    def _state_like(self, parameter: Tensor, group: Dict[str, Any]) -> Dict[str, Tensor]:
        means = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if group["amsgrad"] else 2]
        return {"step": _C.zeros(()), **dict.fromkeys(means, parameter)}

    def _update(self, group: Dict[str, Any]) -> None:
        parameters = [p for p in group["params"] if p.grad is not None]
        states = [self._state_of(p, group) for p in parameters]
        steps = [state["step"] for state in states]
        beta1, beta2 = group["betas"]
        for step in steps:
            step.add_(1)
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

    def _state_of(self, parameter: Tensor, group: Dict[str, Any]) -> Dict[str, Tensor]:
        state = self.state[parameter]
        if not state:
            for name, like in self._state_like(parameter, group).items():
                state[name] = _C.zeros_like(like).detach()
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
