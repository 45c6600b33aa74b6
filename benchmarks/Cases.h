// The list of benchmarks. Each file of cases adds its own; main.cpp times them with Google
// Benchmark, instructions.cpp counts their instructions.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct Case {
  std::string name;  // group/operation/details
  // Calls the operation `times` times. Taking the number inside keeps the cost of a std::function
  // out of what is measured.
  std::function<void(long times)> run;
  int operations = 1;  // in one call; figures are given for one of them
};

class Cases {
 public:
  // `operation` returns what it computes, so that nothing can be optimised away.
  template <class F>
  void add(std::string name, F operation, int operations = 1) {
    const auto run = [operation = std::move(operation)](long times) mutable {
      for (long i = 0; i < times; ++i) {
        if constexpr (std::is_void_v<decltype(operation())>) {
          operation();
          asm volatile("" ::: "memory");
        } else {
          const auto& result = operation();
          asm volatile("" : : "g"(&result) : "memory");
        }
      }
    };
    list_.push_back({std::move(name), run, operations});
  }
  const std::vector<Case>& list() const { return list_; }

 private:
  std::vector<Case> list_;
};

void add_fixed_costs(Cases& cases);
void add_functions(Cases& cases);
void add_indexing(Cases& cases);
void add_layouts(Cases& cases);
void add_matrix_products(Cases& cases);
void add_pointwise(Cases& cases);
void add_random(Cases& cases);
void add_reductions(Cases& cases);
void add_training(Cases& cases);

// Plain loops and calls of libraries, under the names of the cases that they bound (Limits.cpp).
void add_limits(Cases& cases);
