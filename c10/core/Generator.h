// Generator: a handle to the state from which random operators draw.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/Philox.h>
#include <c10/util/Export.h>
#include <c10/util/LightMutex.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace c10::inline oploom_v1 {

// The seed of a generator that nobody seeded.
inline constexpr std::uint64_t default_rng_seed_val = 67280421310721;

// The base; backends outside the tree may derive their own. Calls lock mutex_ themselves.
class OPLOOM_API GeneratorImpl : public intrusive_ptr_target {
 public:
  explicit GeneratorImpl(Device device, std::uint64_t seed = default_rng_seed_val);
  ~GeneratorImpl() override;

  // Starts the sequence that belongs to the seed at its beginning.
  virtual void set_current_seed(std::uint64_t seed);
  virtual std::uint64_t current_seed() const;
  // Seeds from the system's source of randomness and returns the seed.
  virtual std::uint64_t seed();
  // Reserves `increment` offsets and returns where they begin.
  virtual PhiloxState next_philox(std::uint64_t increment);
  virtual PhiloxState get_state() const;
  virtual void set_state(PhiloxState state);
  virtual intrusive_ptr<GeneratorImpl> clone() const;

  Device device() const noexcept { return device_; }

 protected:
  mutable LightMutex mutex_;
  Device device_;
  PhiloxState state_;
};

class OPLOOM_API Generator {
 public:
  // Undefined: operators take the default generator.
  Generator() = default;
  explicit Generator(intrusive_ptr<GeneratorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const noexcept { return impl_.defined(); }
  GeneratorImpl* unsafeGetGeneratorImpl() const noexcept { return impl_.get(); }
  const intrusive_ptr<GeneratorImpl>& getIntrusivePtr() const noexcept { return impl_; }

  void set_current_seed(std::uint64_t seed) const { checked().set_current_seed(seed); }
  void manual_seed(std::uint64_t seed) const { checked().set_current_seed(seed); }
  std::uint64_t current_seed() const { return checked().current_seed(); }
  std::uint64_t initial_seed() const { return checked().current_seed(); }
  std::uint64_t seed() const { return checked().seed(); }
  PhiloxState next_philox(std::uint64_t increment = 1) const {
    return checked().next_philox(increment);
  }
  PhiloxState get_state() const { return checked().get_state(); }
  void set_state(PhiloxState state) const { checked().set_state(state); }
  Generator clone() const { return Generator(checked().clone()); }
  Device device() const { return checked().device(); }
  bool operator==(const Generator& other) const { return impl_ == other.impl_; }

 private:
  GeneratorImpl& checked() const;

  intrusive_ptr<GeneratorImpl> impl_;
};

template <typename Impl = GeneratorImpl, typename... Args>
Generator make_generator(Args&&... args) {
  return Generator(make_intrusive<Impl>(std::forward<Args>(args)...));
}

// A new CPU generator.
OPLOOM_API Generator createCPUGenerator(std::uint64_t seed = default_rng_seed_val);
// The generator of the CPU that operators use when none is given.
OPLOOM_API const Generator& default_generator();
// The generator given, or the default one if there is none.
OPLOOM_API const Generator& generator_or_default(const std::optional<Generator>& generator);
// Seeds the default generator.
OPLOOM_API void manual_seed(std::uint64_t seed);

}  // namespace c10::inline oploom_v1
