// intrusive_ptr<T>: a counted pointer whose count lives in the object, and weak_intrusive_ptr<T>.
//
// Note [Reference count]
// One 64-bit word holds both counts: strong in the low half, weak in the high half. All strong
// owners together hold one weak count. So an object with one owner and no observer reads exactly
// kUniqueOwner, and its owner can destroy it after a plain load: nobody else could make a new
// reference meanwhile. That is the way nearly every tensor dies, and it costs no locked
// instruction; other steps cost one where there are threads (Note [One thread]). When the strong
// count falls to zero while observers remain, release_resources() frees what is large; the memory
// of the object itself goes with the last observer.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>
#include <c10/util/OneThread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

namespace c10::inline oploom_v1 {

class intrusive_ptr_target;
template <typename T, typename NullType>
class intrusive_ptr;
template <typename T, typename NullType>
class weak_intrusive_ptr;

// Says that the object is owned already, so that no count is added.
namespace raw {
struct DontIncreaseRefcount {};
}  // namespace raw

namespace detail {

inline constexpr std::uint64_t kStrongOne = 1;
inline constexpr std::uint64_t kWeakOne = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kUniqueOwner = kStrongOne | kWeakOne;
inline constexpr std::uint32_t strong_count(std::uint64_t counts) {
  return static_cast<std::uint32_t>(counts);
}
inline constexpr std::uint32_t weak_count(std::uint64_t counts) {
  return static_cast<std::uint32_t>(counts >> 32);
}

// The ordinary null: a null pointer.
template <typename T>
struct intrusive_target_default_null_type final {
  static constexpr T* singleton() noexcept { return nullptr; }
};

}  // namespace detail

// The base of every counted class.
class OPLOOM_API intrusive_ptr_target {
 public:
  std::uint32_t refcount() const noexcept {
    return detail::strong_count(counts_.load(std::memory_order_relaxed));
  }

 protected:
  constexpr intrusive_ptr_target() noexcept : counts_(0) {}
  // A copy is a new object with no owner yet.
  constexpr intrusive_ptr_target(const intrusive_ptr_target&) noexcept : counts_(0) {}
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) noexcept { return *this; }
  virtual ~intrusive_ptr_target();

  bool is_unique() const noexcept {
    return detail::strong_count(counts_.load(std::memory_order_acquire)) == 1;
  }

 private:
  template <typename T, typename N>
  friend class intrusive_ptr;
  template <typename T, typename N>
  friend class weak_intrusive_ptr;

  // Called when the last strong reference goes and weak ones remain.
  virtual void release_resources();

  void retain() const noexcept {
    fetch_add(counts_, detail::kStrongOne, std::memory_order_relaxed);
  }
  void release() const noexcept {
    if (counts_.load(std::memory_order_acquire) == detail::kUniqueOwner) {
      delete this;  // see Note [Reference count]
      return;
    }
    release_shared();
  }
  void release_shared() const noexcept;
  void retain_weak() const noexcept {
    fetch_add(counts_, detail::kWeakOne, std::memory_order_relaxed);
  }
  void release_weak() const noexcept;
  // A strong count from a weak reference; false when the object is dead.
  bool try_retain() const noexcept;

  mutable std::atomic<std::uint64_t> counts_;
};

template <typename T, typename NullType = detail::intrusive_target_default_null_type<T>>
class intrusive_ptr final {
 public:
  using element_type = T;

  constexpr intrusive_ptr() noexcept : target_(NullType::singleton()) {}
  constexpr intrusive_ptr(std::nullptr_t) noexcept : intrusive_ptr() {}
  // Takes over a count that the caller holds.
  explicit intrusive_ptr(T* target, raw::DontIncreaseRefcount) noexcept : target_(target) {}
  intrusive_ptr(const intrusive_ptr& other) noexcept : target_(other.target_) { retain(); }
  intrusive_ptr(intrusive_ptr&& other) noexcept
      : target_(std::exchange(other.target_, NullType::singleton())) {}
  template <typename U, typename N,
            typename = std::enable_if_t<std::is_convertible_v<U*, T*> &&
                                        !(std::is_same_v<U, T> && std::is_same_v<N, NullType>)>>
  intrusive_ptr(const intrusive_ptr<U, N>& other) noexcept
      : target_(other.defined() ? static_cast<T*>(other.get()) : NullType::singleton()) {
    retain();
  }
  template <typename U, typename N,
            typename = std::enable_if_t<std::is_convertible_v<U*, T*> &&
                                        !(std::is_same_v<U, T> && std::is_same_v<N, NullType>)>>
  intrusive_ptr(intrusive_ptr<U, N>&& other) noexcept
      : target_(other.defined() ? static_cast<T*>(other.release()) : NullType::singleton()) {}
  ~intrusive_ptr() { reset_(); }

  intrusive_ptr& operator=(const intrusive_ptr& other) noexcept {
    intrusive_ptr(other).swap(*this);
    return *this;
  }
  intrusive_ptr& operator=(intrusive_ptr&& other) noexcept {
    intrusive_ptr(std::move(other)).swap(*this);
    return *this;
  }

  T* get() const noexcept { return target_; }
  T& operator*() const noexcept { return *target_; }
  T* operator->() const noexcept { return target_; }
  bool defined() const noexcept { return target_ != NullType::singleton(); }
  explicit operator bool() const noexcept { return defined(); }

  void reset() noexcept {
    reset_();
    target_ = NullType::singleton();
  }
  void swap(intrusive_ptr& other) noexcept { std::swap(target_, other.target_); }

  std::uint32_t use_count() const noexcept { return defined() ? target_->refcount() : 0; }
  std::uint32_t weak_use_count() const noexcept {
    return defined() ? detail::weak_count(target_->counts_.load(std::memory_order_relaxed)) : 0;
  }
  // Who is told so may change the object: all that others did with it has been done.
  bool unique() const noexcept { return defined() && target_->is_unique(); }

  // Hands the count over to the caller; reclaim() takes it back.
  T* release() noexcept { return std::exchange(target_, NullType::singleton()); }
  static intrusive_ptr reclaim(T* owned) {
    return intrusive_ptr(owned, raw::DontIncreaseRefcount{});
  }
  static intrusive_ptr reclaim_copy(T* owned) {
    intrusive_ptr result(owned, raw::DontIncreaseRefcount{});
    result.retain();
    return result;
  }
  // For an object that somebody made with plain `new` and that has no owner yet.
  static intrusive_ptr unsafe_steal_from_new(T* fresh) {
    fresh->counts_.store(detail::kUniqueOwner, std::memory_order_relaxed);
    return intrusive_ptr(fresh, raw::DontIncreaseRefcount{});
  }
  // A further owner for an object that is owned already.
  static intrusive_ptr unsafe_reclaim_from_nonowning(T* target) { return reclaim_copy(target); }

  template <typename... Args>
  static intrusive_ptr make(Args&&... args) {
    // With parentheses, all bytes of an object would be zeroed before its constructor.
    if constexpr (sizeof...(Args) == 0) return unsafe_steal_from_new(new T);
    return unsafe_steal_from_new(new T(std::forward<Args>(args)...));
  }

 private:
  template <typename U, typename N>
  friend class weak_intrusive_ptr;

  void retain() noexcept {
    if (defined()) target_->retain();
  }
  void reset_() noexcept {
    if (defined()) target_->intrusive_ptr_target::release();
  }

  T* target_;
};

template <typename T, typename NullType = detail::intrusive_target_default_null_type<T>,
          typename... Args>
intrusive_ptr<T, NullType> make_intrusive(Args&&... args) {
  return intrusive_ptr<T, NullType>::make(std::forward<Args>(args)...);
}

template <typename T, typename N>
bool operator==(const intrusive_ptr<T, N>& a, const intrusive_ptr<T, N>& b) noexcept {
  return a.get() == b.get();
}
template <typename T, typename N>
bool operator==(const intrusive_ptr<T, N>& a, std::nullptr_t) noexcept {
  return !a.defined();
}
template <typename T, typename N>
bool operator<(const intrusive_ptr<T, N>& a, const intrusive_ptr<T, N>& b) noexcept {
  return reinterpret_cast<std::uintptr_t>(a.get()) < reinterpret_cast<std::uintptr_t>(b.get());
}
template <typename T, typename N>
void swap(intrusive_ptr<T, N>& a, intrusive_ptr<T, N>& b) noexcept {
  a.swap(b);
}

template <typename T, typename NullType = detail::intrusive_target_default_null_type<T>>
class weak_intrusive_ptr final {
 public:
  using element_type = T;

  constexpr weak_intrusive_ptr() noexcept : target_(NullType::singleton()) {}
  explicit weak_intrusive_ptr(const intrusive_ptr<T, NullType>& strong) noexcept
      : target_(strong.get()) {
    retain();
  }
  weak_intrusive_ptr(const weak_intrusive_ptr& other) noexcept : target_(other.target_) {
    retain();
  }
  weak_intrusive_ptr(weak_intrusive_ptr&& other) noexcept
      : target_(std::exchange(other.target_, NullType::singleton())) {}
  ~weak_intrusive_ptr() { reset_(); }
  weak_intrusive_ptr& operator=(const weak_intrusive_ptr& other) noexcept {
    weak_intrusive_ptr(other).swap(*this);
    return *this;
  }
  weak_intrusive_ptr& operator=(weak_intrusive_ptr&& other) noexcept {
    weak_intrusive_ptr(std::move(other)).swap(*this);
    return *this;
  }

  // The owner again, or null when the object has died.
  intrusive_ptr<T, NullType> lock() const noexcept {
    if (target_ == NullType::singleton() || !target_->try_retain()) return {};
    return intrusive_ptr<T, NullType>(target_, raw::DontIncreaseRefcount{});
  }
  bool expired() const noexcept { return use_count() == 0; }
  std::uint32_t use_count() const noexcept {
    return target_ == NullType::singleton() ? 0 : target_->refcount();
  }
  void reset() noexcept {
    reset_();
    target_ = NullType::singleton();
  }
  void swap(weak_intrusive_ptr& other) noexcept { std::swap(target_, other.target_); }
  // For comparing and hashing only: the object may be dead.
  T* _unsafe_get_target() const noexcept { return target_; }
  friend bool operator==(const weak_intrusive_ptr& a, const weak_intrusive_ptr& b) noexcept {
    return a.target_ == b.target_;
  }

 private:
  void retain() noexcept {
    if (target_ != NullType::singleton()) target_->retain_weak();
  }
  void reset_() noexcept {
    if (target_ != NullType::singleton()) target_->release_weak();
  }

  T* target_;
};

}  // namespace c10::inline oploom_v1

namespace std {
template <typename T, typename N>
struct hash<c10::intrusive_ptr<T, N>> {
  size_t operator()(const c10::intrusive_ptr<T, N>& pointer) const {
    return hash<T*>()(pointer.get());
  }
};
template <typename T, typename N>
struct hash<c10::weak_intrusive_ptr<T, N>> {
  size_t operator()(const c10::weak_intrusive_ptr<T, N>& pointer) const {
    return hash<T*>()(pointer._unsafe_get_target());
  }
};
}  // namespace std
