// The slow paths of the object pools: the first use in a thread, empty and full lists, thread end.
#include <c10/util/ObjectPool.h>

#include <cstdlib>
#include <new>

namespace c10::inline oploom_v1::detail {

constinit thread_local ObjectPool* object_pool OPLOOM_TLS_INITIAL_EXEC = nullptr;

namespace {

// Set when the thread's pool has been freed: objects that die later bypass it.
constinit thread_local bool thread_is_ending = false;

struct ObjectPoolOwner {
  ObjectPool pool = {};

  ObjectPoolOwner() { object_pool = &pool; }
  ~ObjectPoolOwner() {
    object_pool = nullptr;
    thread_is_ending = true;
    for (ObjectPool::List& list : pool.lists) {
      while (list.head != nullptr) {
        ObjectPool::FreeBlock* block = list.head;
        list.head = block->next;
        std::free(block);
      }
    }
  }
};

// Makes the pool of this thread if it has none and is not ending.
[[maybe_unused]] void ensure_pool() {
  if (object_pool == nullptr && !thread_is_ending) {
    static thread_local ObjectPoolOwner owner;
    object_pool = &owner.pool;
  }
}

constexpr std::size_t round_up(std::size_t size) {
  return (size + ObjectPool::kGranularity - 1) / ObjectPool::kGranularity *
         ObjectPool::kGranularity;
}

}  // namespace

void* object_pool_allocate_slow(std::size_t size) {
#ifndef OPLOOM_NO_POOL
  ensure_pool();
  size = round_up(size);  // blocks move between classes of objects of the same list
#endif
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void object_pool_free_slow(void* block, std::size_t size) noexcept {
  (void)size;
#ifndef OPLOOM_NO_POOL
  // The list of a thread that only frees fills up and stays full; the rest goes back to the system.
  if (object_pool == nullptr && !thread_is_ending) {
    ensure_pool();
    object_pool_free(block, size);
    return;
  }
#endif
  std::free(block);
}

}  // namespace c10::inline oploom_v1::detail
