// Runs each case of fixed cost under valgrind: callgrind writes a profile for each, from which
// benchmarks/instructions reads how many instructions a call takes; in lackey's trace,
// benchmarks/stalls finds where a call begins by what is stored to `running`.
//
//   oploom_instructions TIMES
#include "Cases.h"
#include "Library.h"

#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>

// Whether a case is being run that is looked at.
static volatile int running = 0;

// What code lies where, for addresses in a trace.
static void print_maps() {
  if (std::FILE* maps = std::fopen("/proc/self/maps", "r")) {
    for (int c; (c = std::fgetc(maps)) != EOF;) std::fputc(c, stderr);
    std::fclose(maps);
  }
}

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
  print_maps();
  std::printf("%p\n", static_cast<void*>(const_cast<int*>(&running)));
  for (const Case& c : cases.list()) {
    c.run(times);  // fills pools and caches
    running = 1;
    CALLGRIND_START_INSTRUMENTATION;
    c.run(times);
    CALLGRIND_STOP_INSTRUMENTATION;
    running = 0;
    CALLGRIND_DUMP_STATS_AT(c.name.c_str());
    std::printf("%s\t%d\n", c.name.c_str(), c.operations);
  }
}
