// Library: the registry of operators and the kernels added at run time.
#include <aten/core/Library.h>
#include <aten/core/Recorder.h>
#include <aten/core/ivalue.h>
#include <c10/util/Exception.h>
#include <c10/util/Suggest.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

namespace at::inline oploom_v1 {

namespace {

constexpr std::string_view kBuiltin = "aten";

// Guards what follows. Calls of operators never take it.
std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}
std::map<std::string, std::vector<OperatorTableBase*>, std::less<>>& other_namespaces() {
  static std::map<std::string, std::vector<OperatorTableBase*>, std::less<>> map;
  return map;
}
std::array<BoxedKernel, kNumDispatchKeys> fallbacks{};

int compare(const OperatorTableBase& op, std::string_view name, std::string_view overload) {
  if (int order = std::string_view(op.name()).compare(name)) return order;
  return std::string_view(op.overload_name()).compare(overload);
}

void sort_by_name(std::vector<OperatorTableBase*>& operators) {
  std::sort(operators.begin(), operators.end(),
            [](const OperatorTableBase* a, const OperatorTableBase* b) {
              return compare(*a, b->name(), b->overload_name()) < 0;
            });
}

struct OperatorName {
  std::string_view name_space, name, overload;
};

OperatorName split_name(std::string_view text) {
  OperatorName result{kBuiltin, text, {}};
  if (size_t at = text.find("::"); at != text.npos) {
    result.name_space = text.substr(0, at);
    result.name = text.substr(at + 2);
  }
  if (size_t dot = result.name.find('.'); dot != text.npos) {
    result.overload = result.name.substr(dot + 1);
    result.name = result.name.substr(0, dot);
  }
  return result;
}

// The caller holds the mutex.
ArrayRef<OperatorTableBase*> operators_of(std::string_view name_space) {
  if (name_space == kBuiltin) return builtin_operators();
  auto found = other_namespaces().find(name_space);
  return found == other_namespaces().end() ? ArrayRef<OperatorTableBase*>() : found->second;
}

std::string demangle(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string result = status == 0 ? text : type.name();
  std::free(text);
  constexpr std::string_view inline_namespace = "oploom_v1::";
  for (size_t at; (at = result.find(inline_namespace)) != result.npos;) {
    result.erase(at, inline_namespace.size());
  }
  return result;
}

template <class F>
void for_each_operator(F&& function) {
  for (OperatorTableBase* op : builtin_operators()) function(*op);
  for (auto& [name, tables] : other_namespaces()) {
    for (OperatorTableBase* op : tables) function(*op);
  }
}

}  // namespace

std::vector<OperatorTableBase*> detail::sorted_by_name(
    std::initializer_list<ArrayRef<OperatorTableBase*>> families) {
  std::vector<OperatorTableBase*> all;
  for (const auto& family : families) all.insert(all.end(), family.begin(), family.end());
  sort_by_name(all);
  return all;
}

std::string OperatorTableBase::qualified_name() const {
  return *overload_name_ ? c10::str(name_, ".", overload_name_) : std::string(name_);
}

ErasedKernel OperatorTableBase::resolve(DispatchKeySet& keys) const {
  const DispatchKeySet passed = keys;
  DispatchKey key = keys.highestPriorityTypeId();
  // Each slot is read once: another thread may empty it meanwhile.
  for (;; key = keys.highestPriorityTypeId()) {
    if (const ErasedKernel kernel = erased_->get(*this, key)) return kernel;
    if (key < DispatchKey::Autograd) break;
    keys = keys.remove(key);
  }
  std::string available;
  for (size_t i = 0; i < kNumDispatchKeys; ++i) {
    if (!has_kernel(static_cast<DispatchKey>(i)) || i == 0) continue;
    available += c10::str(available.empty() ? "" : ", ", static_cast<DispatchKey>(i));
  }
  OPLOOM_CHECK(key != DispatchKey::Undefined || !passed.empty(), name_,
               "(): expected at least one defined tensor, got none; the schema is ", schema_);
  OPLOOM_CHECK_NOT_IMPLEMENTED(false, name_, "(): no kernel for ", key, "; operator ",
                               qualified_name(), " has kernels for: ", available);
  OPLOOM_INTERNAL_ASSERT(false, "unreachable");
}

OperatorTableBase* find_operator(std::string_view text) {
  OperatorName wanted = split_name(text);
  std::lock_guard lock(registry_mutex());
  ArrayRef<OperatorTableBase*> tables = operators_of(wanted.name_space);
  auto found = std::lower_bound(tables.begin(), tables.end(), wanted,
                                [](const OperatorTableBase* op, const OperatorName& name) {
                                  return compare(*op, name.name, name.overload) < 0;
                                });
  if (found == tables.end() || compare(**found, wanted.name, wanted.overload) != 0) return nullptr;
  return *found;
}

OperatorTableBase& get_operator(std::string_view text) {
  if (OperatorTableBase* op = find_operator(text)) return *op;
  std::vector<std::string> names;
  for (OperatorTableBase* op : list_operators(split_name(text).name_space)) {
    names.push_back(op->qualified_name());
  }
  size_t scope = text.find("::");
  std::string nearest = closest_name(scope == text.npos ? text : text.substr(scope + 2), names);
  const bool left_out = operator_list() != nullptr && split_name(text).name_space == kBuiltin;
  OPLOOM_CHECK(!left_out, "there is no operator '", text,
               "' in this build of oploom, which has those of ", operator_list(),
               " only; add it to that list, or use a build with all operators");
  OPLOOM_CHECK(false, "there is no operator '", text, "'",
               nearest.empty() ? "" : c10::str(" (did you mean '", nearest, "'?)"));
  OPLOOM_INTERNAL_ASSERT(false, "unreachable");
}

std::vector<OperatorTableBase*> list_operators(std::string_view name_space) {
  std::lock_guard lock(registry_mutex());
  ArrayRef<OperatorTableBase*> tables = operators_of(name_space);
  return {tables.begin(), tables.end()};
}

void register_operators(std::string_view name_space, ArrayRef<OperatorTableBase*> tables) {
  OPLOOM_CHECK(name_space != kBuiltin, "register_operators(): the namespace 'aten' is taken");
  for (OperatorTableBase* op : tables) {
    const std::string name = c10::str(name_space, "::", op->qualified_name());
    OPLOOM_CHECK(find_operator(name) == nullptr, "register_operators(): '", name,
                 "' is registered already: two libraries define it; load one of them, or give the "
                 "other's operators a namespace of their own");
  }
  std::lock_guard lock(registry_mutex());
  auto& all = other_namespaces()[std::string(name_space)];
  for (OperatorTableBase* op : tables) {
    all.push_back(op);
    for (size_t i = 0; i < kNumDispatchKeys; ++i) {
      auto key = static_cast<DispatchKey>(i);
      if (fallbacks[i] && !op->has_kernel(key)) op->exchange_kernel(key, op->boxed_entry());
    }
  }
  sort_by_name(all);
}

void call_fallback(const OperatorTableBase& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKey key = keys.highestPriorityTypeId();
  if (detail::recording && detail::record_call(op, key)) return op.redispatch_boxed(keys, stack);
  BoxedKernel kernel = __atomic_load_n(&fallbacks[static_cast<size_t>(key)], __ATOMIC_ACQUIRE);
  OPLOOM_CHECK_NOT_IMPLEMENTED(kernel != nullptr, op.qualified_name(), "(): the fallback for ", key,
                               " was removed");
  kernel(op, keys, stack);
}

Library::Library(std::string name_space, std::string_view key_name)
    : name_space_(std::move(name_space)), key_(DispatchKey::Undefined) {
  std::optional<DispatchKey> key = c10::parse_dispatch_key(key_name);
  OPLOOM_CHECK_VALUE(key.has_value(), "Library: there is no dispatch key '", key_name, "'");
  key_ = *key;
}

Library::~Library() {
  for (auto it = replaced_.rbegin(); it != replaced_.rend(); ++it) {
    it->op->exchange_kernel(key_, it->previous);
  }
  if (has_fallback_) {
    std::lock_guard lock(registry_mutex());
    for_each_operator([this](OperatorTableBase& op) {
      ErasedKernel was = op.exchange_kernel(key_, nullptr);
      if (was != op.boxed_entry()) op.exchange_kernel(key_, was);
    });
    fallbacks[static_cast<size_t>(key_)] = nullptr;
  }
}

void Library::impl(std::string_view name, KernelFunction kernel) {
  OperatorTableBase& op = get_operator(c10::str(name_space_, "::", name));
  OPLOOM_CHECK_TYPE(*kernel.signature == op.signature(), op.qualified_name(), "(): the kernel for ",
                    key_, " has the wrong signature\n  expected: ", demangle(op.signature()),
                    "\n  got:      ", demangle(*kernel.signature), "\n  schema:   ", op.schema());
  replaced_.push_back({&op, op.exchange_kernel(key_, kernel.address)});
}

void Library::fallback(BoxedKernel kernel) {
  std::lock_guard lock(registry_mutex());
  OPLOOM_CHECK(fallbacks[static_cast<size_t>(key_)] == nullptr, "fallback(): ", key_,
               " has a fallback already");
  __atomic_store_n(&fallbacks[static_cast<size_t>(key_)], kernel, __ATOMIC_RELEASE);
  has_fallback_ = true;
  for_each_operator([this](OperatorTableBase& op) {
    if (!op.has_kernel(key_)) op.exchange_kernel(key_, op.boxed_entry());
  });
}

}  // namespace at::inline oploom_v1
