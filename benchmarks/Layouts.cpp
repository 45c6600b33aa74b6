// Operands of 4096 x 4096 float32 that are not simply contiguous, into a given contiguous tensor;
// and images and rows that are copied to another order.
#include "Cases.h"
#include "Library.h"

#include <string>

using at::Tensor;

void add_layouts(Cases& cases) {
  constexpr int64_t n = 4096;
  const Tensor a = at::rand({n, n}), b = at::rand({n, n}), wide = at::rand({n, 2 * n});
  const Tensor row = at::rand({n}), column = at::rand({n, 1}),
               every_second = wide.slice(1, 0, 2 * n, 2);
  Tensor out = at::empty({n, n});
  cases.add("layout/a + b", [=]() mutable { at::add_out(out, a, b); });
  cases.add("layout/a + b.T", [=]() mutable { at::add_out(out, a, b.t()); });
  cases.add("layout/a.T + b.T", [=]() mutable { at::add_out(out, a.t(), b.t()); });
  cases.add("layout/exp(a)", [=]() mutable { at::exp_out(out, a); });
  cases.add("layout/exp(a.T)", [=]() mutable { at::exp_out(out, a.t()); });
  cases.add("layout/copy of a.T", [=]() mutable { out.copy_(a.t()); });
  cases.add("layout/a + row", [=]() mutable { at::add_out(out, a, row); });
  cases.add("layout/a + column", [=]() mutable { at::add_out(out, a, column); });
  cases.add("layout/a + every second", [=]() mutable { at::add_out(out, a, every_second); });

  // Images, whose channels come last or first, and patches of them.
  const auto image_cases = [&cases](const char* name, at::ScalarType dtype) {
    constexpr int64_t batch = 8, channels = 3, side = 224, patch = 16, many = side / patch;
    const std::string prefix = std::string("layout/") + name + " images: ";
    const Tensor planes = at::rand({batch, channels, side, side}).mul(255).to(dtype);
    const Tensor pixels = planes.permute({0, 2, 3, 1}).contiguous();
    const Tensor parts = planes.view({batch, channels, many, patch, many, patch});
    Tensor to_planes = at::empty_like(planes), to_pixels = at::empty_like(pixels);
    Tensor patches = at::empty({batch, many, many, patch, patch, channels}, planes.options());
    cases.add(prefix + "to pixels", [=]() mutable {
      to_pixels.copy_(planes.permute({0, 2, 3, 1}));
    });
    cases.add(prefix + "to planes", [=]() mutable {
      to_planes.copy_(pixels.permute({0, 3, 1, 2}));
    });
    cases.add(prefix + "to patches", [=]() mutable {
      patches.copy_(parts.permute({0, 2, 4, 3, 5, 1}));
    });
    cases.add(prefix + "flip", [=] { return pixels.flip({2}); });
  };
  image_cases("uint8", at::kByte);
  image_cases("float32", at::kFloat);
  // Half a row, as rotary embeddings take it, and two halves joined.
  const Tensor heads = at::rand({8, 128, 12, 64}).to(at::kHalf);
  const Tensor low = heads.slice(3, 0, 32), high = heads.slice(3, 32, 64).contiguous();
  cases.add("layout/half rows, float16: neg", [=] { return low.neg(); });
  cases.add("layout/half rows, float16: cat", [=] { return at::cat({high, high}, 3); });
}
