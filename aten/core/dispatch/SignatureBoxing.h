// How the arguments and results of a signature get on a stack and off it: the definitions of
// SignatureBoxing. Included by generated/dispatch/Boxing.cpp and its like, which instantiate each
// signature once.
#pragma once

#include <aten/core/dispatch/Boxing.h>
#include <aten/core/ivalue.h>
#include <generated/ops/Tensor.h>

#include <tuple>

namespace at::inline oploom_v1 {

namespace detail {

template <class T>
concept IntegerLike = std::is_enum_v<T> || std::is_same_v<T, int64_t>;

// ---- typed to boxed ----

inline IValue box(const TensorBase& tensor) { return IValue(TensorBase(tensor)); }
inline IValue box(bool value) { return IValue(value); }
inline IValue box(double value) { return IValue(value); }
inline IValue box(const Scalar& value) { return IValue(value); }
inline IValue box(std::string_view value) { return IValue(std::string(value)); }
inline IValue box(Device value) { return IValue(value); }
inline IValue box(const Generator& value) { return IValue(value); }
template <IntegerLike T>
IValue box(T value) {
  return IValue(static_cast<int64_t>(value));
}
inline IValue box(IntArrayRef values) {
  return IValue(std::vector<int64_t>(values.begin(), values.end()));
}
inline IValue box(ArrayRef<double> values) {
  return IValue(std::vector<double>(values.begin(), values.end()));
}
inline IValue box(ArrayRef<Scalar> values) {
  return IValue(std::vector<Scalar>(values.begin(), values.end()));
}
inline IValue box(TensorList tensors) {
  return IValue(std::vector<TensorBase>(tensors.begin(), tensors.end()));
}
inline IValue box(const std::vector<Tensor>& tensors) { return box(TensorList(tensors)); }
inline IValue box(OptionalTensorList tensors) {
  return IValue(IValue::OptionalTensors(tensors.begin(), tensors.end()));
}
template <size_t N>
IValue box(const std::array<bool, N>& values) {
  return IValue(std::vector<bool>(values.begin(), values.end()));
}
template <class T>
IValue box(const std::optional<T>& value) {
  return value.has_value() ? box(*value) : IValue();
}
template <class T>
IValue box(const OptionalArrayRef<T>& values) {
  return values.has_value() ? box(*values) : IValue();
}

// ---- boxed to typed: Unboxed<T> keeps what the argument refers to ----

template <class T>
struct Unboxed;

template <>
struct Unboxed<Tensor> {
  explicit Unboxed(const IValue& v) : value(v.is_none() ? Tensor() : Tensor(v.to_tensor())) {}
  Tensor& get() { return value; }
  Tensor value;
};
template <IntegerLike T>
struct Unboxed<T> {
  explicit Unboxed(const IValue& v) : value(static_cast<T>(v.to_int())) {}
  T get() { return value; }
  T value;
};
template <>
struct Unboxed<bool> {
  explicit Unboxed(const IValue& v) : value(v.to_bool()) {}
  bool get() { return value; }
  bool value;
};
template <>
struct Unboxed<double> {
  explicit Unboxed(const IValue& v) : value(v.to_double()) {}
  double get() { return value; }
  double value;
};
template <>
struct Unboxed<Scalar> {
  explicit Unboxed(const IValue& v) : value(v.to_scalar()) {}
  const Scalar& get() { return value; }
  Scalar value;
};
template <>
struct Unboxed<std::string_view> {
  explicit Unboxed(const IValue& v) : value(v.get<std::string>()) {}
  std::string_view get() { return value; }
  std::string value;
};
template <class T>
struct UnboxedCopy {
  explicit UnboxedCopy(const IValue& v) : value(v.get<T>()) {}
  const T& get() { return value; }
  T value;
};
template <>
struct Unboxed<Device> : UnboxedCopy<Device> {
  using UnboxedCopy::UnboxedCopy;
};
template <>
struct Unboxed<Generator> : UnboxedCopy<Generator> {
  using UnboxedCopy::UnboxedCopy;
};
template <class T>
struct Unboxed<ArrayRef<T>> {
  explicit Unboxed(const IValue& v) : value(v.get<std::vector<T>>()) {}
  ArrayRef<T> get() { return value; }
  std::vector<T> value;
};
template <>
struct Unboxed<TensorList> {
  explicit Unboxed(const IValue& v) {
    for (const TensorBase& t : v.get<std::vector<TensorBase>>()) value.emplace_back(t);
  }
  TensorList get() { return value; }
  std::vector<Tensor> value;
};
template <>
struct Unboxed<std::vector<Tensor>> : Unboxed<TensorList> {
  using Unboxed<TensorList>::Unboxed;
  std::vector<Tensor> get() { return std::move(value); }
};
template <>
struct Unboxed<OptionalTensorList> {
  explicit Unboxed(const IValue& v) {
    for (const auto& t : v.get<IValue::OptionalTensors>()) {
      value.push_back(t ? std::optional<Tensor>(Tensor(*t)) : std::nullopt);
    }
  }
  OptionalTensorList get() { return value; }
  std::vector<std::optional<Tensor>> value;
};
template <size_t N>
struct Unboxed<std::array<bool, N>> {
  explicit Unboxed(const IValue& v) {
    const auto& bits = v.get<std::vector<bool>>();
    for (size_t i = 0; i < N && i < bits.size(); ++i) value[i] = bits[i];
  }
  std::array<bool, N> get() { return value; }
  std::array<bool, N> value{};
};
template <class T>
struct Unboxed<std::optional<T>> {
  explicit Unboxed(const IValue& v) {
    if (v.is_none()) return;
    held.emplace(v);
    value.emplace(held->get());
  }
  const std::optional<T>& get() { return value; }
  std::optional<Unboxed<T>> held;
  std::optional<T> value;
};
// An optional array keeps its own kind of optional; see OptionalArrayRef.h.
template <class T>
struct Unboxed<OptionalArrayRef<T>> {
  explicit Unboxed(const IValue& v) {
    if (!v.is_none()) held.emplace(v);
  }
  OptionalArrayRef<T> get() {
    return held ? OptionalArrayRef<T>(held->get()) : OptionalArrayRef<T>();
  }
  std::optional<Unboxed<ArrayRef<T>>> held;
};

// ---- results ----

template <class R>
struct Results {
  static void push(Stack& stack, const R& result) { stack.push_back(box(result)); }
  // The results are the last values of the stack.
  static R pop(Stack& stack) { return R(Unboxed<R>(stack.back()).get()); }
};
template <class... Rs>
struct Results<std::tuple<Rs...>> {
  static void push(Stack& stack, const std::tuple<Rs...>& results) {
    std::apply([&](const auto&... r) { (stack.push_back(box(r)), ...); }, results);
  }
  static std::tuple<Rs...> pop(Stack& stack) {
    return pop(stack, std::index_sequence_for<Rs...>());
  }
  template <size_t... I>
  static std::tuple<Rs...> pop(Stack& stack, std::index_sequence<I...>) {
    const IValue* first = stack.data() + (stack.size() - sizeof...(Rs));
    return std::tuple<Rs...>(Rs(Unboxed<Rs>(first[I]).get())...);
  }
};

// All arguments of a call, unboxed in place: what is held may refer to itself.
template <size_t I, class T>
struct Held {
  explicit Held(const IValue& v) : argument(v) {}
  Unboxed<T> argument;
};
template <class Indices, class... Ts>
struct HeldAll;
template <size_t... I, class... Ts>
struct HeldAll<std::index_sequence<I...>, Ts...> : Held<I, Ts>... {
  explicit HeldAll([[maybe_unused]] const IValue* first) : Held<I, Ts>(first[I])... {}
  HeldAll(const HeldAll&) = delete;
  template <class Function>
  decltype(auto) pass_to(const Function& function) {
    return function(static_cast<Held<I, Ts>&>(*this).argument.get()...);
  }
};

// The tensors that an operator writes, which are also what it returns.
template <class T>
constexpr bool is_written = std::is_same_v<T, Tensor&>;
template <class T>
auto written(T& argument) {
  if constexpr (is_written<T&> && !std::is_const_v<T>) {
    return std::tuple<Tensor&>(argument);
  } else {
    return std::tuple<>();
  }
}

// Whether what an operator returns are tensors that it writes to.
template <class R>
constexpr bool returns_written = std::is_same_v<R, Tensor&>;
template <class... Rs>
constexpr bool returns_written<std::tuple<Rs...>> = sizeof...(Rs) > 0 &&
                                                    (std::is_same_v<Rs, Tensor&> && ...);

// The last elements of a tuple.
template <class Tail, class All, size_t... I>
Tail tail(const All& all, std::index_sequence<I...>) {
  return Tail(std::get<std::tuple_size_v<All> - sizeof...(I) + I>(all)...);
}

}  // namespace detail

// An absent optional has no value to initialise; GCC 12 sees the copy of it and warns.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

template <class R, class... Args>
R SignatureBoxing<R(Args...)>::to_stack(const OperatorTableBase& op, DispatchKeySet keys,
                                        Args... args) {
  Stack stack;
  stack.reserve(sizeof...(Args));
  (stack.push_back(detail::box(args)), ...);
  call_fallback(op, keys, stack);
  if constexpr (std::is_void_v<R>) {
    return;
  } else if constexpr (std::is_same_v<R, Tensor&>) {
    // The self of an in-place operator comes first, an out argument last.
    const auto written = std::tuple_cat(detail::written(args)...);
    constexpr bool inplace = detail::is_written<std::tuple_element_t<0, std::tuple<Args...>>>;
    return std::get < inplace ? 0 : std::tuple_size_v<decltype(written)> - 1 > (written);
  } else if constexpr (detail::returns_written<R>) {
    return detail::tail<R>(std::tuple_cat(detail::written(args)...),
                           std::make_index_sequence<std::tuple_size_v<R>>());
  } else {
    return detail::Results<R>::pop(stack);
  }
}

template <class R, class... Args>
void SignatureBoxing<R(Args...)>::from_stack(const OperatorTableBase& op, DispatchKeySet keys,
                                             ErasedKernel function, Stack& stack) {
  OPLOOM_CHECK(stack.size() >= sizeof...(Args), op.name(), "(): expected ", sizeof...(Args),
               " arguments on the stack, got ", stack.size());
  const IValue* first = stack.data() + (stack.size() - sizeof...(Args));
  detail::HeldAll<std::index_sequence_for<Args...>, std::remove_cvref_t<Args>...> held(first);
  const auto call = [&](Args... args) -> R {
    if (function != nullptr) {
      return reinterpret_cast<R (*)(Args...)>(function)(std::forward<Args>(args)...);
    }
    return static_cast<const OperatorTable<R(Args...)>&>(op)(keys, std::forward<Args>(args)...);
  };
  if constexpr (std::is_void_v<R>) {
    held.pass_to(call);
    stack.resize(stack.size() - sizeof...(Args));
  } else {
    decltype(auto) result = held.pass_to(call);
    stack.resize(stack.size() - sizeof...(Args));
    detail::Results<std::remove_cvref_t<R>>::push(stack, result);
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace at::inline oploom_v1
