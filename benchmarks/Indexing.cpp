// Elements that are picked, put together and sorted.
#include "Cases.h"
#include "Library.h"

using at::Tensor;

void add_indexing(Cases& cases) {
  constexpr int64_t n = 4096;
  const Tensor x = at::rand({n, n}), rows = at::randint(n, {n}, at::kLong);
  const Tensor places = at::randint(n, {n, n}, at::kLong);
  Tensor out = at::empty({n, n});
  cases.add("indexing/index_select dim 0",
            [=]() mutable { at::index_select_out(out, x, 0, rows); });
  cases.add("indexing/index_select dim 1",
            [=]() mutable { at::index_select_out(out, x, 1, rows); });
  cases.add("indexing/gather dim 0", [=]() mutable { at::gather_out(out, x, 0, places); });
  cases.add("indexing/gather dim 1", [=]() mutable { at::gather_out(out, x, 1, places); });
  cases.add("indexing/scatter_add_ dim 1", [=]() mutable { out.scatter_add_(1, places, x); });
  cases.add("indexing/index_add_ dim 0", [=]() mutable { out.index_add_(0, rows, x); });
  cases.add("indexing/cat dim 0", [=, to = at::empty({2 * n, n})]() mutable {
    at::cat_out(to, {x, x}, 0);
  });
  cases.add("indexing/cat dim 1", [=, to = at::empty({n, 2 * n})]() mutable {
    at::cat_out(to, {x, x}, 1);
  });
  const Tensor row = at::rand({1'000'000}), half = row > 0.5;
  cases.add("indexing/masked_select 1 M", [=] { return at::masked_select(row, half); });
  cases.add("indexing/nonzero 1 M", [=] { return at::nonzero(half); });
  cases.add("indexing/sort 1 M", [=] { return at::sort(row); });
  cases.add(
      "indexing/sort of int64 1 M",
      [=, whole = at::randint(1'000'000'000, {1'000'000}, at::kLong)] { return at::sort(whole); });
  cases.add("indexing/sort dim 1", [=, part = x.slice(0, 0, 512)] { return at::sort(part, 1); });
  cases.add("indexing/topk 100 of 1 M", [=] { return at::topk(row, 100); });
}
