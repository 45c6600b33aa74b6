"""clang-tidy runs as .clang-tidy says: on what the preset of that name configures."""

import json
import shutil
import subprocess

import pytest

from codegen.backend.__main__ import TREE

FILES = ["c10/core/WrapDimMinimal.cpp", "aten/native/BinaryOps.cpp"]


def test_the_preset_serves_clang(tmp_path):
    command = ["cmake", "--preset", "tidy", "-B", tmp_path]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    assert [c["file"] for c in commands if "cmake_pch" in c["command"]] == []
    if shutil.which("clang-tidy") is None:
        pytest.skip("clang-tidy is not installed")
    command = ["clang-tidy", "--quiet", "-p", tmp_path, *FILES]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True)
    assert done.returncode == 0 and "error:" not in done.stdout, done.stdout + done.stderr
