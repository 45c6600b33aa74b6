// DispatchStub: which instruction set the kernels are taken from.
#include <aten/stubs/DispatchStub.h>

#include <cctype>
#include <cstdlib>

namespace at::inline oploom_v1 {
namespace {

bool cpu_has_avx2() {
#if defined(__x86_64__) && defined(OPLOOM_KERNELS_FOR_AVX2)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool cpu_has_avx512() {
#if defined(__x86_64__) && defined(OPLOOM_KERNELS_FOR_AVX512)
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

CPUCapability best_capability() {
  if (cpu_has_avx512()) return CPUCapability::AVX512;
  if (cpu_has_avx2()) return CPUCapability::AVX2;
  return CPUCapability::DEFAULT;
}

const char* name_of(CPUCapability capability) {
  switch (capability) {
    case CPUCapability::AVX512:
      return "AVX512";
    case CPUCapability::AVX2:
      return "AVX2";
    default:
      return "DEFAULT";
  }
}

// A name that is unknown, or that this processor cannot run, is refused: silently running something
// else would make a test of that instruction set pass without testing it.
CPUCapability choose_capability() {
  const CPUCapability best = best_capability();
  const char* variable = std::getenv("OPLOOM_CPU_CAPABILITY");
  if (variable == nullptr || *variable == '\0') return best;
  std::string wanted = variable;
  for (char& c : wanted) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (CPUCapability capability :
       {CPUCapability::DEFAULT, CPUCapability::AVX2, CPUCapability::AVX512}) {
    if (wanted != name_of(capability)) continue;
    OPLOOM_CHECK(capability <= best, "OPLOOM_CPU_CAPABILITY=", variable,
                 ": this processor, or this build, supports no more than ", name_of(best));
    return capability;
  }
  OPLOOM_CHECK_VALUE(false, "OPLOOM_CPU_CAPABILITY: expected 'default', 'avx2' or 'avx512', got '",
                     variable, "'");
  return best;
}

}  // namespace

CPUCapability get_cpu_capability_level() {
  static const CPUCapability capability = choose_capability();
  return capability;
}

std::string get_cpu_capability() { return name_of(get_cpu_capability_level()); }

namespace native::detail {
void stub_has_no_kernel(DeviceType device) {
  OPLOOM_CHECK_NOT_IMPLEMENTED(false, "no kernel is registered for device type '", device, "'");
  __builtin_unreachable();
}
}  // namespace native::detail

}  // namespace at::inline oploom_v1
