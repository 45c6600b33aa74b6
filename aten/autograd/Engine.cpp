// Engine: dependency counts, the heap of ready nodes, and what happens around each node.
#include <aten/autograd/AccumulateGrad.h>
#include <aten/autograd/Engine.h>
#include <aten/autograd/ForwardAD.h>
#include <aten/autograd/FunctionsManual.h>
#include <c10/core/GradMode.h>
#include <c10/core/LocalDispatchKeySet.h>
#include <generated/ops/TensorOperators.h>
#include <generated/ops/real.h>
#include <generated/ops/to.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace at::inline oploom_v1::autograd {

// What a pass notes about a node.
struct NodeState {
  Node* node = nullptr;
  uint32_t dependencies = 0;
  bool queued = false;
  // In a pass towards chosen inputs: whether to run the node, or at least to bring gradients to it.
  bool execute = true;
  bool needed = true;
  int32_t first_capture = -1;
  variable_list buffer;  // a gradient for each output of the operation
};

namespace {

// A gradient that the caller wants: slot `input_nr` of a node. Captures of one node are linked.
struct Capture {
  uint32_t input_nr;
  int32_t next;
};

struct Ready {
  uint64_t sequence_nr;
  NodeState* state;
  friend bool operator<(const Ready& a, const Ready& b) { return a.sequence_nr < b.sequence_nr; }
};

// The memory of a pass; kept by the thread for the next one.
class Workspace {
 public:
  NodeState& add() {
    if (used_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<NodeState[]>(kChunk));
    return at(used_++);
  }
  NodeState& at(size_t index) { return chunks_[index / kChunk][index % kChunk]; }
  size_t used() const { return used_; }
  void clear() {
    for (size_t i = 0; i < used_; ++i) {
      NodeState& state = at(i);
      if (!state.buffer.empty()) state.buffer.clear();
      state.dependencies = 0;
      state.queued = false;
      state.execute = state.needed = true;
      state.first_capture = -1;
    }
    used_ = 0;
    heap.clear();
    stack.clear();
    if (chunks_.size() > kKeptChunks) chunks_.resize(kKeptChunks);
  }

  std::vector<Ready> heap;
  std::vector<NodeState*> stack;

 private:
  static constexpr size_t kChunk = 64;
  static constexpr size_t kKeptChunks = 64;
  std::vector<std::unique_ptr<NodeState[]>> chunks_;
  size_t used_ = 0;
};

thread_local std::unique_ptr<Workspace> spare_workspace;

// With `on`, operators of this scope go past the recording layer, which costs time also where it
// records nothing. In forward mode they do not: that layer computes the tangents of gradients.
class BelowAutogradIf {
 public:
  explicit BelowAutogradIf(bool on) : saved_(c10::tls_local_dispatch_key_set.excluded) {
    if (on && !forward_ad::is_on())
      c10::tls_local_dispatch_key_set.excluded |= c10::autograd_dispatch_keyset;
  }
  ~BelowAutogradIf() { c10::tls_local_dispatch_key_set.excluded = saved_; }
  BelowAutogradIf(const BelowAutogradIf&) = delete;
  BelowAutogradIf& operator=(const BelowAutogradIf&) = delete;

 private:
  c10::DispatchKeySet saved_;
};

void call_tensor_hooks(const std::vector<NodeHooks::OnOutput>& hooks, variable_list& grads) {
  // By index and by copy: a hook may add or remove hooks.
  for (size_t i = 0; i < hooks.size(); ++i) {
    const NodeHooks::OnOutput entry = hooks[i];
    if (entry.output_nr >= grads.size() || !grads[entry.output_nr].defined()) continue;
    Tensor result = entry.hook(grads[entry.output_nr]);
    if (!result.defined()) continue;
    const Tensor& grad = grads[entry.output_nr];
    OPLOOM_CHECK(result.sizes().equals(grad.sizes()),
                 "a hook has changed the shape of a gradient from ", grad.sizes(), " to ",
                 result.sizes());
    OPLOOM_CHECK(result.scalar_type() == grad.scalar_type(),
                 "a hook has changed the dtype of a gradient from ", grad.scalar_type(), " to ",
                 result.scalar_type());
    OPLOOM_CHECK(result.device() == grad.device(), "a hook has moved a gradient from the device ",
                 grad.device(), " to ", result.device());
    grads[entry.output_nr] = std::move(result);
  }
}

void call_pre_hooks(Node& node, variable_list& grads) {
  if (node.leaf() != nullptr) {
    const AutogradMeta* meta = get_autograd_meta(static_cast<AccumulateGrad&>(node).variable);
    if (meta != nullptr && meta->hooks_ != nullptr) {
      call_tensor_hooks(meta->hooks_->tensor_hooks, grads);
    }
  }
  if (!node.has_hooks()) return;
  NodeHooks& hooks = node.hooks();
  call_tensor_hooks(hooks.tensor_hooks, grads);
  call_tensor_hooks(hooks.retain_hooks, grads);
}

void accumulate(variable_list& buffer, uint32_t index, Tensor&& grad) {
  Tensor& sum = buffer[index];
  if (!sum.defined()) {
    sum = std::move(grad);
    return;
  }
  if (is_spare(sum) && sum.scalar_type() == grad.scalar_type()) {
    sum.add_(grad);
  } else {
    sum = sum + grad;
  }
}

}  // namespace

class GraphTask {
 public:
  GraphTask(const edge_list& roots, const edge_list& inputs, const BackwardOptions& options)
      : options_(options), selective_(!inputs.empty()), workspace_(std::move(spare_workspace)) {
    if (workspace_ == nullptr) workspace_ = std::make_unique<Workspace>();
    // From here on the destructor does not run if this throws, hence its own clean-up.
    try {
      count_dependencies(roots);
      if (selective_) find_needed(inputs);
    } catch (...) {
      release();
      throw;
    }
  }
  ~GraphTask() { release(); }
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  variable_list run(const edge_list& roots, variable_list&& grads) {
    for (size_t i = 0; i < roots.size(); ++i) {
      NodeState* state = find(roots[i].function.get());
      if (!state->needed) continue;
      add_gradient(*state, roots[i].input_nr, std::move(grads[i]));
      enqueue_if_ready(*state);
    }
    std::vector<Ready>& heap = workspace_->heap;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      NodeState& state = *heap.back().state;
      heap.pop_back();
      evaluate(state);
    }
    return std::move(captured_);
  }

  // Whether the gradient along `edge` leads to one of the chosen inputs.
  bool wants(const Edge& edge) const {
    const NodeState* state = find(edge.function.get());
    return state == nullptr || state->needed;
  }
  bool selective() const { return selective_; }

 private:
  NodeState* find(const Node* node) const {
    if (OPLOOM_LIKELY(node->task_.load(std::memory_order_relaxed) == this))
      return node->task_state_;
    const auto it = elsewhere_.find(node);
    return it == elsewhere_.end() ? nullptr : it->second;
  }

  // The notes about `node`, new ones if there are none; the second value says which.
  std::pair<NodeState*, bool> find_or_add(Node* node) {
    GraphTask* owner = nullptr;
    if (node->task_.load(std::memory_order_relaxed) == this) return {node->task_state_, false};
    if (OPLOOM_UNLIKELY(!elsewhere_.empty())) {
      const auto it = elsewhere_.find(node);
      if (it != elsewhere_.end()) return {it->second, false};
    }
    NodeState& state = workspace_->add();
    state.node = node;
    if (OPLOOM_LIKELY(c10::compare_exchange(node->task_, owner, this, std::memory_order_acquire))) {
      node->task_state_ = &state;
    } else {
      elsewhere_.emplace(node, &state);
    }
    return {&state, true};
  }

  void count_dependencies(const edge_list& roots) {
    std::vector<NodeState*>& stack = workspace_->stack;
    for (const Edge& root : roots) {
      auto [state, added] = find_or_add(root.function.get());
      if (added) stack.push_back(state);
    }
    while (!stack.empty()) {
      const Node* node = stack.back()->node;
      stack.pop_back();
      for (const Edge& edge : node->next_edges()) {
        if (!edge.is_valid()) continue;
        auto [state, added] = find_or_add(edge.function.get());
        ++state->dependencies;
        if (added) stack.push_back(state);
      }
    }
  }

  // Marks what lies on a way from the roots to `inputs`.
  void find_needed(const edge_list& inputs) {
    for (size_t i = 0; i < workspace_->used(); ++i) {
      NodeState& state = workspace_->at(i);
      state.execute = state.needed = false;
    }
    captured_.resize(options_.accumulate_grad ? 0 : inputs.size());
    for (const Edge& input : inputs) {
      NodeState* state = find(input.function.get());
      const auto index = static_cast<int32_t>(captures_.size());
      captures_.push_back({input.input_nr, -1});
      if (state == nullptr) continue;  // not reached from the roots
      state->needed = true;
      if (options_.accumulate_grad) {
        state->execute = true;
      } else {
        captures_.back().next = std::exchange(state->first_capture, index);
      }
    }
    // Depth first: a node is done when its children are, and needed when one of them is.
    struct Frame {
      NodeState* state;
      size_t next_child;
    };
    std::vector<Frame> stack;
    for (size_t i = 0; i < workspace_->used(); ++i) {
      if (workspace_->at(i).queued) continue;  // used here as "seen"
      workspace_->at(i).queued = true;
      stack.push_back({&workspace_->at(i), 0});
      while (!stack.empty()) {
        NodeState* state = stack.back().state;
        const edge_list& edges = state->node->next_edges();
        NodeState* descend = nullptr;
        while (stack.back().next_child < edges.size() && descend == nullptr) {
          const Edge& edge = edges[stack.back().next_child];
          NodeState* child = edge.is_valid() ? find(edge.function.get()) : nullptr;
          if (child == nullptr) {
            ++stack.back().next_child;
          } else if (!child->queued) {
            child->queued = true;
            descend = child;
          } else {
            // Done already: the graph has no cycles, so it cannot be on the stack.
            if (child->needed) state->execute = state->needed = true;
            ++stack.back().next_child;
          }
        }
        if (descend != nullptr) {
          stack.push_back({descend, 0});
        } else {
          stack.pop_back();
        }
      }
    }
    for (size_t i = 0; i < workspace_->used(); ++i) workspace_->at(i).queued = false;
  }

  void add_gradient(NodeState& state, uint32_t input_nr, Tensor&& grad) {
    if (!grad.defined()) return;
    if (state.buffer.empty()) state.buffer.resize(state.node->num_inputs());
    accumulate(state.buffer, input_nr, std::move(grad));
  }

  void enqueue_if_ready(NodeState& state) {
    if (state.dependencies != 0 || state.queued) return;
    state.queued = true;
    std::vector<Ready>& heap = workspace_->heap;
    heap.push_back({state.node->sequence_nr(), &state});
    std::push_heap(heap.begin(), heap.end());
  }

  void capture(NodeState& state, variable_list& grads) {
    for (int32_t i = state.first_capture; i >= 0; i = captures_[i].next) {
      const uint32_t nr = captures_[i].input_nr;
      if (nr < grads.size()) captured_[i] = grads[nr];
    }
  }

  void evaluate(NodeState& state) {
    Node& node = *state.node;
    variable_list& grads = state.buffer;
    if (grads.empty()) grads.resize(node.num_inputs());
    if (OPLOOM_UNLIKELY(node.has_hooks() || node.leaf() != nullptr)) call_pre_hooks(node, grads);
    if (OPLOOM_UNLIKELY(selective_)) {
      capture(state, grads);
      // Nothing below it is needed, or it would have to run.
      if (!state.execute) return grads.clear();
    }
    variable_list results = call(node, std::move(grads));
    grads.clear();
    if (!options_.keep_graph) node.release_variables();
    const edge_list& edges = node.next_edges();
    check_count(node, results);
    BelowAutogradIf guard(!options_.create_graph);
    validate_outputs(edges, results, node);
    for (size_t i = 0; i < edges.size(); ++i) {
      if (!edges[i].is_valid()) continue;
      NodeState* next = find(edges[i].function.get());
      --next->dependencies;
      if (!next->needed) continue;
      add_gradient(*next, edges[i].input_nr, std::move(results[i]));
      enqueue_if_ready(*next);
    }
  }

  variable_list call(Node& node, variable_list&& grads) {
    if (OPLOOM_LIKELY(!node.has_hooks())) return apply(node, std::move(grads));
    // Copies: a hook may add or remove hooks.
    const std::vector<NodePreHook> pre_hooks = node.hooks().pre_hooks;
    const std::vector<NodePostHook> post_hooks = node.hooks().post_hooks;
    for (const NodePreHook& hook : pre_hooks) grads = hook(grads);
    if (post_hooks.empty()) return apply(node, std::move(grads));
    const variable_list received = grads;
    variable_list results = apply(node, std::move(grads));
    for (const NodePostHook& hook : post_hooks) results = hook(results, received);
    return results;
  }

  variable_list apply(Node& node, variable_list&& grads) {
    BelowAutogradIf guard(!options_.create_graph && node.is_builtin());
    return node(std::move(grads));
  }

  static void check_count(const Node& node, variable_list& results) {
    const size_t expected = node.num_outputs();
    if (OPLOOM_LIKELY(results.size() == expected)) return;
    // Further results are fine where nothing is in them.
    while (results.size() > expected && !results.back().defined()) results.pop_back();
    OPLOOM_CHECK(results.size() == expected, node.name(), ": expected ", expected,
                 " gradients, got ", results.size());
  }

  void release() {
    for (size_t i = 0; i < workspace_->used(); ++i) {
      Node* node = workspace_->at(i).node;
      if (node->task_.load(std::memory_order_relaxed) == this) {
        node->task_.store(nullptr, std::memory_order_release);
      }
    }
    workspace_->clear();
    spare_workspace = std::move(workspace_);
  }

  const BackwardOptions options_;
  const bool selective_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<Capture> captures_;
  variable_list captured_;
  // Notes about nodes that another pass has taken.
  std::unordered_map<const Node*, NodeState*> elsewhere_;
};

constinit thread_local const GraphTask* selective_task OPLOOM_TLS_INITIAL_EXEC = nullptr;

bool Node::task_wants(size_t index) const { return selective_task->wants(next_edges_[index]); }

void validate_outputs(const edge_list& edges, variable_list& grads, const Node& function) {
  for (size_t i = 0; i < edges.size(); ++i) {
    Tensor& grad = grads[i];
    if (!grad.defined()) continue;
    if (!edges[i].is_valid()) {
      grad.reset();
      continue;
    }
    const InputMetadata& wanted = edges[i].function->input_metadata(edges[i].input_nr);
    if (!wanted.defined) continue;
    if (OPLOOM_UNLIKELY(!grad.sizes().equals(wanted.sizes))) {
      OPLOOM_CHECK(is_expandable_to(wanted.sizes, grad.sizes()), function.name(),
                   ": expected gradient ", i, " of a shape that sums to ",
                   IntArrayRef(wanted.sizes), ", got ", grad.sizes());
      grad = sum_to(grad, wanted.sizes);
    }
    if (OPLOOM_UNLIKELY(grad.device() != wanted.device)) {
      // Numbers may live on any device.
      OPLOOM_CHECK(grad.dim() == 0, function.name(), ": expected gradient ", i, " on device ",
                   wanted.device, ", got one on ", grad.device());
      grad = grad.to(TensorOptions().device(wanted.device));
    }
    if (OPLOOM_UNLIKELY(grad.scalar_type() != wanted.dtype)) {
      if (grad.is_complex() && !c10::isComplexType(wanted.dtype)) grad = at::real(grad);
      grad = grad.to(wanted.dtype);
    }
  }
}

variable_list run_backward(const edge_list& roots, variable_list&& grads, const edge_list& inputs,
                           const BackwardOptions& options) {
  // Restores both for the caller, whatever happens; a pass inside a pass has its own.
  struct SelectiveScope {
    const GraphTask* saved = selective_task;
    ~SelectiveScope() { selective_task = saved; }
  };
  // The local keys of the caller apply to hooks, but recording must not be switched off by them.
  c10::ForceDispatchKeyGuard keys(
      {c10::tls_local_keyset().included,
       c10::tls_local_keyset().excluded - c10::autograd_dispatch_keyset});
  c10::AutoGradMode mode(options.create_graph);
  GraphTask task(roots, inputs, options);
  SelectiveScope scope;
  selective_task = task.selective() ? &task : nullptr;
  return task.run(roots, std::move(grads));
}

}  // namespace at::inline oploom_v1::autograd
