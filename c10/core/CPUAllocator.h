// The caching allocator of CPU memory: 64-byte aligned blocks, those from 16 KiB on at multiples of
// 512 bytes, kept for reuse after they are freed, because fresh pages cost more than the arithmetic
// of a large pointwise operator.
//
// Small blocks (up to 64 KiB) go to a cache of the freeing thread, larger ones and the surplus to a
// pool that all threads share. Sizes are rounded up to classes, four for each doubling, so at most
// a fifth of a block is waste. Any thread may free a block. After fork() the child can go on.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/Export.h>

#include <cstddef>
#include <cstdint>

namespace c10::inline oploom_v1 {

inline constexpr std::size_t kCPUAlignment = 64;  // bytes: a cache line, and a vector of AVX-512

// All numbers of bytes count whole blocks, that is, sizes after rounding.
struct MemoryStats {
  std::int64_t allocated_bytes = 0;   // in use now
  std::int64_t peak_bytes = 0;        // the most that was in use since reset_peak_stats()
  std::int64_t reserved_bytes = 0;    // taken from the system: in use and cached
  std::int64_t allocated_blocks = 0;  // in use now
  std::int64_t num_allocs = 0;        // calls so far
  std::int64_t num_frees = 0;
  std::int64_t num_system_allocs = 0;  // of which the system had to be asked
  std::int64_t limit_bytes = 0;        // 0: no limit
};

// The process has one, never destroyed.
OPLOOM_API Allocator* GetCPUAllocator();

namespace cpu_allocator {

OPLOOM_API MemoryStats memory_stats();
OPLOOM_API void reset_peak_stats();
// The most that may be reserved from the system; 0 for no limit. An allocation that would exceed it
// first empties the cache and then throws OutOfMemoryError.
OPLOOM_API void set_memory_limit(std::size_t bytes);
// Gives the cached blocks of the shared pool and of the calling thread back to the system. What
// other threads hold in their caches (at most 4 MiB each) stays until they end.
OPLOOM_API void empty_cache();
// With caching off every block comes from the system and goes back at once. On by default, except
// in sanitizer builds and with OPLOOM_CACHING_ALLOCATOR=0 in the environment.
OPLOOM_API void set_caching_enabled(bool enabled);
OPLOOM_API bool is_caching_enabled();

}  // namespace cpu_allocator

}  // namespace c10::inline oploom_v1
