// What generated/native/signatures/ checks the functions of a file with.
#pragma once

namespace at::inline oploom_v1::native {

// Note [Signatures of native functions]
// A native function is declared in generated/native/, from its schema, and defined by a person. A
// definition with other parameters is another function to C++: it compiles, and the one declared is
// missed when everything is linked. So each file ends with
//   #include <generated/native/signatures/FAMILY.h>
// which asserts, for each function declared that the file can see, that no other function has its
// name. A set of overloaded functions matches a pattern of parameters only if a single one of them
// does: check() is true when the function expected is alone with its leading parameters.
template <class Expected, class... Leading>
struct Alone {
  template <class Result, class... Rest>
  static constexpr bool check(Result (*)(Leading..., Rest...), int) {
    return true;
  }
  static constexpr bool check(Expected*, long) { return false; }
};

}  // namespace at::inline oploom_v1::native
