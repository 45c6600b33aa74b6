"""How tensors are printed; the text itself is made in C++."""

from typing import NamedTuple, Optional

from oploom import _C
from oploom._checks import check_bools, check_numbers

_PROFILES = {
    "default": dict(precision=4, threshold=1000, edgeitems=3, linewidth=80),
    "short": dict(precision=2, threshold=1000, edgeitems=2, linewidth=80),
    "full": dict(precision=4, threshold=2**62, edgeitems=3, linewidth=80),
}


def named_tuple_text(result: NamedTuple) -> str:
    """A named tuple of results with the module of its class, whose name may be a builtin's."""
    fields = ", ".join(f"{name}={value!r}" for name, value in zip(result._fields, result))
    return f"{type(result).__module__}.{type(result).__name__}({fields})"


def set_printoptions(
    precision: Optional[int] = None,
    threshold: Optional[float] = None,
    edgeitems: Optional[int] = None,
    linewidth: Optional[int] = None,
    profile: Optional[str] = None,
    sci_mode: Optional[bool] = None,
) -> None:
    """Sets how tensors are printed; what is not given stays as it is.

    ``threshold`` is the number of elements from which on a tensor is abridged, ``edgeitems`` how
    many are then shown at each end, ``linewidth`` counts columns. ``profile`` is "default",
    "short" or "full". ``sci_mode`` switches scientific notation on or off; without it the values
    decide.
    """
    names = ("precision", "threshold", "edgeitems", "linewidth")
    *values, scientific = _C._get_printoptions()
    options = dict(zip(names, values))
    if profile is not None:
        if profile not in [*_PROFILES]:
            raise ValueError(f"set_printoptions(): expected a profile of {list(_PROFILES)}, "
                             f"got {profile!r}")
        options.update(_PROFILES[profile])
        scientific = -1
    for name, value in zip(names, (precision, threshold, edgeitems, linewidth)):
        if value is not None:
            check_numbers("set_printoptions", **{name: value})
            options[name] = int(min(value, 2**62))
    if sci_mode is not None:
        check_bools("set_printoptions", sci_mode=sci_mode)
        scientific = int(sci_mode)
    _C._set_printoptions(
        options["precision"], options["threshold"], options["edgeitems"], options["linewidth"],
        scientific,
    )
