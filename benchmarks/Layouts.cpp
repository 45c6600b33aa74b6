// Operands of 4096 x 4096 float32 that are not simply contiguous, into a given contiguous tensor.
#include "Cases.h"
#include "Library.h"

using at::Tensor;

void add_layouts(Cases& cases) {
  constexpr int64_t n = 4096;
  const Tensor a = at::rand({n, n}), b = at::rand({n, n}), wide = at::rand({n, 2 * n});
  const Tensor row = at::rand({n}), column = at::rand({n, 1}),
               every_second = wide.slice(1, 0, 2 * n, 2);
  Tensor out = at::empty({n, n});
  cases.add("layout/a + b", [=]() mutable { at::add_out(out, a, b); });
  cases.add("layout/a + b.T", [=]() mutable { at::add_out(out, a, b.t()); });
  cases.add("layout/a.T + b.T", [=]() mutable { at::add_out(out, a.t(), b.t()); });
  cases.add("layout/exp(a)", [=]() mutable { at::exp_out(out, a); });
  cases.add("layout/exp(a.T)", [=]() mutable { at::exp_out(out, a.t()); });
  cases.add("layout/copy of a.T", [=]() mutable { out.copy_(a.t()); });
  cases.add("layout/a + row", [=]() mutable { at::add_out(out, a, row); });
  cases.add("layout/a + column", [=]() mutable { at::add_out(out, a, column); });
  cases.add("layout/a + every second", [=]() mutable { at::add_out(out, a, every_second); });
}
