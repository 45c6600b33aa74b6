// Operations for the engine of the reductions.
#pragma once

#include <aten/cpu/FarRows.h>
#include <aten/stubs/Reduction.h>

#include <new>
#include <type_traits>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {

// Note [Reduction operations]
// make_reduction<Op, Finish>() makes the functions of a Reduction from structs of static functions
// that are written with types:
//   Elem, Acc                   what it works on; the state of a reduction
//   kLongest                    elements that chunk() takes at most
//   kShortest                   rows of fewer elements are reduced side by side, as columns are
//   kMostRows                   rows that Columns::add() takes at most, kRows or kRowsInTurn
//   Columns::kRowsTogether      whether add() reads few rows side by side or many
//   Columns::kStateBytes        of one state, if Columns is an array of those alone; 0 otherwise
//   Acc identity()
//   Acc chunk(const Elem*, n, ahead)   reduces n >= 1 elements that lie side by side; `ahead`: of
//     their input, by ahead_in()
//   Acc combine(Acc, Acc)
//   struct Columns              the states of up to kColumnsOf<Acc> neighbouring outputs, with
//     add(const Elem* const* rows, nrows, n, ahead) (the first call; `ahead`: of an input, by
//     ahead_in_rows()), get(j), across(j, n), the state of n of them from j on together, and
//     merge(const Columns&, offset, n), which adds states from `offset` on to the first n; what is
//     behind the states of a Columns may hold anything; add_periods(const Elem*, n, width, ahead),
//     if there is one, takes rows without gaps as one, of kWidest columns at most
//   Finish::apply(Acc, count, parameter)   the result of `count` elements
// int8 input, say, needs no more than a function that turns it into Elem.

// What belongs to the operation alone, whatever is made of its states.
template <typename Op>
Reduction make_operation() {
  using Elem = typename Op::Elem;
  using Acc = typename Op::Acc;
  using Columns = typename Op::Columns;
  static_assert(sizeof(Acc) <= sizeof(ReduceState) && std::is_trivially_copyable_v<Acc>);
  static_assert(std::is_trivially_copyable_v<Columns>);
  Reduction r{};
  r.elem_size = sizeof(Elem);
  r.columns_size = sizeof(Columns);
  r.state_bytes = Columns::kStateBytes;
  r.longest = Op::kLongest;
  r.shortest = Op::kShortest;
  r.most_columns = kColumnsOf<Acc>;
  r.most_rows = Op::kMostRows;
  r.together = Columns::kRowsTogether;
  r.fetches = kFetches;
  r.identity = [](ReduceState& state) { new (&state) Acc(Op::identity()); };
  r.chunk = [](const void* elements, int64_t n, Ahead ahead, ReduceState& state) {
    new (&state) Acc(Op::chunk(static_cast<const Elem*>(elements), n, ahead));
  };
  r.combine = [](const ReduceState& a, ReduceState& b) {
    new (&b) Acc(Op::combine(reinterpret_cast<const Acc&>(a), reinterpret_cast<const Acc&>(b)));
  };
  r.columns_add = [](void* columns, const void* const* rows, int64_t nrows, int64_t n,
                     Ahead ahead) {
    static_cast<Columns*>(columns)->add(reinterpret_cast<const Elem* const*>(rows), nrows, n,
                                        ahead);
  };
  if constexpr (requires(Columns c, const Elem* p) { c.add_periods(p, 1, 1, Ahead::None); }) {
    r.columns_add_periods = [](void* columns, const void* elements, int64_t n, int64_t width,
                               Ahead ahead) {
      static_cast<Columns*>(columns)->add_periods(static_cast<const Elem*>(elements), n, width,
                                                  ahead);
    };
    r.widest = Columns::kWidest;
  }
  r.columns_merge = [](const void* a, int64_t offset, void* b, int64_t n) {
    static_cast<Columns*>(b)->merge(*static_cast<const Columns*>(a), offset, n);
  };
  r.columns_across = [](const void* columns, int64_t j, int64_t n, ReduceState& state) {
    new (&state) Acc(static_cast<const Columns*>(columns)->across(j, n));
  };
  return r;
}

template <typename Op, typename Finish>
Reduction make_reduction(decltype(Reduction::load) load, bool direct, double parameter = 0) {
  using Acc = typename Op::Acc;
  using Columns = typename Op::Columns;
  using Out = decltype(Finish::apply(Op::identity(), 0, 0.));
  Reduction r = make_operation<Op>();
  r.store = [](const ReduceState& state, int64_t count, char* out, double p) {
    *reinterpret_cast<Out*>(out) = Finish::apply(reinterpret_cast<const Acc&>(state), count, p);
  };
  r.rows = [](const char* in, int64_t in_stride, int64_t n, int64_t count, Ahead ahead, char* out,
              int64_t stride, double p) {
    for (int64_t i = 0; i < n; ++i, in += in_stride, out += stride) {
      const Acc state = Op::chunk(reinterpret_cast<const typename Op::Elem*>(in), count, ahead);
      *reinterpret_cast<Out*>(out) = Finish::apply(state, count, p);
    }
  };
  r.columns_store = [](const void* columns, int64_t n, int64_t count, char* out, int64_t stride,
                       double p) {
    const auto& states = *static_cast<const Columns*>(columns);
    const auto result = [&](int64_t j) { return Finish::apply(states.get(j), count, p); };
    if (stride == sizeof(Out)) {
      for (int64_t j = 0; j < n; ++j) reinterpret_cast<Out*>(out)[j] = result(j);
    } else {
      for (int64_t j = 0; j < n; ++j) {
        // Not worth a loop over vectors, of which there are hundreds.
        asm("");
        *reinterpret_cast<Out*>(out + j * stride) = result(j);
      }
    }
  };
  r.load = load;
  r.direct = direct;
  r.parameter = parameter;
  return r;
}

}  // namespace CPU_CAPABILITY
}  // namespace at::inline oploom_v1::native
