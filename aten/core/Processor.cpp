// Asks the processor which one it is.
#include <aten/core/Processor.h>

#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace at::inline oploom_v1::detail {
namespace {

// By the family and the model (AMD64 Architecture Programmer's Manual, volume 3, E.3.2; Intel 64
// and IA-32 Architectures Software Developer's Manual, volume 2, CPUID).
Fetches fetches_of_processor() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return {};
  const bool amd = ebx == signature_AMD_ebx && ecx == signature_AMD_ecx && edx == signature_AMD_edx;
  const bool intel =
      ebx == signature_INTEL_ebx && ecx == signature_INTEL_ecx && edx == signature_INTEL_edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return {};
  const unsigned family = (eax >> 8 & 0xF) + (eax >> 20 & 0xFF);
  const unsigned model = (eax >> 4 & 0xF) + (eax >> 12 & 0xF0);
  constexpr unsigned kZen3 = 0x19, kZen5 = 0x1A;
  constexpr unsigned kMilan = 1;  // the server; there are a Zen 4 and others of that family
  // The servers of the generations of Skylake, Cascade Lake and Cooper Lake.
  constexpr unsigned kCore = 6, kCascadeLake = 0x55;
  if (amd && family == kZen3 && model == kMilan) return {.near = true, .spread = true};
  if (amd && family == kZen5) return {.near = true, .near_long = true};
  if (intel && family == kCore && model == kCascadeLake) {
    return {.near = true, .near_long = true, .rows_near = true, .written = true};
  }
#endif
  return {};
}

Fetches& fetches() {
  static Fetches fetches = fetches_of_processor();
  return fetches;
}

}  // namespace

bool fetches_near(bool waits) { return waits ? fetches().near : fetches().near_long; }
bool fetches_rows_near() { return fetches().rows_near; }
bool fetches_written() { return fetches().written; }
bool fetches_spread() { return fetches().spread; }

NearFetchesGuard::NearFetchesGuard(bool near, bool rows_near, bool written, bool spread)
    : kept_(std::exchange(fetches(), {near, near, rows_near, written, spread})) {}
NearFetchesGuard::~NearFetchesGuard() { fetches() = kept_; }

}  // namespace at::inline oploom_v1::detail
