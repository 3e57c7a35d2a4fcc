#include "kiln/ir/transform/graph/fuse_tir.h"

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/verify/verify.h"

namespace kiln {
namespace {

constexpr char kLayer[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 4), "float32"), b: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            c = R.add(a, b)
            gv = R.nn.relu(c)
            R.output(gv)
        return gv
)";

TEST(FuseTirTest, ALayerBecomesOneKernel) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module fused,
      RunGraphPasses(ReadModule(kLayer), {"legalize", "annotate_patterns",
                                          "fuse_ops", "fuse_tir"}));
  ASSERT_EQ(fused.functions.size(), 1u);
  EXPECT_EQ(fused.functions[0].name, "fused_matmul_add_relu");
  EXPECT_EQ(fused.functions[0].params.size(), 4u);
  EXPECT_EQ(fused.functions[0].root().alloc_buffers.size(), 2u);
  EXPECT_EQ(fused.graph_functions.size(), 1u);
  KILN_EXPECT_OK(VerifyModule(fused));
}

TEST(FuseTirTest, WhatIsNoCallOfATensorFunctionStays) {
  Module module = ReadModule(kLayer);
  graph::FunctionFields fields = module.graph_functions[0]->fields();
  fields.attrs["Primitive"] = Bool(true);
  module.graph_functions[0] = graph::GraphFunction(fields);
  KILN_ASSERT_OK_AND_ASSIGN(const Module fused,
                            RunGraphPasses(module, {"fuse_tir"}));
  EXPECT_TRUE(fused.functions.empty());
  EXPECT_EQ(fused.graph_functions.size(), 1u);
}

}  // namespace
}  // namespace kiln
