// The errors of the float functions of Precision.h over all 2^32 floats, or every n-th: a proof by
// exhaustion, run by hand, in minutes a function. Precision_test.cpp samples the same table.
#include <aten/core/Parallel.h>
#include <tests/aten/cpu/Precision.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace precision;

constexpr const char* kHelp = R"(accuracy [--every N] [--threads N] [FUNCTION...]

For each function of tests/aten/cpu/Precision.h, or those named: its greatest error over all floats (or
every N-th bit pattern) in ULP, where it is, what is promised. Ends with 1 if a promise is broken.
OPLOOM_CPU_CAPABILITY=default|avx2|avx512 chooses the kernels.

The reference is glibc's function of double, itself within 2^-28 ULP of float; where an error comes within
that of the greatest, it is measured again with that of long double.
)";

struct Worst {
  double error = 0;
  float input = 0;
  float result = 0;
};

// Of the bit patterns first, first + step, ... below last.
Worst worst_of(const Function& f, uint64_t first, uint64_t last, uint64_t step) {
  constexpr size_t kChunk = 16384;
  Worst worst;
  std::vector<float> inputs;
  inputs.reserve(kChunk);
  for (uint64_t bits = first; bits < last;) {
    inputs.clear();
    for (; inputs.size() < kChunk && bits < last; bits += step) {
      inputs.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
    const Tensor result = f.function(tensor_of(inputs.data(), inputs.size()));
    const float* got = result.const_data_ptr<float>();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const double x = static_cast<double>(inputs[i]);
      const double expected = f.reference_of_float(x);
      // Most results are the nearest float, and comparing is quicker than measuring.
      if (worst.error > 0.5 && got[i] == static_cast<float>(expected)) continue;
      double error = f.float32.error(got[i], expected);
      if (error <= worst.error * (1 - 1e-7)) continue;
      error = f.float32.error(got[i], f.reference(static_cast<long double>(x)));
      if (error > worst.error) worst = {error, inputs[i], got[i]};
    }
  }
  return worst;
}

bool keeps_promise(const Function& f, uint64_t step, int threads) {
  std::vector<Worst> worst(static_cast<size_t>(threads));
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) {
    pool.emplace_back([&, i] {
      const uint64_t stride = step * static_cast<uint64_t>(threads);
      worst[static_cast<size_t>(i)] =
          worst_of(f, step * static_cast<uint64_t>(i), uint64_t(1) << 32, stride);
    });
  }
  for (std::thread& thread : pool) thread.join();
  const Worst& w = *std::max_element(worst.begin(), worst.end(),
                                     [](auto& a, auto& b) { return a.error < b.error; });
  const bool kept = w.error <= f.float32.ulp();
  std::printf("%-16s %8.4f ULP at %-15a (%.9g): %a, not %La%s\n", f.name, w.error,
              static_cast<double>(w.input), static_cast<double>(w.input),
              static_cast<double>(w.result), f.reference(static_cast<long double>(w.input)),
              kept ? "" : "  MORE THAN PROMISED");
  std::fflush(stdout);
  return kept;
}

}  // namespace

int main(int count, char** arguments) {
  uint64_t step = 1;
  int threads = 2;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if ((argument == "--every" || argument == "--threads") && i + 1 < count) {
      const long value = std::strtol(arguments[++i], nullptr, 10);
      if (value < 1) {
        std::fprintf(stderr, "accuracy: %s: expected a whole number from 1 on, got '%s'\n",
                     argument.c_str(), arguments[i]);
        return 2;
      }
      if (argument == "--every") {
        step = static_cast<uint64_t>(value);
      } else {
        threads = static_cast<int>(value);
      }
    } else if (argument.starts_with("-")) {
      std::fputs(kHelp, argument == "--help" ? stdout : stderr);
      return argument == "--help" ? 0 : 2;
    } else {
      names.push_back(argument);
    }
  }
  for (const std::string& name : names) {
    if (std::none_of(std::begin(kFunctions), std::end(kFunctions),
                     [&](const Function& f) { return name == f.name; })) {
      std::fprintf(stderr, "accuracy: Precision.h has no function '%s'\n", name.c_str());
      return 2;
    }
  }
  at::set_num_threads(1);
  std::printf("%s\n", std::string(at::get_cpu_capability()).c_str());
  bool kept = true;
  for (const Function& f : kFunctions) {
    if (names.empty() || std::find(names.begin(), names.end(), f.name) != names.end()) {
      kept = keeps_promise(f, step, threads) && kept;
    }
  }
  return kept ? 0 : 1;
}
