// Formats tensors: chooses one width and notation for all elements shown, then nests the rows.
#include <aten/core/Formatting.h>
#include <c10/core/DefaultDtype.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>

namespace at::inline oploom_v1 {
namespace {

std::mutex options_mutex;
PrintOptions global_options;

// An element as text needs it.
struct Number {
  double real = 0;
  double imag = 0;
  int64_t integer = 0;  // of integral types, which doubles cannot all hold
};

Number read(const char* data, ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
    case ScalarType::Byte:
      return {0, 0, *reinterpret_cast<const uint8_t*>(data)};
    case ScalarType::Char:
      return {0, 0, *reinterpret_cast<const int8_t*>(data)};
    case ScalarType::Short:
      return {0, 0, *reinterpret_cast<const int16_t*>(data)};
    case ScalarType::Int:
      return {0, 0, *reinterpret_cast<const int32_t*>(data)};
    case ScalarType::Long:
      return {0, 0, *reinterpret_cast<const int64_t*>(data)};
    case ScalarType::Half:
      return {static_cast<float>(*reinterpret_cast<const c10::Half*>(data)), 0, 0};
    case ScalarType::BFloat16:
      return {static_cast<float>(*reinterpret_cast<const c10::BFloat16*>(data)), 0, 0};
    case ScalarType::Float:
      return {*reinterpret_cast<const float*>(data), 0, 0};
    case ScalarType::Double:
      return {*reinterpret_cast<const double*>(data), 0, 0};
    case ScalarType::ComplexFloat: {
      const auto& value = *reinterpret_cast<const c10::complex<float>*>(data);
      return {value.real(), value.imag(), 0};
    }
    case ScalarType::ComplexDouble: {
      const auto& value = *reinterpret_cast<const c10::complex<double>*>(data);
      return {value.real(), value.imag(), 0};
    }
    default:
      return {};
  }
}

std::string print(const char* format, int precision, double value) {
  char buffer[512];
  const int length = std::snprintf(buffer, sizeof(buffer), format, precision, value);
  // The fixed notation of large numbers can be longer than that.
  if (length < static_cast<int>(sizeof(buffer))) return buffer;
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), format, precision, value);
  text.pop_back();
  return text;
}

std::string fixed(double value, int precision) {
  if (std::isnan(value)) return "nan";
  return print("%.*f", precision, value);
}

std::string scientific(double value, int precision) {
  if (std::isnan(value)) return "nan";
  return print("%.*e", precision, value);
}

std::string right_justified(std::string text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// One notation and width for real numbers: fixed, whole (`3.`) or scientific.
class RealFormat {
 public:
  RealFormat(const std::vector<double>& values, const PrintOptions& options)
      : precision_(options.precision) {
    double largest = 0;
    double smallest = std::numeric_limits<double>::infinity();
    bool any = false;
    for (const double value : values) {
      if (value == 0 || !std::isfinite(value)) continue;
      any = true;
      whole_ = whole_ && value == std::ceil(value);
      largest = std::max(largest, std::abs(value));
      smallest = std::min(smallest, std::abs(value));
    }
    if (any) {
      scientific_ =
          largest / smallest > 1000.0 || largest > 1.0e8 || (!whole_ && smallest < 1.0e-4);
    }
    if (options.sci_mode.has_value()) scientific_ = *options.sci_mode;
    for (const double value : values) {
      if (any && (value == 0 || !std::isfinite(value))) continue;
      width_ = std::max(width_, text(value).size());
    }
    // Zeros and the like fit any width; infinities and NaN may not.
    for (const double value : values) width_ = std::max(width_, text(value).size());
  }

  size_t width() const { return width_; }
  std::string padded(double value) const { return right_justified(text(value), width_); }

 private:
  std::string text(double value) const {
    if (scientific_) return scientific(value, precision_);
    if (!whole_) return fixed(value, precision_);
    std::string result = fixed(value, 0);
    if (std::isfinite(value)) result += '.';
    return result;
  }

  int precision_;
  bool whole_ = true;
  bool scientific_ = false;
  size_t width_ = 1;
};

class Formatter {
 public:
  Formatter(const TensorBase& tensor, const PrintOptions& options)
      : tensor_(tensor),
        options_(options),
        type_(tensor.scalar_type()),
        abridged_(tensor.numel() > options.threshold) {
    std::vector<double> reals;
    std::vector<double> imaginaries;
    const bool integral = c10::isIntegralType(type_, true);
    visit(data(), 0, [&](const Number& number) {
      if (integral) {
        width_ = std::max(width_, integer(number).size());
      } else {
        reals.push_back(number.real);
        if (c10::isComplexType(type_)) imaginaries.push_back(number.imag);
      }
    });
    if (integral) return;
    real_.emplace(reals, options);
    width_ = real_->width();
    if (!c10::isComplexType(type_)) return;
    imaginary_.emplace(imaginaries, options);
    width_ += imaginary_->width() + 1;
  }

  std::string text(size_t indent) const { return rows(data(), 0, indent); }

 private:
  const char* data() const { return static_cast<const char*>(tensor_.const_data_ptr()); }
  int64_t size(int64_t dim) const { return tensor_.sizes()[static_cast<size_t>(dim)]; }
  int64_t step(int64_t dim) const {
    return tensor_.strides()[static_cast<size_t>(dim)] * static_cast<int64_t>(tensor_.itemsize());
  }
  bool abridged(int64_t dim) const { return abridged_ && size(dim) > 2 * options_.edgeitems; }

  // Calls `each` with the positions of a dimension that are shown, `gap` for those left out.
  template <class Each, class Gap>
  void positions(int64_t dim, Each&& each, Gap&& gap) const {
    const int64_t count = size(dim);
    const bool cut = abridged(dim);
    for (int64_t i = 0; i < count; ++i) {
      if (cut && i == options_.edgeitems) {
        gap();
        i = count - options_.edgeitems;
        if (i == count) break;
      }
      each(i);
    }
  }

  template <class Visitor>
  void visit(const char* at, int64_t dim, Visitor&& visitor) const {
    if (dim == tensor_.dim()) {
      visitor(read(at, type_));
      return;
    }
    positions(
        dim, [&](int64_t i) { visit(at + i * step(dim), dim + 1, visitor); }, [] {});
  }

  std::string integer(const Number& number) const {
    if (type_ == ScalarType::Bool) return number.integer != 0 ? "True" : "False";
    return std::to_string(number.integer);
  }

  std::string element(const char* at) const {
    const Number number = read(at, type_);
    if (!real_.has_value()) return right_justified(integer(number), width_);
    if (!imaginary_.has_value()) return real_->padded(number.real);
    std::string imaginary = imaginary_->padded(number.imag);
    imaginary.erase(0, imaginary.find_first_not_of(' '));
    const bool negative = imaginary.starts_with('-');
    return real_->padded(number.real) + (negative ? "" : "+") + imaginary + "j";
  }

  std::string rows(const char* at, int64_t dim, size_t indent) const {
    const int64_t left = tensor_.dim() - dim;
    if (left == 0) return element(at);
    if (left == 1) return row(at, dim, indent);
    std::string separator =
        "," + std::string(static_cast<size_t>(left - 1), '\n') + std::string(indent + 1, ' ');
    std::string result;
    const auto append = [&](const std::string& part) {
      if (!result.empty()) result += separator;
      result += part;
    };
    positions(
        dim, [&](int64_t i) { append(rows(at + i * step(dim), dim + 1, indent + 1)); },
        [&] { append("..."); });
    return "[" + result + "]";
  }

  // The innermost dimension. Every line leaves room for what may stand behind its last element: a
  // comma or a bracket for this dimension, a bracket for each one around it, and one character
  // more, the parenthesis or the comma before the facts. So do NumPy's.
  std::string row(const char* at, int64_t dim, size_t indent) const {
    const int64_t room = options_.linewidth - dim - 2;
    std::string result = "[";
    size_t column = indent + 1;
    bool first = true;
    const auto append = [&](const std::string& part) {
      if (!first) {
        column += 2;
        if (static_cast<int64_t>(column + part.size()) > room) {
          column = indent + 1;
          result += ",\n" + std::string(column, ' ');
        } else {
          result += ", ";
        }
      }
      result += part;
      column += part.size();
      first = false;
    };
    positions(
        dim, [&](int64_t i) { append(element(at + i * step(dim))); }, [&] { append("..."); });
    return result + "]";
  }

  const TensorBase& tensor_;
  const PrintOptions& options_;
  const ScalarType type_;
  const bool abridged_;
  size_t width_ = 1;
  std::optional<RealFormat> real_;
  std::optional<RealFormat> imaginary_;
};

std::string sizes_text(const TensorBase& tensor) {
  std::string text = "(";
  for (size_t i = 0; i < tensor.sizes().size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(tensor.sizes()[i]);
  }
  return text + (tensor.dim() == 1 ? ",)" : ")");
}

// Whether the dtype can be told from the elements as they are printed.
bool dtype_is_plain(ScalarType type) {
  return type == c10::get_default_dtype() || type == ScalarType::Long || type == ScalarType::Bool ||
         type == c10::get_default_complex_dtype();
}

}  // namespace

PrintOptions get_print_options() {
  const std::lock_guard lock(options_mutex);
  return global_options;
}

void set_print_options(const PrintOptions& options) {
  const std::lock_guard lock(options_mutex);
  global_options = options;
}

std::string format_tensor(const TensorBase& tensor, std::string_view prefix,
                          const std::vector<std::string>& suffixes, const TensorBase& here) {
  if (!tensor.defined()) return std::string(prefix) + "(undefined)";
  const PrintOptions options = get_print_options();
  const size_t indent = prefix.size() + 1;
  std::vector<std::string> facts;
  std::string text;
  if (!tensor.is_cpu()) facts.push_back("device='" + tensor.device().str() + "'");
  const TensorBase& shown = tensor.is_cpu() ? tensor : here;
  const bool has_text = shown.defined() && tensor.numel() > 0;
  if (has_text) {
    text = Formatter(shown, options).text(indent);
  } else {
    text = shown.defined() ? "[]" : "...";
    if (!shown.defined() || tensor.dim() != 1) facts.push_back("size=" + sizes_text(tensor));
  }
  const bool plain = has_text ? dtype_is_plain(tensor.scalar_type())
                              : tensor.scalar_type() == c10::get_default_dtype();
  if (!plain) facts.push_back(std::string("dtype=oploom.") + c10::toString(tensor.scalar_type()));
  facts.insert(facts.end(), suffixes.begin(), suffixes.end());

  std::string result = std::string(prefix) + "(" + text;
  size_t last_line = result.size() - (result.rfind('\n') + 1);
  for (const std::string& fact : facts) {
    if (last_line + fact.size() + 3 > static_cast<size_t>(options.linewidth)) {
      result += ",\n" + std::string(indent, ' ') + fact;
      last_line = indent + fact.size();
    } else {
      result += ", " + fact;
      last_line += fact.size() + 2;
    }
  }
  return result + ")";
}

std::ostream& operator<<(std::ostream& out, const TensorBase& tensor) {
  return out << format_tensor(tensor);
}

}  // namespace at::inline oploom_v1
