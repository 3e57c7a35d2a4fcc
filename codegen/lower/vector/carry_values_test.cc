// What a loop carries from one iteration to the next, and what may not be:
//
//   Y[i] = Y[i - 1] + X[i]      ->  Y_carried[0] = Y_carried[0] + X[i]
//   Y[i] = Y[i - 1] + X[i], and a store to Y[i] below it: left as it is
#include "kiln/codegen/lower/vector/carry_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kCarried[] = "Y_carried";

// What becomes of `body`, which stands in a loop `for i in loop`. It is checked
// to stay the same.
std::string Carried(const std::string& loop, const std::string& body,
                    const std::string& attrs = "{\"tir.noalias\": True}") {
  const std::string text = absl::StrCat(R"(
@T.prim_func
def main(X: T.Buffer((96,), "float32"), Y: T.Buffer((96,), "float32"),
         Z: T.Buffer((96,), "float32")):
    T.func_attr()",
                                        attrs, R"()
    for i in )",
                                        loop, ":\n", body);
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const absl::StatusOr<Function> carried =
      CarryValues(module->functions[0], Machine());
  EXPECT_TRUE(carried.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(module->functions[0], *carried, 5));
  Module printed;
  printed.functions.push_back(*carried);
  return PrintModule(printed);
}

std::string Line(const std::string& text) {
  return absl::StrCat("        ", text, "\n");
}

const char kSum[] = "Y[i] = T.if_then_else(i == 0, X[i], Y[i + -1] + X[i])";

TEST(CarryValuesTest, ARunningSumStaysInARegister) {
  const std::string text = Carried("range(96)", Line(kSum));
  EXPECT_THAT(text, HasSubstr("for i in range(1, 96)")) << text;
  EXPECT_THAT(text, HasSubstr("Y_carried[0] = Y_carried[0] + X[i]")) << text;
  EXPECT_THAT(text, HasSubstr("Y[0] = X[0]")) << text;
}

TEST(CarryValuesTest, WhereTheFirstIterationReadsTheBufferItIsRead) {
  const std::string text =
      Carried("range(1, 96)", Line("Y[i] = Y[i + -1] * X[i]"));
  EXPECT_THAT(text, HasSubstr("Y[1] = Y[0] * X[1]")) << text;
  EXPECT_THAT(text, HasSubstr("for i in range(2, 96)")) << text;
}

TEST(CarryValuesTest, RowsSideBySideAndVectorsAreCarriedEach) {
  const std::string rows = Carried(
      "range(32)",
      absl::StrCat(Line("if 0 <= i + -1:"), Line("    Y[i] = Y[i + -1] + X[i]"),
                   Line("    Y[i + 32] = Y[i + 31] + X[i + 32]"), Line("else:"),
                   Line("    Y[0] = X[0]"), Line("    Y[32] = X[32]")));
  EXPECT_THAT(rows, HasSubstr("Y_carried_1[0] = Y_carried_1[0] + X[i + 32]"))
      << rows;
  const std::string vectors = Carried(
      "range(1, 12)", Line("Y[i * 8:i * 8 + 8] = Y[i * 8 + -8:i * 8 + -8 + 8] "
                           "+ X[i * 8:i * 8 + 8]"));
  EXPECT_THAT(vectors, HasSubstr("Y_carried[0:8] = Y_carried[0:8] + X["))
      << vectors;
}

TEST(CarryValuesTest, ARecurrenceOfTwoValuesReadsBoth) {
  const std::string text = Carried(
      "range(1, 96)", absl::StrCat(Line("Y[i] = Y[i + -1] + Z[i + -1] * X[i]"),
                                   Line("Z[i] = Z[i + -1] - X[i]")));
  EXPECT_THAT(text, HasSubstr("Y_carried[0] + Z_carried[0] * X[i]")) << text;
}

TEST(CarryValuesTest, ALoadBelowTheStoreReadsTheBuffer) {
  const std::string text = Carried(
      "range(1, 96)",
      absl::StrCat(Line("Y[i] = Y[i + -1] + X[i]"), Line("Z[i] = Y[i + -1]")));
  EXPECT_THAT(text, HasSubstr("Z[i] = Y[i + -1]")) << text;
}

TEST(CarryValuesTest, WhatMayBeWrittenBetweenIsNotCarried) {
  const std::string alias =
      absl::StrCat(Line("Y[i] = Y[i + -1] + X[i]"), Line("Z[i] = X[i]"));
  EXPECT_THAT(Carried("range(1, 96)", alias), HasSubstr(kCarried));
  EXPECT_THAT(Carried("range(1, 96)", alias, "{}"), Not(HasSubstr(kCarried)));
  EXPECT_THAT(
      Carried("range(1, 96)", absl::StrCat(Line("Y[i] = Y[i + -1] + X[i]"),
                                           Line("Y[i * 3 // 4] = X[i]"))),
      Not(HasSubstr(kCarried)));
  // Stored twice, in one iteration or by the next.
  EXPECT_THAT(
      Carried("range(1, 96)", absl::StrCat(Line("Y[i] = Y[i + -1] + X[i]"),
                                           Line("Y[i] = X[i]"))),
      Not(HasSubstr(kCarried)));
  EXPECT_THAT(
      Carried("range(1, 96)", absl::StrCat(Line("Y[i + -1] = X[i]"),
                                           Line("Y[i] = Y[i + -1] + X[i]"))),
      Not(HasSubstr(kCarried)));
}

TEST(CarryValuesTest, AnOpenExtentMayBeZero) {
  const absl::StatusOr<Module> module = ParseModule("m.py", R"(
@T.prim_func
def main(n: T.int64, X: T.Buffer((96,), "float32"), Y: T.Buffer((96,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in range(n):
        Y[i] = T.if_then_else(i == 0, X[i], Y[i + -1] + X[i])
)");
  KILN_ASSERT_OK(module.status());
  const auto carried = CarryValues(module->functions[0], Machine());
  KILN_ASSERT_OK(carried.status());
  const std::string text = PrintFunction(*carried);
  EXPECT_THAT(text, HasSubstr("if 0 < n:"));
  EXPECT_THAT(text, HasSubstr("Y[0] = X[0]"));
  EXPECT_THAT(text, HasSubstr("Y_carried[0] = Y_carried[0] + X[i]"));
}

TEST(CarryValuesTest, AStoreThroughAViewOrToAPlaceThatIsReadIsNoPlainOne) {
  const std::string sum = "Y[i] = Y[i + -1] + X[i]";
  for (const char* other :
       {"V[95 - i] = X[i]", "Z[T.Cast(\"int64\", X[i])] = X[i]"}) {
    const std::string body = absl::StrCat(Line(sum), Line(other));
    const std::string text = absl::StrCat(R"(
@T.prim_func
def main(X: T.Buffer((96,), "float32"), Y: T.Buffer((96,), "float32"),
         Z: T.Buffer((96,), "float32")):
    T.func_attr({"tir.noalias": True})
    V = T.decl_buffer((96,), data=Y.data)
    for i in range(1, 96):
)",
                                          body);
    const absl::StatusOr<Module> module = ParseModule("m.py", text);
    KILN_ASSERT_OK(module.status());
    const auto carried = CarryValues(module->functions[0], Machine());
    KILN_ASSERT_OK(carried.status());
    Module printed;
    printed.functions.push_back(*carried);
    EXPECT_THAT(PrintModule(printed), Not(HasSubstr(kCarried))) << other;
  }
}

TEST(CarryValuesTest, OtherLoadsLeaveALoopAsItIs) {
  for (const char* body :
       {"Y[i] = X[i] + 1.0", "Y[0] = Y[0] + X[i]", "Y[i] = Y[95 - i] + X[i]",
        "Y[i] = T.if_then_else(X[i] < 0.5, Y[i + -1], X[i])"}) {
    const std::string text = Carried("range(1, 96)", Line(body));
    EXPECT_THAT(text, Not(HasSubstr(kCarried))) << text;
  }
  EXPECT_THAT(Carried("T.unroll(96)", Line(kSum)), Not(HasSubstr(kCarried)));
}

TEST(CarryValuesTest, MoreThanRegistersHoldIsLeft) {
  std::string body;
  for (int row = 0; row < 40; ++row) {
    absl::StrAppend(&body, Line(absl::StrCat("Y[i + ", row * 2, "] = Y[i + ",
                                             row * 2 - 1, "] + X[i]")));
  }
  EXPECT_THAT(Carried("range(1, 3)", body), Not(HasSubstr(kCarried)));
}

}  // namespace
}  // namespace kiln
