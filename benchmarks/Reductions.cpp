// Reductions, scans and softmax of a 4096 x 4096 matrix of float32, and reductions of matrices with
// short rows.
#include "Cases.h"
#include "Library.h"

#include <limits>

using at::Tensor;

void add_reductions(Cases& cases) {
  const Tensor x = at::rand({4096, 4096});
  const auto over = [](int64_t dim) { return std::vector<int64_t>{dim}; };
  cases.add("reduce/sum", [=] { return at::sum(x); });
  cases.add("reduce/max", [=] { return at::max(x); });
  cases.add("reduce/var", [=] { return at::var(x, /*unbiased=*/true); });
  for (const int64_t dim : {0, 1}) {
    const auto add = [&](const char* operation, auto function) {
      cases.add(std::string("reduce/") + operation + " dim " + std::to_string(dim), function);
    };
    add("sum", [=, dims = over(dim)] { return at::sum(x, dims); });
    add("var", [=, dims = over(dim)] { return at::var(x, dims, true); });
    add("amax", [=, dims = over(dim)] { return at::amax(x, dims); });
    add("max", [=] { return at::max(x, dim); });
    add("argmax", [=] { return at::argmax(x, dim); });
    Tensor out = at::empty({4096, 4096});
    add("cumsum", [=]() mutable { at::cumsum_out(out, x, dim); });
    add("softmax", [=]() mutable { at::softmax_out(out, x, dim); });
    add("logsumexp", [=, dims = over(dim)] { return at::logsumexp(x, dims); });
  }
  for (const auto& [rows, length] : {std::pair(25000, 32), std::pair(8000, 100)}) {
    const Tensor y = at::rand({rows, length});
    const std::string of = " of " + std::to_string(rows) + " x " + std::to_string(length) + " dim ";
    cases.add("reduce/sum" + of + "0", [=, dims = over(0)] { return at::sum(y, dims); });
    cases.add("reduce/sum" + of + "1", [=, dims = over(1)] { return at::sum(y, dims); });
    cases.add("reduce/amax" + of + "1", [=, dims = over(1)] { return at::amax(y, dims); });
  }
  const Tensor halves = x.to(at::kBFloat16);
  cases.add("reduce/softmax of bfloat16 dim 1", [=] { return at::softmax(halves, 1); });
  const Tensor later = at::triu(at::ones({128, 128}), 1).to(at::kBool);
  const Tensor scores = at::randn({12, 128, 128});
  const Tensor masked = scores.masked_fill(later, -std::numeric_limits<float>::infinity());
  cases.add("reduce/softmax of 12 x 128 x 128 dim 2", [=] { return at::softmax(scores, 2); });
  cases.add("reduce/softmax of masked 12 x 128 x 128 dim 2",
            [=] { return at::softmax(masked, 2); });
  const Tensor weight = at::rand({4096}), bias = at::rand({4096});
  cases.add("reduce/layer_norm", [=, shape = std::vector<int64_t>{4096}] {
    return at::layer_norm(x, shape, weight, bias);
  });
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const Tensor rows = at::randn({1024, 64}).to(dtype), w = weight.slice(0, 0, 64).to(dtype);
    const std::string of = dtype == at::kFloat ? "" : " bfloat16";
    cases.add("reduce/layer_norm of 1024 x 64" + of,
              [=, shape = std::vector<int64_t>{64}] { return at::layer_norm(rows, shape, w, w); });
  }
}
