"""Arguments may have any name that means nothing else: C++ is generated that compiles."""

import pytest

from codegen.backend.__main__ import TREE
from tests.codegen.conftest import BUILD

# Generated folder: a source that is compiled as its files are.
LIKE = {
    "autograd": "aten/autograd/Views.cpp",
    "dispatch": "aten/native/Dropout.cpp",
    "cpu": BUILD / "examples/custom_ops/mathx.oploom/expressions/mathx.DEFAULT.cpp",
    "python": "aten/python/Interchange.cpp",
}

# As formulas in papers have them, and as generated code calls what is its own.
NAMES = ("T V Tensor k Scalar kOutputs exp cos conj ks guard pause grad_fn grad_inputs apply name numbers "
         "kernel outputs output grad_output output_mask grad_0 t0 requires_grad number").split()


def entries(name):
    return f"""
- func: two_{name}(Tensor self, Tensor {name}) -> Tensor
  expr: sin(self) * exp({name})
- func: one_{name}(Tensor self, Scalar {name}=2) -> Tensor
  expr: exp(self) * sin({name} * self)
- func: kernel_{name}(Tensor self, Tensor {name}, float more) -> (Tensor, Tensor)
  dispatch: {{CPU: kernel_{name}}}
  autogen: kernel_{name}.out
- func: write_{name}_(Tensor(a!) self, Tensor {name}) -> Tensor(a!)
  dispatch: {{CPU: write_{name}_}}
  autogen: write_{name}
"""


def derivatives(name):
    return f"""
- name: kernel_{name}(Tensor self, Tensor {name}, float more) -> (Tensor, Tensor)
  self, {name}: kernel_{name}(grads[0] * {name}, grads[1], more)
  result0: self_t * {name}_p
  result1: {name}_t * self_p
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("names")


@pytest.fixture
def generated(folder, oploom):
    if not (folder / "mathx").is_dir():
        (folder / "operators.yaml").write_text("".join(entries(name) for name in NAMES))
        formulas = "".join(derivatives(name) for name in NAMES if name != "name")
        (folder / "derivatives.yaml").write_text(formulas)
        result = oploom("generate", "--namespace", "mathx", "--oploom", TREE, "--out", folder / "mathx",
                        folder / "operators.yaml", folder / "derivatives.yaml")
        assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.parametrize("kind", LIKE)
def test_generated_code_compiles(generated, compiler, kind):
    check = compiler(like=LIKE[kind], include=[generated])
    code, message = check(generated / "mathx" / kind / "mathx.cpp")
    assert code == 0, message
