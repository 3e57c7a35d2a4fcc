// The types that operands without one take from the operand beside them.
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// C[v] = `value`, where C is of int32.
std::string Printed(const std::string& value) {
  const std::string text = absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("C"):
            v = T.axis.spatial(8, i)
            C[v] = )",
                                        value, "\n");
  const absl::StatusOr<Function> f = ParseFunction("f.py", text);
  EXPECT_TRUE(f.ok()) << f.status();
  return f.ok() ? PrintFunction(*f) : "";
}

TEST(OperandsTest, AChoiceOfNumbersIsOfTheTypeBesideIt) {
  for (const std::string value :
       {"C[v] + T.Select(A[v] > 0, 1, 0)", "T.Select(A[v] > 0, 1, 0) + C[v]",
        "C[v] * (C[v] - T.if_then_else(A[v] > 0, 1, 0))",
        "T.max(C[v], T.Select(A[v] > 0, 1, 0))",
        "T.min(T.if_then_else(A[v] > 0, 1, 0), C[v])",
        "C[v] + T.Select(A[v] > 0, T.Select(A[v] > 1, 1, 0), 0)"}) {
    const std::string typed = absl::StrReplaceAll(
        value, {{", 1, ", ", T.int32(1), "}, {", 0)", ", T.int32(0))"}});
    EXPECT_EQ(Printed(value), Printed(typed)) << value;
  }
}

// Positions are int64, and so are the numbers between which one chooses there.
TEST(OperandsTest, AChoiceOfNumbersBesideAPositionStaysWide) {
  EXPECT_EQ(Printed("T.Cast(\"int32\", v + T.Select(A[v] > 0, 1, 0))"),
            Printed("T.Cast(\"int32\", v + T.Select(A[v] > 0, T.int64(1), "
                    "T.int64(0)))"));
}

// C[0:2] = `value`.
absl::Status StatusOfLanes(const std::string& value) {
  const std::string text = absl::StrCat(R"(
@T.prim_func
def main(C: T.Buffer((8,), "int32")):
    C[0:2] = )",
                                        value, "\n");
  return ParseFunction("f.py", text).status();
}

TEST(OperandsTest, SumsOfLanesHaveFewerOfThem) {
  KILN_EXPECT_OK(StatusOfLanes("T.lane_sums(C[0:8], 4)"));
  for (const std::string value :
       {"T.lane_sums(C[0:8])", "T.lane_sums(C[0:8], 3)",
        "T.lane_sums(C[0:8], 0)", "T.lane_sums(C[0:8], C[0])",
        "T.lane_sums(C[0:8], 16)", "T.lane_sums(C[0:8], 4, 4)"}) {
    const absl::Status status = StatusOfLanes(value);
    EXPECT_FALSE(status.ok()) << value;
    EXPECT_NE(status.message().find("a number that divides its lanes"),
              std::string::npos)
        << status;
  }
}

}  // namespace
}  // namespace kiln
