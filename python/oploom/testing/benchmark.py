"""Times every operator that has a record, from Python: small calls, gradients, a million elements.

    python -m oploom.testing.benchmark generated/tests
    python -m oploom.testing.benchmark build/include/mathx/tests --filter mish --json figures.json

The classes of generated tests hold the records; nothing else is written for an operator to be timed.
A small call is the record's first sample. A pointwise operator is also timed with a million elements,
beside the record's NumPy expression. Where PyTorch can be imported and has a function of the same
name, it gets the same arguments. Libraries take turns, round after round; medians are shown.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import json
import math
import pathlib
import re
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any, Optional

import numpy as np
import scipy.special  # type: ignore[import-untyped]

import oploom
from oploom.testing.harness import OperatorTests
from oploom.testing.samples import TENSORS, Call, make_call
from oploom.testing.timing import nanoseconds_per_call

MILLION = 1_000_000
DTYPES = ("float32", "float64", "int64", "bool")

Function = Callable[[], Any]


def test_classes(folder: pathlib.Path) -> Iterator[type[OperatorTests]]:
    """The classes of the generated test files in a folder."""
    for path in sorted(folder.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"records.{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for _, found in inspect.getmembers(module, inspect.isclass):
            if issubclass(found, OperatorTests) and found is not OperatorTests:
                yield found


def samples(tests: type[OperatorTests]) -> dict[str, dict[str, Any]]:
    """What is timed of one operator: `small`, and `1 M` of a pointwise one."""
    op = tests.op
    first = next(iter(op.samples()), None)
    if first is None or "none" in (op.record or {}):
        return {}
    tensors = {p.name: first[p.name] for p in op.parameters
               if p.type in TENSORS and first.get(p.name) is not None}
    if not op.pointwise or any("values" in spec for spec in tensors.values()):
        return {"small": first}
    wide = {name: {**spec, "shape": [MILLION]} if isinstance(spec, dict) else [MILLION]
            for name, spec in tensors.items()}
    return {"small": first, "1 M": {**first, **wide}}


def make(tests: type[OperatorTests], sample: dict[str, Any]) -> Call:
    claimed = tests.op.dtypes()
    return make_call(tests.op, sample, next((d for d in DTYPES if d in claimed), claimed[0]))


def with_gradient(tests: type[OperatorTests], call: Call) -> Optional[Function]:
    """Forward and backward of a small call, where the operator has a derivative."""
    names = [n for n in tests.op.differentiable if n in call.tensor_names()]
    leaves = {n: call.tensors[n].detach().requires_grad_() for n in names
              if call.tensors[n].is_floating_point()}
    if not leaves:
        return None

    forward = call.bind(**leaves)

    def run():
        result = forward()
        result = result if isinstance(result, oploom.Tensor) else result[0]
        result.backward(oploom.ones_like(result))

    return run


def in_numpy(tests: type[OperatorTests], call: Call) -> Optional[Function]:
    """The record's reference, in the dtype that the operator gets."""
    expression = (tests.op.record or {}).get("numpy")
    if expression is None:
        return None
    code = compile(expression, tests.op.name, "eval")
    scope = {"np": np, "sp": scipy, "wide": "float32", "dtype": "float32"}
    scope |= {p.name: None for p in tests.op.parameters} | tests.defaults
    scope |= {n: t.numpy() if isinstance(t, oploom.Tensor) else t for n, t in call.tensors.items()}
    return lambda: eval(code, scope)


def in_torch(tests: type[OperatorTests], call: Call) -> Optional[Function]:
    """PyTorch's function of the same name with the same arguments, if it takes them."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    places = (torch, torch.nn.functional, torch.special, torch.Tensor)
    function = next((getattr(p, tests.op.base) for p in places if hasattr(p, tests.op.base)), None)
    if function is None or not callable(function):
        return None

    def convert(value):
        if isinstance(value, oploom.Tensor):
            return torch.from_dlpack(value)
        if isinstance(value, oploom.dtype):
            return getattr(torch, str(value).removeprefix("oploom."))
        return [convert(v) for v in value] if isinstance(value, list) else value

    converted = Call(call.operator, {}, {n: convert(v) for n, v in call.tensors.items()})
    return converted.bind(function)


def peers(tests: type[OperatorTests], call: Call) -> dict[str, Function]:
    """The other libraries' functions, as far as they take the arguments."""
    found = {}
    for name, make in (("numpy", in_numpy), ("torch", in_torch)):
        try:
            function = make(tests, call)
            if function is not None:
                function()
                found[name] = function
        except Exception:  # they have other ideas of some arguments
            pass
    return found


def cases(folders: list[pathlib.Path], pattern: str) -> dict[str, dict[str, Function]]:
    """{case: {library: function}}."""
    found: dict[str, dict[str, Function]] = {}
    for tests in (t for folder in folders for t in test_classes(folder)):
        for size, sample in samples(tests).items():
            if re.search(pattern, name := f"{tests.op.name}, {size}"):
                call = make(tests, sample)
                found[name] = {"oploom": call.bind(), **peers(tests, call)}
            name = f"{tests.op.name}, with backward"
            if size == "small" and re.search(pattern, name):
                if gradient := with_gradient(tests, make(tests, sample)):
                    found[name] = {"oploom": gradient}
    return found


def measure(found: dict[str, dict[str, Function]], rounds: int, seconds: float):
    """{case: {library: nanoseconds of a call, a median}}."""
    times: dict[str, dict[str, list[float]]] = {c: {n: [] for n in found[c]} for c in found}
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            for case, functions in found.items():
                for name, function in functions.items():
                    times[case][name].append(nanoseconds_per_call(function, seconds))
    return {c: {n: statistics.median(t) for n, t in by.items()} for c, by in times.items()}


def report(results: dict[str, dict[str, float]]) -> None:
    width = max((len(c) for c in results), default=4) + 2
    print(f"{'nanoseconds of a call':{width}}" + "".join(f"{n:>12}" for n in LIBRARIES))
    for case, by in results.items():
        print(f"{case:{width}}" + "".join(f"{by[n]:12.0f}" if n in by else f"{'':12}" for n in LIBRARIES))
    for size in ("small", "1 M"):
        for peer in LIBRARIES[1:]:
            ratios = [by[peer] / by["oploom"] for case, by in results.items()
                      if case.endswith(size) and peer in by]
            if ratios:
                mean = math.exp(statistics.fmean(map(math.log, ratios)))
                print(f"{peer} / oploom, {size}: {mean:.2f}, the geometric mean of {len(ratios)}")


LIBRARIES = ("oploom", "numpy", "torch")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="oploom.testing.benchmark", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, help="of generated tests")
    parser.add_argument("--filter", default="", help="a regular expression, of 'tanh, 1 M' and its like")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.01, help="for one case in one round")
    parser.add_argument("--json", type=pathlib.Path, help="a file for the figures")
    options = parser.parse_args()
    found = cases(options.folders, options.filter)
    if not found:
        print("no operator with a record matches", file=sys.stderr)
        return 1
    results = measure(found, options.rounds, options.seconds)
    report(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
