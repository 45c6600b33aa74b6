"""Context managers that switch the recording of derivatives on and off in this thread."""

import functools
from typing import Any, Callable, List, TypeVar

from oploom import _C
from oploom._checks import check_bools

F = TypeVar("F", bound=Callable[..., Any])


def _is_generator(function: Any) -> bool:
    # As inspect.isgeneratorfunction, without importing inspect, which takes long.
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & 0x20)


class _GradMode:
    """Sets a mode for a `with` block, or for every call of a decorated function."""

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._saved: List[bool] = []

    def __enter__(self) -> None:
        self._saved.append(_C.is_grad_enabled())
        _C._set_grad_enabled(self._mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._saved.pop())

    def __call__(self, function: F) -> F:
        if not callable(function):
            raise TypeError(
                f"{type(self).__name__}(): expected a function to decorate, got "
                f"{type(function).__name__}"
            )
        if _is_generator(function):
            raise TypeError("the grad mode of a generator function cannot be set by a decorator")

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with _GradMode(self._mode):
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


class no_grad(_GradMode):
    """Within it no operator records its derivative: results require no gradient."""

    def __new__(cls, function: Any = None) -> Any:
        if function is None:
            return super().__new__(cls)
        return cls()(function)  # used as `@no_grad`

    def __init__(self, function: Any = None) -> None:
        super().__init__(False)


class enable_grad(_GradMode):
    """Switches recording on again within no_grad."""

    def __new__(cls, function: Any = None) -> Any:
        if function is None:
            return super().__new__(cls)
        return cls()(function)

    def __init__(self, function: Any = None) -> None:
        super().__init__(True)


class set_grad_enabled(_GradMode):
    """Sets recording at once; as a context manager until its end, as a decorator for calls."""

    def __init__(self, mode: bool) -> None:
        check_bools("set_grad_enabled", mode=mode)
        super().__init__(mode)
        self._before = _C.is_grad_enabled()
        _C._set_grad_enabled(self._mode)

    def __enter__(self) -> None:
        self._saved.append(self._before)
        _C._set_grad_enabled(self._mode)

    def __call__(self, function: F) -> F:
        _C._set_grad_enabled(self._before)
        return super().__call__(function)
