// at::parallel_for over OpenMP.
#include <aten/core/Parallel.h>

#include <c10/core/GradMode.h>
#include <c10/core/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <set>
#include <string>
#include <utility>

namespace at::inline oploom_v1 {

namespace {

constinit thread_local int tls_thread_num = 0;

// 0 until somebody asks.
constinit std::atomic<int> num_threads{0};
// OpenMP's threads do not survive fork(), and libgomp would wait for them for ever.
constinit std::atomic<bool> is_forked_child{false};

// Physical cores among the processors this process may run on: two hyperthreads of one core are no
// faster than one for arithmetic.
int physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  std::set<std::pair<int, int>> cores;
  int processors = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    ++processors;
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    int package = -1, core = -1;
    std::ifstream(topology + "physical_package_id") >> package;
    std::ifstream(topology + "core_id") >> core;
    if (core >= 0) cores.emplace(package, core);
  }
  const int count = cores.empty() ? processors : static_cast<int>(cores.size());
  return count > 0 ? count : 1;
}

OPLOOM_COLD int initial_num_threads() {
  pthread_atfork(nullptr, nullptr, [] { is_forked_child.store(true); });
  int count = std::getenv("OMP_NUM_THREADS") != nullptr ? omp_get_max_threads() : physical_cores();
  int unset = 0;
  return num_threads.compare_exchange_strong(unset, count) ? count : unset;
}

}  // namespace

int get_num_threads() {
  const int count = num_threads.load(std::memory_order_relaxed);
  return OPLOOM_LIKELY(count > 0) ? count : initial_num_threads();
}

void set_num_threads(int count) {
  OPLOOM_CHECK_VALUE(count > 0, "set_num_threads(): expected a positive number, got ", count);
  get_num_threads();
  num_threads.store(count, std::memory_order_relaxed);
}

int get_thread_num() { return tls_thread_num; }

namespace internal {

constinit thread_local bool tls_in_parallel_region OPLOOM_TLS_INITIAL_EXEC = false;

bool threads_available() {
  // The last: inside somebody else's parallel region, whose threads are busy.
  return get_num_threads() > 1 && !is_forked_child.load(std::memory_order_relaxed) &&
         !omp_in_parallel();
}

namespace {

int64_t divide_up(int64_t a, int64_t b) { return (a - 1) / b + 1; }

// What OpenMP does at the two ends of a parallel region, for the thread sanitizer, which does not
// see it: libgomp is not compiled with it. Everything before what release() marks happens before
// everything after a later acquire() with the same address.
#ifdef __SANITIZE_THREAD__
void release(void* address) { __tsan_release(address); }
void acquire(void* address) { __tsan_acquire(address); }
#else
void release(void*) {}
void acquire(void*) {}
#endif

// Calls body(number of the thread, threads in the team) in up to `wanted` threads; OpenMP may give
// fewer. The sanitizer must not watch this function: how OpenMP hands `body` over, it cannot see.
__attribute__((no_sanitize("thread"))) void run_team(int wanted,
                                                     c10::function_ref<void(int, int)> body) {
  char fork = 0, join = 0;
  release(&fork);
#pragma omp parallel num_threads(wanted)
  {
    acquire(&fork);
    body(omp_get_thread_num(), omp_get_num_threads());
    release(&join);
  }
  acquire(&join);
}

}  // namespace

int64_t num_chunks(int64_t count, int64_t grain_size) {
  const int64_t by_grain = std::max<int64_t>(1, count / std::max<int64_t>(grain_size, 1));
  const int64_t wanted = std::min<int64_t>(get_num_threads(), by_grain);
  // Chunks of equal size, rounded up; fewer of them may do.
  return divide_up(count, divide_up(count, wanted));
}

void parallel_run(int64_t begin, int64_t end, int64_t grain_size,
                  c10::function_ref<void(int64_t, int64_t, int64_t)> chunk) {
  const int64_t count = end - begin;
  const int64_t chunks = num_chunks(count, grain_size);
  const int64_t chunk_size = divide_up(count, chunks);
  const auto run = [&](int64_t i) {
    const int64_t first = begin + i * chunk_size;
    chunk(i, first, first + std::min(chunk_size, end - first));
  };
  if (chunks == 1) {
    ParallelRegionGuard guard;
    run(0);
    return;
  }

  const c10::LocalDispatchKeySet keys = c10::tls_local_keyset();
  const bool grad_mode = c10::GradMode::is_enabled();
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  run_team(static_cast<int>(chunks), [&](int self, int team) {
    const c10::ForceDispatchKeyGuard keys_guard(keys);
    const c10::AutoGradMode grad_guard(grad_mode);
    const ParallelRegionGuard guard;
    const int saved_num = std::exchange(tls_thread_num, self);
    for (int64_t i = self; i < chunks; i += team) {
      if (failed.load(std::memory_order_relaxed)) break;
      try {
        run(i);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
    tls_thread_num = saved_num;
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace internal

}  // namespace at::inline oploom_v1
