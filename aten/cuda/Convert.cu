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
OPLOOM_HOST_DEVICE To load_from(ScalarType from, const char* data, uint32_t offset,
                                const Element& value) {
  switch (from) {
#define OPLOOM_CASE(type, name, text) \
  case ScalarType::name:              \
    return element_as<To>(load_element<type>(data, offset, value));
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
    default:
      return To();
  }
}

template <typename To, int N, typename From>
OPLOOM_HOST_DEVICE Pack<To, N> converted(const Pack<From, N>& source) {
  Pack<To, N> pack;
  for (int i = 0; i < N; ++i) pack.values[i] = element_as<To>(source.values[i]);
  return pack;
}
template <typename To, int N>
OPLOOM_HOST_DEVICE Pack<To, N> load_pack_from(ScalarType from, const char* data, uint32_t offset,
                                              const Element& value, bool same, int64_t count) {
  switch (from) {
#define OPLOOM_CASE(type, name, text) \
  case ScalarType::name:              \
    return converted<To>(load_pack<type, N>(data, offset, value, same, count));
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
    default:
      return {};
  }
}

struct ConvertOperands {
  ConvertOperands(const ElementwiseProblem& part, const ElementwiseProblem& numbered,
                  ScalarType dtype)
      : from(dtype),
        numel(static_cast<uint32_t>(part.numel)),
        target(part.data[0]),
        source(part.data[1]),
        value(part.values[1]),
        offsets(numbered) {}

  ScalarType from;
  uint32_t numel;
  char* target;
  const char* source;
  Element value;
  OffsetCalculator<2> offsets;
};

template <typename To>
struct PackedConvert {
  static constexpr int kWidth = kPackWidth<To>;
  ConvertOperands operands;

  OPLOOM_HOST_DEVICE void operator()(int64_t thread) const {
    const int64_t count = operands.numel - thread * kWidth;
    if (count <= 0) return;
    const auto at = operands.offsets.get(static_cast<uint32_t>(thread));
    const bool same = operands.offsets.is_same_along_rows(1);
    const auto pack = load_pack_from<To, kWidth>(operands.from, operands.source, at.of[1],
                                                 operands.value, same, count);
    store_pack(operands.target + at.of[0], pack, count);
  }
};

template <typename To>
struct StridedConvert {
  static constexpr int kEach = kElementsEach<To>;
  ConvertOperands operands;

  OPLOOM_HOST_DEVICE void operator()(int64_t thread) const {
    To values[kEach];
    char* out[kEach];
    for (int j = 0; j < kEach; ++j) {
      const int64_t element = element_of<kEach>(thread, j);
      if (element >= operands.numel) break;
      const auto at = operands.offsets.get(static_cast<uint32_t>(element));
      values[j] = load_from<To>(operands.from, operands.source, at.of[1], operands.value);
      out[j] = operands.target + at.of[0];
    }
    for (int j = 0; j < kEach; ++j) {
      if (element_of<kEach>(thread, j) >= operands.numel) break;
      *reinterpret_cast<To*>(out[j]) = values[j];
    }
  }
};

template <typename To>
void convert_to(const ElementwiseProblem& problem, ScalarType from) {
  using Packed = PackedConvert<To>;
  using Strided = StridedConvert<To>;
  const size_t bytes[] = {sizeof(To), c10::elementSize(from)};
  using Problem = ElementwiseProblem;
  launch_parts(
      problem, bytes, Packed::kWidth, Strided::kEach,
      [&](const Problem& part, const Problem& packs) {
        return Packed{ConvertOperands(part, packs, from)};
      },
      [&](const Problem& part) { return Strided{ConvertOperands(part, part, from)}; });
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
#define OPLOOM_CASE(type, name, text)                                                         \
  case ScalarType::name: {                                                                    \
    const type value = load_from<type>(from, static_cast<const char*>(number), 0, Element()); \
    std::memcpy(element.bytes, &value, sizeof value);                                         \
    return element;                                                                           \
  }
    OPLOOM_FORALL_SCALAR_TYPES(OPLOOM_CASE)
#undef OPLOOM_CASE
    default:
      OPLOOM_INTERNAL_ASSERT(false, "no conversion to ", to);
  }
}

}  // namespace at::inline oploom_v1::cuda
