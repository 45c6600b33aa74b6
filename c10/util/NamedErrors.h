// named(): errors of several steps in the name of the one function that people called.
#pragma once

#include <c10/util/Exception.h>

#include <string_view>

namespace c10::inline oploom_v1 {

// What steps() gives; an Error on the way out gets `name` at its front (Error::set_function).
template <typename Steps>
decltype(auto) named(std::string_view name, const Steps& steps) {
  try {
    return steps();
  } catch (Error& error) {
    error.set_function(name);
    throw;
  }
}

}  // namespace c10::inline oploom_v1
