// IValue: names of the kinds, and conversions that can fail.
#include <aten/core/ivalue.h>
#include <c10/util/Exception.h>

namespace at::inline oploom_v1 {

namespace {

// In the order of IValue::Value.
constexpr const char* kTypeNames[] = {"None",    "Tensor", "int",      "float",     "bool",
                                      "Scalar",  "str",    "Device",   "Generator", "int[]",
                                      "float[]", "bool[]", "Tensor[]", "Tensor?[]", "Scalar[]"};
static_assert(std::size(kTypeNames) == std::variant_size_v<IValue::Value>);

}  // namespace

IValue::IValue() = default;
IValue::IValue(const IValue& other) = default;
IValue::IValue(IValue&& other) noexcept = default;
IValue& IValue::operator=(const IValue& other) = default;
IValue& IValue::operator=(IValue&& other) noexcept = default;
IValue::~IValue() = default;

const char* IValue::type_name() const { return kTypeNames[value_.index()]; }

Scalar IValue::to_scalar() const {
  if (is<int64_t>()) return Scalar(to_int());
  if (is<double>()) return Scalar(to_double());
  if (is<bool>()) return Scalar(to_bool());
  return get<Scalar>();
}

void IValue::wrong_type(size_t wanted) const {
  OPLOOM_CHECK_TYPE(false, "IValue: expected ", kTypeNames[wanted], ", got ", type_name());
  OPLOOM_INTERNAL_ASSERT(false, "unreachable");
}

}  // namespace at::inline oploom_v1
