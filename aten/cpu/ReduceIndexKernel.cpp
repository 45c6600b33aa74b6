// Kernels of argmax, argmin and of max and min along one dimension, which give indices too.
#include <aten/core/Dispatch.h>
#include <aten/cpu/Reduce.h>
#include <aten/cpu/ReduceFunctions.h>
#include <aten/stubs/ReduceIndex.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace at::inline oploom_v1::native {
namespace {

// Whether x replaces `best`: NaN beats everything but an earlier NaN, equal elements do not
// replace.
template <typename F, typename T>
bool beats(T x, T best) {
  if (best != best) return false;
  return F::apply(best, x) != best || x != x;
}

// The integers that count places beside numbers of type T.
template <typename T>
using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// The first place of an extreme element among the n that it is the extreme of. If there is a NaN
// among them, it is one. Which of 64 there are is found without branches.
template <typename T>
int64_t find(const T* p, int64_t n, T extreme) {
  using L = Lanes<T>;
  const typename L::V wanted(extreme);
  for (int64_t i = 0; i < n; i += 64) {
    const int64_t count = std::min<int64_t>(n - i, 64);
    uint64_t found = 0;
    for_each_lanes<T>(count, [&](int64_t j, auto lanes) {
      const auto x = lanes.load(p + i + j);
      uint64_t here;
      if constexpr (L::kVec) here = bits_of((x == wanted) | (x != x));
      if constexpr (!L::kVec) here = (x == wanted) | (x != x);
      found |= here << j;
    });
    // Zeros that are loaded behind the last one come after it.
    if (found != 0) return i + std::countr_zero(found);
  }
  return n - 1;
}

// Whether x is to take the place of the best so far, which came before it; NaN apart.
template <typename F, typename V>
OPLOOM_ALWAYS_INLINE auto is_better(const V& x, const V& best) {
  if constexpr (std::is_same_v<F, Max>) {
    return x > best;
  } else {
    return x < best;
  }
}

// The first place of the extreme of n floats that come from memory, which would rest while they are
// gone through a second time. Every lane keeps its best number and the block that it was in.
// There are near and spread fetches alone: this takes as many instructions as memory gives time
// for. -1 if there is a NaN among them, or no Vec for them, or they are too few or too many.
// (Of 64 MB of int32, rows of 1,000 would take 0.92 of the time for it, a single one 1.1 times.)
template <typename F, typename T>
int64_t place_in_one_pass(const T* p, int64_t n, Ahead ahead) {
  using L = Lanes<T>;
  constexpr int64_t kSide = 4, kBlock = kSide * L::kSize, kMost = int64_t{1} << 30;
  if constexpr (L::kVec && std::is_floating_point_v<T>) {
    if (n < kBlock || n > kMost) return -1;
    using V = typename L::V;
    using Places = Lanes<Index<T>>;
    V best[kSide], block[kSide];
    for (int64_t k = 0; k < kSide; ++k) {
      best[k] = L::load(p + k * L::kSize);
      block[k] = V(T(0));
    }
    auto nan = best[0].isnan();
    const auto note_nan = [&](const V* x) OPLOOM_ALWAYS_INLINE_LAMBDA {
      for (int64_t k = 0; k < kSide; k += 2) nan = nan | unordered(x[k], x[k + 1]);
    };
    note_nan(best);
    for (int64_t next = kBlock; next < n; next += kBlock) {
      // The last block may begin within the one before.
      const int64_t i = std::min(next, n - kBlock);
      const V here(std::bit_cast<T>(static_cast<Index<T>>(i)));
      if (kNearFetches && asked_here(ahead) == Ahead::Near) [[likely]]
        fetch_at<Ahead::Near>(p + i, kBlock);
      if (kSpreadFetches && asked_here(ahead) == Ahead::Spread) fetch_spread(p + i, kBlock);
      V x[kSide];
      for (int64_t k = 0; k < kSide; ++k) {
        x[k] = L::load(p + i + k * L::kSize);
        const auto better = is_better<F>(x[k], best[k]);
        best[k] = L::select(better, x[k], best[k]);
        block[k] = L::select(better, here, block[k]);
      }
      note_nan(x);
    }
    if (L::any(nan)) return -1;
    V extreme = best[0];
    for (int64_t k = 1; k < kSide; ++k) extreme = F::apply(extreme, best[k]);
    extreme = across<F, T>(extreme);
    // Of equal ones the first.
    constexpr auto kNone = std::numeric_limits<Index<T>>::max();
    const V none(std::bit_cast<T>(kNone));
    typename Places::V first(kNone);
    for (int64_t k = 0; k < kSide; ++k) {
      const auto place = std::bit_cast<typename Places::V>(block[k]) +
                         typename Places::V(static_cast<Index<T>>(k * L::kSize)) +
                         Places::load(Places::kPlaces.data());
      const V some = L::select(best[k] == extreme, std::bit_cast<V>(place), none);
      first = Min::apply(first, std::bit_cast<typename Places::V>(some));
    }
    return Places::first(across<Min, Index<T>>(first));
  } else {
    return -1;
  }
}

// Goes on with rows that have the numbers from `first` on, for n outputs side by side. The indices
// are those of the bits of T, so that what chooses the values chooses them as well. There is room
// for more behind the values and the indices.
template <typename F, int count, typename T>
void advance(const T* const* elements, int64_t first, int64_t n, Ahead ahead, T* value, T* index) {
  using L = Lanes<T>;
  const RowGroup<T, count> rows(elements, ahead);
  for_each_lanes<T>(n, [&](int64_t j, auto lanes) {
    rows.fetch_next(j);
    auto best = L::load(value + j);
    auto place = L::load(index + j);
    for (int r = 0; r < count; ++r) {
      const auto x = lanes.load(rows[r] + j);
      // beats() without branches.
      auto better = is_better<F>(x, best);
      if constexpr (std::is_floating_point_v<T>) better = better | ((x != x) & (best == best));
      best = L::select(better, x, best);
      place = L::select(better, typename L::V(std::bit_cast<T>(static_cast<Index<T>>(first + r))),
                        place);
    }
    L::store(value + j, best);
    L::store(index + j, place);
  });
}

template <typename T, typename Out>
void store_numbers(const void* numbers, int64_t n, char* out, int64_t stride) {
  const T* values = static_cast<const T*>(numbers);
  for (int64_t j = 0; j < n; ++j) {
    *reinterpret_cast<Out*>(out + j * stride) = static_cast<Out>(values[j]);
  }
}

// See IndexReduction: the chunk with the extreme first, then its place there.
template <typename F, typename T>
int64_t search(const char* row, int64_t stride, int64_t begin, int64_t end,
               decltype(IndexReduction::load) load, Ahead ahead, void* extreme) {
  const T* const numbers = reinterpret_cast<const T*>(row);
  const auto found = [&](T best, int64_t place) {
    *static_cast<T*>(extreme) = best;
    return place;
  };
  if (ahead != Ahead::None) {
    const int64_t place = place_in_one_pass<F>(numbers + begin, end - begin, ahead);
    if (place >= 0) return found(numbers[begin + place], begin + place);
  }
  constexpr int64_t kChunk = 1024;
  alignas(64) T buffer[kChunk];
  const auto chunk = [&](int64_t i, int64_t n) {
    if (load == nullptr) return numbers + i;
    load(row + i * stride, stride, n, buffer, 0);
    return static_cast<const T*>(buffer);
  };
  const int64_t most = load == nullptr ? 4 * kChunk : kChunk;
  T best(0);
  const T* p = nullptr;
  int64_t first = begin, last = begin;  // the chunk of the best so far, and the latest one
  for (int64_t i = begin; i < end; last = i, i += most) {
    const int64_t n = std::min(most, end - i);
    p = chunk(i, n);
    const T extreme_here = reduce_chunk<F, T>(p, n, ahead);
    if (i == begin || beats<F>(extreme_here, best)) {
      best = extreme_here;
      first = i;
    }
  }
  const int64_t n = std::min(most, end - first);
  if (first != last) p = chunk(first, n);
  const int64_t place = find(p, n, best);
  return found(p[place], first + place);
}

template <typename F, typename T>
void advance_rows(const char* rows, int64_t step, int64_t count, int64_t first, int64_t n,
                  Ahead ahead, void* values, void* indices) {
  auto *value = static_cast<T*>(values), *index = static_cast<T*>(indices);
  // Each by itself: GCC works out such pointers by slow vectors.
  const auto next_row = [&]() OPLOOM_ALWAYS_INLINE_LAMBDA {
    const auto* row = reinterpret_cast<const T*>(rows);
    asm("" : "+r"(row));
    rows += step;
    return row;
  };
  int64_t r = 0;
  for (; r + 4 <= count; r += 4) {
    const T* const elements[] = {next_row(), next_row(), next_row(), next_row()};
    advance<F, 4>(elements, first + r, n, ahead, value, index);
  }
  for (; r < count; ++r) {
    const T* const elements[] = {next_row()};
    advance<F, 1>(elements, first + r, n, Ahead::None, value, index);
  }
}

template <typename F>
void select_extreme(const char* name, const TensorBase& values, const TensorBase& indices,
                    const TensorBase& self, int64_t dim) {
  OPLOOM_DISPATCH(
      self.scalar_type(), name, (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
      [&] {
        using In = std::conditional_t<std::is_same_v<scalar_t, bool>, uint8_t, scalar_t>;
        // Narrow integers are compared as int32.
        using T =
            std::conditional_t<std::is_integral_v<In>,
                               std::conditional_t<sizeof(In) == 8, int64_t, int32_t>, wide_t<In>>;
        const IndexReduction reduction{sizeof(T),          std::is_same_v<In, T>, kFetches,
                                       &load_row<In, T>,   &store_numbers<T, In>, &search<F, T>,
                                       &advance_rows<F, T>};
        reduce_index(values, indices, self, dim, reduction);
      });
}

void argmax_kernel(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                   int64_t dim) {
  select_extreme<Max>("max", values, indices, self, dim);
}

void argmin_kernel(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                   int64_t dim) {
  select_extreme<Min>("min", values, indices, self, dim);
}

}  // namespace

OPLOOM_REGISTER_DISPATCH(argmax_stub, &argmax_kernel);
OPLOOM_REGISTER_DISPATCH(argmin_stub, &argmin_kernel);

}  // namespace at::inline oploom_v1::native
