// cross_entropy_loss. Its softmax, for targets that are class numbers, is never in memory.
#include <aten/core/Dispatch.h>
#include <aten/core/Empty.h>
#include <aten/native/ClassTargets.h>
#include <aten/native/ShapeUtils.h>
#include <aten/stubs/CrossEntropy.h>
#include <generated/native/_smoothed_nll_loss.h>
#include <generated/native/_softmax_cross_entropy.h>
#include <generated/native/_softmax_cross_entropy_backward.h>
#include <generated/native/cross_entropy_loss.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/_smoothed_nll_loss.h>
#include <generated/ops/_softmax_cross_entropy.h>
#include <generated/ops/add.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/div.h>
#include <generated/ops/eq.h>
#include <generated/ops/index_select.h>
#include <generated/ops/log_softmax.h>
#include <generated/ops/masked_fill.h>
#include <generated/ops/mul.h>
#include <generated/ops/neg.h>
#include <generated/ops/nll_loss_nd.h>
#include <generated/ops/reshape.h>
#include <generated/ops/sub.h>
#include <generated/ops/sum.h>
#include <generated/ops/to.h>

#include <algorithm>
#include <atomic>

namespace at::inline oploom_v1::native {

namespace {

// The input with dimension 1, that of the classes, behind the others.
Tensor with_classes_last(const TensorBase& self) {
  DimVector sizes(self.sizes()), strides(self.strides());
  std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  std::rotate(strides.begin() + 1, strides.begin() + 2, strides.end());
  return make_alias(self, sizes, strides);
}

// Whether the classes of a place lie side by side, as where those of sequences, or the channels of
// images, were moved to dimension 1.
bool has_classes_last(const TensorBase& self) {
  return self.dim() > 2 && !self.is_contiguous() && with_classes_last(self).is_contiguous();
}

// The input as kernels want it, contiguous: [outer, classes, inner], where `dim` is the dimension
// of the classes. Its places are in the order of the targets.
struct Logits {
  explicit Logits(const Tensor& self) : tensor(self), dim(class_dim(self)) {
    if (has_classes_last(self)) {
      tensor = with_classes_last(self);
      dim = self.dim() - 1;
    } else if (!self.is_contiguous()) {
      tensor = self.contiguous();
    }
    for (int64_t d = dim + 1; d < self.dim(); ++d) inner *= tensor.sizes()[d];
  }
  int64_t classes() const { return tensor.sizes()[dim]; }
  Tensor tensor;
  int64_t dim;
  int64_t inner = 1;
};

constexpr const char* kName = "cross_entropy_loss";

void check_logits(const Tensor& self, double label_smoothing) {
  OPLOOM_CHECK(self.dim() >= 1, kName,
               "(): expected input of at least one dimension, got a 0-dim tensor");
  OPLOOM_CHECK(label_smoothing >= 0 && label_smoothing <= 1, kName,
               "(): expected label_smoothing in [0, 1], got ", label_smoothing);
}

void check_cross_entropy(const Tensor& self, const Tensor& target,
                         const std::optional<Tensor>& weight, int64_t reduction,
                         double label_smoothing) {
  check_logits(self, label_smoothing);
  check_class_targets(kName, self, target, weight, reduction);
  OPLOOM_CHECK(!is_given(weight) || label_smoothing == 0,
               "_softmax_cross_entropy(): expected no weight where labels are smoothed; "
               "_smoothed_nll_loss() takes both");
}

}  // namespace

}  // namespace at::inline oploom_v1::native

namespace at::inline oploom_v1::meta {

OPLOOM_META_FUNC(_softmax_cross_entropy)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t, double label_smoothing) {
  native::check_cross_entropy(self, target, weight, reduction, label_smoothing);
  // Without reduction there is a loss for each target; a single row gives a single loss.
  DimVector shape;
  if (reduction == Reduction::None) shape = native::target_shape(self);
  const TensorOptions wide = self.options().dtype(c10::toOpMathType(self.scalar_type()));
  set_output_contiguous(0, shape, self.options());
  set_output_contiguous(1, {}, wide);
  set_output_contiguous(2, {3, target.numel()}, wide);
}

OPLOOM_META_FUNC(_softmax_cross_entropy_backward)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t, double label_smoothing,
 const Tensor& total_weight, const Tensor& places) {
  native::check_cross_entropy(self, target, weight, reduction, label_smoothing);
  DimVector shape;
  if (reduction == Reduction::None) shape = native::target_shape(self);
  const ScalarType wide = c10::toOpMathType(self.scalar_type());
  OPLOOM_CHECK(
      grad_output.sizes() == IntArrayRef(shape) && grad_output.scalar_type() == self.scalar_type(),
      "_softmax_cross_entropy_backward(): expected grad_output of shape ", shape, " and dtype ",
      self.scalar_type(), ", got ", grad_output.sizes(), " and ", grad_output.scalar_type());
  OPLOOM_CHECK(total_weight.dim() == 0 && total_weight.scalar_type() == wide &&
                   places.sizes() == IntArrayRef({3, target.numel()}) &&
                   places.scalar_type() == wide,
               "_softmax_cross_entropy_backward(): expected total_weight and places as "
               "_softmax_cross_entropy() returned them, got ",
               total_weight.scalar_type(), " of shape ", total_weight.sizes(), " and ",
               places.scalar_type(), " of shape ", places.sizes());
  // As the input lies.
  set_output_strided(0, self.sizes(),
                     native::has_classes_last(self) ? self.strides() : IntArrayRef(),
                     self.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

// `places` becomes a row of largest numbers, one of log_sums as in Note [Sums of exponentials] and
// one of the targets' losses, neither weighted nor smoothed.
OPLOOM_IMPL_FUNC(softmax_cross_entropy_out)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index, double label_smoothing, const Tensor& output, const Tensor& total_weight,
 const Tensor& places) {
  const Logits logits(self);
  const Tensor weights = contiguous_weight(weight);
  const ClassTargets targets(kName, target, logits.classes(), logits.inner, ignore_index);
  if (!has_fresh_outputs()) targets.check();
  OPLOOM_DISPATCH(self.scalar_type(), kName, (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    const auto* x = logits.tensor.const_data_ptr<scalar_t>();
    const auto* w = weights.defined() ? weights.const_data_ptr<scalar_t>() : nullptr;
    auto* maxima = places.mutable_data_ptr<Wide>();
    auto* log_sums = maxima + targets.count();
    auto* of_class = log_sums + targets.count();
    std::atomic<int64_t> ignored = 0;
    std::atomic<bool> wrong = false;
    if (self.numel() > 0) {
      log_sums_stub(self.device().type(), logits.tensor, logits.dim, maxima, log_sums,
                    [&](int64_t first, int64_t count) {
                      int64_t others = 0;
                      const bool all = targets.for_each(
                          first, first + count,
                          [=](int64_t i, int64_t, int64_t offset) {
                            of_class[i] = (maxima[i] - static_cast<Wide>(x[offset])) + log_sums[i];
                          },
                          [&](int64_t i) {
                            of_class[i] = 0;
                            ++others;
                          });
                      if (others > 0) ignored += others;
                      if (!all) wrong = true;
                    });
    }
    Tensor all;
    if (label_smoothing > 0) {
      all = logits.tensor.sum(IntArrayRef(logits.dim), false, c10::scalar_type_of_v<Wide>);
    }
    const auto* sums = all.defined() ? all.const_data_ptr<Wide>() : nullptr;
    const Wide smoothing = static_cast<Wide>(label_smoothing);
    const Wide classes = static_cast<Wide>(logits.classes());
    const auto loss = [=](int64_t i, int64_t) {
      if (sums == nullptr) return of_class[i];
      const Wide of_all = (maxima[i] - sums[i] / classes) + log_sums[i];
      return (1 - smoothing) * of_class[i] + smoothing * of_all;
    };
    if (reduction == Reduction::None) {
      auto* out = output.mutable_data_ptr<scalar_t>();
      set_for_each(
          targets,
          [=](int64_t i, int64_t class_number, int64_t offset) {
            const Wide scale = w == nullptr ? Wide(1) : static_cast<Wide>(w[class_number]);
            out[i] = static_cast<scalar_t>(scale * loss(i, offset));
          },
          [=](int64_t i) { out[i] = scalar_t(0); });
      *total_weight.mutable_data_ptr<Wide>() = 0;
      return;
    }
    LossSums total;
    if (w == nullptr && sums == nullptr && self.numel() > 0) {
      if (wrong) targets.check();
      total.loss = sum_of(of_class, targets.count());
      total.weight = static_cast<double>(targets.count() - ignored);
    } else {
      total = sum_losses(targets, w, loss);
    }
    // Without any target that counts, the mean is 0 / 0.
    *output.mutable_data_ptr<scalar_t>() = static_cast<scalar_t>(
        reduction == Reduction::Mean ? total.loss / total.weight : total.loss);
    *total_weight.mutable_data_ptr<Wide>() = static_cast<Wide>(total.weight);
  });
}

OPLOOM_IMPL_FUNC(softmax_cross_entropy_backward_out)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
 double label_smoothing, const Tensor& total_weight, const Tensor& places,
 const Tensor& grad_input) {
  const Logits logits(self);
  const Tensor grad = grad_output.contiguous();
  const Tensor weights = contiguous_weight(weight);
  const Tensor rows = places.contiguous();
  const ClassTargets targets(kName, target, logits.classes(), logits.inner, ignore_index);
  if (!has_fresh_outputs()) targets.check();
  if (self.numel() == 0) return;
  const Tensor factors(at::detail::empty({2, targets.count()}, rows.options()));
  std::atomic<bool> wrong = false;
  OPLOOM_DISPATCH(self.scalar_type(), kName, (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    const auto* g = grad.const_data_ptr<scalar_t>();
    const auto* w = weights.defined() ? weights.const_data_ptr<scalar_t>() : nullptr;
    auto* scales = factors.mutable_data_ptr<Wide>();
    const auto* less_one = scales + targets.count();
    auto* out = grad_input.mutable_data_ptr<scalar_t>();
    const bool each = reduction == Reduction::None;
    Wide incoming = each ? Wide(0) : static_cast<Wide>(*g);
    const Wide counted = *total_weight.const_data_ptr<Wide>();
    if (reduction == Reduction::Mean) incoming /= counted;
    // No target is ignored: a float32 tells so of numbers up to this.
    const bool alike = w == nullptr && !each && targets.count() < (int64_t{1} << 24) &&
                       counted == static_cast<Wide>(targets.count());
    const double share = label_smoothing / static_cast<double>(logits.classes());
    const Wide more = static_cast<Wide>(label_smoothing - share);
    scaled_softmax_stub(
        self.device().type(), grad_input, logits.tensor, logits.dim, rows, factors, share,
        [&](int64_t first, int64_t count) {
          if (alike) return static_cast<void>(std::fill_n(scales + first, count, incoming));
          targets.for_each(
              first, first + count,
              [=](int64_t i, int64_t class_number, int64_t) {
                const Wide scale = w == nullptr ? Wide(1) : static_cast<Wide>(w[class_number]);
                scales[i] = scale * (each ? static_cast<Wide>(g[i]) : incoming);
              },
              [=](int64_t i) { scales[i] = 0; });
        },
        [&](int64_t first, int64_t count) {
          const bool all = targets.for_each(
              first, first + count,
              [=](int64_t i, int64_t, int64_t offset) {
                out[offset] = static_cast<scalar_t>(scales[i] * (less_one[i] + more));
              },
              [](int64_t) {});
          if (!all) wrong = true;
        });
  });
  if (wrong) targets.check();
}

namespace {

// The weights of the classes, as they broadcast with the input.
Tensor along_classes(const Tensor& weight, const Tensor& self) {
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  shape[class_dim(self)] = self.sizes()[class_dim(self)];
  return weight.reshape(shape);
}

}  // namespace

// What label smoothing makes of the log probabilities `self`: the loss of the target, and of all
// classes alike.
Tensor _smoothed_nll_loss(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  const Tensor loss = at::nll_loss_nd(self, target, weight, reduction, ignore_index);
  if (label_smoothing == 0) return loss;
  const Tensor spread = is_given(weight) ? self * along_classes(*weight, self) : self;
  const Tensor ignored = at::eq(target, ignore_index);
  Tensor smooth = (-spread.sum(IntArrayRef(class_dim(self)))).masked_fill(ignored, 0.0);
  if (reduction == Reduction::Sum) {
    smooth = smooth.sum();
  } else if (reduction == Reduction::Mean) {
    // The same divisor as the class numbers' own loss has.
    if (is_given(weight)) {
      const Tensor chosen = target.masked_fill(ignored, 0).reshape({-1});
      const Tensor total =
          weight->index_select(0, chosen).masked_fill(ignored.reshape({-1}), 0.0).sum();
      smooth = smooth.sum() / total;
    } else {
      const Tensor counted = static_cast<double>(target.numel()) - ignored.sum();
      smooth = smooth.sum() / counted.to(smooth.scalar_type());
    }
  }
  const double classes = static_cast<double>(self.sizes()[class_dim(self)]);
  return loss * (1 - label_smoothing) + smooth * (label_smoothing / classes);
}

namespace {

// Minus the sum over classes of target * log_probabilities, for targets that are probabilities.
Tensor cross_entropy_of_probabilities(const Tensor& self, const Tensor& target,
                                      const std::optional<Tensor>& weight, int64_t reduction,
                                      double label_smoothing) {
  const int64_t dim = class_dim(self);
  const int64_t classes = self.sizes()[dim];
  const Tensor log_probabilities = at::log_softmax(self, dim);
  Tensor wanted = target;
  if (label_smoothing > 0) {
    wanted = wanted * (1 - label_smoothing) + label_smoothing / static_cast<double>(classes);
  }
  Tensor product = log_probabilities * wanted;
  if (is_given(weight)) {
    product = product * along_classes(*weight, self);
  }
  const Tensor losses = -product.sum(IntArrayRef(dim));
  if (reduction == Reduction::Sum) return losses.sum();
  if (reduction == Reduction::None) return losses;
  // The mean over places, whatever the weights are.
  return losses.sum() / static_cast<double>(self.numel() / std::max<int64_t>(1, classes));
}

}  // namespace

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  check_logits(self, label_smoothing);
  if (self.sizes() == target.sizes()) {
    OPLOOM_CHECK(target.is_floating_point(),
                 "cross_entropy_loss(): expected target of the input's shape ", self.sizes(),
                 " to hold probabilities of a floating-point dtype, got ", target.scalar_type());
    OPLOOM_CHECK(ignore_index < 0,
                 "cross_entropy_loss(): ignore_index goes with class numbers, not probabilities");
    return cross_entropy_of_probabilities(self, target, weight, reduction, label_smoothing);
  }
  OPLOOM_CHECK(!target.is_floating_point(),
               "cross_entropy_loss(): expected target to hold class "
               "numbers of dtype int64, or probabilities in the input's shape ",
               self.sizes(), ", got ", target.scalar_type(), " of shape ", target.sizes());
  if (label_smoothing > 0 && is_given(weight)) {
    return at::_smoothed_nll_loss(at::log_softmax(self, class_dim(self)), target, weight, reduction,
                                  ignore_index, label_smoothing);
  }
  return std::get<0>(
      at::_softmax_cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing));
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/CrossEntropy.h>
