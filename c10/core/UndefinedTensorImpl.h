// UndefinedTensorImpl: what an undefined tensor points to, so that its metadata can be read without
// a branch: no keys, no dimensions, no elements, no storage.
#pragma once

#include <c10/core/TensorImpl.h>
#include <c10/util/Export.h>

namespace c10::inline oploom_v1 {

struct OPLOOM_API UndefinedTensorImpl final : public TensorImpl {
 public:
  // Never counted and never destroyed by an intrusive_ptr.
  static constexpr TensorImpl* singleton() { return &singleton_; }

 private:
  UndefinedTensorImpl();
  static UndefinedTensorImpl singleton_;
};

}  // namespace c10::inline oploom_v1
