// Indexing as in Python with a library that has little else.
#include <aten/Base.h>
#include <generated/ops/sum.h>

#include <cstdio>

namespace {

using at::indexing::Slice;

double sum_of(const at::Tensor& x) { return at::sum(x).item<double>(); }

bool is(const char* what, double found, double expected) {
  if (found != expected) std::printf("%s: %g, not %g\n", what, found, expected);
  return found == expected;
}

}  // namespace

int main() {
  double numbers[12];
  for (int i = 0; i < 12; ++i) numbers[i] = i;
  const at::Tensor x = at::from_blob(numbers, {3, 4}, at::kDouble);
  int64_t places[] = {2, 0};
  const at::Tensor rows = at::from_blob(places, {2}, at::kLong);

  bool good = is("a row", sum_of(x.index({1})), 22);
  good &= is("a slice", sum_of(x.index({"...", Slice(1, 3)})), 33);
  good &= is("a list", sum_of(x.index({rows, 1})), 10);
  x.index_put_({Slice(), 0}, 1);
  good &= is("a number put", sum_of(x), 57);
  x.index_put_({rows}, x.index({2}));
  good &= is("rows put", sum_of(x), 81);
  std::puts(good ? "as expected" : "not as expected");
  return good ? 0 : 1;
}
