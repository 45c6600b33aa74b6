// The kernels that move and convert elements: one for each dtype that is written.
#include <aten/cuda/Convert.h>

namespace at::inline oploom_v1::cuda {

namespace {

// As c10::convert(), which is for the CPU alone.
template <typename To, typename From>
OPLOOM_HOST_DEVICE To element_as(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (c10::is_reduced_floating_point_v<From>) {
    return element_as<To>(to_float(value));
  } else if constexpr (c10::is_reduced_floating_point_v<To>) {
    return store_as<To>(element_as<float>(value));
  } else if constexpr (c10::is_complex_v<From>) {
    if constexpr (c10::is_complex_v<To>) {
      using Part = typename To::value_type;
      return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
    } else if constexpr (std::is_same_v<To, bool>) {
      return value.real() != 0 || value.imag() != 0;
    } else {
      return element_as<To>(value.real());
    }
  } else if constexpr (c10::is_complex_v<To>) {
    return To(element_as<typename To::value_type>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                       sizeof(To) < sizeof(int64_t)) {
    return static_cast<To>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename To>
OPLOOM_HOST_DEVICE To load_from(const char* source, ScalarType from) {
  switch (from) {
#define OPLOOM_CASE(type, name, text) \
  case ScalarType::name:              \
    return element_as<To>(*reinterpret_cast<const type*>(source));
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
    default:
      return To();
  }
}

template <typename To>
struct ConvertBody {
  ScalarType from;
  uint32_t numel;
  uint32_t by_value;
  char* target;
  const char* source;
  Element value;
  OffsetCalculator<2> offsets;

  OPLOOM_HOST_DEVICE void operator()(int64_t thread) const {
    if (thread >= numel) return;
    const auto at = offsets.get(static_cast<uint32_t>(thread));
    const char* in = by_value != 0 ? reinterpret_cast<const char*>(&value) : source + at.of[1];
    *reinterpret_cast<To*>(target + at.of[0]) = load_from<To>(in, from);
  }
};

template <typename To>
void convert_to(const ElementwiseProblem& problem, ScalarType from) {
  for_each_part(problem, [&](const ElementwiseProblem& part) {
    const ConvertBody<To> body{from,
                               static_cast<uint32_t>(part.numel),
                               part.by_value,
                               part.data[0],
                               part.data[1],
                               part.values[1],
                               OffsetCalculator<2>(part)};
    launch(body, part.numel);
  });
}

}  // namespace

void convert_elements(const ElementwiseProblem& problem, ScalarType to, ScalarType from) {
  switch (to) {
#define OPLOOM_CASE(type, name, text) \
  case ScalarType::name:              \
    return convert_to<type>(problem, from);
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
    default:
      OPLOOM_INTERNAL_ASSERT(false, "no conversion to ", to);
  }
}

Element convert_number(const void* number, ScalarType to, ScalarType from) {
  Element element{};
  switch (to) {
#define OPLOOM_CASE(type, name, text)                                           \
  case ScalarType::name: {                                                      \
    const type value = load_from<type>(static_cast<const char*>(number), from); \
    std::memcpy(element.bytes, &value, sizeof value);                           \
    return element;                                                             \
  }
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
    default:
      OPLOOM_INTERNAL_ASSERT(false, "no conversion to ", to);
  }
}

}  // namespace at::inline oploom_v1::cuda
