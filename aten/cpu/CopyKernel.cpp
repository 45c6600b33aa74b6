// Copying elements, with and without conversion.
#include <aten/cpu/ConvertRow.h>
#include <aten/cpu/Loops.h>
#include <aten/cpu/Squares.h>
#include <aten/iterator/DenseRows.h>
#include <aten/iterator/ShortRows.h>
#include <aten/stubs/Copy.h>
#include <aten/stubs/RowCopy.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

using at::detail::CastLoop;

// Between float and a 16-bit float, which the compiler converts one at a time. Returns how many
// elements it has converted. Four vectors in a loop: one of a single vector takes up to 1.3 times
// as long where it goes across a cache line.
template <typename To, typename From>
int64_t convert_vectors(To* to, const From* from, int64_t n) {
  constexpr int64_t kStep = vec::Vec<float>::size(), kVecs = 4;
  int64_t i = 0;
  if constexpr (kStep > 1) {
    const auto convert = [&](int64_t j) OPLOOM_ALWAYS_INLINE_LAMBDA {
      if constexpr (std::is_same_v<To, float>) {
        vec::load_as_float(from + j).storeu(to + j);
      } else {
        vec::store_from_float(to + j, vec::Vec<float>::loadu(from + j));
      }
    };
    for (; i + kVecs * kStep <= n; i += kVecs * kStep) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < kVecs; ++k) convert(i + k * kStep);
    }
    for (; i + kStep <= n; i += kStep) convert(i);
  }
  return i;
}

template <typename Reduced, typename T>
inline constexpr bool is_reduction_of = false;
template <>
inline constexpr bool is_reduction_of<Half, float> = true;
template <>
inline constexpr bool is_reduction_of<BFloat16, float> = true;

// Through what c10::convert() converts From to To: float for 16-bit floats, the parts for complex
// numbers. To itself where it converts at once.
template <typename To, typename From>
constexpr auto middle_of() {
  if constexpr (c10::is_complex_v<From>) {
    if constexpr (c10::is_complex_v<To> || std::is_same_v<To, bool>) {
      return std::type_identity<To>{};
    } else {
      return std::type_identity<typename From::value_type>{};
    }
  } else if constexpr (c10::is_complex_v<To>) {
    return std::type_identity<std::conditional_t<std::is_same_v<From, typename To::value_type>, To,
                                                 typename To::value_type>>{};
  } else if constexpr (c10::is_reduced_floating_point_v<From> ||
                       c10::is_reduced_floating_point_v<To>) {
    return std::type_identity<std::conditional_t<std::is_same_v<From, float>, To, float>>{};
  } else {
    return std::type_identity<To>{};
  }
}

// A row by way of another dtype, in pieces that stay in the first-level cache.
void cast_row_twice(CastLoop first, CastLoop second, int64_t middle_size, char* dst,
                    int64_t dst_stride, const char* src, int64_t src_stride, int64_t n) {
  constexpr int64_t kPiece = 256;
  alignas(64) char middle[kPiece * sizeof(double)];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    first(middle, middle_size, src + i * src_stride, src_stride, count);
    second(dst + i * dst_stride, dst_stride, middle, middle_size, count);
  }
}

template <typename To, typename From>
void cast_row(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n) {
  using Middle = typename decltype(middle_of<To, From>())::type;
  if constexpr (!std::is_same_v<Middle, To>) {
    cast_row_twice(&cast_row<Middle, From>, &cast_row<To, Middle>, sizeof(Middle), dst, dst_stride,
                   src, src_stride, n);
  } else if (dst_stride == sizeof(To) && src_stride == sizeof(From)) {
    To* to = reinterpret_cast<To*>(dst);
    const From* from = reinterpret_cast<const From*>(src);
    int64_t i = 0;
    if constexpr (is_reduction_of<To, From> || is_reduction_of<From, To>) {
      i = convert_vectors(to, from, n);
    }
    OPLOOM_INDEPENDENT_ITERATIONS
    for (; i < n; ++i) to[i] = c10::convert<To>(from[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<To*>(dst + i * dst_stride) =
          c10::convert<To>(*reinterpret_cast<const From*>(src + i * src_stride));
    }
  }
}

// to[i] = from[-i], as many at a time as `bytes` hold; the last ones take some again. False if
// there are fewer.
template <int bytes, typename T>
OPLOOM_ALWAYS_INLINE bool reverse_parts(T* to, const T* from, int64_t n) {
  constexpr int64_t kPart = bytes / sizeof(T);
  if constexpr (kPart <= 1) {
    return false;
  } else {
    if (n < kPart) return false;
    typedef T Part __attribute__((vector_size(bytes)));
    const auto reverse = [&]<int... lane>(int64_t i, std::integer_sequence<int, lane...>) {
      Part part;
      std::memcpy(&part, from - i - (kPart - 1), bytes);
      part = __builtin_shufflevector(part, part, (kPart - 1 - lane)...);
      std::memcpy(to + i, &part, bytes);
    };
    constexpr auto lanes = std::make_integer_sequence<int, kPart>();
    for (int64_t i = 0; i + kPart <= n; i += kPart) reverse(i, lanes);
    reverse(n - kPart, lanes);
    return true;
  }
}

template <typename T>
void reverse_row(T* to, const T* from, int64_t n) {
  if constexpr (std::is_integral_v<T>) {
    if (reverse_parts<32>(to, from, n) || reverse_parts<16>(to, from, n) ||
        reverse_parts<8>(to, from, n)) {
      return;
    }
  }
#pragma GCC unroll 1
  for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
}

// to[2 * i] = from[i], or the same element again and again, half a vector at a time; what lies
// between is not written. Not inlined, which would cost moves of other strides as much as they do.
template <typename T>
OPLOOM_NOINLINE void write_every_second(T* to, const T* from, bool same, int64_t n) {
  int64_t i = 0;
#if defined(CPU_CAPABILITY_AVX512)
  constexpr int64_t kStep = 32 / sizeof(T);
  // The store waits for lines that are not in the cache, which a loop over elements sees coming.
  constexpr int64_t kAhead = 1024 / sizeof(T);
  if constexpr (sizeof(T) <= 8) {
    T elements[kStep];
    if (same) fill_row(elements, kStep, *from);
    // Few are not worth it.
    for (; n >= 4 * kStep && i + kStep <= n; i += kStep) {
      const __m256i part =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(same ? elements : from + i));
      T* place = to + 2 * i;
      __builtin_prefetch(place + kAhead);
      if constexpr (sizeof(T) == 1) {
        _mm512_mask_storeu_epi8(place, 0x5555555555555555, _mm512_cvtepu8_epi16(part));
      } else if constexpr (sizeof(T) == 2) {
        _mm512_mask_storeu_epi16(place, 0x55555555, _mm512_cvtepu16_epi32(part));
      } else if constexpr (sizeof(T) == 4) {
        _mm512_mask_storeu_epi32(place, 0x5555, _mm512_cvtepu32_epi64(part));
      } else {
        const __m512i apart = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 1, 0, 2, 0, 3, 0),
                                                       _mm512_castsi256_si512(part));
        _mm512_mask_storeu_epi64(place, 0x55, apart);
      }
    }
  }
#endif
  const int64_t step = same ? 0 : 1;
  from += i * step;
#pragma GCC unroll 4
  for (; i < n; ++i, from += step) {
    asm("");  // no loop over vectors, which this compiler makes long
    to[2 * i] = *from;
  }
}

void copy_row_kernel(char* to, const char* from, int64_t bytes) {
  using Part = LongRowPart;
  constexpr int64_t kPart = sizeof(Part);
  // Of more, memmove() may decide to write past the cache.
  constexpr int64_t kFew = 64, kMany = 1 << 20;
  const int64_t distance = std::abs(to - from);
  if (!vec::Vec<float>::kInRegister || bytes < kFew || bytes > kMany || distance < bytes) {
    std::memmove(to, from, static_cast<size_t>(bytes));
    return;
  }
  const auto load = [&](int64_t place) {
    Part part;
    std::memcpy(&part, from + place, sizeof(part));
    return part;
  };
  const auto store = [&](int64_t place, Part part) {
    std::memcpy(to + place, &part, sizeof(part));
  };
  // All but the ends is written where a Part lies in one cache line.
  const Part last = load(bytes - kPart);
  store(0, load(0));
  int64_t i = kPart - static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kPart);
  for (; i + 4 * kPart <= bytes; i += 4 * kPart) {
    const Part a = load(i), b = load(i + kPart), c = load(i + 2 * kPart), d = load(i + 3 * kPart);
    store(i, a);
    store(i + kPart, b);
    store(i + 2 * kPart, c);
    store(i + 3 * kPart, d);
  }
  for (; i + kPart <= bytes; i += kPart) store(i, load(i));
  store(bytes - kPart, last);
}

}  // namespace

template <typename T>
void move_row(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n) {
  if (dst_stride == sizeof(T)) {
    if (src_stride == sizeof(T)) {
      // The same memory when a tensor is copied to itself; then nothing is to be done.
      if (dst != src) copy_row_kernel(dst, src, n * int64_t{sizeof(T)});
      return;
    }
    if (src_stride == 0) {
      fill_row(reinterpret_cast<T*>(dst), n, *reinterpret_cast<const T*>(src));
      return;
    }
    // Of strides that it knows the compiler makes vectors.
    T* to = reinterpret_cast<T*>(dst);
    const T* from = reinterpret_cast<const T*>(src);
    if (src_stride == -int64_t{sizeof(T)}) return reverse_row(to, from, n);
    const auto every = [&]<int64_t step>(std::integral_constant<int64_t, step>) {
      OPLOOM_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < n; ++i) to[i] = from[step * i];
    };
    if (src_stride == 2 * int64_t{sizeof(T)}) return every(std::integral_constant<int64_t, 2>());
    if (src_stride == 3 * int64_t{sizeof(T)}) return every(std::integral_constant<int64_t, 3>());
    if (src_stride == 4 * int64_t{sizeof(T)}) return every(std::integral_constant<int64_t, 4>());
  }
  if (dst_stride == 2 * int64_t{sizeof(T)} && (src_stride == sizeof(T) || src_stride == 0)) {
    return write_every_second(reinterpret_cast<T*>(dst), reinterpret_cast<const T*>(src),
                              src_stride == 0, n);
  }
  // One element in each turn takes up to twice as long where the jump back lies badly in memory.
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<T*>(dst + i * dst_stride) = *reinterpret_cast<const T*>(src + i * src_stride);
  }
}

#define OPLOOM_MOVE(bytes) \
  template void move_row<opaque_type<bytes>>(char*, int64_t, const char*, int64_t, int64_t);
OPLOOM_MOVE(1)
OPLOOM_MOVE(2)
OPLOOM_MOVE(4)
OPLOOM_MOVE(8)
OPLOOM_MOVE(16)
#undef OPLOOM_MOVE

namespace {

// A bool is read as the byte, 0 or 1, that it is: of bytes the compiler makes vectors.
template <typename To, typename From>
constexpr CastLoop cast_row_of() {
  if constexpr (std::is_same_v<To, From>) {
    return nullptr;
  } else if constexpr (std::is_same_v<From, bool>) {
    return &cast_row<To, uint8_t>;
  } else {
    return &cast_row<To, From>;
  }
}

template <typename To>
constexpr auto cast_rows_to() {
  return std::array<CastLoop, c10::kNumScalarTypes>{
#define OPLOOM_ENTRY(cpp_type, name, text) cast_row_of<To, cpp_type>(),
      OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_ENTRY)
#undef OPLOOM_ENTRY
  };
}

CastLoop move_loop_kernel(int64_t element_size) {
  CastLoop loop = nullptr;
  with_opaque_type(static_cast<size_t>(element_size), [&]<typename T>(T) { loop = &move_row<T>; });
  return loop;
}

CastLoop cast_loop_kernel(ScalarType to, ScalarType from) {
  if (to == from) return move_loop_kernel(static_cast<int64_t>(c10::elementSize(to)));
  static constexpr std::array<CastLoop, c10::kNumScalarTypes> loops[] = {
#define OPLOOM_ENTRY(cpp_type, name, text) cast_rows_to<cpp_type>(),
      OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_ENTRY)
#undef OPLOOM_ENTRY
  };
  return loops[static_cast<int>(to)][static_cast<int>(from)];
}

// Calls f(function that copies a row), for rows of `bytes` bytes.
template <typename F>
OPLOOM_ALWAYS_INLINE void with_rows_copy(size_t bytes, const F& f) {
  // A call takes as long as so many bytes do.
  constexpr size_t kCall = 512;
  if (bytes <= kShortRowCopy) return with_short_row_copy(bytes, f);
  if (bytes > kCall) {
    return f([bytes](char* to, const char* from) {
      copy_row_kernel(to, from, static_cast<int64_t>(bytes));
    });
  }
  f([last = bytes - sizeof(LongRowPart)](char* to, const char* from) {
    for (size_t i = 0; i < last; i += sizeof(LongRowPart)) {
      copy_part<LongRowPart>(to + i, from + i);
    }
    copy_part<LongRowPart>(to + last, from + last);
  });
}

// Rows of 5 to 31 bytes, three or more, that become dense ones, a register for each. What is
// written behind a row is written over by the next, and behind all but the first and the last there
// is another to be read, whichever way they follow.
void copy_dense_rows(char* to, const char* from, int64_t from_stride, size_t bytes, int64_t rows) {
  const auto next = [&] {
    to += bytes;
    from += from_stride;
  };
  // Some in each turn, as in move_row().
  const auto copy_middle = [&]<typename Part>(std::type_identity<Part>) {
#pragma GCC unroll 4
    for (int64_t r = 1; r < rows - 1; ++r, next()) copy_part<Part>(to, from);
  };
  std::memcpy(to, from, bytes);
  next();
  if (bytes > sizeof(RowPart)) {
    copy_middle(std::type_identity<LongRowPart>());
  } else if (bytes > sizeof(uint64_t)) {
    copy_middle(std::type_identity<RowPart>());
  } else {
    copy_middle(std::type_identity<uint64_t>());
  }
  std::memcpy(to, from, bytes);
}

// One row of so many 4-byte words, up to a Vec of them, again and again. Each Vec that is written
// has the words of the row in the order that goes on where the one before ended.
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
OPLOOM_NOINLINE void repeat_words(char* to, int64_t bytes, const char* row, uint32_t words) {
  using V = vec::Vec<int32_t>;
  typedef uint32_t Words __attribute__((vector_size(sizeof(V))));
  constexpr int64_t kBytes = sizeof(V);
  constexpr uint32_t kWords = V::size();
  const auto all = std::bit_cast<Words>(V::loadu(reinterpret_cast<const int32_t*>(row), words));
  // Of places below twice `size` those below it.
  const auto wrapped = [](Words places, uint32_t size) {
    const Words less = places - size;
    return less < places ? less : places;
  };
  Words places;
  for (uint32_t i = 0; i < kWords; ++i) places[i] = i;
  for (uint32_t times = kWords / 2; times > 0; times /= 2) places = wrapped(places, times * words);
  const uint32_t further = kWords % words;
  for (; bytes >= kBytes; to += kBytes, bytes -= kBytes) {
    const Words next = __builtin_shuffle(all, places);
    std::memcpy(to, &next, kBytes);
    places = wrapped(places + further, words);
  }
  const auto rest = std::bit_cast<V>(__builtin_shuffle(all, places));
  rest.storeu(reinterpret_cast<int32_t*>(to), bytes / int64_t{sizeof(uint32_t)});
}
// Of longer rows, and those of one part, as many bytes are copied in less time.
bool repeats_words(int64_t to_stride, int64_t from_stride, size_t bytes, int64_t rows) {
  constexpr size_t kVec = sizeof(vec::Vec<int32_t>), kMost = kVec * 5 / 8;
  return from_stride == 0 && to_stride == static_cast<int64_t>(bytes) &&
         bytes % sizeof(uint32_t) == 0 && bytes <= kMost && bytes != sizeof(LongRowPart) &&
         rows * to_stride >= int64_t{2 * kVec};
}
#endif

void copy_rows_kernel(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                      size_t bytes, int64_t rows) {
  // Rows that might be elements are moved as such, many together where one is another's neighbour.
  if (bytes <= sizeof(Opaque16) && std::has_single_bit(bytes)) {
    const uintptr_t places = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) |
                             static_cast<uintptr_t>(to_stride) |
                             static_cast<uintptr_t>(from_stride);
    if (places % std::min(bytes, alignof(Opaque16)) == 0) {
      return move_loop_kernel(static_cast<int64_t>(bytes))(to, to_stride, from, from_stride, rows);
    }
  }
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
  if (repeats_words(to_stride, from_stride, bytes, rows)) {
    return repeat_words(to, rows * to_stride, from,
                        static_cast<uint32_t>(bytes / sizeof(uint32_t)));
  }
#endif
  if (to_stride == static_cast<int64_t>(bytes) && std::abs(from_stride) >= to_stride &&
      bytes > sizeof(uint32_t) && bytes < sizeof(LongRowPart) && rows > 2) {
    return copy_dense_rows(to, from, from_stride, bytes, rows);
  }
  with_rows_copy(bytes, [&](const auto& copy) {
    for (int64_t r = 0; r < rows; ++r, to += to_stride, from += from_stride) copy(to, from);
  });
}

bool copy_named_rows_kernel(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                            size_t bytes, const at::detail::RowNames& names) {
  // Copies, which no byte that is written may change.
  const int64_t* const index = names.index;
  const int64_t step = names.step, rows = names.count, size = names.high, ahead = names.ahead;
  const int64_t fetched = ahead > 0 ? rows - ahead : 0;
  int64_t r = 0;
  with_rows_copy(bytes, [&](const auto& copy) {
    for (; r < rows; ++r, to += to_stride) {
      const int64_t place = index[r * step];
      if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(size)) return;
      if (r < fetched) {
        const int64_t next = index[(r + ahead) * step];
        at::detail::fetch_named_row(from + next * from_stride, static_cast<int64_t>(bytes));
      }
      copy(to, from + place * from_stride);
    }
  });
  return r == rows;
}

void copy_to_named_rows_kernel(char* to, int64_t to_stride, const char* from, int64_t from_stride,
                               size_t bytes, const at::detail::RowNames& names) {
  with_rows_copy(bytes, [&](const auto& copy) {
    names.for_each(to, to_stride, from, from_stride, static_cast<int64_t>(bytes), copy);
  });
}

// A vector of one element again and again. One of 16 bytes is taken by halves, twice at most: else
// the compiler makes the vector by way of memory, whose load waits for smaller stores.
template <typename T>
OPLOOM_ALWAYS_INLINE auto repeated_element(const char* element) {
  constexpr size_t kBytes = sizeof(double) * std::max<size_t>(vec::Vec<double>::size(), 2);
  static_assert(kBytes <= at::detail::kRepeatSlack);
  if constexpr (std::is_integral_v<T>) {
    typedef T Part __attribute__((vector_size(kBytes)));
    return *reinterpret_cast<const T*>(element) + Part{};
  } else {
    constexpr size_t kHalves = std::min<size_t>(kBytes / sizeof(uint64_t), 4);
    typedef uint64_t Part __attribute__((vector_size(kHalves * sizeof(uint64_t))));
    uint64_t half[2];
    std::memcpy(half, element, sizeof(half));
    constexpr auto places = std::make_index_sequence<kHalves>();
    const auto repeated = [&]<size_t... i>(std::index_sequence<i...>) {
      return Part{half[i % 2]...};
    };
    return repeated(places);
  }
}

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
// Elements side by side of up to 8 bytes, each two times and more, up to kMostRepeated bytes: kTo
// bytes of them become as many vectors as one is repeated, each by a shuffle that is the same for
// all. Those that a vector has lie within kFrom bytes. Returns how many are done.
constexpr int64_t kMostRepeated = sizeof(vec::Vec<int32_t>) * 5 / 8;
OPLOOM_NOINLINE int64_t repeat_each(char* to, int64_t bytes, const char* elements, int64_t size,
                                    int64_t n) {
  constexpr int64_t kFrom = 16, kTo = 2 * kFrom;
  const int64_t together = kTo / size, vectors = bytes / size;
  alignas(kTo) char order[kMostRepeated][kTo];
  uint8_t first[kMostRepeated];
  // Divided by `bytes`, by way of a fraction of 2^16.
  const auto fraction = static_cast<uint16_t>(65535 / bytes + 1);
  const auto place = [=](int i) {
    return static_cast<int>((i * fraction >> 16) * size + (i & (size - 1)));
  };
  for (int k = 0; k < vectors; ++k) {
    const int begin = std::min<int>(place(k * kTo), kTo - kFrom);
    for (int i = 0; i < kTo; ++i) order[k][i] = static_cast<char>(place(k * kTo + i) - begin);
    first[k] = static_cast<uint8_t>(begin);
  }
  // Several groups of elements side by side, for which an order is loaded once.
  constexpr int64_t kGroups = 4;
  int64_t i = 0;
  for (; i + kGroups * together <= n; i += kGroups * together, elements += kGroups * kTo) {
    for (int64_t k = 0; k < vectors; ++k, to += kTo) {
      const __m256i places = _mm256_load_si256(reinterpret_cast<const __m256i*>(order[k]));
#pragma GCC unroll 4
      for (int64_t g = 0; g < kGroups; ++g) {
        const char* const from = elements + first[k] + g * kTo;
        const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        const __m256i next = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(some), places);
        std::memcpy(to + g * vectors * kTo, &next, kTo);
      }
    }
    to += (kGroups - 1) * vectors * kTo;
  }
  return i;
}
#endif

void repeat_kernel(char* to, int64_t bytes, const char* elements, int64_t stride, int64_t size,
                   int64_t n) {
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
  // Narrow elements take less time by the loop below where rows have half a vector or more.
  constexpr int64_t kFewest = 1024, kMostNarrow = std::min<int64_t>(kMostRepeated, 31);
  const int64_t most = size < 4 ? kMostNarrow : kMostRepeated;
  if (stride == size && bytes <= most && bytes >= 2 * size && size <= 8 && n * bytes >= kFewest) {
    const int64_t done = repeat_each(to, bytes, elements, size, n);
    to += done * bytes;
    elements += done * size;
    n -= done;
  }
#endif
  with_opaque_type(static_cast<size_t>(size), [=]<typename T>(T) {
    for (int64_t r = 0; r < n; ++r) {
      const auto part = repeated_element<T>(elements + r * stride);
      for (int64_t i = 0; i < bytes; i += sizeof(part)) {
        std::memcpy(to + r * bytes + i, &part, sizeof(part));
      }
    }
  });
}

// The same for rows of at least kFilledBytes with gaps between them, if they have.
constexpr int64_t kFilledBytes = at::detail::kRepeatSlack;
void fill_rows(char* to, int64_t to_stride, int64_t bytes, const char* elements, int64_t stride,
               int64_t size, int64_t n) {
  with_opaque_type(static_cast<size_t>(size), [=]<typename T>(T) {
    for (int64_t r = 0; r < n; ++r) {
      char* const row = to + r * to_stride;
      const auto part = repeated_element<T>(elements + r * stride);
      const int64_t last = bytes - static_cast<int64_t>(sizeof(part));
      for (int64_t i = 0; i < last; i += sizeof(part)) std::memcpy(row + i, &part, sizeof(part));
      std::memcpy(row + last, &part, sizeof(part));
    }
  });
}

#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
// Rows of a few bytes that become dense ones, such as pixels that are reversed, or lose a channel:
// as many at a time as lie within 16 bytes of either operand, by a shuffle of these. Elements have
// one or two bytes. What is worked out for it serves all calls of an iterator.
class ShortRowShuffle {
 public:
  ShortRowShuffle(const int64_t* strides, int64_t size, int64_t size0) : size0_(size0) {
    std::copy_n(strides, 4, strides_);
    constexpr int64_t kFewest = 3;
    const int64_t inner = strides[1], outer = strides[3];
    row_ = size0 * size;
    reach_ = (size0 - 1) * std::abs(inner) + size;
    spare_ = kBytes - reach_;
    if (size > 2 || row_ > kBytes || strides[0] != size || strides[2] != row_) return;
    if (outer == 0 || std::abs(outer) > spare_) return;
    // As many rows fill 16 bytes of the output, and lie within as many of the input behind another.
    // Short divisions take a fraction of what long ones take.
    filled_ = static_cast<int>(kBytes) / static_cast<int>(row_);
    further_ = static_cast<int>(spare_) / static_cast<int>(std::abs(outer));
    const int64_t rows = std::min(filled_, further_ + 1);
    if (rows < kFewest || rows * row_ < kBytes / 2) return;
    back_ = std::min<int64_t>(inner, 0) * (size0 - 1);
    first_ = back_ + std::min<int64_t>(outer, 0) * (rows - 1);
    int8_t* place = order_;
    for (int64_t j = 0; j < rows; ++j) {
      for (int64_t i = 0; i < size0; ++i) {
        for (int64_t byte = 0; byte < size; ++byte) {
          *place++ = static_cast<int8_t>(j * outer + i * inner + byte - first_);
        }
      }
    }
    rows_ = rows;
  }

  // Whether it is one for rows of so many elements with these strides.
  bool is_for(const int64_t* strides, int64_t size0) const {
    return size0 == size0_ && std::equal(strides_, strides_ + 4, strides);
  }

  // Copies size1 rows. False where they are too few, or too long.
  OPLOOM_NOINLINE bool run(char* to, const char* from, int64_t size1) const {
    if (rows_ == 0 || size1 < kBytes) return false;
    const int64_t outer = strides_[3], bytes = rows_ * row_;
    const __m128i shuffle = _mm_load_si128(reinterpret_cast<const __m128i*>(order_));
    // Rows from j on, where too little is there to be read, or to be written over, behind them.
    const char* const end = from + back_ + std::max<int64_t>(outer, 0) * (size1 - 1) + reach_;
    const auto move_at_end = [&](int64_t j) {
      const char* place = from + j * outer + first_;
      const int64_t behind = std::max<int64_t>(place + kBytes - end, 0);
      __m128i part;
      std::memcpy(&part, place - behind, kBytes);
      part =
          _mm_shuffle_epi8(part, _mm_add_epi8(shuffle, _mm_set1_epi8(static_cast<char>(behind))));
      char moved[kBytes];
      std::memcpy(moved, &part, kBytes);
      std::memcpy(to + j * row_, moved, kBytes / 2);
      std::memcpy(to + j * row_ + bytes - kBytes / 2, moved + bytes - kBytes / 2, kBytes / 2);
    };
    const int64_t above = further_ + (further_ * std::abs(outer) < spare_ ? 1 : 0);
    const int64_t rest =
        std::max(filled_ + (filled_ * row_ < kBytes ? 1 : 0), outer > 0 ? above + 1 : 0);
    int64_t j = 0;
    for (; outer < 0 && j < above; j += rows_) move_at_end(std::min(j, size1 - rows_));
    const char* source = from + j * outer + first_;
    char* target = to + j * row_;
    const int64_t step = rows_ * outer;
    for (; j + rest <= size1; j += rows_, source += step, target += bytes) {
      __m128i part;
      std::memcpy(&part, source, kBytes);
      part = _mm_shuffle_epi8(part, shuffle);
      std::memcpy(target, &part, kBytes);
    }
    for (; j < size1; j += rows_) move_at_end(std::min(j, size1 - rows_));
    return true;
  }

 private:
  static constexpr int64_t kBytes = 16;
  int64_t strides_[4], size0_;
  int64_t rows_ = 0;  // that are moved together; 0 if they can't be
  // Bytes of a row of the output, and that one of the input spans; how many more it may span.
  int64_t row_, reach_, spare_;
  int64_t filled_, further_;
  // From the first element of a row to the first byte of it, and of `rows_` rows.
  int64_t back_, first_;
  alignas(kBytes) int8_t order_[kBytes] = {};
};
#else
struct ShortRowShuffle {
  ShortRowShuffle(const int64_t*, int64_t, int64_t) {}
  bool is_for(const int64_t*, int64_t) const { return true; }
  bool run(char*, const char*, int64_t) const { return false; }
};
#endif

// Where what lies between two elements of a row of the input are elements of other rows, few of
// them, the dimension along which they lie: see Note [Channels]. 0 if it is the second one, or
// none. Copies alone want it so, hence not the iterator: functions of such short rows took up
// to 2.6 times as long.
int find_channels(const TensorIteratorBase& iter) {
  const int64_t size = iter.element_size(1), fewest = std::max<int64_t>(8, 16 / size);
  if (iter.ndim() < 3 || iter.shape()[0] < fewest || iter.strides(0)[0] != size) return 0;
  const IntArrayRef strides = iter.strides(1);
  for (int d = 1; d < iter.ndim(); ++d) {
    if (strides[d] == size && strides[0] == iter.shape()[d] * size) return d == 1 ? 0 : d;
  }
  return 0;
}

void copy_kernel(TensorIteratorBase& iter, bool /*non_blocking*/) {
  const ScalarType to = iter.dtype(0);
  const ScalarType from = iter.dtype(1);
  const CastLoop row = cast_loop_kernel(to, from);
  const auto to_size = static_cast<int64_t>(c10::elementSize(to));
  const auto from_size = static_cast<int64_t>(c10::elementSize(from));
  if (to != from) {
    const auto convert = [&](char* const* dense, int64_t n, uint32_t) {
      row(dense[0], to_size, dense[1], from_size, n);
    };
    return at::detail::for_each_dense_row(iter, 2, convert, at::detail::Repeats::No,
                                          /*waits=*/true);
  }
  if (const int dim = find_channels(iter); dim != 0) iter.make_second(dim);
  const auto transpose = at::detail::get_transpose_loop(to_size);
  const bool stream = iter.numel() * to_size >= at::detail::kStreamedBytes;
  // A transposed operand goes by way of a buffer, from which it is written by rows: past the cache,
  // if rows do not begin at lines, which squares need, unless there are few rows or short ones; and
  // within the cache, if rows are a multiple of 2 KB apart, so that it has room for a few lines of
  // a column (all of it measured; elements of 4 bytes gain from squares).
  constexpr int64_t kManyRows = 64, kMatrixBytes = 1 << 20;
  const bool may_be_crowded =
      !stream && iter.numel() * to_size >= 4 << 20 && iter.ndim() >= 2 &&
      (to_size < 4 || (to_size == 4 && std::min(iter.shape()[0], iter.shape()[1]) >= 1024));
  const int64_t sizes[] = {to_size, to_size};
  const auto stride = [&](int k, int d) { return d < iter.ndim() ? iter.strides(k)[d] : 0; };
  const int64_t first_strides[] = {stride(0, 0), stride(1, 0), stride(0, 1), stride(1, 1)};
  const ShortRowShuffle shuffle(first_strides, to_size, iter.ndim() > 0 ? iter.shape()[0] : 0);
  const auto move = [&](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
    constexpr int64_t kShort = 8, kLongFill = 4096, kFetched = 2048;
    // Rows of one element each are filled; short ones are columns of an operand.
    const bool fills = strides[1] == 0 && size0 * to_size >= kFilledBytes;
    const bool transposed = std::min(size0, size1) >= 2 && strides[0] == to_size &&
                            strides[3] == to_size && strides[1] != to_size && !fills;
    const bool large = at::detail::are_long_rows(size0, to_size) && size1 >= kManyRows &&
                       size0 * size1 * to_size >= kMatrixBytes;
    if (transposed && std::min(size0, size1) >= kShort &&
        (stream ? large && !at_lines(data[0], strides[2])
                : may_be_crowded && strides[2] % 2048 == 0)) {
      return at::detail::for_each_dense_row(data, strides, sizes, 1, 2, size0, size1, stream,
                                            [&](char* const* dense, int64_t n, uint32_t) {
                                              row(dense[0], to_size, dense[1], to_size, n);
                                            });
    }
    if (transposed) {
      return transpose(data[0], strides[2], data[1], strides[1], size1, size0, stream);
    }
    const int64_t bytes = size0 * to_size;
    if (fills && strides[0] == to_size && bytes <= kLongFill) {
      return fill_rows(data[0], strides[2], bytes, data[1], strides[3], to_size, size1);
    }
    // Elements that are as long as rows of a power of two are moved by vectors.
    const bool odd = strides[1] != to_size || !std::has_single_bit(static_cast<uint64_t>(bytes));
    if (to_size <= 2 && bytes <= 8 && odd) {
      const bool moved =
          shuffle.is_for(strides, size0)
              ? shuffle.run(data[0], data[1], size1)
              : ShortRowShuffle(strides, to_size, size0).run(data[0], data[1], size1);
      if (moved) return;
    }
    if (strides[0] == to_size && strides[1] == to_size && bytes >= 4 && size1 >= kShort) {
      return copy_rows_kernel(data[0], strides[2], data[1], strides[3], static_cast<size_t>(bytes),
                              size1);
    }
    if (at::detail::copy_short_rows(data[0], strides[0], strides[2], data[1], strides[1],
                                    strides[3], to_size, size0, size1)) {
      return;
    }
    // Short rows are walked over across, as far as the first-level cache holds what they touch: as
    // many of them, but so many at least.
    constexpr int64_t kReach = 16384, kFewest = 64, kMost = 1024;
    const bool across = size0 < kShort && size0 < size1 && !(strides[1] == -to_size && bytes > 32);
    const int64_t reach = std::max<int64_t>(std::abs(strides[2]) + std::abs(strides[3]), 1);
    const int64_t block = across ? std::clamp<int64_t>(kReach / reach, kFewest, kMost) : 1;
    // A processor that reads backwards does not see coming where the next row begins.
    const bool fetches = strides[1] == -to_size && bytes >= kFetched / 4;
    const int64_t fetched = std::min(bytes, kFetched);
    for (int64_t j = 0; j < size1; j += block) {
      char* target = data[0] + j * strides[2];
      const char* source = data[1] + j * strides[3];
      const int64_t rows = std::min(block, size1 - j);
      if (across) {
        for (int64_t i = 0; i < size0; ++i) {
          row(target + i * strides[0], strides[2], source + i * strides[1], strides[3], rows);
        }
      } else {
        if (fetches && j + 1 < size1) {
          at::detail::fetch_row(source + strides[3] + to_size - fetched, fetched);
        }
        row(target, strides[0], source, strides[1], size0);
      }
    }
  };
  using at::detail::PlaneUse;
  if (const int dims = at::detail::short_plane_dims(iter, sizes, PlaneUse::Moved); dims != 0) {
    return at::detail::for_each_row_of_planes(iter, dims, move);
  }
  iter.for_each(move, at::detail::waiting_grain(iter));
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(copy_stub, &copy_kernel);
OPLOOM_REGISTER_DISPATCH(cast_loop_stub, &cast_loop_kernel);
OPLOOM_REGISTER_DISPATCH(move_loop_stub, &move_loop_kernel);
OPLOOM_REGISTER_DISPATCH(repeat_stub, &repeat_kernel);
OPLOOM_REGISTER_DISPATCH(copy_row_stub, &copy_row_kernel);
OPLOOM_REGISTER_DISPATCH(copy_rows_stub, &copy_rows_kernel);
OPLOOM_REGISTER_DISPATCH(copy_named_rows_stub, &copy_named_rows_kernel);
OPLOOM_REGISTER_DISPATCH(copy_to_named_rows_stub, &copy_to_named_rows_kernel);

}  // namespace at::inline oploom_v1::native
