"""Arguments may have any name that means nothing else: C++ is generated that compiles.

The names that could be in the way are found, not listed: what the code of a few operators uses that
is none of their own names. Arguments of other operators then get these, unless the front end says
that they mean something.
"""

import re

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

# One operator of each kind; what is their own begins with `probe`.
PROBE = """
- func: probe_expression(Tensor probe_a, Tensor probe_b, Scalar probe_s, float probe_x, bool probe_f) -> Tensor
  expr: "sin(probe_a) * exp(probe_b * probe_s) * (probe_f ? probe_x : 1)"
- func: probe_truth(Tensor probe_a, Tensor probe_b) -> Tensor
  expr: probe_a < probe_b
- func: probe_kernel(Tensor probe_a, Tensor probe_b, float probe_d) -> (Tensor probe_r, Tensor probe_q)
  dispatch: {CPU: probe_kernel}
  autogen: probe_kernel.out
- func: probe_single(Tensor probe_a, Tensor? probe_b, int[] probe_i, str probe_t) -> Tensor
  dispatch: {CPU: probe_single}
- func: probe_list(Tensor[] probe_l, Tensor?[] probe_o, int probe_i) -> Tensor
  dispatch: {CPU: probe_list}
- func: probe_split(Tensor(a -> *) probe_a, int probe_i) -> Tensor(a)[]
  dispatch: {CompositeExplicit: probe_split}
- func: probe_view(Tensor(a) probe_a, int probe_i) -> Tensor(a)
  dispatch: {CompositeExplicit: probe_view}
- func: probe_write_(Tensor(a!) self, Tensor probe_b) -> Tensor(a!)
  dispatch: {CPU: probe_write_}
  autogen: probe_write
- func: probe_reshape_(Tensor(a!) self, Tensor probe_b) -> Tensor(a!)
  dispatch: {CompositeExplicit: probe_reshape_}
  tags: inplace_view
- func: probe_structured(Tensor self, Tensor probe_b, Scalar probe_s, int probe_i) -> Tensor
  structured: True
  precomputed: ["probe_i -> int probe_j"]
  autogen: probe_structured.out, probe_structured_
  dispatch: {CPU: probe_structured_out}
"""
PROBE_DERIVATIVES = """
- name: probe_kernel(Tensor probe_a, Tensor probe_b, float probe_d) -> (Tensor probe_r, Tensor probe_q)
  probe_a, probe_b: probe_kernel(grads[0] * probe_b, grads[1] * grad_input_mask[0], probe_d)
  probe_r: probe_a_t * probe_b_p
  probe_q: probe_b_t * probe_a_p
- name: probe_single(Tensor probe_a, Tensor? probe_b, int[] probe_i, str probe_t) -> Tensor
  probe_a: grad.reshape(probe_i) * result
  probe_b: grad
  result: probe_a_t
- name: probe_list(Tensor[] probe_l, Tensor?[] probe_o, int probe_i) -> Tensor
  probe_l: grad.split(probe_i)
- name: probe_view(Tensor(a) probe_a, int probe_i) -> Tensor(a)
  probe_a: grad.reshape(probe_a.sizes())
  result: auto_linear
- name: probe_write_(Tensor(a!) self, Tensor probe_b) -> Tensor(a!)
  self: grad * self * probe_b
  probe_b: grad * result
  result: self_t * self_p * probe_b_t
- name: probe_structured(Tensor self, Tensor probe_b, Scalar probe_s, int probe_i) -> Tensor
  self: grad * probe_s
  probe_b: grad * result
  result: self_t * probe_s + probe_b_t * result
"""

# As formulas in papers have them.
PAPERS = ["T", "V", "k", "N", "Tensor", "Scalar", "kOutputs"]


# Tensors of an expression beside self, whose gradient is computed by one kernel.
FEW = 6


def two(names, i):
    tensors = ", ".join(f"Tensor {name}" for name in names)
    powers = " + ".join(f"exp({name})" for name in names)
    return f"""
- func: two_{i}(Tensor self, {tensors}) -> Tensor
  expr: sin(self) * ({powers})
"""


def entries(names, i):
    tensors = ", ".join(f"Tensor {name}" for name in names)
    numbers = ", ".join(f"Scalar {name}=2" for name in names)
    waves = " + ".join(f"sin({name} * self)" for name in names)
    few = (names[k:k + FEW] for k in range(0, len(names), FEW))
    return "".join(two(part, f"{i}_{k}") for k, part in enumerate(few)) + f"""
- func: one_{i}(Tensor self, {numbers}) -> Tensor
  expr: exp(self) * ({waves})
{kernel(names, i)}
- func: write_{i}_(Tensor(a!) self, {tensors}) -> Tensor(a!)
  dispatch: {{CPU: write_{i}_}}
  autogen: write_{i}
"""


def kernel(names, i):
    tensors = ", ".join(f"Tensor {name}" for name in names)
    return f"""
- func: kernel_{i}(Tensor self, {tensors}, float more) -> Tensor
  dispatch: {{CPU: kernel_{i}}}
  autogen: kernel_{i}.out
"""


def derivatives(names, i):
    tensors = ", ".join(f"Tensor {name}" for name in names)
    rest = ", ".join(names[1:])
    last = names[-1]
    return f"""
- name: kernel_{i}(Tensor self, {tensors}, float more) -> Tensor
  self: kernel_{i}(grad, {names[0]}.conj(){", " if rest else ""}{rest}, more).reshape({last}.sizes())
  {names[0]}: grad * result
  result: self_t * {last}_p + {names[0]}_t * {last}
"""


def used_names(folder):
    """What the generated code calls, declares or reads without saying where it belongs."""
    names = set()
    for kind in ("autograd", "dispatch", "cpu"):
        for path in sorted((folder / kind).glob("*.*")):
            code = re.sub(r"//[^\n]*|^#.*|\"(\\.|[^\"\\])*\"", "", path.read_text(), flags=re.MULTILINE)
            names |= set(re.findall(r"(?<![\w.:])(?<!->)[A-Za-z_]\w*\b(?!\s*::)", code))
    return sorted(name for name in names if "probe" not in name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("names")


@pytest.fixture
def generated(folder, oploom):
    if not (folder / "mathx").is_dir():
        (folder / "operators.yaml").write_text(PROBE)
        (folder / "derivatives.yaml").write_text(PROBE_DERIVATIVES)
        probe = folder / "probe"
        generate(oploom, folder, "probe")
        # `self` and what goes with it are in the entries already.
        names = [n for n in [*used_names(probe), *PAPERS] if not re.fullmatch(r"self(_[a-z])?|more", n)]
        names = accepted(oploom, folder, sorted(set(names)))
        # An argument and what is made of its name, as of that of a gradient, do not go together.
        names = [n for n in names if not {re.sub("_[a-z]?$", "", n)} & ({*names} - {n})]
        assert {"guard", "grad_fn", "exp", "kernel", "numbers", "save_beside"} < set(names)
        # The first of a group has a gradient, under its name: for `name` that is the schema's place.
        names = [names[0], "name", *(n for n in names[1:] if n != "name")]
        write(folder, [names[i : i + 16] for i in range(0, len(names), 16)])
        generate(oploom, folder, "mathx")
    return folder


def generate(oploom, folder, name):
    result = oploom("generate", "--namespace", name, "--oploom", TREE, "--out", folder / name,
                    folder / "operators.yaml", folder / "derivatives.yaml")
    assert result.returncode == 0, result.stderr


def write(folder, groups, entries=entries):
    (folder / "operators.yaml").write_text("".join(entries(g, i) for i, g in enumerate(groups)))
    (folder / "derivatives.yaml").write_text("".join(derivatives(g, i) for i, g in enumerate(groups)))


def accepted(oploom, folder, names):
    """The names without those that the front end refuses by saying what they mean."""
    write(folder, [[name] for name in names], kernel)
    result = oploom("check", "--namespace", "mathx", "--oploom", TREE, folder / "operators.yaml",
                    folder / "derivatives.yaml")
    refused = set(re.findall(r"error: '(\w+)' (?:is|means) ", result.stderr))
    assert {"return", "result", "grad"} < refused, result.stderr
    return [name for name in names if name not in refused]


@pytest.mark.parametrize("kind", LIKE)
def test_generated_code_compiles(generated, compiler, kind):
    check = compiler(like=LIKE[kind], include=[generated])
    code, message = check(generated / "mathx" / kind / "mathx.cpp")
    assert code == 0, message
