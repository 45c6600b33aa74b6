// See Note [Recording operators].
#include <aten/core/Library.h>
#include <aten/core/Recorder.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace at::inline oploom_v1 {

namespace {

struct Kept {
  bool called = false;
  std::vector<std::pair<DispatchKey, ErasedKernel>> kernels;
};

struct Recorder {
  std::string path;
  std::mutex mutex;
  std::map<const OperatorTableBase*, Kept> operators;
  std::set<std::string_view> functions;
};

// Never destroyed: other threads may call operators until the program's very end.
Recorder& recorder() {
  static auto& instance = *new Recorder;
  return instance;
}

void write_list() {
  Recorder& all = recorder();
  std::ofstream file(all.path);
  file << "# Operators that a program called, for -DOPLOOM_OPERATORS=<this file>.\n";
  std::lock_guard lock(all.mutex);
  for (std::string_view name : all.functions) file << name << "\n";
  for (OperatorTableBase* op : builtin_operators()) {
    if (all.operators[op].called) file << op->qualified_name() << "\n";
  }
  if (!file.flush()) {
    std::fprintf(stderr, "oploom: OPLOOM_RECORD_OPERATORS: cannot write '%s'\n", all.path.c_str());
  }
}

bool start_recording() {
  const char* path = std::getenv("OPLOOM_RECORD_OPERATORS");
  if (path == nullptr || *path == '\0') return false;
  Recorder& all = recorder();
  all.path = path;
  for (OperatorTableBase* op : builtin_operators()) {
    Kept& kept = all.operators[op];
    for (size_t i = 0; i < kNumDispatchKeys; ++i) {
      const auto key = static_cast<DispatchKey>(i);
      if (!op->has_kernel(key)) continue;
      kept.kernels.emplace_back(key, op->exchange_kernel(key, op->boxed_entry()));
    }
  }
  std::atexit(write_list);
  return true;
}

}  // namespace

bool detail::recording = start_recording();

bool detail::record_call(const OperatorTableBase& op, DispatchKey key) {
  Recorder& all = recorder();
  std::lock_guard lock(all.mutex);
  auto found = all.operators.find(&op);
  if (found == all.operators.end()) return false;
  Kept& kept = found->second;
  bool has_kernel = false;
  for (auto [kept_key, kernel] : kept.kernels) {
    // Builtin tables are variables; callers see them as constants.
    auto& table = const_cast<OperatorTableBase&>(op);
    ErasedKernel was = table.exchange_kernel(kept_key, kernel);
    if (was != op.boxed_entry()) table.exchange_kernel(kept_key, was);  // registered since
    has_kernel = has_kernel || kept_key == key;
  }
  kept.called = true;
  return has_kernel;
}

void detail::record_function(const char* name) {
  Recorder& all = recorder();
  std::lock_guard lock(all.mutex);
  all.functions.insert(name);
}

}  // namespace at::inline oploom_v1
