"""Functions of numbers alone, in expressions of tensors and in conditions: the code compiles."""

import json

import pytest

from codegen.backend.__main__ import TREE
from tests.codegen.test_names import LIKE

# Every function of the language, of numbers that are the same for all elements. The square gives the
# gradient a gradient in which the number stands alone.
ENTRY = """
- func: on_{name}(Tensor self, {declared}) -> Tensor
  expr: "self * self * {value}"
- func: in_{name}(Tensor self, {declared}) -> Tensor
  expr: "sin(self / {value})"
  requires: "{value} < 10"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("numbers")


@pytest.fixture
def generated(folder, oploom):
    if not (folder / "mathx").is_dir():
        model = json.loads(oploom("model", *(TREE / name for name in ("native_functions.yaml", "derivatives.yaml"))).stdout)
        entries = []
        for function in model["functions"]:
            call = f"{function['name']}({', '.join(function['parameters'])})"
            truth = function["name"].startswith("is") or function["name"] == "signbit"
            declared = ", ".join(f"{kind} {name}" for kind, name in
                                 zip(("float", "Scalar"), function["parameters"]))
            value = f"({call} ? 2 : 3)" if truth else call
            entries.append(ENTRY.format(name=function["name"], declared=declared, value=value))
        assert len(entries) > 50
        (folder / "operators.yaml").write_text("".join(entries))
        result = oploom("generate", "--namespace", "mathx", "--oploom", TREE, "--out", folder / "mathx",
                        folder / "operators.yaml")
        assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.parametrize("kind", ["autograd", "cpu", "dispatch"])
def test_generated_code_compiles(generated, compiler, kind):
    check = compiler(like=LIKE[kind], include=[generated])
    code, message = check(generated / "mathx" / kind / "mathx.cpp")
    assert code == 0, message
