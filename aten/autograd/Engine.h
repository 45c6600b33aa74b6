// Engine: the backward pass.
#pragma once

#include <aten/autograd/Node.h>

#include <optional>

namespace at::inline oploom_v1::autograd {

// Note [The backward pass]
// The pass runs in the thread that asks for it. First the graph below the roots is walked once to
// count, for each node, the edges that lead to it. Then nodes run when all their gradients are
// there, the latest recorded first. Gradients that meet at a node are added in its buffer, in place
// when the sum is nobody else's. The notes about a node (count, buffer) hang on the node itself, so
// the pass needs no hash table, and they come from a store that is kept for the next pass of the
// thread.
//
// A hook or a node may start another pass, on the same graph too: what it finds taken it notes in a
// table of its own. An exception ends the pass and leaves the nodes free for another.
//
// Passes in several threads at once may meet in a leaf: accumulating takes its lock.
struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;
  // With `inputs`: whether their gradients go into their grad, or are returned.
  bool accumulate_grad = true;
};

// Runs `grads` backward from `roots`. With `inputs`, only what they need is computed; the result
// then has the gradient of each (undefined where the roots do not depend on it), unless
// accumulating.
OPLOOM_API variable_list run_backward(const edge_list& roots, variable_list&& grads,
                                      const edge_list& inputs, const BackwardOptions& options);

// Makes gradients fit where they go: sums over broadcast dimensions, converts the dtype. Throws
// when one cannot fit.
OPLOOM_API void validate_outputs(const edge_list& edges, variable_list& grads,
                                 const Node& function);

}  // namespace at::inline oploom_v1::autograd
