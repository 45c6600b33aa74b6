// Matrix products of float32.
#include "Cases.h"
#include "Library.h"

using at::Tensor;

void add_matrix_products(Cases& cases) {
  for (const int64_t n : {8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024}) {
    const Tensor a = at::rand({n, n}), b = at::rand({n, n});
    cases.add("mm/" + std::to_string(n), [=] { return at::mm(a, b); });
  }
  const Tensor a = at::rand({512, 512}), b = at::rand({512, 512});
  cases.add("mm/512, a.T", [=] { return at::mm(a.t(), b); });
  cases.add("mm/512, b.T", [=] { return at::mm(a, b.t()); });
  struct Batch {
    int64_t count, rows, inner, columns;
  };
  for (const auto [count, rows, inner, columns] :
       {Batch{512, 8, 8, 8}, Batch{64, 16, 16, 16}, Batch{32, 64, 32, 64}, Batch{64, 64, 64, 64}}) {
    const Tensor x = at::rand({count, rows, inner}), y = at::rand({count, inner, columns});
    Tensor out = at::empty({count, rows, columns});
    cases.add("mm/batch of " + std::to_string(count) + ", " + std::to_string(rows) + "x" +
                  std::to_string(inner) + "x" + std::to_string(columns),
              [=]() mutable { at::bmm_out(out, x, y); });
  }
}
