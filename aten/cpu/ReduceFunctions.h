// The functions that reductions apply, and their use on short rows.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/cpu/ConvertRow.h>
#include <aten/cpu/vec/vec.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {

// Loops over Vecs are unrolled, which then stay in registers. Those over single numbers are longer,
// and the compiler finds vectors for them.
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
#define OPLOOM_UNROLL_VECS _Pragma("GCC unroll 8")
#else
#define OPLOOM_UNROLL_VECS
#endif

// The dtype that elements are summed in.
template <typename T>
using wide_t = std::conditional_t<std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>,
                                  float, std::conditional_t<std::is_integral_v<T>, int64_t, T>>;

template <typename T>
struct real_part {
  using type = T;
};
template <typename T>
struct real_part<c10::complex<T>> {
  using type = T;
};
template <typename T>
using real_part_t = typename real_part<T>::type;

// Whether elements are integers that become wider ones as they are loaded.
template <typename T, typename In>
inline constexpr bool kWidens = requires(const In* p) {
  vec::Vec<T>::widened(p);
};

// Numbers that are reduced together: a Vec where the processor has one for T, one number elsewhere.
template <typename T>
struct Lanes {
  static constexpr bool kVec = vec::Vec<T>::kInRegister;
  using V = std::conditional_t<kVec, vec::Vec<T>, T>;
  static constexpr int64_t kSize = sizeof(V) / sizeof(T);
  // 0, 1, 2, ...
  static constexpr std::array<T, kSize> kPlaces = [] {
    std::array<T, kSize> places{};
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<T>(i);
    return places;
  }();
  // 16-bit floats and shorter integers are converted.
  template <typename In>
  OPLOOM_ALWAYS_INLINE static V load(const In* p) {
    if constexpr (!kVec) {
      return static_cast<T>(*p);
    } else if constexpr (kWidens<T, In>) {
      return V::widened(p);
    } else {
      return vec::Rows<In>::load(p);
    }
  }
  OPLOOM_ALWAYS_INLINE static V with(V value, V /*others*/) { return value; }
  // 16-bit floats are rounded.
  template <typename Out>
  OPLOOM_ALWAYS_INLINE static void store(Out* p, V value) {
    if constexpr (std::is_same_v<Out, T>) {
      std::memcpy(p, &value, sizeof(V));
    } else if constexpr (!kVec) {
      *p = static_cast<Out>(value);
    } else {
      vec::Rows<Out>::store(p, value);
    }
  }
  OPLOOM_ALWAYS_INLINE static T first(V value) {
    if constexpr (kVec) return value[0];
    if constexpr (!kVec) return value;
  }
  template <typename Mask>
  OPLOOM_ALWAYS_INLINE static V select(const Mask& mask, V then, V otherwise) {
    if constexpr (kVec) return blendv(otherwise, then, mask);
    if constexpr (!kVec) return mask ? then : otherwise;
  }
  template <typename Mask>
  OPLOOM_ALWAYS_INLINE static bool any(const Mask& mask) {
    if constexpr (kVec) return !all(!mask);
    if constexpr (!kVec) return mask;
  }
};
// The first `count` of them; what is loaded has zeros behind these.
// Not for what is soon loaded again: the processor hands on whole stores only.
template <typename T>
struct FirstLanes {
  using V = typename Lanes<T>::V;
  explicit FirstLanes(int64_t count) : count(count) {}
  template <typename In>
  OPLOOM_ALWAYS_INLINE V load(const In* p) const {
    if constexpr (kWidens<T, In>) {
      return V::widened(p, count);
    } else {
      return vec::Rows<In>::load(p, count);
    }
  }
  // `value` with what `others` has behind these.
  OPLOOM_ALWAYS_INLINE V with(V value, V others) const {
    const auto behind = V::loadu(Lanes<T>::kPlaces.data()) >= V(static_cast<T>(count));
    return Lanes<T>::select(behind, others, value);
  }
  template <typename Out>
  OPLOOM_ALWAYS_INLINE void store(Out* p, V value) const {
    vec::Rows<Out>::store(p, value, count);
  }
  int64_t count;
};

// Calls f(j, lanes) for each place j in rows of n numbers where some are taken together, which
// `lanes` loads and stores.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE void for_each_lanes(int64_t n, const F& f) {
  using L = Lanes<T>;
  int64_t j = 0;
  for (; j + L::kSize <= n; j += L::kSize) f(j, L());
  if constexpr (L::kSize > 1) {
    if (j < n) f(j, FirstLanes<T>(n - j));
  }
}

// The last `count` of them, of which all are loaded.
template <typename T>
struct LastLanes : Lanes<T> {
  using V = typename Lanes<T>::V;
  explicit LastLanes(int64_t count) : count(count) {}
  // `value` with what `others` has before these.
  OPLOOM_ALWAYS_INLINE V with(V value, V others) const {
    const auto before =
        V::loadu(Lanes<T>::kPlaces.data()) < V(static_cast<T>(Lanes<T>::kSize - count));
    return Lanes<T>::select(before, others, value);
  }
  int64_t count;
};

// Calls f(first, lanes) for what is left from j on, less than fills a vector, of a row of n
// numbers, of which there are 32 bytes at least as T. Where a vector is longer, a mask costs
// nothing.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE void for_rest(int64_t j, int64_t n, const F& f) {
  if constexpr (Lanes<T>::kSize > 1) {
    if (j == n) return;
    if constexpr (sizeof(typename Lanes<T>::V) > 32) {
      f(j, FirstLanes<T>(n - j));
    } else {
      f(n - Lanes<T>::kSize, LastLanes<T>(n - j));
    }
  }
}

// One of a pair of them: see Note [Pairs of vectors].
template <typename In, int64_t k>
struct OfPair : Lanes<wide_t<In>> {
  using L = Lanes<wide_t<In>>;
  OPLOOM_ALWAYS_INLINE static typename L::V load(const In* pair) {
    if constexpr (L::kVec) return vec::Rows<In>::load_of_pair(pair, k);
    if constexpr (!L::kVec) return L::load(pair + k);
  }
};

// to[i] = value(i, lanes) for a number or some of them. With vectors, four are computed before any
// is stored, which hides how long each takes; they are pairs if `value` loads rows of Out alone.
// Those at the end are a vector of their own that begins before it, computed first since `to` may
// be what is read: stores by a mask take long.
template <typename T, bool pairs = false, typename Out, typename Value>
OPLOOM_ALWAYS_INLINE void compute_row(Out* to, int64_t n, const Value& value) {
  using L = Lanes<T>;
  int64_t i = 0;
  if constexpr (L::kVec) {
    const int64_t last = n - L::kSize;
    if (last < 0) {
      if (n > 0) {
        const FirstLanes<T> lanes(n);
        lanes.store(to, value(0, lanes));
      }
      return;
    }
    typename L::V end(T(0));
    if (n % L::kSize != 0) end = value(last, L());
    constexpr int64_t kPair = 2 * L::kSize;
    const auto pair_at = [&](int64_t k) OPLOOM_ALWAYS_INLINE_LAMBDA {
      if constexpr (pairs) {
        return std::array{value(k, OfPair<Out, 0>()), value(k, OfPair<Out, 1>())};
      } else {
        return std::array{value(k, L()), value(k + L::kSize, L())};
      }
    };
    const auto store = [&](int64_t k, const auto& pair) OPLOOM_ALWAYS_INLINE_LAMBDA {
      if constexpr (pairs) {
        vec::Rows<Out>::store_pair(to + k, pair[0], pair[1]);
      } else {
        L::store(to + k, pair[0]);
        L::store(to + k + L::kSize, pair[1]);
      }
    };
    for (; i + 2 * kPair <= n; i += 2 * kPair) {
      const auto first = pair_at(i), second = pair_at(i + kPair);
      store(i, first);
      store(i + kPair, second);
    }
    if constexpr (pairs && vec::Rows<Out>::kPairs) {
      if (i + kPair <= n) {
        store(i, pair_at(i));
        i += kPair;
      }
    }
    for (; i <= last; i += L::kSize) L::store(to + i, value(i, L()));
    if (i < n) L::store(to + last, end);
  } else {
    for (; i < n; ++i) to[i] = static_cast<Out>(value(i, L()));
  }
}

// F over all of them, in every place: halves first, then quarters, and so on; or over every
// `period`, a power of two.
template <typename F, typename T, int64_t step = Lanes<T>::kSize / 2>
OPLOOM_ALWAYS_INLINE typename Lanes<T>::V across(typename Lanes<T>::V x, int64_t period = 1) {
  using V = typename Lanes<T>::V;
  if constexpr (step == 0) {
    return x;
  } else {
    if (step < period) return x;
    typedef T Raw __attribute__((vector_size(sizeof(V))));
    const auto swapped = [&]<size_t... i>(std::index_sequence<i...>) {
      const Raw raw = std::bit_cast<Raw>(x);
      return std::bit_cast<V>(Raw(__builtin_shufflevector(raw, raw, (i ^ step)...)));
    };
    return across<F, T, step / 2>(F::apply(x, swapped(std::make_index_sequence<Lanes<T>::kSize>())),
                                  period);
  }
}

// F over each of as many of them as they have lanes: over x[i] in lane i, by pairs of them whose
// halves become one. That takes a third as many instructions as across() for each. Leaves x as it
// comes.
template <typename F, typename T, int64_t count = Lanes<T>::kSize>
OPLOOM_ALWAYS_INLINE typename Lanes<T>::V across_each(typename Lanes<T>::V* x) {
  if constexpr (count == 1) {
    return x[0];
  } else {
    using V = typename Lanes<T>::V;
    typedef T Raw __attribute__((vector_size(sizeof(V))));
    // Lanes of 16 bytes first, which need not leave these; then the 16 bytes.
    constexpr int64_t kSize = Lanes<T>::kSize, kWithin = 16 / sizeof(T);
    constexpr bool kAreWithin = count > kSize / kWithin;
    constexpr int64_t kUnit = kAreWithin ? 1 : kWithin, kBlock = kAreWithin ? kWithin : kSize;
    OPLOOM_UNROLL_VECS
    for (int64_t i = 0; i < count / 2; ++i) {
      const Raw a = std::bit_cast<Raw>(x[2 * i]), b = std::bit_cast<Raw>(x[2 * i + 1]);
      // Of each block, the units at even or odd places of a, then those of b.
      const auto half = [&]<int64_t odd, int64_t... k>(std::integer_sequence<int64_t, odd>,
                                                       std::integer_sequence<int64_t, k...>) {
        return std::bit_cast<V>(Raw(__builtin_shufflevector(
            a, b,
            (k % kBlock / (kBlock / 2) * kSize + k / kBlock * kBlock +
             (k % (kBlock / 2) / kUnit * 2 + odd) * kUnit + k % kUnit)...)));
      };
      constexpr auto kLanes = std::make_integer_sequence<int64_t, kSize>();
      x[i] = F::apply(half(std::integer_sequence<int64_t, 0>(), kLanes),
                      half(std::integer_sequence<int64_t, 1>(), kLanes));
    }
    return across_each<F, T, count / 2>(x);
  }
}

struct Identity {
  template <typename V>
  OPLOOM_ALWAYS_INLINE V operator()(V x) const {
    return x;
  }
};

struct Add {
  template <typename T>
  static T identity() {
    return T(0);
  }
  // Changes no number, not even -0.
  template <typename T>
  static T neutral() {
    return T(-0.);
  }
  template <typename T>
  OPLOOM_ALWAYS_INLINE static T apply(T a, T b) {
    // Integers wrap around.
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    } else {
      return a + b;
    }
  }
};

struct Multiply {
  template <typename T>
  static T identity() {
    return T(1);
  }
  template <typename T>
  static T neutral() {
    return T(1);
  }
  template <typename T>
  OPLOOM_ALWAYS_INLINE static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) *
                            static_cast<std::make_unsigned_t<T>>(b));
    } else {
      return a * b;
    }
  }
};

// The larger of two, by the instruction alone: with a NaN among the numbers it is any.
struct PlainMax {
  template <typename V>
  OPLOOM_ALWAYS_INLINE static V apply(V a, V b) {
    using vec::at_least;
    return at_least(a, b);
  }
};
struct PlainMin {
  template <typename V>
  OPLOOM_ALWAYS_INLINE static V apply(V a, V b) {
    using vec::at_most;
    return at_most(a, b);
  }
};

struct Max {
  using Plain = PlainMax;
  template <typename T>
  static T identity() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }
  template <typename T>
  OPLOOM_ALWAYS_INLINE static T apply(T a, T b) {
    if constexpr (std::is_arithmetic_v<T>) {
      // Two choices that depend on no branch.
      const T larger = b > a ? b : a;
      return b != b ? b : larger;
    } else {
      return maximum(b, a);
    }
  }
};

struct Min {
  using Plain = PlainMin;
  template <typename T>
  static T identity() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  OPLOOM_ALWAYS_INLINE static T apply(T a, T b) {
    if constexpr (std::is_arithmetic_v<T>) {
      // Two choices that depend on no branch.
      const T smaller = b < a ? b : a;
      return b != b ? b : smaller;
    } else {
      return minimum(b, a);
    }
  }
};

template <typename F>
inline constexpr bool kIsExtreme = requires {
  typename F::Plain;
};

// The places of 16-bit floats, given by their bits, in the order that F's extreme ends: finite and
// infinite numbers, and NaN of either sign behind them. Their extremes are those of the numbers.
template <typename F, typename Float>
struct PlaceOf {
  static constexpr bool kIsMax = std::is_base_of_v<Max, F>;
  static constexpr uint16_t kInfinity = std::is_same_v<Float, c10::Half> ? 0x7c00 : 0x7f80;
  // With the other bits of negative ones flipped, numbers follow one another from -infinity, which
  // is ~kInfinity, to kInfinity, then NaN, and after an overflow the negative NaN. Max begins at
  // the former, Min behind the latter, and both count from the least int16_t.
  static constexpr auto kFirst = static_cast<uint16_t>(kIsMax ? ~kInfinity : kInfinity + 1);
  static constexpr auto kShift = static_cast<int16_t>(0x8000 - kFirst);

  template <typename V>
  OPLOOM_ALWAYS_INLINE V operator()(V bits) const {
    return Add::apply(flipped(bits), V(kShift));
  }
  // What Reduction makes of a place.
  static Float apply(int16_t place, int64_t, double) {
    const int16_t bits = flipped(Add::apply(place, static_cast<int16_t>(-kShift)));
    return std::bit_cast<Float>(bits);
  }

 private:
  template <typename V>
  OPLOOM_ALWAYS_INLINE static V flipped(V bits) {
    return static_cast<V>(bits ^ ((bits >> 15) & V(int16_t{0x7fff})));
  }
};

// F of halves and halves until `few` are left.
template <typename F, int64_t few, typename V, size_t count>
OPLOOM_ALWAYS_INLINE void halve(V (&value)[count]) {
  OPLOOM_UNROLL_VECS
  for (int64_t half = count / 2; half >= few; half /= 2) {
    OPLOOM_UNROLL_VECS
    for (int64_t k = 0; k < half; ++k) value[k] = F::apply(value[k], value[k + half]);
  }
}

// What F makes of blocks of `count` Vecs, which load(k) gives.
template <typename F, typename V, int64_t count>
struct Partial {
  // Blocks whose partial results are in turn added up as they are; 0 if these are all, as there is
  // no rounding in extremes.
  static constexpr int64_t kGroup = kIsExtreme<F> ? 0 : 16;
  V value[count];
  template <typename Load>
  OPLOOM_ALWAYS_INLINE void start(const Load& load) {
    OPLOOM_UNROLL_VECS
    for (int64_t k = 0; k < count; ++k) value[k] = load(k);
  }
  template <typename Load>
  OPLOOM_ALWAYS_INLINE void add(const Load& load) {
    OPLOOM_UNROLL_VECS
    for (int64_t k = 0; k < count; ++k) value[k] = F::apply(value[k], load(k));
  }
  OPLOOM_ALWAYS_INLINE void merge(const Partial& other) {
    add([&](int64_t k) OPLOOM_ALWAYS_INLINE_LAMBDA { return other.value[k]; });
  }
  // Leaves the result in the first `few`.
  template <int64_t few>
  OPLOOM_ALWAYS_INLINE void finish() {
    halve<F, few>(value);
  }
};
// A Vec that is not loaded again where it is used again.
template <typename V>
OPLOOM_ALWAYS_INLINE V loaded(V x) {
  typedef float Raw __attribute__((vector_size(sizeof(V))));
  auto raw = std::bit_cast<Raw>(x);
  asm("" : "+x"(raw));
  return std::bit_cast<V>(raw);
}
// An extreme is found by the instruction alone, and for two Vecs at a time it is noted where there
// was a NaN: with a choice for each, reading of memory took a fifth longer.
template <typename F, typename V, int64_t count>
requires(V::kInRegister&& std::is_floating_point_v<typename V::value_type>&& count % 2 == 0 &&
         kIsExtreme<F>) struct Partial<F, V, count> {
  using Plain = typename F::Plain;
  static constexpr int64_t kGroup = 0;
  V value[count];
  typename V::Mask nan;
  template <typename Load>
  OPLOOM_ALWAYS_INLINE void start(const Load& load) {
    value[0] = load(0);
    nan = value[0].isnan();
#pragma GCC unroll 8
    for (int64_t k = 1; k < count; ++k) {
      value[k] = load(k);
      if (k % 2 == 1) nan = nan | unordered(value[k - 1], value[k]);
    }
  }
  template <typename Load>
  OPLOOM_ALWAYS_INLINE void add(const Load& load) {
#pragma GCC unroll 8
    for (int64_t k = 0; k < count; k += 2) {
      const V a = loaded(load(k)), b = loaded(load(k + 1));
      value[k] = Plain::apply(value[k], a);
      value[k + 1] = Plain::apply(value[k + 1], b);
      nan = nan | unordered(a, b);
    }
  }
  template <int64_t few>
  OPLOOM_ALWAYS_INLINE void finish() {
    using T = typename V::value_type;
    halve<Plain, few>(value);
#pragma GCC unroll 8
    for (int64_t k = 0; k < few; ++k) {
      value[k] = blendv(value[k], V(std::numeric_limits<T>::quiet_NaN()), nan);
    }
  }
};

// Rows that are gone through side by side, the next of which are fetched unless `ahead` is None, or
// what comes next in them where that is Beside. The pointers are kept in registers: what is stored
// on the way might be them otherwise.
template <typename T, int count>
class RowGroup {
 public:
  OPLOOM_ALWAYS_INLINE RowGroup(const T* const* rows, Ahead ahead) : ahead_(ahead) {
    std::copy_n(rows, count, rows_);
  }
  OPLOOM_ALWAYS_INLINE const T* operator[](int64_t r) const { return rows_[r]; }
  // Asks for the next ones' line with element j, if it begins with that.
  OPLOOM_ALWAYS_INLINE void fetch_next(int64_t j) const {
    if constexpr (count == 1) return;
    const uintptr_t offset = static_cast<uintptr_t>(j) * sizeof(T);
    const Ahead ahead = asked_here(ahead_);
    if (ahead == Ahead::None || offset % 64 != 0) return;
    if (kNearFetches && ahead != Ahead::Far) {
      fetch_lines<3>(offset, ahead);
    } else {
      fetch_lines<2>(offset, Ahead::Far);
    }
  }

 private:
  template <int locality>
  OPLOOM_ALWAYS_INLINE void fetch_lines(uintptr_t offset, Ahead ahead) const {
    auto distance = static_cast<uintptr_t>(ahead);
    if (ahead != Ahead::Beside) {
      // As far as from the first row to the last, and once more, come the next ones. Of short ones
      // those after them.
      distance = std::max(2 * (address(count / 2) - address(0)), distance);
    }
#pragma GCC unroll 16
    for (int r = 0; r < count; ++r) {
      fetch<locality>(reinterpret_cast<const T*>(address(r) + (offset + distance)), 0, 1);
    }
  }
  OPLOOM_ALWAYS_INLINE uintptr_t address(int r) const {
    return reinterpret_cast<uintptr_t>(rows_[r]);
  }
  const T* rows_[count];
  Ahead ahead_;
};

// Numbers that are reduced side by side; it is fixed, so that the order is the same for every
// instruction set.
template <typename T>
inline constexpr int64_t kWide = std::max<int64_t>(256 / sizeof(T), 16);

// F over the blocks of `wide` elements, of what `map` makes of them as T, that end before n; there
// must be one. Moves i behind them.
template <typename F, typename T, int64_t wide = kWide<T>, typename In, typename Map>
OPLOOM_ALWAYS_INLINE auto reduce_blocks(const In* p, int64_t& i, int64_t n, const Map& map,
                                        Ahead ahead) {
  using L = Lanes<T>;
  const auto next = [&](int64_t k) { return map(L::load(p + i + k * L::kSize)); };
  using P = Partial<F, decltype(next(0)), wide / L::kSize>;
  P total;
  const auto group = [&](P& to) {
    const int64_t end = P::kGroup > 0 ? std::min(i + P::kGroup * wide, n) : n;
    fetch_behind(p + i, wide, ahead);
    to.start(next);
    for (i += wide; i + wide <= end; i += wide) {
      fetch_behind(p + i, wide, ahead);
      to.add(next);
    }
  };
  group(total);
  if constexpr (P::kGroup > 0) {
    while (i + wide <= n) {
      P part;
      group(part);
      total.merge(part);
    }
  }
  return total;
}

// Elements from which on vectors are worth it: they fill 64 bytes, or 32 of floats, beside which
// others that change nothing are put.
template <typename T>
inline constexpr int64_t kFew = kWide<T> / (std::is_floating_point_v<T> ? 8 : 4);

// F over the first, third and so on of 2 <= n < kFew elements, and over the others, of what `map`
// makes of them as T: one after the other. In registers: a vector could not be loaded before what
// is stored of it by elements is in the cache.
template <typename F, typename T, typename In, typename Map = Identity>
OPLOOM_NOINLINE std::array<T, 2> reduce_few(const In* p, int64_t n, const Map& map = {}) {
  T even = map(static_cast<T>(p[0])), odd = map(static_cast<T>(p[1]));
  for (int64_t i = 2; i < n; ++i) {
    asm("");  // too few for a loop over vectors
    const T next = F::apply(even, map(static_cast<T>(p[i])));
    even = odd;
    odd = next;
  }
  if (n % 2 != 0) std::swap(even, odd);
  return {even, odd};
}

// The same of n >= kFew: side by side, as many at last as fill 64 bytes, then of halves until the
// two are left, which are the first of what is returned.
template <typename F, typename T, typename In, typename Map = Identity>
auto reduce_pairs(const In* p, int64_t n, Ahead ahead, const Map& map = {}) {
  using L = Lanes<T>;
  using V = typename L::V;
  using Pair = std::conditional_t<L::kVec, V, std::array<T, 2>>;
  constexpr int64_t kNarrow = kWide<T> / 4, kVecs = kNarrow / L::kSize;
  int64_t i = 0;
  V acc[kVecs];
  if (n >= kWide<T>) {
    auto total = reduce_blocks<F, T>(p, i, n, map, ahead);
    total.template finish<kVecs>();
    std::copy_n(total.value, kVecs, acc);
  } else if (n >= kNarrow) {
    OPLOOM_UNROLL_VECS
    for (int64_t k = 0; k < kVecs; ++k) acc[k] = map(L::load(p + k * L::kSize));
    i = kNarrow;
  } else {
    std::fill_n(acc, kVecs, V(F::template neutral<T>()));
  }
  for (; i + kNarrow <= n; i += kNarrow) {
    OPLOOM_UNROLL_VECS
    for (int64_t k = 0; k < kVecs; ++k) {
      acc[k] = F::apply(acc[k], map(L::load(p + i + k * L::kSize)));
    }
  }
  OPLOOM_UNROLL_VECS
  for (int64_t k = 0; k < kVecs; ++k, i += L::kSize) {
    if (i + L::kSize <= n) {
      acc[k] = F::apply(acc[k], map(L::load(p + i)));
    } else if constexpr (L::kSize > 1) {
      if (i >= n) break;
      const FirstLanes<T> first(n - i);
      acc[k] = first.with(F::apply(acc[k], map(first.load(p + i))), acc[k]);
    }
  }
  halve<F, L::kVec ? 1 : 2>(acc);
  if constexpr (L::kVec) return across<F, T>(acc[0], 2);
  if constexpr (!L::kVec) return Pair{acc[0], acc[1]};
}
// Over all of n >= 1.
template <typename F, typename T, typename In, typename Map = Identity>
OPLOOM_ALWAYS_INLINE T reduce_chunk(const In* p, int64_t n, Ahead ahead, const Map& map = {}) {
  if (n == 1) return map(static_cast<T>(p[0]));
  if (n < kFew<T>) {
    const auto [even, odd] = reduce_few<F, T>(p, n, map);
    return F::apply(even, odd);
  }
  const auto pair = reduce_pairs<F, T>(p, n, ahead, map);
  return F::apply(pair[0], pair[1]);
}

// The extreme of what `map` makes of n elements as T, which is the same in any order and with some
// of them taken twice.
template <typename F, typename T, typename In, typename Map = Identity>
requires(kIsExtreme<F>) T reduce_chunk(const In* p, int64_t n, Ahead ahead, const Map& map = {}) {
  using L = Lanes<T>;
  using V = typename L::V;
  int64_t i = 0;
  V value;
  if (n >= kWide<T>) {
    auto total = reduce_blocks<F, T>(p, i, n, map, ahead);
    total.template finish<1>();
    value = total.value[0];
  } else if (L::kSize == 1 || n >= L::kSize) {
    value = map(L::load(p));
    i = L::kSize;
  } else if constexpr (L::kSize > 1) {
    const FirstLanes<T> first(n);
    value = first.with(map(first.load(p)), V(F::template identity<T>()));
    i = n;
  }
  for (; i + L::kSize <= n; i += L::kSize) value = F::apply(value, map(L::load(p + i)));
  if (i < n) value = F::apply(value, map(L::load(p + n - L::kSize)));
  if constexpr (L::kVec && std::is_floating_point_v<T>) {
    if (L::any(value.isnan())) return std::numeric_limits<T>::quiet_NaN();
    return L::first(across<typename F::Plain, T>(value));
  }
  return L::first(across<F, T>(value));
}

// The sum of integers, which is the same in any order.
template <typename T, typename In>
T sum_integers(const In* p, int64_t n, Ahead ahead) {
  using L = Lanes<T>;
  constexpr int64_t kSums = 4, kBlock = kSums * L::kSize;
  typename L::V sums[kSums] = {T(0), T(0), T(0), T(0)};
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    // Bytes are summed more slowly than memory gives them.
    if constexpr (sizeof(In) > 1) fetch_behind(p + i, kBlock, ahead);
    for (int64_t k = 0; k < kSums; ++k) {
      sums[k] = Add::apply(sums[k], L::load(p + i + k * L::kSize));
    }
  }
  for_each_lanes<T>(
      n - i, [&](int64_t j, auto lanes) { sums[0] = Add::apply(sums[0], lanes.load(p + i + j)); });
  return L::first(
      across<Add, T>(Add::apply(Add::apply(sums[0], sums[1]), Add::apply(sums[2], sums[3]))));
}

// The sums of the elements of every `period`, a power of two up to kWide<T>, of which n is a
// multiple. For floats, to which -0 adds nothing.
template <typename T, typename In>
[[gnu::noclone]] OPLOOM_NOINLINE void sum_periods(const In* p, int64_t n, int64_t period,
                                                  Ahead ahead, T* sums) {
  using L = Lanes<T>;
  constexpr int64_t kWidth = kWide<T>;
  alignas(64) T acc[kWidth];
  int64_t i = 0;
  if (n >= kWidth) {
    const auto total = reduce_blocks<Add, T>(p, i, n, Identity(), ahead);
    std::memcpy(acc, total.value, sizeof acc);
  } else {
    std::fill_n(acc, kWidth, Add::neutral<T>());
  }
  for_each_lanes<T>(n - i, [&](int64_t j, auto lanes) {
    const auto sum = L::load(acc + j);
    L::store(acc + j, lanes.with(Add::apply(sum, lanes.load(p + i + j)), sum));
  });
  int64_t width = kWidth;
  for (; width > period && width > L::kSize; width /= 2) {
    for (int64_t j = 0; j < width / 2; j += L::kSize) {
      L::store(acc + j, Add::apply(L::load(acc + j), L::load(acc + j + width / 2)));
    }
  }
  if (width > period) L::store(acc, across<Add, T>(L::load(acc), period));
  std::copy_n(acc, period, sums);
}

// Numbers, and their squares.
template <typename V>
struct Moments {
  V first;
  V second;
  OPLOOM_ALWAYS_INLINE friend Moments operator+(const Moments& a, const Moments& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

// The sums of x - center, and of the squares of that.
template <typename T>
Moments<T> sum_moments(const T* p, int64_t n, T center, Ahead ahead) {
  constexpr int64_t kHalf = kWide<T> / 2;
  const auto moments = [&center](auto x) {
    const auto distance = x - decltype(x)(center);
    return Moments<decltype(x)>{distance, distance * distance};
  };
  Moments<T> sum{T(0), T(0)};
  int64_t i = 0;
  if (n >= kHalf) {
    auto total = reduce_blocks<Add, T, kHalf>(p, i, n, moments, ahead);
    total.template finish<1>();
    sum = {Lanes<T>::first(across<Add, T>(total.value[0].first)),
           Lanes<T>::first(across<Add, T>(total.value[0].second))};
  }
  for (; i < n; ++i) sum = sum + moments(p[i]);
  return sum;
}

// Turns n elements, `stride` bytes apart, into f(element).
template <typename In, typename Elem, typename F>
OPLOOM_ALWAYS_INLINE void load_as(const char* in, int64_t stride, int64_t n, void* elements,
                                  const F& f) {
  auto* out = static_cast<Elem*>(elements);
  if (stride == sizeof(In)) {
    const In* p = reinterpret_cast<const In*>(in);
    for (int64_t i = 0; i < n; ++i) out[i] = f(p[i]);
  } else {
    // One element in each turn takes up to 1.6 times as long where it goes across a cache line.
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) out[i] = f(*reinterpret_cast<const In*>(in + i * stride));
  }
}

// Converts elements, or moves them as they are; the last argument is not used.
template <typename In, typename Elem>
void load_row(const char* in, int64_t stride, int64_t n, void* elements, double) {
  if constexpr (std::is_same_v<In, Elem>) {
    return move_row<opaque_type<sizeof(In)>>(static_cast<char*>(elements), sizeof(In), in, stride,
                                             n);
  }
  if constexpr (c10::is_reduced_floating_point_v<In>) {
    if (stride == sizeof(In)) {
      const In* p = reinterpret_cast<const In*>(in);
      vec::for_each_vec<In>(n, Identity(), &p, std::index_sequence<0>(),
                            [&](int64_t i, const auto& value, int64_t count) {
                              vec::Rows<float>::store(static_cast<float*>(elements) + i, value,
                                                      count);
                            });
      return;
    }
  }
  load_as<In, Elem>(in, stride, n, elements, [](In x) { return static_cast<Elem>(x); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
