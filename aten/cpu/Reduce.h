// The engine of the reductions: orders and merges dimensions, splits the work, walks over memory.
// A kernel supplies an operation (see Note [Reduction operations]) and calls reduce().
#pragma once

#include <aten/core/Parallel.h>
#include <aten/core/TensorBase.h>
#include <aten/iterator/Walker.h>
#include <aten/stubs/ReduceOps.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {

// Note [Reduction operations]
// The engine knows nothing about dtypes: it moves bytes and calls the functions of a Reduction, so
// that it is compiled once and not for each operation and dtype. make_reduction<Op>() makes them
// from a struct of static functions that are written with types:
//   Elem, Acc                   what it works on; the state of a reduction
//   Acc identity()
//   Acc chunk(const Elem*, n)   reduces n >= 1 elements that lie side by side
//   Acc combine(Acc, Acc)
//   struct Columns              the states of up to kColumns neighbouring outputs, with
//     add(const Elem* const* rows, nrows, n) (the first call), merge(const Columns&, n), get(j)
// int8 input, say, needs no more than a function that turns it into Elem.
//
// Note [Order of a reduction]
// How elements are grouped depends on sizes and strides alone, and within a group on fixed widths,
// so a result has the same bits for every number of threads and every instruction set. Groups are
// combined pairwise: the rounding error of a sum grows with the logarithm of its length.

// Elements that are reduced at once; their converted copy fits into the first-level cache.
inline constexpr int64_t kChunk = 1024;
// Outputs, and rows for each, that are reduced side by side.
inline constexpr int64_t kColumns = 512;
inline constexpr int64_t kRows = 16;
// Elements for which another thread is worth starting.
inline constexpr int64_t kReduceGrain = 32768;

// Puts the shortest strides first, merges neighbours.
inline void simplify(WalkDims& dims) {
  // Stride 0 (an expanded dimension) counts as the longest.
  auto key = [](const WalkDim& d) {
    return d.in == 0 ? std::numeric_limits<int64_t>::max() : std::abs(d.in);
  };
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t j = i; j > 0 && key(dims[j]) < key(dims[j - 1]); --j)
      std::swap(dims[j], dims[j - 1]);
  }
  size_t last = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    WalkDim& inner = dims[last];
    if (dims[i].in == inner.size * inner.in && dims[i].out == inner.size * inner.out) {
      inner.size *= dims[i].size;
    } else {
      dims[++last] = dims[i];
    }
  }
  if (!dims.empty()) dims.resize(last + 1);
}

struct ReducePlan {
  ReducePlan(const TensorBase& out, const TensorBase& in, DimMask mask) {
    const bool keepdim = out.dim() == in.dim();
    const auto in_size = static_cast<int64_t>(in.itemsize());
    const auto out_size = static_cast<int64_t>(out.itemsize());
    int64_t out_dim = 0;
    for (int64_t d = 0; d < in.dim(); ++d) {
      const int64_t size = in.sizes()[d];
      const int64_t stride = in.strides()[d] * in_size;
      const bool is_reduced = (mask >> d) & 1;
      if (is_reduced) {
        count *= size;
        if (size != 1) reduced.push_back({size, stride, 0});
      } else {
        outputs *= size;
        if (size != 1) {
          kept.push_back({size, stride, out.strides()[keepdim ? d : out_dim] * out_size});
        }
      }
      if (keepdim || !is_reduced) ++out_dim;
    }
    if (outputs == 0 || count == 0) return;
    simplify(reduced);
    if (reduced.empty()) reduced.push_back({1, in_size, 0});
    simplify(kept);
    // Neighbouring outputs are reduced side by side where they lie closer together than the
    // elements of one, or where one has few of them.
    if (!kept.empty()) {
      const int64_t width = kept[0].size;
      by_columns = std::abs(reduced[0].in) > std::abs(kept[0].in) && kept[0].in != 0
                       ? width >= 8
                       : reduced[0].size < 32 && width >= 16;
    }
  }

  WalkDims kept;
  WalkDims reduced;
  int64_t outputs = 1;
  // Elements for each output.
  int64_t count = 1;
  bool by_columns = false;
};

// The state of one output, whatever the operation's Acc is.
struct alignas(16) ReduceState {
  char bytes[32];
};

struct Reduction {
  // The operation; see Note [Reduction operations].
  size_t elem_size;
  size_t columns_size;
  void (*identity)(ReduceState& state);
  void (*chunk)(const void* elements, int64_t n, ReduceState& state);
  // b becomes the state of a's and b's elements together.
  void (*combine)(const ReduceState& a, ReduceState& b);
  void (*columns_add)(void* columns, const void* const* rows, int64_t nrows, int64_t n);
  void (*columns_merge)(const void* a, void* b, int64_t n);
  void (*columns_get)(const void* columns, int64_t j, ReduceState& state);
  // Turns n elements of the input, `stride` bytes apart, into Elem.
  void (*load)(const char* in, int64_t stride, int64_t n, void* out, double parameter);
  // Writes the result, given the state of `count` elements.
  void (*store)(const ReduceState& state, int64_t count, char* out, double parameter);
  // The input is Elem already and is used where it lies.
  bool direct;
  double parameter;
};

template <typename Op>
Reduction make_reduction(decltype(Reduction::load) load, decltype(Reduction::store) store,
                         bool direct, double parameter = 0) {
  using Elem = typename Op::Elem;
  using Acc = typename Op::Acc;
  using Columns = typename Op::Columns;
  static_assert(sizeof(Acc) <= sizeof(ReduceState) && std::is_trivially_copyable_v<Acc>);
  static_assert(std::is_trivially_copyable_v<Columns>);
  return {
      sizeof(Elem),
      sizeof(Columns),
      [](ReduceState& state) { new (&state) Acc(Op::identity()); },
      [](const void* elements, int64_t n, ReduceState& state) {
        new (&state) Acc(Op::chunk(static_cast<const Elem*>(elements), n));
      },
      [](const ReduceState& a, ReduceState& b) {
        new (&b) Acc(Op::combine(reinterpret_cast<const Acc&>(a), reinterpret_cast<const Acc&>(b)));
      },
      [](void* columns, const void* const* rows, int64_t nrows, int64_t n) {
        static_cast<Columns*>(columns)->add(reinterpret_cast<const Elem* const*>(rows), nrows, n);
      },
      [](const void* a, void* b, int64_t n) {
        static_cast<Columns*>(b)->merge(*static_cast<const Columns*>(a), n);
      },
      [](const void* columns, int64_t j, ReduceState& state) {
        new (&state) Acc(static_cast<const Columns*>(columns)->get(j));
      },
      load,
      store,
      direct,
      parameter,
  };
}

// Combines states pairwise: the k-th level holds a state of 2^k parts, or nothing.
class Cascade {
 public:
  explicit Cascade(const Reduction& r) : r_(r) {}
  void push(ReduceState state) {
    size_t level = 0;
    for (uint64_t n = parts_++; n & 1; n >>= 1, ++level) r_.combine(levels_[level], state);
    if (level == levels_.size()) levels_.push_back(state);
    levels_[level] = state;
  }
  // There must be a part.
  ReduceState finish() const {
    size_t level = 0;
    while (((parts_ >> level) & 1) == 0) ++level;
    ReduceState result = levels_[level];
    for (++level; (parts_ >> level) != 0; ++level) {
      if ((parts_ >> level) & 1) r_.combine(levels_[level], result);
    }
    return result;
  }

 private:
  const Reduction& r_;
  SmallVector<ReduceState, 8> levels_;
  uint64_t parts_ = 0;
};

// The same for the states of neighbouring outputs.
class ColumnsCascade {
 public:
  ColumnsCascade(const Reduction& r, int64_t width) : r_(r), width_(width), next_(make()) {}
  // Where the states of the next part are to be written.
  void* next() { return next_.get(); }
  void push() {
    size_t level = 0;
    for (uint64_t n = parts_++; n & 1; n >>= 1, ++level) {
      r_.columns_merge(levels_[level].get(), next_.get(), width_);
    }
    if (level == levels_.size()) levels_.push_back(make());
    std::swap(levels_[level], next_);
  }
  const void* finish() {
    size_t level = 0;
    while (((parts_ >> level) & 1) == 0) ++level;
    void* result = levels_[level].get();
    for (++level; (parts_ >> level) != 0; ++level) {
      if ((parts_ >> level) & 1) r_.columns_merge(levels_[level].get(), result, width_);
    }
    return result;
  }

 private:
  using Buffer = std::unique_ptr<char[]>;
  Buffer make() const { return Buffer(new char[r_.columns_size]); }

  const Reduction& r_;
  int64_t width_;
  SmallVector<Buffer, 8> levels_;
  Buffer next_;
  uint64_t parts_ = 0;
};

// The state of one output whose first element is at `in`.
inline ReduceState reduce_one(const Reduction& r, const WalkDims& reduced, int64_t count,
                              const char* in) {
  const int64_t row = reduced[0].size;
  const int64_t stride = reduced[0].in;
  const auto elem_size = static_cast<int64_t>(r.elem_size);
  // Rows that are long enough are reduced where they lie, others are put together in the buffer.
  const bool in_place = r.direct && stride == elem_size && (row >= 128 || row == count);
  ReduceState state;
  if (in_place && count == row && row <= kChunk) {
    r.chunk(in, row, state);
    return state;
  }
  alignas(64) char buffer[kChunk * 16];
  Cascade cascade(r);
  Walker walker(reduced.data() + 1, reduced.size() - 1, 0);
  int64_t filled = 0;
  const auto push = [&](const void* elements, int64_t n) {
    r.chunk(elements, n, state);
    cascade.push(state);
  };
  for (int64_t done = 0; done < count; done += row, walker.next()) {
    const char* p = in + walker.in;
    int64_t left = row;
    if (in_place) {
      for (; left > 0; left -= kChunk, p += kChunk * elem_size) push(p, std::min(left, kChunk));
      continue;
    }
    while (left > 0) {
      const int64_t n = std::min(left, kChunk - filled);
      r.load(p, stride, n, buffer + filled * elem_size, r.parameter);
      filled += n;
      left -= n;
      p += n * stride;
      if (filled == kChunk) {
        push(buffer, filled);
        filled = 0;
      }
    }
  }
  if (filled > 0) push(buffer, filled);
  return cascade.finish();
}

// The states of `width` <= kColumns outputs, whose first elements lie `stride` apart from `in` on,
// are handed to sink(state, number of the output).
inline void reduce_columns(const Reduction& r, const WalkDims& reduced, int64_t count,
                           const char* in, int64_t stride, int64_t width,
                           c10::function_ref<void(const ReduceState&, int64_t)> sink) {
  const auto elem_size = static_cast<int64_t>(r.elem_size);
  const bool in_place = r.direct && stride == elem_size;
  std::unique_ptr<char[]> buffer(in_place ? nullptr : new char[kRows * width * elem_size]);
  ColumnsCascade cascade(r, width);
  Walker walker(reduced.data(), reduced.size(), 0);
  const void* rows[kRows];
  for (int64_t done = 0; done < count; done += kRows) {
    const int64_t n = std::min(count - done, kRows);
    for (int64_t i = 0; i < n; ++i, walker.next()) {
      rows[i] = in + walker.in;
      if (!in_place) {
        char* row = buffer.get() + i * width * elem_size;
        r.load(in + walker.in, stride, width, row, r.parameter);
        rows[i] = row;
      }
    }
    r.columns_add(cascade.next(), rows, n, width);
    cascade.push();
  }
  const void* columns = cascade.finish();
  ReduceState state;
  for (int64_t j = 0; j < width; ++j) {
    r.columns_get(columns, j, state);
    sink(state, j);
  }
}

// Computes the states of all outputs and hands each to sink(state, the output's offset).
inline void reduce_all_outputs(const Reduction& r, const ReducePlan& plan, const WalkDims& reduced,
                               int64_t count, const char* in,
                               c10::function_ref<void(const ReduceState&, int64_t)> sink) {
  if (!plan.by_columns) {
    const int64_t grain = std::max<int64_t>(1, kReduceGrain / count);
    at::parallel_for(0, plan.outputs, grain, [&](int64_t begin, int64_t end) {
      Walker walker(plan.kept.data(), plan.kept.size(), begin);
      for (int64_t i = begin; i < end; ++i, walker.next()) {
        sink(reduce_one(r, reduced, count, in + walker.in), walker.out);
      }
    });
    return;
  }
  const WalkDim& inner = plan.kept[0];
  // Columns that are gathered or converted go through a buffer, which is to stay in the cache.
  const bool in_place = r.direct && inner.in == static_cast<int64_t>(r.elem_size);
  const int64_t width = in_place ? kColumns : kColumns / 4;
  const int64_t blocks = (inner.size + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, kReduceGrain / (std::min(width, inner.size) * count));
  at::parallel_for(0, plan.outputs / inner.size * blocks, grain, [&](int64_t begin, int64_t end) {
    Walker walker(plan.kept.data() + 1, plan.kept.size() - 1, begin / blocks);
    int64_t block = begin % blocks;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = block * width;
      const int64_t n = std::min(width, inner.size - first);
      reduce_columns(r, reduced, count, in + walker.in + first * inner.in, inner.in, n,
                     [&](const ReduceState& state, int64_t j) {
                       sink(state, walker.out + (first + j) * inner.out);
                     });
      if (++block == blocks) {
        block = 0;
        walker.next();
      }
    }
  });
}

// The number of parts that the elements of each output are split into, to be reduced independently.
inline int64_t number_of_parts(const ReducePlan& plan, int64_t longest) {
  const int64_t work = plan.outputs * plan.count;
  const int64_t tasks = plan.by_columns ? (plan.outputs + kColumns - 1) / kColumns : plan.outputs;
  if (tasks >= 32 || work < 2 * kReduceGrain) return 1;
  return std::min({int64_t{64} / tasks, work / kReduceGrain, longest});
}

inline void reduce(const Reduction& r, const TensorBase& result, const TensorBase& self,
                   DimMask mask) {
  const auto* in = static_cast<const char*>(self.const_data_ptr());
  auto* out = static_cast<char*>(result.mutable_data_ptr());
  const ReducePlan plan(result, self, mask);
  if (plan.outputs == 0) return;
  if (plan.count == 0) {
    WalkDims dims;
    for (int64_t d = result.dim() - 1; d >= 0; --d) {
      dims.push_back(
          {result.sizes()[d], 0, result.strides()[d] * static_cast<int64_t>(result.itemsize())});
    }
    Walker walker(dims.data(), dims.size(), 0);
    ReduceState state;
    r.identity(state);
    for (int64_t i = 0; i < plan.outputs; ++i, walker.next()) {
      r.store(state, 0, out + walker.out, r.parameter);
    }
    return;
  }
  size_t longest = 0;
  for (size_t d = 1; d < plan.reduced.size(); ++d) {
    if (plan.reduced[d].size > plan.reduced[longest].size) longest = d;
  }
  const int64_t parts = number_of_parts(plan, plan.reduced[longest].size);
  if (parts <= 1) {
    reduce_all_outputs(r, plan, plan.reduced, plan.count, in,
                       [&](const ReduceState& state, int64_t offset) {
                         r.store(state, plan.count, out + offset, r.parameter);
                       });
    return;
  }
  // Each part writes its states to a row of its own, packed in the order of the plan's dimensions.
  ReducePlan packed = plan;
  int64_t next = 1;
  for (WalkDim& dim : packed.kept) {
    dim.out = next;
    next *= dim.size;
  }
  const int64_t length = plan.reduced[longest].size;
  const int64_t step = (length + parts - 1) / parts;
  const int64_t used = (length + step - 1) / step;
  std::vector<ReduceState> states(static_cast<size_t>(used * plan.outputs));
  at::parallel_for(0, used, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      WalkDims reduced = plan.reduced;
      reduced[longest].size = std::min(step, length - part * step);
      ReduceState* row = states.data() + part * plan.outputs;
      reduce_all_outputs(r, packed, reduced, plan.count / length * reduced[longest].size,
                         in + part * step * plan.reduced[longest].in,
                         [row](const ReduceState& state, int64_t offset) { row[offset] = state; });
    }
  });
  Walker walker(plan.kept.data(), plan.kept.size(), 0);
  for (int64_t i = 0; i < plan.outputs; ++i, walker.next()) {
    Cascade cascade(r);
    for (int64_t part = 0; part < used; ++part) cascade.push(states[part * plan.outputs + i]);
    r.store(cascade.finish(), plan.count, out + walker.out, r.parameter);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
