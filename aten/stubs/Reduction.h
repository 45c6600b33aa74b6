// The engine of the reductions: orders and merges dimensions, splits the work, walks over memory.
// A kernel supplies an operation (see Note [Reduction operations] in aten/cpu/Reduce.h) and calls
// reduce(). The engine knows nothing about dtypes: it moves bytes and calls the functions of a
// Reduction, so that it is compiled once and not for each operation, dtype and instruction set.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/iterator/Cast.h>
#include <aten/iterator/Walker.h>
#include <aten/stubs/ReduceOps.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace at::inline oploom_v1::native {

// How many bytes ahead of what a reduction reads it asks for what comes next, which the processor
// stops doing at the end of a page by itself: none from the caches, from which on a Zen 4 no
// reduction is faster for it. Of 64 MB, most take 1.1 to 1.4 times as long there with nothing
// fetched, and up to 1.7 times with lines 4 KB ahead or more. By near fetches, 8 KB ahead, they
// take 0.6 to 0.9 of the time on a Zen 5 (Note [Near fetches] in aten/core/Processor.h). `Beside`
// is a near fetch, too, for few rows that are gone through side by side. `Spread`: of four places
// by turns, of one run of memory alone (Note [Spread fetches] there).
enum class Ahead : int64_t { None = 0, Beside = 1024, Far = 1536, Near = 8192, Spread = 65536 };

// Which of them the instructions are for that a kernel is compiled for.
struct Fetches {
  bool near, spread;
};
// How this processor wants them asked for.
Ahead fetched_ahead(Fetches kernel);

// Note [Order of a reduction]
// How elements are grouped depends on sizes and strides alone, and within a group on fixed widths,
// so a result has the same bits for every number of threads and every instruction set. Groups are
// combined pairwise: the rounding error of a sum grows with the logarithm of its length.

// Bytes of elements that are gathered or converted at once; the copy fits into the first-level
// cache.
inline constexpr int64_t kGathered = 16384;
// Outputs, and rows for each, that are reduced side by side. Of small states there are more: the
// longer the runs of memory, the quicker they are read (down 4096 rows of float32, 512 at a time
// take 1.25 times as long as 1024 on a Zen 4), and with rows of 512 bytes, what is done once for
// each took as long as the extremes of them.
inline constexpr int64_t kColumns = 512;
template <typename Acc>
inline constexpr int64_t kColumnsOf = (sizeof(Acc) > 4   ? 1
                                       : sizeof(Acc) > 2 ? 3
                                                         : 4) *
                                      kColumns;
inline constexpr int64_t kRows = 16;
// Rows that lie there as they are, few of which are reduced side by side: so many before the states
// are merged with others. With 16 sums took up to 1.3 times as long.
inline constexpr int64_t kRowsInTurn = 64;
// Up to as many elements short rows are joined: memory is still read nearly in order.
inline constexpr int64_t kJoined = 128;
// Elements of rows that are gathered or converted and then reduced side by side, at most.
inline constexpr int64_t kShortRow = kColumns / 4;

inline bool has_bytes(const TensorBase& tensor, int64_t bytes) {
  return tensor.numel() * static_cast<int64_t>(tensor.itemsize()) >= bytes;
}
// Whether a tensor is so large that it is taken to come from memory, not from a cache.
inline bool is_far(const TensorBase& tensor) {
  return has_bytes(tensor, at::detail::kStreamedBytes);
}
// Nothing is asked for in smaller ones.
inline constexpr int64_t kFetchedBytes = 2 << 20;
// How far ahead of what is read of it to ask for more. Near fetches are worth it from the
// third-level cache, too: sums and extremes of 4 MB take 0.87 of the time, of 24 MB 0.7.
// `in_order`: it is gone through as it lies there.
Ahead ahead_in(const TensorBase& tensor, bool in_order, Fetches kernel);
// How to ask for what comes next where `depth` rows of it are gone through side by side: four at a
// time, or many, for which the first-level cache may have no room. It is worth it from the
// third-level cache, too (measured). Where there are few rows, what comes next is beside them: sums
// and extremes take 0.65 to 0.9 of the time for that on a Cascade Lake (not measured on others).
enum class Together { Few, Many };
Ahead ahead_in_rows(const TensorBase& tensor, int64_t depth, Fetches kernel,
                    Together rows = Together::Few);

// So many parts of a reduction, or one fewer: an even number, as two threads have made the halves
// of what there is. One at least.
inline int64_t even_parts(int64_t parts) { return std::max<int64_t>(1, parts / 2 * 2); }

// Puts the shortest strides first, merges neighbours.
void simplify(WalkDims& dims);

// Whether outputs along the first of the kept dimensions, and their elements, `stride` bytes apart,
// are as few as those of small matrices, of which there are many along the second one: those of
// many matrices are reduced side by side then, for which the same row of each is put together. From
// far memory, larger ones are faster as they lie there (measured on a Zen 4).
bool are_planes(const WalkDims& kept, int64_t stride, int64_t count, int64_t in_size);

// The state of one output, whatever the operation's Acc is.
struct alignas(16) ReduceState {
  char bytes[32];
};

struct Reduction {
  // The operation; see Note [Reduction operations].
  size_t elem_size;
  size_t columns_size;
  size_t state_bytes;
  int64_t longest;
  int64_t shortest;
  int64_t most_columns;
  int64_t most_rows;
  Together together;
  void (*identity)(ReduceState& state);
  void (*chunk)(const void* elements, int64_t n, Ahead ahead, ReduceState& state);
  // b becomes the state of a's and b's elements together.
  void (*combine)(const ReduceState& a, ReduceState& b);
  void (*columns_add)(void* columns, const void* const* rows, int64_t nrows, int64_t n,
                      Ahead ahead);
  // Of rows of `width` elements without gaps between them, a power of two up to `widest`, n
  // elements in all.
  void (*columns_add_periods)(void* columns, const void* elements, int64_t n, int64_t width,
                              Ahead ahead);
  int64_t widest;  // 0 where there is no such function
  // The first n of b become the states of theirs and a's from `offset` on.
  void (*columns_merge)(const void* a, int64_t offset, void* b, int64_t n);
  // The state of n neighbouring columns from j on together.
  void (*columns_across)(const void* columns, int64_t j, int64_t n, ReduceState& state);
  // Writes the result, given the state of `count` elements.
  void (*store)(const ReduceState& state, int64_t count, char* out, double parameter);
  // The results of n outputs, `stride` bytes apart, of `count` elements each that lie side by side,
  // `in_stride` bytes from those of the one before.
  void (*rows)(const char* in, int64_t in_stride, int64_t n, int64_t count, Ahead ahead, char* out,
               int64_t stride, double parameter);
  // The results of n neighbouring outputs, `stride` bytes apart.
  void (*columns_store)(const void* columns, int64_t n, int64_t count, char* out, int64_t stride,
                        double parameter);
  // Turns n elements of the input, `stride` bytes apart, into Elem.
  void (*load)(const char* in, int64_t stride, int64_t n, void* out, double parameter);
  // The input is Elem already and is used where it lies.
  bool direct;
  double parameter;
  // What its instructions are for.
  Fetches fetches;
  // How much of `columns` n of them take.
  size_t bytes_of(int64_t n) const { return state_bytes > 0 ? n * state_bytes : columns_size; }
  // Set by reduce().
  int64_t in_size;  // bytes of an element of the input
  Ahead ahead;
  Ahead rows_ahead;
};

// Reduces `self` over the dimensions of the mask; see ReduceOps.h.
void reduce(Reduction&& r, const TensorBase& result, const TensorBase& self, DimMask mask);

}  // namespace at::inline oploom_v1::native
