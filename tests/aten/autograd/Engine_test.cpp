// The backward pass: accumulation, keeping and recording the graph, chosen inputs, failures.
#include <aten/autograd/AccumulateGrad.h>
#include <aten/autograd/Function.h>
#include <generated/ops/cat.h>
#include <generated/ops/clone.h>
#include <generated/ops/dot.h>
#include <generated/ops/exp.h>
#include <generated/ops/ones.h>
#include <generated/ops/slice.h>
#include <generated/ops/sum.h>
#include <generated/ops/view.h>
#include <tests/aten/autograd/Testing.h>

namespace {

using at::Tensor;
using namespace oploom::testing;

TEST(Engine, ComputesTheGradientOfAProduct) {
  const Tensor x = leaf({2, 3});
  const Tensor y = leaf({5, 7});
  const Tensor product = x * y;
  EXPECT_TRUE(product.requires_grad());
  EXPECT_FALSE(product.is_leaf());
  EXPECT_EQ(product.grad_fn()->name(), "MulBackward0");
  product.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{5, 7}));
  EXPECT_EQ(values_of(y.grad()), (Values{2, 3}));
}

TEST(Engine, AddsToTheGradientThatIsThere) {
  const Tensor x = leaf({1, 2});
  (x * 3).sum().backward();
  const Tensor kept = x.grad();
  (x * 4).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{7, 7}));
  EXPECT_TRUE(kept.is_same(x.grad())) << "the sum is made in place";
}

TEST(Engine, LeavesThatMeetOneGradientDoNotShareIt) {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  (x + y).backward(vector_of({1, 1}));
  x.grad().mul_(10);
  EXPECT_EQ(values_of(y.grad()), (Values{1, 1}));
}

TEST(Engine, TheGivenGradientIsNotTaken) {
  const Tensor x = leaf({1, 2});
  const Tensor seed = vector_of({1, 1});
  x.clone().backward(seed);
  x.grad().mul_(10);
  EXPECT_EQ(values_of(seed), (Values{1, 1}));
}

TEST(Engine, AddsTheGradientsOfAllUses) {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  (y * x + y).sum().backward();  // x^3 + x^2
  EXPECT_EQ(values_of(x.grad()), (Values{3 * 9 + 2 * 3}));
}

TEST(Engine, SumsOverBroadcastDimensions) {
  const Tensor row = leaf({1, 2});
  const Tensor matrix = at::ones({3, 2}, at::kDouble).requires_grad_();
  (row * matrix).sum().backward();
  EXPECT_EQ(values_of(row.grad()), (Values{3, 3}));
  EXPECT_EQ(matrix.grad().sizes(), at::IntArrayRef({3, 2}));
  EXPECT_EQ(values_of(matrix.grad()), (Values{1, 2, 1, 2, 1, 2}));
}

TEST(Engine, ConvertsGradientsToTheDtypeOfTheInput) {
  const Tensor x = at::ones({2}, at::kFloat).requires_grad_();
  const Tensor y = leaf({2, 3});
  (x * y).sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), at::kFloat);
  EXPECT_EQ(y.grad().scalar_type(), at::kDouble);
}

TEST(Engine, RunsTwiceWithRetainGraphOnly) {
  const Tensor x = leaf({2});
  const Tensor y = (x * x).sum();
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  EXPECT_EQ(values_of(x.grad()), (Values{8}));
  EXPECT_THROWS(y.backward(), c10::Error, "graph was freed");
  EXPECT_EQ(values_of(x.grad()), (Values{8})) << "a failed pass must not change gradients here";
}

TEST(Engine, CreateGraphAllowsHigherDerivatives) {
  const Tensor x = leaf({2});
  const Tensor y = (x * x * x).sum();
  const Tensor first = at::autograd::grad({y}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  const Tensor second =
      at::autograd::grad({first.sum()}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  const Tensor third = at::autograd::grad({second.sum()}, {x})[0];
  EXPECT_EQ(values_of(first), (Values{12}));
  EXPECT_EQ(values_of(second), (Values{12}));
  EXPECT_EQ(values_of(third), (Values{6}));
  EXPECT_FALSE(third.requires_grad());
  EXPECT_FALSE(x.grad().defined());
}

TEST(Engine, BackwardWithCreateGraphLeavesADifferentiableGradient) {
  const Tensor x = leaf({3});
  (x * x).sum().backward({}, std::nullopt, /*create_graph=*/true);
  ASSERT_TRUE(x.grad().requires_grad());
  const Tensor second = at::autograd::grad({x.grad().sum()}, {x})[0];
  EXPECT_EQ(values_of(second), (Values{2}));
  x.mutable_grad().reset();  // the gradient refers to x: a cycle that only we can break
}

TEST(Engine, GradReturnsGradientsOfInnerTensorsToo) {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  const Tensor z = y * y;
  const auto grads = at::autograd::grad({z.sum()}, {y, x});
  EXPECT_EQ(values_of(grads[0]), (Values{12}));
  EXPECT_EQ(values_of(grads[1]), (Values{36}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Engine, GradOfAnOutputByItselfIsTheGivenGradient) {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  EXPECT_EQ(values_of(at::autograd::grad({y}, {y}, {vector_of({5})})[0]), (Values{5}));
}

TEST(Engine, GradComputesOnlyWhatIsAskedFor) {
  const Tensor x = leaf({2});
  const Tensor y = leaf({3});
  const Tensor broken = y.clone();
  broken.grad_fn()->add_pre_hook([](const at::autograd::variable_list&) {
    ADD_FAILURE() << "not on the way to x";
    return at::autograd::variable_list();
  });
  EXPECT_EQ(values_of(at::autograd::grad({(x * broken).sum()}, {x})[0]), (Values{3}));
}

TEST(Engine, UnusedInputsAreRefusedUnlessAllowed) {
  const Tensor x = leaf({2});
  const Tensor unused = leaf({3});
  const Tensor y = (x * x).sum();
  EXPECT_THROWS(at::autograd::grad({y}, {x, unused}, {}, /*retain_graph=*/true), c10::Error,
                "is not part of the outputs' graph");
  const auto grads = at::autograd::grad({y}, {x, unused}, {}, std::nullopt, false, true);
  EXPECT_TRUE(grads[0].defined());
  EXPECT_FALSE(grads[1].defined());
}

TEST(Engine, BackwardWithInputsTouchesOnlyThese) {
  const Tensor x = leaf({2});
  const Tensor y = leaf({3});
  const Tensor inner = x * y;
  const std::vector<Tensor> inputs = {x, inner};
  (inner * inner).sum().backward({}, std::nullopt, false, at::TensorList(inputs));
  EXPECT_EQ(values_of(x.grad()), (Values{36}));
  EXPECT_EQ(values_of(inner.grad()), (Values{12}));
  EXPECT_FALSE(y.grad().defined());
}

TEST(Engine, SeveralOutputsAtOnce) {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  const Tensor z = y * y;
  // y is an output and on the way from z.
  at::autograd::backward({z, y}, {vector_of({1}), vector_of({10})});
  EXPECT_EQ(values_of(x.grad()), (Values{36 + 30}));
}

TEST(Engine, RefusesWhatHasNoGradient) {
  const Tensor plain = vector_of({1});
  EXPECT_THROWS(plain.backward(), c10::Error, "element 0 of the outputs has no graph");
  const Tensor x = leaf({1, 2});
  EXPECT_THROWS((x * 2).backward(), c10::Error,
                "the gradient may be left out only for an output with one element");
  EXPECT_THROWS((x * 2).backward(vector_of({1, 2, 3})), c10::Error, "expected a gradient of shape");
  EXPECT_THROWS(at::autograd::grad({(x * 2).sum()}, {plain}), c10::Error,
                "input 0 does not require grad");
  EXPECT_THROWS(at::ones({2}, at::kLong).requires_grad_(), c10::Error,
                "expected a tensor of floating-point or complex dtype");
  EXPECT_THROWS((x * 2).requires_grad_(false), c10::Error, "cannot stop requiring it");
}

TEST(Engine, OutFormsRefuseInputsThatRequireGrad) {
  const Tensor x = leaf({1, 2});
  Tensor out = at::empty({2}, at::kDouble);
  EXPECT_THROWS(at::mul_out(out, x, x), c10::Error, "mul(): an argument requires grad");
  c10::NoGradGuard no_grad;
  at::mul_out(out, x, x);
  EXPECT_EQ(values_of(out), (Values{1, 4}));
}

TEST(Engine, NothingIsRecordedUnderNoGrad) {
  const Tensor x = leaf({1});
  {
    c10::NoGradGuard no_grad;
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST(Engine, ALeafIsItsOwnGraph) {
  const Tensor x = at::ones({}, at::kDouble).requires_grad_();
  x.backward();
  EXPECT_EQ(values_of(x.grad()), (Values{1}));
}

// ---- Undefined gradients ----

// Has two outputs, and counts the gradients that arrive.
struct TwoOutputs : at::autograd::Function<TwoOutputs> {
  static std::vector<Tensor> forward(at::autograd::AutogradContext* context, const Tensor& x) {
    context->set_materialize_grads(false);
    return {x.clone(), x * 2};
  }
  static at::autograd::variable_list backward(at::autograd::AutogradContext*,
                                              at::autograd::variable_list grads) {
    defined[0] = grads[0].defined();
    defined[1] = grads[1].defined();
    return {grads[1].defined() ? grads[1] * 2 : grads[0]};
  }
  static inline bool defined[2];
};

TEST(Engine, AGradientThatDoesNotArriveIsUndefined) {
  const Tensor x = leaf({1, 2});
  const auto outputs = TwoOutputs::apply(x);
  outputs[1].sum().backward();
  EXPECT_FALSE(TwoOutputs::defined[0]);
  EXPECT_TRUE(TwoOutputs::defined[1]);
  EXPECT_EQ(values_of(x.grad()), (Values{2, 2}));
}

// Gives its input no gradient.
struct NoGradientBack : at::autograd::Function<NoGradientBack> {
  static Tensor forward(at::autograd::AutogradContext*, const Tensor& x) { return x.clone(); }
  static at::autograd::variable_list backward(at::autograd::AutogradContext*,
                                              at::autograd::variable_list) {
    return at::autograd::variable_list(1);
  }
};

TEST(Engine, AnUndefinedGradientCountsAsZero) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 3;
  (NoGradientBack::apply(y) * 5 + x).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{1, 1}));
}

TEST(Engine, WhereNoGradientArrivesNoneIsMade) {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  const Tensor y = at::cat({(x * w).exp(), at::dot(x, w).view({1})}, 0).slice(0, 0, 2);
  const Tensor z = NoGradientBack::apply(y).sum();
  z.backward({}, /*retain_graph=*/true);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(w.grad().defined());
  const auto grads = at::autograd::grad({z}, {x, w}, {}, false, false, /*allow_unused=*/true);
  EXPECT_FALSE(grads[0].defined() || grads[1].defined());
}

// ---- Failures ----

struct Failing : at::autograd::Function<Failing> {
  static Tensor forward(at::autograd::AutogradContext*, const Tensor& x) { return x.clone(); }
  static at::autograd::variable_list backward(at::autograd::AutogradContext*,
                                              at::autograd::variable_list grads) {
    if (fails) throw std::runtime_error("from a backward");
    return grads;
  }
  static inline bool fails;
};

TEST(Engine, AnExceptionReachesTheCallerAndLeavesTheGraphUsable) {
  const Tensor x = leaf({1, 2});
  const Tensor y = Failing::apply(x * x).sum();
  Failing::fails = true;
  EXPECT_THROW(y.backward({}, /*retain_graph=*/true), std::runtime_error);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(c10::GradMode::is_enabled());
  Failing::fails = false;
  y.backward();
  EXPECT_EQ(values_of(x.grad()), (Values{2, 4}));
}

struct WrongCount : at::autograd::Function<WrongCount> {
  static Tensor forward(at::autograd::AutogradContext*, const Tensor& x) { return x.clone(); }
  static at::autograd::variable_list backward(at::autograd::AutogradContext*,
                                              at::autograd::variable_list grads) {
    return {grads[0], grads[0]};
  }
};

struct WrongShape : at::autograd::Function<WrongShape> {
  static Tensor forward(at::autograd::AutogradContext*, const Tensor& x) { return x.clone(); }
  static at::autograd::variable_list backward(at::autograd::AutogradContext*,
                                              at::autograd::variable_list) {
    return {at::ones({7}, at::kDouble)};
  }
};

TEST(Engine, GradientsThatDoNotFitAreRefused) {
  const Tensor x = leaf({1, 2});
  EXPECT_THROWS(WrongCount::apply(x).sum().backward(), c10::Error, "expected 1 gradients, got 2");
  EXPECT_THROWS(WrongShape::apply(x).sum().backward(), c10::Error,
                "expected gradient 0 of a shape that sums to [2], got [7]");
}

TEST(Engine, APassCanRunInsideAPassOnTheSameGraph) {
  const Tensor x = leaf({3});
  const Tensor shared = x * x;
  const Tensor inside = (shared * 2).sum();
  const Tensor outside = shared * 5;
  outside.register_hook([&](const Tensor&) {
    inside.backward({}, /*retain_graph=*/true);
    return Tensor();
  });
  outside.sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{2 * 6 + 5 * 6}));
}

// ---- Size ----

TEST(Engine, AChainOfAMillionNodesNeitherRecursesForwardNorInDestruction) {
  const Tensor x = at::ones({}, at::kDouble).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 1000000; ++i) y = y + x;
  y.backward();
  EXPECT_EQ(x.grad().item<double>(), 1000001);
  y.reset();
}

TEST(Engine, AChainOfAMillionNodesThatIsNeverRunIsDestroyedToo) {
  const Tensor x = at::ones({}, at::kDouble).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 1000000; ++i) y = y * x;  // saves its inputs
  const Witness last(y);
  y.reset();
  EXPECT_FALSE(last.alive());
}

TEST(Engine, GraphsDieWithTheirOutputs) {
  const Tensor x = leaf({1, 2});
  Tensor inner = x.exp();  // saves its output
  Tensor outer = (inner * inner).sum();
  const Witness inner_witness(inner);
  c10::weak_intrusive_ptr<at::autograd::Node> node(inner.grad_fn());
  inner.reset();
  EXPECT_TRUE(inner_witness.alive()) << "saved by the product";
  outer.backward();
  EXPECT_FALSE(inner_witness.alive()) << "released by the pass";
  EXPECT_FALSE(node.expired());
  outer.reset();
  EXPECT_TRUE(node.expired());
}

TEST(Engine, LeavesDieThoughTheirAccumulatorRefersToThem) {
  Tensor x = leaf({1, 2});
  Tensor y = (x * 2).sum();
  const Witness witness(x);
  y.backward();
  x.reset();
  EXPECT_TRUE(witness.alive()) << "the graph holds it";
  y.reset();
  EXPECT_FALSE(witness.alive());
}

TEST(Engine, AnEdgeToALeafOwnsTheLeaf) {
  using at::autograd::NodePtr;
  Tensor x = leaf({1, 2});
  const Witness witness(x);
  at::autograd::Edge edge = at::autograd::gradient_edge(x);
  EXPECT_EQ(edge, at::autograd::gradient_edge(x));
  EXPECT_EQ(x.use_count(), 2u);
  NodePtr node = edge.function;
  NodePtr moved = std::move(edge.function);
  EXPECT_EQ(x.use_count(), 3u);
  x.reset();
  node = NodePtr();
  ASSERT_TRUE(witness.alive());
  (*moved)({vector_of({5, 6})});
  EXPECT_EQ(values_of(moved->leaf()->grad()), (Values{5, 6}));
  edge.function = moved;
  moved = NodePtr();
  ASSERT_TRUE(witness.alive());
  edge = at::autograd::Edge();
  EXPECT_FALSE(witness.alive());
}

// The graph of the old shape goes on leading to its own node.
TEST(Engine, ALeafHasANodeForEachShapeThatWasRecorded) {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * 2).sum();
  const at::autograd::Edge before = at::autograd::gradient_edge(x);
  x.unsafeGetTensorImpl()->set_sizes_contiguous({1});
  const at::autograd::Edge after = at::autograd::gradient_edge(x);
  EXPECT_FALSE(before == after);
  EXPECT_EQ(after.function->input_metadata(0).sizes, c10::DimVector{1});
  x.unsafeGetTensorImpl()->set_sizes_contiguous({2});
  EXPECT_EQ(before, at::autograd::gradient_edge(x)) << "used again";
  y.backward();
  EXPECT_EQ(values_of(x.grad()), (Values{2, 2}));
}

TEST(Engine, ALeafThatWasResizedBetweenTwoGraphsGetsGradientsOfItsNewShape) {
  Tensor x = leaf({1, 2});
  (x * 2).sum().backward();
  EXPECT_EQ(x.grad().sizes(), at::IntArrayRef({2}));
  x.mutable_grad() = Tensor();
  {
    const c10::NoGradGuard guard;
    x.unsafeGetTensorImpl()->set_sizes_contiguous({1});
  }
  (x * 3).sum().backward();
  EXPECT_EQ(values_of(x.grad()), (Values{3}));
}

// What records an operator that has no formula, as those of another library may be.
TEST(Engine, AnOperatorWithoutADerivativeIsNamedWhenAGradientArrives) {
  const auto node = c10::make_intrusive<at::autograd::NotImplemented>("fold");
  EXPECT_THROWS((*node)({at::ones({1})}), c10::NotImplementedError,
                "fold has no derivative; detach()");
  EXPECT_NO_THROW((*node)({Tensor()}));
}

}  // namespace
