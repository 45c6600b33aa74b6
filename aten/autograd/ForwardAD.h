// Forward mode: derivatives along a direction, computed beside the values. A tensor that has a
// tangent is a dual; the operators compute the tangents of their results with the forward formulas
// of derivatives.yaml.
//
//   forward_ad::DualLevel level;
//   Tensor x = forward_ad::make_dual(point, direction);
//   auto [value, derivative] = forward_ad::unpack_dual(f(x));
#pragma once

#include <aten/autograd/AutogradMeta.h>
#include <c10/util/ArrayRef.h>

#include <optional>
#include <utility>
#include <vector>

namespace at::inline oploom_v1::autograd::forward_ad {

// Note [Tangents]
// Tangents exist while a dual level is open, one at a time in a thread, and end with it. A kernel
// of generated/autograd asks is_on(); where no level is open that is all that forward mode costs.
// If an argument has a tangent the call goes to the operator's `_dual` function, which runs the
// operator, recording included, and computes the tangent of the result with forward mode paused:
// formulas see values alone, and the tangents are recorded like anything else, so that a gradient
// can be taken of them. The reverse, tangents of gradients, needs no more than that backward
// formulas are made of operators, and that a saved tensor keeps its tangent: it shares the slot
// (Tangent.h).
//
// A tangent is laid out in memory like its tensor. So the tangent of a view can be a view of the
// tangent: either made with the view, or, where the tensor got a tangent later through a change in
// place, when it is asked for, by replaying the view on the tangent of the base. A change in place
// of a dual changes its tangent in place, and whoever looks at the same memory sees both.

// A level for a scope. Throws where one is open already.
class OPLOOM_API DualLevel {
 public:
  DualLevel();
  ~DualLevel();
  DualLevel(const DualLevel&) = delete;
  DualLevel& operator=(const DualLevel&) = delete;
};
// The same for those who cannot use a scope.
OPLOOM_API void enter_dual_level();
OPLOOM_API void exit_dual_level();

// An alias of `primal`, history included, with that tangent. In-place changes of the result change
// the tangent given here.
OPLOOM_API Tensor make_dual(const Tensor& primal, const Tensor& tangent);

struct UnpackedDual {
  Tensor primal;   // an alias without tangent
  Tensor tangent;  // undefined where there is none
};
OPLOOM_API UnpackedDual unpack_dual(const Tensor& tensor);

// ---- For generated kernels ----

// Whether a level is open and not paused.
extern OPLOOM_API constinit thread_local bool tls_forward_on OPLOOM_TLS_INITIAL_EXEC;
OPLOOM_ALWAYS_INLINE bool is_on() { return OPLOOM_UNLIKELY(tls_forward_on); }

// Computes without looking at tangents.
class Pause {
 public:
  Pause() : saved_(std::exchange(tls_forward_on, false)) {}
  ~Pause() { tls_forward_on = saved_; }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  bool saved_;
};

// Undefined where there is none.
OPLOOM_API Tensor tangent_of(const Tensor& tensor);
inline Tensor tangent_of(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? tangent_of(*tensor) : Tensor();
}
// Zeros where there is none, for formulas that need all of them; undefined for no tensor.
OPLOOM_API Tensor tangent_or_zeros(const Tensor& tensor);
inline Tensor tangent_or_zeros(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? tangent_or_zeros(*tensor) : Tensor();
}
OPLOOM_API std::vector<Tensor> tangent_or_zeros(TensorList tensors);

OPLOOM_API bool has_tangent(const Tensor& tensor);
inline bool has_tangent(const std::optional<Tensor>& tensor) {
  return tensor.has_value() && has_tangent(*tensor);
}
OPLOOM_API bool has_tangent(TensorList tensors);
OPLOOM_API bool has_tangent(OptionalTensorList tensors);
template <class... Args>
bool any_tangent(const Args&... args) {
  return (has_tangent(args) || ...);
}

// Adds a term to a sum of tangents, which may be undefined before.
OPLOOM_API void add_term(Tensor& sum, Tensor term);

// Gives the result of an operator its tangent: in the result's shape, dtype and layout, and in
// memory of its own.
OPLOOM_API void set_tangent(const Tensor& result, Tensor&& tangent);
// The same for a view, whose tangent is a view of the tangent of what it is a view of.
OPLOOM_API void set_view_tangent(const Tensor& view, Tensor&& tangent);
OPLOOM_API void set_view_tangent(TensorList views, std::vector<Tensor>&& tangents);
// `self` was changed in place, and its tangent with it; an undefined one is zero.
OPLOOM_API void update_tangent(const Tensor& self, const Tensor& tangent);
// `self` has got another shape or other strides.
OPLOOM_API void reshape_tangent(const Tensor& self, Tensor&& tangent);

// For operators without a forward formula, and for out= forms.
[[noreturn]] OPLOOM_API void throw_no_formula(const char* name);

// ---- For the recording ----

// Makes `copy` stand for the same value as `tensor`: it has the tangent that `tensor` has or gets.
OPLOOM_API void share_tangent(const Tensor& tensor, const Tensor& copy);
// Whether a level is open, paused or not.
OPLOOM_API bool level_is_open();

}  // namespace at::inline oploom_v1::autograd::forward_ad
