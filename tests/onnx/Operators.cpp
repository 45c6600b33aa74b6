// What each ONNX operator is in terms of oploom's; https://onnx.ai/onnx/operators says what it
// means.
#include "Operators.h"

#include <generated/ops/abs.h>
#include <generated/ops/addmm.h>
#include <generated/ops/amax.h>
#include <generated/ops/amin.h>
#include <generated/ops/arange.h>
#include <generated/ops/argmax.h>
#include <generated/ops/argmin.h>
#include <generated/ops/cat.h>
#include <generated/ops/ceil.h>
#include <generated/ops/clamp.h>
#include <generated/ops/contiguous.h>
#include <generated/ops/cos.h>
#include <generated/ops/cumsum.h>
#include <generated/ops/diagonal.h>
#include <generated/ops/einsum.h>
#include <generated/ops/erf.h>
#include <generated/ops/exp.h>
#include <generated/ops/flip.h>
#include <generated/ops/floor.h>
#include <generated/ops/fmod.h>
#include <generated/ops/full.h>
#include <generated/ops/gather.h>
#include <generated/ops/index_select.h>
#include <generated/ops/isnan.h>
#include <generated/ops/log.h>
#include <generated/ops/log_softmax.h>
#include <generated/ops/logical_and.h>
#include <generated/ops/logical_or.h>
#include <generated/ops/logical_xor.h>
#include <generated/ops/logsumexp.h>
#include <generated/ops/matmul.h>
#include <generated/ops/maximum.h>
#include <generated/ops/mean.h>
#include <generated/ops/minimum.h>
#include <generated/ops/mm.h>
#include <generated/ops/native_layer_norm.h>
#include <generated/ops/nll_loss_nd.h>
#include <generated/ops/nonzero.h>
#include <generated/ops/norm.h>
#include <generated/ops/ones.h>
#include <generated/ops/permute.h>
#include <generated/ops/pow.h>
#include <generated/ops/prod.h>
#include <generated/ops/reciprocal.h>
#include <generated/ops/relu.h>
#include <generated/ops/repeat.h>
#include <generated/ops/reshape.h>
#include <generated/ops/round.h>
#include <generated/ops/rsub.h>
#include <generated/ops/scalar_tensor.h>
#include <generated/ops/scatter.h>
#include <generated/ops/scatter_add.h>
#include <generated/ops/sigmoid.h>
#include <generated/ops/sign.h>
#include <generated/ops/sin.h>
#include <generated/ops/slice.h>
#include <generated/ops/softmax.h>
#include <generated/ops/split.h>
#include <generated/ops/split_with_sizes.h>
#include <generated/ops/sqrt.h>
#include <generated/ops/squeeze.h>
#include <generated/ops/sum.h>
#include <generated/ops/t.h>
#include <generated/ops/tan.h>
#include <generated/ops/tanh.h>
#include <generated/ops/to.h>
#include <generated/ops/topk.h>
#include <generated/ops/tril.h>
#include <generated/ops/triu.h>
#include <generated/ops/unsqueeze.h>
#include <generated/ops/where.h>
#include <generated/ops/zeros.h>
#include <generated/ops/zeros_like.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace onnx_test {

namespace {

using at::Scalar;
using at::ScalarType;
using at::Tensor;

struct Context {
  const Node& node;
  const Tensors& in;
  int64_t opset;

  bool given(size_t k) const { return k < in.size() && in[k].defined(); }
  // A 1-d tensor of integers that is an input in newer opsets and an attribute in older ones.
  std::optional<std::vector<int64_t>> ints(const std::string& name, size_t input) const {
    if (!given(input)) return node.ints(name);
    return to_ints(in[input]);
  }
  static std::vector<int64_t> to_ints(const Tensor& tensor) {
    Tensor flat = tensor.to(at::kLong).reshape({-1}).contiguous();
    const int64_t* data = flat.const_data_ptr<int64_t>();
    return {data, data + flat.numel()};
  }
};

using Function = std::function<Tensors(const Context&)>;

Function unary(Tensor (*function)(const Tensor&)) {
  return [function](const Context& c) { return Tensors{function(c.in[0])}; };
}

template <class F>
Function binary(F function) {
  return [function](const Context& c) { return Tensors{function(c.in[0], c.in[1])}; };
}

// ---- Arithmetic ----

Tensors divide(const Context& c) {
  const bool integral = at::isIntegralType(c.in[0].scalar_type(), /*includeBool=*/false);
  return {integral ? at::div(c.in[0], c.in[1], "trunc") : at::div(c.in[0], c.in[1])};
}

Tensors modulo(const Context& c) {
  return {c.node.i("fmod", 0) ? at::fmod(c.in[0], c.in[1]) : at::remainder(c.in[0], c.in[1])};
}

Tensors power(const Context& c) { return {at::pow(c.in[0], c.in[1]).to(c.in[0].scalar_type())}; }

Tensors clip(const Context& c) {
  if (c.opset < 11) {
    return {at::clamp(c.in[0], Scalar(c.node.f("min", std::numeric_limits<float>::lowest())),
                      Scalar(c.node.f("max", std::numeric_limits<float>::max())))};
  }
  Tensor result = c.in[0];
  if (c.given(1)) result = at::maximum(result, c.in[1]);
  if (c.given(2)) result = at::minimum(result, c.in[2]);
  return {result};
}

// Max, Min, Sum and Mean take any number of tensors.
Function folded(Tensor (*step)(const Tensor&, const Tensor&)) {
  return [step](const Context& c) {
    Tensor result = c.in[0];
    for (size_t k = 1; k < c.in.size(); ++k) result = step(result, c.in[k]);
    return Tensors{result};
  };
}

Tensor plus(const Tensor& a, const Tensor& b) { return at::add(a, b); }

Tensors mean_of_inputs(const Context& c) {
  return {folded(&plus)(c)[0].div(Scalar(static_cast<double>(c.in.size())))};
}

Tensors infinite(const Context& c) {
  const double inf = std::numeric_limits<double>::infinity();
  Tensor result = at::zeros_like(c.in[0], at::TensorOptions().dtype(at::kBool));
  if (c.node.i("detect_positive", 1)) result = result.logical_or(c.in[0].eq(inf));
  if (c.node.i("detect_negative", 1)) result = result.logical_or(c.in[0].eq(-inf));
  return {result};
}

Tensors leaky_relu(const Context& c) {
  return {at::where(c.in[0].lt(0), c.in[0].mul(Scalar(c.node.f("alpha", 0.01))), c.in[0])};
}

Tensors hard_sigmoid(const Context& c) {
  return {at::clamp(c.in[0].mul(Scalar(c.node.f("alpha", 0.2))).add(Scalar(c.node.f("beta", 0.5))),
                    Scalar(0.0), Scalar(1.0))};
}

// ---- Types and constants ----

Tensors cast(const Context& c) { return {c.in[0].to(scalar_type_of(c.node.i("to", 1)))}; }
Tensors cast_like(const Context& c) { return {c.in[0].to(c.in[1].scalar_type())}; }

Tensors constant(const Context& c) {
  if (c.node.has("value")) return {c.node.attributes.at("value").t};
  if (c.node.has("value_int")) return {at::scalar_tensor(c.node.i("value_int", 0), at::kLong)};
  if (c.node.has("value_float")) return {at::scalar_tensor(c.node.f("value_float", 0), at::kFloat)};
  if (c.node.has("value_ints")) return {at::tensor(*c.node.ints("value_ints"))};
  if (c.node.has("value_floats")) {
    return {at::tensor(c.node.attributes.at("value_floats").floats).to(at::kFloat)};
  }
  throw Unsupported("this kind of constant");
}

Tensors constant_of_shape(const Context& c) {
  Tensor value = c.node.has("value") ? c.node.attributes.at("value").t : at::zeros({1});
  return {at::full(Context::to_ints(c.in[0]), value.item(), value.scalar_type())};
}

Tensors eye_like(const Context& c) {
  const int64_t rows = c.in[0].size(0), columns = c.in[0].size(1), k = c.node.i("k", 0);
  ScalarType dtype =
      c.node.has("dtype") ? scalar_type_of(c.node.i("dtype", 1)) : c.in[0].scalar_type();
  Tensor result = at::zeros({rows, columns}, dtype);
  result.diagonal(k).fill_(1);
  return {result};
}

Tensors range(const Context& c) {
  return {at::arange(c.in[0].item(), c.in[1].item(), c.in[2].item(), c.in[0].scalar_type())};
}

Tensors shape_of(const Context& c) {
  auto sizes = c.in[0].sizes();
  const auto dim = static_cast<int64_t>(sizes.size());
  auto bound = [&](int64_t k) { return std::clamp<int64_t>(k < 0 ? k + dim : k, 0, dim); };
  const int64_t begin = bound(c.node.i("start", 0)), end = bound(c.node.i("end", dim));
  std::vector<int64_t> part(sizes.begin() + begin, sizes.begin() + std::max(begin, end));
  return {at::tensor(part)};
}

// ---- Shapes ----

Tensors reshape(const Context& c) {
  std::vector<int64_t> shape = *c.ints("shape", 1);
  if (!c.node.i("allowzero", 0)) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 0) shape[d] = c.in[0].size(static_cast<int64_t>(d));
    }
  }
  return {c.in[0].reshape(shape)};
}

Tensors flatten(const Context& c) {
  const int64_t dim = c.in[0].dim(), axis = c.node.i("axis", 1);
  int64_t rows = 1;
  for (int64_t d = 0; d < (axis < 0 ? axis + dim : axis); ++d) rows *= c.in[0].size(d);
  return {c.in[0].reshape({rows, rows ? c.in[0].numel() / rows : 0})};
}

Tensors transpose(const Context& c) {
  std::vector<int64_t> order;
  for (int64_t d = c.in[0].dim(); d-- > 0;) order.push_back(d);
  return {c.in[0].permute(c.node.ints("perm").value_or(order))};
}

Tensors squeeze(const Context& c) {
  auto axes = c.ints("axes", 1);
  return {axes ? c.in[0].squeeze(*axes) : c.in[0].squeeze()};
}

Tensors unsqueeze(const Context& c) {
  std::vector<int64_t> axes = *c.ints("axes", 1);
  const int64_t dim = c.in[0].dim() + static_cast<int64_t>(axes.size());
  for (int64_t& axis : axes) axis = axis < 0 ? axis + dim : axis;
  std::sort(axes.begin(), axes.end());
  Tensor result = c.in[0];
  for (int64_t axis : axes) result = result.unsqueeze(axis);
  return {result};
}

Tensors expand(const Context& c) {
  Tensor ones = at::ones(Context::to_ints(c.in[1]), c.in[0].scalar_type());
  return {c.in[0].scalar_type() == at::kBool ? c.in[0].logical_and(ones) : c.in[0].mul(ones)};
}

Tensors tile(const Context& c) { return {c.in[0].repeat(Context::to_ints(c.in[1]))}; }

Tensors concat(const Context& c) { return {at::cat(c.in, c.node.i("axis", 1))}; }

Tensors split(const Context& c) {
  const int64_t axis = c.node.i("axis", 0);
  if (auto sizes = c.ints("split", 1)) return c.in[0].split_with_sizes(*sizes, axis);
  const auto parts = static_cast<int64_t>(c.node.outputs.size());
  return c.in[0].split((c.in[0].size(axis) + parts - 1) / parts, axis);
}

Tensors slice(const Context& c) {
  const auto starts = *c.ints("starts", 1), ends = *c.ints("ends", 2);
  std::vector<int64_t> axes, steps(starts.size(), 1);
  for (size_t k = 0; k < starts.size(); ++k) axes.push_back(static_cast<int64_t>(k));
  axes = c.ints("axes", 3).value_or(axes);
  if (c.given(4)) steps = Context::to_ints(c.in[4]);
  Tensor result = c.in[0];
  for (size_t k = 0; k < starts.size(); ++k) {
    if (steps[k] > 0) {
      result = result.slice(axes[k], starts[k], ends[k], steps[k]);
      continue;
    }
    // Backwards: flipped, position p becomes size - 1 - p.
    const int64_t size = result.size(axes[k]);
    auto flipped = [&](int64_t p) {
      p = std::clamp<int64_t>(p < 0 ? p + size : p, -1, size - 1);
      return size - 1 - p;
    };
    const int64_t end = ends[k] < -size ? size : flipped(ends[k]);
    result = result.flip({axes[k]}).slice(axes[k], flipped(starts[k]), end, -steps[k]);
  }
  return {result};
}

Tensors triangle(const Context& c) {
  const int64_t k = c.given(1) ? c.in[1].item<int64_t>() : 0;
  return {c.node.i("upper", 1) ? at::triu(c.in[0], k) : at::tril(c.in[0], k)};
}

// ---- Indexing ----

// Indices from the end are allowed, and count from -size.
Tensor wrapped(const Tensor& index, int64_t size) {
  Tensor wide = index.to(at::kLong);
  return at::where(wide.lt(0), wide.add(Scalar(size)), wide);
}

Tensors gather(const Context& c) {
  const int64_t dim = c.in[0].dim(), axis = c.node.i("axis", 0), d = axis < 0 ? axis + dim : axis;
  Tensor index = wrapped(c.in[1], c.in[0].size(d));
  std::vector<int64_t> shape;
  for (int64_t k = 0; k < d; ++k) shape.push_back(c.in[0].size(k));
  shape.insert(shape.end(), index.sizes().begin(), index.sizes().end());
  for (int64_t k = d + 1; k < dim; ++k) shape.push_back(c.in[0].size(k));
  return {c.in[0].index_select(d, index.reshape({-1})).reshape(shape)};
}

Tensors gather_elements(const Context& c) {
  const int64_t axis = c.node.i("axis", 0);
  return {c.in[0].gather(axis, wrapped(c.in[1], c.in[0].size(axis)))};
}

Tensors scatter_elements(const Context& c) {
  const int64_t axis = c.node.i("axis", 0);
  const std::string reduction = c.node.s("reduction", "none");
  Tensor index = wrapped(c.in[1], c.in[0].size(axis));
  if (reduction == "none") return {c.in[0].scatter(axis, index, c.in[2])};
  if (reduction == "add") return {c.in[0].scatter_add(axis, index, c.in[2])};
  throw Unsupported("the reduction " + reduction);
}

Tensors nonzero(const Context& c) { return {at::nonzero(c.in[0]).t()}; }

Tensors compress(const Context& c) {
  Tensor where = at::nonzero(c.in[1]).reshape({-1});
  if (!c.node.has("axis")) return {c.in[0].reshape({-1}).index_select(0, where)};
  return {c.in[0].index_select(c.node.i("axis", 0), where)};
}

// ---- Reductions ----

std::vector<int64_t> axes_of(const Context& c) {
  auto axes = c.ints("axes", 1);
  if (axes && !axes->empty()) return *axes;
  std::vector<int64_t> all;
  for (int64_t d = 0; d < c.in[0].dim(); ++d) all.push_back(d);
  return all;
}

template <class F>
Function reduction(F function) {
  return [function](const Context& c) {
    if (c.node.i("noop_with_empty_axes", 0) &&
        c.ints("axes", 1).value_or(std::vector<int64_t>{}).empty()) {
      return Tensors{c.in[0]};
    }
    return Tensors{function(c.in[0], axes_of(c), c.node.i("keepdims", 1) != 0)};
  };
}

using Axes = const std::vector<int64_t>&;
Tensor reduce_sum(const Tensor& x, Axes axes, bool keep) { return at::sum(x, axes, keep); }
Tensor reduce_mean(const Tensor& x, Axes axes, bool keep) { return at::mean(x, axes, keep); }
Tensor reduce_max(const Tensor& x, Axes axes, bool keep) { return at::amax(x, axes, keep); }
Tensor reduce_min(const Tensor& x, Axes axes, bool keep) { return at::amin(x, axes, keep); }
Tensor reduce_l1(const Tensor& x, Axes axes, bool keep) {
  return at::norm(x, Scalar(1), axes, keep);
}
Tensor reduce_l2(const Tensor& x, Axes axes, bool keep) {
  return at::norm(x, Scalar(2), axes, keep);
}
Tensor reduce_log_sum(const Tensor& x, Axes axes, bool keep) {
  return at::sum(x, axes, keep).log();
}
Tensor reduce_log_sum_exp(const Tensor& x, Axes axes, bool keep) {
  return at::logsumexp(x, axes, keep);
}
Tensor reduce_sum_square(const Tensor& x, Axes axes, bool keep) {
  return at::sum(at::mul(x, x), axes, keep);
}
Tensor reduce_prod(const Tensor& x, Axes axes, bool keep) {
  Tensor result = x;
  for (int64_t axis : axes) result = at::prod(result, axis, /*keepdim=*/true);
  return keep ? result : result.squeeze(axes);
}

Function extremum_index(Tensor (*function)(const Tensor&, std::optional<int64_t>, bool)) {
  return [function](const Context& c) {
    const int64_t axis = c.node.i("axis", 0);
    const bool keep = c.node.i("keepdims", 1) != 0;
    if (!c.node.i("select_last_index", 0)) return Tensors{function(c.in[0], axis, keep)};
    Tensor last = function(c.in[0].flip({axis}), axis, keep);
    return Tensors{at::rsub(last, Scalar(c.in[0].size(axis) - 1))};
  };
}

Tensors cumulative_sum(const Context& c) {
  const auto axis = c.in[1].item<int64_t>();
  Tensor x = c.in[0];
  if (c.node.i("reverse", 0)) x = x.flip({axis});
  Tensor sum = at::cumsum(x, axis);
  if (c.node.i("exclusive", 0)) sum = sum.sub(x);
  return {c.node.i("reverse", 0) ? sum.flip({axis}) : sum};
}

Tensors top_k(const Context& c) {
  auto [values, indices] = at::topk(c.in[0], c.in[1].item<int64_t>(), c.node.i("axis", -1),
                                    c.node.i("largest", 1) != 0, true);
  return {values, indices};
}

// ---- Products and networks ----

Tensors gemm(const Context& c) {
  Tensor a = c.node.i("transA", 0) ? c.in[0].t() : c.in[0];
  Tensor b = c.node.i("transB", 0) ? c.in[1].t() : c.in[1];
  const Scalar alpha(c.node.f("alpha", 1)), beta(c.node.f("beta", 1));
  if (!c.given(2)) return {at::mm(a, b).mul(alpha)};
  return {at::addmm(c.in[2], a, b, beta, alpha)};
}

Tensors einsum(const Context& c) { return {at::einsum(c.node.s("equation", ""), c.in)}; }

// Before opset 13, softmax is over all dimensions from the axis on.
Function softmax(Tensor (*function)(const Tensor&, int64_t, std::optional<ScalarType>)) {
  return [function](const Context& c) {
    if (c.opset >= 13) return Tensors{function(c.in[0], c.node.i("axis", -1), std::nullopt)};
    throw Unsupported("softmax before opset 13");
  };
}

int64_t reduction_of(const Context& c) {
  const std::string name = c.node.s("reduction", "mean");
  return name == "none" ? 0 : name == "mean" ? 1 : 2;
}

Tensors nll_loss(const Context& c) {
  return {at::nll_loss_nd(c.in[0], c.in[1].to(at::kLong),
                          c.given(2) ? c.in[2] : std::optional<Tensor>(), reduction_of(c),
                          c.node.i("ignore_index", -100))};
}

Tensors softmax_cross_entropy(const Context& c) {
  Tensor log_probabilities = at::log_softmax(c.in[0], 1);
  Tensor loss = at::nll_loss_nd(log_probabilities, c.in[1].to(at::kLong),
                                c.given(2) ? c.in[2] : std::optional<Tensor>(), reduction_of(c),
                                c.node.i("ignore_index", -100));
  return {loss, log_probabilities};
}

Tensors layer_normalization(const Context& c) {
  const int64_t dim = c.in[0].dim(), axis = c.node.i("axis", -1);
  const int64_t first = axis < 0 ? axis + dim : axis;
  auto shape = c.in[0].sizes().slice(first);
  std::optional<Tensor> bias;
  if (c.given(2)) bias = c.in[2];
  auto [y, mean, rstd] =
      at::native_layer_norm(c.in[0], shape, c.in[1], bias, c.node.f("epsilon", 1e-5));
  return {y, mean, rstd};
}

// ---- The table ----

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table{
      {"Abs", unary(&at::abs)},
      {"Add", binary([](const Tensor& a, const Tensor& b) { return at::add(a, b); })},
      {"And", binary([](const Tensor& a, const Tensor& b) { return at::logical_and(a, b); })},
      {"ArgMax", extremum_index(&at::argmax)},
      {"ArgMin", extremum_index(&at::argmin)},
      {"Cast", &cast},
      {"CastLike", &cast_like},
      {"Ceil", unary(&at::ceil)},
      {"Clip", &clip},
      {"Compress", &compress},
      {"Concat", &concat},
      {"Constant", &constant},
      {"ConstantOfShape", &constant_of_shape},
      {"Cos", unary(&at::cos)},
      {"CumSum", &cumulative_sum},
      {"Div", &divide},
      {"Einsum", &einsum},
      {"Equal", binary([](const Tensor& a, const Tensor& b) { return at::eq(a, b); })},
      {"Erf", unary(&at::erf)},
      {"Exp", unary(&at::exp)},
      {"Expand", &expand},
      {"EyeLike", &eye_like},
      {"Flatten", &flatten},
      {"Floor", unary(&at::floor)},
      {"Gather", &gather},
      {"GatherElements", &gather_elements},
      {"Gemm", &gemm},
      {"Greater", binary([](const Tensor& a, const Tensor& b) { return at::gt(a, b); })},
      {"GreaterOrEqual", binary([](const Tensor& a, const Tensor& b) { return at::ge(a, b); })},
      {"HardSigmoid", &hard_sigmoid},
      {"Identity", [](const Context& c) { return Tensors{c.in[0]}; }},
      {"IsInf", &infinite},
      {"IsNaN", unary(&at::isnan)},
      {"LayerNormalization", &layer_normalization},
      {"LeakyRelu", &leaky_relu},
      {"Less", binary([](const Tensor& a, const Tensor& b) { return at::lt(a, b); })},
      {"LessOrEqual", binary([](const Tensor& a, const Tensor& b) { return at::le(a, b); })},
      {"Log", unary(&at::log)},
      {"LogSoftmax", softmax(&at::log_softmax)},
      {"MatMul", binary([](const Tensor& a, const Tensor& b) { return at::matmul(a, b); })},
      {"Max", folded(&at::maximum)},
      {"Mean", &mean_of_inputs},
      {"Min", folded(&at::minimum)},
      {"Mod", &modulo},
      {"Mul", binary([](const Tensor& a, const Tensor& b) { return at::mul(a, b); })},
      {"Neg", unary(&at::neg)},
      {"NegativeLogLikelihoodLoss", &nll_loss},
      {"NonZero", &nonzero},
      {"Not", unary(&at::logical_not)},
      {"Or", binary([](const Tensor& a, const Tensor& b) { return at::logical_or(a, b); })},
      {"Pow", &power},
      {"Range", &range},
      {"Reciprocal", unary(&at::reciprocal)},
      {"ReduceL1", reduction(&reduce_l1)},
      {"ReduceL2", reduction(&reduce_l2)},
      {"ReduceLogSum", reduction(&reduce_log_sum)},
      {"ReduceLogSumExp", reduction(&reduce_log_sum_exp)},
      {"ReduceMax", reduction(&reduce_max)},
      {"ReduceMean", reduction(&reduce_mean)},
      {"ReduceMin", reduction(&reduce_min)},
      {"ReduceProd", reduction(&reduce_prod)},
      {"ReduceSum", reduction(&reduce_sum)},
      {"ReduceSumSquare", reduction(&reduce_sum_square)},
      {"Relu", unary(&at::relu)},
      {"Reshape", &reshape},
      {"Round", unary(&at::round)},
      {"ScatterElements", &scatter_elements},
      {"Scatter", &scatter_elements},
      {"Shape", &shape_of},
      {"Sigmoid", unary(&at::sigmoid)},
      {"Sign", unary(&at::sign)},
      {"Sin", unary(&at::sin)},
      {"Size",
       [](const Context& c) { return Tensors{at::scalar_tensor(c.in[0].numel(), at::kLong)}; }},
      {"Slice", &slice},
      {"Softmax", softmax(&at::softmax)},
      {"SoftmaxCrossEntropyLoss", &softmax_cross_entropy},
      {"Split", &split},
      {"Sqrt", unary(&at::sqrt)},
      {"Squeeze", &squeeze},
      {"Sub", binary([](const Tensor& a, const Tensor& b) { return at::sub(a, b); })},
      {"Sum", folded(&plus)},
      {"Tan", unary(&at::tan)},
      {"Tanh", unary(&at::tanh)},
      {"Tile", &tile},
      {"TopK", &top_k},
      {"Transpose", &transpose},
      {"Trilu", &triangle},
      {"Unsqueeze", &unsqueeze},
      {"Where", [](const Context& c) { return Tensors{at::where(c.in[0], c.in[1], c.in[2])}; }},
      {"Xor", binary([](const Tensor& a, const Tensor& b) { return at::logical_xor(a, b); })},
  };
  return table;
}

}  // namespace

bool is_known(const std::string& op_type) { return functions().count(op_type) != 0; }

Tensors compute(const Node& node, const Tensors& inputs, int64_t opset) {
  return functions().at(node.op_type)(Context{node, inputs, opset});
}

}  // namespace onnx_test
