// Losses: nll_loss for any number of dimensions, cross_entropy_loss, and their gradients.
#include <aten/core/Dispatch.h>
#include <aten/core/Empty.h>
#include <aten/core/Parallel.h>
#include <aten/core/Reduction.h>
#include <aten/native/LossUtils.h>
#include <aten/native/ShapeUtils.h>
#include <generated/native/cross_entropy_loss.h>
#include <generated/native/nll_loss.h>
#include <generated/native/nll_loss2d.h>
#include <generated/native/nll_loss2d_backward.h>
#include <generated/native/nll_loss2d_forward.h>
#include <generated/native/nll_loss_backward.h>
#include <generated/native/nll_loss_forward.h>
#include <generated/native/nll_loss_nd.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/add.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/div.h>
#include <generated/ops/eq.h>
#include <generated/ops/gather.h>
#include <generated/ops/index_select.h>
#include <generated/ops/log_softmax.h>
#include <generated/ops/masked_fill.h>
#include <generated/ops/mul.h>
#include <generated/ops/neg.h>
#include <generated/ops/nll_loss.h>
#include <generated/ops/nll_loss2d.h>
#include <generated/ops/nll_loss2d_forward.h>
#include <generated/ops/nll_loss_forward.h>
#include <generated/ops/nll_loss_nd.h>
#include <generated/ops/reshape.h>
#include <generated/ops/sub.h>
#include <generated/ops/sum.h>
#include <generated/ops/to.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zero.h>

#include <algorithm>
#include <functional>

namespace at::inline oploom_v1::meta {

namespace {

// Checks the arguments of nll_loss for `self` of these sizes, whose dimension 1 (0 if it is the
// only one) is that of the classes; `shape` is what target must have.
void check_nll(const char* op, const Tensor& self, const Tensor& target,
               const std::optional<Tensor>& weight, int64_t reduction, IntArrayRef shape) {
  native::check_reduction(op, reduction);
  OPLOOM_CHECK(self.is_floating_point(), op, "(): expected input of a floating-point dtype, got ",
               self.scalar_type());
  OPLOOM_CHECK(target.scalar_type() == kLong || target.scalar_type() == kByte, op,
               "(): expected target of dtype int64 or uint8, got ", target.scalar_type());
  OPLOOM_CHECK(target.sizes() == shape, op, "(): expected target of shape ", shape,
               " for input of shape ", self.sizes(), ", got ", target.sizes());
  if (!weight.has_value() || !weight->defined()) return;
  const int64_t classes = self.dim() == 1 ? self.sizes()[0] : self.sizes()[1];
  OPLOOM_CHECK(weight->dim() == 1 && weight->numel() == classes, op,
               "(): expected weight of shape [", classes, "], one for each class, got ",
               weight->sizes());
  OPLOOM_CHECK(weight->scalar_type() == self.scalar_type(), op,
               "(): expected weight of the input's dtype ", self.scalar_type(), ", got ",
               weight->scalar_type());
}

// The shape of the target: the input's without the classes.
DimVector target_shape(const Tensor& self) {
  DimVector shape(self.sizes());
  if (shape.size() == 1) {
    shape.clear();
  } else {
    shape.erase(shape.begin() + 1);
  }
  return shape;
}

// 0-dim and [1] targets go with 1-dim input.
DimVector target_shape_for(const Tensor& self, const Tensor& target) {
  if (self.dim() == 1 && target.dim() == 1) return {1};
  return target_shape(self);
}

void declare_nll(impl::MetaBase& meta, const char* op, const Tensor& self, const Tensor& target,
                 const std::optional<Tensor>& weight, int64_t reduction) {
  check_nll(op, self, target, weight, reduction, target_shape_for(self, target));
  // Without reduction there is a loss for each target; a single row gives a single loss.
  DimVector shape;
  if (reduction == Reduction::None) shape = target_shape(self);
  meta.set_output_contiguous(0, shape, self.options());
  meta.set_output_contiguous(1, {}, self.options());
}

void declare_nll_backward(impl::MetaBase& meta, const char* op, const Tensor& grad_output,
                          const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          const Tensor& total_weight) {
  check_nll(op, self, target, weight, reduction, target_shape_for(self, target));
  DimVector shape;
  if (reduction == Reduction::None) shape = target_shape(self);
  OPLOOM_CHECK(grad_output.numel() == c10::checked_numel(shape) &&
                   (grad_output.sizes() == IntArrayRef(shape) || shape.empty()),
               op, "(): expected grad_output of shape ", shape, ", got ", grad_output.sizes());
  OPLOOM_CHECK(grad_output.scalar_type() == self.scalar_type(), op,
               "(): expected grad_output of the input's dtype ", self.scalar_type(), ", got ",
               grad_output.scalar_type());
  OPLOOM_CHECK(total_weight.numel() == 1, op,
               "(): expected total_weight of one element, got shape ", total_weight.sizes());
  meta.set_output_contiguous(0, self.sizes(), self.options());
}

void check_dims(const char* op, const Tensor& self, bool images) {
  OPLOOM_CHECK(images ? self.dim() == 4 : self.dim() == 1 || self.dim() == 2, op,
               images ? "(): expected input of shape [n, classes, h, w], got "
                      : "(): expected input of shape [classes] or [n, classes], got ",
               self.sizes());
}

}  // namespace

OPLOOM_META_FUNC(nll_loss_forward)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t) {
  check_dims("nll_loss", self, false);
  declare_nll(*this, "nll_loss", self, target, weight, reduction);
}
OPLOOM_META_FUNC(nll_loss2d_forward)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t) {
  check_dims("nll_loss2d", self, true);
  declare_nll(*this, "nll_loss2d", self, target, weight, reduction);
}
OPLOOM_META_FUNC(nll_loss_backward)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t, const Tensor& total_weight) {
  check_dims("nll_loss_backward", self, false);
  declare_nll_backward(*this, "nll_loss_backward", grad_output, self, target, weight, reduction,
                       total_weight);
}
OPLOOM_META_FUNC(nll_loss2d_backward)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t, const Tensor& total_weight) {
  check_dims("nll_loss2d_backward", self, true);
  declare_nll_backward(*this, "nll_loss2d_backward", grad_output, self, target, weight, reduction,
                       total_weight);
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

namespace {

// Note [Layout of nll_loss]
// The input is contiguous, [n, classes, places]; one row or one image has places of its own. There
// is one target for each n and place. The classes of one place lie `places` apart.
class NllTargets {
 public:
  NllTargets(const char* op, const Tensor& self, const Tensor& target, int64_t ignore_index)
      : op_(op),
        targets_(target.to(kLong).contiguous()),
        data_(targets_.const_data_ptr<int64_t>()),
        classes_(self.sizes()[self.dim() == 1 ? 0 : 1]),
        ignore_index_(ignore_index) {
    for (int64_t d = 2; d < self.dim(); ++d) places_ *= self.sizes()[d];
  }

  int64_t count() const { return targets_.numel(); }

  // Calls counts(i, the class, the offset of its element) or is_ignored(i) for the targets from
  // begin to end. False at one that is neither a class nor ignored.
  template <typename Counts, typename IsIgnored>
  bool for_each(int64_t begin, int64_t end, const Counts& counts,
                const IsIgnored& is_ignored) const {
    const int64_t *const data = data_, classes = classes_, places = places_,
                         ignore_index = ignore_index_;
    int64_t place = begin % places;
    int64_t first_class = begin / places * classes * places + place;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t target = data[i];
      if (target == ignore_index) {
        is_ignored(i);
      } else if (is_class(target)) {
        counts(i, target, first_class + target * places);
      } else {
        return false;
      }
      ++first_class;
      if (++place == places) {
        place = 0;
        first_class += (classes - 1) * places;
      }
    }
    return true;
  }

  // Throws at the first that is neither.
  void check() const {
    for (int64_t i = 0; i < count(); ++i) {
      OPLOOM_CHECK_INDEX(is_class(data_[i]) || data_[i] == ignore_index_, op_,
                         "(): expected every target in [0, ", classes_ - 1, "] or ignore_index ",
                         ignore_index_, ", got ", data_[i], " at position ", i);
    }
  }

 private:
  bool is_class(int64_t target) const {
    return static_cast<uint64_t>(target) < static_cast<uint64_t>(classes_);
  }

  const char* op_;
  Tensor targets_;
  const int64_t* data_;
  int64_t classes_;
  int64_t places_ = 1;
  int64_t ignore_index_;
};

Tensor contiguous_weight(const std::optional<Tensor>& weight) {
  return weight.has_value() && weight->defined() ? weight->contiguous() : Tensor();
}

// Sums over targets, as double, in a fixed order whatever the number of threads.
struct NllSums {
  double loss = 0, weight = 0;
};

template <typename T>
NllSums sum_losses(const NllTargets& targets, const T* input, const T* weights) {
  constexpr int64_t kPart = 4096;
  const int64_t count = targets.count();
  c10::SmallVector<NllSums, 16> parts((count + kPart - 1) / kPart);
  const auto sum_parts = [&](int64_t begin, int64_t end, bool all) {
    for (int64_t part = begin; part < end && all; ++part) {
      double loss = 0, weight = 0;
      const auto add = [&](int64_t, int64_t target, int64_t offset) {
        const double scale = weights == nullptr ? 1.0 : static_cast<double>(weights[target]);
        loss -= scale * static_cast<double>(input[offset]);
        weight += scale;
      };
      const int64_t first = part * kPart;
      all = targets.for_each(first, std::min(first + kPart, count), add, [](int64_t) {});
      parts[part] = {loss, weight};
    }
    return all;
  };
  const bool all = at::parallel_reduce(0, static_cast<int64_t>(parts.size()), grain_for(kPart),
                                       true, sum_parts, std::logical_and<>());
  if (!all) targets.check();
  NllSums sums;
  for (const NllSums& part : parts) {
    sums.loss += part.loss;
    sums.weight += part.weight;
  }
  return sums;
}

// Calls set(i, the class, the offset of its element) or is_ignored(i) for all targets, on several
// threads. Throws if one is wrong, when others have been set: a given output has its targets
// checked before.
template <typename Set, typename IsIgnored>
void set_for_each(const NllTargets& targets, const Set& set, const IsIgnored& is_ignored) {
  const auto run = [&](int64_t begin, int64_t end, bool) {
    return targets.for_each(begin, end, set, is_ignored);
  };
  if (!at::parallel_reduce(0, targets.count(), grain_for(1), true, run, std::logical_and<>())) {
    targets.check();
  }
}

void nll_forward(const char* op, const Tensor& self, const Tensor& target,
                 const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
                 bool fresh, const Tensor& output, const Tensor& total_weight) {
  const Tensor input = self.contiguous();
  const Tensor weights = contiguous_weight(weight);
  const NllTargets targets(op, self, target, ignore_index);
  OPLOOM_DISPATCH(self.scalar_type(), op, (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    const auto* x = input.const_data_ptr<scalar_t>();
    const auto* w = weights.defined() ? weights.const_data_ptr<scalar_t>() : nullptr;
    if (reduction == Reduction::None) {
      auto* out = output.mutable_data_ptr<scalar_t>();
      if (!fresh) targets.check();
      set_for_each(
          targets,
          [&](int64_t i, int64_t class_number, int64_t offset) {
            const Wide scale = w == nullptr ? Wide(1) : static_cast<Wide>(w[class_number]);
            out[i] = static_cast<scalar_t>(-scale * static_cast<Wide>(x[offset]));
          },
          [&](int64_t i) { out[i] = scalar_t(0); });
      *total_weight.mutable_data_ptr<scalar_t>() = scalar_t(0);
      return;
    }
    const NllSums sums = sum_losses(targets, x, w);
    // Without any target that counts, the mean is 0 / 0.
    *output.mutable_data_ptr<scalar_t>() =
        static_cast<scalar_t>(reduction == Reduction::Mean ? sums.loss / sums.weight : sums.loss);
    *total_weight.mutable_data_ptr<scalar_t>() = static_cast<scalar_t>(sums.weight);
  });
}

void nll_backward(const char* op, const Tensor& grad_output, const Tensor& self,
                  const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
                  int64_t ignore_index, const Tensor& total_weight, bool fresh,
                  const Tensor& grad_input) {
  const Tensor grad = grad_output.contiguous();
  const Tensor weights = contiguous_weight(weight);
  const NllTargets targets(op, self, target, ignore_index);
  if (!fresh) targets.check();
  Tensor(grad_input).zero_();
  OPLOOM_DISPATCH(self.scalar_type(), op, (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using Wide = c10::opmath_type<scalar_t>;
    const auto* g = grad.const_data_ptr<scalar_t>();
    const auto* w = weights.defined() ? weights.const_data_ptr<scalar_t>() : nullptr;
    auto* out = grad_input.mutable_data_ptr<scalar_t>();
    const Wide divisor = reduction == Reduction::Mean
                             ? static_cast<Wide>(*total_weight.const_data_ptr<scalar_t>())
                             : Wide(1);
    set_for_each(
        targets,
        [&](int64_t i, int64_t class_number, int64_t offset) {
          const Wide scale = w == nullptr ? Wide(1) : static_cast<Wide>(w[class_number]);
          const Wide incoming = static_cast<Wide>(g[reduction == Reduction::None ? i : 0]);
          out[offset] = static_cast<scalar_t>(-scale * incoming / divisor);
        },
        [](int64_t) {});
  });
}

}  // namespace

OPLOOM_IMPL_FUNC(nll_loss_forward_out)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index, const Tensor& output, const Tensor& total_weight) {
  nll_forward("nll_loss", self, target, weight, reduction, ignore_index, has_fresh_outputs(),
              output, total_weight);
}
OPLOOM_IMPL_FUNC(nll_loss2d_forward_out)
(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction,
 int64_t ignore_index, const Tensor& output, const Tensor& total_weight) {
  nll_forward("nll_loss2d", self, target, weight, reduction, ignore_index, has_fresh_outputs(),
              output, total_weight);
}
OPLOOM_IMPL_FUNC(nll_loss_backward_out)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
 const Tensor& total_weight, const Tensor& grad_input) {
  nll_backward("nll_loss_backward", grad_output, self, target, weight, reduction, ignore_index,
               total_weight, has_fresh_outputs(), grad_input);
}
OPLOOM_IMPL_FUNC(nll_loss2d_backward_out)
(const Tensor& grad_output, const Tensor& self, const Tensor& target,
 const std::optional<Tensor>& weight, int64_t reduction, int64_t ignore_index,
 const Tensor& total_weight, const Tensor& grad_input) {
  nll_backward("nll_loss2d_backward", grad_output, self, target, weight, reduction, ignore_index,
               total_weight, has_fresh_outputs(), grad_input);
}

Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                int64_t reduction, int64_t ignore_index) {
  return std::get<0>(at::nll_loss_forward(self, target, weight, reduction, ignore_index));
}
Tensor nll_loss2d(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                  int64_t reduction, int64_t ignore_index) {
  return std::get<0>(at::nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}

Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                   int64_t reduction, int64_t ignore_index) {
  OPLOOM_CHECK(self.dim() >= 1,
               "nll_loss(): expected input of at least one dimension, got a 0-dim tensor");
  if (self.dim() <= 2) return at::nll_loss(self, target, weight, reduction, ignore_index);
  if (self.dim() == 4) return at::nll_loss2d(self, target, weight, reduction, ignore_index);
  // Other shapes become images of one row.
  DimVector shape(self.sizes());
  shape.erase(shape.begin() + 1);
  OPLOOM_CHECK(target.sizes() == IntArrayRef(shape), "nll_loss(): expected target of shape ", shape,
               " for input of shape ", self.sizes(), ", got ", target.sizes());
  int64_t places = 1;
  for (int64_t d = 2; d < self.dim(); ++d) places *= self.sizes()[d];
  const int64_t n = self.sizes()[0];
  const Tensor loss =
      at::nll_loss2d(self.reshape({n, self.sizes()[1], 1, places}), target.reshape({n, 1, places}),
                     weight, reduction, ignore_index);
  return reduction == Reduction::None ? loss.reshape(shape) : loss;
}

namespace {

// Minus the sum over classes of target * log_probabilities, for targets that are probabilities.
Tensor cross_entropy_of_probabilities(const Tensor& self, const Tensor& target,
                                      const std::optional<Tensor>& weight, int64_t reduction,
                                      double label_smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const int64_t classes = self.sizes()[class_dim];
  const Tensor log_probabilities = at::log_softmax(self, class_dim, self.scalar_type());
  Tensor wanted = target;
  if (label_smoothing > 0) {
    wanted = wanted * (1 - label_smoothing) + label_smoothing / static_cast<double>(classes);
  }
  Tensor product = log_probabilities * wanted;
  if (weight.has_value() && weight->defined()) {
    DimVector shape(static_cast<size_t>(self.dim()), 1);
    shape[class_dim] = classes;
    product = product * weight->reshape(shape);
  }
  const Tensor losses = -product.sum(IntArrayRef(class_dim));
  if (reduction == Reduction::Sum) return losses.sum();
  if (reduction == Reduction::None) return losses;
  // The mean over places, whatever the weights are.
  return losses.sum() / static_cast<double>(self.numel() / std::max<int64_t>(1, classes));
}

// Class numbers, with part of the probability spread over all classes.
Tensor smoothed_cross_entropy(const Tensor& self, const Tensor& target,
                              const std::optional<Tensor>& weight, int64_t reduction,
                              int64_t ignore_index, double label_smoothing) {
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const int64_t classes = self.sizes()[class_dim];
  const bool weighted = weight.has_value() && weight->defined();
  const Tensor log_probabilities = at::log_softmax(self, class_dim, self.scalar_type());
  const Tensor loss = at::nll_loss_nd(log_probabilities, target, weight, reduction, ignore_index);
  Tensor spread = log_probabilities;
  if (weighted) {
    DimVector shape(static_cast<size_t>(self.dim()), 1);
    shape[class_dim] = classes;
    spread = spread * weight->reshape(shape);
  }
  const Tensor ignored = at::eq(target, ignore_index);
  Tensor smooth = (-spread.sum(IntArrayRef(class_dim))).masked_fill(ignored, 0.0);
  if (reduction == Reduction::Sum) {
    smooth = smooth.sum();
  } else if (reduction == Reduction::Mean) {
    // The same divisor as the class numbers' own loss has.
    if (weighted) {
      const Tensor chosen = target.masked_fill(ignored, 0).reshape({-1});
      const Tensor total =
          weight->index_select(0, chosen).masked_fill(ignored.reshape({-1}), 0.0).sum();
      smooth = smooth.sum() / total;
    } else {
      const Tensor counted = static_cast<double>(target.numel()) - ignored.sum();
      smooth = smooth.sum() / counted.to(smooth.scalar_type());
    }
  }
  return loss * (1 - label_smoothing) + smooth * (label_smoothing / static_cast<double>(classes));
}

}  // namespace

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  OPLOOM_CHECK(
      self.dim() >= 1,
      "cross_entropy_loss(): expected input of at least one dimension, got a 0-dim tensor");
  OPLOOM_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
               "cross_entropy_loss(): expected label_smoothing in [0, 1], got ", label_smoothing);
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
  if (label_smoothing > 0) {
    return smoothed_cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing);
  }
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  return at::nll_loss_nd(at::log_softmax(self, class_dim, self.scalar_type()), target, weight,
                         reduction, ignore_index);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Loss.h>
