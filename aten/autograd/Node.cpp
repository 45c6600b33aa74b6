// Node: sequence numbers, hooks, and destruction without recursion.
#include <aten/autograd/Node.h>
#include <generated/ops/zeros.h>

#include <algorithm>
#include <limits>

namespace at::inline oploom_v1::autograd {

namespace {

constinit thread_local uint64_t sequence_counter OPLOOM_TLS_INITIAL_EXEC = 0;

// The nodes whose last reference was given up in this thread and that are not destroyed yet.
struct Dying {
  Node* head;
  bool at_work;
};
constinit thread_local Dying dying OPLOOM_TLS_INITIAL_EXEC = {nullptr, false};

}  // namespace

uint64_t Node::next_sequence_nr() { return sequence_counter++; }

void Node::bury(c10::intrusive_ptr<Node>&& node) noexcept {
  if (!node) return;
  // Others hold it too: nothing dies here, or at worst one node in a race with another thread.
  if (node.use_count() > 1) {
    node.reset();
    return;
  }
  Node* last = node.release();
  last->next_dying_ = dying.head;
  dying.head = last;
  if (dying.at_work) return;
  dying.at_work = true;
  while (dying.head != nullptr) {
    Node* next = dying.head;
    dying.head = next->next_dying_;
    c10::intrusive_ptr<Node>::reclaim(next).reset();
  }
  dying.at_work = false;
}

void NodePtr::drop() noexcept {
  if (c10::TensorImpl* leaf = node_->leaf(); leaf != nullptr) {
    c10::intrusive_ptr<c10::TensorImpl>::reclaim(leaf).reset();
  } else {
    Node::bury(c10::intrusive_ptr<Node>::reclaim(node_));
  }
}

// The highest sequence number: leaves are served first, which frees gradients early.
Node::Node(c10::TensorImpl* leaf)
    : sequence_nr_(std::numeric_limits<uint64_t>::max()), leaf_(leaf) {}

Node::~Node() { delete hooks_; }

void Node::release_resources() {
  release_variables();
  next_edges_.clear();
  delete std::exchange(hooks_, nullptr);
}

unsigned Node::add_tensor_hook(uint32_t output_nr, TensorHook hook) {
  NodeHooks& all = hooks();
  all.tensor_hooks.push_back({all.next_id, output_nr, std::move(hook)});
  return all.next_id++;
}

bool Node::remove_tensor_hook(unsigned id) {
  return hooks_ != nullptr && hooks_->remove_tensor_hook(id);
}

unsigned Node::add_retain_hook(uint32_t output_nr, TensorHook hook) {
  NodeHooks& all = hooks();
  all.retain_hooks.push_back({all.next_id, output_nr, std::move(hook)});
  return all.next_id++;
}

void Node::remove_retain_hook(uint32_t output_nr) {
  if (hooks_ == nullptr) return;
  std::erase_if(hooks_->retain_hooks,
                [output_nr](const auto& entry) { return entry.output_nr == output_nr; });
}

Tensor InputMetadata::zeros_like() const {
  return at::zeros(sizes, TensorOptions().dtype(dtype).device(device));
}

}  // namespace at::inline oploom_v1::autograd
