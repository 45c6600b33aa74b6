// at::parallel_for: a loop over an index range, split across the threads of one pool (OpenMP's).
// Nothing else in the library starts threads.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/util/Export.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/Macros.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdint>

namespace at::inline oploom_v1 {

// Threads that parallel_for uses; at first the physical cores this process may run on, or
// OMP_NUM_THREADS if set.
OPLOOM_API int get_num_threads();
OPLOOM_API void set_num_threads(int count);
// The index of this thread in the region it runs in, or 0.
OPLOOM_API int get_thread_num();
// Elements of pointwise work, of reductions and of what is moved that each thread is to have. Work
// is shared out from twice as many on: the same number for all, as what two threads have computed
// comes to one that goes on with it from the other core's cache, which takes longer than both parts
// by one. No power of two, so that slices of tensors of such sizes are shared out as these are.
inline constexpr int64_t GRAIN_SIZE = 24576;
// The same for multiply-adds of products with one row, column or term, for elements of what is
// updated in place by another tensor, and for bytes that pointwise operators copy or compute little
// with, but masks alone. They go by the same number: what one thread reads and writes in forward
// and backward, it also updates. Two cores' caches would hand lines over for longer than the
// arithmetic takes.
inline constexpr int64_t kUpdateGrain = 57344;

namespace internal {

extern OPLOOM_API constinit thread_local bool tls_in_parallel_region OPLOOM_TLS_INITIAL_EXEC;

// Threads are there and may be used; a child of fork() has none, as its pool died with the parent.
OPLOOM_API bool threads_available();

// The number of chunks parallel_run will make.
OPLOOM_API int64_t num_chunks(int64_t count, int64_t grain_size);
// Calls chunk(index, begin, end) for each part. The first exception is thrown again at the end;
// chunks that have not begun by then are left out.
OPLOOM_API void parallel_run(int64_t begin, int64_t end, int64_t grain_size,
                             c10::function_ref<void(int64_t, int64_t, int64_t)> chunk);

// Marks serial runs too, so that in_parallel_region() and nesting do not depend on the sizes.
class ParallelRegionGuard {
 public:
  ParallelRegionGuard() : saved_(tls_in_parallel_region) { tls_in_parallel_region = true; }
  ~ParallelRegionGuard() { tls_in_parallel_region = saved_; }
  ParallelRegionGuard(const ParallelRegionGuard&) = delete;
  ParallelRegionGuard& operator=(const ParallelRegionGuard&) = delete;

 private:
  bool saved_;
};

// Whether the range will be split: into parts of at least grain_size.
inline bool will_run_parallel(int64_t count, int64_t grain_size) {
  return count > 1 && count / 2 >= grain_size && !tls_in_parallel_region && threads_available();
}

// Where a loop is compiled: once, whether threads share it or not.
template <typename F>
OPLOOM_NOINLINE void run_chunk(const F& f, int64_t begin, int64_t end) {
  f(begin, end);
}

}  // namespace internal

// True inside a parallel_for, even if it runs serially; nested ones run in the thread they are in.
inline bool in_parallel_region() { return internal::tls_in_parallel_region; }

// Calls f(begin, end) for parts of [begin, end) at the same time, in at most as many parts as it
// has whole pieces of grain_size; a range of less than two runs in one call. The calling thread's
// key sets and grad mode hold in all parts.
template <typename F>
inline void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  if (begin >= end) return;
  if (!internal::will_run_parallel(end - begin, grain_size)) {
    internal::ParallelRegionGuard guard;
    internal::run_chunk(f, begin, end);
    return;
  }
  internal::parallel_run(begin, end, grain_size, [&](int64_t, int64_t first, int64_t last) {
    internal::run_chunk(f, first, last);
  });
}

// A parallel_for over the elements of a tensor that f changes in place, while it goes through as
// many `tensors` of `count` elements of `size` bytes. If the second-level cache holds one of them
// but not all, f gets pieces of a thread's part from the last to the first: what came before left
// the end in the cache, and most of what follows begins at the first element.
template <typename F>
inline void parallel_for_in_place(int64_t count, int64_t size, int64_t tensors, int64_t grain_size,
                                  const F& f) {
  constexpr int64_t kCacheBytes = 1 << 20, kPiece = 16384;
  const int64_t bytes = count * size;
  const bool backwards = bytes <= kCacheBytes && bytes * tensors > kCacheBytes;
  parallel_for(0, count, grain_size, [&](int64_t begin, int64_t end) {
    for (int64_t last = end; last > begin;) {
      const int64_t first = backwards ? std::max(begin, last - kPiece) : begin;
      f(first, last);
      last = first;
    }
  });
}

// f(begin, end, identity) reduces a part, combine(a, b) joins two results. The parts are joined in
// order, but where they begin depends on the number of threads.
template <typename scalar_t, typename F, typename Combine>
inline scalar_t parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, scalar_t identity,
                                const F& f, const Combine& combine) {
  if (begin >= end) return identity;
  if (!internal::will_run_parallel(end - begin, grain_size)) {
    internal::ParallelRegionGuard guard;
    return f(begin, end, identity);
  }
  c10::SmallVector<scalar_t, 16> parts(
      static_cast<std::size_t>(internal::num_chunks(end - begin, grain_size)), identity);
  internal::parallel_run(begin, end, grain_size, [&](int64_t chunk, int64_t first, int64_t last) {
    parts[static_cast<std::size_t>(chunk)] = f(first, last, identity);
  });
  scalar_t result = identity;
  for (const scalar_t& part : parts) result = combine(result, part);
  return result;
}

}  // namespace at::inline oploom_v1
