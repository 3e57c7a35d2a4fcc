// Integers divided by integers that no constant tells: vectors divide in
// floating point where that is exact, on each register file. Both operands
// reach the ends of their type, and 0 and -1 are among the divisors.
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/substitute.h"
#include "kiln/tests/end_to_end/every_target.h"

namespace kiln {
namespace {

// $0: the type, $1: the quotient or rest of `x` by `y`, $2: the elements.
constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer(($2,), "$0"), B: T.Buffer(($2,), "$0"), X: T.Buffer(($2,), "$0"), Y: T.Buffer(($2,), "$0"), C: T.Buffer(($2,), "$0")):
    for i in range($2):
        with T.block("X"):
            vi = T.axis.spatial($2, i)
            X[vi] = T.Select(vi % 3 == 0, T.max_value("$0") - A[vi], T.Select(vi % 3 == 1, T.min_value("$0") + A[vi], A[vi] * B[vi]))
    for i in range($2):
        with T.block("Y"):
            vi = T.axis.spatial($2, i)
            Y[vi] = T.Select(vi % 5 == 0, T.$0(0) - T.$0(1), T.Select(vi % 5 == 1, T.max_value("$0"), T.Select(vi % 5 == 2, T.min_value("$0"), B[vi])))
    for i in range($2):
        with T.block("C"):
            vi = T.axis.spatial($2, i)
            C[vi] = $1
)";

class DivisionTest : public EveryTargetTest {};

TEST_P(DivisionTest, VectorsDivideAsNumbersDo) {
  for (const std::string type : {"int8", "uint8", "int16", "uint16", "int32",
                                 "uint32", "int64", "uint64"}) {
    for (const std::string value :
         {"X[vi] // Y[vi]", "X[vi] % Y[vi]", "T.truncdiv(X[vi], Y[vi])",
          "T.truncmod(X[vi], Y[vi])"}) {
      for (const int n : {1, 37, 960}) {
        const std::string text = absl::Substitute(kProgram, type, value, n);
        const absl::Status same = CheckByDefault(text);
        EXPECT_TRUE(same.ok()) << text << same;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEvery, DivisionTest, testing::ValuesIn(kX86Targets),
                         [](const auto& info) { return NameOfTarget(info); });

}  // namespace
}  // namespace kiln
