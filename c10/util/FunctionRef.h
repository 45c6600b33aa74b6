// function_ref<R(Args...)>: a reference to something callable, two words, no allocation. Like every
// reference it must not outlive what it refers to; meant for parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace c10::inline oploom_v1 {

template <typename Signature>
class function_ref;

template <typename R, typename... Args>
class function_ref<R(Args...)> {
 public:
  function_ref() = default;
  function_ref(std::nullptr_t) {}
  template <typename F,
            typename = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, function_ref> &&
                                        std::is_invocable_r_v<R, F&, Args...>>>
  function_ref(F&& callable) {
    using Callable = std::remove_reference_t<F>;
    if constexpr (std::is_function_v<Callable>) {
      object_ = reinterpret_cast<void*>(&callable);
      call_ = [](void* object, Args... args) -> R {
        return reinterpret_cast<Callable*>(object)(std::forward<Args>(args)...);
      };
    } else {
      object_ = const_cast<void*>(static_cast<const void*>(__builtin_addressof(callable)));
      call_ = [](void* object, Args... args) -> R {
        return (*static_cast<Callable*>(object))(std::forward<Args>(args)...);
      };
    }
  }

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  void* object_ = nullptr;
  R (*call_)(void*, Args...) = nullptr;
};

}  // namespace c10::inline oploom_v1
