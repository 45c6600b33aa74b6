// OperatorTable: the kernels of one operator, one for each dispatch key, and the call through it.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/util/Exception.h>

#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace at::inline oploom_v1 {

class IValue;
using Stack = std::vector<IValue>;
class OperatorTableBase;

// A kernel that works for every operator: it finds the arguments on the stack, and leaves the
// results in their place.
using BoxedKernel = void (*)(const OperatorTableBase& op, DispatchKeySet keys, Stack& stack);

// Any kernel's or operator's address; only code that knows the signature can call it.
using ErasedKernel = void (*)();

// Note [Operator tables]
// Each operator has one table, a static object without constructor code: its kernels are known when
// the library is linked, so loading the library runs nothing. A call computes the key set of its
// tensor arguments, takes the slot of the highest key and jumps there.
//
// Every kernel takes the key set as its first parameter, and can pass it on without the keys that
// it has handled: _ops::mul_Tensor::table(keys.remove(DispatchKey::Tracer), self, other).
//
// An empty slot of a backend key is an error, reported with the keys that have kernels. An empty
// slot of a key above the backends (Autograd, Autocast, Tracer) means that the operator has nothing
// to do there: the call goes on with the next key.
//
// Slots can be written while the program runs (see Library.h): a pointer is stored atomically, so
// that other threads call either the old kernel or the new one.
//
// Note [Calls without a history]
// The Autograd kernel of most operators asks whether to record the call and passes it on. Tensors
// without autograd metadata need none of that: where no argument has any, call() goes straight to
// the backend. A kernel that must see every call (it makes a view, counts a change in place, or was
// put there at run time) has no such entry.
//
// Note [The operator people called]
// Many operators are made of others, and kernels are shared. An error on the way out of a call gets
// the operator's name at the front of its message, so that the one that was called first has the
// last word: `embedding(): index 5 is out of bounds ...` is what index_select() had to say.
class OPLOOM_API OperatorTableBase {
 public:
  OperatorTableBase(const OperatorTableBase&) = delete;
  OperatorTableBase& operator=(const OperatorTableBase&) = delete;

  const char* name() const { return name_; }
  const char* overload_name() const { return overload_name_; }
  // The schema as written in the YAML, for instance "relu(Tensor self) -> Tensor".
  const char* schema() const { return schema_; }
  // name.overload, or the name alone.
  std::string qualified_name() const;

  const std::type_info& signature() const { return erased_->signature(); }
  bool has_kernel(DispatchKey key) const { return erased_->get(*this, key) != nullptr; }

  // Stores a kernel, whose address must be of type R (*)(DispatchKeySet, Args...); nullptr empties
  // the slot. Returns what was there.
  ErasedKernel exchange_kernel(DispatchKey key, ErasedKernel kernel) {
    if (history_keys().has(key)) __atomic_store_n(&history_keys_, 0, __ATOMIC_RELAXED);
    return erased_->exchange(*this, key, kernel);
  }
  // The keys whose kernels do nothing for arguments without autograd metadata; see Note [Calls
  // without a history].
  DispatchKeySet history_keys() const {
    return {DispatchKeySet::RAW, __atomic_load_n(&history_keys_, __ATOMIC_RELAXED)};
  }
  // The kernel that hands a call to the boxed fallback of its key.
  ErasedKernel boxed_entry() const { return erased_->boxed_entry; }

  // Calls the operator with its arguments on the stack, and leaves the results there.
  void call_boxed(Stack& stack) const { erased_->from_stack(*this, {}, erased_->call, stack); }
  // The same with the key set given, as a boxed fallback does after removing its own key.
  void redispatch_boxed(DispatchKeySet keys, Stack& stack) const {
    erased_->from_stack(*this, keys, nullptr, stack);
  }

 protected:
  struct Erased {
    const std::type_info& (*signature)();
    ErasedKernel (*get)(const OperatorTableBase&, DispatchKey);
    ErasedKernel (*exchange)(OperatorTableBase&, DispatchKey, ErasedKernel);
    ErasedKernel boxed_entry;
    ErasedKernel call;  // the operator's function
    void (*from_stack)(const OperatorTableBase&, DispatchKeySet, ErasedKernel, Stack&);
  };

  constexpr OperatorTableBase(const char* name, const char* overload_name, const char* schema,
                              const Erased* erased)
      : name_(name), overload_name_(overload_name), schema_(schema), erased_(erased) {}
  ~OperatorTableBase() = default;

  // The kernel of the highest key of `keys` that has one; keys without one that may be passed over
  // are removed from `keys`. Throws NotImplementedError when there is none.
  ErasedKernel resolve(DispatchKeySet& keys) const;

  std::uint32_t history_keys_ = 0;

 private:
  const char* name_;
  const char* overload_name_;
  const char* schema_;
  const Erased* erased_;
};

// Calls the boxed fallback that is registered for the highest key of `keys`.
OPLOOM_API void call_fallback(const OperatorTableBase& op, DispatchKeySet keys, Stack& stack);

// Boxing for an operator, and what of it depends on the signature alone. Boxing.h has the
// definitions, which only the files with tables need.
template <class Op, class Signature>
struct Boxing;
template <class Signature>
struct SignatureBoxing;

// Names the operator that a table belongs to.
template <class Op>
struct KernelsOf {};
template <class Op>
inline constexpr KernelsOf<Op> kernels_of{};

// A kernel that serves every backend.
template <class Kernel>
struct EveryBackend {
  Kernel kernel;
};
template <class Kernel>
constexpr EveryBackend<Kernel> every_backend(Kernel kernel) {
  return {kernel};
}

// Says of an entry that it belongs to history_keys().
enum class Sees : bool { EveryCall, CallsWithHistory };

// How a call hands an argument on. A copy of an optional number, say, would be written word by word
// and then read as a whole, which makes a processor wait.
template <class T>
using HandedOn =
    std::conditional_t<std::is_trivially_copyable_v<T> && !std::is_scalar_v<T>, const T&, T>;

template <class Signature>
class OperatorTable;

template <class R, class... Args>
class OperatorTable<R(Args...)> final : public OperatorTableBase {
 public:
  using Kernel = R (*)(DispatchKeySet, Args...);
  struct Entry {
    DispatchKey key;
    Kernel kernel;
    Sees sees = Sees::EveryCall;
  };

  // OperatorTable<Op::schema> Op::table(kernels_of<Op>, {{key, kernel}, ...});
  template <class Op>
  constexpr OperatorTable(KernelsOf<Op>, std::initializer_list<Entry> entries)
      : OperatorTable(kernels_of<Op>, EveryBackend<Kernel>{nullptr}, entries) {}
  // The same with a kernel for all backends that have no entry of their own.
  template <class Op>
  constexpr OperatorTable(KernelsOf<Op>, EveryBackend<Kernel> backends,
                          std::initializer_list<Entry> entries)
      : OperatorTableBase(Op::name, Op::overload_name, Op::schema_str, &erased_for<Op>) {
    for (size_t key = static_cast<size_t>(DispatchKey::CPU);
         key < static_cast<size_t>(DispatchKey::Autograd); ++key) {
      kernels_[key] = backends.kernel;
    }
    for (const Entry& entry : entries) {
      kernels_[static_cast<size_t>(entry.key)] = entry.kernel;
      if (entry.sees == Sees::CallsWithHistory) {
        history_keys_ |= DispatchKeySet(entry.key).raw_repr();
      }
    }
  }

  OPLOOM_ALWAYS_INLINE R operator()(DispatchKeySet keys, HandedOn<Args>... args) const {
    try {
      Kernel kernel = load(keys.highestPriorityTypeId());
      if (OPLOOM_UNLIKELY(kernel == nullptr)) kernel = reinterpret_cast<Kernel>(resolve(keys));
      return kernel(keys, static_cast<HandedOn<Args>&&>(args)...);
    } catch (c10::Error& error) {
      error.set_function(name());  // see Note [The operator people called]
      throw;
    }
  }

 private:
  Kernel load(DispatchKey key) const {
    return __atomic_load_n(&kernels_[static_cast<size_t>(key)], __ATOMIC_RELAXED);
  }

  static const std::type_info& signature_of() { return typeid(R(Args...)); }
  static ErasedKernel get(const OperatorTableBase& base, DispatchKey key) {
    return reinterpret_cast<ErasedKernel>(static_cast<const OperatorTable&>(base).load(key));
  }
  static ErasedKernel exchange(OperatorTableBase& base, DispatchKey key, ErasedKernel kernel) {
    auto& slot = static_cast<OperatorTable&>(base).kernels_[static_cast<size_t>(key)];
    return reinterpret_cast<ErasedKernel>(
        __atomic_exchange_n(&slot, reinterpret_cast<Kernel>(kernel), __ATOMIC_ACQ_REL));
  }

  // Not constexpr, because an address is cast; still initialised by the linker.
  template <class Op>
  static inline const Erased erased_for{
      &signature_of,
      &get,
      &exchange,
      reinterpret_cast<ErasedKernel>(&Boxing<Op, R(Args...)>::entry),
      reinterpret_cast<ErasedKernel>(&Op::call),
      &SignatureBoxing<R(Args...)>::from_stack};

  // Not std::array, whose members programs would wait for: there are hundreds of signatures.
  Kernel kernels_[kNumDispatchKeys] = {};
};

}  // namespace at::inline oploom_v1
