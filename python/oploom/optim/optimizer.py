"""Optimizer: groups of parameters with their settings and state."""

import copy
from collections import defaultdict
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

from oploom._C import Tensor
from oploom.autograd.grad_mode import enable_grad, no_grad
from oploom.nn.parameter import zero_gradients

Parameters = Union[Iterable[Tensor], Iterable[Dict[str, Any]]]


class Optimizer:
    """The base of optimizers. Subclasses define ``_update`` for one group.

    What _update() could not use is refused where it is given, since by the time that it is used
    another group may have changed: ``_check_settings`` and ``_state_like`` say what that is.
    """

    def __init__(self, params: Parameters, defaults: Dict[str, Any]) -> None:
        name = type(self).__name__
        if isinstance(params, Tensor) or not isinstance(params, Iterable):
            raise TypeError(
                f"{name}(): expected an iterable of Tensors or dicts as params, got "
                f"{type(params).__name__}"
            )
        self._check_settings(name, defaults)
        self.defaults = defaults
        self.state: Dict[Tensor, Dict[str, Any]] = defaultdict(dict)
        self.param_groups: List[Dict[str, Any]] = []
        groups: List[Any] = list(params)
        if not groups:
            raise ValueError(f"{name}(): the optimizer got no parameters")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _check_settings(self, op: str, settings: Dict[str, Any]) -> None:
        """Raises for settings that do not fit."""

    def _state_like(self, parameter: Tensor, group: Dict[str, Any]) -> Dict[str, Tensor]:
        """For each tensor in the state of a parameter one of its shape, dtype and device."""
        return {}

    def add_param_group(self, param_group: Dict[str, Any]) -> None:
        """Adds parameters with settings of their own."""
        name = type(self).__name__
        if not isinstance(param_group, dict) or "params" not in param_group:
            raise TypeError(
                f"{name}(): expected a group as a dict with 'params', got {_outline(param_group)}"
            )
        params = param_group["params"]
        if not isinstance(params, Iterable):
            raise TypeError(
                f"{name}(): expected an iterable of Tensors as 'params' of a group, got "
                f"{type(params).__name__}"
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"{name}(): expected Tensors, got {type(parameter).__name__}")
            if not parameter.is_leaf:
                raise ValueError(f"{name}(): expected leaves, got the result of an operator")
            if id(parameter) in known:
                raise ValueError(f"{name}(): a parameter is given twice")
            known.add(id(parameter))
        group = {**self.defaults, **param_group, "params": params}
        self._check_settings(name, group)
        self.param_groups.append(group)

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
        """Takes over a copy of what state_dict() gave, for the same parameters; tensors get the
        dtype and device of their parameter. Where anything does not fit, nothing changes."""
        saved = copy.deepcopy(state_dict)
        try:
            states, settings = dict(saved["state"]), list(saved["param_groups"])
            numbers = [list(group["params"]) for group in settings]
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(
                "load_state_dict(): expected what state_dict() gives, a dict with 'state' and "
                f"'param_groups', which have 'params', got {_outline(saved)}"
            ) from error
        sizes = [len(group["params"]) for group in self.param_groups]
        given = [len(group) for group in numbers]
        if sizes != given:
            raise ValueError(
                f"load_state_dict(): expected groups of {sizes} parameters, got {given}"
            )
        groups = [
            {**group, **new, "params": group["params"]}
            for group, new in zip(self.param_groups, settings)
        ]
        state: Dict[Tensor, Dict[str, Any]] = defaultdict(dict)
        for group, names in zip(groups, numbers):
            self._check_settings("load_state_dict", group)
            for number, parameter in zip(names, group["params"]):
                if number in states:
                    state[parameter] = states.pop(number)
                    self._fit_state(number, state[parameter], self._state_like(parameter, group))
        if states:
            raise ValueError(
                f"load_state_dict(): expected state of the parameters {numbers}, got state of "
                f"{list(states)}, too"
            )
        for group, new in zip(self.param_groups, groups):
            group.update(new)
        self.state = state

    def _fit_state(self, number: Any, values: Any, wanted: Dict[str, Tensor]) -> None:
        """Converts the tensors in the state of a parameter, which may have none yet."""
        if not isinstance(values, dict):
            raise TypeError(
                f"load_state_dict(): expected the state of parameter {number} as a dict, got "
                f"{type(values).__name__}"
            )
        for name, like in wanted.items() if values else ():
            value = values.get(name)
            if not isinstance(value, Tensor) or value.shape != like.shape:
                got = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
                raise ValueError(
                    f"load_state_dict(): expected {name} of parameter {number} as a Tensor of "
                    f"shape {tuple(like.shape)}, got {got}"
                )
            values[name] = value.to(like)

    def __repr__(self) -> str:
        lines = []
        for i, group in enumerate(self.param_groups):
            lines.append(f"  group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return f"{type(self).__name__} (\n" + "\n".join(lines) + "\n)"


def _outline(value: Any) -> str:
    return f"a dict with {list(value)}" if isinstance(value, dict) else type(value).__name__
