// gradcheck: the Jacobian by backward passes against the Jacobian by finite differences.
#include <aten/autograd/GradCheck.h>
#include <aten/autograd/autograd.h>
#include <c10/core/GradMode.h>
#include <generated/ops/clone.h>
#include <generated/ops/detach.h>
#include <generated/ops/randn_like.h>
#include <generated/ops/zeros_like.h>

#include <cmath>

namespace at::inline oploom_v1::autograd {

namespace {

// A complex number counts as two real ones, which makes every function one of real numbers: the
// gradient of a complex input holds the derivatives by its real and by its imaginary part, and the
// incoming gradients 1 and i ask for the real and the imaginary part of an output.
int64_t real_count(const Tensor& tensor) { return tensor.numel() * (tensor.is_complex() ? 2 : 1); }

// The elements of a contiguous tensor as real numbers.
double* reals(const Tensor& tensor) { return static_cast<double*>(tensor.mutable_data_ptr()); }

Tensor contiguous_copy(const Tensor& tensor) {
  c10::NoGradGuard no_grad;
  return tensor.detach().clone(MemoryFormat::Contiguous);
}

bool is_double(const Tensor& tensor) {
  return tensor.scalar_type() == c10::kDouble || tensor.scalar_type() == c10::kComplexDouble;
}

std::vector<Tensor> differentiable(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> result;
  for (const Tensor& output : outputs) {
    if (output.defined() && output.requires_grad()) result.push_back(output);
  }
  return result;
}

// By finite differences: column[k] of output o is the derivative of its k-th real number by element
// `element` of input `which`.
std::vector<std::vector<double>> numerical_column(const GradCheckFunction& function,
                                                  const std::vector<Tensor>& inputs, size_t which,
                                                  int64_t element, double eps,
                                                  const std::vector<size_t>& outputs) {
  std::vector<std::vector<double>> columns(outputs.size());
  for (const double step : {eps, -eps}) {
    // The values are changed in a copy that is otherwise a leaf like the input.
    std::vector<Tensor> moved = inputs;
    moved[which] = contiguous_copy(inputs[which]);
    reals(moved[which])[element] += step;
    moved[which].requires_grad_();
    const std::vector<Tensor> results = function(moved);
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Tensor values = contiguous_copy(results[outputs[o]]);
      columns[o].resize(static_cast<size_t>(real_count(values)));
      for (size_t k = 0; k < columns[o].size(); ++k) {
        columns[o][k] += reals(values)[k] / (step > 0 ? 2 * eps : -2 * eps);
      }
    }
  }
  return columns;
}

bool close(double a, double b, const GradCheckOptions& options) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::abs(a - b) <= options.atol + options.rtol * std::abs(b);
}

}  // namespace

bool gradcheck(const GradCheckFunction& function, const std::vector<Tensor>& inputs,
               const GradCheckOptions& options) {
  std::vector<Tensor> checked;
  std::vector<size_t> places;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !inputs[i].requires_grad()) continue;
    OPLOOM_CHECK(is_double(inputs[i]), "gradcheck(): expected float64 or complex128, but input ", i,
                 " has dtype ", inputs[i].scalar_type());
    checked.push_back(inputs[i]);
    places.push_back(i);
  }
  OPLOOM_CHECK(!checked.empty(), "gradcheck(): expected an input that requires grad, got none");

  c10::AutoGradMode recording(true);
  const std::vector<Tensor> all = function(inputs);
  std::vector<size_t> outputs;
  for (size_t o = 0; o < all.size(); ++o) {
    if (all[o].defined() && all[o].requires_grad()) outputs.push_back(o);
  }

  // analytical[o][k][i]: the gradient of every input, for the k-th real number of output o.
  std::vector<std::vector<std::vector<Tensor>>> analytical(outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Tensor& output = all[outputs[o]];
    OPLOOM_CHECK(is_double(output), "gradcheck(): expected float64 or complex128, but output ",
                 outputs[o], " has dtype ", output.scalar_type());
    for (int64_t k = 0; k < real_count(output); ++k) {
      const Tensor unit = contiguous_copy(at::zeros_like(output.detach()));
      reals(unit)[k] = 1;
      std::vector<Tensor> grads = grad({output}, checked, {unit}, /*retain_graph=*/true,
                                       /*create_graph=*/false, /*allow_unused=*/true);
      for (Tensor& gradient : grads) {
        if (gradient.defined()) gradient = contiguous_copy(gradient);
      }
      analytical[o].push_back(std::move(grads));
    }
  }

  for (size_t i = 0; i < checked.size(); ++i) {
    for (int64_t element = 0; element < real_count(checked[i]); ++element) {
      const auto numerical =
          numerical_column(function, inputs, places[i], element, options.eps, outputs);
      for (size_t o = 0; o < outputs.size(); ++o) {
        for (size_t k = 0; k < numerical[o].size(); ++k) {
          const Tensor& gradient = analytical[o][k][i];
          const double found = gradient.defined() ? reals(gradient)[element] : 0.0;
          OPLOOM_CHECK(close(found, numerical[o][k], options),
                       "gradcheck(): the derivative of element ", k, " of output ", outputs[o],
                       " by element ", element, " of input ", places[i], " is ", found,
                       ", but finite differences give ", numerical[o][k]);
        }
      }
    }
  }
  return true;
}

bool gradgradcheck(const GradCheckFunction& function, const std::vector<Tensor>& inputs,
                   const GradCheckOptions& options) {
  c10::AutoGradMode recording(true);
  const std::vector<Tensor> outputs = differentiable(function(inputs));
  std::vector<Tensor> all = inputs;
  for (const Tensor& output : outputs) {
    all.push_back(at::randn_like(output.detach()).requires_grad_());
  }
  const size_t count = inputs.size();
  const GradCheckFunction gradient = [&](const std::vector<Tensor>& arguments) {
    const std::vector<Tensor> values(arguments.begin(), arguments.begin() + count);
    const std::vector<Tensor> grad_outputs(arguments.begin() + count, arguments.end());
    std::vector<Tensor> wanted;
    for (const Tensor& value : values) {
      if (value.defined() && value.requires_grad()) wanted.push_back(value);
    }
    return grad(differentiable(function(values)), wanted, grad_outputs, /*retain_graph=*/true,
                /*create_graph=*/true, /*allow_unused=*/true);
  };
  return gradcheck(gradient, all, options);
}

}  // namespace at::inline oploom_v1::autograd
