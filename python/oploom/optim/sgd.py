"""Stochastic gradient descent."""

from typing import Any, Dict

from oploom.optim.optimizer import Optimizer, Parameters, check_at_least_zero


class SGD(Optimizer):
    """Gradient descent, with momentum (``v = momentum * v + grad``) if that is not 0.

    ``nesterov`` looks one step ahead; ``weight_decay`` adds that much of the parameter to its
    gradient.
    """

    def __init__(
        self, params: Parameters, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
    ) -> None:
        check_at_least_zero("SGD", lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD(): nesterov needs a momentum, and no dampening")
        super().__init__(params, dict(
            lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
            nesterov=nesterov, maximize=maximize,
        ))

    def _update(self, group: Dict[str, Any]) -> None:
        momentum = group["momentum"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            step = -parameter.grad if group["maximize"] else parameter.grad
            if group["weight_decay"] != 0:
                step = step.add(parameter, alpha=group["weight_decay"])
            if momentum != 0:
                state = self.state[parameter]
                velocity = state.get("momentum_buffer")
                if velocity is None:
                    velocity = state["momentum_buffer"] = step.detach().clone()
                else:
                    velocity.mul_(momentum).add_(step, alpha=1 - group["dampening"])
                step = step.add(velocity, alpha=momentum) if group["nesterov"] else velocity
            parameter.add_(step, alpha=-group["lr"])
