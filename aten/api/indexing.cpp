// Indexing as in Python, built on select, slice, unsqueeze and the operators that take index
// tensors.
#include <aten/api/indexing.h>
#include <aten/core/Recorder.h>
#include <c10/util/NamedErrors.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/alias.h>
#include <generated/ops/copy.h>
#include <generated/ops/fill.h>
#include <generated/ops/full.h>
#include <generated/ops/index.h>
#include <generated/ops/index_put.h>
#include <generated/ops/select.h>
#include <generated/ops/slice.h>
#include <generated/ops/to.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/zeros.h>

#include <string_view>
#include <vector>

namespace at::inline oploom_v1::indexing {

TensorIndex::TensorIndex(const char* text) : type_(TensorIndexType::Ellipsis) {
  OPLOOM_CHECK_VALUE(std::string_view(text) == "...", "index(): expected \"...\", got \"", text,
                     "\"");
}

namespace {

bool is_mask(const Tensor& index) {
  return index.scalar_type() == kBool || index.scalar_type() == kByte;
}

// The dimensions that the entries stand for, without the Ellipsis.
int64_t count_dims(ArrayRef<TensorIndex> indices) {
  int64_t count = 0;
  for (const TensorIndex& index : indices) {
    if (index.is_integer() || index.is_slice()) {
      ++count;
    } else if (index.is_tensor()) {
      count += is_mask(index.tensor()) ? index.tensor().dim() : 1;
    }
  }
  return count;
}

// What is left of an index once views have been made of everything but tensors.
struct Parts {
  Tensor view;
  // One entry for each dimension of `view` up to the last index tensor.
  std::vector<std::optional<Tensor>> tensors;
  bool has_tensors = false;
};

// Note [Integers beside index tensors]
// NumPy takes an integer beside index tensors for an index tensor without dimensions. The field
// selects it first, and so do we. The values are the same; where a slice stands between the integer
// and a tensor, the order of the dimensions is not.
Parts split_index(const Tensor& self, ArrayRef<TensorIndex> indices) {
  const int64_t given = count_dims(indices);
  OPLOOM_CHECK_INDEX(given <= self.dim(), "index(): too many indices (", given, ") for a ",
                     self.dim(), "-d tensor");
  Parts parts;
  parts.view = self;
  int64_t dim = 0;
  // A mask of k dimensions is one entry of the list for k dimensions.
  int64_t masked_dims = 0;
  bool ellipsis_seen = false;
  const auto add_tensor = [&](Tensor tensor) {
    parts.tensors.resize(static_cast<size_t>(dim - masked_dims));
    parts.tensors.emplace_back(std::move(tensor));
    parts.has_tensors = true;
  };
  for (const TensorIndex& index : indices) {
    switch (index.type()) {
      case TensorIndexType::Integer:
        parts.view = parts.view.select(dim, index.integer());
        break;
      case TensorIndexType::Slice: {
        const Slice& slice = index.slice();
        parts.view = parts.view.slice(dim, slice.start(), slice.stop(), slice.step());
        ++dim;
        break;
      }
      case TensorIndexType::Ellipsis:
        OPLOOM_CHECK_INDEX(!ellipsis_seen, "index(): an index can have one \"...\" only");
        ellipsis_seen = true;
        dim += self.dim() - given;
        break;
      case TensorIndexType::None:
        parts.view = parts.view.unsqueeze(dim);
        ++dim;
        break;
      case TensorIndexType::Boolean: {
        // True takes all, false nothing, of a new dimension.
        parts.view = parts.view.unsqueeze(dim);
        add_tensor(index.boolean() ? at::zeros({1}, kLong) : at::zeros({0}, kLong));
        ++dim;
        break;
      }
      case TensorIndexType::Tensor: {
        const Tensor& tensor = index.tensor();
        OPLOOM_CHECK_INDEX(tensor.defined(), "index(): got an undefined tensor as an index");
        if (is_mask(tensor) && tensor.dim() == 0) {
          parts.view = parts.view.unsqueeze(dim);
          add_tensor(tensor.to(kBool).item<bool>() ? at::zeros({1}, kLong) : at::zeros({0}, kLong));
          ++dim;
          break;
        }
        add_tensor(tensor);
        dim += is_mask(tensor) ? tensor.dim() : 1;
        masked_dims += is_mask(tensor) ? tensor.dim() - 1 : 0;
        break;
      }
    }
  }
  return parts;
}

void assign(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value) {
  const Parts parts = split_index(self, indices);
  // Dimensions of size 1 in front do not matter, as in NumPy.
  Tensor source = value;
  while (source.dim() > 0 && source.sizes()[0] == 1) source = source.select(0, 0);
  if (!parts.has_tensors) {
    parts.view.copy_(source);
    return;
  }
  OPLOOM_CHECK(!source.is_complex() || self.is_complex(),
               "index_put_(): expected real values for a tensor of dtype ", self.scalar_type(),
               ", got ", source.scalar_type(), "; take their real() or abs()");
  source = source.to(self.options().dtype(self.scalar_type()));
  parts.view.index_put_(OptionalTensorList(parts.tensors), source, /*accumulate=*/false);
}

}  // namespace

// Errors name the method of Tensor that these are, and not the operators that they call.
Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices) {
  if (OPLOOM_UNLIKELY(at::detail::recording)) at::detail::record_function("Tensor.index");
  return c10::named("index", [&] {
    const Parts parts = split_index(self, indices);
    if (parts.has_tensors) return at::index(parts.view, OptionalTensorList(parts.tensors));
    // An index that changes nothing still gives a tensor of its own.
    return parts.view.is_same(self) ? at::alias(self) : parts.view;
  });
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value) {
  if (OPLOOM_UNLIKELY(at::detail::recording)) at::detail::record_function("Tensor.index_put_");
  c10::named("index_put_", [&] { assign(self, indices, value); });
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  if (OPLOOM_UNLIKELY(at::detail::recording)) at::detail::record_function("Tensor.index_put_");
  c10::named("index_put_", [&] {
    const Parts parts = split_index(self, indices);
    if (!parts.has_tensors) {
      parts.view.fill_(value);
      return;
    }
    const Tensor number = at::full({}, value, self.options());
    parts.view.index_put_(OptionalTensorList(parts.tensors), number, /*accumulate=*/false);
  });
}

}  // namespace at::inline oploom_v1::indexing
