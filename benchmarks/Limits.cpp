// What bounds an operator on the machine at hand: plain loops, as one would write them for this one
// shape and compile for this one processor, and the faster of OpenBLAS and oneDNN for products.
// They go by the names of the cases that they bound, fresh results too: memory need not cost
// anything.
#include "Cases.h"

#include <cblas.h>
#include <dnnl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>

namespace {

constexpr int64_t kSide = 4096;

// A block of memory for `n` elements, its pages there.
template <class T>
struct Buffer {
  explicit Buffer(int64_t n, T value = T(1))
      : data(static_cast<T*>(
                 std::aligned_alloc(2 << 20, (n * sizeof(T) + (2 << 20) - 1) >> 21 << 21)),
             std::free) {
    std::fill_n(data.get(), n, value);
  }
  operator T*() const { return data.get(); }
  std::shared_ptr<T> data;
};

using Floats = Buffer<float>;

// to[i] = function(i), by all threads.
template <class F>
void each(int64_t n, F function) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; ++i) function(i);
}

void add_elements(Cases& cases) {
  for (const int64_t n : {1'000'000, 10'000'000}) {
    const Floats a(n), b(n), out(n);
    const Buffer<bool> mask(n, true);
    const auto add = [&](const char* operation, auto loop) {
      for (const char* memory : {", fresh", ", given"}) {
        cases.add(
            std::string("pointwise/") + operation + memory + (n == 1'000'000 ? " 1 M" : " 10 M"),
            loop);
      }
    };
    add("add", [=] { each(n, [o = +out, x = +a, y = +b](int64_t i) { o[i] = x[i] + y[i]; }); });
    add("add a number", [=] { each(n, [o = +out, x = +a](int64_t i) { o[i] = x[i] + 1.5F; }); });
    add("copy", [=] { each(n, [o = +out, x = +a](int64_t i) { o[i] = x[i]; }); });
    add("gt", [=] { each(n, [o = +mask, x = +a, y = +b](int64_t i) { o[i] = x[i] > y[i]; }); });
  }
}

void add_layouts_of_memory(Cases& cases) {
  constexpr int64_t n = kSide * kSide;
  const Floats a(n), b(n), out(n), wide(2 * n), line(kSide);
  // Transposed or not, an element has to be moved once.
  for (const char* name : {"layout/a + b", "layout/a + b.T", "layout/a.T + b.T"}) {
    cases.add(name,
              [=] { each(n, [o = +out, x = +a, y = +b](int64_t i) { o[i] = x[i] + y[i]; }); });
  }
  cases.add("layout/copy of a.T", [=] { each(n, [o = +out, x = +a](int64_t i) { o[i] = x[i]; }); });
  const auto rows = [](float* o, auto function) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < kSide; ++i) {
#pragma omp simd
      for (int64_t j = 0; j < kSide; ++j) o[i * kSide + j] = function(i, j);
    }
  };
  cases.add("layout/a + row", [=] {
    rows(out, [x = +a, y = +line](int64_t i, int64_t j) { return x[i * kSide + j] + y[j]; });
  });
  cases.add("layout/a + column", [=] {
    rows(out, [x = +a, y = +line](int64_t i, int64_t j) { return x[i * kSide + j] + y[i]; });
  });
  cases.add("layout/a + every second", [=] {
    rows(out, [x = +a, y = +wide](int64_t i, int64_t j) {
      return x[i * kSide + j] + y[2 * (i * kSide + j)];
    });
  });
}

// The sum of `n` numbers, a multiple of the partial sums that go side by side.
float sum_of(const float* p, int64_t n) {
  constexpr int64_t kSums = 128;
  float sums[kSums] = {};
  for (int64_t i = 0; i < n; i += kSums) {
#pragma omp simd
    for (int64_t k = 0; k < kSums; ++k) sums[k] += p[i + k];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

// A reduction can take no less than to read its operand; sums of columns are kept in the cache.
void add_reads(Cases& cases) {
  constexpr int64_t n = kSide * kSide;
  const Floats x(n), out(n), sums(kSide);
  const auto of_rows = [=, p = +x, s = +sums] {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < kSide; ++i) s[i] = sum_of(p + i * kSide, kSide);
  };
  const auto of_columns = [=, p = +x, s = +sums] {
    constexpr int64_t kStrip = 1024;
#pragma omp parallel for schedule(static)
    for (int64_t column = 0; column < kSide; column += kStrip) {
      std::fill_n(s + column, kStrip, 0.0F);
      for (int64_t i = 0; i < kSide; ++i) {
#pragma omp simd
        for (int64_t j = column; j < column + kStrip; ++j) s[j] += p[i * kSide + j];
      }
    }
  };
  for (const char* whole : {"sum", "max", "var"})
    cases.add(std::string("reduce/") + whole, of_rows);
  for (const char* operation : {"sum", "var", "amax", "max", "argmax"}) {
    cases.add(std::string("reduce/") + operation + " dim 0", of_columns);
    cases.add(std::string("reduce/") + operation + " dim 1", of_rows);
  }
  cases.add("reduce/cumsum dim 0", [=, p = +x, o = +out] {
    constexpr int64_t kStrip = 1024;
#pragma omp parallel for schedule(static)
    for (int64_t column = 0; column < kSide; column += kStrip) {
      std::copy_n(p + column, kStrip, o + column);
      for (int64_t i = 1; i < kSide; ++i) {
#pragma omp simd
        for (int64_t j = column; j < column + kStrip; ++j) {
          o[i * kSide + j] = o[(i - 1) * kSide + j] + p[i * kSide + j];
        }
      }
    }
  });
  cases.add("reduce/cumsum dim 1",
            [=] { each(n, [o = +out, p = +x](int64_t i) { o[i] = p[i]; }); });
}

// A product of matrices that lie by rows: by OpenBLAS, and by oneDNN.
struct Product {
  int64_t rows, inner, columns;
  bool a_transposed = false, b_transposed = false;

  void by_openblas(const float* a, const float* b, float* out) const {
    cblas_sgemm(
        CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
        b_transposed ? CblasTrans : CblasNoTrans, static_cast<int>(rows), static_cast<int>(columns),
        static_cast<int>(inner), 1, a, static_cast<int>(a_transposed ? rows : inner), b,
        static_cast<int>(b_transposed ? inner : columns), 0, out, static_cast<int>(columns));
  }
  void by_onednn(const float* a, const float* b, float* out) const {
    dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', rows, columns, inner, 1, a,
               a_transposed ? rows : inner, b, b_transposed ? inner : columns, 0, out, columns);
  }
};

template <class F>
double seconds(F function) {
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < 7; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    function();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void add_product(Cases& cases, const std::string& name, const Product& product, int64_t count = 1) {
  const int64_t a_size = product.rows * product.inner, b_size = product.inner * product.columns;
  const int64_t out_size = product.rows * product.columns;
  const Floats a(count * a_size), b(count * b_size), out(count * out_size);
  const auto openblas = [=] {
    for (int64_t i = 0; i < count; ++i) {
      product.by_openblas(a + i * a_size, b + i * b_size, out + i * out_size);
    }
  };
  const auto onednn = [=] {
    for (int64_t i = 0; i < count; ++i) {
      product.by_onednn(a + i * a_size, b + i * b_size, out + i * out_size);
    }
  };
  if (seconds(openblas) < seconds(onednn)) {
    cases.add(name, openblas);
  } else {
    cases.add(name, onednn);
  }
}

void add_products(Cases& cases) {
  for (const int64_t n : {8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024}) {
    add_product(cases, "mm/" + std::to_string(n), {n, n, n});
  }
  add_product(cases, "mm/512, a.T", {512, 512, 512, true, false});
  add_product(cases, "mm/512, b.T", {512, 512, 512, false, true});
  add_product(cases, "mm/batch of 512, 8x8x8", {8, 8, 8}, 512);
  add_product(cases, "mm/batch of 64, 16x16x16", {16, 16, 16}, 64);
  add_product(cases, "mm/batch of 32, 64x32x64", {64, 32, 64}, 32);
  add_product(cases, "mm/batch of 64, 64x64x64", {64, 64, 64}, 64);
}

}  // namespace

void add_limits(Cases& cases) {
  add_elements(cases);
  add_layouts_of_memory(cases);
  add_reads(cases);
  add_products(cases);
}
