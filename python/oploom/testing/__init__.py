"""The harness that generated operator tests run in, for oploom's own operators and for packages.

It needs NumPy, SciPy and pytest, none of which ``import oploom`` does.
"""

import importlib.util

_missing = [name for name in ("numpy", "scipy", "pytest") if importlib.util.find_spec(name) is None]
if _missing:
    raise ImportError(
        f"oploom.testing needs {', '.join(_missing)}: pip install {' '.join(_missing)}"
    )
