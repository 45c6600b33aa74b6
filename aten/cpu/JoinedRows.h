// Loops over many rows as one: see Note [Joined rows] in aten/iterator/DenseRows.h.
#pragma once

#include <aten/cpu/vec/vec.h>
#include <aten/iterator/DenseRows.h>

#include <algorithm>

namespace at::inline oploom_v1::native::inline CPU_CAPABILITY {

// Whether the loop of F over rows of T joins them. With shorter vectors it does not pay: where the
// cache has all of it, to make the next place of each takes longer than to store what is repeated.
// Nor does it with those that are computed by pairs, or with complex numbers, which take longer.
template <typename T, typename F, size_t kInputs>
inline constexpr bool kJoinsRows =
    vec::kReadsRepeated<T, kInputs> && !c10::is_complex_v<T> && !vec::Rows<T>::kPairs &&
    vec::kVecBytes == at::detail::kJoinedBytes && vec::Rows<T>::V::kInRegister && vec::kInTurn<F> &&
    !vec::kTwoForms<F>;

// What the loop of F over rows of T does with elements that are repeated.
template <typename T, typename F, size_t kInputs>
inline constexpr at::detail::Repeats kRepeatsOf =
    (vec::kReadsNumbers<T, F, kInputs> ? at::detail::Repeats::Numbers
     : vec::kReadsRepeated<T, kInputs> ? at::detail::Repeats::Rows
                                       : at::detail::Repeats::No) |
    (kJoinsRows<T, F, kInputs> ? at::detail::Repeats::JoinsRows : at::detail::Repeats::No);

// The loop that calls row(data, n, repeated) for each of its rows, and row(data, n, repeated,
// length) for joined ones.
template <at::detail::Repeats repeats, int kOperands, typename Row>
auto row_by_row(const Row& row) {
  if constexpr (has(repeats, at::detail::Repeats::JoinsRows)) {
    return at::detail::row_by_row<kOperands>(row, row);
  } else {
    return at::detail::row_by_row<kOperands>(row);
  }
}

// The length of what is not joined.
struct SingleRow {};

// vec::for_each_vec() for n elements, of rows of `length` if they are joined.
template <typename T, typename F, typename Store, size_t... I, typename Length>
OPLOOM_ALWAYS_INLINE void for_each_joined_vec(int64_t n, const F& f, const T* const* in,
                                              std::index_sequence<I...> inputs, const Store& store,
                                              uint32_t repeated, Length length) {
  if constexpr (std::is_same_v<Length, SingleRow>) {
    return vec::for_each_vec<T>(n, f, in, inputs, store, repeated);
  } else {
    using R = vec::Rows<T>;
    constexpr int64_t kStep = R::size(), kPitch = at::detail::kJoinedBytes / sizeof(T);
    static_assert(kStep <= kPitch);
    // Elements left of a row, where what is repeated for the next one begins, and from where on it
    // is read: what of it is before that belongs to the end of this row.
    int64_t left = length, next = kPitch, place = 0;
    for (int64_t i = 0; i < n; i += kStep) {
      const int64_t further = i - place;
      const auto at = [&](int64_t k) OPLOOM_ALWAYS_INLINE_LAMBDA {
        return in[k] + place + (further & (int64_t{repeated >> k & 1} - 1));
      };
      store(i, f(R::load(at(I))...), kStep);
      left -= kStep;
      if (left < kPitch) {
        if (left <= 0) {
          left += length;
          next += kPitch;
        }
        place = next - std::min(left, kPitch);
      }
    }
  }
}

}  // namespace at::inline oploom_v1::native::inline CPU_CAPABILITY
