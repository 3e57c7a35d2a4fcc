#include "kiln/codegen/lower/auto/innermost_stream.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::lower {
namespace {

// The first loop of a function with these statements.
Stream StreamIn(const std::string& body) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((4096,), "float32"), B: T.Buffer((4096,), "float32"), C: T.Buffer((64,), "float32")):
)" + body);
  EXPECT_TRUE(f.ok()) << f.status();
  static Function* kept = new Function();  // streams point into it
  *kept = *f;
  const ForNode* first = nullptr;
  Visit(kept->body, [&](const Stmt& s) {
    if (!first) first = s.As<ForNode>();
    return true;
  });
  return StreamOf(*first, Machine());
}

TEST(InnermostStreamTest, SumsOfVectorsThatAreUsedOnce) {
  const Stream rows = StreamIn(R"(
    for k in range(32):
        C[0:16] = C[0:16] + A[k * 64:k * 64 + 16]
        C[16:32] = C[16:32] + A[k * 64 + 16:k * 64 + 32]
)");
  ASSERT_TRUE(rows.loop);
  EXPECT_TRUE(rows.is_sum);
  EXPECT_TRUE(rows.uses_once);
  EXPECT_FALSE(rows.is_short);
  EXPECT_EQ(rows.bytes, 128);
}

TEST(InnermostStreamTest, VectorsThatSeveralOperationsUse) {
  const Stream tile = StreamIn(R"(
    for k in range(8):
        v = T.float32x16(A[k * 16:k * 16 + 16])
        C[0:16] = C[0:16] + T.Broadcast(B[k], 16) * v
        C[16:32] = C[16:32] + T.Broadcast(B[k + 64], 16) * v
)");
  ASSERT_TRUE(tile.loop);
  EXPECT_TRUE(tile.is_sum);
  EXPECT_FALSE(tile.uses_once);
  EXPECT_TRUE(tile.is_short);
  EXPECT_EQ(tile.inside.size(), 1u);
}

TEST(InnermostStreamTest, VectorsThatSeveralOperationsLoad) {
  const Stream tile = StreamIn(R"(
    for k in range(32):
        C[0:16] = C[0:16] + T.Broadcast(B[k], 16) * A[k * 16:k * 16 + 16]
        C[16:32] = C[16:32] + T.Broadcast(B[k + 64], 16) * A[k * 16:k * 16 + 16]
)");
  EXPECT_TRUE(tile.is_sum);
  EXPECT_FALSE(tile.uses_once);
}

TEST(InnermostStreamTest, NoneOfAFewIterationsOrAroundLoops) {
  EXPECT_FALSE(StreamIn(R"(
    for k in range(3):
        C[k] = A[k]
)")
                   .loop);
  EXPECT_FALSE(StreamIn(R"(
    for i in range(8):
        for k in range(8):
            C[i * 8 + k] = A[k]
)")
                   .loop);
}

}  // namespace
}  // namespace kiln::lower
