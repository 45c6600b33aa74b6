// TensorIterator: shapes, dtypes, layouts, checks, loops.
#include <aten/Base.h>
#include <aten/core/Empty.h>
#include <aten/core/WrappedNumber.h>
#include <aten/iterator/DenseRows.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/iterator/TypeProperties.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <numeric>

namespace {

using namespace at;
using testing::HasSubstr;

// Zeros: building an iterator reads small operands.
TensorBase make(IntArrayRef sizes, ScalarType dtype = kFloat) {
  TensorBase tensor = at::detail::empty(sizes, TensorOptions().dtype(dtype));
  std::fill_n(static_cast<char*>(tensor.mutable_data_ptr()), tensor.nbytes(), char{0});
  return tensor;
}

TensorBase view(const TensorBase& base, IntArrayRef sizes, IntArrayRef strides,
                int64_t offset = 0) {
  auto impl = c10::make_intrusive<TensorImpl, UndefinedTensorImpl>(
      Storage(base.storage()), base.key_set(), base.scalar_type());
  impl->set_sizes_and_strides(sizes, strides, offset);
  return TensorBase(std::move(impl));
}

TensorBase iota(IntArrayRef sizes) {
  TensorBase tensor = make(sizes);
  std::iota(tensor.data_ptr<float>(), tensor.data_ptr<float>() + tensor.numel(), 0.0f);
  return tensor;
}

template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "no error";
}

void add_floats(char** data, const int64_t* strides, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<float*>(data[0] + i * strides[0]) =
        *reinterpret_cast<const float*>(data[1] + i * strides[1]) +
        *reinterpret_cast<const float*>(data[2] + i * strides[2]);
  }
}

TEST(TensorIterator, BroadcastsAndAllocates) {
  const TensorBase a = iota({3, 1});
  const TensorBase b = iota({4});
  const TensorBase none;
  TensorIterator iter =
      TensorIteratorConfig().add_output(none).add_const_input(a).add_const_input(b).build();
  iter.for_each(add_floats);
  const TensorBase& out = iter.output_base();
  EXPECT_EQ(out.sizes(), IntArrayRef({3, 4}));
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      EXPECT_EQ(out.data_ptr<float>()[4 * i + j], static_cast<float>(i + j));
    }
  }
}

TEST(TensorIterator, RefusesShapesThatDoNotFit) {
  const TensorBase a = make({2, 3});
  const TensorBase b = make({2, 4});
  const TensorBase none;
  EXPECT_THAT(error_of([&] {
                TensorIteratorConfig()
                    .set_name("add")
                    .add_output(none)
                    .add_const_input(a)
                    .add_const_input(b)
                    .build();
              }),
              HasSubstr("add(): tensors of shapes [2, 3] and [2, 4] cannot be broadcast together: "
                        "they differ at dimension 1"));
}

TEST(TensorIterator, MergesDimensionsOfOneLayout) {
  const TensorBase a = iota({2, 3, 4});
  TensorIterator iter = TensorIterator::borrowing_binary_op(TensorBase(), a, a);
  EXPECT_EQ(iter.ndim(), 1);
  EXPECT_TRUE(iter.is_contiguous());
  // The same memory, transposed: one row still, in the order of the memory.
  const TensorBase t = view(a, {4, 3, 2}, {1, 4, 12});
  const TensorBase none;
  TensorIterator transposed =
      TensorIteratorConfig().add_output(none).add_const_input(t).add_const_input(t).build();
  EXPECT_EQ(transposed.ndim(), 1);
  EXPECT_EQ(transposed.output_base().strides(), t.strides());
  // Rows with gaps between them: the outer dimensions are one.
  const TensorBase rows = view(make({2, 3, 8}), {2, 3, 4}, {24, 8, 1});
  TensorIterator of_rows = TensorIteratorConfig().add_output(none).add_const_input(rows).build();
  EXPECT_EQ(of_rows.shape(), IntArrayRef({4, 6}));
  // Every operand has a say: the second one is the same for all rows of a matrix.
  const TensorBase matrices = make({20, 3, 40});
  const TensorBase column = make({20, 1, 40});
  TensorIterator broadcast = TensorIterator::borrowing_binary_op(none, matrices, column);
  EXPECT_EQ(broadcast.shape(), IntArrayRef({40, 3, 20}));
}

TEST(TensorIterator, BringsTransposedDimensionsInside) {
  const TensorBase a = iota({9, 10, 11, 12});
  const TensorBase reversed = view(a, {12, 11, 10, 9}, {1, 12, 132, 1320});
  const TensorBase out = make({12, 11, 10, 9});
  TensorIterator iter = TensorIterator::borrowing_binary_op(out, reversed, reversed);
  // Neighbours of the output, then those of the inputs.
  EXPECT_EQ(iter.shape(), IntArrayRef({9, 12, 11, 10}));
  EXPECT_EQ(iter.strides(0), IntArrayRef({4, 4 * 990, 4 * 90, 4 * 9}));
  EXPECT_EQ(iter.strides(1), IntArrayRef({4 * 1320, 4, 4 * 12, 4 * 132}));
  iter.for_each(add_floats);
  const float* got = out.data_ptr<float>();
  for (int64_t i = 0; i < 12; ++i) {
    for (int64_t j = 0; j < 11; ++j) {
      for (int64_t k = 0; k < 10; ++k) {
        for (int64_t l = 0; l < 9; ++l) {
          ASSERT_EQ(*got++, static_cast<float>(2 * (l * 1320 + k * 132 + j * 12 + i)));
        }
      }
    }
  }
  // Not where the order is given, or where there are too few to transpose.
  TensorIterator linear = TensorIteratorConfig()
                              .add_output(out)
                              .add_const_input(reversed)
                              .enforce_linear_iteration()
                              .build();
  EXPECT_EQ(linear.shape(), IntArrayRef({9, 10, 11, 12}));
  const TensorBase few = view(a, {12, 11, 10, 7}, {1, 12, 132, 1320});
  const TensorBase narrow = make({12, 11, 10, 7});
  EXPECT_EQ(TensorIterator::borrowing_binary_op(narrow, few, few).shape(),
            IntArrayRef({7, 10, 11, 12}));
}

TEST(TensorIterator, OutputsKeepTheLayoutOfTheInputs) {
  const TensorBase base = make({2 * 3 * 4 * 5});
  const TensorBase channels_last = view(base, {2, 3, 4, 5}, {60, 1, 15, 3});
  const TensorBase none;
  TensorIterator same =
      TensorIteratorConfig().add_output(none).add_const_input(channels_last).build();
  EXPECT_TRUE(same.output_base().is_contiguous(MemoryFormat::ChannelsLast));
  // A broadcast operand does not disturb it.
  const TensorBase row = make({3, 1, 1});
  TensorIterator mixed = TensorIteratorConfig()
                             .add_output(none)
                             .add_const_input(channels_last)
                             .add_const_input(row)
                             .build();
  EXPECT_EQ(mixed.output_base().strides(), channels_last.strides());
  // An input with gaps gives a dense output in its order.
  const TensorBase gaps = view(make({100}), {3, 4}, {2, 20});
  TensorIterator dense = TensorIteratorConfig().add_output(none).add_const_input(gaps).build();
  EXPECT_EQ(dense.output_base().strides(), IntArrayRef({1, 3}));
}

TEST(TensorIterator, PromotesByCategory) {
  const auto type = [](const TensorBase& a, const TensorBase& b) {
    TensorIterator iter = TensorIterator::borrowing_binary_op(TensorBase(), a, b);
    EXPECT_EQ(iter.output_base().scalar_type(), iter.common_dtype());
    return iter.common_dtype();
  };
  const auto number = [](Scalar value) { return at::detail::WrappedNumber(value); };
  EXPECT_EQ(type(make({2}, kInt), make({2}, kFloat)), kFloat);
  EXPECT_EQ(type(make({2}, kInt), make({}, kLong)), kInt);
  EXPECT_EQ(type(make({2}, kInt), make({}, kDouble)), kDouble);
  EXPECT_EQ(type(make({2}, kHalf), make({}, kDouble)), kHalf);
  EXPECT_EQ(type(make({2}, kInt), number(1.5)), kFloat);
  EXPECT_EQ(type(make({2}, kByte), number(1)), kByte);
  EXPECT_EQ(type(make({2}, kBool), number(1)), kLong);
  EXPECT_EQ(type(make({}, kDouble), number(1.5)), kDouble);
  EXPECT_EQ(type(make({2}, kDouble), number(c10::complex<double>(0, 1))), kComplexDouble);
  EXPECT_EQ(type(make({2}, kFloat), number(c10::complex<double>(0, 1))), kComplexFloat);
  EXPECT_EQ(type(make({2}, kHalf), make({2}, kBFloat16)), kFloat);
  EXPECT_EQ(type(number(1.5), number(2)), kFloat);
}

TEST(TensorIterator, ConvertsInputsAndOutputs) {
  // 1000 elements: several pieces of the converting loop.
  const int64_t n = 1000;
  TensorBase a = make({n}, kLong);
  for (int64_t i = 0; i < n; ++i) a.data_ptr<int64_t>()[i] = i;
  const TensorBase b = iota({n});
  TensorBase out = make({n}, kDouble);
  TensorIterator iter = TensorIterator::binary_op(out, a, b);
  EXPECT_EQ(iter.common_dtype(), kFloat);
  EXPECT_EQ(iter.dtype(0), kFloat);
  EXPECT_TRUE(iter.has_casts());
  iter.for_each(add_floats);
  for (int64_t i = 0; i < n; ++i)
    EXPECT_EQ(out.data_ptr<double>()[i], 2.0 * static_cast<double>(i));
}

TEST(TensorIterator, ConvertedNumbersMoveWithTheIterator) {
  for (const int64_t n : {3, 1000}) {  // as a row, and as a number
    const TensorBase a = iota({n});
    const at::detail::WrappedNumber one(1);
    const TensorBase none;
    alignas(TensorIterator) unsigned char memory[sizeof(TensorIterator)];
    auto* iter = ::new (memory) TensorIterator;
    iter->build_borrowing_binary_op(none, a, one);
    TensorIterator copy(*iter);
    iter->~TensorIterator();
    std::fill_n(memory, sizeof(memory), static_cast<unsigned char>(0xff));
    copy.for_each(add_floats);
    EXPECT_EQ(copy.output_base().data_ptr<float>()[2], 3.0f);
  }
}

TEST(TensorIterator, OperandsOfAShortCallBecomeRows) {
  // Broadcast and converted: what a kernel sees is one dense row of each.
  TensorBase a = make({4, 1, 3}, kInt);
  for (int64_t i = 0; i < 12; ++i) a.data_ptr<int32_t>()[i] = static_cast<int32_t>(i);
  const TensorBase b = iota({2, 1});
  const TensorBase none;
  TensorIterator iter = TensorIterator::borrowing_binary_op(none, a, b);
  EXPECT_TRUE(iter.is_dense_row());
  EXPECT_EQ(iter.output_base().sizes(), IntArrayRef({4, 2, 3}));
  EXPECT_EQ(iter.dtype(1), kFloat);
  iter.for_each(add_floats);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      for (int64_t k = 0; k < 3; ++k) {
        EXPECT_EQ(iter.output_base().data_ptr<float>()[(i * 2 + j) * 3 + k],
                  static_cast<float>(i * 3 + k + j));
      }
    }
  }
  // The operands themselves are still to be had.
  EXPECT_TRUE(iter.tensor_base(1).is_same(a));
  EXPECT_EQ(iter.strides(2), IntArrayRef({4}));
}

TEST(TensorIterator, ShortRowsOfEveryShapeAndElementSize) {
  const std::vector<std::vector<int64_t>> shapes = {
      {3}, {1, 3}, {2, 1}, {2, 3}, {2, 1, 1}, {2, 2, 1}, {1, 2, 3}, {2, 1, 3}, {2, 1, 1, 3}};
  const std::vector<int64_t> full = {2, 2, 2, 3};
  for (const c10::ScalarType dtype : {c10::kByte, c10::kShort, kInt, kLong, c10::kComplexDouble}) {
    const auto size = static_cast<int64_t>(c10::elementSize(dtype));
    const TensorBase whole = make(full, dtype);
    for (const std::vector<int64_t>& shape : shapes) {
      const TensorBase part = make(shape, dtype);
      auto* bytes = static_cast<unsigned char*>(part.mutable_data_ptr());
      for (size_t i = 0; i < part.nbytes(); ++i) bytes[i] = static_cast<unsigned char>(i + 1);
      const TensorBase none;
      const TensorIterator iter = TensorIterator::borrowing_binary_op(none, whole, part);
      ASSERT_TRUE(iter.is_dense_row());
      const auto* row = static_cast<const unsigned char*>(iter.data_ptr(2));
      for (int64_t i = 0; i < whole.numel(); ++i) {
        int64_t rest = i, from = 0, stride = 1;
        for (size_t d = full.size(); d-- > 0;) {
          const int64_t index = rest % full[d];
          rest /= full[d];
          const size_t lead = full.size() - shape.size();
          if (d < lead) continue;
          if (shape[d - lead] != 1) from += index * stride;
          stride *= shape[d - lead];
        }
        EXPECT_EQ(std::memcmp(row + i * size, bytes + from * size, static_cast<size_t>(size)), 0)
            << c10::toString(dtype) << " of sizes " << part.sizes() << ", element " << i;
      }
    }
  }
}

TEST(TensorIterator, RefusesOutputsOfALowerKind) {
  const TensorBase a = make({2}, kFloat);
  TensorBase out = make({2}, kLong);
  EXPECT_THAT(error_of([&] { TensorIterator::binary_op(out, a, a); }),
              HasSubstr("result dtype float32 can't be cast to the output's dtype int64"));
}

TEST(TensorIterator, RefusesOverlap) {
  const TensorBase base = iota({10});
  const TensorBase expanded = view(base, {4, 3}, {0, 1});
  EXPECT_THAT(error_of([&] { TensorIterator::borrowing_nullary_op(expanded); }),
              HasSubstr("share a single memory location"));
  const TensorBase head = view(base, {9}, {1}, 0);
  const TensorBase tail = view(base, {9}, {1}, 1);
  EXPECT_THAT(error_of([&] { TensorIterator::borrowing_binary_op(head, tail, tail); }),
              HasSubstr("share a part of their memory"));
  // Rows with gaps between them.
  const TensorBase left = view(base, {2, 3}, {5, 1}), right = view(base, {2, 3}, {5, 1}, 1);
  EXPECT_THAT(error_of([&] { TensorIterator::borrowing_binary_op(left, left, right); }),
              HasSubstr("share a part of their memory"));
  // In place is no overlap; neither are rows of which each lies in a gap.
  EXPECT_EQ(TensorIterator::borrowing_binary_op(head, head, head).numel(), 9);
  const TensorBase gaps = view(base, {2, 2}, {5, 1}, 3);
  const TensorBase rows = view(base, {2, 2}, {5, 1});
  EXPECT_EQ(TensorIterator::borrowing_binary_op(rows, rows, gaps).numel(), 4);
}

TEST(TensorIterator, InPlaceKeepsTheShape) {
  const TensorBase a = make({3});
  const TensorBase b = make({2, 3});
  EXPECT_THAT(error_of([&] { TensorIterator::borrowing_binary_op(a, a, b); }),
              HasSubstr("output with shape [3] doesn't match the broadcast shape [2, 3]"));
}

TEST(TensorIterator, ResizesOutputs) {
  TensorBase out = make({0});
  const TensorBase a = iota({2, 3});
  TensorIterator iter = TensorIterator::binary_op(out, a, a);
  iter.for_each(add_floats);
  EXPECT_EQ(out.sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(out.data_ptr<float>()[5], 10.0f);
}

TEST(TensorIterator, MetaTensorsHaveNoLoops) {
  const TensorBase a = at::detail::empty({2, 1}, TensorOptions().dtype(kFloat).device(kMeta));
  const TensorBase b = at::detail::empty({3}, TensorOptions().dtype(kDouble).device(kMeta));
  TensorIterator iter = TensorIterator::borrowing_binary_op(TensorBase(), a, b);
  EXPECT_TRUE(iter.output_base().is_meta());
  EXPECT_EQ(iter.output_base().sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(iter.output_base().scalar_type(), kDouble);
}

TEST(TensorIterator, RefusesTwoDevices) {
  const TensorBase a = make({2});
  const TensorBase b = at::detail::empty({2}, TensorOptions().dtype(kFloat).device(kMeta));
  EXPECT_THAT(error_of([&] { TensorIterator::borrowing_binary_op(TensorBase(), a, b); }),
              HasSubstr("expected all tensors to be on the same device"));
}

TEST(TensorIterator, ThreadsCoverAllElementsOnce) {
  const TensorBase base = make({401 * 302});
  const TensorBase strided = view(base, {200, 301}, {302 * 2, 1});
  TensorIterator iter = TensorIterator::borrowing_nullary_op(strided);
  std::fill_n(base.data_ptr<float>(), base.numel(), 0.0f);
  std::atomic<int64_t> count = 0;
  iter.for_each(
      [&](char** data, const int64_t* strides, int64_t n) {
        count += n;
        for (int64_t i = 0; i < n; ++i) *reinterpret_cast<float*>(data[0] + i * strides[0]) += 1.0f;
      },
      1000);
  EXPECT_EQ(count, 200 * 301);
  for (int64_t i = 0; i < 200; ++i) {
    for (int64_t j = 0; j < 302; ++j) {
      ASSERT_EQ(base.data_ptr<float>()[i * 604 + j], j < 301 ? 1.0f : 0.0f);
    }
  }
}

TEST(TensorIterator, EmptyTensorsRunNoLoop) {
  const TensorBase a = make({0, 3});
  TensorIterator iter = TensorIterator::borrowing_binary_op(TensorBase(), a, a);
  bool called = false;
  iter.for_each([&](char**, const int64_t*, int64_t) { called = true; });
  EXPECT_FALSE(called);
}

TEST(TensorIterator, ReducesInParts) {
  const int64_t rows = 300;
  const int64_t columns = 500;
  TensorBase in = make({rows, columns}, kDouble);
  for (int64_t i = 0; i < in.numel(); ++i) in.data_ptr<double>()[i] = static_cast<double>(i % 7);
  const auto sum = [](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    for (int64_t j = 0; j < size1; ++j) {
      for (int64_t i = 0; i < size0; ++i) {
        *reinterpret_cast<double*>(data[0] + i * strides[0] + j * strides[2]) +=
            *reinterpret_cast<const double*>(data[1] + i * strides[1] + j * strides[3]);
      }
    }
  };
  for (const bool inner : {true, false}) {
    TensorBase out = make({inner ? rows : columns}, kDouble);
    std::fill_n(out.data_ptr<double>(), out.numel(), 0.0);
    TensorBase expanded =
        view(out, {rows, columns}, inner ? IntArrayRef({1, 0}) : IntArrayRef({0, 1}));
    TensorIterator iter = TensorIterator::reduce_op(expanded, in);
    EXPECT_EQ(iter.num_output_elements(), out.numel());
    EXPECT_TRUE(iter.is_dim_reduced(0));
    iter.parallel_reduce(sum);
    for (int64_t k = 0; k < out.numel(); ++k) {
      double expected = 0;
      for (int64_t l = 0; l < (inner ? columns : rows); ++l) {
        expected += in.data_ptr<double>()[inner ? k * columns + l : l * columns + k];
      }
      ASSERT_EQ(out.data_ptr<double>()[k], expected);
    }
  }
  TensorBase total = make({1}, kDouble);
  total.data_ptr<double>()[0] = 0;
  TensorBase expanded = view(total, {rows, columns}, {0, 0});
  TensorIterator::reduce_op(expanded, in).parallel_reduce(sum);
  const double* first = in.data_ptr<double>();
  EXPECT_EQ(total.data_ptr<double>()[0], std::accumulate(first, first + in.numel(), 0.0));
}

TEST(TensorIterator, ForeachReducedElementSeesItsInputs) {
  const TensorBase in = iota({4, 5});
  TensorBase out = make({4});
  TensorBase expanded = view(out, {4, 5}, {1, 0});
  TensorIterator iter = TensorIterator::reduce_op(expanded, in);
  iter.foreach_reduced_elt([](TensorIteratorBase& part) {
    EXPECT_EQ(part.numel(), 5);
    float sum = 0;
    part.for_each([&](char** data, const int64_t* strides, int64_t n) {
      for (int64_t i = 0; i < n; ++i) sum += *reinterpret_cast<float*>(data[1] + i * strides[1]);
    });
    *static_cast<float*>(part.data_ptr(0)) = sum;
  });
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(out.data_ptr<float>()[i], static_cast<float>(25 * i + 10));
  }
}

TEST(DenseRows, EveryKindOfStride) {
  // out[j][i] = a[i][j] (transposed) + b[j] (one for a row) + c[2 i] (with gaps)
  const int64_t size0 = 777;
  const int64_t size1 = 37;
  std::vector<float> a(size0 * size1);
  std::vector<float> b(size1);
  std::vector<float> c(2 * size0);
  std::vector<float> out(3 * size0 * size1);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 0.5f);
  std::iota(c.begin(), c.end(), 1.0f);
  for (const int64_t out_stride : {1, 3}) {
    char* data[] = {reinterpret_cast<char*>(out.data()), reinterpret_cast<char*>(a.data()),
                    reinterpret_cast<char*>(b.data()), reinterpret_cast<char*>(c.data())};
    const int64_t strides[] = {4 * out_stride, 4 * size1, 0, 8, 4 * out_stride * size0, 4, 4, 0};
    const int64_t sizes[] = {4, 4, 4, 4};
    at::detail::for_each_dense_row(
        data, strides, sizes, 1, 4, size0, size1, false,
        at::detail::row_by_row<4>([](char* const* row, int64_t n, uint32_t) {
          const auto at = [&](int k) { return reinterpret_cast<float*>(row[k]); };
          for (int64_t i = 0; i < n; ++i) {
            at(0)[i] = at(1)[i] + at(2)[i] + at(3)[i];
          }
        }));
    for (int64_t j = 0; j < size1; ++j) {
      for (int64_t i = 0; i < size0; ++i) {
        ASSERT_EQ(out[out_stride * (j * size0 + i)], a[i * size1 + j] + b[j] + c[2 * i]);
      }
    }
  }
}

TEST(MemoryOverlap, FindsWhatOverlaps) {
  const TensorBase base = make({100});
  EXPECT_EQ(has_internal_overlap(view(base, {3, 4}, {4, 1})), MemOverlap::No);
  EXPECT_EQ(has_internal_overlap(view(base, {3, 4}, {20, 2})), MemOverlap::No);
  EXPECT_EQ(has_internal_overlap(view(base, {3, 4}, {0, 1})), MemOverlap::Yes);
  EXPECT_EQ(has_internal_overlap(view(base, {3, 4}, {1, 1})), MemOverlap::TooHard);
  const TensorBase a = view(base, {10}, {1});
  EXPECT_EQ(get_overlap_status(a, a), MemOverlapStatus::Full);
  EXPECT_EQ(get_overlap_status(a, view(base, {10}, {1}, 10)), MemOverlapStatus::No);
  EXPECT_EQ(get_overlap_status(a, view(base, {10}, {1}, 9)), MemOverlapStatus::Partial);
  EXPECT_EQ(get_overlap_status(view(base, {2, 3}, {3, 1}), view(base, {2, 3}, {1, 2})),
            MemOverlapStatus::Partial);
  EXPECT_EQ(get_overlap_status(a, make({10})), MemOverlapStatus::No);
}

// Against all pairs of elements.
TEST(MemoryOverlap, ElementsThatTwoViewsShare) {
  const TensorBase base = make({400});
  const auto places = [](IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
    std::vector<int64_t> all = {offset};
    for (size_t d = 0; d < sizes.size(); ++d) {
      std::vector<int64_t> longer;
      for (const int64_t place : all) {
        for (int64_t i = 0; i < sizes[d]; ++i) longer.push_back(place + i * strides[d]);
      }
      all = longer;
    }
    return all;
  };
  struct Layout {
    std::vector<int64_t> sizes, strides;
  };
  const std::vector<Layout> layouts = {{{7}, {3}},
                                       {{4, 5}, {8, 1}},
                                       {{5, 4}, {1, 9}},
                                       {{4, 3}, {7, 2}},
                                       {{3, 3, 4}, {30, 7, 1}},
                                       {{3, 1, 4}, {20, 3, 5}},
                                       {{2, 3, 2, 3}, {60, 20, 9, 2}}};
  for (const Layout& layout : layouts) {
    const TensorBase a = view(base, layout.sizes, layout.strides, 150);
    const auto of_a = places(layout.sizes, layout.strides, 150);
    for (int64_t offset = 0; offset < 250; ++offset) {
      const auto of_b = places(layout.sizes, layout.strides, offset);
      const bool share = offset != 150 && std::any_of(of_a.begin(), of_a.end(), [&](int64_t place) {
                           return std::find(of_b.begin(), of_b.end(), place) != of_b.end();
                         });
      const TensorBase b = view(base, layout.sizes, layout.strides, offset);
      const MemOverlapStatus status = offset == 150 ? MemOverlapStatus::Full
                                      : share       ? MemOverlapStatus::Partial
                                                    : MemOverlapStatus::No;
      EXPECT_EQ(get_overlap_status(a, b), status) << IntArrayRef(layout.sizes) << ' ' << offset;
      EXPECT_EQ(get_overlap_status(b, a), status);
    }
  }
  const TensorBase row = view(base, {4}, {0}, 10);
  EXPECT_EQ(get_overlap_status(view(base, {4}, {3}, 4), row), MemOverlapStatus::TooHard);
  EXPECT_EQ(get_overlap_status(view(base, {4}, {3}, 11), row), MemOverlapStatus::No);
}

}  // namespace
