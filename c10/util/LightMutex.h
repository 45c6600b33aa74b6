// LightMutex: a mutex of one word for headers that many include, which <mutex> would burden.
#pragma once

#include <atomic>

namespace c10::inline oploom_v1 {

// For std::lock_guard. Held briefly and seldom wanted by two; who waits sleeps.
class LightMutex {
 public:
  void lock() noexcept {
    while (held_.test_and_set(std::memory_order_acquire)) held_.wait(true);
  }
  void unlock() noexcept {
    held_.clear(std::memory_order_release);
    held_.notify_one();
  }

 private:
  std::atomic_flag held_;
};

}  // namespace c10::inline oploom_v1
