// What each call of a program does, a line for each.
#include "kiln/ir/ops/memory_call.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

std::string Said(const graph::CallNode& call) {
  const auto memory = AsMemoryCall(call);
  if (!memory.ok()) return std::string(memory.status().message());
  if (!*memory) return "another call";
  constexpr const char* kNames[] = {"allocate", "take", "view", "same", "end"};
  std::string said = kNames[static_cast<int>((*memory)->action)];
  if ((*memory)->offset) {
    absl::StrAppend(&said, " ", PrintExpr((*memory)->offset));
  }
  if ((*memory)->info) {
    absl::StrAppend(&said, " ", PrintStructInfo((*memory)->info));
  }
  return said;
}

TEST(MemoryCallTest, ActionsWithTensorsAndOffsets) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module read, ParseModule("m.py", R"(
@R.function(pure=False)
def main(x: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    a = R.builtin.alloc_tensor(R.shape([n, 2]), R.dtype("int8"), 0, R.str("global"))
    s = R.memory.alloc_storage(R.shape([n * 8]), 0, R.str("global"), R.dtype("float32"))
    t = R.memory.alloc_tensor(s, 4, R.shape([n]), R.dtype("float32"), 0)
    v = R.memory.view(x, R.shape([2, n]), R.dtype("int32"), 8)
    w = R.call_packed("vm.builtin.reshape", x, R.shape([n * 4]), sinfo_args=(R.Tensor((n * 4,), "float32"),))
    z = R.memory.ensure_zero_offset(v)
    k = R.memory.kill_tensor(t)
    e = R.exp(x)
    return z
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, InferModule(read));
  std::string said;
  graph::Visit(module.graph_functions[0], [&](const graph::Expr& e) {
    const auto* call = e.As<graph::CallNode>();
    if (call) absl::StrAppend(&said, Said(*call), "\n");
    return true;
  });
  EXPECT_EQ(said, R"(allocate 0 R.Tensor((n, 2), dtype="int8")
allocate 0 R.Tensor((n * 8,), dtype="uint8")
take 4 R.Tensor((n,), dtype="float32")
view 8 R.Tensor((2, n), dtype="int32")
view 0 R.Tensor((n * 4,), dtype="float32")
same
end
another call
)");
}

}  // namespace
}  // namespace kiln
