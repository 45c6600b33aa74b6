// Generators on the CPU.
#include <c10/core/Generator.h>

#include <c10/util/Exception.h>

#include <mutex>
#include <random>

namespace c10::inline oploom_v1 {

GeneratorImpl::GeneratorImpl(Device device, std::uint64_t seed)
    : device_(device), state_{seed, 0} {}
GeneratorImpl::~GeneratorImpl() = default;

void GeneratorImpl::set_current_seed(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  state_ = {seed, 0};
}

std::uint64_t GeneratorImpl::current_seed() const {
  const std::lock_guard lock(mutex_);
  return state_.seed;
}

std::uint64_t GeneratorImpl::seed() {
  std::random_device source;
  const std::uint64_t value = (static_cast<std::uint64_t>(source()) << 32) | source();
  set_current_seed(value);
  return value;
}

PhiloxState GeneratorImpl::next_philox(std::uint64_t increment) {
  const std::lock_guard lock(mutex_);
  const PhiloxState begin = state_;
  state_.offset += increment;
  return begin;
}

PhiloxState GeneratorImpl::get_state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void GeneratorImpl::set_state(PhiloxState state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
}

intrusive_ptr<GeneratorImpl> GeneratorImpl::clone() const {
  auto copy = make_intrusive<GeneratorImpl>(device_);
  copy->set_state(get_state());
  return copy;
}

GeneratorImpl& Generator::checked() const {
  OPLOOM_CHECK(impl_.defined(), "the generator is undefined");
  return *impl_;
}

Generator createCPUGenerator(std::uint64_t seed) {
  return make_generator<GeneratorImpl>(Device(DeviceType::CPU), seed);
}

const Generator& default_generator() {
  // Never destroyed, as tensors may still be made while the program ends.
  static const auto* generator = new Generator(createCPUGenerator());
  return *generator;
}

const Generator& generator_or_default(const std::optional<Generator>& generator) {
  return generator.has_value() && generator->defined() ? *generator : default_generator();
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

}  // namespace c10::inline oploom_v1
