"""Entries that are right and unusual: the code that comes of them compiles and means what they say."""

import ast
import json
import math
import re

import pytest

from codegen.backend.__main__ import TREE
from tests.codegen.test_names import LIKE

OPERATORS = """
- func: named_as_saved(Tensor self, int self_numel, int[] self_sizes) -> Tensor
  dispatch: {CPU: named_as_saved}
- func: small_default(Tensor self, Scalar eps=1e-5) -> Tensor
  expr: self + eps
- func: flag_alone(Tensor self, bool flag=True) -> Tensor
  expr: "flag ? self * 2 : self"
  requires: flag
- func: quote_in_comment(Tensor self, float a) -> Tensor
  expr: self * a
  requires: a /* " */ > 0
- func: infinite_default(Tensor self, float p=inf, float q=nan, Scalar r=-inf) -> Tensor
  dispatch: {CPU: infinite_default}
- func: overloads.first(Tensor self) -> Tensor
  expr: self * 2
- func: overloads.second(Tensor self, Scalar x) -> Tensor
  expr: self * x
- func: poisson(Tensor rate, Tensor k) -> Tensor
  expr: rate - k * log(rate) + lgamma(k + 1)
  test: {domain: [0.5, 3]}
- func: called_nan(Tensor self, Scalar NaN) -> Tensor
  expr: self * NaN
- func: limits(Tensor self, float low=-inf, float high=inf, float[] others=[nan, 1.5]) -> Tensor
  dispatch: {CPU: limits}
  test:
    numpy: np.clip(self, low, high)
    samples: [[[3]]]
- func: std(Tensor self, Scalar lambda=2) -> Tensor
  expr: self * lambda
- func: bump_(Tensor(a!) self, float by=1) -> Tensor(a!)
  dispatch: {CompositeExplicit: bump_}
  autogen: bump, bump.out
  test:
    numpy: self + by
    samples: [[[3]]]
- func: lift_(Tensor(a!) self, float by=1) -> Tensor(a!)
  dispatch: {CompositeExplicit: lift_}
  test:
    numpy: self + by
    samples: [[[3]]]
- func: numbers(Tensor self, float a, int n, bool up, Scalar low, Scalar b=3) -> Tensor
  expr: "up ? self * a * n * b : low"
  requires: low < 0
  test: {domain: {n: [1, 4]}}
- func: _underscored(Tensor self, Tensor np, Tensor np2) -> Tensor
  expr: self * exp(np) * np2
- func: half_written(Tensor self, Tensor other, Tensor mask) -> Tensor
  expr: self * sin(other) + mask
- func: half_known_(Tensor(a!) self, Tensor? weight, Tensor[] others, Tensor index) -> Tensor(a!)
  dispatch: {CPU: half_known_}
- func: read_twice(Tensor self, Tensor other) -> Tensor
  dispatch: {CPU: read_twice}
- func: renamed(Tensor self) -> Tensor
  aliases: [other_name, special_name]
  expr: self * 3
"""
DERIVATIVES = """
- name: named_as_saved(Tensor self, int self_numel, int[] self_sizes) -> Tensor
  self: (grad * self.numel() * self_numel).expand(self.sizes()).reshape(self_sizes)
- name: half_written(Tensor self, Tensor other, Tensor mask) -> Tensor
  self: grad * other.sin()
  mask: non_differentiable
- name: half_known_(Tensor(a!) self, Tensor? weight, Tensor[] others, Tensor index) -> Tensor(a!)
  self: grad
  index: non_differentiable
- name: read_twice(Tensor self, Tensor other) -> Tensor
  self: grad * other
  other: grad * self + grad
"""


NODE = re.compile(r"^variable_list (\w+)::apply\(.*?\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    (folder / "operators.yaml").write_text(OPERATORS)
    (folder / "derivatives.yaml").write_text(DERIVATIVES)
    return folder


@pytest.fixture
def package(folder, oploom):
    def run(command, *words):
        result = oploom(command, "--namespace", "mathx", "--oploom", TREE, *words,
                        folder / "operators.yaml", folder / "derivatives.yaml")
        assert result.returncode == 0, result.stderr
        return result.stdout

    if not (folder / "mathx").is_dir():
        run("generate", "--out", folder / "mathx")
    return run


@pytest.mark.parametrize("kind", ["autograd", "cpu", "dispatch", "python"])
def test_generated_code_compiles(folder, package, compiler, kind):
    check = compiler(like=LIKE[kind], include=[folder])
    code, message = check(folder / "mathx" / kind / "mathx.cpp")
    assert code == 0, message


def test_what_is_saved_keeps_apart_from_arguments(folder, package):
    text = " ".join((folder / "mathx/autograd/mathx.cpp").read_text().split())
    assert ("(std::move(grads[0]) * self_numel_saved * self_numel)"
            ".expand(self_sizes_saved).reshape(self_sizes)") in text


def test_who_reads_a_gradient_last_may_write_to_it(folder, package):
    """Nobody reads it afterwards, and who reads it twice gets nothing to write to."""
    handed_over = 0
    for source in [*(TREE / "generated/autograd").glob("*.cpp"), folder / "mathx/autograd/mathx.cpp"]:
        for name, body in NODE.findall(source.read_text()):
            _, *rest = re.split(r"std::move\(grads\[0\]\)|SpareGradient\(grads\[0\]\)", body)
            assert len(rest) <= 1, name
            assert not rest or not re.search(r"\bgrads?\b", rest[0]), name
            assert not rest or name != "ReadTwiceBackward0"
            handed_over += len(rest)
    assert handed_over > 150


def test_gradients_that_nobody_has_written(folder, package):
    """That of an expression is found; of other operators, arguments without one are refused."""
    text = " ".join((folder / "mathx/autograd/mathx.cpp").read_text().split())
    assert "// other: mathx::half_written_backward(grad, self, other)" in text
    kernel = text[text.index("Tensor& half_known_("):]
    assert kernel.split("{ ")[1].startswith(
        'check_underived("half_known_", "weight", weight); '
        'check_underived("half_known_", "others", others); if (forward_ad'
    )
    assert text.count("check_underived(") == 2


def test_fractions_are_no_integers(package):
    model = json.loads(package("model"))
    expression = {op["name"]: op.get("expression") for op in model["operators"]}
    assert expression["small_default"]["integers"] is False
    assert expression["called_nan"]["integers"] is True


def class_of(folder, name):
    """What the generated tests say of an operator."""
    text = (folder / "mathx/tests/test_mathx.py").read_text()
    classes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    fields = {}
    for node in classes[name].body:
        if isinstance(node, ast.Assign):
            fields[node.targets[0].id] = node.value
    given = {k.arg: k.value for k in fields["op"].keywords}
    flags = {name for name, value in given.items() if ast.unparse(value) == "True"}
    return ast.literal_eval(given["record"]), eval(ast.unparse(fields["defaults"]), {}), flags


def test_defaults_that_python_has_no_literal_for(folder, package):
    _, defaults, _ = class_of(folder, "TestLimits")
    assert defaults["low"] == -math.inf and defaults["high"] == math.inf
    assert math.isnan(defaults["others"][0]) and defaults["others"][1] == 1.5


def test_references_of_arguments_whose_names_mean_something_in_python(folder, package):
    record, defaults, _ = class_of(folder, "TestStd")
    assert record["numpy"] == "(self * lambda_)" and defaults == {"lambda": 2}
    record, _, _ = class_of(folder, "TestUnderscored")
    assert record["numpy"] == "((self * np.exp(np_)) * np2)"


def test_records_of_operators_that_write_to_self(folder, package):
    """They are those of the functional form, or speak of copies where there is none."""
    record, _, flags = class_of(folder, "TestBump")
    assert record["numpy"] == "self + by" and flags == {"inplace"}
    record, _, flags = class_of(folder, "TestLift")
    assert record["numpy"] == "self + by" and flags == {"inplace", "changes_self"}


def test_numbers_that_nothing_gives_a_value(folder, package):
    record, _, _ = class_of(folder, "TestNumbers")
    assert record["arguments"] == {"a": 2, "up": True}


def test_underscored_operators_are_in_the_module(folder, package):
    assert "from ._C import _underscored" in (folder / "mathx/python/mathx/__init__.py").read_text()


def test_out_forms_of_overloads(package):
    names = {op["name"] for op in json.loads(package("model"))["operators"]}
    assert {"overloads.first_out", "overloads.second_out"} <= names
