// The library under test. Everything here is compiled twice, against oploom and, with
// OPLOOM_BENCHMARK_LIBTORCH, against libtorch: what differs between the two is in this file.
#pragma once

#ifdef OPLOOM_BENCHMARK_LIBTORCH
#include <ATen/Parallel.h>
#include <torch/torch.h>
#include <torch/version.h>
namespace library {
constexpr const char* kName = "libtorch";
constexpr const char* kVersion = TORCH_VERSION;
using torch::autograd::grad;
}  // namespace library
#else
#include <aten/ATen.h>
namespace library {
constexpr const char* kName = "oploom";
constexpr const char* kVersion = OPLOOM_VERSION;
using at::autograd::grad;
}  // namespace library
#endif
