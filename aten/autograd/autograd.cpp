// backward() and grad(), and the methods of Tensor that belong to automatic differentiation.
#include <aten/autograd/AutogradMeta.h>
#include <aten/autograd/Engine.h>
#include <aten/autograd/Recording.h>
#include <aten/autograd/autograd.h>
#include <generated/ops/ones.h>
#include <generated/ops/to.h>

namespace at::inline oploom_v1 {

namespace autograd {

namespace {

// The gradients to start with: those given, and ones where they may be left out.
variable_list initial_gradients(TensorList outputs, TensorList grad_outputs) {
  OPLOOM_CHECK(grad_outputs.empty() || grad_outputs.size() == outputs.size(),
               "backward(): expected one gradient for each of the ", outputs.size(),
               " outputs, got ", grad_outputs.size());
  variable_list result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    if (grad_outputs.empty() || !grad_outputs[i].defined()) {
      if (!output.requires_grad()) {
        result.emplace_back();
        continue;
      }
      OPLOOM_CHECK(
          output.numel() == 1 && !output.is_complex(),
          "backward(): the gradient may be left out only for an output with one element, of "
          "real dtype; output ",
          i, " is ", output.scalar_type(), " ", output.sizes(),
          ", so pass a gradient of that shape");
      result.push_back(at::ones(output.sizes(), output.options()));
      continue;
    }
    const Tensor& given = grad_outputs[i];
    OPLOOM_CHECK(given.sizes().equals(output.sizes()), "backward(): expected a gradient of shape ",
                 output.sizes(), " for output ", i, ", got ", given.sizes());
    // A backend may leave the index of its only device open.
    const bool same_device = given.device().type() == output.device().type() &&
                             (given.device().index() == output.device().index() ||
                              !given.device().has_index() || !output.device().has_index());
    OPLOOM_CHECK(same_device, "backward(): expected a gradient on device ", output.device(),
                 " for output ", i, ", got one on ", given.device());
    OPLOOM_CHECK(given.is_complex() == output.is_complex(),
                 "backward(): expected a gradient of dtype ", output.scalar_type(), " for output ",
                 i, ", got ", given.scalar_type());
    result.push_back(given.scalar_type() == output.scalar_type() ? given
                                                                 : given.to(output.scalar_type()));
  }
  return result;
}

edge_list roots_of(TensorList outputs) {
  edge_list result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    OPLOOM_CHECK(outputs[i].defined(), "element ", i, " of the outputs is undefined");
    Edge edge = gradient_edge(outputs[i]);
    OPLOOM_CHECK(edge.is_valid(), "element ", i,
                 " of the outputs has no graph: it neither requires grad nor was computed from a "
                 "tensor that does");
    result.push_back(std::move(edge));
  }
  return result;
}

}  // namespace

void backward(TensorList outputs, TensorList grad_outputs, std::optional<bool> retain_graph,
              bool create_graph, TensorList inputs) {
  edge_list roots = roots_of(outputs);
  edge_list targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    OPLOOM_CHECK(inputs[i].requires_grad(), "backward(): input ", i, " does not require grad");
    retain_grad(inputs[i]);  // does nothing for leaves
    targets.push_back(gradient_edge(inputs[i]));
  }
  BackwardOptions options;
  options.create_graph = create_graph;
  options.keep_graph = retain_graph.value_or(create_graph);
  run_backward(roots, initial_gradients(outputs, grad_outputs), targets, options);
}

std::vector<Tensor> grad(TensorList outputs, TensorList inputs, TensorList grad_outputs,
                         std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  OPLOOM_CHECK(!inputs.empty(), "grad(): expected at least one input, got none");
  edge_list roots = roots_of(outputs);
  edge_list targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    OPLOOM_CHECK(inputs[i].requires_grad(), "grad(): input ", i, " does not require grad");
    targets.push_back(gradient_edge(inputs[i]));
  }
  BackwardOptions options;
  options.create_graph = create_graph;
  options.keep_graph = retain_graph.value_or(create_graph);
  options.accumulate_grad = false;
  variable_list found =
      run_backward(roots, initial_gradients(outputs, grad_outputs), targets, options);
  std::vector<Tensor> result;
  result.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    OPLOOM_CHECK(found[i].defined() || allow_unused, "grad(): input ", i,
                 " is not part of the outputs' graph; with allow_unused=true its gradient is left "
                 "undefined");
    result.push_back(std::move(found[i]));
  }
  return result;
}

void throw_out_requires_grad(const char* name) {
  OPLOOM_ERROR(name,
               "(): an argument requires grad, and results written to out= are not recorded; "
               "leave out= away, or call it without gradients (no_grad, NoGradGuard)");
}

void throw_out_tangent(const char* name) {
  OPLOOM_ERROR(name,
               "(): an argument has a tangent, and results written to out= have none; leave out= "
               "away, or pass detach() of the argument");
}

void throw_underived(const char* name, const char* argument) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(false, name, "(): the derivative with respect to '", argument,
                               "' is not implemented; pass detach() of it where none is needed");
}

}  // namespace autograd

// ---- Methods of Tensor ----

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  OPLOOM_CHECK(!inputs.has_value() || !inputs->empty(),
               "backward(): expected at least one tensor in inputs, got none");
  autograd::backward(TensorList(*this), TensorList(gradient), retain_graph, create_graph,
                     inputs.value_or(TensorList()));
}

const Tensor& Tensor::grad() const {
  static const Tensor undefined;
  const auto* meta = autograd::get_autograd_meta(*this);
  return meta == nullptr ? undefined : meta->grad_;
}

Tensor& Tensor::mutable_grad() const { return autograd::materialize_autograd_meta(*this)->grad_; }

void Tensor::set_grad(const Tensor& grad) const {
  if (grad.defined()) {
    OPLOOM_CHECK(!is_same(grad), "grad: a tensor cannot be its own gradient");
    OPLOOM_CHECK(grad.sizes().equals(sizes()), "grad: expected a gradient of shape ", sizes(),
                 ", got ", grad.sizes());
    OPLOOM_CHECK(grad.scalar_type() == scalar_type(), "grad: expected a gradient of dtype ",
                 scalar_type(), ", got ", grad.scalar_type());
    OPLOOM_CHECK(grad.device() == device(), "grad: expected a gradient on device ", device(),
                 ", got ", grad.device());
  }
  mutable_grad() = grad;
}

c10::intrusive_ptr<autograd::Node> Tensor::grad_fn() const { return autograd::grad_fn(*this); }

uint32_t Tensor::output_nr() const {
  const auto* meta = autograd::get_autograd_meta(*this);
  return meta == nullptr ? 0 : meta->output_nr_;
}

bool Tensor::is_leaf() const { return autograd::is_leaf(*this); }

const Tensor& Tensor::requires_grad_(bool requires_grad) const {
  OPLOOM_CHECK(defined(), "requires_grad_(): expected a defined tensor");
  if (!autograd::is_leaf(*this)) {
    OPLOOM_CHECK(
        requires_grad,
        "requires_grad_(): a tensor that was computed from others that require grad cannot "
        "stop requiring it; use detach() for one without a history");
    return *this;
  }
  if (requires_grad || autograd::get_autograd_meta(*this) != nullptr) {
    autograd::materialize_autograd_meta(*this)->set_requires_grad(requires_grad,
                                                                  unsafeGetTensorImpl());
  }
  return *this;
}

void Tensor::retain_grad() const { autograd::retain_grad(*this); }

bool Tensor::retains_grad() const {
  const auto* meta = autograd::get_autograd_meta(*this);
  return meta != nullptr && meta->retains_grad_;
}

unsigned Tensor::register_hook(c10::shared_function<Tensor(const Tensor&)> hook) const {
  return autograd::register_hook(*this, std::move(hook));
}

void Tensor::remove_hook(unsigned position) const {
  OPLOOM_CHECK(autograd::remove_hook(*this, position), "remove_hook(): the tensor has no hook ",
               position,
               "; expected a number that register_hook() of this tensor returned, and once only");
}

bool Tensor::is_view() const { return autograd::get_view_meta(*this) != nullptr; }

Tensor Tensor::_base() const {
  const autograd::ViewMeta* meta = autograd::get_view_meta(*this);
  OPLOOM_CHECK(meta != nullptr, "_base(): the tensor is not a view");
  return meta->base_;
}

const Tensor& Tensor::detach_() const {
  OPLOOM_CHECK(!is_view() || !requires_grad(),
               "detach_(): a view cannot be detached in place; use detach()");
  if (auto* meta = autograd::get_autograd_meta(*this)) {
    meta->set_requires_grad(false, unsafeGetTensorImpl());
    autograd::Node::bury(std::exchange(meta->grad_fn_, nullptr));
    meta->output_nr_ = 0;
    meta->retains_grad_ = false;
    meta->tangent_ = nullptr;
  }
  return *this;
}

Tensor Tensor::tensor_data() const { return autograd::without_history(*this); }

}  // namespace at::inline oploom_v1
