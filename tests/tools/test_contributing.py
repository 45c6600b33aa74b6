"""The walk-through of CONTRIBUTING.md still fits the tree: its entries pass the checks where it puts
them, and what it says to put code beside is there. Whether that compiles is tried by hand."""

import os
import re
import subprocess

from codegen.backend.__main__ import TREE as ROOT

OPLOOM = ROOT / os.environ.get("OPLOOM_BUILD_DIR", "build/release") / "bin" / "oploom"


def blocks():
    """The code in it, without the indentation of a list."""
    found = []
    for match in re.finditer(r"^( *)```\w+\n(.*?)^\1```", text(), re.MULTILINE | re.DOTALL):
        lines = match[2].split("\n")
        found.append("\n".join(line.removeprefix(match[1]) for line in lines))
    return found


def text():
    return (ROOT / "CONTRIBUTING.md").read_text()


def block(words):
    (found,) = [b for b in blocks() if words in b]
    return found


def insert_after(content, entry, addition):
    if addition.splitlines()[0] in content:
        return content  # somebody has done what the walk-through says
    begin = content.index(entry)
    end = content.index("\n- ", begin) + 1
    return content[:end] + addition.rstrip() + "\n\n" + content[end:]


def test_entries_pass_the_checks(tmp_path):
    operators = (ROOT / "native_functions.yaml").read_text()
    operators = insert_after(operators, "- func: relu(", block("func: gauss"))
    operators = insert_after(operators, "- func: maximum(", block("func: hypotenuse"))
    derivatives = (ROOT / "derivatives.yaml").read_text()
    derivatives = insert_after(derivatives, "- name: maximum(", block("name: hypotenuse"))
    (tmp_path / "native_functions.yaml").write_text(operators)
    (tmp_path / "derivatives.yaml").write_text(derivatives)
    files = ["native_functions.yaml", "derivatives.yaml"]
    done = subprocess.run([OPLOOM, "check", *files], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_neighbours_are_there():
    assert "After `maximum` in `native_functions.yaml`" in text()
    assert "After `maximum` in `derivatives.yaml`" in text()
    assert "after `relu`" in text()
    assert "OPLOOM_META_FUNC(maximum)" in (ROOT / "aten/native/BinaryOps.cpp").read_text()
    assert "OPLOOM_BINARY_IMPL(" in block("OPLOOM_BINARY_IMPL")
    stubs = (ROOT / "aten/stubs/BinaryOps.h").read_text()
    assert "OPLOOM_DECLARE_DISPATCH(binary_fn, maximum_stub)" in stubs
    kernels = (ROOT / "aten/cpu/BinaryOpsKernel.cpp").read_text()
    assert "OPLOOM_REGISTER_DISPATCH(maximum_stub," in kernels
    for name in ("check_ordered", "build_borrowing_binary_float_op"):
        assert name in block("OPLOOM_META_FUNC(hypotenuse)")
        assert name in (ROOT / "aten/native/BinaryOps.cpp").read_text()
