#include "kiln/ir/tensor/empty_reductions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// The sum of the rows of X over k in `extent`.
Function SumOver(const std::string& extent) {
  const absl::StatusOr<Function> f = ParseFunction("f.py", R"(
@T.prim_func
def f(x: T.handle, y: T.Buffer((4,), "float32")):
    n = T.int64()
    X = T.match_buffer(x, (4, n), "float32")
    for i in range(4):
        for k in range()" + extent + R"():
            with T.block("y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    y[vi] = T.float32(0)
                y[vi] = y[vi] + X[vi, vk]
)");
  KILN_EXPECT_OK(f.status());
  return f.value_or(Function());
}

TEST(EmptyReductionsTest, SumsOverADimensionBeginAheadAndKeepTheirInit) {
  const std::string text = PrintFunction(BeginEmptyReductions(SumOver("n")));
  EXPECT_THAT(text, HasSubstr("if n <= 0:"));
  EXPECT_THAT(text, HasSubstr("with T.block(\"y_init\"):"));
  EXPECT_THAT(text, HasSubstr("with T.init():"));
}

TEST(EmptyReductionsTest, ExtentsOfTheProgramsOwnMakingRunNothing) {
  for (const char* extent : {"0", "8", "i % 2"}) {
    const Function f = SumOver(extent);
    EXPECT_EQ(PrintFunction(BeginEmptyReductions(f)), PrintFunction(f));
  }
}

}  // namespace
}  // namespace kiln
