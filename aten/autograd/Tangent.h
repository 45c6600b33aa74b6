// TangentSlot: where a tensor keeps its tangent while a dual level is open. See ForwardAD.h.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/util/intrusive_ptr.h>
#include <generated/ops/Tensor.h>

#include <memory>

namespace at::inline oploom_v1::autograd {

class TangentLevel;

// Shared by all that stand for one value: a result, and what a node saves of it for its backward
// pass, which is made before the tangent is known. Empty before the tangent is set and after the
// level was left.
class OPLOOM_API TangentSlot final : public c10::intrusive_ptr_target {
 public:
  TangentSlot() = default;
  ~TangentSlot() override;

  // Puts a tangent in, for as long as `level` is open.
  void set(const std::shared_ptr<TangentLevel>& level, Tensor tangent);
  bool empty() const { return !tangent_.defined(); }
  const Tensor& tangent() const { return tangent_; }
  const TangentLevel* level() const { return level_.get(); }

 private:
  friend class TangentLevel;
  std::shared_ptr<TangentLevel> level_;
  Tensor tangent_;
};

}  // namespace at::inline oploom_v1::autograd
