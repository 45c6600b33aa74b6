"""What calls cost from Python: oploom beside NumPy and, where it can be imported, PyTorch."""

import importlib
import os
import re
import subprocess
import sys

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def cases(name, module):
    """{case: function} for one library; NumPy has no gradients and no operators as functions."""
    float32 = module.float32
    a, b = module.ones(2, dtype=float32), module.ones(2, dtype=float32)
    total, zeros = module.ones(2, dtype=float32), module.zeros(2, dtype=float32)
    matrix = module.ones((8, 8), dtype=float32)
    exp = module.exp
    result = {
        "python/a + b": lambda: a + b,
        "python/a += b": lambda: total.__iadd__(zeros),
        "python/a + 1.5": lambda: a + 1.5,
        "python/exp(a)": lambda: exp(a),
        "python/matrix[3]": lambda: matrix[3],
        "python/matrix[2:6]": lambda: matrix[2:6],
        "python/matrix @ matrix": lambda: matrix @ matrix,
        "python/matrix.sum()": lambda: matrix.sum(),
        "python/a.shape": lambda: a.shape,
        "python/a.dtype": lambda: a.dtype,
    }
    if name != "numpy":
        x = module.ones(2, dtype=float32, requires_grad=True)
        result |= {
            "python/a + b, recorded": lambda: x + b,
            "python/a.requires_grad": lambda: a.requires_grad,
            "python/forward and backward of 3": lambda: ((x * b).exp().sum()).backward(),
        }
    return result


def import_nanoseconds(name, path):
    """Of one import, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(name)],
        env=dict(os.environ, PYTHONPATH=str(path)),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout) * 1e9


def measure(path, pattern, rounds):
    """As compare.measure(), for the packages that can be imported; oploom's is in `path`."""
    sys.path.insert(0, str(path))
    try:
        nanoseconds_per_call = importlib.import_module(
            "oploom.testing.timing"
        ).nanoseconds_per_call
    except ImportError as error:
        sys.exit(f"benchmarks/compare: {error}; build it with tools/setup")
    modules = {}
    for name in ("oploom", "numpy", "torch"):
        try:
            modules[name] = importlib.import_module(name)
        except ImportError:
            pass  # a peer that is not installed
    results = {}
    functions = {}
    for name, module in modules.items():
        threads = module.get_num_threads() if hasattr(module, "get_num_threads") else "-"
        results[name] = {"version": module.__version__, "threads": threads, "times": {}}
        functions[name] = {
            case: function
            for case, function in cases(name, module).items()
            if re.search(pattern, case)
        }
    imports = re.search(pattern, "python/import")
    for _ in range(rounds):
        for name in modules:
            times = results[name]["times"]
            for case, function in functions[name].items():
                times.setdefault(case, []).append(nanoseconds_per_call(function))
            if imports:
                times.setdefault("python/import", []).append(import_nanoseconds(name, path))
    return results
