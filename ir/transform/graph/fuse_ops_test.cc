// Graphs as text, and the functions that fused calls become: which follow a
// reduction, which stay, what their names and parameters are, and that nothing
// is computed otherwise than before.
#include "kiln/ir/transform/graph/fuse_ops.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

TEST(FuseOpsTest, OnlyWhatIsUsedOnceFollowsAReduction) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module fused,
      RunGraphPasses(ReadModule(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.exp(a)
            gv = R.nn.relu(b)
            R.output(b, gv)
        return (b, gv)
)"),
                     {"legalize", "annotate_patterns", "fuse_ops"}));
  ASSERT_EQ(fused.graph_functions.size(), 2u);
  EXPECT_EQ(fused.graph_functions[1]->name, "fused_matmul_exp");
  EXPECT_TRUE(fused.graph_functions[1]->is_private);
}

// A product and the depthwise convolution of what it makes.
std::vector<std::string> NamesOfBottleneck(const std::string& size) {
  const absl::StatusOr<Module> fused = RunGraphPasses(
      ReadModule(
          R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, )" +
          size + ", " + size +
          R"(, 4), "float32"), w: R.Tensor((1, 1, 4, 64), "float32"), d: R.Tensor((3, 3, 1, 64), "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="HWIO")
            z = R.nn.relu(y)
            u = R.nn.conv2d(z, d, padding=[1, 1], groups=64, data_layout="NHWC", kernel_layout="HWIO")
            gv = R.nn.relu(u)
            R.output(gv)
        return gv
)"),
      {"legalize", "annotate_patterns", "fuse_ops"});
  KILN_EXPECT_OK(fused.status());
  std::vector<std::string> names;
  for (const auto& f : fused->graph_functions) names.push_back(f->name);
  return names;
}

TEST(FuseOpsTest, WindowsFollowProductsOfLargeValues) {
  EXPECT_EQ(
      NamesOfBottleneck("64"),
      std::vector<std::string>({"main", "fused_conv2d_relu_conv2d1_relu"}));
  EXPECT_EQ(NamesOfBottleneck("32").size(), 3u);
}

// A batch of one image is no other case than a batch of two.
TEST(FuseOpsTest, WhatFollowsAReductionAtABatchOfOne) {
  for (const std::string batch : {"1", "2"}) {
    for (const std::string bias : {"(6,)", "(1, 1, 1, 6)"}) {
      KILN_ASSERT_OK_AND_ASSIGN(
          const Module fused,
          RunGraphPasses(
              ReadModule(
                  R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(()" +
                  batch +
                  R"(, 5, 5, 4), "float32"), w: R.Tensor((6, 3, 3, 4), "float32"), b: R.Tensor()" +
                  bias + R"(, "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="OHWI")
            z = R.add(y, b)
            gv = R.nn.relu(z)
            R.output(gv)
        return gv
)"),
              {"legalize", "annotate_patterns", "fuse_ops"}));
      ASSERT_EQ(fused.graph_functions.size(), 2u) << batch << " " << bias;
      EXPECT_EQ(fused.graph_functions[1]->name, "fused_conv2d_add_relu");
    }
  }
}

TEST(FuseOpsTest, AFieldOfATupleThatHasNoNameIsNotTakenIn) {
  EXPECT_EQ(MeaningAfter({"legalize", "annotate_patterns", "fuse_ops"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.negative(a)
        c = (a, b)[0]
        d = R.add(c, x)
        R.output(d)
    return d
)"),
            "");
}

TEST(FuseOpsTest, GroupsHaveAtMostSoManyCalls) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module legal,
      RunGraphPasses(ReadModule(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.log(a)
            gv = R.exp(b)
            R.output(gv)
        return gv
)"),
                     {"legalize", "annotate_patterns", "infer"}));
  KILN_ASSERT_OK_AND_ASSIGN(const Module one, FuseOps(legal, 1));
  EXPECT_EQ(one.graph_functions.size(), 1u);
  KILN_ASSERT_OK_AND_ASSIGN(const Module all, FuseOps(legal));
  EXPECT_EQ(all.graph_functions.size(), 2u);
}

// As a message may have it, which says who is who by number.
TEST(FuseOpsTest, AVariableMayBeBoundToWhatIsComputedFromIt) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module legal,
      RunGraphPasses(ReadModule(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.add(a, y)
            gv = R.multiply(b, a)
            R.output(gv)
        return gv
)"),
                     {"legalize", "annotate_patterns", "infer"}));
  const graph::GraphFunction& f = legal.graph_functions[0];
  std::vector<graph::BindingBlock> blocks =
      f->body.As<graph::SeqNode>()->blocks;
  std::vector<graph::Binding>& bindings = blocks[0].bindings;
  ASSERT_EQ(bindings.size(), 3u);
  graph::Substitution b_is_a;
  b_is_a.vars[bindings[1].var.get()] = bindings[0].var;
  bindings[1].var = bindings[0].var;
  bindings[2].value = graph::Substitute(bindings[2].value, b_is_a);
  Module again = legal;
  again.graph_functions[0] = graph::WithBody(
      *f, graph::Seq(blocks, f->body.As<graph::SeqNode>()->result));
  KILN_EXPECT_OK(FuseOps(again));
}

}  // namespace
}  // namespace kiln
