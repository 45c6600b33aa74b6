// The loops of sort and topk. They move and compare single elements, for which vector instructions
// do nothing: they are compiled once, not for each instruction set.
#include <aten/core/Dispatch.h>
#include <aten/core/Parallel.h>
#include <aten/core/TensorBase.h>
#include <aten/iterator/Walker.h>
#include <aten/native/SortingLoops.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::native {
namespace {

// Note [Sort keys]
// Elements are sorted by unsigned integers that are ordered as the elements are: signed integers
// with the sign bit flipped; floating-point numbers with all bits flipped if negative and the sign
// bit if not. Both zeros get one key, so do all NaNs, which come last. For a descending order all
// bits are flipped once more, so that equal elements keep their order in that direction too.

template <size_t size>
struct unsigned_of;
template <>
struct unsigned_of<1> {
  using type = uint8_t;
};
template <>
struct unsigned_of<2> {
  using type = uint16_t;
};
template <>
struct unsigned_of<4> {
  using type = uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = uint64_t;
};

template <typename T>
using Key = typename unsigned_of<sizeof(T)>::type;

template <typename T>
Key<T> key_of(T x, bool descending) {
  using K = Key<T>;
  constexpr K kSign = static_cast<K>(K(1) << (8 * sizeof(K) - 1));
  K key;
  if constexpr (std::is_same_v<T, bool>) {
    key = x ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    key = static_cast<K>(x);
    if (std::is_signed_v<T>) key ^= kSign;
  } else {
    if (x != x) {
      key = static_cast<K>(~K(0));
    } else {
      const K bits = x == T(0) ? K(0) : std::bit_cast<K>(x);
      key = static_cast<K>(bits & kSign ? ~bits : bits | kSign);
    }
  }
  return descending ? static_cast<K>(~key) : key;
}

template <typename K>
struct Item {
  K key;
  uint32_t index;
};
// Rows of 2^32 elements and more.
template <typename K>
struct LongItem {
  K key;
  uint64_t index;
};

// The row length from which on distributing by bytes is faster than comparing: 256 counters for
// each byte have to be paid for (found by measuring float rows on one core).
constexpr int64_t kRadixLength = 256;

// Sorts n items by key, stably; returns where they are, which is `a` or `b`.
template <typename I>
I* sort_items(I* a, I* b, int64_t n) {
  using K = decltype(a->key);
  if (n < kRadixLength) {
    if (n <= 16) {
      for (int64_t i = 1; i < n; ++i) {
        const I item = a[i];
        int64_t j = i;
        for (; j > 0 && item.key < a[j - 1].key; --j) a[j] = a[j - 1];
        a[j] = item;
      }
      return a;
    }
    // Indices ascend, so comparing them too makes the order stable.
    std::sort(a, a + n, [](const I& x, const I& y) {
      return x.key != y.key ? x.key < y.key : x.index < y.index;
    });
    return a;
  }
  constexpr int kBytes = sizeof(K);
  int64_t counts[kBytes][256] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int byte = 0; byte < kBytes; ++byte) ++counts[byte][(a[i].key >> (8 * byte)) & 255];
  }
  for (int byte = 0; byte < kBytes; ++byte) {
    int64_t* count = counts[byte];
    if (count[(a[0].key >> (8 * byte)) & 255] == n) continue;  // all the same
    int64_t next = 0;
    for (int digit = 0; digit < 256; ++digit) next += std::exchange(count[digit], next);
    for (int64_t i = 0; i < n; ++i) b[count[(a[i].key >> (8 * byte)) & 255]++] = a[i];
    std::swap(a, b);
  }
  return a;
}

// Rows along `dim` of the input and the outputs.
struct Rows {
  Rows(const TensorBase& values, const TensorBase& indices, const TensorBase& self, int64_t dim)
      : in_stride(self.strides()[dim]),
        value_stride(values.strides()[dim]),
        index_stride(indices.strides()[dim]) {
    for (int64_t d = self.dim() - 1; d >= 0; --d) {
      if (d == dim) continue;
      in.push_back({self.sizes()[d], self.strides()[d], values.strides()[d]});
      out.push_back({self.sizes()[d], self.strides()[d], indices.strides()[d]});
      count *= self.sizes()[d];
    }
  }
  // Strides count elements here; `out` strides in `in` are those of the values, in `out` those of
  // the indices.
  WalkDims in;
  WalkDims out;
  int64_t in_stride;
  int64_t value_stride;
  int64_t index_stride;
  int64_t count = 1;
};

template <typename I, typename T>
void sort_rows(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
               int64_t dim, bool descending) {
  const Rows rows(values, indices, self, dim);
  const int64_t n = self.sizes()[dim];
  const T* in = self.const_data_ptr<T>();
  T* value_out = values.mutable_data_ptr<T>();
  int64_t* index_out = indices.mutable_data_ptr<int64_t>();
  at::parallel_for(0, rows.count, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
    std::unique_ptr<I[]> a(new I[n]);
    std::unique_ptr<I[]> b(n >= kRadixLength ? new I[n] : nullptr);
    // `values` may be `self`: the row is read from a copy.
    std::unique_ptr<T[]> copy(new T[n]);
    Walker walker(rows.in.data(), rows.in.size(), begin);
    Walker index_walker(rows.out.data(), rows.out.size(), begin);
    for (int64_t row = begin; row < end; ++row, walker.next(), index_walker.next()) {
      const T* x = in + walker.in;
      for (int64_t i = 0; i < n; ++i) {
        copy[i] = x[i * rows.in_stride];
        a[i] = {key_of(copy[i], descending), static_cast<decltype(I::index)>(i)};
      }
      const I* sorted = sort_items(a.get(), b.get(), n);
      T* y = value_out + walker.out;
      int64_t* index = index_out + index_walker.out;
      for (int64_t i = 0; i < n; ++i) {
        y[i * rows.value_stride] = copy[sorted[i].index];
        index[i * rows.index_stride] = static_cast<int64_t>(sorted[i].index);
      }
    }
  });
}

template <typename T>
void topk_rows(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
               int64_t k, int64_t dim, bool largest, bool sorted) {
  using I = LongItem<Key<T>>;
  const Rows rows(values, indices, self, dim);
  const int64_t n = self.sizes()[dim];
  const T* in = self.const_data_ptr<T>();
  T* value_out = values.mutable_data_ptr<T>();
  int64_t* index_out = indices.mutable_data_ptr<int64_t>();
  auto before = [](const I& x, const I& y) {
    return x.key != y.key ? x.key < y.key : x.index < y.index;
  };
  at::parallel_for(0, rows.count, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
    std::unique_ptr<I[]> items(new I[n]);
    Walker walker(rows.in.data(), rows.in.size(), begin);
    Walker index_walker(rows.out.data(), rows.out.size(), begin);
    for (int64_t row = begin; row < end; ++row, walker.next(), index_walker.next()) {
      const T* x = in + walker.in;
      for (int64_t i = 0; i < n; ++i) {
        items[i] = {key_of(x[i * rows.in_stride], largest), static_cast<uint64_t>(i)};
      }
      I* first = items.get();
      // A heap of k beats partitioning as long as few elements enter it.
      if (k * 64 <= n) {
        std::partial_sort(first, first + k, first + n, before);
      } else {
        if (k < n) std::nth_element(first, first + k - 1, first + n, before);
        if (sorted) std::sort(first, first + k, before);
      }
      T* y = value_out + walker.out;
      int64_t* index = index_out + index_walker.out;
      for (int64_t i = 0; i < k; ++i) {
        y[i * rows.value_stride] = x[static_cast<int64_t>(items[i].index) * rows.in_stride];
        index[i * rows.index_stride] = static_cast<int64_t>(items[i].index);
      }
    }
  });
}

}  // namespace

void sort_loops(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                int64_t dim, bool descending) {
  if (self.numel() == 0) return;
  OPLOOM_DISPATCH(self.scalar_type(), "sort",
                  (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
                    using K = Key<scalar_t>;
                    if (self.sizes()[dim] <= int64_t{std::numeric_limits<uint32_t>::max()}) {
                      sort_rows<Item<K>, scalar_t>(values, indices, self, dim, descending);
                    } else {
                      sort_rows<LongItem<K>, scalar_t>(values, indices, self, dim, descending);
                    }
                  });
}

void topk_loops(const TensorBase& values, const TensorBase& indices, const TensorBase& self,
                int64_t k, int64_t dim, bool largest, bool sorted) {
  if (self.numel() == 0 || k == 0) return;
  OPLOOM_DISPATCH(self.scalar_type(), "topk",
                  (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
                  [&] { topk_rows<scalar_t>(values, indices, self, k, dim, largest, sorted); });
}

}  // namespace at::inline oploom_v1::native
