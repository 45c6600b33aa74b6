// Rows that are added to others. Of short ones, vectors of 16 bytes have most or all, so that their
// loops are compiled once, not for each instruction set.
#include <aten/core/Dispatch.h>
#include <aten/native/NamedRows.h>
#include <aten/stubs/BinaryOps.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>

namespace at::inline oploom_v1::native {
namespace {

using at::detail::RowNames;

// to[i] = add(to[i], from[i]) for kLanes elements.
template <int kLanes, typename T, typename Add>
OPLOOM_ALWAYS_INLINE void add_part(char* to, const char* from, const Add& add) {
  typedef T Part __attribute__((vector_size(kLanes * sizeof(T))));
  Part a, b;
  std::memcpy(&a, to, sizeof a);
  std::memcpy(&b, from, sizeof b);
  a = add(a, b);
  std::memcpy(to, &a, sizeof a);
}
// For n < 2 * kLanes, by parts half as long each.
template <int kLanes, typename T, typename Add>
OPLOOM_ALWAYS_INLINE void add_rest(char* to, const char* from, int64_t n, const Add& add) {
  if (n & kLanes) {
    add_part<kLanes, T>(to, from, add);
    to += kLanes * sizeof(T);
    from += kLanes * sizeof(T);
  }
  if constexpr (kLanes > 1) add_rest<kLanes / 2, T>(to, from, n, add);
}

struct Rows {
  char* to;
  int64_t to_stride;
  const char* from;
  int64_t from_stride;
  int64_t n;

  // Calls f(row of `to`, row of `from`) for each.
  template <typename F>
  OPLOOM_ALWAYS_INLINE void for_each(const RowNames& names, int64_t size, const F& f) const {
    names.for_each(to, to_stride, from, from_stride, n * size, f);
  }
};

template <typename T, typename Add>
OPLOOM_NOINLINE void add_short_rows(const Rows& rows, const RowNames& names, Add add) {
  constexpr int64_t kPartBytes = 16, kSize = sizeof(T), kLanes = kPartBytes / kSize;
  rows.for_each(names, kSize, [n = rows.n, add](char* to, const char* from) {
    int64_t left = n;
    for (; left >= kLanes; left -= kLanes, to += kPartBytes, from += kPartBytes) {
      add_part<kLanes, T>(to, from, add);
    }
    add_rest<kLanes / 2, T>(to, from, left, add);
  });
}

// Longer rows than these, in bytes, have more from vectors of the processor's own length.
constexpr int64_t kShortRow = 256;

}  // namespace

bool adds_rows(ScalarType dtype, const Scalar& alpha) {
  // Even a factor of 1 would change infinite complex numbers, which are added by parts.
  return c10::isFloatingType(dtype) || (dtype != kBool && alpha.equal(1));
}

OPLOOM_COLD bool adds_contiguous(const TensorBase& self, int64_t dim, const TensorBase& index,
                                 const TensorBase& src) {
  constexpr int64_t kFewest = 512;
  const int64_t last = self.dim() - 1;
  if (index.numel() < kFewest || index.sizes()[last] == 1) return false;
  if (self.strides()[last] != 1 || src.strides()[last] == 1) return false;
  if (dim != last) return index.strides()[last] == 0;
  if (!c10::isReducedFloatingType(self.scalar_type())) return false;
  return std::ranges::all_of(index.strides().slice(0, last), [](int64_t s) { return s == 0; });
}

void add_named_rows(ScalarType dtype, void* to, int64_t to_step, const void* from,
                    int64_t from_step, int64_t n, const at::detail::RowNames& names,
                    const Scalar& alpha) {
  if (c10::isComplexType(dtype)) {
    dtype = c10::toRealValueType(dtype);
    to_step *= 2;
    from_step *= 2;
    n *= 2;
  }
  const auto size = static_cast<int64_t>(c10::elementSize(dtype));
  const Rows rows{static_cast<char*>(to), to_step * size, static_cast<const char*>(from),
                  from_step * size, n};
  if (c10::isIntegralType(dtype, /*includeBool=*/false)) {
    OPLOOM_DISPATCH(dtype, "add", (OPLOOM_INTEGRAL), [&] {
      // Which wrap around.
      add_short_rows<std::make_unsigned_t<scalar_t>>(rows, names, std::plus<>());
    });
  } else if (!c10::isReducedFloatingType(dtype) && n * size < kShortRow) {
    OPLOOM_DISPATCH(dtype, "add", (OPLOOM_FLOATING), [&] {
      add_short_rows<scalar_t>(
          rows, names, [factor = alpha.to<scalar_t>()](auto a, auto b) { return a + factor * b; });
    });
  } else {
    rows.for_each(names, size, [=, &alpha](char* sums, const char* terms) {
      add_row_stub(DeviceType::CPU, dtype, sums, terms, n, alpha);
    });
  }
}

void add_row(ScalarType dtype, void* to, const void* from, int64_t n, const Scalar& alpha) {
  constexpr int64_t kFirst = 0;
  const RowNames one{&kFirst, 0, 1, 0, 1, 0};
  add_named_rows(dtype, to, 0, from, 0, n, one, alpha);
}

}  // namespace at::inline oploom_v1::native
