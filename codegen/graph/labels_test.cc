#include "kiln/codegen/graph/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

TEST(LabelsTest, CallsGoByTheNamesOfTheirResults) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", R"(
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        a = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        _ = R.call_packed("exp", x, a, sinfo_args=(R.Tuple(),))
        y = a
        b = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        c = R.builtin.alloc_tensor(R.shape([8]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        _1 = R.call_packed("sort", y, b, c, sinfo_args=(R.Tuple(),))
        z = (b, c)
        return z
)"));
  const graph::FunctionNode& f = *module.FindGraph("main");
  auto labels = LabelsOf(f);
  std::vector<std::string> found;
  for (const graph::BindingBlock& block : f.body.As<graph::SeqNode>()->blocks) {
    for (const graph::Binding& binding : block.bindings) {
      found.push_back(labels[binding.var.get()]);
    }
  }
  EXPECT_THAT(found, ElementsAre("a", "y", "y", "b", "c", "_1", "z"));
}

}  // namespace
}  // namespace kiln
