// Matrix products: mm, bmm, addmm, baddbmm, mv, addmv, dot, outer, matmul, linear, linear_relu.
#include <aten/core/Empty.h>
#include <aten/core/Parallel.h>
#include <aten/native/ShapeUtils.h>
#include <aten/onednn/Gemm.h>
#include <aten/onednn/Matmul.h>
#include <generated/native/addmm.h>
#include <generated/native/addmv.h>
#include <generated/native/baddbmm.h>
#include <generated/native/bmm.h>
#include <generated/native/copy.h>
#include <generated/native/dot.h>
#include <generated/native/linear.h>
#include <generated/native/linear_relu.h>
#include <generated/native/matmul.h>
#include <generated/native/mm.h>
#include <generated/native/mv.h>
#include <generated/native/outer.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/add.h>
#include <generated/ops/bmm.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/dot.h>
#include <generated/ops/expand.h>
#include <generated/ops/fill.h>
#include <generated/ops/matmul.h>
#include <generated/ops/mm.h>
#include <generated/ops/mul.h>
#include <generated/ops/mv.h>
#include <generated/ops/relu.h>
#include <generated/ops/reshape.h>
#include <generated/ops/select.h>
#include <generated/ops/squeeze.h>
#include <generated/ops/t.h>
#include <generated/ops/transpose.h>
#include <generated/ops/unsqueeze.h>

namespace at::inline oploom_v1::meta {

namespace {

void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(a.scalar_type() != at::kBool, op,
                               "(): expected numbers, got bool; convert it, to int64 for example");
  OPLOOM_CHECK(a.scalar_type() == b.scalar_type(), op, "(): expected operands of one dtype, got ",
               a.scalar_type(), " and ", b.scalar_type());
}

void check_matrices(const char* op, const char* a_name, const char* b_name, const Tensor& a,
                    const Tensor& b) {
  OPLOOM_CHECK(a.dim() == 2 && b.dim() == 2 && a.sizes()[1] == b.sizes()[0], op, "(): expected ",
               a_name, " of shape [n, k] and ", b_name, " of shape [k, m], got ", a.sizes(),
               " and ", b.sizes());
  check_same_dtype(op, a, b);
}

void check_batches(const char* op, const char* a_name, const char* b_name, const Tensor& a,
                   const Tensor& b) {
  OPLOOM_CHECK(
      a.dim() == 3 && b.dim() == 3 && a.sizes()[0] == b.sizes()[0] && a.sizes()[2] == b.sizes()[1],
      op, "(): expected ", a_name, " of shape [b, n, k] and ", b_name, " of shape [b, k, m], got ",
      a.sizes(), " and ", b.sizes());
  check_same_dtype(op, a, b);
}

void check_matrix_and_vector(const char* op, const char* matrix_name, const Tensor& matrix,
                             const Tensor& vec) {
  OPLOOM_CHECK(matrix.dim() == 2 && vec.dim() == 1 && matrix.sizes()[1] == vec.sizes()[0], op,
               "(): expected ", matrix_name, " of shape [n, k] and vec of shape [k], got ",
               matrix.sizes(), " and ", vec.sizes());
  check_same_dtype(op, matrix, vec);
}

// `self` is added to a product and broadcast to its shape.
void check_addend(const char* op, const Tensor& self, const Tensor& factor, IntArrayRef shape) {
  check_same_dtype(op, self, factor);
  OPLOOM_CHECK(c10::are_expandable(self.sizes(), shape), op,
               "(): expected self to broadcast to the product's shape ", shape, ", got ",
               self.sizes());
}

}  // namespace

OPLOOM_META_FUNC(mm)(const Tensor& self, const Tensor& mat2) {
  check_matrices("mm", "self", "mat2", self, mat2);
  set_output_raw_strided(0, {self.sizes()[0], mat2.sizes()[1]}, {}, self.options());
}
OPLOOM_META_FUNC(addmm)
(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar&, const Scalar&) {
  check_matrices("addmm", "mat1", "mat2", mat1, mat2);
  const int64_t shape[] = {mat1.sizes()[0], mat2.sizes()[1]};
  check_addend("addmm", self, mat1, shape);
  set_output_raw_strided(0, shape, {}, mat1.options());
}
OPLOOM_META_FUNC(bmm)(const Tensor& self, const Tensor& mat2) {
  check_batches("bmm", "self", "mat2", self, mat2);
  set_output_raw_strided(0, {self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, {},
                         self.options());
}
OPLOOM_META_FUNC(baddbmm)
(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar&, const Scalar&) {
  check_batches("baddbmm", "batch1", "batch2", batch1, batch2);
  const int64_t shape[] = {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]};
  check_addend("baddbmm", self, batch1, shape);
  set_output_raw_strided(0, shape, {}, batch1.options());
}
OPLOOM_META_FUNC(mv)(const Tensor& self, const Tensor& vec) {
  check_matrix_and_vector("mv", "self", self, vec);
  set_output_raw_strided(0, {self.sizes()[0]}, {}, self.options());
}
OPLOOM_META_FUNC(addmv)
(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar&, const Scalar&) {
  check_matrix_and_vector("addmv", "mat", mat, vec);
  const int64_t shape[] = {mat.sizes()[0]};
  check_addend("addmv", self, mat, shape);
  set_output_raw_strided(0, shape, {}, mat.options());
}
OPLOOM_META_FUNC(dot)(const Tensor& self, const Tensor& tensor) {
  OPLOOM_CHECK(self.dim() == 1 && tensor.dim() == 1 && self.numel() == tensor.numel(),
               "dot(): expected two vectors of the same length, got shapes ", self.sizes(), " and ",
               tensor.sizes());
  check_same_dtype("dot", self, tensor);
  set_output_raw_strided(0, {}, {}, self.options());
}

namespace {

// The shape of input @ weight.t() + bias.
DimVector shape_of_linear(const char* op, const Tensor& input, const Tensor& weight,
                          const std::optional<Tensor>& bias) {
  OPLOOM_CHECK(input.dim() >= 1 && (weight.dim() == 1 || weight.dim() == 2) &&
                   input.sizes().back() == weight.sizes().back(),
               op,
               "(): expected input of shape [..., in] and weight of shape [out, in] or [in], "
               "got ",
               input.sizes(), " and ", weight.sizes());
  check_same_dtype(op, input, weight);
  DimVector shape(input.sizes());
  shape.pop_back();
  if (weight.dim() == 2) shape.push_back(weight.sizes()[0]);
  if (is_given(bias)) {
    OPLOOM_CHECK(c10::are_expandable(bias->sizes(), shape), op,
                 "(): expected bias of shape [out] for weight of shape [out, in], got ",
                 bias->sizes(), " and ", weight.sizes());
    check_same_dtype(op, *bias, input);
  }
  return shape;
}

}  // namespace

OPLOOM_META_FUNC(linear)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  set_output_contiguous(0, shape_of_linear("linear", input, weight, bias), input.options());
}
OPLOOM_META_FUNC(linear_relu)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  OPLOOM_CHECK(!input.is_complex(), "linear_relu(): expected real numbers, got ",
               input.scalar_type());
  set_output_contiguous(0, shape_of_linear("linear_relu", input, weight, bias), input.options());
}

}  // namespace at::inline oploom_v1::meta

namespace at::inline oploom_v1::native {

namespace {

using onednn::Matrix;

bool is_zero(const Scalar& s) { return s.toComplexDouble() == c10::complex<double>(0); }

// Whether the last two dimensions are laid out as BLAS wants them, as those of a contiguous tensor
// are. Where there is no element, contiguous() does not care for strides, and nobody needs to.
OPLOOM_NOINLINE bool has_blas_strides(const Tensor& t) {
  const int64_t* sizes = t.sizes().end() - 2;
  const int64_t* strides = t.strides().end() - 2;
  return onednn::has_blas_strides(sizes[0], sizes[1], strides[0], strides[1]) || t.numel() == 0;
}
bool fits_blas(const Tensor& t) { return OPLOOM_LIKELY(t.is_contiguous()) || has_blas_strides(t); }

// Whether rows do not follow each other, or columns of a matrix that lies by columns.
OPLOOM_COLD bool has_gaps(const Tensor& t) {
  const int64_t* sizes = t.sizes().end() - 2;
  const int64_t* strides = t.strides().end() - 2;
  const bool by_rows = strides[1] == 1 && (strides[0] == sizes[1] || sizes[0] == 1);
  const bool by_columns = strides[0] == 1 && (strides[1] == sizes[0] || sizes[1] == 1);
  return !by_rows && !by_columns;
}
// Copied, by columns again if it lies so; of an expanded batch, once.
OPLOOM_COLD Tensor without_gaps(const Tensor& t) {
  if (t.dim() == 3 && t.strides()[0] == 0) {
    return without_gaps(t.select(0, 0)).expand(t.sizes());
  }
  return t.strides().end()[-2] == 1 ? t.transpose(-2, -1).contiguous().transpose(-2, -1)
                                    : t.contiguous();
}
// Whether a factor of bfloat16, `own` vectors of k elements which meet `others`, is better copied:
// oneDNN takes 1.3 to 5 times as long where it has gaps (measured on a Zen 4). Batches are; a
// single one, if enough others make the copy good.
OPLOOM_COLD bool is_better_copied(const Tensor& t, int64_t own, int64_t others, int64_t k) {
  constexpr int64_t kMany = 32;
  if (!onednn::has_fast_bfloat16() || own == 1 || others == 1 || !has_gaps(t)) return false;
  if (t.dim() == 3) return true;
  return own * others * k > onednn::kLargeForBfloat16 && others >= kMany && 2 * others >= k;
}

// How a product can be written to `out`, by the strides of its last two dimensions.
enum class Order { Rows, Columns, Other };

Order order_of(const int64_t* sizes, const int64_t* strides) {
  if ((strides[1] == 1 || sizes[1] == 1) && (strides[0] >= sizes[1] || sizes[0] == 1)) {
    return Order::Rows;
  }
  if ((strides[0] == 1 || sizes[0] == 1) && (strides[1] >= sizes[0] || sizes[1] == 1)) {
    return Order::Columns;
  }
  return Order::Other;
}

// Whether `self` can be added to each row of `out`, of n columns, while that is written.
bool is_bias(const Tensor& self, int64_t n, const Tensor& out) {
  return self.dim() == 1 && self.sizes()[0] == n && self.strides()[0] == 1 && n > 1 &&
         !out.is_alias_of(self);
}

// Puts what is added to a product into `out`.
void begin_with(const char* op, const Tensor& self, const Tensor& out) {
  if (self.is_same(out)) return;
  Tensor result(out);
  native::copy_(result, expand_alias(op, self, out.sizes()), /*non_blocking=*/false);
}

// out = beta * out, which is all of it where a product has no terms.
void scale(const Tensor& out, const Scalar& beta) {
  Tensor result(out);
  if (is_zero(beta)) {
    result.fill_(0);
  } else if (!beta.equal(1)) {
    result.mul_(beta);
  }
}

void multiply(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
              const Tensor& out, const Tensor* bias = nullptr);

OPLOOM_COLD void multiply_copies(const Tensor& a, bool copies_a, const Tensor& b, bool copies_b,
                                 const Scalar& beta, const Scalar& alpha, const Tensor& out,
                                 const Tensor* bias) {
  Tensor dense_a, dense_b;
  if (copies_a) dense_a = without_gaps(a);
  if (copies_b) dense_b = without_gaps(b);
  multiply(copies_a ? dense_a : a, copies_b ? dense_b : b, beta, alpha, out, bias);
}

// out = beta * out + alpha * a b for matrices, or for batches of them in the first dimension.
// Where there is a `bias`, that is added instead, to each row.
void multiply(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha,
              const Tensor& out, const Tensor* bias) {
  if (out.numel() == 0) return;
  const int64_t* sizes = out.sizes().end() - 2;
  const int64_t* strides = out.strides().end() - 2;
  const Order order = order_of(sizes, strides);
  if (OPLOOM_UNLIKELY(bias && order != Order::Rows)) {
    begin_with("addmm", *bias, out);
    bias = nullptr;
  }
  if (OPLOOM_UNLIKELY(a.sizes().back() == 0)) {
    if (bias) begin_with("addmm", *bias, out);
    return scale(out, beta);
  }
  if (OPLOOM_UNLIKELY(order == Order::Other || out.is_alias_of(a) || out.is_alias_of(b))) {
    const Tensor dense(at::detail::empty(out.sizes(), out.options()));
    Tensor result(out);
    if (!is_zero(beta)) Tensor(dense).copy_(out);
    multiply(a, b, beta, alpha, dense, bias);
    result.copy_(dense);
    return;
  }
  // Of a product that is written by columns the transposed one is computed: out^T = b^T a^T.
  const bool by_rows = order == Order::Rows;
  const int64_t* a_strides = a.strides().end() - 2;
  const int64_t* b_strides = b.strides().end() - 2;
  bool copies_a = !fits_blas(a), copies_b = !fits_blas(b);
  if (OPLOOM_UNLIKELY(a.sizes().back() == 1 && sizes[0] > 1 && sizes[1] > 1)) {
    // For a row with gaps libraries take up to three times as long, oneDNN a thousand times.
    copies_a = copies_a || (!by_rows && a_strides[0] != 1);
    copies_b = copies_b || (by_rows && b_strides[1] != 1);
  }
  if (OPLOOM_UNLIKELY(out.scalar_type() == kBFloat16)) {
    const int64_t k = a.sizes().back();
    copies_a = copies_a || is_better_copied(a, sizes[0], sizes[1], k);
    copies_b = copies_b || is_better_copied(b, sizes[1], sizes[0], k);
  }
  if (OPLOOM_UNLIKELY(copies_a || copies_b)) {
    return multiply_copies(a, copies_a, b, copies_b, beta, alpha, out, bias);
  }
  GemmArguments g = by_rows ? GemmArguments{sizes[0],           sizes[1],
                                            a.sizes().back(),   a.const_data_ptr(),
                                            a_strides[0],       a_strides[1],
                                            b.const_data_ptr(), b_strides[0],
                                            b_strides[1],       out.mutable_data_ptr(),
                                            strides[0]}
                            : GemmArguments{sizes[1],           sizes[0],
                                            a.sizes().back(),   b.const_data_ptr(),
                                            b_strides[1],       b_strides[0],
                                            a.const_data_ptr(), a_strides[1],
                                            a_strides[0],       out.mutable_data_ptr(),
                                            strides[1]};
  if (bias) g.addend = bias->const_data_ptr();
  if (out.dim() == 2) return onednn::gemm(out.scalar_type(), g, alpha, beta);
  const int64_t a_step = a.strides()[0], b_step = b.strides()[0];
  onednn::gemm_batched(out.scalar_type(), out.sizes()[0], g, by_rows ? a_step : b_step,
                       by_rows ? b_step : a_step, out.strides()[0], alpha, beta);
}

void multiply_vector(const Tensor& matrix, const Tensor& vec, const Scalar& beta,
                     const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;
  if (out.is_alias_of(matrix) || out.is_alias_of(vec)) {
    const Tensor dense(at::detail::empty(out.sizes(), out.options()));
    if (!is_zero(beta)) Tensor(dense).copy_(out);
    multiply_vector(matrix, vec, beta, alpha, dense);
    Tensor(out).copy_(dense);
    return;
  }
  if (matrix.sizes()[1] == 0) return scale(out, beta);
  if (!fits_blas(matrix)) return multiply_vector(matrix.contiguous(), vec, beta, alpha, out);
  const Matrix factor{matrix.const_data_ptr(), matrix.strides()[0], matrix.strides()[1]};
  onednn::gemv(out.scalar_type(), matrix.sizes()[0], matrix.sizes()[1], alpha, factor,
               vec.const_data_ptr(), vec.strides()[0], beta, out.mutable_data_ptr(),
               out.strides()[0]);
}

}  // namespace

OPLOOM_IMPL_FUNC(mm_out)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  multiply(self, mat2, 0, 1, out);
}
OPLOOM_IMPL_FUNC(bmm_out)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  multiply(self, mat2, 0, 1, out);
}
OPLOOM_IMPL_FUNC(addmm_out)
(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
 const Scalar& alpha, const Tensor& out) {
  const bool is_read = !is_zero(beta);
  const bool bias = is_read && is_bias(self, out.sizes()[1], out);
  if (is_read && !bias) begin_with("addmm", self, out);
  multiply(mat1, mat2, beta, alpha, out, bias ? &self : nullptr);
}
OPLOOM_IMPL_FUNC(baddbmm_out)
(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
 const Scalar& alpha, const Tensor& out) {
  if (!is_zero(beta)) begin_with("baddbmm", self, out);
  multiply(batch1, batch2, beta, alpha, out);
}
OPLOOM_IMPL_FUNC(mv_out)(const Tensor& self, const Tensor& vec, const Tensor& out) {
  multiply_vector(self, vec, 0, 1, out);
}
OPLOOM_IMPL_FUNC(addmv_out)
(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha,
 const Tensor& out) {
  if (!is_zero(beta)) begin_with("addmv", self, out);
  multiply_vector(mat, vec, beta, alpha, out);
}
OPLOOM_IMPL_FUNC(dot_out)(const Tensor& self, const Tensor& tensor, const Tensor& out) {
  onednn::dot(self.scalar_type(), self.numel(), self.const_data_ptr(), self.strides()[0],
              tensor.const_data_ptr(), tensor.strides()[0], out.mutable_data_ptr());
}

namespace {

// out = input @ weight.t() + bias
void linear_into(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                 const Tensor& out) {
  if (out.numel() == 0) return;
  if (OPLOOM_UNLIKELY(out.is_alias_of(input) || out.is_alias_of(weight))) {
    const Tensor dense(at::detail::empty(out.sizes(), out.options()));
    linear_into(input, weight, bias, dense);
    Tensor(out).copy_(dense);
    return;
  }
  if (weight.dim() == 1) return linear_into(input, weight.unsqueeze(0), bias, out);
  const int64_t n = weight.sizes()[0], k = weight.sizes()[1], m = out.numel() / n;
  const bool has_bias = is_given(bias);
  if (k == 0) {
    if (has_bias) begin_with("linear", *bias, out);
    return scale(out, has_bias ? 1 : 0);
  }
  if (input.dim() != 2) return linear_into(input.reshape({m, k}), weight, bias, out);
  if (OPLOOM_UNLIKELY(!fits_blas(input))) return linear_into(input.contiguous(), weight, bias, out);
  if (OPLOOM_UNLIKELY(!fits_blas(weight))) {
    return linear_into(input, weight.contiguous(), bias, out);
  }
  if (OPLOOM_UNLIKELY(out.scalar_type() == kBFloat16)) {
    if (is_better_copied(input, m, n, k))
      return linear_into(without_gaps(input), weight, bias, out);
    if (is_better_copied(weight, n, m, k))
      return linear_into(input, without_gaps(weight), bias, out);
  }
  GemmArguments g{m,
                  n,
                  k,
                  input.const_data_ptr(),
                  input.strides()[0],
                  input.strides()[1],
                  weight.const_data_ptr(),
                  weight.strides()[1],
                  weight.strides()[0],
                  out.mutable_data_ptr(),
                  n};
  if (has_bias && is_bias(*bias, n, out)) {
    g.addend = bias->const_data_ptr();
  } else if (has_bias) {
    begin_with("linear", *bias, out);
  }
  onednn::gemm(out.scalar_type(), g, 1, has_bias ? 1 : 0);
}

}  // namespace

OPLOOM_IMPL_FUNC(linear_out)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, const Tensor& out) {
  linear_into(input, weight, bias, out);
}
OPLOOM_IMPL_FUNC(linear_relu_out)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, const Tensor& out) {
  linear_into(input, weight, bias, out);
  Tensor(out).relu_();
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  OPLOOM_CHECK(self.dim() == 1 && vec2.dim() == 1, "outer(): expected two vectors, got shapes ",
               self.sizes(), " and ", vec2.sizes());
  return self.unsqueeze(1) * vec2;
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  OPLOOM_CHECK(a > 0 && b > 0, "matmul(): expected operands of at least one dimension, got shapes ",
               self.sizes(), " and ", other.sizes());
  const int64_t k = self.sizes()[a - 1];
  OPLOOM_CHECK(k == other.sizes()[b == 1 ? 0 : b - 2],
               "matmul(): expected the last dimension of self and the ", b == 1 ? "" : "last but ",
               "one of other to be equal, got shapes ", self.sizes(), " and ", other.sizes());
  if (a == 1 && b == 1) return at::dot(self, other);
  if (a == 2 && b == 1) return at::mv(self, other);
  if (a == 1 && b == 2) return at::mm(self.unsqueeze(0), other).squeeze(0);
  if (a == 2 && b == 2) return at::mm(self, other);
  if (b <= 2) {
    // All rows of the left operand meet the same matrix: one product is enough.
    DimVector shape(self.sizes());
    shape.pop_back();
    int64_t rows = 1;
    for (int64_t size : shape) rows *= size;
    const Tensor flat = self.reshape({rows, k});
    if (b == 1) return at::mv(flat, other).reshape(shape);
    shape.push_back(other.sizes()[1]);
    return at::mm(flat, other).reshape(shape);
  }
  const Tensor left = a == 1 ? self.unsqueeze(0) : self;
  const int64_t n = left.size(-2), m = other.size(-1);
  const DimVector batch = c10::infer_size_broadcast(left.sizes().slice(0, left.dim() - 2),
                                                    other.sizes().slice(0, b - 2), "matmul");
  int64_t count = 1;
  for (int64_t size : batch) count *= size;
  auto expanded = [&](const Tensor& t, int64_t rows, int64_t columns) {
    DimVector shape(batch);
    shape.push_back(rows);
    shape.push_back(columns);
    return t.expand(shape).reshape({count, rows, columns});
  };
  const Tensor product = at::bmm(expanded(left, n, k), expanded(other, k, m));
  DimVector shape(batch);
  if (a > 1) shape.push_back(n);
  shape.push_back(m);
  return product.reshape(shape);
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/LinearAlgebra.h>
