// Times every case with Google Benchmark. benchmarks/compare runs this program and its twin, which
// is the same source compiled against libtorch, by turns.
#include "Cases.h"

#include <benchmark/benchmark.h>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("library", library::kName);
  benchmark::AddCustomContext("version", library::kVersion);
  benchmark::AddCustomContext("threads", std::to_string(at::get_num_threads()));

  at::manual_seed(0);
  Cases cases;
  add_fixed_costs(cases);
  add_pointwise(cases);
  add_reductions(cases);
  add_matrix_products(cases);
  add_digits(cases);
  for (const Case& c : cases.list()) {
    benchmark::RegisterBenchmark(c.name.c_str(), [&c](benchmark::State& state) {
      c.run(2);  // fresh pages and compiled kernels are not what is measured
      // In one go: the case has the loop.
      while (state.KeepRunningBatch(state.max_iterations)) c.run(state.max_iterations);
      state.counters["operations"] = c.operations;
    })->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
}
