// DispatchKeySet: a set of dispatch keys in one word.
#pragma once

#include <c10/core/DispatchKey.h>
#include <c10/util/Export.h>
#include <c10/util/Macros.h>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>

namespace c10::inline oploom_v1 {

class DispatchKeySet final {
 public:
  enum Full { FULL };
  enum FullAfter { FULL_AFTER };
  enum Raw { RAW };

  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(Full) : repr_((1u << kNumDispatchKeys) - 2u) {}
  // All keys of lower priority than `key`.
  constexpr DispatchKeySet(FullAfter, DispatchKey key)
      : repr_(((1u << static_cast<int>(key)) - 1u) & ~1u) {}
  constexpr DispatchKeySet(Raw, std::uint32_t bits) : repr_(bits) {}
  // Undefined is no member of any set.
  constexpr explicit DispatchKeySet(DispatchKey key) : repr_((1u << static_cast<int>(key)) & ~1u) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey key : keys) repr_ |= DispatchKeySet(key).repr_;
  }

  constexpr bool has(DispatchKey key) const { return (repr_ & DispatchKeySet(key).repr_) != 0; }
  constexpr bool has_any(DispatchKeySet other) const { return (repr_ & other.repr_) != 0; }
  constexpr bool has_all(DispatchKeySet other) const {
    return (repr_ & other.repr_) == other.repr_;
  }
  constexpr bool isSupersetOf(DispatchKeySet other) const { return has_all(other); }
  constexpr bool empty() const { return repr_ == 0; }
  constexpr std::uint32_t raw_repr() const { return repr_; }

  constexpr DispatchKeySet operator|(DispatchKeySet other) const {
    return {RAW, repr_ | other.repr_};
  }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const {
    return {RAW, repr_ & other.repr_};
  }
  constexpr DispatchKeySet operator-(DispatchKeySet other) const {
    return {RAW, repr_ & ~other.repr_};
  }
  constexpr DispatchKeySet operator^(DispatchKeySet other) const {
    return {RAW, repr_ ^ other.repr_};
  }
  constexpr DispatchKeySet& operator|=(DispatchKeySet other) { return *this = *this | other; }
  constexpr DispatchKeySet& operator&=(DispatchKeySet other) { return *this = *this & other; }
  constexpr bool operator==(const DispatchKeySet&) const = default;
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKey key) const {
    return *this | DispatchKeySet(key);
  }
  [[nodiscard]] constexpr DispatchKeySet remove(DispatchKey key) const {
    return *this - DispatchKeySet(key);
  }

  // The table slot: the highest key, or 0 (Undefined) for the empty set. The extra bit, which is
  // never a member, saves the branch.
  constexpr int slot() const { return 31 - std::countl_zero(repr_ | 1u); }
  constexpr DispatchKey highestPriorityTypeId() const { return static_cast<DispatchKey>(slot()); }

 private:
  std::uint32_t repr_ = 0;
};

OPLOOM_API std::string toString(DispatchKeySet keys);
OPLOOM_API std::ostream& operator<<(std::ostream& out, DispatchKeySet keys);

// What remains for a kernel below autograd.
inline constexpr DispatchKeySet after_autograd_keyset(DispatchKeySet::FULL_AFTER,
                                                      DispatchKey::Autograd);
inline constexpr DispatchKeySet autograd_dispatch_keyset(DispatchKey::Autograd);
inline constexpr DispatchKeySet backend_dispatch_keyset = after_autograd_keyset;

}  // namespace c10::inline oploom_v1
