// embedding and dropout.
#include "Testing.h"

#include <aten/autograd/GradCheck.h>
#include <generated/ops/clone.h>
#include <generated/ops/dropout.h>
#include <generated/ops/embedding.h>
#include <generated/ops/embedding_dense_backward.h>
#include <generated/ops/empty.h>
#include <generated/ops/max.h>
#include <generated/ops/mean.h>
#include <generated/ops/ones.h>
#include <generated/ops/rand.h>
#include <generated/ops/randn.h>
#include <generated/ops/sum.h>
#include <generated/ops/tanh.h>

namespace {

using namespace testing_native;  // NOLINT
using at::Tensor;
using testing::HasSubstr;

TEST(Embedding, RowsOfTheWeight) {
  const Tensor weight = counted({4, 2}, at::kFloat);
  EXPECT_EQ(doubles(at::embedding(weight, at::tensor({2, 0, 2}))), (Doubles{4, 5, 0, 1, 4, 5}));
  EXPECT_EQ(sizes(at::embedding(weight, at::tensor({{2, 0, 2}}))), (Ints{1, 3, 2}));
  EXPECT_EQ(sizes(at::embedding(weight, at::tensor(3))), (Ints{2}));
  EXPECT_EQ(sizes(at::embedding(weight, at::empty({0, 3}, at::kLong))), (Ints{0, 3, 2}));
  EXPECT_EQ(doubles(at::embedding(weight, at::tensor({1}, at::kInt))), (Doubles{2, 3}));
  EXPECT_THAT(message_of<c10::Error>([&] { at::embedding(weight[0], at::tensor({0})); }),
              HasSubstr("embedding(): expected weight of shape [n, width]"));
  EXPECT_THROW(at::embedding(weight, f64({0.5})), c10::Error);
  EXPECT_THROW(at::embedding(weight, at::tensor({4})), c10::IndexError);
  EXPECT_THROW(at::embedding(weight, at::tensor({-1})), c10::IndexError);
}

TEST(Embedding, Gradients) {
  at::manual_seed(1);
  const Tensor weight = at::randn({5, 3}, at::kDouble).requires_grad_();
  const Tensor indices = at::tensor({{1, 4, 1}, {0, 1, 2}});
  for (int64_t padding : {-1, 1}) {
    for (bool scale : {false, true}) {
      const Tensor g = at::ones({2, 3, 3}, at::kDouble);
      const Tensor dense = at::embedding_dense_backward(g, indices, 5, padding, scale);
      const double ones = padding == 1 ? 0 : (scale ? 1 : 3);
      EXPECT_EQ(dense[1][0].item<double>(), ones);
      EXPECT_EQ(dense[3][2].item<double>(), 0);
      EXPECT_EQ(dense[4][2].item<double>(), 1);
    }
  }
  const auto f = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{at::embedding(in[0], indices).tanh()};
  };
  EXPECT_TRUE(at::autograd::gradcheck(f, {weight}));
  EXPECT_TRUE(at::autograd::gradgradcheck(f, {weight}));
  EXPECT_THROW(at::embedding_dense_backward(at::ones({1, 3}), at::tensor({7}), 5, -1, false),
               c10::IndexError);
}

TEST(Dropout, KeepsTheMean) {
  at::manual_seed(2);
  const Tensor x = at::ones({100'000});
  const Tensor y = at::dropout(x, 0.25, true);
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.02);
  EXPECT_NEAR(at::eq(y, 0).to(at::kFloat).mean().item<double>(), 0.25, 0.01);
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.75, 1e-6);
  EXPECT_TRUE(at::dropout(x, 0.25, false).is_same(x));
  EXPECT_EQ(doubles(at::dropout(at::ones({3}), 1, true)), (Doubles{0, 0, 0}));
  EXPECT_EQ(doubles(at::dropout(at::ones({3}), 0, true)), (Doubles{1, 1, 1}));
  at::manual_seed(7);
  const Doubles first = doubles(at::dropout(x, 0.5, true));
  at::manual_seed(7);
  Tensor in_place = x.clone();
  at::dropout_(in_place, 0.5, true);
  EXPECT_EQ(doubles(in_place), first);
  EXPECT_THROW(at::dropout(x, 1.5, true), c10::ValueError);
  EXPECT_THROW(at::dropout(x, -0.5, true), c10::ValueError);
}

TEST(Dropout, GradientIsTheMask) {
  at::manual_seed(3);
  const Tensor x = at::rand({50}, at::kDouble).add(1).requires_grad_();
  const Tensor y = at::dropout(x, 0.5, true);
  y.sum().backward();
  EXPECT_EQ(doubles(x.grad()), doubles(at::ne(y, 0).to(at::kDouble).mul(2)));
}

}  // namespace
