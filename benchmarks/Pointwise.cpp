// Throughput of pointwise operators, with the result in fresh memory and in a given tensor.
#include "Cases.h"
#include "Library.h"

using at::Tensor;

void add_pointwise(Cases& cases) {
  for (const int64_t n : {1'000'000, 10'000'000}) {
    const Tensor a = at::rand({n}) * 4 - 2, b = at::rand({n}) * 4 - 2;
    const Tensor condition = at::gt(a, b);
    const auto name = [n](const char* operation) {
      return std::string("pointwise/") + operation + (n == 1'000'000 ? " 1 M" : " 10 M");
    };
    cases.add(name("add, fresh"), [=] { return at::add(a, b); });
    cases.add(name("exp, fresh"), [=] { return at::exp(a); });
    cases.add(name("tanh, fresh"), [=] { return at::tanh(a); });
    cases.add(name("where, fresh"), [=] { return at::where(condition, a, b); });
    cases.add(name("gt, fresh"), [=] { return at::gt(a, b); });
    Tensor out = at::empty({n}), mask = at::empty({n}, at::kBool);
    cases.add(name("add, given"), [=]() mutable { at::add_out(out, a, b); });
    cases.add(name("add a number, given"), [=]() mutable { at::add_out(out, a, 1.5); });
    cases.add(name("copy, given"), [=]() mutable { out.copy_(a); });
    cases.add(name("exp, given"), [=]() mutable { at::exp_out(out, a); });
    cases.add(name("tanh, given"), [=]() mutable { at::tanh_out(out, a); });
    cases.add(name("where, given"), [=]() mutable { at::where_out(out, condition, a, b); });
    cases.add(name("gt, given"), [=]() mutable { at::gt_out(mask, a, b); });
  }
  for (const auto dtype : {at::kHalf, at::kBFloat16}) {
    const Tensor a = at::rand({1'000'000}).to(dtype), b = at::rand({1'000'000}).to(dtype);
    const std::string of = dtype == at::kHalf ? " of float16" : " of bfloat16";
    Tensor out = at::empty_like(a);
    cases.add("pointwise/add" + of + ", given 1 M", [=]() mutable { at::add_out(out, a, b); });
    cases.add("pointwise/exp" + of + ", given 1 M", [=]() mutable { at::exp_out(out, a); });
    cases.add("pointwise/cast" + of + ", given 1 M",
              [=, floats = at::empty({1'000'000})]() mutable { floats.copy_(a); });
  }
}
