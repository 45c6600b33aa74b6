// Sorting of short rows.
#include <aten/core/Dispatch.h>
#include <aten/core/SortKeys.h>
#include <aten/stubs/Sorting.h>

#include <algorithm>
#include <bit>
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

// Note [Sorting columns]
// A vector has an item of each of as many columns, so that two of each are put in order by two
// operations, without branches and whatever is in them. Networks of such exchanges take 0.15 to 0.6
// of the time of sorting row by row, which includes to transpose rows of eight; for ever longer
// rows they have more exchanges for each element, where a radix sort has not.
//
// Items are as short as they can be: those of keys that are closer to each other than their dtype
// allows, as most integers are, have no more bits than that takes. Where there is no room for an
// index, it is beside the key.
template <typename K, typename Item, bool beside>
struct Columns {
  using Bits = std::make_unsigned_t<Item>;
  static constexpr int64_t kLanes = kVectorBytes / sizeof(Item);
  static constexpr int kHalf = beside ? 0 : 4 * sizeof(Item);
  static constexpr Bits kSign = Bits(1) << (8 * sizeof(Item) - 1);
  typedef Item Vector __attribute__((vector_size(kVectorBytes)));
  typedef Bits BitsVector __attribute__((vector_size(kVectorBytes)));
  typedef K Keys __attribute__((vector_size(kLanes * sizeof(K))));
  struct Items {
    Vector items;
    Vector indices[beside ? 1 : 0];  // nothing: of GNU C
  };
  static_assert(sizeof(Items) <= kColumnScratch && columns_at_least(sizeof(K)) % kLanes == 0);

  // `follow`: elements of a come before those of b, so that equal keys are in order.
  template <bool follow = false>
  static OPLOOM_ALWAYS_INLINE void order(Items& a, Items& b) {
    if constexpr (beside) {
      Vector swap = b.items < a.items;
      if (!follow) swap |= (b.items == a.items) & (b.indices[0] < a.indices[0]);
      const Items first{swap ? b.items : a.items, {swap ? b.indices[0] : a.indices[0]}};
      b = {swap ? a.items : b.items, {swap ? a.indices[0] : b.indices[0]}};
      a = first;
    } else {
      const Vector first = b.items < a.items ? b.items : a.items;
      b.items = b.items < a.items ? a.items : b.items;
      a.items = first;
    }
  }
  static void sort(Items* items, int64_t n, int64_t k) {
    // Merging loads and stores twice as many vectors for an exchange.
    const int64_t rounds = std::bit_width(static_cast<uint64_t>(n - 1));
    const int64_t merging = n * rounds * (rounds - 1) / 4 + n - 1;
    const int64_t selecting = k * (2 * n - k - 1) / 2;
    if (selecting <= 2 * merging) return select(items, n, k);
    if (!are_in_order(items, n)) merge(items, n);
  }
  // From the last to the first, by exchanges of neighbours, two in a turn.
  static void select(Items* items, int64_t n, int64_t k) {
    for (int64_t place = 0; place < k && place + 1 < n; place += 2) {
      Items first = items[n - 2], second = items[n - 1];
      order<true>(first, second);
      for (int64_t i = n - 3; i >= place; --i) {
        Items item = items[i];
        order<true>(item, first);
        order<true>(first, second);
        items[i + 2] = second;
        second = first;
        first = item;
      }
      items[place] = first;
      items[place + 1] = second;
    }
  }
  static bool are_in_order(const Items* items, int64_t n) {
    constexpr int64_t kSome = 8;
    for (int64_t i = 1; i < n; i += kSome) {
      Vector before{};
      for (int64_t j = i; j < std::min(n, i + kSome); ++j) {
        before |= items[j].items < items[j - 1].items;
      }
      Item lanes[kLanes];
      std::memcpy(lanes, &before, sizeof before);
      if (std::any_of(lanes, lanes + kLanes, [](Item lane) { return lane != 0; })) return false;
    }
    return true;
  }
  // Batcher's merge exchange: Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2M.
  static void merge(Items* items, int64_t n) {
    const auto top = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n - 1)));
    for (int64_t p = top; p > 0; p /= 2) {
      int64_t first = 0, distance = p;
      for (int64_t q = top;; q /= 2) {
        for (int64_t i = first; i + distance < n; i += 2 * p) {
          const int64_t last = std::min(i + p, n - distance);
          for (int64_t j = i; j < last; ++j) order(items[j], items[j + distance]);
        }
        if (q == p) break;
        distance = q - p;
        first = p;
      }
    }
  }

  // Of the elements i, with these keys, as far above the lowest one.
  static OPLOOM_ALWAYS_INLINE Items load(const K* keys, K lowest, int64_t i) {
    BitsVector bits;
    if constexpr (sizeof(K) <= sizeof(Item)) {
      Keys some;
      std::memcpy(&some, keys, sizeof some);
      bits = __builtin_convertvector(some - lowest, BitsVector);
    } else {
      Bits lanes[kLanes];
      // Not unrolled, so that the compiler makes vectors of it.
#pragma GCC unroll 1
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = static_cast<Bits>(keys[lane] - lowest);
      }
      std::memcpy(&bits, lanes, sizeof bits);
    }
    if constexpr (beside) {
      return {Vector(bits ^ kSign), {Vector{} + static_cast<Item>(i)}};
    } else {
      return {Vector((bits << kHalf | static_cast<Bits>(i)) ^ kSign), {}};
    }
  }
  static OPLOOM_ALWAYS_INLINE void store(const Items& from, K* keys, K lowest, int64_t* indices) {
    const BitsVector bits = (BitsVector(from.items) ^ kSign) >> kHalf;
    if constexpr (sizeof(K) <= sizeof(Item)) {
      const Keys some = __builtin_convertvector(bits, Keys) + lowest;
      std::memcpy(keys, &some, sizeof some);
    } else {
      put_lanes(bits, [=](int64_t lane, Bits key) { keys[lane] = key + lowest; });
    }
    if constexpr (beside) {
      std::memcpy(indices, from.indices, sizeof from.indices);
    } else {
      put_lanes(BitsVector(from.items) & ((Bits(1) << kHalf) - 1),
                [=](int64_t lane, Bits index) { indices[lane] = static_cast<int64_t>(index); });
    }
  }
  template <typename Put>
  static OPLOOM_ALWAYS_INLINE void put_lanes(BitsVector vector, const Put& put) {
    Bits lanes[kLanes];
    std::memcpy(lanes, &vector, sizeof vector);
#pragma GCC unroll 1
    for (int64_t lane = 0; lane < kLanes; ++lane) put(lane, lanes[lane]);
  }

  static void sort(K* keys, K lowest, int64_t n, int64_t pitch, int64_t columns, int64_t k,
                   int64_t* indices, void* scratch) {
    auto* items = static_cast<Items*>(scratch);
    for (int64_t column = 0; column < columns; column += kLanes) {
      for (int64_t i = 0; i < n; ++i) items[i] = load(keys + i * pitch + column, lowest, i);
      sort(items, n, k);
      for (int64_t place = 0; place < k; ++place) {
        const int64_t first = place * pitch + column;
        store(items[place], keys + first, lowest, indices + first);
      }
    }
  }
};

template <typename T>
void sort_columns(const void* x, int64_t n, int64_t pitch, int64_t columns, bool descending,
                  int64_t k, void* values, int64_t* indices, void* scratch) {
  using K = Key<T>;
  const auto* from = static_cast<const K*>(x);
  auto* to = static_cast<K*>(values);
  // Calls f(i, column) for the places of the first `rows` elements of each column.
  const auto for_each_place = [=](int64_t rows, const auto& f) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) f(row * pitch + column, column);
    }
  };
  const auto sort = [&]<typename Item, bool beside = false>(K lowest, Item) {
    Columns<K, Item, beside>::sort(to, lowest, n, pitch, columns, k, indices, scratch);
  };
  // All are converted first, and last, as vectors of T are longer than those of items.
  K lost = 0;
  for_each_place(n, [&](int64_t i, int64_t) {
    const T element = std::bit_cast<T>(from[i]);
    to[i] = key_of(element, descending);
    lost |= has_own_bits(element) ? 0 : 1;
  });
  K lowest = 0, range = ~K(0);
  if constexpr (std::is_integral_v<T> && sizeof(K) > 2) {
    K highest = 0;
    lowest = ~K(0);
    for_each_place(n, [&](int64_t i, int64_t) {
      lowest = std::min(lowest, to[i]);
      highest = std::max(highest, to[i]);
    });
    range = highest - lowest;
  }
  if constexpr (sizeof(K) == 1) {
    sort(K(0), int16_t());
  } else if (sizeof(K) == 2 || range <= 0xffff) {
    sort(lowest, int32_t());
  } else if (sizeof(K) == 4 || range <= 0xffffffff) {
    sort(lowest, int64_t());
  } else {
    sort.template operator()<int64_t, true>(K(0), 0);
  }
  if (lost != 0) {
    return for_each_place(
        k, [&](int64_t i, int64_t column) { to[i] = from[indices[i] * pitch + column]; });
  }
  for_each_place(
      k, [&](int64_t i, int64_t) { to[i] = std::bit_cast<K>(element_of<T>(to[i], descending)); });
}

template <typename T>
ColumnSorter column_sorter_for(int64_t n, int64_t k) {
  // The index of a byte has to fit into half of an item.
  constexpr int64_t kLongest = sizeof(T) == 1 || kVectorBytes == 16 ? 256
                               : sizeof(T) == 8                     ? 1024
                                                                    : 2048;
  // Without AVX2 there is no comparison of long numbers.
  if constexpr (kVectorBytes > 16 || sizeof(T) <= 2) {
    // A small part of a longer row is found in less time.
    const bool many = k == n || n <= 12 * k + 32;
    if (many && n <= kLongest) return &sort_columns<T>;
  }
  return nullptr;
}

ColumnSorter column_sorter(const char* op, ScalarType dtype, int64_t n, int64_t k) {
  return OPLOOM_DISPATCH(dtype, op, (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
                         [=] { return column_sorter_for<scalar_t>(n, k); });
}

ShortRowSorter short_row_sorter(const char* op, ScalarType dtype, int64_t n, int64_t k) {
  return OPLOOM_DISPATCH(dtype, op, (OPLOOM_BOOL, OPLOOM_INTEGRAL, OPLOOM_FLOATING, OPLOOM_REDUCED),
                         [=] { return sorter_for<scalar_t>(n, k); });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(short_row_sorter_stub, &short_row_sorter);
OPLOOM_REGISTER_DISPATCH(column_sorter_stub, &column_sorter);

}  // namespace at::inline oploom_v1::native
