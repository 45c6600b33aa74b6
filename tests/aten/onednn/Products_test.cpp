// Matrix products of floats of sizes around those of vectors and blocks, against sums in float64.
// Factors end where readable memory does, and between their rows lie NaNs.
#include <aten/onednn/Gemm.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

// Memory whose end nothing can be read behind.
class Fenced {
 public:
  explicit Fenced(size_t bytes) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    size_ = (bytes + page_ - 1) / page_ * page_ + page_;
    start_ = static_cast<char*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    OPLOOM_CHECK(start_ != MAP_FAILED && mprotect(end(), page_, PROT_NONE) == 0, "no memory");
  }
  ~Fenced() { munmap(start_, size_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  char* end() const { return start_ + size_ - page_; }

 private:
  size_t page_, size_;
  char* start_;
};

template <typename T>
class Operand {
 public:
  Operand(int64_t rows, int64_t columns, bool by_rows, int64_t gap)
      : row_(by_rows ? columns + gap : 1),
        column_(by_rows ? 1 : rows + gap),
        count_(rows * columns == 0 ? 0 : (rows - 1) * row_ + (columns - 1) * column_ + 1),
        memory_(count_ * sizeof(T)),
        data_(reinterpret_cast<T*>(memory_.end()) - count_) {
    std::fill_n(data_, count_, std::numeric_limits<T>::quiet_NaN());
    static std::mt19937 random(1);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        at(i, j) = std::uniform_real_distribution<T>(-1, 1)(random);
      }
    }
  }
  T& at(int64_t i, int64_t j) { return data_[i * row_ + j * column_]; }
  T* data() { return data_; }
  int64_t row() const { return row_; }
  int64_t column() const { return column_; }

 private:
  int64_t row_, column_, count_;
  Fenced memory_;
  T* data_;
};

template <typename T>
void multiply(int64_t m, int64_t n, int64_t k, double alpha, Operand<T>& a, Operand<T>& b,
              double beta, Operand<T>& c) {
  at::onednn::gemm(
      c10::CppTypeToScalarType<T>::value,
      {m, n, k, a.data(), a.row(), a.column(), b.data(), b.row(), b.column(), c.data(), c.row()},
      alpha, beta);
}

template <typename T>
class ProductsTest : public testing::Test {
 public:
  static void check(int64_t m, int64_t n, int64_t k, bool a_by_rows, bool b_by_rows, int64_t gap,
                    double alpha, double beta) {
    SCOPED_TRACE(c10::str(m, "x", n, "x", k, a_by_rows ? " a" : " a^T", b_by_rows ? " b" : " b^T",
                          " gap ", gap, " alpha ", alpha, " beta ", beta));
    Operand<T> a(m, k, a_by_rows, gap), b(k, n, b_by_rows, gap), c(m, n, true, gap);
    std::vector<double> before;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (beta == 0) c.at(i, j) = std::numeric_limits<T>::quiet_NaN();
        before.push_back(beta == 0 ? 0 : c.at(i, j));
      }
    }
    multiply(m, n, k, alpha, a, b, beta, c);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, magnitude = std::abs(beta);
        for (int64_t p = 0; p < k; ++p) {
          const double term = static_cast<double>(a.at(i, p)) * b.at(p, j);
          sum += term;
          magnitude += std::abs(alpha * term);
        }
        const double expected = alpha * sum + beta * before[i * n + j];
        const double bound =
            static_cast<double>(k + 4) * magnitude * std::numeric_limits<T>::epsilon();
        ASSERT_LE(std::abs(c.at(i, j) - expected), bound) << i << ", " << j;
      }
    }
    for (int64_t i = 0; i + 1 < m; ++i) {
      for (int64_t j = n; j < n + gap; ++j) ASSERT_TRUE(std::isnan(c.at(i, j))) << i << ", " << j;
    }
  }

  static void check_layouts(int64_t m, int64_t n, int64_t k) {
    for (const bool a_by_rows : {true, false}) {
      for (const bool b_by_rows : {true, false}) {
        check(m, n, k, a_by_rows, b_by_rows, 0, 1, 0);
        check(m, n, k, a_by_rows, b_by_rows, 3, -2, 0.5);
        if (HasFailure()) return;
      }
    }
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ProductsTest, Types, );

TYPED_TEST(ProductsTest, Rows) {
  for (int64_t m = 1; m <= 34; ++m) this->check_layouts(m, 11, 6);
}

TYPED_TEST(ProductsTest, Columns) {
  for (int64_t n = 1; n <= 66; ++n) {
    this->check_layouts(1, n, 5);
    this->check_layouts(3, n, 5);
  }
  for (const int64_t n : {200, 255, 257, 400}) this->check_layouts(1, n, 5);
}

// Whole vectors, of any instruction set, and half of one or one number more.
TYPED_TEST(ProductsTest, Blocks) {
  for (const size_t bytes : {16, 32, 64}) {
    const auto lanes = static_cast<int64_t>(bytes / sizeof(TypeParam));
    for (int64_t vectors = 1; vectors <= 8; ++vectors) {
      for (const int64_t n : {vectors * lanes, vectors * lanes + lanes / 2, vectors * lanes + 1}) {
        for (int64_t m = 1; m <= 20; ++m) {
          this->check(m, n, 3, true, true, 0, 1, 0);
          this->check(m, n, 3, false, true, 3, -2, 0.5);
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(ProductsTest, OneTerm) {
  for (int64_t n = 1; n <= 66; ++n) this->check_layouts(5, n, 1);
  for (const int64_t n : {200, 784}) this->check_layouts(64, n, 1);
}

TYPED_TEST(ProductsTest, Terms) {
  for (int64_t k = 0; k <= 34; ++k) this->check_layouts(5, 9, k);
  // The columns of b are multiplied with rows as they lie, or copied in one or several pieces.
  for (const int64_t k : {63, 64, 65, 500, 1100}) {
    for (const int64_t m : {1, 2, 3, 7, 20}) this->check_layouts(m, 21, k);
    for (const int64_t n : {1, 3, 4, 7, 8, 13, 16, 30, 32}) this->check_layouts(1, n, k);
  }
}

TYPED_TEST(ProductsTest, AnInfinityStaysInItsColumn) {
  constexpr int64_t kSize = 19;
  for (const bool b_by_rows : {true, false}) {
    for (int64_t where = 0; where < kSize; ++where) {
      Operand<TypeParam> a(kSize, kSize, true, 0), b(kSize, kSize, b_by_rows, 0),
          c(kSize, kSize, true, 0);
      b.at(where, where) = std::numeric_limits<TypeParam>::infinity();
      multiply(kSize, kSize, kSize, 1, a, b, 0, c);
      for (int64_t j = 0; j < kSize; ++j) {
        ASSERT_EQ(std::isinf(c.at(4, j)), j == where) << where << ", " << j;
      }
    }
  }
}

}  // namespace
