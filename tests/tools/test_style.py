"""What people write is formatted and free of lint, as tools/format and ruff have it."""

import subprocess

from codegen.backend.__main__ import TREE


def output_of(*command):
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_cpp_is_formatted():
    assert output_of("tools/format", "--check") == (0, "")


def test_python_has_no_lint():
    assert output_of(TREE / ".venv/bin/ruff", "check", "--quiet") == (0, "")
