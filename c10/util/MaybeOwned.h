// MaybeOwned<T>: either a borrowed object or an owned one, behind one type. Used where an argument
// is passed through unchanged most of the time and replaced by a new tensor now and then.
#pragma once

#include <new>
#include <utility>

namespace c10::inline oploom_v1 {

template <typename T>
class MaybeOwned final {
 public:
  MaybeOwned() : owned_(true) { ::new (&own_) T(); }
  static MaybeOwned borrowed(const T& value) { return MaybeOwned(&value); }
  static MaybeOwned owned(T&& value) { return MaybeOwned(std::move(value)); }

  MaybeOwned(MaybeOwned&& other) noexcept : owned_(other.owned_) {
    if (owned_) {
      ::new (&own_) T(std::move(other.own_));
    } else {
      borrow_ = other.borrow_;
    }
  }
  MaybeOwned(const MaybeOwned& other) : owned_(other.owned_) {
    if (owned_) {
      ::new (&own_) T(other.own_);
    } else {
      borrow_ = other.borrow_;
    }
  }
  MaybeOwned& operator=(MaybeOwned other) noexcept {
    this->~MaybeOwned();
    ::new (this) MaybeOwned(std::move(other));
    return *this;
  }
  ~MaybeOwned() {
    if (owned_) own_.~T();
  }

  const T& operator*() const { return owned_ ? own_ : *borrow_; }
  const T* operator->() const { return owned_ ? &own_ : borrow_; }
  bool is_owned() const { return owned_; }

 private:
  explicit MaybeOwned(const T* value) : owned_(false), borrow_(value) {}
  explicit MaybeOwned(T&& value) : owned_(true) { ::new (&own_) T(std::move(value)); }

  bool owned_;
  union {
    T own_;
    const T* borrow_;
  };
};

}  // namespace c10::inline oploom_v1
