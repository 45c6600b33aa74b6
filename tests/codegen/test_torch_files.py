"""The operator files that an installed PyTorch ships pass the syntax check unchanged."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def packaged():
    found = importlib.util.find_spec("torchgen")
    if found is None or not found.submodule_search_locations:
        pytest.skip("PyTorch is not installed")
    folder = Path(found.submodule_search_locations[0]) / "packaged"
    if not (folder / "ATen/native/native_functions.yaml").is_file():
        pytest.skip(f"{folder} holds no operator files")
    return folder


def test_the_files_pass(oploom, packaged):
    result = oploom(
        "check", "--syntax", packaged / "ATen/native/native_functions.yaml",
        packaged / "autograd/derivatives.yaml", "--tags", packaged / "ATen/native/tags.yaml",
    )
    assert result.returncode == 0, result.stderr[-4000:]
