// What a call costs before any arithmetic: operators on 2 to 64 elements.
#include "Cases.h"
#include "Library.h"

using at::Tensor;

namespace {

Tensor small(at::IntArrayRef size, bool requires_grad = false) {
  Tensor tensor = at::rand(size) + 0.5;
  return requires_grad ? tensor.requires_grad_() : tensor;
}

// A row of `length` multiplications, recorded and run backward: what a node of a graph costs.
void add_chains(Cases& cases) {
  constexpr int kLength = 100;
  const Tensor x = small({8}, true), factor = small({8}), seed = at::ones({8});
  const auto forward = [=] {
    Tensor y = x;
    for (int i = 0; i < kLength; ++i) y = at::mul(y, factor);
    return y;
  };
  cases.add("fixed/node/mul, forward", forward, kLength);
  cases.add(
      "fixed/node/mul, forward and backward",
      [=] { return library::grad({forward()}, {x}, {seed}); }, kLength);
  const Tensor kept = forward();
  cases.add(
      "fixed/node/mul, backward",
      [=] { return library::grad({kept}, {x}, {seed}, /*retain_graph=*/true); }, kLength);
}

}  // namespace

void add_fixed_costs(Cases& cases) {
  const Tensor a = small({2}), b = small({2});
  const Tensor ag = small({2}, true), bg = small({2}, true);
  const Tensor integers = at::ones({2}, at::kLong);
  const Tensor matrix = small({8, 8}), other = small({8, 8}), matrix_g = small({8, 8}, true);

  cases.add("fixed/empty", [] { return at::empty({2}); });
  cases.add("fixed/add", [=] { return at::add(a, b); });
  cases.add("fixed/add_", [a = small({2}), b = at::zeros({2})]() mutable { a.add_(b); });
  cases.add("fixed/add_out", [=, out = small({2})]() mutable { at::add_out(out, a, b); });
  cases.add("fixed/add scalar", [=] { return at::add(a, 1.5); });
  cases.add("fixed/add int64 + float32", [=] { return at::add(integers, a); });
  cases.add("fixed/add broadcast", [a = small({8, 1}), b = small({8})] { return at::add(a, b); });
  cases.add("fixed/exp", [=] { return at::exp(a); });
  cases.add("fixed/relu", [=] { return at::relu(a); });
  cases.add("fixed/gt", [=] { return at::gt(a, b); });
  cases.add("fixed/where", [=, mask = at::gt(a, b)] { return at::where(mask, a, b); });
  cases.add("fixed/mul_ scalar", [a = at::zeros({2})]() mutable { a.mul_(2); });
  cases.add("fixed/fill_", [a = small({2})]() mutable { a.fill_(1); });
  cases.add("fixed/copy_", [b, a = small({2})]() mutable { a.copy_(b); });
  cases.add("fixed/zeros", [] { return at::zeros({2}); });
  cases.add("fixed/clone", [=] { return at::clone(a); });
  cases.add("fixed/to float64", [=] { return a.to(at::kDouble); });
  cases.add("fixed/cat", [=] { return at::cat({a, b}); });
  cases.add("fixed/index_select 8x8",
            [=, rows = at::arange(4)] { return at::index_select(matrix, 0, rows); });
  cases.add("fixed/mean 8x8 dim 1", [=] { return at::mean(matrix, 1); });
  cases.add("fixed/argmax 8x8 dim 1", [=] { return at::argmax(matrix, 1); });
  cases.add("fixed/softmax 8x8", [=] { return at::softmax(matrix, 1); });
  cases.add("fixed/add, recorded", [=] { return at::add(ag, bg); });
  cases.add("fixed/mul, recorded", [=] { return at::mul(ag, bg); });
  cases.add("fixed/relu, recorded", [=] { return at::relu(ag); });
  cases.add("fixed/sum 8x8", [=] { return at::sum(matrix); });
  cases.add("fixed/sum 8x8, recorded", [=] { return at::sum(matrix_g); });
  cases.add("fixed/mm 8x8", [=] { return at::mm(matrix, other); });
  cases.add("fixed/mm 8x8, recorded", [=] { return at::mm(matrix_g, other); });
  cases.add("fixed/linear 8x8, recorded",
            [=, bias = small({8}, true)] { return at::linear(other, matrix_g, bias); });
  cases.add("fixed/view", [=] { return matrix.view({64}); });
  cases.add("fixed/select", [=] { return matrix.select(0, 3); });
  cases.add("fixed/slice", [=] { return matrix.slice(0, 2, 6); });
  cases.add("fixed/transpose", [=] { return matrix.transpose(0, 1); });
  cases.add("fixed/unsqueeze", [=] { return matrix.unsqueeze(0); });
  cases.add("fixed/expand", [=] { return a.expand({8, 2}); });
  cases.add("fixed/view, recorded", [=] { return matrix_g.view({64}); });
  add_chains(cases);
}
