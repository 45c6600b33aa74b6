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
// True inside a parallel_for, even if it runs serially; nested ones run in the thread they are in.
OPLOOM_API bool in_parallel_region();

// Pointwise work below this many elements is not worth waking a thread for.
inline constexpr int64_t GRAIN_SIZE = 32768;

namespace internal {

// Whether the range will be split; a child of fork() never does, as its pool died with the parent.
OPLOOM_API bool will_run_parallel(int64_t count, int64_t grain_size);
// The number of chunks parallel_run will make.
OPLOOM_API int64_t num_chunks(int64_t count, int64_t grain_size);
// Calls chunk(index, begin, end) for each part. The first exception is thrown again at the end;
// chunks that have not begun by then are left out.
OPLOOM_API void parallel_run(int64_t begin, int64_t end, int64_t grain_size,
                             c10::function_ref<void(int64_t, int64_t, int64_t)> chunk);

// Marks serial runs too, so that in_parallel_region() and nesting do not depend on the sizes.
class OPLOOM_API ParallelRegionGuard {
 public:
  ParallelRegionGuard();
  ~ParallelRegionGuard();
  ParallelRegionGuard(const ParallelRegionGuard&) = delete;
  ParallelRegionGuard& operator=(const ParallelRegionGuard&) = delete;

 private:
  bool saved_;
};

}  // namespace internal

// Calls f(begin, end) for parts of [begin, end), none smaller than grain_size (but for the last),
// at the same time. The calling thread's key sets and grad mode hold in all of them.
template <typename F>
inline void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  if (begin >= end) return;
  if (!internal::will_run_parallel(end - begin, grain_size)) {
    internal::ParallelRegionGuard guard;
    f(begin, end);
    return;
  }
  internal::parallel_run(begin, end, grain_size,
                         [&](int64_t, int64_t first, int64_t last) { f(first, last); });
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
