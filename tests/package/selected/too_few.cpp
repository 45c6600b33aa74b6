// Calls an operator that inference.txt does not name.
#include <aten/Base.h>
#include <generated/ops/tanh.h>

int main() {
  float one = 1;
  return at::tanh(at::from_blob(&one, {1})).defined() ? 0 : 1;
}
