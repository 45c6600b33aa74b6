"""Stochastic gradient descent."""

from typing import Any, Dict, List

from oploom import _C
from oploom._C import Tensor
from oploom._checks import check_at_least_zero, check_bools, check_numbers
from oploom.optim.optimizer import Optimizer, Parameters


class SGD(Optimizer):
    """Gradient descent, with momentum (``v = momentum * v + grad``) if that is not 0.

    ``nesterov`` looks one step ahead; ``weight_decay`` adds that much of the parameter to its
    gradient.
    """

    def __init__(
        self, params: Parameters, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
    ) -> None:
        super().__init__(params, dict(
            lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
            nesterov=nesterov, maximize=maximize,
        ))
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD(): nesterov needs a momentum, and no dampening")

    def _check_settings(self, op: str, settings: Dict[str, Any]) -> None:
        check_at_least_zero(op, **{n: settings[n] for n in ("lr", "momentum", "weight_decay")})
        check_numbers(op, dampening=settings["dampening"])
        check_bools(op, nesterov=settings["nesterov"], maximize=settings["maximize"])

    def _state_like(self, parameter: Tensor, group: Dict[str, Any]) -> Dict[str, Tensor]:
        return {"momentum_buffer": parameter}

    def _update(self, group: Dict[str, Any]) -> None:
        parameters = [p for p in group["params"] if p.grad is not None]
        started = [p for p in parameters if group["momentum"] == 0 or self.state.get(p)]
        self._step(group, started, False)
        if len(started) < len(parameters):
            new = [p for p in parameters if not self.state.get(p)]
            for p in new:
                self.state[p]["momentum_buffer"] = _C.empty_like(p).detach()
            try:
                self._step(group, new, True)
            except Exception:  # their momentum has not begun
                for p in new:
                    del self.state[p]
                raise

    def _step(self, group: Dict[str, Any], parameters: List[Any], first: bool) -> None:
        momentum = group["momentum"]
        _C._fused_sgd_(
            parameters, [p.grad for p in parameters],
            [self.state[p]["momentum_buffer"] for p in parameters] if momentum != 0 else [],
            weight_decay=group["weight_decay"], momentum=momentum, lr=group["lr"],
            dampening=group["dampening"], nesterov=group["nesterov"], maximize=group["maximize"],
            is_first_step=first,
        )
