"""Times every operator that has a record, from Python: small calls, gradients, a million elements.

    python -m oploom.testing.benchmark generated/tests
    python -m oploom.testing.benchmark build/include/mathx/tests --filter mish --json figures.json
    python -m oploom.testing.benchmark generated/tests --large float32 bfloat16 --below 0.8
    python -m oploom.testing.benchmark generated/tests --large float32 --one-thread --below 0.95

The classes of generated tests hold the records; nothing else is written for an operator to be timed.
A small call is the record's first sample. A pointwise operator is also timed with a million elements,
beside the record's NumPy expression. Where PyTorch can be imported and has a function of the same
name, it gets the same arguments. Libraries take turns, round after round; medians are shown.

--large sweeps: every operator with about a million elements of each dtype, pointwise ones in several
layouts, others with all the samples of their records, whose sizes are multiplied. With --one-thread it
looks for what more threads make slower: beside oploom with all its threads stands oploom with one.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import itertools
import json
import math
import pathlib
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional

import numpy as np
import scipy.special  # type: ignore[import-untyped]

import oploom
from oploom.testing.harness import OperatorTests
from oploom.testing.samples import TENSOR_LISTS, TENSORS, Call, Operator, make_call
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


def tensor_specs(op: Operator, sample: dict[str, Any]) -> dict[str, Any]:
    """What the sample says of arguments that are one tensor."""
    return {p.name: sample[p.name] for p in op.parameters
            if p.type in TENSORS and sample.get(p.name) is not None}


def samples(tests: type[OperatorTests]) -> dict[str, dict[str, Any]]:
    """What is timed of one operator: `small`, and `1 M` of a pointwise one."""
    op = tests.op
    first = next(iter(op.samples()), None)
    if first is None or "none" in (op.record or {}):
        return {}
    tensors = tensor_specs(op, first)
    if not op.pointwise or any("values" in spec for spec in tensors.values()):
        return {"small": first}
    wide = {name: with_shape(spec, [MILLION]) for name, spec in tensors.items()}
    return {"small": first, "1 M": {**first, **wide}}


def with_shape(spec: Any, shape: list[int]) -> Any:
    return {**spec, "shape": shape} if isinstance(spec, dict) else shape


# A matrix whose rows a pointwise operator gets as they lie, or anyhow.
LAYOUTS: dict[str, Callable[[oploom.Tensor], oploom.Tensor]] = {
    "contiguous": lambda t: t,
    "first transposed": lambda t: t.t().contiguous().t(),
    "first every second": lambda t: oploom.stack([t, t], 2)[:, :, 0],
}
SHAPES = {"last a row": [1000], "last a column": [1000, 1]}


def large_calls(op: Operator, dtype: str) -> Iterator[tuple[str, Call]]:
    """Calls with about a million elements of that dtype, and what to call them."""
    given = [] if "none" in (op.record or {}) else op.samples()
    if not op.pointwise:
        for sample in given:
            large = scaled(op, sample, dtype)
            if large is not None:
                named = ", ".join(f"{n} {v}" for n, v in large.items() if not isinstance(v, dict))
                yield named, make_call(op, large, dtype)
        return
    tensors = tensor_specs(op, given[0]) if given else {}
    if not tensors or any("values" in spec for spec in tensors.values()):
        return
    first, last = next(iter(tensors)), list(tensors)[-1]
    square = {n: with_shape(spec, [1000, 1000]) for n, spec in tensors.items()}
    for layout, change in LAYOUTS.items():
        call = make_call(op, {**given[0], **square}, dtype)
        call.tensors[first] = change(call.tensors[first])
        yield layout, call
    for layout, shape in SHAPES.items() if first != last else ():
        broadcast = {**square, last: with_shape(tensors[last], shape)}
        yield layout, make_call(op, {**given[0], **broadcast}, dtype)


def scaled(op: Operator, sample: dict[str, Any], dtype: str) -> Optional[dict[str, Any]]:
    """The sample with all sizes multiplied: the largest argument or result gets a million elements."""
    call = make_call(op, sample, dtype)
    result = call.run()
    shapes = [list(t.shape) for value in (*call.tensors.values(), result)
              for t in (value if isinstance(value, (list, tuple)) else [value])
              if isinstance(t, oploom.Tensor)]
    # A size of one stays: it may stand for any number of repetitions.
    many = [[n for n in shape if n != 1] for shape in shapes]
    factor = min((int((MILLION / math.prod(s)) ** (1 / len(s))) for s in many if s and 0 not in s),
                 default=0)
    if factor < 2:
        return None

    def larger(spec):
        shape = spec.get("shape") if isinstance(spec, dict) else spec
        return spec if shape is None else with_shape(spec, [n if n == 1 else n * factor for n in shape])

    large = dict(sample)
    for p in op.parameters:
        if sample.get(p.name) is not None and p.type in TENSORS:
            large[p.name] = larger(sample[p.name])
        elif sample.get(p.name) is not None and p.type in TENSOR_LISTS:
            large[p.name] = [larger(spec) for spec in sample[p.name]]
    return large


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
    torch.set_num_threads(oploom.get_num_threads())
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


def peer(library: str, make: Callable[..., Optional[Function]], tests: type[OperatorTests],
         call: Call) -> dict[str, Function]:
    """{library: what `make` makes for it}, or nothing if it does not take the arguments."""
    try:
        if function := make(tests, call):
            function()
            return {library: function}
    except Exception:  # they have other ideas of some arguments
        pass
    return {}


Case = tuple[str, dict[str, Function]]  # a name, and a function of each library


def cases(folders: list[pathlib.Path], pattern: str) -> Iterator[Case]:
    for tests in (t for folder in folders for t in test_classes(folder)):
        for size, sample in samples(tests).items():
            if re.search(pattern, name := f"{tests.op.name}, {size}"):
                call = make(tests, sample)
                yield name, {"oploom": call.bind(), **peer("numpy", in_numpy, tests, call),
                             **peer("torch", in_torch, tests, call)}
            name = f"{tests.op.name}, with backward"
            if size == "small" and re.search(pattern, name):
                if gradient := with_gradient(tests, make(tests, sample)):
                    yield name, {"oploom": gradient}


def with_threads(function: Function, count: int) -> Function:
    def run() -> Any:
        oploom.set_num_threads(count)
        return function()

    return run


def large_cases(folders: list[pathlib.Path], pattern: str, dtypes: list[str],
                one_thread: bool) -> Iterator[Case]:
    """Of operators that PyTorch has, beside it; or of all, beside themselves with one thread."""
    threads = oploom.get_num_threads()
    for tests in (t for folder in folders for t in test_classes(folder)):
        for dtype in (d for d in dtypes if d in tests.op.dtypes()):
            if not re.search(pattern, f"{tests.op.name}, {dtype}"):
                continue
            for label, call in large_calls(tests.op, dtype):
                case, function = f"{tests.op.name}, {dtype}, {label}", call.bind()
                try:
                    function()
                except (ValueError, RuntimeError, IndexError, TypeError, MemoryError) as error:
                    # Sizes that are arguments of their own are not multiplied.
                    print(f"{case}: {error}".splitlines()[0], file=sys.stderr)
                    continue
                if one_thread:
                    yield case, {"oploom": with_threads(function, threads),
                                 ONE_THREAD: with_threads(function, 1)}
                elif torch := peer("torch", in_torch, tests, call):
                    yield case, {"oploom": function, **torch}


def measure(found: Iterator[Case], rounds: int, seconds: float, clock: Callable[[], float]):
    """{case: {library: nanoseconds of a call, a median}}."""
    results = {}
    with np.errstate(all="ignore"):
        for case, functions in found:
            times: dict[str, list[float]] = {n: [] for n in functions}
            for _, (name, function) in itertools.product(range(rounds), functions.items()):
                times[name].append(nanoseconds_per_call(function, seconds, clock))
            results[case] = {n: statistics.median(t) for n, t in times.items()}
    return results


def report(results: dict[str, dict[str, float]], below: float) -> None:
    """Prints the cases, or the slower ones beside PyTorch or one thread, the slowest first."""
    shown = list(results.items())
    if below < math.inf:
        slower = [(by[peer] / by["oploom"], c, by) for c, by in shown
                  for peer in ("torch", ONE_THREAD) if peer in by]
        shown = [(f"{r:.2f} {c}", by) for r, c, by in sorted(slower, key=lambda s: s[0]) if r < below]
    width = max((len(c) for c, _ in shown), default=4) + 2
    shown_libraries = [n for n in LIBRARIES if any(n in by for _, by in shown)]
    print(f"{'nanoseconds of a call':{width}}" + "".join(f"{n:>12}" for n in shown_libraries))
    for case, by in shown:
        print(f"{case:{width}}" + "".join(f"{by[n]:12.0f}" if n in by else f"{'':12}"
                                         for n in shown_libraries))
    for size, peer in itertools.product(("small", "1 M", "large"), LIBRARIES[1:]):
        ratios = [by[peer] / by["oploom"] for case, by in results.items()
                  if peer in by and size == case_size(case)]
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(f"{peer} / oploom, {size}: {mean:.2f}, the geometric mean of {len(ratios)}")


def case_size(case: str) -> str:
    ending = case.rpartition(", ")[2]
    return ending if ending in ("small", "1 M", "with backward") else "large"


ONE_THREAD = "one thread"
LIBRARIES = ("oploom", "numpy", "torch", ONE_THREAD)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="oploom.testing.benchmark", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, help="of generated tests")
    parser.add_argument("--filter", default="", help="a regular expression, of 'tanh, 1 M' and its like")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.01, help="for one case in one round")
    parser.add_argument("--large", nargs="+", metavar="DTYPE", help="sweep these dtypes, beside PyTorch")
    parser.add_argument("--one-thread", action="store_true",
                        help="sweep beside oploom with one thread, and not beside PyTorch")
    parser.add_argument("--below", type=float, default=math.inf,
                        help="show cases alone for which the other's time / oploom's is below")
    parser.add_argument("--clock", choices=("real", "cpu"), default="real",
                        help="the time of day, or the time that this process was running")
    parser.add_argument("--json", type=pathlib.Path, help="a file for the figures")
    options = parser.parse_args()
    if options.one_thread and not options.large:
        parser.error("--one-thread is for --large")
    if options.large:
        found = large_cases(options.folders, options.filter, options.large, options.one_thread)
    else:
        found = cases(options.folders, options.filter)
    clock = time.perf_counter if options.clock == "real" else time.process_time
    results = measure(found, options.rounds, options.seconds, clock)
    if not results:
        print("no operator with a record matches" + (
            ", or PyTorch, which --large compares with, cannot be imported"
            if options.large and not options.one_thread else ""),
            file=sys.stderr)
        return 1
    report(results, options.below)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
