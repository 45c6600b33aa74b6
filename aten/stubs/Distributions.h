// Kernels that fill a tensor with random numbers.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/stubs/DispatchStub.h>
#include <c10/core/Generator.h>
#include <c10/core/Scalar.h>

#include <optional>

namespace at::inline oploom_v1::native {

// Note [Random numbers by element]
// Each kernel takes the place of its numbers in the generator's sequence once, and element i (in
// row-major order, whatever the strides) then depends on the seed, that place and i alone. So the
// numbers are the same for every number of threads, instruction set and memory layout.
// All kernels overwrite `self`, which is contiguous; without a generator the default one is used.

// Floating dtypes, uniform on [from, to); complex ones, both parts so.
using uniform_fn = void (*)(const TensorBase& self, double from, double to,
                            std::optional<Generator> generator);
OPLOOM_DECLARE_DISPATCH(uniform_fn, uniform_stub);

// Floating and complex dtypes; a complex number's parts have variance std^2 / 2 each.
using normal_fn = void (*)(const TensorBase& self, double mean, double std,
                           std::optional<Generator> generator);
OPLOOM_DECLARE_DISPATCH(normal_fn, normal_stub);

// All dtypes: 1 with probability p, otherwise 0.
using bernoulli_scalar_fn = void (*)(const TensorBase& self, double p,
                                     std::optional<Generator> generator);
OPLOOM_DECLARE_DISPATCH(bernoulli_scalar_fn, bernoulli_scalar_stub);

// The same with a probability for each element, which is checked before anything is written; p has
// self's sizes and a floating dtype, and is contiguous.
using bernoulli_tensor_fn = void (*)(const TensorBase& self, const TensorBase& p,
                                     std::optional<Generator> generator);
OPLOOM_DECLARE_DISPATCH(bernoulli_tensor_fn, bernoulli_tensor_stub);

// Any dtype: exchanges each element with a random one of those from it on (Fisher and
// Yates), one after the other.
using shuffle_fn = void (*)(const TensorBase& self, std::optional<Generator> generator);
OPLOOM_DECLARE_DISPATCH(shuffle_fn, shuffle_stub);

// All real dtypes: integers uniform on [base, base + range); range 0 means 2^64.
using random_from_to_fn = void (*)(const TensorBase& self, uint64_t range, int64_t base,
                                   std::optional<Generator> generator);
OPLOOM_DECLARE_DISPATCH(random_from_to_fn, random_from_to_stub);

}  // namespace at::inline oploom_v1::native
