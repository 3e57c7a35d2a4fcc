#include "kiln/ir/pattern/order_bindings.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

constexpr char kText[] = R"(
@R.function
def main(x: R.Tensor(("k",), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
    n = T.int64()
    a = R.exp(x)
    b: R.Tensor((n,), "float32") = R.match_cast(y, R.Tensor((n,), "float32"))
    c = R.zeros(R.shape([n]), "float32")
    d = R.sin(a)
    return (b, c, d)
)";

class OrderBindingsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(const Module m, ParseModule("t.py", kText));
    KILN_ASSERT_OK_AND_ASSIGN(const Module inferred, InferModule(m));
    f_ = inferred.graph_functions[0];
    bindings_ = f_->body.As<graph::SeqNode>()->blocks[0].bindings;
    ASSERT_EQ(bindings_.size(), 4u);
  }

  // The names in the order that the bindings get; "" where there is none.
  static std::string Order(const std::vector<graph::Binding>& bindings) {
    const auto ordered =
        OrderBindings(bindings, [](const VarNode*) { return false; });
    std::string names;
    if (!ordered) return names;
    for (const graph::Binding& binding : *ordered) names += binding.var->name;
    return names;
  }

  graph::GraphFunction f_;
  std::vector<graph::Binding> bindings_;
};

TEST_F(OrderBindingsTest, WhatIsInOrderStays) {
  EXPECT_EQ(Order(bindings_), "abcd");
}

TEST_F(OrderBindingsTest, WhatIsNeededComesAhead) {
  std::rotate(bindings_.begin(), bindings_.begin() + 3, bindings_.end());
  EXPECT_EQ(Order(bindings_), "adbc");
}

TEST_F(OrderBindingsTest, ACastComesAheadOfItsDimensions) {
  // A new binding has no struct info, and names n in its shape alone.
  std::swap(bindings_[0], bindings_[3]);
  bindings_.push_back({graph::Var("e"), bindings_[1].var});
  EXPECT_EQ(Order(bindings_), "adbce");
  bindings_.insert(
      bindings_.begin(),
      {graph::Var("z"), graph::CallOp("exp", {bindings_.back().var})});
  EXPECT_EQ(Order(bindings_), "bezadc");
}

TEST_F(OrderBindingsTest, NothingComesAheadOfItself) {
  bindings_[0].value = graph::CallOp("exp", {bindings_[3].var});
  EXPECT_EQ(Order(bindings_), "");
}

}  // namespace
}  // namespace kiln
