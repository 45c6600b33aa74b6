// Node: one recorded operation, a vertex of the graph that the engine walks backward. Edge: where a
// gradient goes.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/DimVector.h>
#include <c10/util/ObjectPool.h>
#include <c10/util/SharedFunction.h>
#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>
#include <generated/ops/Tensor.h>

#include <atomic>
#include <string>
#include <vector>

namespace at::inline oploom_v1::autograd {

class Node;
class GraphTask;
struct NodeState;

// The backward pass of this thread if it goes towards chosen inputs only, otherwise null.
extern OPLOOM_API constinit thread_local const GraphTask* selective_task OPLOOM_TLS_INITIAL_EXEC;

// A list of tensors or gradients, some of which may be undefined. Up to three without allocation,
// which covers nearly every operator.
using variable_list = c10::SmallVector<Tensor, 3>;

// An owner of a node; see Note [Ownership of the graph].
class NodePtr {
 public:
  NodePtr() noexcept = default;
  // Of any class of nodes, except that of a leaf.
  template <class T>
  NodePtr(c10::intrusive_ptr<T> node) noexcept : node_(node.release()) {}
  NodePtr(const NodePtr& other) noexcept : NodePtr(other.node_) {}
  NodePtr(NodePtr&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodePtr& operator=(NodePtr other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodePtr() {
    if (node_ != nullptr) drop();
  }
  // A further owner.
  explicit NodePtr(Node* node) noexcept : node_(node) {
    if (node_ != nullptr) retain();
  }

  Node* get() const noexcept { return node_; }
  Node* operator->() const noexcept { return node_; }
  Node& operator*() const noexcept { return *node_; }
  explicit operator bool() const noexcept { return node_ != nullptr; }
  // Hands over a node that is no leaf's.
  c10::intrusive_ptr<Node> release() && noexcept {
    return c10::intrusive_ptr<Node>::reclaim(std::exchange(node_, nullptr));
  }

 private:
  inline void retain() const noexcept;
  OPLOOM_API void drop() noexcept;

  Node* node_ = nullptr;
};

// Input `input_nr` of `function`: the slot that a gradient is added to. An invalid edge is one
// whose gradient nobody wants.
struct Edge {
  Edge() noexcept = default;
  Edge(NodePtr function, uint32_t input_nr) noexcept
      : function(std::move(function)), input_nr(input_nr) {}

  bool is_valid() const noexcept { return function.get() != nullptr; }
  friend bool operator==(const Edge& a, const Edge& b) noexcept {
    return a.function.get() == b.function.get() && a.input_nr == b.input_nr;
  }

  NodePtr function;
  uint32_t input_nr = 0;
};
using edge_list = c10::SmallVector<Edge, 3>;

// What a gradient that arrives at a node must look like: as the output that the node made.
struct InputMetadata {
  InputMetadata() = default;
  explicit InputMetadata(const Tensor& output)
      : sizes(output.sizes()),
        dtype(output.scalar_type()),
        device(output.device()),
        defined(true) {}

  // A tensor of zeros to stand for a gradient that did not arrive.
  OPLOOM_API Tensor zeros_like() const;

  c10::DimVector sizes;
  ScalarType dtype = c10::kFloat;
  Device device = Device(c10::DeviceType::CPU);
  bool defined = false;
};

// Called with the gradient of one output; returns another gradient, or an undefined tensor to leave
// it as it is.
using TensorHook = c10::shared_function<Tensor(const Tensor& grad)>;
// Called before a node with its incoming gradients, which it may change.
using NodePreHook = c10::shared_function<variable_list(const variable_list& grads)>;
// Called after a node with the gradients it computed and those it received; returns what to pass
// on.
using NodePostHook = c10::shared_function<variable_list(const variable_list& grad_inputs,
                                                        const variable_list& grads)>;

struct NodeHooks {
  struct OnOutput {
    unsigned id;
    uint32_t output_nr;
    TensorHook hook;
  };
  std::vector<OnOutput> tensor_hooks;
  bool remove_tensor_hook(unsigned id) {
    return std::erase_if(tensor_hooks, [id](const OnOutput& hook) { return hook.id == id; }) > 0;
  }
  // retain_grad(): run after the other tensor hooks, so that the gradient kept is the final one.
  std::vector<OnOutput> retain_hooks;
  std::vector<NodePreHook> pre_hooks;
  std::vector<NodePostHook> post_hooks;
  unsigned next_id = 0;
};

// Note [Ownership of the graph]
// An output owns its node (AutogradMeta::grad_fn_), a node owns the nodes that its gradients go to
// (next_edges_) and what it saved. A node never owns its own outputs: an output that is saved is
// saved without its history. So a graph dies with the last output that leads to it.
//
// The nodes that accumulate into a leaf belong to the leaf (AutogradMeta::accumulator_) and live as
// long. Whoever holds one by a NodePtr, as edges do, owns the leaf: that is one count where the
// node and the leaf each had one, and nothing is made or freed when a graph begins or ends.
//
// A chain of a million nodes must not be destroyed by a million nested destructors. A destructor
// therefore never drops the last reference to another node itself: it hands it to bury(), which
// keeps a list of the dying and works it off in the outermost destructor.
class OPLOOM_API Node : public c10::intrusive_ptr_target, public c10::PooledObject<Node> {
 public:
  Node() : sequence_nr_(next_sequence_nr()) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() override;

  // Computes the gradients of the inputs from the gradients of the outputs. grads[i] belongs to
  // output i and may be undefined, which means zero; result[i] goes along next_edge(i).
  virtual variable_list apply(variable_list&& grads) = 0;
  // The node as messages name it: "MulBackward0".
  virtual std::string name() const = 0;
  // Drops what was saved for the backward pass; apply() is an error afterwards if it needs it.
  virtual void release_variables() {}
  // Whether apply() is ours and calls operators on its gradients and saved tensors alone. Where no
  // graph of the backward pass is wanted, the engine then spares these calls the recording layer.
  virtual bool is_builtin() const { return false; }
  // The leaf whose gradient arrives here; null for all others. It owns this node.
  c10::TensorImpl* leaf() const { return leaf_; }

  variable_list operator()(variable_list&& grads) { return apply(std::move(grads)); }

  // The order of recording within a thread: the engine takes the node with the highest first.
  uint64_t sequence_nr() const { return sequence_nr_; }

  // ---- Outputs of the operation: where gradients come in ----
  uint32_t add_input_metadata(const Tensor& output) {
    if (output.defined()) {
      input_metadata_.emplace_back(output);
    } else {
      input_metadata_.emplace_back();
    }
    return static_cast<uint32_t>(input_metadata_.size()) - 1;
  }
  uint32_t num_inputs() const { return static_cast<uint32_t>(input_metadata_.size()); }
  const InputMetadata& input_metadata(size_t index) const { return input_metadata_[index]; }
  void clear_input_metadata() { input_metadata_.clear(); }

  // ---- Inputs of the operation: where gradients go ----
  void add_next_edge(Edge edge) { next_edges_.emplace_back(std::move(edge)); }
  void set_next_edges(edge_list&& edges) { next_edges_ = std::move(edges); }
  const Edge& next_edge(size_t index) const { return next_edges_[index]; }
  const edge_list& next_edges() const { return next_edges_; }
  uint32_t num_outputs() const { return static_cast<uint32_t>(next_edges_.size()); }
  // Whether anybody wants the gradient of input `index`; while recording.
  bool should_compute_output(size_t index) const {
    return index < next_edges_.size() && next_edges_[index].is_valid();
  }
  // The same in apply(): a backward pass towards chosen inputs wants fewer gradients.
  bool task_should_compute_output(size_t index) const {
    return should_compute_output(index) &&
           (OPLOOM_LIKELY(selective_task == nullptr) || task_wants(index));
  }

  // ---- Hooks ----
  bool has_hooks() const { return hooks_ != nullptr; }
  NodeHooks& hooks() {
    if (hooks_ == nullptr) hooks_ = new NodeHooks;
    return *hooks_;
  }
  unsigned add_tensor_hook(uint32_t output_nr, TensorHook hook);
  // Whether there was such a hook.
  bool remove_tensor_hook(unsigned id);
  unsigned add_retain_hook(uint32_t output_nr, TensorHook hook);
  void remove_retain_hook(uint32_t output_nr);
  void add_pre_hook(NodePreHook hook) { hooks().pre_hooks.push_back(std::move(hook)); }
  void add_post_hook(NodePostHook hook) { hooks().post_hooks.push_back(std::move(hook)); }

  // Gives up a reference to a node; see Note [Ownership of the graph].
  static void bury(c10::intrusive_ptr<Node>&& node) noexcept;

 protected:
  explicit Node(c10::TensorImpl* leaf);
  void release_resources() override;

 private:
  friend class GraphTask;

  static uint64_t next_sequence_nr();
  bool task_wants(size_t index) const;

  const uint64_t sequence_nr_;
  edge_list next_edges_;
  c10::SmallVector<InputMetadata, 1> input_metadata_;
  c10::TensorImpl* const leaf_ = nullptr;
  NodeHooks* hooks_ = nullptr;  // owned; most nodes have none
  // The backward pass that is under way here, if any, and its notes about this node. A second pass
  // that comes across (from a hook, or in another thread) keeps its notes elsewhere.
  std::atomic<GraphTask*> task_{nullptr};
  NodeState* task_state_ = nullptr;
  // Links the dying; see bury().
  Node* next_dying_ = nullptr;
};

inline void NodePtr::retain() const noexcept {
  if (c10::TensorImpl* leaf = node_->leaf(); leaf != nullptr) {
    c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(leaf).release();
  } else {
    c10::intrusive_ptr<Node>::reclaim_copy(node_).release();
  }
}

// A node of class T: one pooled allocation.
template <class T, class... Args>
c10::intrusive_ptr<T> make_node(Args&&... args) {
  return c10::make_intrusive<T>(std::forward<Args>(args)...);
}

}  // namespace at::inline oploom_v1::autograd
