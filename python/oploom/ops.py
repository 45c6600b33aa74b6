"""The operators by the namespace they are registered in.

``oploom.ops.aten.add`` is ``oploom.add``; ``oploom.ops.mathx.mish`` is there once ``mathx``, a package of
operators outside oploom, has been imported.
"""

from types import ModuleType
from typing import Dict, List

from oploom import _C

_packages: Dict[str, ModuleType] = {"aten": _C}


def add_package(namespace: str, functions: ModuleType) -> None:
    """Makes the functions of a package known; its ``__init__`` calls this."""
    known = _packages.setdefault(namespace, functions)
    if known is not functions:
        raise ImportError(
            f"the namespace '{namespace}' belongs to {known.__name__}, so {functions.__name__} cannot "
            "have it"
        )


def __getattr__(name: str) -> ModuleType:
    if name in _packages:
        return _packages[name]
    raise AttributeError(
        f"oploom.ops has no namespace '{name}'; there are {', '.join(sorted(_packages))}. The operators "
        "of a package are here once it has been imported"
    )


def __dir__() -> List[str]:
    return [*sorted(_packages), "add_package"]
