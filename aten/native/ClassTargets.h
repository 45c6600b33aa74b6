// Targets that are class numbers, of nll_loss and cross_entropy_loss.
#pragma once

#include <aten/core/Parallel.h>
#include <aten/native/LossUtils.h>
#include <aten/native/ShapeUtils.h>
#include <c10/util/Exception.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/to.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>

namespace at::inline oploom_v1::native {

// The dimension of the classes.
inline int64_t class_dim(const Tensor& self) { return self.dim() == 1 ? 0 : 1; }

// The shape of the target: the input's without the classes.
inline DimVector target_shape(const Tensor& self) {
  DimVector shape(self.sizes());
  shape.erase(shape.begin() + class_dim(self));
  return shape;
}

// Checks `self` of at least one dimension, the class numbers `target` and the weights of classes.
inline void check_class_targets(const char* op, const Tensor& self, const Tensor& target,
                                const std::optional<Tensor>& weight, int64_t reduction) {
  check_reduction(op, reduction);
  OPLOOM_CHECK(self.is_floating_point(), op, "(): expected input of a floating-point dtype, got ",
               self.scalar_type());
  OPLOOM_CHECK(target.scalar_type() == kLong || target.scalar_type() == kByte, op,
               "(): expected target of dtype int64 or uint8, got ", target.scalar_type());
  // 0-dim and [1] targets go with 1-dim input.
  const DimVector shape = self.dim() == 1 && target.dim() == 1 ? DimVector{1} : target_shape(self);
  OPLOOM_CHECK(target.sizes() == IntArrayRef(shape), op, "(): expected target of shape ", shape,
               " for input of shape ", self.sizes(), ", got ", target.sizes());
  if (!weight.has_value() || !weight->defined()) return;
  const int64_t classes = self.sizes()[class_dim(self)];
  OPLOOM_CHECK(weight->dim() == 1 && weight->numel() == classes, op,
               "(): expected weight of shape [", classes, "], one for each class, got ",
               weight->sizes());
  OPLOOM_CHECK(weight->scalar_type() == self.scalar_type(), op,
               "(): expected weight of the input's dtype ", self.scalar_type(), ", got ",
               weight->scalar_type());
}

// Note [Class targets]
// The input is contiguous and seen as [outer, classes, inner]. There is one target for each outer
// and inner place. The classes of one place lie `inner` apart.
class ClassTargets {
 public:
  ClassTargets(const char* op, const Tensor& target, int64_t classes, int64_t inner,
               int64_t ignore_index)
      : op_(op),
        targets_(target.to(kLong).contiguous()),
        data_(targets_.const_data_ptr<int64_t>()),
        classes_(classes),
        inner_(inner),
        ignore_index_(ignore_index) {}

  int64_t count() const { return targets_.numel(); }

  // Calls counts(i, the class, the offset of its element) or is_ignored(i) for the targets from
  // begin to end. False at one that is neither a class nor ignored.
  template <typename Counts, typename IsIgnored>
  bool for_each(int64_t begin, int64_t end, const Counts& counts,
                const IsIgnored& is_ignored) const {
    const int64_t *const data = data_, classes = classes_, inner = inner_,
                         ignore_index = ignore_index_;
    int64_t place = begin % inner;
    int64_t first_class = begin / inner * classes * inner + place;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t target = data[i];
      if (target == ignore_index) {
        is_ignored(i);
      } else if (is_class(target)) {
        counts(i, target, first_class + target * inner);
      } else {
        return false;
      }
      ++first_class;
      if (++place == inner) {
        place = 0;
        first_class += (classes - 1) * inner;
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
  int64_t inner_;
  int64_t ignore_index_;
};

inline Tensor contiguous_weight(const std::optional<Tensor>& weight) {
  return is_given(weight) ? weight->contiguous() : Tensor();
}

// Sums over targets, as double, in a fixed order whatever the number of threads.
struct LossSums {
  double loss = 0, weight = 0;
};

// What part(begin, end) returns for runs of targets, or numbers, is added up.
template <typename Part>
LossSums sum_parts(int64_t count, const Part& part) {
  constexpr int64_t kPart = 4096;
  c10::SmallVector<LossSums, 16> parts((count + kPart - 1) / kPart);
  at::parallel_for(0, static_cast<int64_t>(parts.size()), grain_for(kPart),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       parts[i] = part(i * kPart, std::min((i + 1) * kPart, count));
                     }
                   });
  LossSums sums;
  for (const LossSums& one : parts) {
    sums.loss += one.loss;
    sums.weight += one.weight;
  }
  return sums;
}

// Of loss_of(i, the offset of the class's element) and the class's weight, where null is 1; the
// loss is multiplied by it. Throws if a target is wrong.
template <typename T, typename Loss>
LossSums sum_losses(const ClassTargets& targets, const T* weights, const Loss& loss_of) {
  std::atomic<bool> wrong = false;
  const LossSums sums = sum_parts(targets.count(), [&](int64_t begin, int64_t end) {
    double loss = 0, weight = 0;
    const auto add = [&](int64_t i, int64_t target, int64_t offset) {
      const double scale = weights == nullptr ? 1.0 : static_cast<double>(weights[target]);
      loss += scale * static_cast<double>(loss_of(i, offset));
      weight += scale;
    };
    if (!targets.for_each(begin, end, add, [](int64_t) {})) wrong = true;
    return LossSums{loss, weight};
  });
  if (wrong) targets.check();
  return sums;
}

// Of the n numbers alone.
template <typename T>
double sum_of(const T* numbers, int64_t n) {
  return sum_parts(n,
                   [numbers](int64_t begin, int64_t end) {
                     double sum[4] = {};
                     int64_t i = begin;
                     for (; i + 4 <= end; i += 4) {
                       for (int64_t k = 0; k < 4; ++k)
                         sum[k] += static_cast<double>(numbers[i + k]);
                     }
                     for (; i < end; ++i) sum[0] += static_cast<double>(numbers[i]);
                     return LossSums{(sum[0] + sum[1]) + (sum[2] + sum[3]), 0};
                   })
      .loss;
}

// Calls set(i, the class, the offset of its element) or is_ignored(i) for all targets, on several
// threads. Throws if one is wrong, when others have been set: a given output has its targets
// checked before.
template <typename Set, typename IsIgnored>
void set_for_each(const ClassTargets& targets, const Set& set, const IsIgnored& is_ignored) {
  const auto run = [&](int64_t begin, int64_t end, bool) {
    return targets.for_each(begin, end, set, is_ignored);
  };
  if (!at::parallel_reduce(0, targets.count(), grain_for(1), true, run, std::logical_and<>())) {
    targets.check();
  }
}

}  // namespace at::inline oploom_v1::native
