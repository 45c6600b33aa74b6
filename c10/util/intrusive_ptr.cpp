// The less frequent paths of reference counting; see Note [Reference count].
#include <c10/util/intrusive_ptr.h>

namespace c10::inline oploom_v1 {

intrusive_ptr_target::~intrusive_ptr_target() = default;
void intrusive_ptr_target::release_resources() {}

void intrusive_ptr_target::release_shared() const noexcept {
  const std::uint64_t before = fetch_add(counts_, -detail::kStrongOne, std::memory_order_acq_rel);
  if (detail::strong_count(before) != 1) return;
  // The last owner. The strong owners' common weak count keeps the memory until release_weak().
  if (before != detail::kUniqueOwner) {
    const_cast<intrusive_ptr_target*>(this)->release_resources();
  }
  release_weak();
}

void intrusive_ptr_target::release_weak() const noexcept {
  const std::uint64_t before = fetch_add(counts_, -detail::kWeakOne, std::memory_order_acq_rel);
  if (detail::weak_count(before) == 1) delete this;
}

bool intrusive_ptr_target::try_retain() const noexcept {
  std::uint64_t counts = counts_.load(std::memory_order_relaxed);
  do {
    if (detail::strong_count(counts) == 0) return false;
  } while (
      !compare_exchange(counts_, counts, counts + detail::kStrongOne, std::memory_order_acq_rel));
  return true;
}

}  // namespace c10::inline oploom_v1
