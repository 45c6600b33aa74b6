// Library: adds kernels to operators while the program runs, and finds operators by name.
//
//   Tensor my_add(const Tensor& self, const Tensor& other, const Scalar& alpha);
//
//   OPLOOM_LIBRARY_IMPL(aten, PrivateUse1, m) {
//     m.impl("add.Tensor", OPLOOM_FN(my_add));
//     m.fallback(&to_cpu_and_back);
//   }
//
// The block runs when the shared library that holds it is loaded; when that is unloaded, the
// kernels are taken out again.
#pragma once

#include <aten/core/dispatch/OperatorTable.h>
#include <c10/core/LocalDispatchKeySet.h>

#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <vector>

namespace at::inline oploom_v1 {

// ---- The registry ----

// The operator "namespace::name.overload" (without a namespace: "aten::"), or nullptr.
OPLOOM_API OperatorTableBase* find_operator(std::string_view name);
// The same; throws c10::Error, with the nearest name, when there is none.
OPLOOM_API OperatorTableBase& get_operator(std::string_view name);
// The operators of a namespace, sorted by name.
OPLOOM_API std::vector<OperatorTableBase*> list_operators(std::string_view name_space = "aten");
// Adds the tables of a namespace; they must live as long as the program. Throws c10::Error when one
// of the operators is registered already.
OPLOOM_API void register_operators(std::string_view name_space,
                                   ArrayRef<OperatorTableBase*> tables);

// The operators of this library, sorted by name; generated.
ArrayRef<OperatorTableBase*> builtin_operators();
// The list that this library's operators were chosen by, or null where it has all; generated.
const char* operator_list();
namespace detail {
// The operators of several families as one list, sorted by name.
OPLOOM_API std::vector<OperatorTableBase*> sorted_by_name(
    std::initializer_list<ArrayRef<OperatorTableBase*>> families);
}  // namespace detail

// Registers the operators of a package when the shared library that holds them is loaded. They
// stay: oploom_add_operators() links packages so that dlclose() keeps them in memory, since graphs
// and tables may lead to their code.
struct OperatorRegistration {
  OperatorRegistration(std::string_view name_space, ArrayRef<OperatorTableBase*> tables) {
    register_operators(name_space, tables);
  }
};

// ---- Kernels ----

// A function as a kernel: the address of one with the key set as its first parameter, and the type
// of the schema's signature, against which a registration is checked.
struct KernelFunction {
  ErasedKernel address;
  const std::type_info* signature;
};

namespace detail {

template <auto F>
struct MakeKernel;
template <class R, class... Args, R (*F)(DispatchKeySet, Args...)>
struct MakeKernel<F> {
  static KernelFunction make() { return {reinterpret_cast<ErasedKernel>(F), &typeid(R(Args...))}; }
};
template <class First, class... Args, class R, R (*F)(First, Args...)>
requires(!std::is_same_v<First, DispatchKeySet>) struct MakeKernel<F> {
  static R call(DispatchKeySet, First first, Args... args) {
    return F(std::forward<First>(first), std::forward<Args>(args)...);
  }
  static KernelFunction make() {
    return {reinterpret_cast<ErasedKernel>(&call), &typeid(R(First, Args...))};
  }
};

}  // namespace detail

#define OPLOOM_FN(function) (::at::detail::MakeKernel<&function>::make())

class OPLOOM_API Library {
 public:
  // Throws when `key` is no dispatch key's name.
  Library(std::string name_space, std::string_view key_name);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  // Sets the kernel of an operator for this library's key. Throws c10::Error for an unknown
  // operator or for a function whose signature is not the schema's, and shows both.
  void impl(std::string_view op, KernelFunction kernel);
  // Sets a kernel for all operators of all namespaces that have none for this key.
  void fallback(BoxedKernel kernel);

 private:
  struct Replaced {
    OperatorTableBase* op;
    ErasedKernel previous;
  };

  std::string name_space_;
  DispatchKey key_;
  bool has_fallback_ = false;
  std::vector<Replaced> replaced_;
};

namespace detail {

struct LibraryBlock {
  LibraryBlock(const char* name_space, const char* key, void (*body)(Library&))
      : library(name_space, key) {
    body(library);
  }
  Library library;
};

}  // namespace detail

#define OPLOOM_LIBRARY_IMPL(ns, key, m) OPLOOM_LIBRARY_IMPL_(ns, key, m, __COUNTER__)
#define OPLOOM_LIBRARY_IMPL_(ns, key, m, id) OPLOOM_LIBRARY_IMPL__(ns, key, m, id)
#define OPLOOM_LIBRARY_IMPL__(ns, key, m, id)                                                   \
  static void oploom_library_body_##id(::at::Library&);                                         \
  static const ::at::detail::LibraryBlock oploom_library_block_##id(#ns, #key,                  \
                                                                    &oploom_library_body_##id); \
  static void oploom_library_body_##id(::at::Library& m)

}  // namespace at::inline oploom_v1
