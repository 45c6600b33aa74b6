// The network of examples/digits in inference, against plain loops; linked with a library that has
// the operators of inference.txt only, and once more with the whole library, to record that list.
#include <aten/Base.h>
#include <aten/core/Library.h>
#include <generated/ops/argmax.h>
#include <generated/ops/linear.h>
#include <generated/ops/relu.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int64_t kImages = 50, kPixels = 64, kHidden = 128, kClasses = 10;

// Numbers in [-0.5, 0.5), the same everywhere.
std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> result(static_cast<size_t>(count));
  for (float& x : result) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) / static_cast<float>(1 << 24) - 0.5f;
  }
  return result;
}

struct Layer {
  int64_t in, out;
  std::vector<float> weight, bias;
  Layer(int64_t in, int64_t out, uint32_t seed)
      : in(in), out(out), weight(numbers(in * out, seed)), bias(numbers(out, seed + 1)) {}

  at::Tensor operator()(const at::Tensor& x) {
    return at::linear(x, at::from_blob(weight.data(), {out, in}),
                      at::from_blob(bias.data(), {out}));
  }
  std::vector<double> operator()(const std::vector<double>& x) const {
    std::vector<double> result(bias.begin(), bias.end());
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < in; ++i) result[o] += x[i] * weight[o * in + i];
    }
    return result;
  }
};

int run(const std::string& list) {
  std::vector<float> images = numbers(kImages * kPixels, 1);
  Layer first(kPixels, kHidden, 2), second(kHidden, kClasses, 4);

  const at::Tensor x = at::from_blob(images.data(), {kImages, kPixels});
  const at::Tensor guesses = at::argmax(second(at::relu(first(x))), 1);

  for (int64_t n = 0; n < kImages; ++n) {
    std::vector<double> hidden = first(
        std::vector<double>(images.begin() + n * kPixels, images.begin() + (n + 1) * kPixels));
    for (double& h : hidden) h = h > 0 ? h : 0;
    const std::vector<double> logits = second(hidden);
    const double best = logits[guesses.const_data_ptr<int64_t>()[n]];
    for (double logit : logits) {
      if (logit > best + 1e-4) {
        std::printf("image %ld: %g was chosen, not %g\n", n, best, logit);
        return 1;
      }
    }
  }

  // What was left out says so where the linker cannot.
  try {
    at::get_operator("tanh");
    if (!list.empty()) return std::puts("tanh was not left out"), 1;
  } catch (const c10::Error& error) {
    const std::string message = error.what();
    const bool names = message.find("'tanh'") != message.npos && message.find(list) != message.npos;
    if (list.empty() || !names) return std::puts(message.c_str()), 1;
  }
  std::puts("as expected");
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : ""); }
