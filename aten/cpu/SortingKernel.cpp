// Sorting of short rows.
#include <aten/core/Dispatch.h>
#include <aten/core/SortKeys.h>
#include <aten/stubs/Sorting.h>

#include <algorithm>
#include <cstring>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

#if defined(CPU_CAPABILITY_AVX512)
constexpr int64_t kVectorBytes = 64;
#elif defined(CPU_CAPABILITY_AVX2)
constexpr int64_t kVectorBytes = 32;
#else
constexpr int64_t kVectorBytes = 16;
#endif

// Note [Sorting by counting]
// The place of an element is the number of those that come before it: smaller ones, and equal ones
// with a smaller index. A vector of elements counts them together, so that n elements take n * n
// comparisons of a fraction of a cycle, and no branch that depends on them.
template <typename K>
struct Counting {
  static constexpr int64_t kLanes = kVectorBytes / sizeof(K);
  // The number of digits of a radix sort hardly depends on n: from here on it is faster.
  static constexpr int64_t kLongest = std::min<int64_t>(32 + 10 * kLanes, 256);
  static constexpr int64_t kRoom = (kLongest + kLanes - 1) / kLanes * kLanes;
  typedef K Vector __attribute__((vector_size(kVectorBytes)));

  alignas(kVectorBytes) K keys[kRoom];
  alignas(kVectorBytes) K places[kRoom];

  // Of n keys, at most kLongest; the last vector has some value in each lane.
  void count(int64_t n) {
    Vector lane;
    for (int64_t i = 0; i < kLanes; ++i) lane[i] = static_cast<K>(i);
    for (int64_t first = 0; first < n; first += kLanes) {
      Vector own;
      std::memcpy(&own, keys + first, sizeof(own));
      Vector before{};  // comparisons give -1 where they hold
      const int64_t last = std::min(n, first + kLanes);
      for (int64_t j = 0; j < first; ++j) before -= Vector(keys[j] <= own);
      for (int64_t j = first; j < last; ++j) {
        const Vector later = Vector(lane > static_cast<K>(j - first));
        before -= Vector(keys[j] < own) | (Vector(keys[j] == own) & later);
      }
      for (int64_t j = last; j < n; ++j) before -= Vector(keys[j] < own);
      std::memcpy(places + first, &before, sizeof(before));
    }
  }
};

// Places do not fit into 8 bits.
template <typename T>
using CountingOf = Counting<std::conditional_t<sizeof(T) == 1, uint16_t, Key<T>>>;

template <typename T>
void sort_short_row(const void* x, int64_t n, bool descending, int64_t k, void* values,
                    int64_t value_stride, int64_t* indices, int64_t index_stride) {
  CountingOf<T> counting;
  const auto* row = static_cast<const T*>(x);
  constexpr int64_t kLanes = CountingOf<T>::kLanes;
  std::memset(counting.keys + (n - 1) / kLanes * kLanes, 0, kVectorBytes);
  for (int64_t i = 0; i < n; ++i) counting.keys[i] = key_of(row[i], descending);
  counting.count(n);
  auto* to = static_cast<T*>(values);
  for (int64_t i = 0; i < n; ++i) {
    const auto place = static_cast<int64_t>(counting.places[i]);
    if (place >= k) continue;
    to[place * value_stride] = row[i];
    indices[place * index_stride] = i;
  }
}

ShortRowSorter short_row_sorter(const char* op, ScalarType dtype) {
  return OPLOOM_DISPATCH(
      dtype, op, (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED), [] {
        return ShortRowSorter{CountingOf<scalar_t>::kLongest, &sort_short_row<scalar_t>};
      });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(short_row_sorter_stub, &short_row_sorter);

}  // namespace at::inline oploom_v1::native
