// The functions that reductions apply, and their use on short rows.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {

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

// Applies F to neighbouring pairs until one element is left. The width of the partial results is
// fixed, so the order is the same for every instruction set; the compiler makes vectors of them.
// What comes a page later is fetched ahead: the processor stops at the end of a page by itself, and
// a sum of 64 MB took a tenth longer.
template <typename F, typename T>
T reduce_chunk(const T* p, int64_t n) {
  constexpr int64_t kWide = std::max<int64_t>(256 / sizeof(T), 16);
  constexpr int64_t kNarrow = kWide / 8;
  int64_t i = 0;
  // As many blocks of this width as there are from i on; at least one.
  const auto blocks = [&]<int64_t width>(std::integral_constant<int64_t, width>) {
    T acc[width];
    for (int64_t j = 0; j < width; ++j) acc[j] = p[i + j];
    for (i += width; i + width <= n; i += width) {
      if constexpr (width == kWide) {
        for (size_t line = 0; line < kWide * sizeof(T); line += 64) {
          __builtin_prefetch(reinterpret_cast<const char*>(p + i) + 4096 + line);
        }
      }
#pragma GCC unroll 1
      for (int64_t j = 0; j < width; ++j) acc[j] = F::apply(acc[j], p[i + j]);
    }
    for (int64_t half = width / 2; half > 0; half /= 2) {
      for (int64_t j = 0; j < half; ++j) acc[j] = F::apply(acc[j], acc[j + half]);
    }
    return acc[0];
  };
  constexpr std::integral_constant<int64_t, kWide> wide;
  constexpr std::integral_constant<int64_t, kNarrow> narrow;
  T result = n >= kWide ? blocks(wide) : n >= kNarrow ? blocks(narrow) : p[i++];
  if (n - i >= 2 * kNarrow) result = F::apply(result, blocks(narrow));
  for (; i < n; ++i) result = F::apply(result, p[i]);
  return result;
}

struct Add {
  template <typename T>
  static T identity() {
    return T(0);
  }
  template <typename T>
  static T apply(T a, T b) {
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
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) *
                            static_cast<std::make_unsigned_t<T>>(b));
    } else {
      return a * b;
    }
  }
};

struct Max {
  template <typename T>
  static T identity() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T apply(T a, T b) {
    return (b > a || b != b) ? b : a;
  }
};

struct Min {
  template <typename T>
  static T identity() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  static T apply(T a, T b) {
    return (b < a || b != b) ? b : a;
  }
};

// Turns n elements, `stride` bytes apart, into Elem; the last argument is not used.
template <typename In, typename Elem>
void load_row(const char* in, int64_t stride, int64_t n, void* elements, double) {
  auto* out = static_cast<Elem*>(elements);
  if (stride == sizeof(In)) {
    const In* p = reinterpret_cast<const In*>(in);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Elem>(p[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<Elem>(*reinterpret_cast<const In*>(in + i * stride));
    }
  }
}

// Sum of f(i) over the blocks of `width` numbers from i on that end before n; moves i behind them.
template <int64_t width, typename T, typename F>
OPLOOM_ALWAYS_INLINE T sum_blocks(int64_t& i, int64_t n, const F& f) {
  T acc[width] = {};
  for (; i + width <= n; i += width) {
#pragma GCC unroll 1
    for (int64_t j = 0; j < width; ++j) acc[j] += f(i + j);
  }
  for (int64_t half = width / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) acc[j] += acc[j + half];
  }
  return acc[0];
}

// Sum of f(i) for i in [0, n), in an order that does not depend on the instruction set.
template <typename T, typename F>
OPLOOM_ALWAYS_INLINE T sum_of(int64_t n, const F& f) {
  constexpr int64_t kWide = 128 / sizeof(T);
  constexpr int64_t kNarrow = kWide / 4;
  int64_t i = 0;
  T sum = 0;
  if (n >= kWide) sum = sum_blocks<kWide, T>(i, n, f);
  if (n - i >= kNarrow) sum += sum_blocks<kNarrow, T>(i, n, f);
  for (; i < n; ++i) sum += f(i);
  return sum;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
