// Places that a mask names, and those of elements that are not zero.
#include <aten/core/Empty.h>
#include <aten/core/OpaqueType.h>
#include <aten/core/Parallel.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/Masks.h>
#include <aten/native/ShapeUtils.h>
#include <aten/stubs/Indexing.h>
#include <generated/native/argwhere.h>
#include <generated/native/masked_select.h>
#include <generated/native/nonzero.h>
#include <generated/native/nonzero_numpy.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/copy.h>
#include <generated/ops/ne.h>
#include <generated/ops/nonzero.h>
#include <generated/ops/unbind.h>
#include <generated/ops/unsqueeze.h>

#include <algorithm>
#include <vector>

namespace at::inline oploom_v1::native {

namespace {

// Calls found(first, places, k, count) for blocks of [0, n): `count` flags are set in it, at
// `first` and `places` more; before them there are k. Blocks are shared out to the threads.
// reserve(count) is called before, with the number of all of them.
template <typename Reserve, typename Found>
void compact(const uint8_t* flags, int64_t n, const Reserve& reserve, const Found& found) {
  // Flags of a chunk, and chunks of a thread.
  constexpr int64_t kGrain = 8, kChunk = GRAIN_SIZE / kGrain, kBlock = 1024;
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  // starts[c + 1] is the count of chunk c, then the sum of the counts up to it.
  std::vector<int64_t> starts(static_cast<size_t>(chunks) + 1, 0);
  at::parallel_for(0, chunks, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      starts[c + 1] =
          count_set_stub(DeviceType::CPU, flags + c * kChunk, std::min(kChunk, n - c * kChunk));
    }
  });
  for (int64_t c = 0; c < chunks; ++c) starts[c + 1] += starts[c];
  reserve(starts[chunks]);
  at::parallel_for(0, chunks, kGrain, [&](int64_t begin, int64_t end) {
    int64_t k = starts[begin];
    int32_t places[kBlock];
    for (int64_t i = begin * kChunk; i < std::min(n, end * kChunk); i += kBlock) {
      const int64_t count =
          find_set_stub(DeviceType::CPU, flags + i, std::min(kBlock, n - i), places);
      found(i, places, k, count);
      k += count;
    }
  });
}

void check_given_output(const char* op, const Tensor& out, ScalarType dtype) {
  OPLOOM_CHECK(out.scalar_type() == dtype, op, "(): expected an output of dtype ", dtype, ", got ",
               out.scalar_type());
  assert_no_internal_overlap(out);
}

// Lets `compute(target)` resize and fill a contiguous tensor, which becomes or is copied to `out`.
template <typename Compute>
Tensor& into_output(Tensor& out, const Compute& compute) {
  Tensor target(at::detail::empty({0}, out.options()));
  compute(target);
  at::detail::resize_output(out, target.sizes());
  return out.copy_(target);
}

void masked_select_into(Tensor& target, const Tensor& self, const Tensor& mask) {
  OPLOOM_CHECK(mask.scalar_type() == kBool, "masked_select(): expected a mask of dtype bool, got ",
               mask.scalar_type());
  const DimVector shape = c10::infer_size_broadcast(self.sizes(), mask.sizes(), "masked_select");
  const Tensor values = expand_alias("masked_select", self, shape).contiguous();
  const Tensor flags = expand_alias("masked_select", mask, shape).contiguous();
  with_opaque_type(self.itemsize(), [&]<typename T>(T) {
    const T* from = static_cast<const T*>(values.const_data_ptr());
    T* to = nullptr;
    compact(
        static_cast<const uint8_t*>(flags.const_data_ptr()), flags.numel(),
        [&](int64_t count) {
          at::detail::resize_output(target, {count});
          to = static_cast<T*>(target.mutable_data_ptr());
        },
        [&](int64_t first, const int32_t* places, int64_t k, int64_t count) {
          for (int64_t i = 0; i < count; ++i) to[k + i] = from[first + places[i]];
        });
  });
}

// Divides by one number, without the instruction for it: multiplies by 2^64 / size, rounded up,
// which is exact as long as the product of both numbers is less than 2^64.
class Divider {
 public:
  explicit Divider(uint64_t size) : size_(size), factor_(~uint64_t{0} / size + 1) {}
  uint64_t divide(uint64_t number) const {
    if (OPLOOM_UNLIKELY((number | size_) >> 32 != 0 || factor_ == 0)) return number / size_;
    return static_cast<uint64_t>((static_cast<unsigned __int128>(number) * factor_) >> 64);
  }

 private:
  uint64_t size_, factor_;
};

void nonzero_into(Tensor& target, const Tensor& self) {
  const Tensor flags =
      self.scalar_type() == kBool ? self.contiguous() : at::ne(self, 0).contiguous();
  const int64_t ndim = self.dim();
  const IntArrayRef sizes = self.sizes();
  SmallVector<Divider, 6> dividers;
  for (int64_t size : sizes)
    dividers.emplace_back(static_cast<uint64_t>(std::max<int64_t>(size, 1)));
  int64_t* to = nullptr;
  compact(
      static_cast<const uint8_t*>(flags.const_data_ptr()), flags.numel(),
      [&](int64_t count) {
        at::detail::resize_output(target, {count, ndim});
        to = target.mutable_data_ptr<int64_t>();
      },
      [&](int64_t first, const int32_t* places, int64_t k, int64_t count) {
        if (ndim == 1) {
          for (int64_t i = 0; i < count; ++i) to[k + i] = first + places[i];
          return;
        }
        for (int64_t i = 0; i < count; ++i) {
          int64_t* place = to + (k + i) * ndim;
          int64_t rest = first + places[i];
          for (int64_t d = ndim - 1; d > 0; --d) {
            const auto rows = static_cast<int64_t>(dividers[d].divide(static_cast<uint64_t>(rest)));
            place[d] = rest - rows * sizes[d];
            rest = rows;
          }
          if (ndim > 0) place[0] = rest;
        }
      });
}

}  // namespace

void put_where(const Tensor& self, const Tensor& mask, const Tensor& values) {
  const Tensor flags = mask.contiguous(), from = values.contiguous();
  with_opaque_type(self.itemsize(), [&]<typename T>(T) {
    const T* next = static_cast<const T*>(from.const_data_ptr());
    T* to = static_cast<T*>(self.mutable_data_ptr());
    compact(
        static_cast<const uint8_t*>(flags.const_data_ptr()), flags.numel(),
        [&](int64_t count) {
          OPLOOM_CHECK(values.numel() == count, "index_put_(): values of shape ", values.sizes(),
                       " cannot be broadcast to the shape of the indexing result, [", count, "]");
        },
        [&](int64_t first, const int32_t* places, int64_t k, int64_t count) {
          for (int64_t i = 0; i < count; ++i) to[first + places[i]] = next[k + i];
        });
  });
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  Tensor result(at::detail::empty({0}, self.options()));
  masked_select_into(result, self, mask);
  return result;
}
Tensor& masked_select_out(const Tensor& self, const Tensor& mask, Tensor& out) {
  check_given_output("masked_select", out, self.scalar_type());
  return into_output(out, [&](Tensor& target) { masked_select_into(target, self, mask); });
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return at::nonzero(self.dim() == 0 ? self.unsqueeze(0) : self).unbind(1);
}

Tensor nonzero(const Tensor& self) {
  Tensor result(at::detail::empty({0}, self.options().dtype(kLong)));
  nonzero_into(result, self);
  return result;
}
Tensor& nonzero_out(const Tensor& self, Tensor& out) {
  check_given_output("nonzero", out, kLong);
  return into_output(out, [&](Tensor& target) { nonzero_into(target, self); });
}

Tensor argwhere(const Tensor& self) { return self.nonzero(); }

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/Indexing.h>
