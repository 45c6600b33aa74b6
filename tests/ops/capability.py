"""Results of every operator's samples with the DEFAULT kernels, computed in one other process.

    OPLOOM_CPU_CAPABILITY=default python -m tests.ops.capability FILE    writes them to FILE
"""

from __future__ import annotations

import functools
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import oploom

from tests.ops.samples import make_call, to_numpy

TREE = Path(__file__).resolve().parents[2]


def operators():
    """Every operator that the generated tests test."""
    for path in sorted((TREE / "generated" / "tests").glob("test_*.py")):
        module = importlib.import_module(f"generated.tests.{path.stem}")
        for value in vars(module).values():
            if isinstance(value, type) and hasattr(value, "op") and hasattr(value, "test_capability"):
                yield value.op


def results(op, dtype):
    """The outputs of each sample as arrays; None when the operator does not run."""
    from tests.ops.harness import outputs

    samples = []
    for i, sample in enumerate(op.samples()):
        try:
            call = make_call(op, sample, dtype, i)
            samples.append([to_numpy(t) for t in outputs(call.run())])
        except Exception as error:  # reported by the test of this operator
            return f"{type(error).__name__}: {error}"
    return samples


def main(path):
    assert oploom.get_cpu_capability() == "DEFAULT"
    everything = {}
    for op in operators():
        for dtype in op.dtypes():
            everything[op.name, dtype] = results(op, dtype)
    Path(path).write_bytes(pickle.dumps(everything))


@functools.cache
def _all_default_results():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.pickle"
        environment = {**os.environ, "OPLOOM_CPU_CAPABILITY": "default"}
        subprocess.run([sys.executable, "-m", "tests.ops.capability", str(path)], check=True,
                       cwd=TREE, env=environment)
        return pickle.loads(path.read_bytes())


def default_results(op, dtype) -> list[list[np.ndarray]]:
    found = _all_default_results()[op.name, dtype]
    assert not isinstance(found, str), f"{op.name} with the DEFAULT kernels: {found}"
    return found


if __name__ == "__main__":
    main(sys.argv[1])
