"""Modules that hold other modules."""

from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Tuple, Type, Union

from oploom._checks import as_integer
from oploom.nn import functional as F
from oploom.nn.activation import ReLU
from oploom.nn.layers import Linear
from oploom.nn.module import Module, check_member


def _at(container: Module, index: Any) -> Module:
    """The module at an index, which may count from the end."""
    modules: Any = list(container._modules.values())
    try:
        return modules[as_integer("__getitem__", "index", index)]
    except IndexError:
        raise IndexError(
            f"__getitem__(): expected an index of one of {len(modules)} modules, got {index}"
        ) from None


def _is_just(module: Optional[Module], kind: Type[Module]) -> bool:
    """Whether a call of the module is nothing but forward() as its class has it."""
    return (
        type(module) is kind
        and not module._forward_pre_hooks
        and not module._forward_hooks
        and "forward" not in module.__dict__
    )


class Sequential(Module):
    """Calls its modules one after the other.

    A ``Linear`` and a ``ReLU`` behind it, neither with hooks, are one operator, ``linear_relu``.
    """

    def __init__(self, *args: Union[Module, Mapping[str, Module]]) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, named in args[0].items():
                self.add_module(name, named)
            return
        for i, module in enumerate(args):
            self.add_module(str(i), module)  # type: ignore[arg-type]

    def forward(self, input: Any) -> Any:
        linear: Any = None  # one that has not been called yet
        for module in self._modules.values():
            if linear is not None:
                if _is_just(module, ReLU):
                    input = F.linear_relu(input, linear.weight, linear.bias)
                    linear = None
                    continue
                input = linear(input)
                linear = None
            if _is_just(module, Linear):
                linear = module
            else:
                input = module(input)  # type: ignore[misc]
        return input if linear is None else linear(input)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())  # type: ignore[arg-type]

    def __getitem__(self, index: Union[int, slice]) -> Module:
        if isinstance(index, slice):
            names = list(self._modules)[index]
            return Sequential({name: self._modules[name] for name in names})  # type: ignore
        return _at(self, index)

    def append(self, module: Module) -> "Sequential":
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules: Optional[Iterable[Module]] = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())  # type: ignore[arg-type]

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return ModuleList(list(self)[index])
        return _at(self, index)

    def append(self, module: Module) -> "ModuleList":
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        """Adds modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"extend(): expected an iterable of Modules, got {type(modules).__name__}"
            )
        modules = list(modules)
        for i, module in enumerate(modules):
            check_member("extend", i, module, Module)
        for module in modules:
            self.append(module)
        return self


class ModuleDict(Module):
    """A dictionary of modules."""

    def __init__(self, modules: Optional[Mapping[str, Module]] = None) -> None:
        super().__init__()
        if modules is not None and not hasattr(modules, "items"):
            raise TypeError(
                f"ModuleDict(): expected a mapping from names to Modules, got "
                f"{type(modules).__name__}"
            )
        for name, module in (modules or {}).items():
            self.add_module(name, module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def __getitem__(self, name: str) -> Any:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def items(self) -> Iterable[Tuple[str, Any]]:
        """Names and modules."""
        return self._modules.items()

    def keys(self) -> Iterable[str]:
        """Names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """Modules."""
        modules: Dict[str, Any] = self._modules
        return modules.values()
