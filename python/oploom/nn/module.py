"""Module: the base of everything in oploom.nn."""

import weakref
from collections import OrderedDict
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
    TypeVar,
)

from oploom import _C
from oploom._C import Tensor
from oploom.autograd.grad_mode import no_grad
from oploom.nn.parameter import Parameter, zero_gradients

T = TypeVar("T", bound="Module")


class IncompatibleKeys(NamedTuple):
    """What load_state_dict could not match."""

    missing_keys: List[str]
    unexpected_keys: List[str]


def check_member(op: str, name: Any, value: Any, kind: type) -> None:
    """Raises for what is neither None nor of the kind that a module holds there."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(
            f"{op}(): expected a {kind.__name__} or None as {name!r}, got {type(value).__name__}"
        )


class _Hook:
    """What a call of a module runs before or after its forward()."""

    def __init__(self, function: Callable[..., Any], with_kwargs: bool) -> None:
        self.function = function
        self.with_kwargs = with_kwargs


class RemovableHandle:
    """Takes a hook away again: by remove(), or at the end of a ``with`` block."""

    def __init__(self, module: "Module", hooks: str, hook: _Hook) -> None:
        self._module = weakref.ref(module)
        self._hooks = hooks
        self._hook = hook

    def remove(self) -> None:
        """Takes the hook away; it may be gone already."""
        module = self._module()
        if module is not None:
            kept = tuple(h for h in getattr(module, self._hooks) if h is not self._hook)
            setattr(module, self._hooks, kept)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.remove()


class Module:
    """A function with parameters, made of other modules.

    Subclasses call ``super().__init__()`` first, assign parameters and modules to attributes, and
    define ``forward``.
    """

    training: bool
    _parameters: Dict[str, Optional[Parameter]]
    _buffers: Dict[str, Optional[Tensor]]
    _modules: Dict[str, Optional["Module"]]
    _non_persistent: Set[str]
    # Tuples, so that a hook that adds or removes one does not change the list being gone through.
    _forward_pre_hooks: Tuple[_Hook, ...] = ()
    _forward_hooks: Tuple[_Hook, ...] = ()

    def __init__(self) -> None:
        set_plain = super().__setattr__
        set_plain("training", True)
        set_plain("_parameters", {})
        set_plain("_buffers", {})
        set_plain("_modules", {})
        set_plain("_non_persistent", set())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__} does not define forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._forward_pre_hooks and not self._forward_hooks:
            return self.forward(*args, **kwargs)
        for hook in self._forward_pre_hooks:
            if hook.with_kwargs:
                changed = hook.function(self, args, kwargs)
                if changed is not None:
                    args, kwargs = self._checked_inputs(changed)
            else:
                changed = hook.function(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in self._forward_hooks:
            given = (args, kwargs) if hook.with_kwargs else (args,)
            changed = hook.function(self, *given, result)
            if changed is not None:
                result = changed
        return result

    # ---- Hooks ----

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Has each call run ``hook(module, args)`` before forward(), whose arguments it replaces by
        returning others: a tuple, or the only one. With ``with_kwargs`` it is ``hook(module, args,
        kwargs)``, and returns both. Hooks run in the order of registration; ``prepend`` puts one
        first."""
        return self._add_hook("_forward_pre_hooks", hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Has each call run ``hook(module, args, result)`` after forward(), whose result it replaces
        by returning another. With ``with_kwargs`` it is ``hook(module, args, kwargs, result)``.
        Hooks run in the order of registration; ``prepend`` puts one first."""
        return self._add_hook("_forward_hooks", hook, prepend, with_kwargs)

    def _add_hook(
        self, hooks: str, function: Callable[..., Any], prepend: bool, with_kwargs: bool
    ) -> RemovableHandle:
        if not callable(function):
            raise TypeError(f"expected a function as hook, got {type(function).__name__}")
        hook = _Hook(function, with_kwargs)
        known = getattr(self, hooks)
        setattr(self, hooks, (hook, *known) if prepend else (*known, hook))
        return RemovableHandle(self, hooks, hook)

    def _checked_inputs(self, changed: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        if isinstance(changed, tuple) and len(changed) == 2:
            args, kwargs = changed
            if isinstance(args, tuple) and isinstance(kwargs, dict):
                return args, kwargs
        raise RuntimeError(
            f"forward pre-hook of {type(self).__name__}: expected None or a tuple of the arguments "
            f"(a tuple) and the keyword arguments (a dict), got {type(changed).__name__}"
        )

    # ---- Attributes ----

    def __setattr__(self, name: str, value: Any) -> None:
        stores = self.__dict__
        if "_parameters" not in stores:
            if isinstance(value, (Parameter, Module)):
                raise AttributeError(
                    f"{type(self).__name__} must call super().__init__() before it assigns "
                    f"'{name}'"
                )
            super().__setattr__(name, value)
            return
        parameters, buffers, modules = self._parameters, self._buffers, self._modules
        if isinstance(value, Parameter):
            self._forget(name, parameters)
            self.register_parameter(name, value)
        elif name in parameters:
            if value is not None:
                raise TypeError(
                    f"parameter '{name}' can be assigned a Parameter or None, got "
                    f"{type(value).__name__}"
                )
            parameters[name] = None
        elif isinstance(value, Module):
            self._forget(name, modules)
            modules[name] = value
        elif name in modules:
            if value is not None:
                raise TypeError(
                    f"module '{name}' can be assigned a Module or None, got {type(value).__name__}"
                )
            modules[name] = None
        elif name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"buffer '{name}' can be assigned a Tensor or None, got {type(value).__name__}"
                )
            buffers[name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        # Written out, as every use of a parameter comes by here.
        stores = self.__dict__
        values = stores.get("_parameters")
        if values is not None and name in values:
            return values[name]
        values = stores.get("_modules")
        if values is not None and name in values:
            return values[name]
        values = stores.get("_buffers")
        if values is not None and name in values:
            return values[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for values in (self._parameters, self._buffers, self._modules):
            if name in values:
                del values[name]
                self._non_persistent.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> List[str]:
        own = list(super().__dir__())
        return sorted({*own, *self._parameters, *self._buffers, *self._modules})

    def _forget(self, name: str, but_in: Dict[str, Any]) -> None:
        for values in (self.__dict__, self._parameters, self._buffers, self._modules):
            if values is not but_in:
                values.pop(name, None)

    def register_parameter(self, name: str, param: Optional[Parameter]) -> None:
        """Adds a parameter, or the place of one that is not there (None)."""
        self._register("register_parameter", "_parameters", name, param, Parameter)

    def register_buffer(
        self, name: str, tensor: Optional[Tensor], persistent: bool = True
    ) -> None:
        """Adds a tensor that is no parameter but moves with the module, and is saved with it
        if ``persistent``."""
        self._register("register_buffer", "_buffers", name, tensor, Tensor)
        self._non_persistent.discard(name)
        if not persistent:
            self._non_persistent.add(name)

    def add_module(self, name: str, module: Optional["Module"]) -> None:
        """Adds a module as the attribute ``name``."""
        self._register("add_module", "_modules", name, module, Module)

    register_module = add_module

    def _register(self, op: str, store: str, name: str, value: Any, kind: type) -> None:
        check_member(op, name, value, kind)
        if store not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} must call super().__init__() first")
        if not isinstance(name, str):
            raise TypeError(f"{op}(): expected a name that is a str, got {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"{op}(): expected a name without '.', got {name!r}")
        known = self.__dict__[store]
        if name not in known and hasattr(self, name):
            raise KeyError(f"{op}(): attribute '{name}' exists")
        known[name] = value

    # ---- Walking ----

    def named_modules(
        self, memo: Optional[Set["Module"]] = None, prefix: str = ""
    ) -> Iterator[Tuple[str, "Module"]]:
        """This module and those in it, each once, with their names: ``0.weight``."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        seen.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(seen, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator["Module"]:
        """This module and those in it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[Tuple[str, "Module"]]:
        """The modules directly in this one, with their names."""
        for name, module in self._modules.items():
            if module is not None:
                yield name, module

    def children(self) -> Iterator["Module"]:
        """The modules directly in this one."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, store: str, prefix: str, recurse: bool
    ) -> Iterator[Tuple[str, Any]]:
        seen: Set[int] = set()
        modules = self.named_modules(prefix=prefix) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in getattr(module, store).items():
                if member is None or id(member) in seen:
                    continue
                seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[Tuple[str, Parameter]]:
        """The parameters, each once, with their names."""
        return self._named_members("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[Tuple[str, Tensor]]:
        """The buffers, each once, with their names."""
        return self._named_members("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # ---- Changing ----

    def apply(self: T, fn: Callable[["Module"], Any]) -> T:
        """Calls ``fn`` with every module in this one, and with it last."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _convert(self: T, convert: Callable[[Tensor], Tensor]) -> T:
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is None:
                    continue
                # The Parameter stays the same object, which optimizers may hold already.
                with no_grad():
                    parameter.data = convert(parameter)
                    if parameter.grad is not None:
                        gradient = convert(parameter.grad)
                        parameter.grad = None
                        parameter.grad = gradient
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = convert(buffer)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """Converts parameters and buffers as ``Tensor.to`` does; a dtype applies to floating ones
        only."""
        target = _C.empty(0).to(*args, **kwargs)
        given = [*args, *kwargs.values()]
        names_dtype = any(isinstance(a, (_C.dtype, type, Tensor)) for a in given)
        names_device = any(isinstance(a, (_C.device, str, Tensor)) for a in given)
        if not (target.is_floating_point() or target.is_complex()):
            raise TypeError(f"to(): expected a floating-point or complex dtype, got {target.dtype}")

        def convert(tensor: Tensor) -> Tensor:
            floating = tensor.is_floating_point() or tensor.is_complex()
            dtype = target.dtype if names_dtype and floating else tensor.dtype
            device = target.device if names_device else tensor.device
            return tensor.to(device=device, dtype=dtype)

        return self._convert(convert)

    def _convert_floating(self: T, dtype: _C.dtype) -> T:
        return self._convert(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self: T) -> T:
        """Converts floating parameters and buffers to float32."""
        return self._convert_floating(_C.float32)

    def double(self: T) -> T:
        """Converts floating parameters and buffers to float64."""
        return self._convert_floating(_C.float64)

    def half(self: T) -> T:
        """Converts floating parameters and buffers to float16."""
        return self._convert_floating(_C.float16)

    def bfloat16(self: T) -> T:
        """Converts floating parameters and buffers to bfloat16."""
        return self._convert_floating(_C.bfloat16)

    def train(self: T, mode: bool = True) -> T:
        """Sets training mode, in which for example dropout is active."""
        if not isinstance(mode, bool):
            raise ValueError(f"train(): expected a bool, got {type(mode).__name__}")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: T) -> T:
        """Ends training mode."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Sets whether the parameters require grad."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Takes the gradients of the parameters away, or sets them to zero."""
        zero_gradients(self.parameters(), set_to_none)

    # ---- State ----

    def state_dict(self, prefix: str = "") -> "OrderedDict[str, Tensor]":
        """The parameters and persistent buffers by name; they share memory with the module."""
        result: "OrderedDict[str, Tensor]" = OrderedDict()
        self._save_state(prefix, result)
        return result

    def _save_state(self, prefix: str, result: Dict[str, Tensor]) -> None:
        for name, parameter in self._parameters.items():
            if parameter is not None:
                result[prefix + name] = parameter.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent:
                result[prefix + name] = buffer.detach()
        for name, module in self.named_children():
            module._save_state(f"{prefix}{name}.", result)

    def load_state_dict(
        self, state_dict: Mapping[str, Tensor], strict: bool = True
    ) -> IncompatibleKeys:
        """Copies what state_dict() gave into this module's parameters and buffers.

        With ``strict`` the names must be exactly this module's. Where anything does not fit, nothing
        is copied.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"load_state_dict(): expected a mapping from names to Tensors, got "
                f"{type(state_dict).__name__}"
            )
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        problems = []
        if strict and missing:
            problems.append(f"missing: {', '.join(missing)}")
        if strict and unexpected:
            problems.append(f"unexpected: {', '.join(map(str, unexpected))}")
        for name, tensor in own.items():
            if name not in state_dict:
                continue
            given = state_dict[name]
            if not isinstance(given, Tensor):
                problems.append(f"{name}: expected a Tensor, got {type(given).__name__}")
            elif given.shape != tensor.shape:
                problems.append(
                    f"{name}: expected shape {tuple(tensor.shape)}, got {tuple(given.shape)}"
                )
            elif given.is_meta and not tensor.is_meta:
                problems.append(f"{name}: expected a tensor with data, got one on meta")
        if problems:
            details = "".join(f"\n  {problem}" for problem in problems)
            raise RuntimeError(f"load_state_dict() of {type(self).__name__}:{details}")
        with no_grad():
            for name, tensor in own.items():
                if name in state_dict:
                    tensor.copy_(state_dict[name])
        return IncompatibleKeys(missing, unexpected)

    # ---- Printing ----

    def extra_repr(self) -> str:
        """What stands in the brackets after the class's name."""
        return ""

    def __repr__(self) -> str:
        lines = []
        for name, module in self._modules.items():
            lines.append(f"({name}): " + repr(module).replace("\n", "\n  "))
        extra = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({extra})"
        if extra:
            lines.insert(0, extra)
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"
