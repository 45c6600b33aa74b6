// Boxing: the way between typed calls and calls whose arguments lie on a stack.
//
// Included by the files that define operator tables, and by nothing else. What depends on the
// signature alone is defined in SignatureBoxing.h, and instantiated in one file.
#pragma once

#include <aten/core/dispatch/OperatorTable.h>

namespace at::inline oploom_v1 {

template <class R, class... Args>
struct SignatureBoxing<R(Args...)> {
  // Puts the arguments on a stack and calls the fallback of the highest key.
  [[gnu::cold]] static R to_stack(const OperatorTableBase& op, DispatchKeySet keys, Args... args);
  // Calls with the arguments on the stack: `function`, whose address must be of type
  // R (*)(Args...), or the operator's kernel for `keys` where it is null.
  [[gnu::cold]] static void from_stack(const OperatorTableBase& op, DispatchKeySet keys,
                                       ErasedKernel function, Stack& stack);
};

template <class Op, class R, class... Args>
struct Boxing<Op, R(Args...)> {
  // A typed kernel that hands the call to the fallback of the highest key.
  [[gnu::cold]] static R entry(DispatchKeySet keys, Args... args) {
    return SignatureBoxing<R(Args...)>::to_stack(Op::table, keys, std::forward<Args>(args)...);
  }
};

}  // namespace at::inline oploom_v1
