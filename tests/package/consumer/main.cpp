#include <aten/ATen.h>
#include <iostream>

int main() {
  at::Tensor x = at::arange(3, at::kFloat).requires_grad_();
  at::Tensor y = at::mul(x, x).sum();
  y.backward();
  std::cout << x.grad() << "\n";
  return x.grad()[2].item<float>() == 4 ? 0 : 1;
}
