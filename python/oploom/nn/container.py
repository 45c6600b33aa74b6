"""Modules that hold other modules."""

from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Tuple, Union

from oploom.nn.module import Module


class Sequential(Module):
    """Calls its modules one after the other."""

    def __init__(self, *args: Union[Module, Mapping[str, Module]]) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, named in args[0].items():
                self.add_module(name, named)
            return
        for i, module in enumerate(args):
            self.add_module(str(i), module)  # type: ignore[arg-type]

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())  # type: ignore[arg-type]

    def __getitem__(self, index: Union[int, slice]) -> Module:
        if isinstance(index, slice):
            names = list(self._modules)[index]
            return Sequential({name: self._modules[name] for name in names})  # type: ignore
        return list(self)[index]

    def append(self, module: Module) -> "Sequential":
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules: Optional[Iterable[Module]] = None) -> None:
        super().__init__()
        for module in modules or ():
            self.append(module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())  # type: ignore[arg-type]

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return ModuleList(list(self)[index])
        return list(self)[index]

    def append(self, module: Module) -> "ModuleList":
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        """Adds modules at the end."""
        for module in modules:
            self.append(module)
        return self


class ModuleDict(Module):
    """A dictionary of modules."""

    def __init__(self, modules: Optional[Mapping[str, Module]] = None) -> None:
        super().__init__()
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
