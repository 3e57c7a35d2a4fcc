#include "kiln/codegen/lower/auto/tensor_bytes.h"

#include <gtest/gtest.h>

#include "absl/status/statusor.h"
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

}  // namespace
}  // namespace kiln::lower
