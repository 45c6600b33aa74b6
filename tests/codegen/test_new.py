"""`oploom new`: what it writes is accepted, compiles as it stands, and is where it belongs."""

import shutil

import pytest

from codegen.backend.__main__ import TREE


@pytest.fixture
def tree(tmp_path):
    """The files that `new` edits, in a folder of their own."""
    for name in ("native_functions.yaml", "derivatives.yaml", "tags.yaml",
                 "aten/native/CMakeLists.txt", "aten/native/Dropout.cpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TREE / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def new(tree, oploom):
    def run(*words):
        return oploom(
            "new", *words, tree / "native_functions.yaml", tree / "derivatives.yaml", cwd=TREE
        )

    return run


def compiles(compiler, tree, family):
    for like, source in (
        ("aten/native/Dropout.cpp", f"aten/native/{family}.cpp"),
        ("generated/dispatch/Dropout.cpp", f"generated/dispatch/{family}.cpp"),
    ):
        code, message = compiler(like, include=[tree])(tree / source)
        assert code == 0, message


def test_composite_operator_in_a_family_that_exists(tree, new, compiler):
    result = new("feature_noise", "--family", "Dropout", "--schema",
                 "feature_noise(Tensor self, float p=0.5, *, int[]? dims=None) -> Tensor")
    assert result.returncode == 0, result.stderr
    assert "TODO" in result.stdout and "tools/regenerate" in result.stdout
    yaml = (tree / "native_functions.yaml").read_text()
    entry = yaml.index("- func: feature_noise(")
    assert yaml[entry:].split("\n\n")[0] == (
        "- func: feature_noise(Tensor self, float p=0.5, *, int[]? dims=None) -> Tensor\n"
        "  family: Dropout\n"
        "  variants: function, method\n"
        "  doc: |\n"
        "    TODO: what ``feature_noise`` returns.\n"
        "  test:\n"
        "    numpy: TODO\n"
        "    dtypes: floating\n"
        "    samples:\n"
        "      - {self: [3, 4]}"
    )
    assert (tree / "derivatives.yaml").read_text() == (TREE / "derivatives.yaml").read_text()
    source = (tree / "aten/native/Dropout.cpp").read_text()
    assert (
        "Tensor feature_noise(const Tensor& self, double p, OptionalIntArrayRef dims) {\n" in source
    )
    assert source.index("generated/native/dropout.h") < source.index("generated/native/feature_noise.h")
    assert source.endswith("\n#include <generated/native/signatures/Dropout.h>\n")
    compiles(compiler, tree, "Dropout")


def test_operator_with_a_kernel_in_a_new_family(tree, new, compiler):
    result = new("halve.by", "--kernel", "--family", "Halving", "--schema",
                 "halve.by(Tensor self, Tensor other, Scalar times) -> Tensor")
    assert result.returncode == 0, result.stderr
    yaml = (tree / "native_functions.yaml").read_text()
    assert yaml.endswith(
        "# ---- Halving ----\n\n"
        "- func: halve.by(Tensor self, Tensor other, Scalar times) -> Tensor\n"
        "  family: Halving\n"
        "  variants: function, method\n"
        "  structured: True\n"
        "  autogen: halve_.by, halve.by_out\n"
        "  dispatch:\n"
        "    CPU: halve_by_out\n"
        "  doc: |\n"
        "    TODO: what ``halve`` returns.\n"
        "  test:\n"
        "    numpy: TODO\n"
        "    dtypes: floating\n"
        "    samples:\n"
        "      - {self: [3, 4], other: [3, 4], times: 1}\n"
    )
    assert (tree / "derivatives.yaml").read_text().endswith(
        "- name: halve.by(Tensor self, Tensor other, Scalar times) -> Tensor\n"
        "  self: zeros_like(self)  # TODO: its gradient\n"
        "  other: zeros_like(other)  # TODO: its gradient\n"
    )
    assert "    Halving.cpp\n    IndexKernel.cpp\n" in (tree / "aten/native/CMakeLists.txt").read_text()
    source = (tree / "aten/native/Halving.cpp").read_text()
    assert "OPLOOM_META_FUNC(halve, by)(const Tensor& self, const Tensor& other," in source
    assert "OPLOOM_IMPL_FUNC(halve_by_out)(const Tensor& self, const Tensor& other," in source
    compiles(compiler, tree, "Halving")


def test_expression(tree, new):
    result = new("soft_gate", "--family", "Dropout", "--schema",
                 "soft_gate(Tensor self, Tensor other, Scalar by, Scalar at=1) -> Tensor",
                 "--expr", "self > at ? self : other * exp(by)")
    assert result.returncode == 0, result.stderr
    assert "TODO" not in result.stdout and "aten/native" not in result.stdout
    yaml = (tree / "native_functions.yaml").read_text()
    assert yaml[yaml.index("- func: soft_gate("):].split("\n\n")[0] == (
        "- func: soft_gate(Tensor self, Tensor other, Scalar by, Scalar at=1) -> Tensor\n"
        "  family: Dropout\n"
        "  expr: 'self > at ? self : other * exp(by)'\n"
        "  doc: |\n"
        "    Returns ``self > at ? self : other * exp(by)``.\n"
        "  test:\n"
        "    arguments: {by: 1}"
    )
    kernels = (tree / "generated/cpu/Dropout.cpp").read_text()
    assert "soft_gate" in kernels
    assert "'arguments': {'by': 1}" in (tree / "generated/tests/test_Dropout.py").read_text()


def test_expression_of_a_package(tmp_path, oploom):
    (tmp_path / "operators.yaml").write_text("- func: cube(Tensor self) -> Tensor\n"
                                             "  expr: self * self * self\n")
    words = ("new", "quart", "--family", "mathx", "--expr", "square(self) * self * self",
             "--namespace", "mathx", "--oploom", TREE)
    wrong = oploom(*words, "operators.yaml", cwd=tmp_path)
    assert wrong.returncode == 1 and "square" in wrong.stderr
    right = [word.replace("square(self)", "self * self") if isinstance(word, str) else word
             for word in words]
    result = oploom(*right, "operators.yaml", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "operators.yaml").read_text()
    assert "- func: quart(Tensor self) -> Tensor\n  family: mathx\n  expr: self * self * self * self\n" in text
    assert not (tmp_path / "generated").exists()


def test_first_expression_of_a_package(tmp_path, oploom):
    words = ("--expr", "self > 0 ? self : 2 * self", "--namespace", "mathx", "--oploom", TREE)
    unnamed = oploom("new", "bend", *words, cwd=tmp_path)
    assert unnamed.returncode == 2
    assert "oploom new bend operators.yaml --namespace mathx" in unnamed.stderr
    wrong = oploom("new", "bend", "operators.yaml", *words[:1], "sel", *words[2:], cwd=tmp_path)
    assert wrong.returncode == 1 and "'self'" in wrong.stderr
    assert not list(tmp_path.iterdir())
    result = oploom("new", "bend", "operators.yaml", *words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "operators.yaml:3 " in result.stdout
    assert (tmp_path / "operators.yaml").read_text() == (
        "# ---- mathx ----\n\n"
        "- func: bend(Tensor self) -> Tensor\n"
        "  expr: 'self > 0 ? self : 2 * self'\n"
        "  doc: |\n"
        "    Returns ``self > 0 ? self : 2 * self``.\n"
    )
    checked = oploom("list", "operators.yaml", *words[2:], cwd=tmp_path)
    assert "of the expression" in checked.stdout and "1 operator:" in checked.stdout
    told = oploom("explain", "bend", "operators.yaml", *words[2:], cwd=tmp_path).stdout
    assert "mathx::native::structured_bend_out" in told
    assert "--out names the folder of a build" in told and "tools/regenerate" not in told


@pytest.mark.parametrize("words", [(), ("--kernel",)])
def test_a_package_gets_expressions_only(tmp_path, oploom, words):
    result = oploom("new", "bend", "operators.yaml", "--namespace", "mathx", "--oploom", TREE, *words,
                    cwd=tmp_path)
    assert result.returncode == 2
    assert "in a package 'new' writes expressions: give --expr" in result.stderr
    assert not list(tmp_path.iterdir())
    help = " ".join(oploom("help", "new").stdout.split())
    assert "In a package (--namespace), whose file may be a new one, it is what 'new' writes" in help


def test_an_expression_has_no_other_kernel(new):
    result = new("f", "--family", "F", "--kernel", "--expr", "self + 1")
    assert result.returncode == 2
    assert "leave --kernel out" in result.stderr


def test_what_does_not_pass_the_check_leaves_the_files_as_they_were(tree, new):
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    result = new("f", "--family", "F", "--schema", "f(Tensor self, Storage s) -> Tensor")
    assert result.returncode == 1
    assert "'Storage' has no C++ type" in result.stderr
    after = {path: path.read_bytes() for path in tree.rglob("*")
             if path.is_file() and "generated" not in path.parts}
    assert after == before
