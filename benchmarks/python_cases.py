"""What calls cost from Python: oploom beside the libraries that can be imported."""

import importlib
import importlib.metadata
import os
import re
import subprocess
import sys

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


# What is imported, and what waits for a result of a library that computes when it is asked to.
LIBRARIES = {
    "oploom": ("oploom", None),
    "numpy": ("numpy", None),
    "torch": ("torch", None),
    "jax": ("jax.numpy", "block_until_ready"),
    "mlx": ("mlx.core", "eval"),
}


def waiting(module, wait, function):
    if wait is None:
        return function
    if hasattr(module, wait):
        finish = getattr(module, wait)
        return lambda: finish(function())
    return lambda: getattr(function(), wait)()


def cases(name, module, wait):
    """{case: function} for one library; not each has gradients or operators as functions."""
    float32 = module.float32
    a, b = module.ones((2,), dtype=float32), module.ones((2,), dtype=float32)
    matrix = module.ones((8, 8), dtype=float32)
    x, y = module.ones((1000000,), dtype=float32), module.ones((1000000,), dtype=float32)
    square = module.ones((256, 256), dtype=float32)
    condition = x > 0
    result = {
        "python/a + b": lambda: a + b,
        "python/a + 1.5": lambda: a + 1.5,
        "python/exp(a)": lambda: module.exp(a),
        "python/matrix[3]": lambda: matrix[3],
        "python/matrix[2:6]": lambda: matrix[2:6],
        "python/matrix @ matrix": lambda: matrix @ matrix,
        "python/matrix.sum()": lambda: matrix.sum(),
        "python/x + y, 1 M": lambda: x + y,
        "python/exp(x), 1 M": lambda: module.exp(x),
        "python/tanh(x), 1 M": lambda: module.tanh(x),
        "python/where(x > 0, x, y), 1 M": lambda: module.where(condition, x, y),
        "python/x.sum(), 1 M": lambda: x.sum(),
        "python/square @ square, 256": lambda: square @ square,
    }
    result = {case: waiting(module, wait, function) for case, function in result.items()}
    result |= {"python/a.shape": lambda: a.shape, "python/a.dtype": lambda: a.dtype}
    if wait is None:
        total, zeros = module.ones((2,), dtype=float32), module.zeros((2,), dtype=float32)
        result["python/a += b"] = lambda: total.__iadd__(zeros)
    if name in ("oploom", "torch"):
        leaf = module.ones(2, dtype=float32, requires_grad=True)
        result |= {
            "python/a + b, recorded": lambda: leaf + b,
            "python/a.requires_grad": lambda: a.requires_grad,
            "python/forward and backward of 3": lambda: ((leaf * b).exp().sum()).backward(),
        }
    return result


def import_nanoseconds(name, path):
    """Of one import, in a process of its own, with `path` before the places that PYTHONPATH names."""
    places = [str(path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(name)],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(places)),
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
    for name, (package, _) in LIBRARIES.items():
        try:
            modules[name] = importlib.import_module(package)
        except ImportError:
            pass  # a peer that is not installed
    results = {}
    functions = {}
    for name, module in modules.items():
        threads = module.get_num_threads() if hasattr(module, "get_num_threads") else "its own"
        version = importlib.metadata.version(name)
        results[name] = {"version": version, "threads": threads, "times": {}}
        functions[name] = {
            case: function
            for case, function in cases(name, module, LIBRARIES[name][1]).items()
            if re.search(pattern, case)
        }
    imports = bool(re.search(pattern, "python/import"))
    for turn in range(rounds):
        # The libraries take turns case by case, none always first.
        order = list(modules)[:: -1 if turn % 2 else 1]
        for case in functions["oploom"]:
            for name in order:
                if function := functions[name].get(case):
                    times = results[name]["times"].setdefault(case, [])
                    times.append(nanoseconds_per_call(function))
        for name in order if imports else ():
            times = results[name]["times"].setdefault("python/import", [])
            times.append(import_nanoseconds(LIBRARIES[name][0], path))
    return results
