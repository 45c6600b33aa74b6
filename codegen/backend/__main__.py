"""Renders generated/ from the model: `oploom model | python3 -m codegen.backend [--check]`."""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import json
import multiprocessing
import os
import sys
import traceback
from pathlib import Path

import jinja2

from codegen.backend import text, writer
from codegen.backend.model import Model, ModelError, Package, read_model
from codegen.backend.types import UnsupportedType

# One module for each kind of output, each with `render(model, env) -> {path: text}`. Those that take
# longest come first, so that processes which share them end together.
MODULES = ("autograd", "dispatch", "ops", "python", "native", "expression", "tests", "cmake")

TREE = Path(__file__).resolve().parents[2]


def environment(package: Package) -> jinja2.Environment:
    """The templates. They hold loops and conditions; everything else is computed by the modules."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TREE / "codegen" / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        # Compiled templates lie where Python was told to keep compiled modules, if it was.
        bytecode_cache=jinja2.FileSystemBytecodeCache(sys.pycache_prefix)
        if sys.pycache_prefix and os.path.isdir(sys.pycache_prefix) else None,
    )
    env.filters["comment"] = text.comment
    env.filters["literal"] = text.literal
    env.globals["package"] = package
    env.globals["banner"] = functools.partial(text.banner, package)
    return env


def render_module(model: Model, name: str) -> dict[str, str]:
    module = importlib.import_module(f"codegen.backend.{name}")
    return module.render(model, environment(model.package))


def joined(parts: list[dict[str, str]]) -> dict[str, str]:
    outputs: dict[str, str] = {}
    for part in parts:
        twice = sorted(set(outputs) & set(part))
        if twice:
            raise ValueError(f"rendered twice: {', '.join(twice)}")
        outputs |= part
    return outputs


def render(model: Model, modules: tuple[str, ...] = MODULES) -> dict[str, str]:
    """Every output as {path: text}, paths relative to the tree's root."""
    return joined([render_module(model, name) for name in modules])


def render_in_processes(model: Model) -> dict[str, str]:
    """The same, by a process for each processor. They inherit the model: to send it would take
    longer than to render it."""
    processes = min(len(os.sched_getaffinity(0)), len(MODULES))
    if processes == 1:
        return render(model)
    _inherited.append(model)
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        return joined(pool.map(_render_inherited, MODULES, chunksize=1))


_inherited: list[Model] = []


def _render_inherited(name: str) -> dict[str, str]:
    return render_module(_inherited[0], name)


class Unexpected(Exception):
    """A build would not compile what was rendered."""


def as_expected(outputs: dict[str, str], expected: list[str]) -> dict[str, str]:
    """The outputs that a build counts on, whose rules were written before the files were read: what
    has nothing to show is there and says so."""
    unknown = sorted(set(outputs) - set(expected))
    if unknown:
        raise Unexpected(
            f"the build does not know of {', '.join(unknown)}: CMake, which finds operators by lines of "
            "the YAML files that begin with 'func:', 'aliases:', 'family:' and 'expr:', has read others"
        )
    nothing = {path: "# Nothing to see here.\n" if path.endswith(".py") else "// Nothing to see here.\n"
               for path in expected}
    return {**nothing, **outputs}


def check(folder: Path, outputs: dict[str, str], root: str) -> int:
    """Reports every file that is not as rendered."""
    changes = writer.compare(folder, outputs, root)
    for path in changes.changed:
        print(f"{path}: differs from what the YAML files say; run tools/regenerate")
    for path in changes.missing:
        print(f"{path}: is missing; run tools/regenerate")
    for path in changes.stale:
        print(f"{path}: nothing makes it any more; run tools/regenerate")
    for path in changes.foreign:
        print(f"{path}: was not generated; remove it or move it out of {root}/")
    return 1 if changes else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="codegen.backend", description=__doc__)
    parser.add_argument("--model", default="-", help="the model's JSON file; - for standard input")
    parser.add_argument("--out", default=str(TREE / "generated"), help="the folder to fill")
    parser.add_argument("--check", action="store_true", help="write nothing, report stale files")
    parser.add_argument("--expect", help="a file that lists the outputs which a build counts on")
    options = parser.parse_args()
    gc.disable()  # what is made is needed to the end
    source = sys.stdin.read() if options.model == "-" else Path(options.model).read_text()
    try:
        model = read_model(json.loads(source))
        outputs = render_in_processes(model)
        if options.expect:
            outputs = as_expected(outputs, Path(options.expect).read_text().split())
    except (ModelError, UnsupportedType, Unexpected) as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 2
    root = model.package.folder
    if options.check:
        return check(Path(options.out), outputs, root)
    changes = writer.write(Path(options.out), outputs, root)
    written = len(changes.changed) + len(changes.missing)
    files = len(writer.with_manifest(outputs, root))
    print(f"{files} files, {written} written, {len(changes.stale)} removed")
    for path in changes.foreign:
        print(f"{path}: was not generated; remove it or move it out of {root}/")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:
        traceback.print_exc()
        sys.exit(2)  # Python's own 1 says of a check that files are not up to date
