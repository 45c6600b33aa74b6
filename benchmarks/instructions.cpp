// Runs each case of fixed cost under callgrind and has it write a profile for each, from which
// benchmarks/instructions reads how many instructions a call takes.
//
//   oploom_instructions TIMES
#include "Cases.h"
#include "Library.h"

#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const long times = argc == 2 ? std::atol(argv[1]) : 0;
  if (times <= 0 || RUNNING_ON_VALGRIND == 0) {
    std::fprintf(stderr, "usage: valgrind --tool=callgrind --instr-atstart=no %s TIMES\n", argv[0]);
    return 2;
  }
  at::manual_seed(0);
  at::set_num_threads(1);
  Cases cases;
  add_fixed_costs(cases);
  for (const Case& c : cases.list()) {
    c.run(times);  // fills pools and caches
    CALLGRIND_START_INSTRUMENTATION;
    c.run(times);
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS_AT(c.name.c_str());
    std::printf("%s\t%d\n", c.name.c_str(), c.operations);
  }
}
