#include "kiln/codegen/lower/vector/complete_ragged_sums.h"

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

constexpr char kMask[] = "T.Ramp(0, 1, 8) < T.Broadcast(5, 8)";

Machine Masked(bool masked = true) {
  Machine machine;
  machine.vectors.masked = masked;
  return machine;
}

// The sum C of what `body` adds to S, 8 lanes of which begin as `start`. It is
// checked to stay the same.
std::string Completed(const std::string& body, const Machine& machine,
                      const std::string& attrs = "") {
  const std::string text = absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((13,), "float32"), W: T.Buffer((13,), "float32"),
         H: T.Buffer((13,), "float16"), C: T.Buffer((8,), "float32")):
    )",
                                        attrs, R"(
    S = T.decl_buffer((8,), scope="local")
    S[0:8] = T.Broadcast(T.float32(0), 8)
    )",
                                        body, R"(
    C[0:8] = S[0:8]
)");
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const absl::StatusOr<Function> completed =
      CompleteRaggedSums(module->functions[0], machine);
  EXPECT_TRUE(completed.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(module->functions[0], *completed, 5));
  Module printed;
  printed.functions.push_back(*completed);
  return PrintModule(printed);
}

TEST(CompleteRaggedSumsTest, AProductIsAddedWithZerosBeyondItsLanes) {
  EXPECT_THAT(Completed("S[0:5] = S[0:5] + A[8:13] * W[8:13]", Masked()),
              HasSubstr(absl::StrCat(
                  "S[0:8] = S[0:8] + T.if_then_else(", kMask,
                  ", A[8:16], T.Broadcast(T.float32(0), 8)) * T.if_then_else(",
                  kMask, ", W[8:16], T.Broadcast(T.float32(0), 8))")));
}

TEST(CompleteRaggedSumsTest, SoAreElements) {
  EXPECT_THAT(Completed("S[0:5] = S[0:5] + A[8:13]", Masked()),
              HasSubstr("S[0:8] = S[0:8] + T.if_then_else("));
}

TEST(CompleteRaggedSumsTest, SoIsOneElement) {
  EXPECT_THAT(Completed("S[0] = S[0] + A[8] * W[8]", Masked()),
              HasSubstr("S[0:8] = S[0:8] + T.if_then_else("));
}

TEST(CompleteRaggedSumsTest, WhatIsInRegistersIsAddedAsItStands) {
  EXPECT_THAT(Completed("S[0:4] = S[0:4] + S[4:8]", Masked()),
              HasSubstr("S[0:4] = S[0:4] + S[4:8]"));
}

TEST(CompleteRaggedSumsTest, OneNumberForAllLanesMayBeInfinite) {
  EXPECT_THAT(
      Completed("S[0:5] = S[0:5] + A[8:13] * T.Broadcast(W[2], 5)", Masked()),
      HasSubstr("S[0:5] = S[0:5] + A[8:13]"));
}

TEST(CompleteRaggedSumsTest, TheFirstLanesMustBeOfAWiderVector) {
  EXPECT_THAT(Completed("S[1:6] = S[1:6] + A[8:13]", Masked()),
              HasSubstr("S[1:6] = S[1:6] + A[8:13]"));
}

TEST(CompleteRaggedSumsTest, WhatIsNotAddedStays) {
  EXPECT_THAT(Completed("S[0:5] = A[8:13]", Masked()),
              HasSubstr("S[0:5] = A[8:13]"));
  EXPECT_THAT(Completed("S[0:5] = A[8:13] - S[0:5]", Masked()),
              HasSubstr("S[0:5] = A[8:13] - S[0:5]"));
}

// Another iteration may be at the lanes beyond.
TEST(CompleteRaggedSumsTest, WhatParallelIterationsShareStays) {
  EXPECT_THAT(Completed(R"(for i in T.parallel(2):
        if i == 0:
            S[0:5] = S[0:5] + A[8:13]
        else:
            S[5:8] = T.Broadcast(T.float32(1), 3))",
                        Masked()),
              HasSubstr("S[0:5] = S[0:5] + A[8:13]"));
}

TEST(CompleteRaggedSumsTest, WhatAnIterationHasForItselfDoesNot) {
  EXPECT_THAT(Completed(R"(for i in T.parallel(1):
        part = T.decl_buffer((8,), scope="local")
        part[0:8] = T.Broadcast(T.float32(0), 8)
        part[0:5] = part[0:5] + A[8:13]
        S[0:8] = part[0:8])",
                        Masked()),
              HasSubstr("part[0:8] = part[0:8] + T.if_then_else("));
}

TEST(CompleteRaggedSumsTest, ElementsTooSmallForMasksStay) {
  EXPECT_THAT(
      Completed("S[0:5] = S[0:5] + T.Cast(\"float32x5\", H[8:13])", Masked()),
      Not(HasSubstr("if_then_else")));
}

TEST(CompleteRaggedSumsTest, WithoutMasksNothingChanges) {
  EXPECT_THAT(Completed("S[0:5] = S[0:5] + A[8:13] * W[8:13]", Masked(false)),
              HasSubstr("S[0:5] = S[0:5] + A[8:13] * W[8:13]"));
}

TEST(CompleteRaggedSumsTest, StrictFunctionsKeepTheSignsOfZeros) {
  EXPECT_THAT(Completed("S[0:5] = S[0:5] + A[8:13] * W[8:13]", Masked(),
                        R"(T.func_attr({"numerics": "strict"}))"),
              HasSubstr("S[0:5] = S[0:5] + A[8:13] * W[8:13]"));
}

}  // namespace
}  // namespace kiln
