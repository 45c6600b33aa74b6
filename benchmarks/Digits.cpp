// One training step of the digit classifier of examples/: 64 images of 64 pixels, two layers.
#include "Cases.h"

using at::Tensor;

namespace {

constexpr int64_t kBatch = 64, kPixels = 64, kHidden = 128, kClasses = 10;

struct Classifier {
  Tensor images = at::rand({kBatch, kPixels});
  Tensor labels = at::randint(kClasses, {kBatch}, at::kLong);
  std::vector<Tensor> parameters{layer({kHidden, kPixels}), layer({kHidden}),
                                 layer({kClasses, kHidden}), layer({kClasses})};
  std::vector<Tensor> velocity{4};

  static Tensor layer(at::IntArrayRef size) {
    return at::empty(size).uniform_(-0.1, 0.1).requires_grad_();
  }

  Tensor loss() const {
    const Tensor hidden = at::relu(at::linear(images, parameters[0], parameters[1]));
    return at::cross_entropy_loss(at::linear(hidden, parameters[2], parameters[3]), labels);
  }

  // Gradient descent with momentum.
  void step() {
    const std::vector<Tensor> grads = library::grad({loss()}, parameters);
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (velocity[i].defined()) {
        velocity[i].mul_(0.9).add_(grads[i]);
      } else {
        velocity[i] = grads[i].clone();
      }
      parameters[i].add_(velocity[i], -0.001);
    }
  }
};

}  // namespace

void add_digits(Cases& cases) {
  cases.add("digits/loss", [c = Classifier()] {
    const at::NoGradGuard no_grad;
    return c.loss();
  });
  cases.add("digits/training step", [c = Classifier()]() mutable { c.step(); });
}
