"""Forms that no operator of the tree uses: precomputed values, delegation as PyTorch writes it, and
autogen of operators that write to their arguments. What is generated for them compiles."""

import json

import pytest

from codegen.backend.__main__ import TREE, render
from codegen.backend.model import read_model

OPERATORS = """
- func: windowed.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)
  family: Forms
  structured: True
  precomputed:
  - dim -> int dim, bool last
  - DimVector sizes
  dispatch:
    CPU: windowed_out

- func: windowed(Tensor self, int dim) -> Tensor
  family: Forms
  structured_delegate: windowed.out

- func: windowed_(Tensor(a!) self, int dim) -> Tensor(a!)
  family: Forms
  structured_delegate: windowed.out

- func: scatter_noise_(Tensor(a!) self, Tensor(b!) state, float p=0.5) -> Tensor(a!)
  family: Forms
  autogen: scatter_noise, scatter_noise.out
  dispatch:
    CPU: scatter_noise_

- func: with_state(Tensor self, Tensor(a!) state) -> (Tensor, Tensor)
  family: Forms
  autogen: with_state_functional, with_state.out
  dispatch:
    CPU: with_state
"""

KERNELS = """
#include <generated/native/windowed.h>
#include <generated/native/scatter_noise.h>
#include <generated/native/with_state.h>

namespace at::inline oploom_v1::meta {
OPLOOM_PRECOMPUTE_META_FUNC(windowed)(const Tensor& self, int64_t dim) {
  set_output_contiguous(0, self.sizes(), self.options());
  return {.dim = dim, .last = true, .sizes = DimVector(self.sizes())};
}
}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {
OPLOOM_IMPL_FUNC(windowed_out)(const Tensor& self, int64_t dim, bool last, DimVector sizes,
                               const Tensor& out) {}
Tensor& scatter_noise_(Tensor& self, Tensor& state, double p) { return self; }
std::tuple<Tensor, Tensor> with_state(const Tensor& self, Tensor& state) { return {self, state}; }
}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Forms.h>
"""


@pytest.fixture
def outputs(tmp_path, oploom):
    for name in ("native_functions.yaml", "derivatives.yaml", "tags.yaml"):
        text = (TREE / name).read_text()
        (tmp_path / name).write_text(text + (OPERATORS if name.startswith("native") else ""))
    result = oploom("model", tmp_path / "native_functions.yaml", tmp_path / "derivatives.yaml")
    assert result.returncode == 0, result.stderr
    outputs = render(read_model(json.loads(result.stdout)))
    for path, text in outputs.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return outputs


def between(text, start, end):
    begin = text.index(start)
    return text[begin : text.index(end, begin)]


def test_what_is_generated_compiles(tmp_path, outputs, compiler):
    code, message = compiler("generated/dispatch/Dropout.cpp", include=[tmp_path])(
        tmp_path / "generated/dispatch/Forms.cpp"
    )
    assert code == 0, message
    (tmp_path / "Forms.cpp").write_text(KERNELS)
    code, message = compiler("aten/native/Dropout.cpp", include=[tmp_path])(tmp_path / "Forms.cpp")
    assert code == 0, message


def test_precomputed_values_go_from_the_shape_function_to_the_kernel(outputs):
    header = outputs["generated/native/windowed.h"]
    assert "  Precomputed meta(const Tensor& self, int64_t dim);\n" in header
    struct = between(header, "struct Precomputed {", "};")
    assert struct.split(";")[:3] == [
        "struct Precomputed {\n    int64_t dim", "\n    bool last", "\n    DimVector sizes"
    ]
    source = outputs["generated/dispatch/Forms.cpp"]
    kernel = between(source, "Tensor windowed_CPU(", "\n}")
    assert "const auto precomputed = kernel.meta(self, dim);" in kernel
    call = between(kernel, "kernel.impl(", ";")
    assert " ".join(call.split()) == (
        "kernel.impl(self, precomputed.dim, precomputed.last, precomputed.sizes, outputs[0])"
    )
    assert "precomputed" not in between(source, "Tensor windowed_Meta(", "\n}")


def test_functional_form_of_an_operator_that_writes_returns_copies(outputs):
    source = outputs["generated/dispatch/Forms.cpp"]
    body = between(source, "scatter_noise_composite(", "\n}")
    assert "Tensor self_copy = _ops::clone::call(self, std::nullopt);" in body
    assert "Tensor state_copy = _ops::clone::call(state, std::nullopt);" in body
    assert "_ops::scatter_noise_::call(self_copy, state_copy, p);" in body
    assert "return {self_copy, state_copy};" in body
    out = between(source, "scatter_noise_out_composite(", "\n}")
    assert "_ops::scatter_noise_::call(self_copy, state, p);" in out
    assert 'return native::assign_out(out, self_copy, "scatter_noise");' in out
    functional = between(source, "with_state_functional_composite(", "\n}")
    assert "return {std::get<0>(result), std::get<1>(result), state_copy};" in functional


def test_schemas_of_the_forms(tmp_path, outputs, oploom):
    model = oploom("model", tmp_path / "native_functions.yaml", tmp_path / "derivatives.yaml")
    schemas = {op["schema"] for op in json.loads(model.stdout)["operators"]}
    assert {
        "scatter_noise(Tensor self, Tensor state, float p=0.5) -> (Tensor, Tensor state_out)",
        "scatter_noise.out(Tensor self, Tensor(b!) state, float p=0.5, *, Tensor(a!) out)"
        " -> Tensor(a!)",
        "with_state_functional(Tensor self, Tensor state) -> (Tensor, Tensor, Tensor state_out)",
        "with_state.out(Tensor self, Tensor(a!) state, *, Tensor(b!) out0, Tensor(c!) out1)"
        " -> (Tensor(b!), Tensor(c!))",
    } <= schemas
