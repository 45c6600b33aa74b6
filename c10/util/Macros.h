// Compiler hints used everywhere, and nothing else.
#pragma once

#define OPLOOM_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define OPLOOM_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
#define OPLOOM_ALWAYS_INLINE inline __attribute__((always_inline))
#define OPLOOM_ALWAYS_INLINE_LAMBDA __attribute__((always_inline))
#define OPLOOM_NOINLINE __attribute__((noinline))
#define OPLOOM_COLD __attribute__((noinline, cold))
#define OPLOOM_RESTRICT __restrict__

#define OPLOOM_CONCATENATE_IMPL(a, b) a##b
#define OPLOOM_CONCATENATE(a, b) OPLOOM_CONCATENATE_IMPL(a, b)
#define OPLOOM_ANONYMOUS_VARIABLE(prefix) OPLOOM_CONCATENATE(prefix, __COUNTER__)

// Thread-local state that is read on every operator call: one instruction to reach, no wrapper
// function and no lazy initialisation. Declarations say `extern constinit thread_local` with this.
// The space for such variables is scarce when a library is loaded late (Python does so), hence they
// hold a few bytes or a pointer, never an array.
#define OPLOOM_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
