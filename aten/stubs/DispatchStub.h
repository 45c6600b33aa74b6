// DispatchStub: a kernel's name, through which native code calls the copy compiled for this
// machine.
#pragma once

#include <aten/core/Namespace.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#include <c10/util/Export.h>

#include <atomic>
#include <string>
#include <utility>

// Note [DispatchStub]
// Every file of aten/cpu is compiled once for each instruction set (CPU_CAPABILITY). A header of
// aten/stubs declares the kernels of one family:
//
//   using unary_fn = void (*)(TensorIteratorBase&);
//   OPLOOM_DECLARE_DISPATCH(unary_fn, exp_stub);
//
// the kernel file defines it for the instruction set that it is being compiled for:
//
//   OPLOOM_REGISTER_DISPATCH(exp_stub, &exp_kernel);
//
// (one that only moves single elements, for which vector instructions do nothing, is compiled once,
// in aten/native, and registered by OPLOOM_REGISTER_DISPATCH_FOR_ALL), and native code calls it:
//
//   exp_stub(device_type(), *this);
//
// Registration is a constant initialiser that the linker resolves: a forgotten kernel is a link
// error, and nothing runs when the library is loaded. The first call looks at the processor (and at
// the environment variable OPLOOM_CPU_CAPABILITY) and remembers the choice in the stub.
// A kernel for another device is registered at run time with stub.set_kernel(device, fn), from any
// library: the place where it is kept is exported, so that all libraries of the process see one.

namespace at::inline oploom_v1 {

// Instruction sets, the least capable first.
enum class CPUCapability : int { DEFAULT = 0, AVX2 = 1, AVX512 = 2 };

// The instruction set that kernels are taken from: the best one that the library has kernels for
// and this processor supports, or the one that OPLOOM_CPU_CAPABILITY=default|avx2|avx512 names.
OPLOOM_API CPUCapability get_cpu_capability_level();
// The same as a word: "DEFAULT", "AVX2" or "AVX512".
OPLOOM_API std::string get_cpu_capability();

}  // namespace at::inline oploom_v1

namespace at::inline oploom_v1::native {

// Devices beside the CPU that can have kernels in a stub.
inline constexpr int kNumStubDevices = c10::kNumDeviceTypes;

namespace detail {
[[noreturn]] OPLOOM_API void stub_has_no_kernel(DeviceType device);
}

// `Kernels` is the struct that OPLOOM_DECLARE_DISPATCH makes: the addresses of the kernels, one for
// each instruction set, and those of other devices.
template <typename FnPtr, typename Kernels>
class DispatchStub {
 public:
  template <typename... Args>
  OPLOOM_ALWAYS_INLINE auto operator()(DeviceType device, Args&&... args) const {
    return get(device)(std::forward<Args>(args)...);
  }

  OPLOOM_ALWAYS_INLINE FnPtr get(DeviceType device) const {
    if (OPLOOM_LIKELY(device == DeviceType::CPU)) {
      FnPtr fn = chosen_.load(std::memory_order_relaxed);
      return OPLOOM_LIKELY(fn != nullptr) ? fn : choose();
    }
    FnPtr fn = Kernels::others[static_cast<int>(device)].load(std::memory_order_acquire);
    if (OPLOOM_UNLIKELY(fn == nullptr)) detail::stub_has_no_kernel(device);
    return fn;
  }

  // Registers the kernel of another device.
  void set_kernel(DeviceType device, FnPtr fn) const {
    Kernels::others[static_cast<int>(device)].store(fn, std::memory_order_release);
  }

  // The kernel of one instruction set, for tests that compare them; null if the processor lacks it.
  static FnPtr for_capability(CPUCapability capability) {
    switch (capability) {
#ifdef OPLOOM_KERNELS_FOR_AVX512
      case CPUCapability::AVX512:
        return Kernels::AVX512;
#endif
#ifdef OPLOOM_KERNELS_FOR_AVX2
      case CPUCapability::AVX2:
        return Kernels::AVX2;
#endif
      case CPUCapability::DEFAULT:
        return Kernels::DEFAULT;
      default:
        return nullptr;
    }
  }

 private:
  OPLOOM_NOINLINE static FnPtr choose() {
    FnPtr fn = for_capability(get_cpu_capability_level());
    chosen_.store(fn, std::memory_order_relaxed);
    return fn;
  }

  static inline constinit std::atomic<FnPtr> chosen_{nullptr};
};

}  // namespace at::inline oploom_v1::native

#ifdef OPLOOM_KERNELS_FOR_AVX2
#define OPLOOM_DECLARE_AVX2_ static fn_type AVX2;
#define OPLOOM_REGISTER_AVX2_(name, kernel) name##_tag::fn_type name##_tag::AVX2 = kernel;
#else
#define OPLOOM_DECLARE_AVX2_
#define OPLOOM_REGISTER_AVX2_(name, kernel)
#endif
#ifdef OPLOOM_KERNELS_FOR_AVX512
#define OPLOOM_DECLARE_AVX512_ static fn_type AVX512;
#define OPLOOM_REGISTER_AVX512_(name, kernel) name##_tag::fn_type name##_tag::AVX512 = kernel;
#else
#define OPLOOM_DECLARE_AVX512_
#define OPLOOM_REGISTER_AVX512_(name, kernel)
#endif

// Declares stub `name`, whose kernels have the type `fn`, in the namespace of the operator's native
// code: at::native here, mathx::native in a package.
#define OPLOOM_DECLARE_DISPATCH(fn, name)                   \
  struct name##_tag {                                       \
    using fn_type = fn;                                     \
    static fn_type DEFAULT;                                 \
    OPLOOM_DECLARE_AVX2_                                    \
    OPLOOM_DECLARE_AVX512_                                  \
    OPLOOM_API static inline constinit std::atomic<fn_type> \
        others[::at::native::kNumStubDevices]{};            \
  };                                                        \
  inline constexpr ::at::native::DispatchStub<fn, name##_tag> name {}

// Defines the kernel of `name` for the instruction set being compiled. To be used where `name` was
// declared, outside anonymous and inline namespaces.
#define OPLOOM_REGISTER_DISPATCH(name, kernel) \
  name##_tag::fn_type name##_tag::CPU_CAPABILITY = kernel

// The same for every instruction set.
#define OPLOOM_REGISTER_DISPATCH_FOR_ALL(name, kernel) \
  OPLOOM_REGISTER_AVX512_(name, kernel)                \
  OPLOOM_REGISTER_AVX2_(name, kernel)                  \
  name##_tag::fn_type name##_tag::DEFAULT = kernel
