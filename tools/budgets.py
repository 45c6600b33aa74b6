"""Prints what design.md has a budget for, each figure beside it. Times are information, never a
failure: they depend on the machine and on what else it does; short ones are the best of a few runs.

    .venv/bin/python tools/budgets.py [--tests SECONDS]

SECONDS is what the tests took. The time of a clean build is what tools/setup noted when it made one.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
PROGRAM = """#include <aten/ATen.h>
int main() { return at::ones({2}).sum().item<float>() == 2 ? 0 : 1; }
"""
IMPORT = "import time; start = time.perf_counter(); import oploom; print(time.perf_counter() - start)"


def seconds_of(command, **options):
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, **options)
    return time.perf_counter() - start


def build_seconds():
    note = BUILD / "clean-build-seconds"
    return float(note.read_text()) if note.exists() else None


def library_megabytes(folder):
    stripped = folder / "liboploom.so"
    subprocess.run(["strip", "-o", stripped, BUILD / "lib" / "liboploom.so"], check=True)
    return stripped.stat().st_size / 1e6


def compile_seconds(folder):
    source = folder / "program.cpp"
    source.write_text(PROGRAM)
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++20", f"-I{ROOT}", "-c", source, "-o", folder / "program.o"]
    return min(seconds_of(command) for _ in range(3))


def regenerate_seconds():
    return min(seconds_of(["tools/regenerate", "--check"]) for _ in range(3))


def import_milliseconds():
    def once():
        run = [sys.executable, "-c", IMPORT]
        return float(subprocess.run(run, check=True, capture_output=True, text=True).stdout)

    return min(once() for _ in range(5)) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=float, help="seconds that the tests took")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        figures = [
            ("clean release build", build_seconds(), 480, "s"),
            ("all tests", options.tests, 600, "s"),
            ("regenerate everything", regenerate_seconds(), 2, "s"),
            ("compile a program with ATen.h", compile_seconds(folder), 2, "s"),
            ("the stripped library", library_megabytes(folder), 25, "MB"),
            ("import oploom", import_milliseconds(), 100, "ms"),
        ]
    print(f"{'budget':<32} {'measured':>10} {'allowed':>10}")
    for what, measured, allowed, unit in figures:
        shown = "not made" if measured is None else f"{measured:.3g} {unit}"
        over = "  over" if measured is not None and measured > allowed else ""
        print(f"{what:<32} {shown:>10} {f'{allowed} {unit}':>10}{over}")


if __name__ == "__main__":
    main()
