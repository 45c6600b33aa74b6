// Square matrix products of float32.
#include "Cases.h"

void add_matrix_products(Cases& cases) {
  for (const int64_t n : {8, 16, 32, 64, 128, 256, 512, 1024}) {
    const at::Tensor a = at::rand({n, n}), b = at::rand({n, n});
    cases.add("mm/" + std::to_string(n), [=] { return at::mm(a, b); });
  }
}
