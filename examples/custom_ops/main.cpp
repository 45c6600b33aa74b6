// A program that uses the operators of mathx as it does those of oploom.
#include <aten/Base.h>
#include <generated/ops/empty.h>
#include <generated/ops/equal.h>
#include <generated/ops/sum.h>
#include <mathx/ops.h>

#include <cmath>
#include <iostream>

int main() {
  const at::Tensor x = at::tensor({0.5, 1.0, 2.0}, at::kDouble).requires_grad_();
  const at::Tensor w = mathx::lambert_w(x);
  std::cout << "lambert_w(x):\n" << w << "\n";
  w.sum().backward();
  std::cout << "its derivative:\n" << x.grad() << "\n";

  at::Tensor y = at::tensor({-1.0, 0.0, 1.0}, at::kDouble);
  at::Tensor out = at::empty({0}, y.options());
  mathx::mish_out(out, y);
  mathx::mish_(y);
  std::cout << "mish, twice:\n" << y << "\n" << out << "\n";
  std::cout << "rms_norm:\n" << mathx::rms_norm(at::tensor({3.0, 4.0}, at::kDouble)) << "\n";

  // W(1) is the omega constant.
  const bool right =
      std::abs(w[1].item<double>() - 0.5671432904097838) < 1e-12 && at::equal(y, out);
  std::cout << (right ? "as expected\n" : "WRONG\n");
  return right ? 0 : 1;
}
