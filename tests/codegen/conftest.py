"""Fixtures for tests that run the front end or compile what it leads to."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from codegen.backend.__main__ import TREE
from codegen.backend.model import read_model

BUILD = TREE / os.environ.get("OPLOOM_BUILD_DIR", "build/release")


class Compiler:
    """Checks C++ as a source of the tree is compiled, without making code."""

    def __init__(self, like, include=()):
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        entry = next((c for c in commands if c["file"] == str(TREE / like)), None)
        if entry is None:
            pytest.skip(f"{like} is no source of this build")
        words = shlex.split(entry["command"])
        at = words.index("-o")
        del words[at : at + 2]
        del words[words.index("-c") :]
        if words[0].endswith("ccache"):
            del words[0]
        if "-include" in words:  # the precompiled header has the tree's own files, not those of `include`
            at = words.index("-include")
            del words[at : at + 2]
        first = next(i for i, word in enumerate(words) if word.startswith("-I"))
        words[first:first] = [f"-I{path}" for path in include]
        self.words = [*words, "-fsyntax-only"]
        self.folder = entry["directory"]

    def __call__(self, source):
        """The exit status and the messages, with white space made even."""
        result = subprocess.run([*self.words, str(source)], cwd=self.folder, capture_output=True,
                                text=True)
        return result.returncode, " ".join(result.stderr.split())


@pytest.fixture(scope="session")
def model():
    """The tree's own model."""
    program = BUILD / "bin" / "oploom"
    text = subprocess.run([program, "model", "native_functions.yaml", "derivatives.yaml"],
                          cwd=TREE, capture_output=True, text=True, check=True).stdout
    return read_model(json.loads(text))


@pytest.fixture
def compiler():
    if not (BUILD / "compile_commands.json").is_file():
        pytest.skip(f"{BUILD} is not configured")
    return Compiler


@pytest.fixture
def oploom():
    """Runs the built program; returns what subprocess.run does."""
    program = BUILD / "bin" / "oploom"
    if not program.is_file():
        pytest.skip(f"{program} is not built")

    # The back end runs in the Python of the tests, which has what it needs.
    env = {**os.environ, "OPLOOM_PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*words, **options):
        return subprocess.run([str(program), *map(str, words)], capture_output=True, text=True,
                              **{"env": env, **options})

    return run
