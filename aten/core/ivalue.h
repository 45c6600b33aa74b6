// IValue: one argument or result of an operator, of any type that a schema can name.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/core/Generator.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace at::inline oploom_v1 {

// Dtypes, layouts and memory formats are held as integers. An absent optional is None. A value that
// is asked for as another type throws c10::TypeError, except that an integer can be read as a float
// and both as a Scalar.
class OPLOOM_API IValue {
 public:
  using OptionalTensors = std::vector<std::optional<TensorBase>>;
  using Value =
      std::variant<std::monostate, TensorBase, int64_t, double, bool, Scalar, std::string, Device,
                   Generator, std::vector<int64_t>, std::vector<double>, std::vector<bool>,
                   std::vector<TensorBase>, OptionalTensors, std::vector<Scalar>>;

  // The position of T in Value, or the number of alternatives.
  template <class T>
  static constexpr size_t index_of() {
    return []<class... Ts>(std::type_identity<std::variant<Ts...>>) {
      size_t index = 0;
      (void)((std::is_same_v<T, Ts> || (++index, false)) || ...);
      return index;
    }(std::type_identity<Value>());
  }

  IValue();
  // Defined out of line: operator tables use them everywhere, and inline they are large.
  IValue(const IValue& other);
  IValue(IValue&& other) noexcept;
  IValue& operator=(const IValue& other);
  IValue& operator=(IValue&& other) noexcept;
  ~IValue();

  template <class T>
  requires(index_of<std::decay_t<T>>() < std::variant_size_v<Value>) IValue(T&& value)
      : value_(std::in_place_type<std::decay_t<T>>, std::forward<T>(value)) {}
  IValue(int value) : value_(static_cast<int64_t>(value)) {}
  IValue(const char* value) : value_(std::string(value)) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }
  bool is_tensor() const { return is<TensorBase>(); }

  template <class T>
  const T& get() const {
    if (const T* held = std::get_if<T>(&value_)) return *held;
    wrong_type(index_of<T>());
  }
  template <class T>
  T& get() {
    return const_cast<T&>(std::as_const(*this).get<T>());
  }
  const TensorBase& to_tensor() const { return get<TensorBase>(); }
  int64_t to_int() const { return get<int64_t>(); }
  bool to_bool() const { return get<bool>(); }
  double to_double() const { return is<int64_t>() ? static_cast<double>(to_int()) : get<double>(); }
  Scalar to_scalar() const;

  // The kind of value, in the words of a schema: "Tensor", "int[]", "None".
  const char* type_name() const;

 private:
  [[noreturn]] void wrong_type(size_t wanted) const;

  Value value_;
};

using Stack = std::vector<IValue>;

}  // namespace at::inline oploom_v1
