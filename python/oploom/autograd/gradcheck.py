"""Compares the gradients that operators compute with finite differences."""

import itertools
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple, Union

from oploom import _C
from oploom._C import Tensor
from oploom._checks import check_at_least_zero, check_tensor
from oploom.autograd.grad_mode import enable_grad, no_grad


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences say."""


Inputs = Union[Tensor, Sequence[Any]]
Function = Callable[..., Any]


def _tensors(values: Any) -> List[Any]:
    if isinstance(values, Tensor):
        return [values]
    return list(values) if isinstance(values, (tuple, list)) else [values]


def _flattened(values: Any) -> Iterator[Any]:
    for value in _tensors(values):
        if isinstance(value, (tuple, list)):
            yield from _flattened(value)
        else:
            yield value


def _is_checked(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _outputs(function: Function, inputs: Sequence[Any]) -> List[Tensor]:
    """The outputs that have a gradient."""
    return [o for o in _flattened(function(*inputs)) if _is_checked(o)]


def _values(output: Tensor) -> List[complex]:
    values = output.detach().reshape(-1).tolist()
    return [complex(v) for v in values]


def _numerical(
    function: Function, inputs: Sequence[Any], which: List[int], tensor: Tensor, eps: float
) -> List[List[Tuple[List[float], List[float]]]]:
    """For each output and each real direction of each element of `tensor`: the derivatives of the
    output's real and imaginary parts."""
    plain = tensor.detach()  # shares memory: the function sees what is written here

    def evaluate() -> List[List[complex]]:
        with no_grad():
            outputs = list(_flattened(function(*inputs)))
        return [_values(outputs[i]) for i in which]

    columns: List[List[Tuple[List[float], List[float]]]] = [[] for _ in which]
    directions = (eps, eps * 1j) if plain.is_complex() else (eps,)
    for position in itertools.product(*(range(size) for size in plain.shape)):
        index = position if position else ...
        original = plain[index].item()
        for step in directions:
            try:
                with no_grad():
                    plain[index] = original + step
                above = evaluate()
                with no_grad():
                    plain[index] = original - step
                below = evaluate()
            finally:
                with no_grad():
                    plain[index] = original
            for column, high, low in zip(columns, above, below):
                slopes = [(b - a) / (2 * eps) for a, b in zip(low, high)]
                column.append(([s.real for s in slopes], [s.imag for s in slopes]))
    return columns


def _directions_of(gradient: Optional[Tensor], tensor: Tensor) -> List[float]:
    """The gradient as one number for each real direction of each element."""
    count = tensor.numel()
    if gradient is None:
        return [0.0] * (2 * count if tensor.is_complex() else count)
    if gradient.shape != tensor.shape:
        raise GradcheckError(
            f"gradcheck(): the gradient has shape {tuple(gradient.shape)}, "
            f"its input {tuple(tensor.shape)}"
        )
    if gradient.dtype != tensor.dtype:
        raise GradcheckError(
            f"gradcheck(): the gradient has dtype {gradient.dtype}, its input {tensor.dtype}"
        )
    values = _values(gradient)
    if not tensor.is_complex():
        return [v.real for v in values]
    return [part for v in values for part in (v.real, v.imag)]


def _compare(
    analytical: List[float], numerical: List[float], atol: float, rtol: float, where: str
) -> None:
    for i, (a, n) in enumerate(zip(analytical, numerical)):
        both_nan = a != a and n != n
        if not both_nan and not abs(a - n) <= atol + rtol * abs(n):
            raise GradcheckError(
                f"gradcheck(): {where}, direction {i}: the gradient is {a:.10g}, finite "
                f"differences give {n:.10g}"
            )


def _check_output(
    output: Tensor, inputs: List[Tensor],
    numerical: List[List[Tuple[List[float], List[float]]]], number: int, atol: float, rtol: float,
) -> None:
    """Checks every row of one output's Jacobian against all inputs."""
    for element in range(output.numel()):
        for imaginary in (False, True) if output.is_complex() else (False,):
            seed = _C.zeros(output.numel(), dtype=output.dtype, device=output.device)
            seed[element] = 1j if imaginary else 1
            gradients = _C._run_backward(
                (output,), (seed.reshape(output.shape),), True, False, tuple(inputs), False, True
            )
            assert gradients is not None
            for i, (tensor, gradient) in enumerate(zip(inputs, gradients)):
                expected = [column[imaginary][element] for column in numerical[i]]
                _compare(
                    _directions_of(gradient, tensor), expected, atol, rtol,
                    f"output {number}, element {element}, input {i}",
                )


def _checked_inputs(op: str, inputs: Sequence[Any]) -> List[Tensor]:
    checked = [v for v in _flattened(inputs) if _is_checked(v)]
    if not checked:
        raise ValueError(f"{op}(): expected at least one input that requires grad")
    return checked


def _check(
    function: Function, inputs: Sequence[Any], eps: float, atol: float, rtol: float
) -> None:
    check_at_least_zero("gradcheck", eps=eps, atol=atol, rtol=rtol)
    if eps == 0:
        raise ValueError("gradcheck(): expected eps above 0, got 0")
    checked = _checked_inputs("gradcheck", inputs)
    for i, tensor in enumerate(checked):
        if tensor.dtype not in (_C.float64, _C.complex128):
            raise ValueError(
                f"gradcheck(): input {i} has dtype {tensor.dtype}; finite differences need float64 "
                "or complex128"
            )
        if any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape)):
            raise ValueError(f"gradcheck(): input {i} has elements that overlap in memory")
    with enable_grad():
        everything = list(_flattened(function(*inputs)))
        which = [i for i, o in enumerate(everything) if _is_checked(o)]
        if not which:
            raise GradcheckError("gradcheck(): no output requires grad")
        numerical = [_numerical(function, inputs, which, t, eps) for t in checked]
        for number, i in enumerate(which):
            # Evaluated afresh: the function may have kept what was changed in between.
            output = _outputs(function, inputs)[number]
            _check_output(output, checked, [n[number] for n in numerical], i, atol, rtol)


def gradcheck(
    func: Function,
    inputs: Inputs,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Checks the gradients of ``func`` at ``inputs`` against finite differences.

    Every input that requires grad must be float64 or complex128. Each element is moved by ``eps``
    in both directions, complex ones along the real and the imaginary axis. Raises GradcheckError
    where the two differ by more than ``atol + rtol * |difference quotient|``, or returns False if
    not ``raise_exception``.
    """
    try:
        _check(func, _tensors(inputs), eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Inputs,
    grad_outputs: Optional[Inputs] = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Checks the second derivatives of ``func``: the gradients of its gradients.

    ``grad_outputs`` are the gradients that go into the first pass; random ones unless given.
    """
    arguments = _tensors(inputs)
    _checked_inputs("gradgradcheck", arguments)
    with enable_grad():
        outputs = _outputs(func, arguments)
    if grad_outputs is None:
        generator = _C.Generator().manual_seed(0)
        seeds = [_random_like(o, generator).requires_grad_() for o in outputs]
    else:
        for i, gradient in enumerate(_tensors(grad_outputs)):
            check_tensor("gradgradcheck", f"grad_outputs[{i}]", gradient)
        seeds = [g.detach().clone().requires_grad_() for g in _tensors(grad_outputs)]
    count = len(arguments)

    def gradients(*values: Any) -> Tuple[Tensor, ...]:
        given, grads = values[:count], values[count:]
        with enable_grad():
            results = _outputs(func, given)
            wanted = [v for v in _flattened(given) if _is_checked(v)]
            found = _C._run_backward(
                tuple(results), tuple(grads), None, True, tuple(wanted), False, True
            )
        assert found is not None
        return tuple(g for g in found if g is not None)

    try:
        if not outputs:
            raise GradcheckError("gradgradcheck(): no output requires grad")
        with enable_grad():
            any_gradient = any(g.requires_grad for g in gradients(*arguments, *seeds))
        # Gradients that depend on nothing have derivative zero, and there is nothing to compare.
        if any_gradient:
            _check(gradients, [*arguments, *seeds], eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _random_like(output: Tensor, generator: Any) -> Tensor:
    values = _C.empty(output.shape, dtype=_C.float64).uniform_(0.5, 1.5, generator=generator)
    return values.to(output.dtype)
