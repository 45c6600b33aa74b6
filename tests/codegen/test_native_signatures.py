"""A native function whose C++ signature is not its schema's fails to compile, with a message that
names the operator and shows the signature expected."""

import re

import pytest

from codegen.backend.__main__ import TREE

NATIVE = TREE / "aten" / "native"
FAMILY = re.compile(r"#include <generated/native/signatures/(\w+)\.h>\n\Z")


def defining_files():
    return [
        path
        for path in sorted(NATIVE.glob("*.cpp"))
        if re.search(r"#include <generated/native/\w+\.h>", path.read_text())
    ]


@pytest.mark.parametrize("path", defining_files(), ids=lambda path: path.stem)
def test_files_with_native_functions_end_with_the_checks(path):
    found = FAMILY.search(path.read_text())
    assert found, f"{path.name} must end with: #include <generated/native/signatures/FAMILY.h>"
    assert (TREE / f"generated/native/signatures/{found[1]}.h").is_file()


def compile_text(tmp_path, compiler, text):
    source = tmp_path / "Wrong.cpp"
    source.write_text(text)
    return compiler(like="aten/native/Dropout.cpp")(source)


@pytest.mark.parametrize(
    "definition",
    [
        "Tensor dropout(const Tensor& input, double p, int64_t train) { return input; }",
        "Tensor dropout(const Tensor& input, double p) { return input; }",
        "Tensor dropout(const Tensor& input, double p, bool train, bool more) { return input; }",
        "Tensor dropout(Tensor& input, double p, bool train) { return input; }",
    ],
)
def test_other_parameters(tmp_path, compiler, definition):
    text = (NATIVE / "Dropout.cpp").read_text()
    text = re.sub(r"\nTensor dropout\(.*?\n}\n", "\n" + definition + "\n", text, flags=re.S)
    code, message = compile_text(tmp_path, compiler, text)
    assert code != 0
    assert "dropout(Tensor input, float p, bool train) -> Tensor: at::native::dropout" in message
    assert "Tensor dropout(const Tensor& input, double p, bool train)" in message


def test_another_result(tmp_path, compiler):
    text = (NATIVE / "Dropout.cpp").read_text()
    text = text.replace("\nTensor dropout(", "\nbool dropout(")
    code, message = compile_text(tmp_path, compiler, text)
    assert code != 0
    expected = "Tensor at::oploom_v1::native::dropout(const at::oploom_v1::Tensor&, double, bool)"
    assert expected in message


def test_structured_kernel(tmp_path, compiler):
    text = """
#include <generated/native/mm.h>
namespace at::inline oploom_v1::native {
OPLOOM_IMPL_FUNC(mm_out)(const Tensor& self, const Tensor& out) {}
}
"""
    code, message = compile_text(tmp_path, compiler, text)
    assert code != 0
    assert "structured_mm_out::impl" in message
    tensor = "const at::oploom_v1::Tensor&"
    assert f"{tensor}, {tensor}, {tensor}" in message


def test_the_right_signature_compiles(tmp_path, compiler):
    text = (NATIVE / "Dropout.cpp").read_text()
    code, message = compile_text(tmp_path, compiler, text)
    assert code == 0, message
