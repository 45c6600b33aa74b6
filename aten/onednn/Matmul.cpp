// Products of bfloat16 matrices by oneDNN, with the primitives kept.
#include <aten/onednn/Matmul.h>
#include <aten/onednn/Utils.h>

#include <array>
#include <bit>
#include <map>

namespace at::inline oploom_v1::onednn {
namespace {

// Sizes, strides and scales determine a primitive.
using Key = std::array<int64_t, 14>;

int64_t bits_of(float x) { return std::bit_cast<int32_t>(x); }
float as_float(int64_t bits) { return std::bit_cast<float>(static_cast<int32_t>(bits)); }

// Making a primitive takes microseconds, and milliseconds where code is generated. Each thread
// keeps its own, because a primitive must not run twice at a time with one scratchpad; the number
// is bounded for programs whose shapes keep changing.
constexpr size_t kMaxPrimitives = 256;

struct Cached {
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
};

OPLOOM_COLD Cached make_primitive(const Key& key) {
  const auto [batch, m, n, k, a_row, a_column, a_step, b_row, b_column, b_step, ldc, c_step, alpha,
              beta] = key;
  using Desc = dnnl::memory::desc;
  constexpr auto kType = dnnl::memory::data_type::bf16;
  dnnl::primitive_attr attributes;
  dnnl::post_ops post_ops;
  if (const float scale = as_float(alpha); scale != 1) append_scale(post_ops, scale);
  if (const float scale = as_float(beta); scale != 0) post_ops.append_sum(scale);
  attributes.set_post_ops(post_ops);
  Cached made;
  made.description = make_matmul(Desc({batch, m, k}, kType, {a_step, a_row, a_column}),
                                 Desc({batch, k, n}, kType, {b_step, b_row, b_column}),
                                 Desc({batch, m, n}, kType, {c_step, ldc, 1}), attributes);
  made.primitive = dnnl::matmul(made.description);
  return made;
}

Cached& primitive_for(const Key& key) {
  static thread_local std::map<Key, Cached> cache;
  auto found = cache.find(key);
  if (found != cache.end()) return found->second;
  if (cache.size() >= kMaxPrimitives) cache.clear();
  return cache.emplace(key, make_primitive(key)).first->second;
}

}  // namespace

bool has_fast_bfloat16() {
  // An instruction set's number has the bits of all those that it contains.
  constexpr auto kNeeded = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  static const bool fast =
      (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kNeeded) == kNeeded;
  return fast;
}

void matmul_bfloat16(int64_t batch, int64_t m, int64_t n, int64_t k, const Matrix& a,
                     int64_t a_step, const Matrix& b, int64_t b_step, float alpha, float beta,
                     void* c, int64_t ldc, int64_t c_step) {
  Cached& cached =
      primitive_for({batch, m, n, k, a.row_stride, a.column_stride, a_step, b.row_stride,
                     b.column_stride, b_step, ldc, c_step, bits_of(alpha), bits_of(beta)});
  const auto memory = [](const dnnl::memory::desc& desc, const void* data) {
    return dnnl::memory(desc, cpu_engine(), const_cast<void*>(data));
  };
  cached.primitive.execute(cpu_stream(),
                           {{DNNL_ARG_SRC, memory(cached.description.src_desc(), a.data)},
                            {DNNL_ARG_WEIGHTS, memory(cached.description.weights_desc(), b.data)},
                            {DNNL_ARG_DST, memory(cached.description.dst_desc(), c)}});
  cpu_stream().wait();
}

}  // namespace at::inline oploom_v1::onednn
