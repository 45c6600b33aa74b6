"""Optimizer: groups of parameters with their settings and state."""

import copy
from collections import defaultdict
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

from oploom._C import Tensor
from oploom.autograd.grad_mode import enable_grad, no_grad
from oploom.nn.parameter import zero_gradients

Parameters = Union[Iterable[Tensor], Iterable[Dict[str, Any]]]


class Optimizer:
    """The base of optimizers. Subclasses define ``_update`` for one group."""

    def __init__(self, params: Parameters, defaults: Dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError("expected an iterable of Tensors or dicts, got a Tensor")
        self.defaults = defaults
        self.state: Dict[Tensor, Dict[str, Any]] = defaultdict(dict)
        self.param_groups: List[Dict[str, Any]] = []
        groups: List[Any] = list(params)
        if not groups:
            raise ValueError("the optimizer got no parameters")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Dict[str, Any]) -> None:
        """Adds parameters with settings of their own."""
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"expected Tensors, got {type(parameter).__name__}")
            if not parameter.is_leaf:
                raise ValueError("expected leaves, got the result of an operator")
            if id(parameter) in known:
                raise ValueError("a parameter is given twice")
            known.add(id(parameter))
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients of all parameters."""
        for group in self.param_groups:
            zero_gradients(group["params"], set_to_none)

    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Changes the parameters by their gradients; ``closure`` computes the loss again first."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group: Dict[str, Any]) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not define _update()")

    def state_dict(self) -> Dict[str, Any]:
        """Settings and state, with parameters named by their number."""
        numbers: Dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers[id(parameter)] = len(numbers)
            settings = {name: value for name, value in group.items() if name != "params"}
            groups.append({**settings, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(p)]: values for p, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Takes over a copy of what state_dict() gave, for the same parameters."""
        saved = copy.deepcopy(state_dict)
        sizes = [len(group["params"]) for group in self.param_groups]
        given = [len(group["params"]) for group in saved["param_groups"]]
        if sizes != given:
            raise ValueError(
                f"load_state_dict(): expected groups of {sizes} parameters, got {given}"
            )
        parameters = [p for group in self.param_groups for p in group["params"]]
        numbers = [n for group in saved["param_groups"] for n in group["params"]]
        by_number = dict(zip(numbers, parameters))
        for group, settings in zip(self.param_groups, saved["param_groups"]):
            group.update({n: v for n, v in settings.items() if n != "params"})
        self.state = defaultdict(dict)
        for number, values in saved["state"].items():
            self.state[by_number[number]] = values

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            lines.append(f"  group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return f"{type(self).__name__} (\n" + "\n".join(lines) + "\n)"


def check_at_least_zero(optimizer: str, **settings: float) -> None:
    """Raises for a negative setting."""
    for name, value in settings.items():
        if not value >= 0:
            raise ValueError(f"{optimizer}(): expected {name} of at least 0, got {value}")
