// Steps of training: the digit classifier of examples/, and a larger one of three layers.
#include "Cases.h"
#include "Library.h"

using at::Tensor;

namespace {

Tensor layer(at::IntArrayRef size) { return at::empty(size).uniform_(-0.1, 0.1).requires_grad_(); }

// Fully connected layers with a ReLU between them, and the loss of their batch.
struct Classifier {
  Tensor images, labels;
  std::vector<Tensor> parameters;

  Classifier(int64_t batch, const std::vector<int64_t>& widths)
      : images(at::rand({batch, widths.front()})),
        labels(at::randint(widths.back(), {batch}, at::kLong)) {
    for (size_t i = 1; i < widths.size(); ++i) {
      parameters.push_back(layer({widths[i], widths[i - 1]}));
      parameters.push_back(layer({widths[i]}));
    }
  }

  Tensor loss() const {
    Tensor hidden = images;
    for (size_t i = 0; i < parameters.size(); i += 2) {
      const bool is_last = i + 2 == parameters.size();
      const Tensor &weight = parameters[i], &bias = parameters[i + 1];
      hidden =
          is_last ? at::linear(hidden, weight, bias) : library::linear_relu(hidden, weight, bias);
    }
    return at::cross_entropy_loss(hidden, labels);
  }

  std::vector<Tensor> gradients() const { return library::grad({loss()}, parameters); }
};

void add_digits(Cases& cases) {
  const Classifier classifier(64, {64, 128, 10});
  cases.add("training/digits, loss", [classifier] {
    const at::NoGradGuard no_grad;
    return classifier.loss();
  });
  cases.add(
      "training/digits, SGD with momentum",
      [c = classifier, optimizer = library::Sgd(classifier.parameters, 0.001, 0.9)]() mutable {
        optimizer.step(c.gradients());
      });
}

// The loss of a language model, and of an image whose pixels are classified.
void add_cross_entropy(Cases& cases) {
  const auto add = [&](const char* of, const std::vector<int64_t>& shape) {
    const Tensor logits = at::randn(shape).requires_grad_();
    std::vector<int64_t> places = shape;
    places.erase(places.begin() + 1);
    const Tensor labels = at::randint(shape[1], places, at::kLong);
    cases.add(std::string("training/cross entropy of ") + of + ", loss and gradient",
              [=] { return library::grad({at::cross_entropy_loss(logits, labels)}, {logits}); });
  };
  add("512 x 10000", {512, 10000});
  add("4 x 21 x 128 x 128", {4, 21, 128, 128});
}

}  // namespace

void add_training(Cases& cases) {
  add_digits(cases);
  add_cross_entropy(cases);
  for (const int64_t batch : {64, 1}) {
    const std::string name = "training/MLP 784-256-256-10, batch " + std::to_string(batch) + ", ";
    const auto classifier = [batch] { return Classifier(batch, {784, 256, 256, 10}); };
    cases.add(name + "loss and gradients", [c = classifier()] { return c.gradients(); });
    cases.add(name + "SGD", [c = classifier()]() mutable {
      const std::vector<Tensor> grads = c.gradients();
      const at::NoGradGuard no_grad;
      for (size_t i = 0; i < grads.size(); ++i) c.parameters[i].add_(grads[i], -0.001);
    });
    const Classifier adam = classifier();
    cases.add(name + "Adam", [c = adam, optimizer = library::Adam(adam.parameters)]() mutable {
      optimizer.step(c.gradients());
    });
  }
  const Tensor parameters = layer({269'322}), gradient = at::rand({269'322});
  cases.add(
      "training/Adam, a parameter",
      [gradient, optimizer = library::Adam({parameters})]() mutable { optimizer.step({gradient}); },
      /*operations=*/269'322);
}
