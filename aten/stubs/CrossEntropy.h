// Kernels of the softmax in cross entropies, and of logsumexp.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/util/FunctionRef.h>

namespace at::inline oploom_v1::native {

// Note [Sums of exponentials]
// The tensor is contiguous, of a floating-point dtype, and seen as [outer, length, inner], where
// `dim` is the dimension in the middle; length is not 0. There are outer x inner places, each with
// the largest of its numbers and the logarithm of the sum of the exponentials of their distances
// from that. These lie in the order of the places, as float32 for 16-bit floats, else in the
// tensor's dtype. Kept apart they have more digits than their sum, by which a large number would
// be followed by few. Where a number is NaN or infinity, the logarithm is NaN; where all are
// -infinity, the logarithm is that, too.

// What is done with `count` places from `place` on, which are in the cache. Called in several
// threads.
using of_places = c10::function_ref<void(int64_t place, int64_t count)>;

// Computes them for `self`, and calls `after` for each place once.
using log_sums_fn = void (*)(const TensorBase& self, int64_t dim, void* maxima, void* log_sums,
                             of_places after);
OPLOOM_DECLARE_DISPATCH(log_sums_fn, log_sums_stub);

// result = scale * (the softmax of self - share). `places` is [3, places]: the maxima, the log_sums
// and the losses of the targets, minus the logarithms of their probabilities; `factors` is [2,
// places]: the scales, and room for the targets' probabilities less 1, which keep their digits
// where a target is nearly certain. Calls `before` for each place once, which may set its scale,
// and `after`, when the probability less 1 is there, too.
using scaled_softmax_fn = void (*)(const TensorBase& result, const TensorBase& self, int64_t dim,
                                   const TensorBase& places, const TensorBase& factors,
                                   double share, of_places before, of_places after);
OPLOOM_DECLARE_DISPATCH(scaled_softmax_fn, scaled_softmax_stub);

}  // namespace at::inline oploom_v1::native
