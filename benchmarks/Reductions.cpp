// Reductions of a 4096 x 4096 matrix of float32.
#include "Cases.h"

using at::Tensor;

void add_reductions(Cases& cases) {
  const Tensor x = at::rand({4096, 4096});
  const auto over = [](int64_t dim) { return std::vector<int64_t>{dim}; };
  cases.add("reduce/sum", [=] { return at::sum(x); });
  cases.add("reduce/sum dim 0", [=, dims = over(0)] { return at::sum(x, dims); });
  cases.add("reduce/sum dim 1", [=, dims = over(1)] { return at::sum(x, dims); });
  cases.add("reduce/var dim 1", [=, dims = over(1)] { return at::var(x, dims, true); });
  cases.add("reduce/max dim 1", [=] { return at::max(x, 1); });
  cases.add("reduce/argmax dim 0", [=] { return at::argmax(x, 0); });
  cases.add("reduce/argmax dim 1", [=] { return at::argmax(x, 1); });
  cases.add("reduce/cumsum dim 1", [=] { return at::cumsum(x, 1); });
  cases.add("reduce/softmax dim 1", [=] { return at::softmax(x, 1); });
}
