// Products of batches of tiny matrices.
#include <aten/core/Parallel.h>
#include <aten/iterator/Cast.h>
#include <aten/onednn/TinyGemms.h>
#include <aten/stubs/Copy.h>

#include <algorithm>
#include <utility>

namespace at::inline oploom_v1::onednn {
namespace {

// What lies together of one element of many matrices, and of how many.
constexpr int64_t kPitchBytes = 256, kMostElements = 64;

// Matrices of m x n, `step` elements apart, as lines of `length` neighbours, which go to places
// line by line: element (i, j) to place i * row + j * column, its imaginary part to the next one.
// `size`: of a part, in bytes.
class Matrices {
 public:
  Matrices(int64_t size, int64_t parts, int64_t m, int64_t n, int64_t row_stride,
           int64_t column_stride, int64_t step)
      : row(parts), column(parts), size_(size), step_(step * parts * size) {
    const bool by_rows = column_stride == 1 || n == 1;
    is_possible = by_rows || row_stride == 1 || m == 1;
    lines_ = by_rows ? m : n;
    length_ = (by_rows ? n : m) * parts;
    line_stride_ = (by_rows ? row_stride : column_stride) * parts;
    (by_rows ? row : column) = length_;
    if (line_stride_ == length_) length_ *= std::exchange(lines_, 1);
    line_stride_ *= size_;
    // These fill squares, by which they are turned. Others are moved place by place.
    in_squares_ = length_ * size_ / kSquareBytes * kSquareBytes / size_;
  }

  // Of `count` matrices; elements of one place, of which `places_pitch` have room, follow each
  // other.
  void to_places(char* places, int64_t places_pitch, const char* matrices, int64_t count) const {
    const int64_t pitch = places_pitch * size_;
    for_each_run(
        places, pitch, matrices,
        [&](char* to, const char* from) {
          turn_(to, pitch, from, step_, in_squares_, count, /*stream=*/false);
        },
        [&](char* to, const char* from) { move_(to, size_, from, step_, count); });
  }
  void from_places(char* matrices, const char* places, int64_t places_pitch, int64_t count) const {
    const int64_t pitch = places_pitch * size_;
    for_each_run(
        places, pitch, matrices,
        [&](const char* from, char* to) {
          turn_(to, step_, from, pitch, count, in_squares_, /*stream=*/false);
        },
        [&](const char* from, char* to) { move_(to, step_, from, size_, count); });
  }

  int64_t row, column;
  bool is_possible;  // whether they are lines of neighbours

 private:
  static constexpr int64_t kSquareBytes = 16;

  // Calls squares(place, element) for what fills squares in each line, one(place, element) for each
  // element behind that, of the first matrix.
  template <typename P, typename M, typename Squares, typename One>
  void for_each_run(P* places, int64_t pitch, M* matrices, const Squares& squares,
                    const One& one) const {
    for (int64_t line = 0; line < lines_; ++line, matrices += line_stride_) {
      if (in_squares_ > 0) squares(places, matrices);
      places += in_squares_ * pitch;
      for (int64_t i = in_squares_; i < length_; ++i, places += pitch) {
        one(places, matrices + i * size_);
      }
    }
  }

  int64_t size_, step_;
  int64_t lines_, length_, line_stride_, in_squares_;
  at::detail::TransposeLoop turn_ = at::detail::get_transpose_loop(size_);
  at::detail::CastLoop move_ = at::detail::get_move_loop(size_);
};

bool is_real(const Scalar& number) {
  return !number.isComplex() || number.to<c10::complex<double>>().imag() == 0;
}

}  // namespace

bool gemm_side_by_side(ScalarType dtype, int64_t batch, const native::GemmArguments& g,
                       int64_t a_step, int64_t b_step, int64_t c_step, const Scalar& alpha,
                       const Scalar& beta) {
  // Of larger ones, those that need not be turned or converted are as fast by themselves, and
  // float64 is sooner (measured on a Zen 4).
  constexpr int64_t kFewest = 16;
  const bool in_order = g.b_column == 1 && g.m > 1 && g.n > 1;
  // Complex ones by their parts, of which a product of each pair is added.
  const bool is_complex = c10::isComplexType(dtype);
  const int64_t parts = is_complex ? 2 : 1;
  const int64_t most = dtype == kDouble || dtype == kLong ? (in_order ? 48 : 64)
                       : dtype == kFloat && in_order      ? 104
                       : dtype == kComplexFloat           ? 76
                       : dtype == kComplexDouble          ? 48
                                                          : 192;
  const int64_t elements = g.m * g.k + g.k * g.n + g.m * g.n;
  if (batch < kFewest || elements > most ||
      std::max({g.m * g.k, g.k * g.n, g.m * g.n}) * parts > kMostElements ||
      (is_complex && !(is_real(alpha) && is_real(beta)))) {
    return false;
  }
  const int64_t itemsize = c10::elementSize(dtype), size = itemsize / parts;
  const Matrices a(size, parts, g.m, g.k, g.a_row, g.a_column, a_step);
  const Matrices b(size, parts, g.k, g.n, g.b_row, g.b_column, b_step);
  const Matrices c(size, parts, g.m, g.n, g.ldc, 1, c_step);
  if (!a.is_possible || !b.is_possible) return false;
  // What is computed in another dtype is converted in its places: integers wrap around alike.
  const ScalarType stored = is_complex ? c10::toRealValueType(dtype) : dtype;
  const bool same = stored == kDouble || stored == kLong;
  const ScalarType computed = same ? stored : c10::isIntegralType(dtype, false) ? kInt : kFloat;
  const auto computed_size = static_cast<int64_t>(c10::elementSize(computed));
  const int64_t pitch = kPitchBytes / computed_size;
  const Scalar minus_alpha = is_complex ? Scalar(-alpha.to<double>()) : alpha;
  const bool is_read = !beta.equal(0);
  at::parallel_for(0, batch, at::GRAIN_SIZE / elements, [&](int64_t begin, int64_t end) {
    alignas(64) char buffers[3][kMostElements * kPitchBytes];
    alignas(64) char unconverted[kMostElements * kPitchBytes];
    const native::GemmArguments places = {g.m,        g.n,           g.k,
                                          buffers[0], a.row * pitch, a.column * pitch,
                                          buffers[1], b.row * pitch, b.column * pitch,
                                          buffers[2], c.row * pitch};
    const auto convert = [&](ScalarType to, char* target, ScalarType from, const char* source,
                             int64_t n) {
      native::cast_loop_stub(kCPU, to, from)(target, static_cast<int64_t>(c10::elementSize(to)),
                                             source, static_cast<int64_t>(c10::elementSize(from)),
                                             n);
    };
    const auto read = [&](const Matrices& layout, int64_t n, char* to, const void* from,
                          int64_t count) {
      const auto* matrices = static_cast<const char*>(from);
      if (stored == computed) return layout.to_places(to, pitch, matrices, count);
      layout.to_places(unconverted, pitch, matrices, count);
      convert(computed, to, stored, unconverted, n * pitch);
    };
    for (int64_t i = begin; i < end; i += pitch) {
      const int64_t count = std::min(pitch, end - i);
      char* const results = static_cast<char*>(g.c) + i * c_step * itemsize;
      read(a, g.m * g.k, buffers[0], static_cast<const char*>(g.a) + i * a_step * itemsize, count);
      read(b, g.k * g.n, buffers[1], static_cast<const char*>(g.b) + i * b_step * itemsize, count);
      if (is_read) read(c, g.m * g.n, buffers[2], results, count);
      for (int64_t pair = 0; pair < parts * parts; ++pair) {
        const int64_t of_a = pair % 2, of_c = pair / 2, of_b = of_a ^ of_c;
        native::GemmArguments one = places;
        one.a = buffers[0] + of_a * kPitchBytes;
        one.b = buffers[1] + of_b * kPitchBytes;
        one.c = buffers[2] + of_c * kPitchBytes;
        native::products_side_by_side_stub(kCPU, computed, one, count, c.column * pitch,
                                           of_a == 1 && of_b == 1 ? minus_alpha : alpha,
                                           of_a == 1 ? Scalar(1) : beta);
      }
      if (stored != computed) convert(stored, unconverted, computed, buffers[2], g.m * g.n * pitch);
      c.from_places(results, stored == computed ? buffers[2] : unconverted, pitch, count);
    }
  });
  return true;
}

}  // namespace at::inline oploom_v1::onednn
