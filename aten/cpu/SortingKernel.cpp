// Sorting of short rows.
#include <aten/core/Dispatch.h>
#include <aten/core/SortKeys.h>
#include <aten/stubs/Sorting.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

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

// Note [The first few]
// A few of the first are found one after the other, each as the least item that is larger than the
// one before; see Note [Items] in aten/native/SortingLoops.cpp. These are signed numbers here,
// which all instruction sets compare.
template <typename T>
struct FirstFew {
  using Item = std::conditional_t<sizeof(T) <= 2, int32_t, int64_t>;
  using Bits = std::make_unsigned_t<Item>;
  static constexpr int64_t kLanes = kVectorBytes / sizeof(Item);
  static constexpr int kHalf = 4 * sizeof(Item);
  // Without AVX2 there is no comparison of long numbers, and long keys leave no room for an index.
  static constexpr bool kWorth = kVectorBytes > 16 && sizeof(T) < 8;
  static constexpr int64_t kMost = kWorth ? std::min<int64_t>(4 * kLanes, 32) : 0;
  static constexpr int64_t kLongest = kWorth ? 64 * kLanes : 0;
  typedef Item Vector __attribute__((vector_size(kVectorBytes)));

  template <size_t... lane>
  static Vector least_of_lanes(Vector v, std::index_sequence<lane...>) {
    const auto step = [&]<size_t distance>(std::integral_constant<size_t, distance>) {
      const Vector other = __builtin_shufflevector(v, v, (lane ^ distance)...);
      v = other < v ? other : v;
    };
    if constexpr (kLanes > 8) step(std::integral_constant<size_t, 8>());
    if constexpr (kLanes > 4) step(std::integral_constant<size_t, 4>());
    step(std::integral_constant<size_t, 2>());
    step(std::integral_constant<size_t, 1>());
    return v;
  }

  alignas(kVectorBytes) Item items[kLongest + kLanes];

  static Item item_of(T x, int64_t i, bool descending) {
    constexpr Bits kSign = Bits(1) << (2 * kHalf - 1);
    const Bits key = key_of(x, descending);
    return static_cast<Item>((key << kHalf | static_cast<Bits>(i)) ^ kSign);
  }
  // By whole vectors, which wait for no element that was stored by itself; the last one has some
  // elements for a second time.
  void fill(const T* row, int64_t n, bool descending) {
    if (n < kLanes) {
      std::fill_n(items, kLanes, std::numeric_limits<Item>::max());
      for (int64_t i = 0; i < n; ++i) items[i] = item_of(row[i], i, descending);
      return;
    }
    const int64_t whole = n / kLanes * kLanes;
    for (int64_t i = 0; i < whole; ++i) items[i] = item_of(row[i], i, descending);
    if (whole == n) return;
      // Not unrolled, so that the compiler makes a vector of it.
#pragma GCC unroll 1
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const int64_t i = n - kLanes + lane;
      items[whole + lane] = item_of(row[i], i, descending);
    }
  }
  // Calls take(place, index) for the first k of n items.
  template <typename Take>
  void find(int64_t n, int64_t k, const Take& take) const {
    const Vector largest = Vector{} + std::numeric_limits<Item>::max();
    Vector from = Vector{} + std::numeric_limits<Item>::min();
    for (int64_t place = 0; place < k; ++place) {
      Vector least = largest;
      for (int64_t i = 0; i < n; i += kLanes) {
        Vector some;
        std::memcpy(&some, items + i, sizeof some);
        some = some >= from ? some : largest;
        least = some < least ? some : least;
      }
      least = least_of_lanes(least, std::make_index_sequence<kLanes>());
      from = least + 1;
      take(place, static_cast<int64_t>(least[0] & ((Item(1) << kHalf) - 1)));
    }
  }
};

template <typename T>
void find_first_few(const void* x, int64_t n, bool descending, int64_t k, void* values,
                    int64_t value_stride, int64_t* indices, int64_t index_stride) {
  const auto* row = static_cast<const T*>(x);
  auto* to = static_cast<T*>(values);
  FirstFew<T> few;
  few.fill(row, n, descending);
  few.find(n, k, [&](int64_t place, int64_t index) {
    to[place * value_stride] = row[index];
    indices[place * index_stride] = index;
  });
}

template <typename T>
void sort_by_counting(const void* x, int64_t n, bool descending, int64_t k, void* values,
                      int64_t value_stride, int64_t* indices, int64_t index_stride) {
  const auto* row = static_cast<const T*>(x);
  auto* to = static_cast<T*>(values);
  const auto take = [&](int64_t place, int64_t index) {
    to[place * value_stride] = row[index];
    indices[place * index_stride] = index;
  };
  CountingOf<T> counting;
  constexpr int64_t kLanes = CountingOf<T>::kLanes;
  std::memset(counting.keys + (n - 1) / kLanes * kLanes, 0, kVectorBytes);
  for (int64_t i = 0; i < n; ++i) counting.keys[i] = key_of(row[i], descending);
  counting.count(n);
  if (k == n) {
    for (int64_t i = 0; i < n; ++i) take(static_cast<int64_t>(counting.places[i]), i);
    return;
  }
  // Without a branch that depends on places.
  uint16_t order[CountingOf<T>::kRoom];
  for (int64_t i = 0; i < n; ++i) order[counting.places[i]] = static_cast<uint16_t>(i);
  for (int64_t place = 0; place < k; ++place) take(place, order[place]);
}

template <typename T>
ShortRowSorter sorter_for(int64_t n, int64_t k) {
  constexpr int64_t kCounted = CountingOf<T>::kLongest;
  if constexpr (FirstFew<T>::kWorth) {
    const bool few = k <= FirstFew<T>::kMost;
    // By what k rounds take, and counting.
    const bool is_faster = n > kCounted || k * (n + 24) <= n * n / 3 + 100;
    if (few && n <= FirstFew<T>::kLongest && is_faster) return &find_first_few<T>;
    if (few && n <= kCounted) return &sort_by_counting<T>;
  }
  // To find a small part of a longer row takes less time than to sort it.
  const bool all = k == n || k > kFewInserted;
  return n <= (all ? kCounted : kCounted / 2) ? &sort_by_counting<T> : nullptr;
}

ShortRowSorter short_row_sorter(const char* op, ScalarType dtype, int64_t n, int64_t k) {
  return OPLOOM_DISPATCH(dtype, op, (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
                         [=] { return sorter_for<scalar_t>(n, k); });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(short_row_sorter_stub, &short_row_sorter);

}  // namespace at::inline oploom_v1::native
