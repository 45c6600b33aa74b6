"""Results of every operator's samples with the DEFAULT kernels, computed in one other process.

    OPLOOM_CPU_CAPABILITY=default python -m oploom.testing.capability FOLDER FILE

writes those of the generated tests in FOLDER to FILE.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import oploom
from oploom.testing.samples import make_call, to_numpy


def operators(folder):
    """Every operator that the generated tests in a folder test."""
    for path in sorted(Path(folder).glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for value in vars(module).values():
            if isinstance(value, type) and hasattr(value, "op") and hasattr(value, "test_capability"):
                yield value.op


def results(op, dtype):
    """The outputs of each sample as arrays; None when the operator does not run."""
    from oploom.testing.harness import outputs

    samples = []
    for i, sample in enumerate(op.samples()):
        try:
            call = make_call(op, sample, dtype, i)
            samples.append([to_numpy(t) for t in outputs(call.run())])
        except Exception as error:  # reported by the test of this operator
            return f"{type(error).__name__}: {error}"
    return samples


def main(folder, path):
    assert oploom.get_cpu_capability() == "DEFAULT"
    everything = {}
    for op in operators(folder):
        for dtype in op.dtypes():
            everything[op.name, dtype] = results(op, dtype)
    Path(path).write_bytes(pickle.dumps(everything))


@functools.cache
def _all_default_results(folder):
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "results.pickle"
        environment = {**os.environ, "OPLOOM_CPU_CAPABILITY": "default",
                       "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        subprocess.run([sys.executable, "-m", "oploom.testing.capability", str(folder), str(path)],
                       check=True, env=environment)
        return pickle.loads(path.read_bytes())


def default_results(test_class, dtype) -> list[list[np.ndarray]]:
    """Of the operator of a test class; the classes beside it are computed along with it."""
    module = sys.modules[test_class.__module__]
    folder = Path(str(module.__file__)).parent
    found = _all_default_results(folder)[test_class.op.name, dtype]
    assert not isinstance(found, str), f"{test_class.op.name} with the DEFAULT kernels: {found}"
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
