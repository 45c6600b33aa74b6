// shared_function<R(Args...)>: owns something callable, whose copies share it.
//
// In place of std::function in the headers that programs include: <functional> would be a tenth of
// what <aten/ATen.h> costs to compile.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace c10::inline oploom_v1 {

template <typename Signature>
class shared_function;

template <typename R, typename... Args>
class shared_function<R(Args...)> {
 public:
  shared_function() = default;
  shared_function(std::nullptr_t) {}
  template <typename F,
            typename = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, shared_function> &&
                                        std::is_invocable_r_v<R, std::decay_t<F>&, Args...>>>
  shared_function(F&& callable) {
    using Callable = std::decay_t<F>;
    if constexpr (std::is_pointer_v<Callable> || requires { callable.operator bool(); }) {
      if (!callable) return;  // a null pointer, an empty std::function
    }
    target_ = make_intrusive<Holder<Callable>>(std::forward<F>(callable));
  }

  R operator()(Args... args) const { return target_->call(std::forward<Args>(args)...); }
  explicit operator bool() const { return target_.defined(); }

 private:
  struct Target : intrusive_ptr_target {
    virtual R call(Args... args) = 0;
  };
  template <typename F>
  struct Holder final : Target {
    explicit Holder(const F& callable) : callable(callable) {}
    explicit Holder(F&& callable) : callable(std::move(callable)) {}
    R call(Args... args) override { return callable(std::forward<Args>(args)...); }

    F callable;
  };

  intrusive_ptr<Target> target_;
};

}  // namespace c10::inline oploom_v1
