// Consumers that are led from a tensor to its cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// B writes the first `written` of 8 elements of X, C reads `read` of them.
Function Program(int written, int read) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(X: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")):
    for i in range()",
                                   written, R"():
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            X[vi] = T.Cast("int32", vi) * 3
    for i in range()",
                                   read, R"():
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            Y[vi] = X[vi]
)"));
}

TEST(CacheConsumersTest, AConsumerOfWhatIsWrittenReadsTheCache) {
  for (const int read : {3, 5}) {
    const Function f = Program(5, read);
    KILN_ASSERT_OK_AND_ASSIGN(
        const CacheResult result,
        CacheWrite(f, BlockNamed(f, "B"), 0, "global", {BlockNamed(f, "C")}));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
  }
}

TEST(CacheConsumersTest, AConsumerOfMoreThanThatIsRefused) {
  const Function f = Program(5, 6);
  EXPECT_THAT(
      CacheWrite(f, BlockNamed(f, "B"), 0, "global", {BlockNamed(f, "C")}),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("reads what is not written yet")));
}

TEST(CacheConsumers, RegionsOfTheBlockAroundKeepTheTensorThatTheyName) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(I: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("O"):
            vo = T.axis.spatial(8, i)
            T.reads(I[vo])
            T.writes(Y[I[vo]])
            with T.block("B"):
                T.reads(I[vo])
                T.writes(Y[I[vo]])
                Y[I[vo]] = T.float32(1)
)");
  EXPECT_THAT(CacheRead(f, BlockNamed(f, "B"), 0, "local", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("depend on what `I` holds")));
  EXPECT_TRUE(CacheRead(f, BlockNamed(f, "O"), 0, "local", {}).ok());
}

}  // namespace
}  // namespace kiln
