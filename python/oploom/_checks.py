"""Checks of arguments, each of which names the function, what it expected and what came."""

import operator
from numbers import Real
from typing import Any

from oploom._C import Tensor


def check_tensor(op: str, name: str, value: Any) -> None:
    """Raises for what is no tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{op}(): expected a Tensor as {name}, got {type(value).__name__}")


def check_bools(op: str, **values: Any) -> None:
    """Raises for what is no bool."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise TypeError(f"{op}(): expected a bool as {name}, got {type(value).__name__}")


def check_numbers(op: str, **values: Any) -> None:
    """Raises for what is no real number, as NaN and a bool are none; a tensor may hold one."""
    for name, value in values.items():
        number = value.item() if isinstance(value, Tensor) and value.dim() == 0 else value
        if isinstance(number, bool) or not isinstance(number, Real):
            raise TypeError(f"{op}(): expected a number as {name}, got {type(value).__name__}")
        if number != number:
            raise ValueError(f"{op}(): expected a number as {name}, got nan")


def check_at_least_zero(op: str, **values: Any) -> None:
    """Raises for what is no number, or a negative one."""
    check_numbers(op, **values)
    for name, value in values.items():
        if value < 0:
            raise ValueError(f"{op}(): expected {name} of at least 0, got {value}")


def as_integer(op: str, name: str, value: Any) -> int:
    """The value as an int; a bool is no integer."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise TypeError(f"{op}(): expected an integer as {name}, got {type(value).__name__}")


def as_size(op: str, name: str, value: Any) -> int:
    """The value as the size of a dimension."""
    size = as_integer(op, name, value)
    if size < 0:
        raise ValueError(f"{op}(): expected {name} of at least 0, got {size}")
    return size
