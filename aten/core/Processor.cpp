// Asks the processor which one it is.
#include <aten/core/Processor.h>

#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace at::inline oploom_v1::detail {
namespace {

bool is_zen5() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0 || ebx != signature_AMD_ebx ||
      ecx != signature_AMD_ecx || edx != signature_AMD_edx) {
    return false;
  }
  // The family is the sum of two fields (AMD64 Architecture Programmer's Manual, volume 3, E.3.2).
  constexpr unsigned kZen5 = 0x1A;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 &&
         (eax >> 8 & 0xF) + (eax >> 20 & 0xFF) == kZen5;
#else
  return false;
#endif
}

bool& near_fetches() {
  static bool near = is_zen5();
  return near;
}

}  // namespace

bool fetches_near() { return near_fetches(); }

NearFetchesGuard::NearFetchesGuard(bool near) : before_(std::exchange(near_fetches(), near)) {}
NearFetchesGuard::~NearFetchesGuard() { near_fetches() = before_; }

}  // namespace at::inline oploom_v1::detail
