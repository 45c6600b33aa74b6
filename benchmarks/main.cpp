// Times every case with Google Benchmark. benchmarks/compare runs this program and its peers by
// turns: the same source compiled against libtorch, and what limits both (OPLOOM_BENCHMARK_LIMITS).
#include "Cases.h"
#ifdef OPLOOM_BENCHMARK_LIMITS
namespace library {
constexpr const char* kVersion = "of this machine";
}
#else
#include "Library.h"
#endif

#include <benchmark/benchmark.h>

#include <omp.h>
#include <chrono>
#include <exception>

namespace {

Cases all_cases() {
  Cases cases;
#ifdef OPLOOM_BENCHMARK_LIMITS
  add_limits(cases);
#else
  at::set_num_threads(omp_get_max_threads());  // of OMP_NUM_THREADS
  at::manual_seed(0);
  add_fixed_costs(cases);
  add_pointwise(cases);
  add_functions(cases);
  add_layouts(cases);
  add_reductions(cases);
  add_indexing(cases);
  add_random(cases);
  add_matrix_products(cases);
  add_training(cases);
#endif
  return cases;
}

// Fresh pages, compiled kernels and a processor that has not reached its clock are not what is
// measured: the first dozen products of 1024 x 1024 take a tenth longer than those that follow.
void warm_up(const Case& c) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 16; ++i) {
    c.run(1);
    if (i > 0 && std::chrono::steady_clock::now() - start > std::chrono::milliseconds(150)) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("version", library::kVersion);
  benchmark::AddCustomContext("threads", std::to_string(omp_get_max_threads()));
  const Cases cases = all_cases();
  for (const Case& c : cases.list()) {
    benchmark::RegisterBenchmark(c.name.c_str(), [&c](benchmark::State& state) {
      try {
        warm_up(c);
      } catch (const std::exception& error) {  // what a library does not have
        state.SkipWithError(error.what());
        return;
      }
      // In one go: the case has the loop.
      while (state.KeepRunningBatch(state.max_iterations)) c.run(state.max_iterations);
      state.counters["operations"] = c.operations;
    })->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
}
