#include "kiln/codegen/lower/auto/tensor_bytes.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::lower {
namespace {

TEST(TensorBytesTest, ParametersAndWhatIsAllocatedButNoViewsAndScalars) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(n: T.int64, A: T.Buffer((10,), "float32"), B: T.Buffer((n * 3,), "float32")):
    W = T.decl_buffer((100,), "int8", scope="workspace")
    V = T.decl_buffer((5,), data=A.data)
    for i in range(5):
        V[i] = T.Cast("float32", W[i])
)");
  ASSERT_TRUE(f.ok()) << f.status();
  EXPECT_EQ(BytesOf(f->params[1].buffer), 40);
  EXPECT_EQ(BytesOf(f->params[2].buffer), 12) << "where n is 1";
  EXPECT_EQ(TensorBytes(*f), 152);
}

// Of the loops around the first store, of which `i` and `j` run in parallel.
TEST(TensorBytesTest, ACoreHasItsShareOfWhatParallelLoopsGiveOut) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32")):
    for i in T.parallel(2):
        for j in T.parallel(8):
            for k in range(4):
                A[i * 32 + j * 4 + k] = T.float32(0)
)");
  ASSERT_TRUE(f.ok()) << f.status();
  std::vector<const ForNode*> loops;
  Visit(f->body, [&](const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) loops.push_back(loop);
    return true;
  });
  ASSERT_EQ(loops.size(), 3u);
  const auto share = [&](const Expr& index, int cores) {
    return ShareOfCore(96, loops, index, cores);
  };
  EXPECT_EQ(share(loops[0]->var, 4), 48);
  EXPECT_EQ(share(loops[1]->var, 4), 24) << "no more than there are cores";
  EXPECT_EQ(share(Add(loops[0]->var, loops[1]->var), 32), 6);
  EXPECT_EQ(share(loops[2]->var, 4), 96) << "each reads all of it";
}

}  // namespace
}  // namespace kiln::lower
