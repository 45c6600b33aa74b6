"""The reference, made once for all tests of it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from codegen.backend import docs
from codegen.backend.__main__ import TREE, environment
from codegen.backend.model import read_model

SOURCES = ("native_functions.yaml", "derivatives.yaml")


@pytest.fixture(scope="session")
def model():
    build = TREE / os.environ.get("OPLOOM_BUILD_DIR", "build/release")
    command = [str(build / "bin" / "oploom"), "model", *SOURCES]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return read_model(json.loads(done.stdout))


@pytest.fixture(scope="session")
def site(model, tmp_path_factory) -> Path:
    """The folder of the reference."""
    folder = tmp_path_factory.mktemp("docs")
    sources = {name: (TREE / name).read_text() for name in SOURCES}
    docs.write(folder, docs.render(model, environment(model.package), sources))
    return folder
