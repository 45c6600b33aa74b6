// Recording which operators a program calls, for a build that has no others.
#pragma once

#include <aten/core/dispatch/OperatorTable.h>

// Note [Recording operators]
// With OPLOOM_RECORD_OPERATORS=list.txt in its environment, a program writes at its end the
// operators that it called, one a line: what OPLOOM_OPERATORS wants. Those that operators call are
// among them.
//
// Each kernel is replaced, when the library is loaded, by the entry for boxed fallbacks. The first
// call of an operator finds it, writes the name down and puts the operator's kernels back: later
// calls cost nothing, and neither does anything where the variable is not set.

namespace at::inline oploom_v1::detail {

// Puts the kernels of an operator back if they are away. Whether there is one for `key`.
bool record_call(const OperatorTableBase& op, DispatchKey key);
// Whether record_call() is to be asked.
extern bool recording;
// Adds a function of the API that is no operator and calls several, as `Tensor.index`. `name` is a
// literal.
void record_function(const char* name);

}  // namespace at::inline oploom_v1::detail
