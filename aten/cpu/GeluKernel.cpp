// gelu and its gradient: which function it is, a word decides.
#include <aten/cpu/Loops.h>
#include <aten/cpu/vec/functions.h>
#include <aten/stubs/BinaryOps.h>
#include <aten/stubs/UnaryOps.h>

#include <array>
#include <bit>
#include <cstring>
#include <span>

namespace at::inline oploom_v1::native {
inline namespace CPU_CAPABILITY {
namespace {

#if defined(CPU_CAPABILITY_AVX512)
// Without a test of each Vec, and of four side by side, the short form takes a seventh less. It is
// taken for a block of Vecs, whatever they hold; then, if one number of them is far, those that are
// far are computed together, packed.
constexpr int64_t kStep = vec::Vec<float>::size(), kBlockVecs = 128, kBlock = kBlockVecs * kStep;

OPLOOM_NOINLINE void mend_far(const float* in, float* out) {
  using V = vec::Vec<float>;
  struct Place {
    int32_t element;
    V::Mask far;
  };
  Place places[kBlockVecs];
  int64_t found = 0;
  for (int64_t i = 0; i < kBlock; i += kStep) {
    const V::Mask far = !(V::loadu(in + i) > V(-vec::kFarthestShare));
    places[found] = Place{static_cast<int32_t>(i), far};
    found += far.bits != 0;
  }
  alignas(vec::kVecBytes) float packed[kBlock];
  int64_t count = 0;
  for (const Place& place : std::span(places, found)) {
    pack(V::loadu(in + place.element), place.far).storeu(packed + count);
    count += std::popcount(place.far.bits);
  }
  for (int64_t i = 0; i < count; i += kStep) {
    vec::gelu_of_far(V::loadu(packed + i)).storeu(packed + i);
  }
  count = 0;
  for (const Place& place : std::span(places, found)) {
    float* const target = out + place.element;
    unpack(V::loadu(packed + count), place.far, V::loadu(target)).storeu(target);
    count += std::popcount(place.far.bits);
  }
}

void gelu_row(const float* in, float* out, int64_t n) {
  using V = vec::Vec<float>;
  alignas(vec::kVecBytes) float kept[kBlock];
  for (; n >= kBlock; n -= kBlock, in += kBlock, out += kBlock) {
    const float* from = in;
    if (in == out) from = static_cast<const float*>(std::memcpy(kept, in, sizeof(kept)));
    V least(0.f);
    for (int64_t i = 0; i < kBlock; i += 4 * kStep) {
      std::array<V, 4> y;
      for (int64_t v = 0; v < 4; ++v) {
        const V x = V::loadu(from + i + v * kStep);
        least = at_most(least, x);  // itself where x is nan
        y[v] = vec::gelu_of_near(x);
      }
      for (int64_t v = 0; v < 4; ++v) y[v].storeu(out + i + v * kStep);
    }
    if (!all(least > V(-vec::kFarthestShare))) mend_far(from, out);
  }
  const float* rows[] = {in};
  vec::for_each_vec<float>(
      n, [](auto x) { return vec::gelu(x); }, rows, std::index_sequence<0>{},
      [out](int64_t i, const V& value, int64_t count)
          OPLOOM_ALWAYS_INLINE_LAMBDA { value.storeu(out + i, count); });
}
#endif

void gelu_kernel(TensorIteratorBase& iter, bool tanh_approximation) {
#if defined(CPU_CAPABILITY_AVX512)
  if (iter.common_dtype() == ScalarType::Float && !tanh_approximation) {
    const auto row = [](char* const* data, int64_t n, uint32_t) {
      gelu_row(reinterpret_cast<const float*>(data[1]), reinterpret_cast<float*>(data[0]), n);
    };
    return at::detail::for_each_dense_row(iter, 2, row);
  }
#endif
  OPLOOM_DISPATCH(iter.common_dtype(), "gelu", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    if (tanh_approximation) {
      cpu_kernel_vec<scalar_t>(
          iter, vec::TwoForms{[](auto& usual, const auto& x) OPLOOM_ALWAYS_INLINE_LAMBDA {
            return vec::gelu_tanh(usual, x);
          }});
    } else {
      cpu_kernel_vec<scalar_t>(iter,
                               [](auto x) { return vec::gelu(vec::kRoundedTo<scalar_t>, x); });
    }
  });
}

void gelu_backward_kernel(TensorIteratorBase& iter, bool tanh_approximation) {
  OPLOOM_DISPATCH(iter.common_dtype(), "gelu_backward", (OPLOOM_FLOATING, OPLOOM_REDUCED), [&] {
    using opmath_t = c10::opmath_type<scalar_t>;
    const auto constant = [](double value) { return static_cast<opmath_t>(value); };
    if (tanh_approximation) {
      // beta = sqrt(2 / pi), kappa as in the forward function
      cpu_kernel_vec<scalar_t>(iter, [constant](auto grad, auto x) {
        using V = decltype(x);
        const V beta(constant(0.79788456080286535588));
        const V kappa(constant(0.044715));
        const V one(constant(1));
        const V half(constant(0.5));
        const V t = (beta * (x + kappa * x * x * x)).tanh();
        const V inner = beta * (one + V(constant(3)) * kappa * x * x);
        return grad * (half * (one + t) + half * x * (one - t * t) * inner);
      });
    } else {
      // Phi(x) + x phi(x)
      cpu_kernel_vec<scalar_t>(iter, [constant](auto grad, auto x) {
        using V = decltype(x);
        const V pdf = (V(constant(-0.5)) * x * x).exp() * V(constant(0.39894228040143267794));
        return grad * (vec::normal_cdf(x) + x * pdf);
      });
    }
  });
}

}  // namespace
}  // namespace CPU_CAPABILITY

OPLOOM_REGISTER_DISPATCH(gelu_stub, &gelu_kernel);
OPLOOM_REGISTER_DISPATCH(gelu_backward_stub, &gelu_backward_kernel);

}  // namespace at::inline oploom_v1::native
