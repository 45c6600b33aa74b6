// Random numbers.
#include "Cases.h"
#include "Library.h"

void add_random(Cases& cases) {
  at::Tensor x = at::empty({1'000'000});
  cases.add("random/uniform_ 1 M", [=]() mutable { x.uniform_(); });
  cases.add("random/normal_ 1 M", [=]() mutable { x.normal_(); });
  cases.add("random/bernoulli_ 1 M", [=]() mutable { x.bernoulli_(0.5); });
  cases.add("random/dropout 1 M", [=] { return at::dropout(x, 0.1, /*train=*/true); });
}
