// What the loops on a GPU are made of, without a GPU: division by multiplication, offsets, and
// cutting of problems that 32 bits cannot number.
#include <aten/cuda/Convert.h>
#include <aten/cuda/Elementwise.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace at::cuda;
using at::ScalarType;

TEST(IntegerDivider, DividesLikeTheProcessor) {
  std::mt19937 random(1);
  std::vector<uint32_t> numbers = {0,   1,   2,     3,     5,           7,          255,
                                   256, 641, 65535, 65536, 0x7ffffffeu, 0x7fffffffu};
  for (int i = 0; i < 200; ++i) numbers.push_back(static_cast<uint32_t>(random()) >> (1 + i % 31));
  for (const uint32_t divisor : numbers) {
    if (divisor == 0) continue;
    const IntegerDivider divider(divisor);
    for (const uint32_t n : numbers) {
      const auto split = divider.divide(n);
      ASSERT_EQ(split.quotient, n / divisor) << n << " / " << divisor;
      ASSERT_EQ(split.remainder, n % divisor) << n << " % " << divisor;
    }
    for (uint64_t multiple = divisor; multiple < 0x80000000u; multiple = multiple * 3 + divisor) {
      const auto n = static_cast<uint32_t>(multiple / divisor * divisor);
      ASSERT_EQ(divider.divide(n).quotient, n / divisor);
      ASSERT_EQ(divider.divide(n - 1).quotient, (n - 1) / divisor);
    }
  }
}

// An address that is never read.
char* const kBase = reinterpret_cast<char*>(uintptr_t{1} << 44);

ElementwiseProblem problem_of(at::DimVector shape, at::DimVector first, at::DimVector second) {
  ElementwiseProblem problem;
  problem.operands = 2;
  problem.numel = 1;
  for (const int64_t size : shape) problem.numel *= size;
  problem.shape = shape;
  problem.strides[0] = first;
  problem.strides[1] = second;
  problem.data[0] = problem.data[1] = kBase;
  return problem;
}

TEST(OffsetCalculator, FindsEveryElementOnce) {
  const ElementwiseProblem problem = problem_of({3, 5, 4}, {4, 12, 60}, {0, 8, 40});
  const OffsetCalculator<2> offsets(problem);
  for (uint32_t i = 0; i < 60; ++i) {
    const auto at = offsets.get(i);
    EXPECT_EQ(at.of[0], 4 * i);
    EXPECT_EQ(at.of[1], i / 3 % 5 * 8 + i / 15 * 40);
  }
}

// The parts cover the addresses of the whole; nothing is read there.
TEST(ForEachPart, CutsWhat32BitsCannotNumber) {
  const int64_t rows = int64_t{1} << 20, columns = int64_t{1} << 13;  // 2^33 elements
  ElementwiseProblem problem = problem_of({columns, rows}, {4, 4 * columns}, {0, 4});
  int64_t covered = 0;
  std::set<char*> starts;
  for_each_part(problem, [&](const ElementwiseProblem& part) {
    covered += part.numel;
    EXPECT_LE(part.numel, INT32_MAX);
    int64_t last = 0, numel = 1;
    for (size_t d = 0; d < part.shape.size(); ++d) {
      last += (part.shape[d] - 1) * part.strides[0][d];
      numel *= part.shape[d];
    }
    EXPECT_LE(last, INT32_MAX);
    EXPECT_EQ(numel, part.numel);
    EXPECT_TRUE(starts.insert(part.data[0]).second);
    EXPECT_EQ(part.data[1] - kBase, (part.data[0] - kBase) / (4 * columns) * 4);
  });
  EXPECT_EQ(covered, rows * columns);
  EXPECT_GE(starts.size(), 16u);
}

TEST(ForEachPart, TakesManyDimensionsOneByOne) {
  at::DimVector shape, strides;
  for (int d = 0; d < 18; ++d) {
    shape.push_back(2);
    strides.push_back(int64_t{4} << d);
  }
  ElementwiseProblem problem = problem_of(shape, strides, strides);
  std::set<int64_t> starts;
  for_each_part(problem, [&](const ElementwiseProblem& part) {
    EXPECT_EQ(part.shape.size(), 16u);
    EXPECT_EQ(part.numel, 1 << 16);
    starts.insert(part.data[1] - kBase);
  });
  EXPECT_EQ(starts, (std::set<int64_t>{0, 4 << 16, 4 << 17, (4 << 16) + (4 << 17)}));
}

TEST(ForEachPart, HasNothingToDoWithoutElements) {
  for_each_part(problem_of({0, 3}, {4, 0}, {4, 0}),
                [](const ElementwiseProblem&) { FAIL() << "called"; });
}

TEST(Packs, NeedDenseAlignedRows) {
  const size_t bytes[] = {4, 4};
  const auto take = [&](at::DimVector shape, at::DimVector first, at::DimVector second,
                        int64_t offset = 0) {
    ElementwiseProblem problem = problem_of(shape, first, second);
    problem.data[1] += offset;
    return takes_packs(problem, 4, bytes);
  };
  EXPECT_TRUE(take({100}, {4}, {4}));
  EXPECT_TRUE(take({101}, {4}, {4})) << "the last pack has one element";
  EXPECT_TRUE(take({1}, {4}, {0}));
  EXPECT_TRUE(take({100, 3}, {4, 400}, {0, 4})) << "a column";
  EXPECT_TRUE(take({100, 3}, {4, 400}, {4, 0})) << "a row";
  EXPECT_FALSE(take({}, {}, {}));
  EXPECT_FALSE(take({100}, {4}, {8}));
  EXPECT_FALSE(take({100}, {4}, {4}, 4)) << "at no multiple of 16 bytes";
  EXPECT_TRUE(take({100}, {4}, {0}, 4)) << "a number anywhere";
  EXPECT_FALSE(take({101, 3}, {4, 404}, {4, 404})) << "packs would reach into the next row";
  EXPECT_FALSE(take({100, 3}, {4, 400}, {4, 404}));
  EXPECT_FALSE(take({100, 100}, {4, 400}, {400, 4})) << "transposed";

  const ElementwiseProblem packs = in_packs(problem_of({101}, {4}, {0}), 4);
  EXPECT_EQ(packs.numel, 26);
  EXPECT_EQ(packs.shape, at::DimVector({26}));
  EXPECT_EQ(packs.strides[0], at::DimVector({16}));
  EXPECT_EQ(packs.strides[1], at::DimVector({0}));
  EXPECT_EQ(in_packs(problem_of({100, 3}, {4, 400}, {4, 0}), 4).numel, 75);
}

// Every pair of offsets once, and tiles where one operand is transposed.
TEST(ForEachTiled, OnlyChangesTheOrder) {
  for (const auto& [columns, rows] :
       {std::pair<int64_t, int64_t>{320, 400}, {321, 402}, {327, 403}, {5, 9000}, {9000, 3}}) {
    const ElementwiseProblem problem =
        problem_of({columns, 2, rows}, {4, 4 * columns, 8 * columns}, {8 * rows, 4, 8});
    std::set<std::pair<int64_t, int64_t>> expected, found;
    const auto offsets_of = [](const ElementwiseProblem& part, auto& into) {
      const OffsetCalculator<2> offsets(part);
      for (uint32_t i = 0; i < part.numel; ++i) {
        const auto at = offsets.get(i);
        into.emplace(part.data[0] - kBase + at.of[0], part.data[1] - kBase + at.of[1]);
      }
      return static_cast<int64_t>(into.size());
    };
    offsets_of(problem, expected);
    int64_t covered = 0;
    bool tiled = false;
    for_each_tiled(problem, [&](const ElementwiseProblem& part) {
      covered += part.numel;
      EXPECT_EQ(offsets_of(part, found), covered) << columns << " x " << rows;
      tiled = tiled || (part.shape.size() == 5 && part.shape[0] == 8 && part.shape[1] == 4);
    });
    EXPECT_EQ(found, expected) << columns << " x " << rows;
    EXPECT_EQ(tiled, columns >= 8 && rows >= 4) << columns << " x " << rows;
  }
}

// Every pair of dtypes against the CPU's conversion of a number.
TEST(Convert, IsThatOfTheCPU) {
  const double numbers[] = {0, 1, -1, 2.5, -2.5, 100, 200.75, -3e4, 65504, 1e-6};
  for (int from = 0; from < c10::kNumScalarTypes; ++from) {
    for (int to = 0; to < c10::kNumScalarTypes; ++to) {
      for (const double number : numbers) {
        const Element source =
            convert_number(&number, static_cast<ScalarType>(from), ScalarType::Double);
        const Element got =
            convert_number(&source, static_cast<ScalarType>(to), static_cast<ScalarType>(from));
        Element target{};
        ElementwiseProblem problem = problem_of({1}, {0}, {0});
        problem.data[0] = reinterpret_cast<char*>(&target);
        problem.data[1] = const_cast<char*>(reinterpret_cast<const char*>(&source));
        convert_elements(problem, static_cast<ScalarType>(to), static_cast<ScalarType>(from));
        EXPECT_EQ(std::memcmp(&target, &got, sizeof got), 0);
        // The oracle.
        const auto expected = [&]<typename To>(To) {
          To value{};
          switch (static_cast<ScalarType>(from)) {
#define OPLOOM_CASE(type, name, text)                                       \
  case ScalarType::name:                                                    \
    value = c10::convert<To>(*reinterpret_cast<const type*>(source.bytes)); \
    break;
            OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
            default:
              break;
          }
          return std::memcmp(&value, got.bytes, sizeof value) == 0;
        };
        bool same = false;
        switch (static_cast<ScalarType>(to)) {
#define OPLOOM_CASE(type, name, text) \
  case ScalarType::name:              \
    same = expected(type{});          \
    break;
          OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
          default:
            break;
        }
        EXPECT_TRUE(same) << number << " from " << static_cast<ScalarType>(from) << " to "
                          << static_cast<ScalarType>(to);
      }
    }
  }
}

}  // namespace
