// The caching CPU allocator.
//
// Note [Blocks]
// Three kinds of blocks, told apart by their deleter:
//   small    up to 8 MiB, of 64 size classes. The data is 64-byte aligned, so the low six bits of
//            the context hold the class: freeing needs no lookup.
//   large    multiples of 2 MiB. The context is a LargeBlock that knows the size.
//   direct   made while caching was off; goes back to the system at once.
//
// Note [Places in pages]
// A processor takes a load for one of what an earlier store, 4 KB or a multiple of it away, has yet
// to write, and lets it wait: of a loop that reads from one block and writes to another it is every
// load if the output lies up to 256 bytes further on in its page. From the second-level cache such
// loops take up to 1.45 times as long on a Zen 4. The system's allocator puts blocks of the same
// size side by side, each 64 bytes further on, and mapped ones, such as NumPy's large arrays, 16
// bytes behind the beginning of a page. So blocks that the first-level cache cannot hold two of
// begin at multiples of kSpacing: outputs then lie in their pages where inputs do, or further from
// them. (All at the beginning of a page they would share few places of the cache: softmax of
// channels 4 KB apart took 1.2 times as long.)
//
// Note [Statistics]
// A locked instruction for every counter would cost more than the rest of an allocation. So each
// thread counts in its own ThreadCache, in atomics that only it writes, and hands the sums over to
// the global counters when they have become large; memory_stats() adds them all up. The numbers in
// use are exact when no thread is allocating meanwhile. The peak is exact for one thread, and for
// more it is off by at most kFoldBytes for each.
#include <c10/core/CPUAllocator.h>

#include <c10/util/Exception.h>
#include <c10/util/Macros.h>

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

namespace c10::inline oploom_v1 {

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int kNumClasses = 64;
constexpr int kNumThreadClasses = 36;  // those up to 64 KiB
constexpr std::size_t kMaxSmall = 8 * kMiB;
constexpr std::size_t kLargeGranularity = 2 * kMiB;  // a huge page of x86-64
constexpr std::size_t kHugePageThreshold = 4 * kMiB;
constexpr std::size_t kSpacing = 512, kSpacedFrom = 16384;  // see Note [Places in pages]
constexpr std::size_t kThreadListBytes = 96 * 1024;
constexpr std::uint32_t kThreadListBlocks = 64;
constexpr std::int64_t kFoldBytes = 1 << 20;

// 64, 128, 192, 256, then four classes for each doubling: 320, 384, 448, 512, 640, ...
constexpr int class_of(std::size_t size) {
  if (size <= 256) return static_cast<int>((size + 63) / 64) - 1;
  const std::size_t last = size - 1;
  const int width = static_cast<int>(std::bit_width(last));
  return 4 + 4 * (width - 9) + static_cast<int>((last >> (width - 3)) & 3);
}
constexpr std::size_t class_size(int c) {
  if (c < 4) return static_cast<std::size_t>(c + 1) * 64;
  const int doubling = (c - 4) / 4, quarter = (c - 4) % 4;
  return (std::size_t{256} << doubling) +
         static_cast<std::size_t>(quarter + 1) * (std::size_t{64} << doubling);
}
static_assert(class_of(kMaxSmall) == kNumClasses - 1 && class_size(kNumClasses - 1) == kMaxSmall);
static_assert(class_of(64 * 1024) == kNumThreadClasses - 1);
static_assert(class_of(257) == 4 && class_size(4) == 320 && class_of(320) == 4 &&
              class_of(321) == 5);

constexpr auto kClassSizes = [] {
  std::array<std::size_t, kNumClasses> sizes{};
  for (int c = 0; c < kNumClasses; ++c) sizes[static_cast<std::size_t>(c)] = class_size(c);
  return sizes;
}();
constexpr std::size_t kMaxThreadSize = class_size(kNumThreadClasses - 1);

// The most free blocks that a thread keeps of each class.
constexpr auto kThreadListLimits = [] {
  std::array<std::uint32_t, kNumThreadClasses> limits{};
  for (int c = 0; c < kNumThreadClasses; ++c) {
    const auto fitting = static_cast<std::uint32_t>(kThreadListBytes / class_size(c));
    limits[static_cast<std::size_t>(c)] = std::clamp<std::uint32_t>(fitting, 2, kThreadListBlocks);
  }
  return limits;
}();
constexpr std::uint32_t thread_list_limit(int c) {
  return kThreadListLimits[static_cast<std::size_t>(c)];
}

struct FreeBlock {
  FreeBlock* next;
};

struct LargeBlock {
  void* data;
  std::size_t size;
};

// Adds to an atomic that one thread alone writes.
template <typename T>
void add_unshared(std::atomic<T>& counter, T amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

struct ThreadCache {
  struct List {
    FreeBlock* head = nullptr;
    std::uint32_t count = 0;
  };
  List lists[kNumThreadClasses];
  // See Note [Statistics]. Bytes and blocks are differences to the global counters.
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::int64_t> peak_bytes{0};
  std::atomic<std::int64_t> allocs{0};
  std::atomic<std::int64_t> frees{0};
  // The caches of all threads form a list.
  ThreadCache* next = nullptr;
  ThreadCache* previous = nullptr;
};

constinit thread_local ThreadCache* thread_cache OPLOOM_TLS_INITIAL_EXEC = nullptr;
constinit thread_local bool thread_is_ending = false;

class CachingAllocator final : public Allocator {
 public:
  CachingAllocator();

  // A block that waits in the thread's list is by far the most frequent case; what is rare is kept
  // out of this function and of free_small().
  DataPtr allocate(std::size_t nbytes) override {
    ThreadCache* const cache = thread_cache;
    const bool small = nbytes - 1 < kMaxThreadSize;
    if (OPLOOM_LIKELY(small && cache != nullptr && caching_.load(std::memory_order_relaxed))) {
      const int c = class_of(nbytes);
      ThreadCache::List& list = cache->lists[c];
      if (FreeBlock* const block = list.head; OPLOOM_LIKELY(block != nullptr)) {
        list.head = block->next;
        --list.count;
        count_alloc(*cache, kClassSizes[static_cast<std::size_t>(c)]);
        return small_block(block, c);
      }
    }
    return allocate_otherwise(nbytes);
  }

  void free_small(void* context) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(context);
    const int c = static_cast<int>(bits & 63);
    auto* block = reinterpret_cast<FreeBlock*>(bits & ~std::uintptr_t{63});
    ThreadCache* const cache = thread_cache;
    if (OPLOOM_LIKELY(c < kNumThreadClasses && cache != nullptr &&
                      caching_.load(std::memory_order_relaxed))) {
      ThreadCache::List& list = cache->lists[c];
      if (OPLOOM_LIKELY(list.count < thread_list_limit(c))) {
        count_free(*cache, kClassSizes[static_cast<std::size_t>(c)]);
        block->next = list.head;
        list.head = block;
        ++list.count;
        return;
      }
    }
    free_small_otherwise(block, c);
  }

  void free_large(LargeBlock* block) noexcept {
    count_free(get_thread_cache(), block->size);
    if (caching_.load(std::memory_order_relaxed)) {
      const std::lock_guard lock(mutex_);
      if (cached_bytes_ + block->size <= max_cached_bytes_) {
        cached_bytes_ += block->size;
        large_.emplace(block->size, block);
        return;
      }
    }
    system_free(block->data, block->size);
    delete block;
  }

  void free_direct(void* block) noexcept {
    const std::size_t size = malloc_usable_size(block);
    count_free(get_thread_cache(), size);
    system_free(block, size);
  }

  void empty_cache() noexcept {
    const std::lock_guard lock(mutex_);
    if (ThreadCache* cache = thread_cache) {
      for (int c = 0; c < kNumThreadClasses; ++c) {
        free_list(cache->lists[c].head, class_size(c));
        cache->lists[c] = {};
      }
    }
    for (int c = 0; c < kNumClasses; ++c) {
      free_list(shared_[c], class_size(c));
      shared_[c] = nullptr;
    }
    for (const auto& [size, block] : large_) {
      system_free(block->data, size);
      delete block;
    }
    large_.clear();
    cached_bytes_ = 0;
  }

  MemoryStats stats() {
    const std::lock_guard lock(mutex_);
    MemoryStats stats;
    std::int64_t peak_above = 0;
    for (const ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
      stats.allocated_bytes += cache->bytes.load(std::memory_order_relaxed);
      stats.num_allocs += cache->allocs.load(std::memory_order_relaxed);
      stats.num_frees += cache->frees.load(std::memory_order_relaxed);
      peak_above += cache->peak_bytes.load(std::memory_order_relaxed);
    }
    const std::int64_t folded = bytes_.load();
    stats.allocated_bytes += folded;
    stats.num_allocs += allocs_.load();
    stats.num_frees += frees_.load();
    stats.allocated_blocks = stats.num_allocs - stats.num_frees;
    stats.peak_bytes = std::max({peak_bytes_.load(), folded + peak_above, stats.allocated_bytes});
    stats.reserved_bytes = reserved_.load();
    stats.num_system_allocs = system_allocs_.load();
    stats.limit_bytes = static_cast<std::int64_t>(limit_.load());
    return stats;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
      // A thread that is allocating may overwrite this; the peak is then only too high.
      cache->peak_bytes.store(std::max<std::int64_t>(cache->bytes.load(), 0));
    }
    peak_bytes_.store(bytes_.load());
  }

  void set_limit(std::size_t bytes) { limit_.store(bytes); }
  void set_caching(bool enabled) {
    caching_.store(enabled);
    if (!enabled) empty_cache();
  }
  bool is_caching() const { return caching_.load(); }

  // ---- Threads and fork() ----

  void add_thread(ThreadCache* cache) {
    const std::lock_guard lock(mutex_);
    cache->next = caches_;
    if (caches_ != nullptr) caches_->previous = cache;
    caches_ = cache;
  }
  void remove_thread(ThreadCache* cache) noexcept {
    const std::lock_guard lock(mutex_);
    for (int c = 0; c < kNumThreadClasses; ++c) {
      while (FreeBlock* block = cache->lists[c].head) {
        cache->lists[c].head = block->next;
        share(block, c);
      }
    }
    fold(*cache);
    allocs_.fetch_add(cache->allocs.load());
    frees_.fetch_add(cache->frees.load());
    (cache->previous != nullptr ? cache->previous->next : caches_) = cache->next;
    if (cache->next != nullptr) cache->next->previous = cache->previous;
  }
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  static void delete_small(void* context);
  static void delete_large(void* context);
  static void delete_direct(void* context);

  // Null while the thread is ending.
  ThreadCache* get_thread_cache() noexcept {
    return OPLOOM_LIKELY(thread_cache != nullptr) ? thread_cache : make_thread_cache();
  }
  ThreadCache* make_thread_cache() noexcept;

  static DataPtr small_block(FreeBlock* block, int c) noexcept {
    void* context = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(block) |
                                            static_cast<std::uintptr_t>(c));
    return DataPtr(block, context, &delete_small, Device(DeviceType::CPU));
  }

  OPLOOM_NOINLINE DataPtr allocate_otherwise(std::size_t nbytes) {
    if (nbytes == 0) return DataPtr(nullptr, Device(DeviceType::CPU));
    if (!caching_.load(std::memory_order_relaxed)) return allocate_direct(nbytes);
    if (nbytes > kMaxSmall) return allocate_large(nbytes);
    const int c = class_of(nbytes);
    ThreadCache* const cache = get_thread_cache();
    FreeBlock* const block = allocate_shared(c, cache);
    count_alloc(cache, class_size(c));
    return small_block(block, c);
  }

  OPLOOM_NOINLINE void free_small_otherwise(FreeBlock* block, int c) noexcept {
    ThreadCache* const cache = get_thread_cache();
    count_free(cache, class_size(c));
    if (!caching_.load(std::memory_order_relaxed)) {
      system_free(block, class_size(c));
    } else if (c < kNumThreadClasses && cache != nullptr) {
      ThreadCache::List& list = cache->lists[c];
      if (list.count >= thread_list_limit(c)) spill(list, c);
      block->next = list.head;
      list.head = block;
      ++list.count;
    } else {
      const std::lock_guard lock(mutex_);
      share(block, c);
    }
  }

  // A block from the shared pool, or else from the system; refills the thread's list on the way.
  OPLOOM_NOINLINE FreeBlock* allocate_shared(int c, ThreadCache* cache) {
    {
      const std::lock_guard lock(mutex_);
      if (FreeBlock* block = shared_[c]) {
        shared_[c] = block->next;
        cached_bytes_ -= class_size(c);
        if (c < kNumThreadClasses && cache != nullptr) {
          ThreadCache::List& list = cache->lists[c];
          while (list.count < thread_list_limit(c) / 2 && shared_[c] != nullptr) {
            FreeBlock* next = shared_[c];
            shared_[c] = next->next;
            cached_bytes_ -= class_size(c);
            next->next = list.head;
            list.head = next;
            ++list.count;
          }
        }
        return block;
      }
    }
    return static_cast<FreeBlock*>(system_allocate(class_size(c), class_size(c)));
  }

  // Moves half of a full list to the shared pool.
  OPLOOM_NOINLINE void spill(ThreadCache::List& list, int c) noexcept {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t keep = thread_list_limit(c) / 2; list.count > keep; --list.count) {
      FreeBlock* block = list.head;
      list.head = block->next;
      share(block, c);
    }
  }

  // Precondition: mutex_ is held.
  void share(FreeBlock* block, int c) noexcept {
    const std::size_t size = class_size(c);
    if (cached_bytes_ + size > max_cached_bytes_) {
      system_free(block, size);
      return;
    }
    cached_bytes_ += size;
    block->next = shared_[c];
    shared_[c] = block;
  }

  DataPtr allocate_large(std::size_t nbytes) {
    if (OPLOOM_UNLIKELY(nbytes > std::numeric_limits<std::ptrdiff_t>::max() - kLargeGranularity)) {
      throw_out_of_memory(nbytes);
    }
    const std::size_t size =
        (nbytes + kLargeGranularity - 1) / kLargeGranularity * kLargeGranularity;
    LargeBlock* block = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto found = large_.lower_bound(size);
      // A block that is much larger than needed is better kept for somebody else.
      if (found != large_.end() && found->first <= size + size / 4) {
        block = found->second;
        cached_bytes_ -= block->size;
        large_.erase(found);
      }
    }
    if (block == nullptr) {
      void* data = system_allocate(size, nbytes);
      block = new LargeBlock{data, size};
    }
    count_alloc(get_thread_cache(), block->size);
    return DataPtr(block->data, block, &delete_large, Device(DeviceType::CPU));
  }

  DataPtr allocate_direct(std::size_t nbytes) {
    if (OPLOOM_UNLIKELY(nbytes > std::numeric_limits<std::ptrdiff_t>::max() - kLargeGranularity)) {
      throw_out_of_memory(nbytes);
    }
    void* block = system_allocate(nbytes, nbytes);
    // The system may have given more; free_direct() will learn the same number.
    const std::size_t size = malloc_usable_size(block);
    reserved_.fetch_add(static_cast<std::int64_t>(size - nbytes));
    count_alloc(get_thread_cache(), size);
    return DataPtr(block, block, &delete_direct, Device(DeviceType::CPU));
  }

  void* system_allocate(std::size_t size, std::size_t wanted) {
    void* block = try_system_allocate(size);
    if (OPLOOM_UNLIKELY(block == nullptr)) {
      empty_cache();
      block = try_system_allocate(size);
      if (block == nullptr) throw_out_of_memory(wanted);
    }
    system_allocs_.fetch_add(1, std::memory_order_relaxed);
    return block;
  }

  void* try_system_allocate(std::size_t size) noexcept {
    const std::int64_t reserved =
        reserved_.fetch_add(static_cast<std::int64_t>(size)) + static_cast<std::int64_t>(size);
    const std::size_t limit = limit_.load(std::memory_order_relaxed);
    void* block = nullptr;
    if (limit == 0 || static_cast<std::size_t>(reserved) <= limit) {
      const bool huge = size >= kHugePageThreshold;
      const std::size_t alignment = huge                  ? kLargeGranularity
                                    : size >= kSpacedFrom ? kSpacing
                                                          : kCPUAlignment;
      if (posix_memalign(&block, alignment, size) != 0) block = nullptr;
      // Fewer and cheaper page faults; a refusal does no harm.
      if (huge && block != nullptr) madvise(block, size, MADV_HUGEPAGE);
    }
    if (block == nullptr) reserved_.fetch_sub(static_cast<std::int64_t>(size));
    return block;
  }

  void system_free(void* block, std::size_t size) noexcept {
    reserved_.fetch_sub(static_cast<std::int64_t>(size));
    std::free(block);
  }
  void free_list(FreeBlock* head, std::size_t size) noexcept {
    while (head != nullptr) {
      FreeBlock* next = head->next;
      system_free(head, size);
      head = next;
    }
  }

  [[noreturn]] OPLOOM_COLD void throw_out_of_memory(std::size_t wanted) {
    const MemoryStats now = stats();
    throw OutOfMemoryError(
        str("out of CPU memory: tried to allocate ", wanted, " bytes with ", now.allocated_bytes,
            " bytes in use, ", now.reserved_bytes - now.allocated_bytes, " bytes cached and ",
            now.limit_bytes > 0 ? str("a limit of ", now.limit_bytes, " bytes") : "no limit set"));
  }

  void count_alloc(ThreadCache& cache, std::size_t size) noexcept {
    const std::int64_t now =
        cache.bytes.load(std::memory_order_relaxed) + static_cast<std::int64_t>(size);
    cache.bytes.store(now, std::memory_order_relaxed);
    if (now > cache.peak_bytes.load(std::memory_order_relaxed)) {
      cache.peak_bytes.store(now, std::memory_order_relaxed);
    }
    add_unshared<std::int64_t>(cache.allocs, 1);
    if (OPLOOM_UNLIKELY(now > kFoldBytes)) fold(cache);
  }
  void count_free(ThreadCache& cache, std::size_t size) noexcept {
    const std::int64_t now =
        cache.bytes.load(std::memory_order_relaxed) - static_cast<std::int64_t>(size);
    cache.bytes.store(now, std::memory_order_relaxed);
    add_unshared<std::int64_t>(cache.frees, 1);
    if (OPLOOM_UNLIKELY(now < -kFoldBytes)) fold(cache);
  }
  // The same in a thread that may be ending.
  void count_alloc(ThreadCache* cache, std::size_t size) noexcept {
    if (cache != nullptr) {
      count_alloc(*cache, size);
      return;
    }
    const auto bytes = static_cast<std::int64_t>(size);
    allocs_.fetch_add(1);
    raise_peak(bytes_.fetch_add(bytes) + bytes);
  }
  void count_free(ThreadCache* cache, std::size_t size) noexcept {
    if (cache != nullptr) {
      count_free(*cache, size);
      return;
    }
    frees_.fetch_add(1);
    bytes_.fetch_sub(static_cast<std::int64_t>(size));
  }
  OPLOOM_NOINLINE void fold(ThreadCache& cache) noexcept {
    const std::int64_t bytes = cache.bytes.load(std::memory_order_relaxed);
    const std::int64_t before = bytes_.fetch_add(bytes);
    raise_peak(before + cache.peak_bytes.load(std::memory_order_relaxed));
    cache.bytes.store(0, std::memory_order_relaxed);
    cache.peak_bytes.store(0, std::memory_order_relaxed);
  }
  void raise_peak(std::int64_t bytes) noexcept {
    std::int64_t peak = peak_bytes_.load();
    while (bytes > peak && !peak_bytes_.compare_exchange_weak(peak, bytes)) {
    }
  }

  std::mutex mutex_;  // guards the shared pool and the list of thread caches
  FreeBlock* shared_[kNumClasses] = {};
  std::multimap<std::size_t, LargeBlock*> large_;
  std::size_t cached_bytes_ = 0;      // in the shared pool
  std::size_t max_cached_bytes_ = 0;  // a quarter of the machine's memory
  ThreadCache* caches_ = nullptr;

  std::atomic<bool> caching_{true};
  std::atomic<std::size_t> limit_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::int64_t> peak_bytes_{0};
  std::atomic<std::int64_t> allocs_{0};
  std::atomic<std::int64_t> frees_{0};
  std::atomic<std::int64_t> reserved_{0};
  std::atomic<std::int64_t> system_allocs_{0};
};

// Never destroyed: blocks are freed until the very end of the process.
CachingAllocator& instance() {
  static auto* allocator = new CachingAllocator();
  return *allocator;
}

// Known to be made by whoever holds a block.
constinit CachingAllocator* the_allocator = nullptr;

struct ThreadCacheOwner {
  ThreadCache cache;

  ThreadCacheOwner() { instance().add_thread(&cache); }
  ~ThreadCacheOwner() {
    thread_cache = nullptr;
    thread_is_ending = true;
    instance().remove_thread(&cache);
  }
};

ThreadCache* CachingAllocator::make_thread_cache() noexcept {
  if (thread_is_ending) return nullptr;
  static thread_local ThreadCacheOwner owner;
  thread_cache = &owner.cache;
  return thread_cache;
}

CachingAllocator::CachingAllocator() {
  the_allocator = this;
#ifdef OPLOOM_NO_POOL
  // Sanitizers see a use after free only if blocks really are freed.
  caching_ = false;
#endif
  if (const char* value = std::getenv("OPLOOM_CACHING_ALLOCATOR")) {
    caching_ = std::strcmp(value, "0") != 0;
  }
  const long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGE_SIZE);
  max_cached_bytes_ = pages > 0 && page_size > 0 ? static_cast<std::size_t>(pages) *
                                                       static_cast<std::size_t>(page_size) / 4
                                                 : 1024 * kMiB;
  // A child of fork() has one thread; no other may have held the lock at that moment.
  pthread_atfork([] { the_allocator->lock(); }, [] { the_allocator->unlock(); },
                 [] { the_allocator->unlock(); });
}

void CachingAllocator::delete_small(void* context) { the_allocator->free_small(context); }
void CachingAllocator::delete_large(void* context) {
  the_allocator->free_large(static_cast<LargeBlock*>(context));
}
void CachingAllocator::delete_direct(void* context) { the_allocator->free_direct(context); }

}  // namespace

Allocator* GetCPUAllocator() { return &instance(); }

namespace cpu_allocator {

MemoryStats memory_stats() { return instance().stats(); }
void reset_peak_stats() { instance().reset_peak(); }
void set_memory_limit(std::size_t bytes) { instance().set_limit(bytes); }
void empty_cache() { instance().empty_cache(); }
void set_caching_enabled(bool enabled) { instance().set_caching(enabled); }
bool is_caching_enabled() { return instance().is_caching(); }

}  // namespace cpu_allocator

}  // namespace c10::inline oploom_v1
