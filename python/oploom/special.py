"""Special functions under their own names: ``oploom.special.erf`` and the like."""

from oploom import _C

_PREFIX = "special_"
__all__ = sorted(name[len(_PREFIX) :] for name in dir(_C._special) if name.startswith(_PREFIX))

globals().update({name: getattr(_C._special, _PREFIX + name) for name in __all__})
