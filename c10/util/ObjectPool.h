// Thread-local free lists for the small objects that every operator call makes: TensorImpl,
// StorageImpl, autograd nodes. Derive from PooledObject<T> to have `new` and `delete` of a class
// (and of the classes derived from it) use them. A block freed by another thread than the one that
// made it simply joins that thread's list. OPLOOM_NO_POOL (the sanitizer builds) turns pooling off.
#pragma once

#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace c10::inline oploom_v1 {

namespace detail {

struct ObjectPool {
  static constexpr std::size_t kGranularity = 32;  // bytes; lists hold blocks of 32, 64, ... 1024
  static constexpr std::size_t kNumLists = 32;
  static constexpr std::uint32_t kMaxFree = 256;  // blocks kept in one list of one thread

  struct FreeBlock {
    FreeBlock* next;
  };
  struct List {
    FreeBlock* head;
    std::uint32_t count;
  };
  List lists[kNumLists];
};

// Null before the first use in a thread and after the thread has begun to end.
extern OPLOOM_API constinit thread_local ObjectPool* object_pool OPLOOM_TLS_INITIAL_EXEC;

OPLOOM_API void* object_pool_allocate_slow(std::size_t size);
OPLOOM_API void object_pool_free_slow(void* block, std::size_t size) noexcept;

OPLOOM_ALWAYS_INLINE void* object_pool_allocate(std::size_t size) {
#ifndef OPLOOM_NO_POOL
  const std::size_t index = (size - 1) / ObjectPool::kGranularity;
  if (OPLOOM_LIKELY(object_pool != nullptr && index < ObjectPool::kNumLists)) {
    ObjectPool::List& list = object_pool->lists[index];
    if (OPLOOM_LIKELY(list.head != nullptr)) {
      ObjectPool::FreeBlock* block = list.head;
      list.head = block->next;
      --list.count;
      return block;
    }
  }
#endif
  return object_pool_allocate_slow(size);
}

OPLOOM_ALWAYS_INLINE void object_pool_free(void* block, std::size_t size) noexcept {
#ifndef OPLOOM_NO_POOL
  const std::size_t index = (size - 1) / ObjectPool::kGranularity;
  if (OPLOOM_LIKELY(object_pool != nullptr && index < ObjectPool::kNumLists)) {
    ObjectPool::List& list = object_pool->lists[index];
    if (OPLOOM_LIKELY(list.count < ObjectPool::kMaxFree)) {
      auto* free_block = static_cast<ObjectPool::FreeBlock*>(block);
      free_block->next = list.head;
      list.head = free_block;
      ++list.count;
      return;
    }
  }
#endif
  object_pool_free_slow(block, size);
}

}  // namespace detail

// Classes derived from T need a virtual destructor in T, so that `delete` learns the true size.
template <typename T>
class PooledObject {
 public:
  static void* operator new(std::size_t size) { return detail::object_pool_allocate(size); }
  static void operator delete(void* block, std::size_t size) noexcept {
    if (block != nullptr) detail::object_pool_free(block, size);
  }
  // The ordinary placement forms would be hidden by the two above.
  static void* operator new(std::size_t, void* place) noexcept { return place; }
  static void operator delete(void*, void*) noexcept {}

 protected:
  PooledObject() = default;
  ~PooledObject() = default;
};

}  // namespace c10::inline oploom_v1
