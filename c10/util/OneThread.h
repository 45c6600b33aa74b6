// Steps that read and write an atomic, at the price of a locked instruction only where threads can
// meet.
//
// Note [One thread]
// A locked instruction costs more than ten ordinary ones, and a view makes four of them, a recorded
// product eight, nearly all to count references. The C library knows whether the process has
// started a second thread (glibc 2.32 and later; the shared_ptr of libstdc++ asks it too). Until
// then nobody can come between a load and a store. The answer turns to `no` before a second thread
// runs and can change in no step here, since none of them starts a thread.
#pragma once

#include <c10/util/Macros.h>

#include <atomic>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define OPLOOM_HAS_SINGLE_THREADED 1
#else
#define OPLOOM_HAS_SINGLE_THREADED 0
#endif

namespace c10::inline oploom_v1 {

inline bool has_one_thread() noexcept {
#if OPLOOM_HAS_SINGLE_THREADED
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

// As the members of std::atomic, with the order that several threads need.
template <typename T>
OPLOOM_ALWAYS_INLINE T fetch_add(std::atomic<T>& value, T summand,
                                 std::memory_order order) noexcept {
  if (OPLOOM_UNLIKELY(!has_one_thread())) return value.fetch_add(summand, order);
  const T before = value.load(std::memory_order_relaxed);
  value.store(static_cast<T>(before + summand), std::memory_order_relaxed);
  return before;
}

template <typename T>
OPLOOM_ALWAYS_INLINE bool compare_exchange(std::atomic<T>& value, T& expected, T desired,
                                           std::memory_order order) noexcept {
  if (OPLOOM_UNLIKELY(!has_one_thread())) {
    return value.compare_exchange_strong(expected, desired, order, std::memory_order_relaxed);
  }
  const T before = value.load(std::memory_order_relaxed);
  if (before != expected) {
    expected = before;
    return false;
  }
  value.store(desired, std::memory_order_relaxed);
  return true;
}

}  // namespace c10::inline oploom_v1
