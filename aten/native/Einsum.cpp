// einsum: sums of products over named dimensions.
#include <aten/native/ShapeUtils.h>
#include <generated/native/einsum.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/bmm.h>
#include <generated/ops/diagonal.h>
#include <generated/ops/movedim.h>
#include <generated/ops/mul.h>
#include <generated/ops/permute.h>
#include <generated/ops/reshape.h>
#include <generated/ops/sum.h>
#include <generated/ops/unsqueeze.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace at::inline oploom_v1::native {

namespace {

// Note [Labels of einsum]
// A label is a letter, A to Z then a to z as 0 to 51; kEllipsis stands for "...". While operands
// are contracted all have the same dimensions: one for each output label in the output's order,
// then one for each label that is summed. A label that an operand does not have is a dimension of
// size 1.
constexpr int kLabels = 52;
constexpr int kEllipsis = kLabels;
using Labels = std::vector<int>;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

char letter_of(int label) { return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26); }

Labels parse_labels(std::string_view text, std::string_view equation) {
  Labels labels;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      OPLOOM_CHECK(
          text.substr(i, 3) == "..." && !has_ellipsis,
          "einsum(): expected '.' only as part of one ellipsis '...' in each operand, got '",
          equation, "'");
      labels.push_back(kEllipsis);
      has_ellipsis = true;
      i += 2;
      continue;
    }
    OPLOOM_CHECK(is_letter(c), "einsum(): expected letters, ',', '...' and '->', got '",
                 std::string(1, c), "' in '", equation, "'");
    labels.push_back(c <= 'Z' ? c - 'A' : c - 'a' + 26);
  }
  return labels;
}

struct Equation {
  std::vector<Labels> operands;
  Labels output;
};

Equation parse(std::string_view equation) {
  Equation result;
  const size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  for (;;) {
    const size_t comma = left.find(',');
    result.operands.push_back(parse_labels(left.substr(0, comma), equation));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  std::array<int, kLabels + 1> uses{};
  for (const Labels& labels : result.operands) {
    for (int label : labels) ++uses[label];
  }
  if (arrow != std::string_view::npos) {
    result.output = parse_labels(equation.substr(arrow + 2), equation);
    std::array<int, kLabels + 1> outputs{};
    for (int label : result.output) {
      if (label == kEllipsis) continue;
      OPLOOM_CHECK(uses[label] > 0, "einsum(): output label '", letter_of(label),
                   "' is not in any operand of '", equation, "'");
      OPLOOM_CHECK(++outputs[label] == 1, "einsum(): output label '", letter_of(label),
                   "' appears more than once in '", equation, "'");
    }
    return result;
  }
  if (uses[kEllipsis] > 0) result.output.push_back(kEllipsis);
  for (int label = 0; label < kLabels; ++label) {
    if (uses[label] == 1) result.output.push_back(label);
  }
  return result;
}

// sum() would make int64 of narrower integers, which products of matrices do not.
Tensor summed_in_its_dtype(const Tensor& self, IntArrayRef dims, bool keepdim) {
  if (self.scalar_type() == kBool) return self.sum(dims, keepdim);
  return self.sum(dims, keepdim, self.scalar_type());
}

// A set of dimensions.
using Dims = uint64_t;

Dims first_dims(int64_t n) { return (Dims{1} << n) - 1; }

// Those whose size is not 1.
Dims dims_of(const Tensor& operand) {
  Dims dims = 0;
  for (int64_t d = 0; d < operand.dim(); ++d) dims |= Dims{operand.sizes()[d] != 1} << d;
  return dims;
}

// The product of two operands, summed over some dimensions, which stay with size 1.
Tensor multiply_and_sum(Tensor left, Tensor right, Dims summed) {
  const int64_t ndim = left.dim();
  std::vector<int64_t> both, only_left, only_right, contracted;
  for (int64_t d = 0; d < ndim; ++d) {
    const bool in_left = left.sizes()[d] != 1;
    const bool in_right = right.sizes()[d] != 1;
    if ((summed >> d) & 1) {
      if (in_left && in_right) {
        contracted.push_back(d);
        continue;
      }
      if (in_left) left = summed_in_its_dtype(left, IntArrayRef(d), /*keepdim=*/true);
      if (in_right) right = summed_in_its_dtype(right, IntArrayRef(d), /*keepdim=*/true);
    } else if (in_left && in_right) {
      both.push_back(d);
      continue;
    } else if (in_left) {
      only_left.push_back(d);
      continue;
    }
    only_right.push_back(d);
  }
  if (contracted.empty()) return left * right;

  const auto size_of = [](const Tensor& t, const std::vector<int64_t>& dims) {
    int64_t size = 1;
    for (int64_t d : dims) size *= t.sizes()[d];
    return size;
  };
  const auto joined = [](std::initializer_list<const std::vector<int64_t>*> lists) {
    DimVector dims;
    for (const auto* list : lists) dims.append(list->begin(), list->end());
    return dims;
  };
  const int64_t b = size_of(left, both), n = size_of(left, only_left),
                k = size_of(left, contracted), m = size_of(right, only_right);
  const Tensor a =
      left.permute(joined({&both, &only_left, &contracted, &only_right})).reshape({b, n, k});
  const Tensor c =
      right.permute(joined({&both, &contracted, &only_right, &only_left})).reshape({b, k, m});
  // The result's dimensions are first in the order of the product, then put back into place.
  const DimVector order = joined({&both, &only_left, &only_right, &contracted});
  DimVector shape, back(static_cast<size_t>(ndim));
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t d = order[i];
    const bool gone = i >= order.size() - contracted.size();
    shape.push_back(gone ? 1 : (left.sizes()[d] != 1 ? left : right).sizes()[d]);
    back[d] = static_cast<int64_t>(i);
  }
  return at::bmm(a, c).reshape(shape).permute(back);
}

// Finds the order in which operands are contracted with the fewest multiplications.
class ContractionOrder {
 public:
  // Positions of two operands for each contraction, whose result goes behind the others.
  using Path = std::vector<int64_t>;

  // Dimensions from `output_dims` on are summed as soon as no other operand has them.
  ContractionOrder(const std::vector<int64_t>& sizes, int64_t output_dims)
      : sizes_(sizes), kept_(first_dims(output_dims)) {}

  Path operator()(const std::vector<Tensor>& operands) const {
    std::vector<Dims> dims;
    for (const Tensor& operand : operands) dims.push_back(dims_of(operand));
    return cheapest(dims).path;
  }

 private:
  struct Order {
    double cost = std::numeric_limits<double>::infinity();
    Path path;
  };
  // All orders of so many operands are tried, 180 of five; of more, the cheapest pair goes first.
  static constexpr size_t kTried = 5;

  double cost(Dims dims) const {
    double product = 1;
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if ((dims >> d) & 1) product *= static_cast<double>(sizes_[d]);
    }
    return product;
  }

  // Among equals, what goes from left to right.
  Order cheapest(const std::vector<Dims>& operands) const {
    Order best;
    if (operands.size() < 2) return {0, {}};
    const auto for_each_pair = [&](const auto& f) {
      for (size_t i = 0; i < operands.size(); ++i) {
        for (size_t j = i + 1; j < operands.size(); ++j) f(i, j);
      }
    };
    const auto contract = [&](size_t i, size_t j) {
      std::vector<Dims> rest;
      Dims needed = kept_;
      for (size_t k = 0; k < operands.size(); ++k) {
        if (k == i || k == j) continue;
        rest.push_back(operands[k]);
        needed |= operands[k];
      }
      const Dims both = operands[i] | operands[j];
      rest.push_back(both & needed);
      Order order = cheapest(rest);
      order.cost += cost(both);
      if (!(order.cost < best.cost)) return;
      const std::array<int64_t, 2> pair = {static_cast<int64_t>(i), static_cast<int64_t>(j)};
      order.path.insert(order.path.begin(), pair.begin(), pair.end());
      best = std::move(order);
    };
    if (operands.size() <= kTried) {
      for_each_pair(contract);
      return best;
    }
    size_t first = 0, second = 1;
    for_each_pair([&](size_t i, size_t j) {
      if (cost(operands[i] | operands[j]) < cost(operands[first] | operands[second])) {
        first = i;
        second = j;
      }
    });
    contract(first, second);
    return best;
  }

  const std::vector<int64_t>& sizes_;
  const Dims kept_;
};

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors, OptionalIntArrayRef path) {
  const Equation parsed = parse(equation);
  OPLOOM_CHECK(parsed.operands.size() == tensors.size() && !tensors.empty(), "einsum(): '",
               equation, "' names ", parsed.operands.size(), " operands, got ", tensors.size());

  // How many dimensions the ellipsis stands for, at most.
  int64_t ellipsis = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Labels& labels = parsed.operands[i];
    bool has_ellipsis = false;
    for (int label : labels) has_ellipsis |= label == kEllipsis;
    const int64_t named = static_cast<int64_t>(labels.size()) - (has_ellipsis ? 1 : 0);
    OPLOOM_CHECK(has_ellipsis ? tensors[i].dim() >= named : tensors[i].dim() == named,
                 "einsum(): expected operand ", i, " to have ", has_ellipsis ? "at least " : "",
                 named, " dimensions, as '", equation, "' says, got an operand of shape ",
                 tensors[i].sizes());
    if (has_ellipsis) ellipsis = std::max(ellipsis, tensors[i].dim() - named);
  }

  // Positions of the labels in the common order of dimensions.
  std::array<int64_t, kLabels + 1> position;
  position.fill(-1);
  int64_t ndim = 0;
  for (int label : parsed.output) {
    position[label] = ndim;
    ndim += label == kEllipsis ? ellipsis : 1;
  }
  const int64_t output_dims = ndim;
  for (const Labels& labels : parsed.operands) {
    for (int label : labels) {
      if (position[label] >= 0) continue;
      position[label] = ndim;
      ndim += label == kEllipsis ? ellipsis : 1;
    }
  }
  OPLOOM_CHECK(ndim < 64, "einsum(): expected at most 63 different dimensions, got ", ndim);

  // Brings every operand into the common order.
  std::vector<int64_t> sizes(static_cast<size_t>(ndim), 1);
  std::vector<Tensor> operands;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor operand = tensors[i];
    std::vector<int64_t> dim_at(static_cast<size_t>(ndim), -1);
    int64_t d = 0;
    const auto place = [&](int64_t where, int label) {
      const int64_t size = operand.sizes()[d];
      OPLOOM_CHECK(sizes[where] == size || sizes[where] == 1 || size == 1,
                   "einsum(): expected label '",
                   label == kEllipsis ? std::string("...") : std::string(1, letter_of(label)),
                   "' to stand for one size in '", equation, "', got size ", sizes[where],
                   " before and ", size, " in operand ", i);
      if (size != 1) sizes[where] = size;
      dim_at[where] = d++;
    };
    const int64_t here = operand.dim() - static_cast<int64_t>(parsed.operands[i].size()) + 1;
    for (int label : parsed.operands[i]) {
      if (label == kEllipsis) {
        for (int64_t e = 0; e < here; ++e) place(position[label] + ellipsis - here + e, label);
        continue;
      }
      const int64_t where = position[label];
      if (dim_at[where] < 0) {
        place(where, label);
        continue;
      }
      // The same label again: the diagonal of the two dimensions.
      const int64_t first = dim_at[where];
      OPLOOM_CHECK(operand.sizes()[first] == operand.sizes()[d], "einsum(): expected label '",
                   letter_of(label), "' to stand for one size in '", equation, "', got ",
                   operand.sizes()[first], " and ", operand.sizes()[d], " in operand ", i);
      operand = operand.diagonal(0, first, d).movedim(-1, first);
    }
    std::vector<int64_t> order;
    for (int64_t where = 0; where < ndim; ++where) {
      if (dim_at[where] < 0) {
        operand = operand.unsqueeze(-1);
        dim_at[where] = operand.dim() - 1;
      }
      order.push_back(dim_at[where]);
    }
    operands.push_back(operand.permute(order));
  }

  const auto check_path = [&](bool ok) {
    OPLOOM_CHECK(ok, "einsum(): expected path to list a pair of operand positions for each of the ",
                 tensors.size() - 1, " contractions, got ", *path);
  };
  ContractionOrder::Path found;
  if (path.has_value()) {
    check_path(path->size() == 2 * (tensors.size() - 1));
  } else {
    found = operands.size() > 2 ? ContractionOrder(sizes, output_dims)(operands)
                                : ContractionOrder::Path{0, 1};
  }
  const IntArrayRef pairs = path.has_value() ? *path : IntArrayRef(found);

  for (size_t step = 0; operands.size() > 1; ++step) {
    const int64_t a = pairs[2 * step], b = pairs[2 * step + 1];
    const auto count = static_cast<int64_t>(operands.size());
    check_path(a >= 0 && b >= 0 && a < count && b < count && a != b);
    const auto i = static_cast<size_t>(std::min(a, b));
    const auto j = static_cast<size_t>(std::max(a, b));
    const Tensor left = operands[i];
    const Tensor right = operands[j];
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    // A dimension that no operand has any more and that the output has not is summed now.
    Dims needed = first_dims(output_dims);
    for (const Tensor& other : operands) needed |= dims_of(other);
    operands.push_back(multiply_and_sum(left, right, first_dims(ndim) & ~needed));
  }

  Tensor result = operands[0];
  if (output_dims < ndim) {
    DimVector rest;
    bool gone = result.scalar_type() != kBool;
    for (int64_t d = output_dims; d < ndim; ++d) {
      rest.push_back(d);
      gone &= result.sizes()[d] == 1;
    }
    // What products have summed up already is not gone through once more.
    result = gone ? result.reshape(result.sizes().slice(0, output_dims))
                  : summed_in_its_dtype(result, rest, /*keepdim=*/false);
  }
  return result;
}

}  // namespace at::inline oploom_v1::native

#include <generated/native/signatures/LinearAlgebra.h>
