// oneDNN's C++ API, with what differs between versions 2 and 3 in one place.
#pragma once

#include <dnnl.hpp>

namespace at::inline oploom_v1::onednn {

inline dnnl::engine& cpu_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

inline dnnl::stream& cpu_stream() {
  static thread_local dnnl::stream stream(cpu_engine());
  return stream;
}

// Version 3 makes primitive descriptors from memory descriptors, version 2 from an operation
// descriptor in between.
inline dnnl::matmul::primitive_desc make_matmul(const dnnl::memory::desc& a,
                                                const dnnl::memory::desc& b,
                                                const dnnl::memory::desc& c,
                                                const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul::primitive_desc(cpu_engine(), a, b, c, attributes);
#else
  return dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), attributes, cpu_engine());
#endif
}

// What has been computed so far is multiplied by `scale`.
inline void append_scale(dnnl::post_ops& post_ops, float scale) {
  constexpr auto kLinear = dnnl::algorithm::eltwise_linear;
#if DNNL_VERSION_MAJOR >= 3
  post_ops.append_eltwise(kLinear, scale, 0.0f);
#else
  post_ops.append_eltwise(1.0f, kLinear, scale, 0.0f);
#endif
}

}  // namespace at::inline oploom_v1::onednn
