// Trains a classifier of handwritten digits; digits.py is the same program in Python, and prints
// the same losses.
//
//   digits [path to digits.txt]
#include <aten/Base.h>
#include <generated/ops/_fused_sgd.h>
#include <generated/ops/argmax.h>
#include <generated/ops/cross_entropy_loss.h>
#include <generated/ops/empty.h>
#include <generated/ops/empty_like.h>
#include <generated/ops/index_select.h>
#include <generated/ops/linear.h>
#include <generated/ops/mean.h>
#include <generated/ops/narrow.h>
#include <generated/ops/randperm.h>
#include <generated/ops/relu.h>
#include <generated/ops/split.h>
#include <generated/ops/to.h>
#include <generated/ops/uniform.h>
#include <generated/ops/view.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace {

using at::Tensor;

constexpr int64_t kPixels = 64, kHidden = 128, kClasses = 10;
constexpr int64_t kEpochs = 30, kBatch = 64, kHeldOut = 360;
constexpr double kLearningRate = 0.1, kMomentum = 0.9;
constexpr uint64_t kSeed = 0;

struct Digits {
  Tensor images;  // [n, 64] float32 in [0, 1]
  Tensor labels;  // [n] int64 in [0, 10)
};

Digits read_digits(const std::string& path) {
  std::ifstream file(path);
  OPLOOM_CHECK_VALUE(file.good(), "cannot read ", path, "; pass the path of digits.txt");
  std::vector<float> pixels;
  std::vector<int64_t> labels;
  std::string image;
  for (int64_t label; file >> image >> label;) {
    OPLOOM_CHECK_VALUE(image.size() == kPixels, path, ": expected ", kPixels,
                       " pixels in a line, got ", image.size());
    for (char c : image) pixels.push_back((c <= '9' ? c - '0' : c - 'a' + 10) / 16.0f);
    labels.push_back(label);
  }
  const auto n = static_cast<int64_t>(labels.size());
  return {at::tensor(pixels).view({n, kPixels}), at::tensor(labels)};
}

// A layer's weight [out, in] and bias [out], uniform within 1 / sqrt(in).
std::vector<Tensor> make_linear(int64_t in, int64_t out) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  std::vector<Tensor> parameters{at::empty({out, in}), at::empty({out})};
  for (Tensor& p : parameters) p.uniform_(-bound, bound).requires_grad_();
  return parameters;
}

void show_progress(int64_t epoch, double loss) {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(kWidth * epoch / kEpochs);
  std::fprintf(stderr, "\r[%s%s] epoch %2ld/%ld, loss %.4f%s", std::string(filled, '#').c_str(),
               std::string(kWidth - filled, '.').c_str(), epoch, kEpochs, loss,
               epoch == kEpochs ? "\n" : "");
}

void run(const std::string& path) {
  at::manual_seed(kSeed);
  Digits digits = read_digits(path);
  Tensor order = at::randperm(digits.labels.size(0));
  const int64_t training = digits.labels.size(0) - kHeldOut;
  Tensor train = order.narrow(0, 0, training), held_out = order.narrow(0, training, kHeldOut);

  std::vector<Tensor> parameters = make_linear(kPixels, kHidden);
  for (Tensor& p : make_linear(kHidden, kClasses)) parameters.push_back(p);
  std::vector<Tensor> velocity;
  for (const Tensor& p : parameters) velocity.push_back(at::empty_like(p));
  bool is_first_step = true;
  auto model = [&](const Tensor& images) {
    Tensor hidden = at::relu(at::linear(images, parameters[0], parameters[1]));
    return at::linear(hidden, parameters[2], parameters[3]);
  };

  const bool progress = isatty(STDERR_FILENO);
  for (int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    Tensor shuffled = train.index_select(0, at::randperm(training));
    double total = 0;
    for (const Tensor& batch : shuffled.split(kBatch)) {
      Tensor loss = at::cross_entropy_loss(model(digits.images.index_select(0, batch)),
                                           digits.labels.index_select(0, batch));
      std::vector<Tensor> grads = at::autograd::grad({loss}, parameters);
      total += loss.item<double>() * static_cast<double>(batch.size(0));

      at::NoGradGuard no_grad;
      at::_fused_sgd_(parameters, grads, velocity, /*weight_decay=*/0, kMomentum, kLearningRate,
                      /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false, is_first_step);
      is_first_step = false;
    }
    const double mean = total / static_cast<double>(training);
    if (progress) show_progress(epoch, mean);
    if (epoch % 5 == 0) std::printf("epoch %2ld  loss %.4f\n", epoch, mean);
  }

  at::NoGradGuard no_grad;
  Tensor guesses = model(digits.images.index_select(0, held_out)).argmax(1);
  Tensor right = guesses.eq(digits.labels.index_select(0, held_out));
  std::printf("accuracy on %ld held-out images: %.2f %%\n", kHeldOut,
              100 * right.to(at::kDouble).mean().item<double>());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "examples/data/digits.txt");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
}
