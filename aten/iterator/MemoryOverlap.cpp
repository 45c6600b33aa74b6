// Whether tensors share memory in ways that make writing into them undefined.
#include <aten/iterator/MemoryOverlap.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace at::inline oploom_v1 {
namespace {

struct Dim {
  int64_t size, stride;
};
using Dims = SmallVector<Dim, 5>;

// The dimensions along which there is a step, the longest steps first.
Dims steps_of(const TensorBase& tensor) {
  Dims dims;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    const Dim dim = {tensor.sizes()[d], std::abs(tensor.strides()[d])};
    if (dim.size <= 1) continue;
    size_t place = dims.size();
    dims.push_back(dim);
    for (; place > 0 && dims[place - 1].stride < dim.stride; --place) dims[place] = dims[place - 1];
    dims[place] = dim;
  }
  return dims;
}

// How many elements lie between the first and the last one, if each dimension steps over all those
// below it, as those of slices do; -1 otherwise.
int64_t reach_of(ArrayRef<Dim> dims) {
  int64_t reach = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d].stride <= reach) return -1;
    reach += dims[d].stride * (dims[d].size - 1);
  }
  return reach;
}

// Whether `distance` is a sum of fewer than `size` steps, to either side, along each of the
// dimensions, all of which lead as far as `reach`.
OPLOOM_COLD bool is_reached(ArrayRef<Dim> dims, int64_t distance, int64_t reach) {
  if (distance == 0) return true;
  if (std::abs(distance) > reach) return false;
  const Dim dim = dims[0];
  const int64_t below = reach - dim.stride * (dim.size - 1);
  // The steps after which those below can lead to it.
  const int64_t nearest = distance / dim.stride;
  for (int64_t steps = nearest - 1; steps <= nearest + 1; ++steps) {
    if (std::abs(steps) < dim.size &&
        is_reached(dims.slice(1), distance - steps * dim.stride, below))
      return true;
  }
  return false;
}

// The addresses of the first byte and of the one behind the last.
std::pair<uintptr_t, uintptr_t> byte_range(const TensorBase& tensor) {
  auto begin = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
  if (tensor.is_non_overlapping_and_dense()) return {begin, begin + tensor.nbytes()};
  uintptr_t end = begin + tensor.itemsize();
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    const int64_t way =
        tensor.strides()[d] * (tensor.sizes()[d] - 1) * static_cast<int64_t>(tensor.itemsize());
    (way < 0 ? begin : end) += static_cast<uintptr_t>(way);
  }
  return {begin, end};
}

// Of views of one layout, `distance` elements apart and not both dense.
OPLOOM_COLD MemOverlapStatus overlap_of_shifted(const TensorBase& view, int64_t distance) {
  constexpr size_t kMostDims = 10;  // each may double the work
  const Dims dims = steps_of(view);
  const int64_t reach = reach_of(dims);
  if (reach < 0 || dims.size() > kMostDims) return MemOverlapStatus::TooHard;
  return is_reached(dims, distance, reach) ? MemOverlapStatus::Partial : MemOverlapStatus::No;
}

}  // namespace

MemOverlap has_internal_overlap(const TensorBase& tensor) {
  if (tensor.is_non_overlapping_and_dense() || tensor.numel() == 0) return MemOverlap::No;
  const Dims dims = steps_of(tensor);
  if (!dims.empty() && dims.back().stride == 0) return MemOverlap::Yes;
  return reach_of(dims) < 0 ? MemOverlap::TooHard : MemOverlap::No;
}

void assert_no_internal_overlap(const TensorBase& tensor, std::string_view prefix) {
  OPLOOM_CHECK(
      has_internal_overlap(tensor) != MemOverlap::Yes, prefix,
      "several elements of the tensor to be written share a single memory location (sizes ",
      tensor.sizes(), ", strides ", tensor.strides(), "); write to a clone() of it");
}

MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b) {
  if (a.is_same(b)) return MemOverlapStatus::Full;
  if (a.numel() == 0 || b.numel() == 0 || !a.is_alias_of(b)) return MemOverlapStatus::No;
  const auto [a_begin, a_end] = byte_range(a);
  const auto [b_begin, b_end] = byte_range(b);
  if (a_end <= b_begin || b_end <= a_begin) return MemOverlapStatus::No;
  const bool same_layout =
      a.itemsize() == b.itemsize() && a.sizes() == b.sizes() && a.strides() == b.strides();
  if (same_layout && a_begin == b_begin) return MemOverlapStatus::Full;
  if (a.is_non_overlapping_and_dense() && b.is_non_overlapping_and_dense()) {
    return MemOverlapStatus::Partial;
  }
  const auto distance = static_cast<int64_t>(b_begin - a_begin);
  const auto itemsize = static_cast<int64_t>(a.itemsize());
  if (!same_layout || distance % itemsize != 0) return MemOverlapStatus::TooHard;
  return overlap_of_shifted(a, distance / itemsize);
}

void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b, std::string_view prefix) {
  OPLOOM_CHECK(get_overlap_status(a, b) != MemOverlapStatus::Partial, prefix,
               "the tensor to be written and an input share a part of their memory, so that some "
               "input would be overwritten before it is read; pass a clone() of the input");
}

bool share_memory(const TensorBase& a, const TensorBase& b) {
  const MemOverlapStatus status = get_overlap_status(a, b);
  return status == MemOverlapStatus::Partial || status == MemOverlapStatus::Full;
}

void assert_no_overlap(const TensorBase& a, const TensorBase& b, std::string_view prefix) {
  OPLOOM_CHECK(!share_memory(a, b), prefix,
               "unsupported operation: the input tensor and the written-to tensor share memory; "
               "clone() the tensors before performing the operation");
}

}  // namespace at::inline oploom_v1
