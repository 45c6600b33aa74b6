"""How much Ninja compiles again after an edit of the YAML. Nothing is compiled here: what the edit
makes of generated/ is compared with what lies there, and Ninja's log of dependencies, from the last
build, names the objects that are made of the files that differ."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.backend.__main__ import TREE, render
from codegen.backend.model import read_model

BUILD = TREE / os.environ.get("OPLOOM_BUILD_DIR", "build/release")

# Called as nobody calls an operator: CONTRIBUTING.md has readers add `gauss`.
GAUSS = """
- func: gauss_of_test_rebuilds(Tensor self) -> Tensor
  family: UnaryOps
  variants: {variants}
  expr: exp(-self * self)
  doc: |
    Returns ``exp(-self * self)``.
  test:
    numpy: np.exp(-self * self)
    dtypes: [float32, float64]
"""


@pytest.fixture(scope="module")
def sources_of():
    """For each object of the last build, the files of the tree that it was made of."""
    ninja = shutil.which("ninja")
    if ninja is None or not (BUILD / ".ninja_deps").is_file():
        pytest.skip(f"{BUILD} is not built with Ninja")
    command = [ninja, "-C", BUILD, "-t", "deps"]
    log = subprocess.run(command, capture_output=True, text=True, check=True)
    real = {}  # a room's include path is made of links

    def resolved(path):
        if path not in real:
            file = os.path.realpath(BUILD / path)
            real[path] = os.path.relpath(file, TREE) if file.startswith(f"{TREE}{os.sep}") else None
        return real[path]

    objects = {}
    for entry in log.stdout.strip().split("\n\n"):
        head, *files = entry.splitlines()
        objects[head.split(":")[0]] = {resolved(file.strip()) for file in files}
    # Objects are made from their target's precompiled header, too.
    for name, files in objects.items():
        folder = re.match(r".*/CMakeFiles/[^/]+\.dir/|", name)[0]
        files |= objects.get(f"{folder}cmake_pch.hxx.gch", set())
    command = [ninja, "-C", BUILD, "-t", "inputs", "all"]
    inputs = subprocess.run(command, capture_output=True, text=True, check=True)
    # Benchmarks include all operators; they are built where somebody asks for them.
    compiled = [name for name in inputs.stdout.split()
                if name.endswith((".o", ".gch")) and not name.startswith("benchmarks/")]
    missing = sorted(set(compiled) - objects.keys())
    assert not missing, f"the build is not complete: {missing[:3]} and {len(missing)} in all"
    return {name: objects[name] for name in compiled}


@pytest.fixture
def compiled_again(oploom, sources_of, tmp_path):
    """The objects that Ninja would compile after an edit of native_functions.yaml."""

    (tmp_path / "aten").symlink_to(TREE / "aten")  # where the functions of formulas are declared

    def after(edit):
        text = (TREE / "native_functions.yaml").read_text()
        edited = edit(text)
        assert edited != text
        (tmp_path / "native_functions.yaml").write_text(edited)
        printed = oploom("model", tmp_path / "native_functions.yaml", TREE / "derivatives.yaml",
                         "--tags", TREE / "tags.yaml")
        assert printed.returncode == 0, printed.stderr
        outputs = render(read_model(json.loads(printed.stdout)))
        changed = {path for path, content in outputs.items()
                   if not (TREE / path).is_file() or (TREE / path).read_text() != content}
        assert changed
        fresh = [p for p in changed if p.endswith(".cpp") and not (TREE / p).is_file()]
        assert not fresh, f"the edit adds files to compile: {fresh}"
        return sorted(name for name, files in sources_of.items() if files & changed)

    return after


def add(variants):
    return lambda text: text + GAUSS.format(variants=variants)


def test_a_function_is_compiled_by_six_commands(compiled_again):
    again = [Path(name).name for name in compiled_again(add("function"))]
    copies = [name for name in again if re.fullmatch(r"UnaryOps\.[A-Z0-9]+\.cpp\.o", name)]
    # The kernels, once for each instruction set; and the tables, the recording and the binding.
    assert sorted(set(again) - set(copies)) == ["UnaryOps.cpp.o"]
    assert len(again) <= 6, again


def test_a_method_spares_what_does_not_know_tensors_methods(compiled_again):
    again = compiled_again(add("function, method"))
    print(f"a method: {len(again)} compile commands")
    for name in again:
        assert not re.match(r"c10/|codegen/|tests/(c10|codegen|fuzz)/", name), name
        assert not re.match(r"aten/(cpu|core|iterator|stubs)/", name) or "UnaryOps" in name, name


@pytest.mark.parametrize(
    ("formula", "other"),
    [
        ("expr: self / (1 + abs(self))", "expr: self / (2 + abs(self))"),
        ("expr: sigmoid(self)", "expr: sigmoid(2 * self)"),
        ("expr: hypot(self, other)", "expr: hypot(other, self)"),
        ("expr: self * sigmoid(self)", "expr: self * sigmoid(1.702 * self)"),
    ],
)
def test_a_formula_is_compiled_by_four_commands(compiled_again, formula, other):
    again = compiled_again(lambda text: text.replace(formula, other))
    assert len(again) <= 4, again
