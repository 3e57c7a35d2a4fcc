#include "kiln/search/task/open_tails.h"

#include <string>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// A copy of n elements in vectors of 8, `vectors` of them side by side.
bool Copy(int vectors, const std::string& extent, const std::string& kind) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, ($1,), "float32")
    B = T.match_buffer(b, ($1,), "float32")
    for i_0 in range(($1 + $0 * 8 - 1) // ($0 * 8)):
        for i_1 in $2($0):
            for l in T.vectorized(8):
                with T.block("B"):
                    vi = T.axis.spatial($1, i_0 * ($0 * 8) + i_1 * 8 + l)
                    T.where(i_0 * ($0 * 8) + i_1 * 8 + l < $1)
                    B[vi] = A[vi]
)",
                                            vectors, extent, kind);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  return f.ok() && HasTooManyTails(*f);
}

TEST(OpenTailsTest, LengthsOfTilesThatABorderCutsAreCounted) {
  EXPECT_FALSE(Copy(1, "n", "T.unroll"));
  EXPECT_FALSE(Copy(3, "n", "T.unroll")) << "23 of them";
  EXPECT_TRUE(Copy(4, "n", "T.unroll"));
  EXPECT_FALSE(Copy(4, "n", "range")) << "a loop is not copied";
  EXPECT_FALSE(Copy(4, "1001", "T.unroll")) << "a border that is known";
}

TEST(OpenTailsTest, AFusedLoopDoesNotHideAKnownBorder) {
  const absl::StatusOr<Function> f = ParseFunction("test", R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 1000), "float32")
    B = T.match_buffer(b, (n, 1000), "float32")
    for fused in range((n + 3) // 4 * 21):
        for i in T.unroll(4):
            for j in T.unroll(3):
                for l in T.vectorized(16):
                    with T.block("B"):
                        vi = T.axis.spatial(n, fused % ((n + 3) // 4) * 4 + i)
                        vj = T.axis.spatial(1000, fused // ((n + 3) // 4) * 48 + j * 16 + l)
                        T.where(fused % ((n + 3) // 4) * 4 + i < n and fused // ((n + 3) // 4) * 48 + j * 16 + l < 1000)
                        B[vi, vj] = A[vi, vj]
)");
  KILN_ASSERT_OK(f.status());
  EXPECT_FALSE(HasTooManyTails(*f));
  EXPECT_EQ(UncopiedShare(*f, 5), 0) << "3 ways to cut the rows";
}

// Sums of n x n products in tiles of `rows` x `vectors` * 8.
double Share(int rows, int vectors, int64_t size) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, n), "float32")
    B = T.match_buffer(b, (n, n), "float32")
    for i_0, j_0 in T.grid((n + $0 - 1) // $0, (n + $1 - 1) // $1):
        for i_1 in T.unroll($0):
            for j_1 in T.vectorized($1):
                with T.block("B"):
                    vi = T.axis.spatial(n, i_0 * $0 + i_1)
                    vj = T.axis.spatial(n, j_0 * $1 + j_1)
                    T.where(i_0 * $0 + i_1 < n and j_0 * $1 + j_1 < n)
                    B[vi, vj] = A[vi, vj]
)",
                                            rows, vectors * 8);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  return f.ok() ? UncopiedShare(*f, size) : -1;
}

TEST(OpenTailsTest, TilesWithTooManyTailsInAllAreAPartOfAll) {
  EXPECT_EQ(Share(1, 3, 100), 0) << "23 of them";
  EXPECT_EQ(Share(4, 3, 96), 0) << "no tile is cut short";
  EXPECT_DOUBLE_EQ(Share(4, 3, 97), 1.0 / 25 + 1.0 / 5);
  EXPECT_DOUBLE_EQ(Share(4, 3, 100), 1.0 / 5);
  EXPECT_EQ(Share(4, 3, 3), 1) << "each is cut short twice";
}

bool Rows(const std::string& extent) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 784), "float32")
    B = T.match_buffer(b, (n, 784), "float32")
    S = T.alloc_buffer(($0, 784), "float32")
    for i, j in T.grid(n, 784):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
)",
                                            extent);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  return f.ok() && MergesOpenAxes(*f);
}

TEST(OpenTailsTest, AxesOfOpenExtentStandAloneOrAreMerged) {
  EXPECT_TRUE(Rows("n * 784"));
  EXPECT_FALSE(Rows("n"));
  EXPECT_FALSE(Rows("784"));
  EXPECT_FALSE(Rows("n + 1"));
  EXPECT_FALSE(Rows("(n + 11) // 12 * 12"));
  EXPECT_TRUE(Rows("(n + 11) // 12 * 24"));
}

}  // namespace
}  // namespace kiln
