"""Runs the calls of FixedCosts.cpp, a few times each, under a tool of valgrind."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"


def build(folder):
    """The program that is run, in a build folder that is configured if it has not been."""
    if shutil.which("valgrind") is None:
        sys.exit("needs valgrind (apt install valgrind)")
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release", "-B", folder], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "oploom_instructions"], check=True)
    return folder / "bin" / "oploom_instructions"


def run(program, times, *options):
    """What it prints, to either stream. Kernels run as AVX2, so that machines with and without
    AVX512, which valgrind does not know, do the same."""
    done = subprocess.run(
        ["valgrind", *options, program, str(times)],
        env=dict(os.environ, OMP_NUM_THREADS="1", OPLOOM_CPU_CAPABILITY="avx2"),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"the program failed under valgrind\n{done.stderr}")
    return done.stdout, done.stderr
