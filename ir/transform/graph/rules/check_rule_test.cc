// Rules that hold, and rules that do not, with what shows it; some do not hold
// for few inputs only.
//
//   Proof(params, "R.exp(R.log(x))", "x")   "... (seed 0, trial 0: ...): ..."
#include "kiln/ir/transform/graph/rules/check_rule.h"

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/transform/graph/rules/rule.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kOne[] = "x: R.Tensor((\"n\", \"m\"), \"float32\")";

// "" where the rule holds.
std::string Proof(const std::string& params, const std::string& pattern,
                  const std::string& replacement, const RuleCheck& check = {}) {
  const auto function = [&](const char* name, const std::string& value) {
    return absl::StrCat("@R.function\ndef ", name, "(", params,
                        "):\n    n = T.int64()\n    m = T.int64()\n    return ",
                        value, "\n");
  };
  const absl::StatusOr<Rule> rule =
      ReadRule("r.py", function("pattern", pattern) +
                           function("replacement", replacement));
  if (!rule.ok()) return std::string(rule.status().message());
  return std::string(CheckRule(*rule, check).message());
}

TEST(CheckRuleTest, RulesThatHold) {
  EXPECT_EQ(Proof(kOne, "R.log(R.exp(x))", "x"), "");
  EXPECT_EQ(Proof(kOne, "R.permute_dims(R.permute_dims(x))", "x"), "");
  EXPECT_EQ(Proof(kOne, "R.reshape(R.exp(x), R.shape([n * m]))",
                  "R.exp(R.reshape(x, R.shape([n * m])))"),
            "");
  EXPECT_EQ(Proof("x: R.Tensor((\"n\", 4), \"int32\")", "R.add(x, x)",
                  "R.multiply(x, R.const(2, \"int32\"))"),
            "");
  EXPECT_EQ(Proof("x: R.Tensor((\"n\",), \"bool\")",
                  "R.logical_not(R.logical_not(x))", "x"),
            "");
}

TEST(CheckRuleTest, ParametersOfAllKinds) {
  EXPECT_EQ(Proof("t: R.Tuple(R.Tensor((\"n\",), \"float32\"), "
                  "R.Tensor((\"n\",), \"float32\"))",
                  "R.add(t[0], t[1])", "R.add(t[1], t[0])"),
            "");
  EXPECT_EQ(Proof("x: R.Tensor, y: R.Tensor", "R.add(x, y)", "R.add(y, x)"),
            "");
  EXPECT_EQ(Proof("x: R.Tensor(ndim=2, dtype=\"float16\")",
                  "R.negative(R.negative(x))", "x"),
            "");
  EXPECT_EQ(Proof("s: R.Shape([\"n\", \"m\"])",
                  "R.permute_dims(R.zeros(s, \"float32\"))",
                  "R.zeros(R.shape([m, n]), \"float32\")"),
            "");
  EXPECT_EQ(Proof("x: R.Tensor((\"2 * n\", 3), \"float32\"), "
                  "y: R.Tensor((\"n\",), \"float32\")",
                  "R.add(R.sum(x), R.sum(y))", "R.add(R.sum(y), R.sum(x))"),
            "");
}

TEST(CheckRuleTest, TheFirstCounterexampleIsShown) {
  const std::string difference = Proof(kOne, "R.exp(R.log(x))", "x");
  EXPECT_THAT(difference, HasSubstr("rule r.py: the replacement does not give "
                                    "what the pattern gives (seed 0, trial "));
  EXPECT_THAT(difference, HasSubstr("x is float32 ["));
  EXPECT_THAT(difference, HasSubstr("n = "));
  RuleCheck check;
  check.seed = 7;
  EXPECT_THAT(Proof(kOne, "R.exp(R.log(x))", "x", check), HasSubstr("seed 7"));
  EXPECT_THAT(Proof(kOne, "(R.exp(x), R.sin(x))", "(R.exp(x), R.cos(x))"),
              HasSubstr("result 1: "));
}

// Each holds on most inputs.
TEST(CheckRuleTest, RulesThatAlmostHold) {
  const auto is_refused = [](const std::string& params,
                             const std::string& pattern,
                             const std::string& replacement) {
    return Proof(params, pattern, replacement).find("does not give") !=
           std::string::npos;
  };
  // Where x is 0.
  EXPECT_TRUE(is_refused(kOne, "R.divide(x, x)", "R.ones_like(x)"));
  // Where x is negative.
  EXPECT_TRUE(is_refused(kOne, "R.nn.relu(x)", "x"));
  EXPECT_TRUE(is_refused(kOne, "R.abs(x)", "x"));
  // Where x is no integer.
  EXPECT_TRUE(is_refused(kOne, "R.floor(x)", "x"));
  // Where the tensor is not square, nor a row.
  EXPECT_TRUE(
      is_refused(kOne, "R.reshape(x, R.shape([m, n]))", "R.permute_dims(x)"));
  EXPECT_TRUE(
      is_refused("x: R.Tensor((\"n\",), \"int32\")", "R.multiply(x, x)", "x"));
  EXPECT_TRUE(
      is_refused("x: R.Tensor((\"n\",), \"float32\"), "
                 "y: R.Tensor((\"n\",), \"float32\")",
                 "R.subtract(x, y)", "R.subtract(y, x)"));
}

// What is not told may be anything.
TEST(CheckRuleTest, ShapesAndTypesThatAreNotTold) {
  EXPECT_THAT(Proof("x: R.Tensor(dtype=\"float32\"), "
                    "y: R.Tensor(dtype=\"float32\")",
                    "R.subtract(R.add(x, y), y)", "x"),
              HasSubstr("does not give"))
      << "the sum may be of a larger shape";
  EXPECT_EQ(Proof("x: R.Tensor((\"n\",), \"float32\"), "
                  "y: R.Tensor((\"n\",), \"float32\")",
                  "R.subtract(R.add(x, y), y)", "x"),
            "");
  EXPECT_THAT(Proof("x: R.Tensor", "R.abs(R.negative(x))", "R.abs(x)"),
              HasSubstr("uint8"))
      << "-3 is 253 as a byte";
  EXPECT_EQ(
      Proof("x: R.Tensor(dtype=\"int8\")", "R.abs(R.negative(x))", "R.abs(x)"),
      "");
  EXPECT_EQ(Proof("x: R.Tensor(ndim=2), y: R.Tensor(ndim=2)",
                  "R.permute_dims(R.matmul(x, y))",
                  "R.matmul(R.permute_dims(y), R.permute_dims(x))"),
            "");
}

TEST(CheckRuleTest, AReplacementThatDoesNotRunIsNone) {
  EXPECT_THAT(Proof("x: R.Tensor(ndim=1, dtype=\"float32\"), "
                    "y: R.Tensor(ndim=1, dtype=\"float32\")",
                    "R.concat((x, y), axis=0)",
                    "R.concat((x, R.match_cast(y, R.Tensor((1,), "
                    "\"float32\"))), axis=0)"),
              HasSubstr("cast"));
}

TEST(CheckRuleTest, WhatCannotRunProvesNothing) {
  const std::string packed =
      "R.call_dps_packed(\"f\", (x,), R.Tensor((n, m), \"float32\"))";
  EXPECT_THAT(Proof(kOne, packed, "x"),
              HasSubstr("nothing proves it, as its pattern ran on no input: "));
  graph::PackedTable table;
  table["f"] =
      [](absl::Span<const graph::Value> args) -> absl::StatusOr<graph::Value> {
    const auto& from = std::get<graph::TensorValue>(args[0]);
    const auto& to = std::get<graph::TensorValue>(args[1]);
    to->bytes = from->bytes;
    return graph::Value();
  };
  RuleCheck check;
  check.packed = &table;
  EXPECT_EQ(Proof(kOne, packed, "x", check), "");
  EXPECT_THAT(Proof(kOne, packed, "R.exp(x)", check),
              HasSubstr("does not give"));
}

TEST(CheckRuleTest, WhatIsTooLargeIsRefused) {
  EXPECT_THAT(Proof("x: R.Tensor((4096, 4096), \"float32\")",
                    "R.negative(R.negative(x))", "x"),
              HasSubstr("too large to be interpreted; state the rule for "
                        "extents that are open"));
  EXPECT_THAT(Proof("x: R.Tensor((1024, 1024), \"float32\")",
                    "R.matmul(x, R.negative(x))", "R.negative(R.matmul(x, x))"),
              HasSubstr("pattern is too large to be interpreted"));
}

}  // namespace
}  // namespace kiln
