// Sums that come in parts, and those that do not:
//
//   c[0] += X[2*i], c[0] += X[2*i + 1]  ->  c[0] += X[2*i], c_part1[0] += ..
//   eight sums, or a sum that a term reads: left as they are
#include "kiln/codegen/lower/vector/part_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

constexpr char kPart[] = "c_part";

struct Loop {
  std::string range = "range(20)";
  std::string type = "float32";
  std::string scope = "local";
  std::string attrs = "{\"tir.noalias\": True}";
};

// What becomes of a loop over i of `body`, which adds to c, of 16 elements. It
// is checked to compute the same.
std::string Parted(const std::vector<std::string>& body,
                   const Loop& loop = Loop()) {
  const std::string text = absl::StrCat(
      "@T.prim_func\ndef main(X: T.Buffer((400,), \"", loop.type,
      "\"), Y: T.Buffer((16,), \"", loop.type, "\")):\n    T.func_attr(",
      loop.attrs, ")\n    c = T.decl_buffer((16,), \"", loop.type,
      "\", scope=\"", loop.scope, "\")\n    for j in range(16):\n",
      "        c[j] = T.Cast(\"", loop.type, "\", 1)\n    for i in ",
      loop.range, ":\n        ", absl::StrJoin(body, "\n        "),
      "\n    for j in range(16):\n        Y[j] = c[j]\n");
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  Machine machine;
  machine.vectors = {.bytes = 16};
  const absl::StatusOr<Function> parted =
      PartSums(module->functions[0], machine);
  EXPECT_TRUE(parted.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(module->functions[0], *parted, 5));
  Module printed;
  printed.functions.push_back(*parted);
  return PrintModule(printed);
}

TEST(PartSumsTest, TermsOfASumGoToPartsInTurns) {
  const std::string text =
      Parted({"c[0] = c[0] + X[i * 2]", "c[0] = X[i * 2 + 1] + c[0]"});
  EXPECT_THAT(text, HasSubstr("c_part1[0] = T.float32(0)")) << text;
  EXPECT_THAT(text, HasSubstr("c[0] = c[0] + X[i * 2]\n")) << text;
  EXPECT_THAT(text, HasSubstr("c_part1[0] = c_part1[0] + X[i * 2 + 1]"))
      << text;
  EXPECT_THAT(text, HasSubstr("c[0] = c[0] + c_part1[0]")) << text;
}

TEST(PartSumsTest, VectorsHaveAsManyPartsAsTerms) {
  std::vector<std::string> body;
  for (int i = 0; i < 4; ++i) {
    body.push_back(absl::StrCat("c[4:8] = c[4:8] + X[i * 16 + ", i * 4,
                                ":i * 16 + ", i * 4 + 4, "]"));
  }
  const std::string text = Parted(body);
  EXPECT_THAT(text, HasSubstr("c_part3[0:4] = c_part3[0:4] + X[i * 16 + 12"))
      << text;
  EXPECT_THAT(text, HasSubstr("c[4:8] = c[4:8] + c_part")) << text;
}

// Of vectors of 16 bytes: 6 of them need no more than two parts each.
TEST(PartSumsTest, SeveralSumsHaveFewerParts) {
  std::vector<std::string> body;
  for (int i = 0; i < 24; ++i) {
    const int sum = i % 6;
    body.push_back(
        absl::StrCat("c[", sum, "] = c[", sum, "] + X[i * 4 + ", i / 6, "]"));
  }
  const std::string text = Parted(body);
  EXPECT_THAT(text, HasSubstr("c_part1_5")) << text;
  EXPECT_THAT(text, Not(HasSubstr("c_part2"))) << text;
  std::vector<std::string> enough;
  for (int i = 0; i < 16; ++i) {
    enough.push_back(absl::StrCat("c[", i % 8, "] = c[", i % 8,
                                  "] + X[i * 2 + ", i / 8, "]"));
  }
  EXPECT_THAT(Parted(enough), Not(HasSubstr(kPart)));
}

// 3 iterations are too few for parts, 9 are not: they stand around both loops.
TEST(PartSumsTest, LoopsWithNothingBetweenThemAreOne) {
  const std::string inner =
      "for k in range(3):\n            c[0] = c[0] + X[i * 6 + k * 2]\n"
      "            c[0] = c[0] + X[i * 6 + k * 2 + 1]";
  const std::string text = Parted({inner}, {.range = "range(3)"});
  EXPECT_THAT(text, HasSubstr("in T.grid(3, 3)")) << text;
  EXPECT_THAT(text, HasSubstr("c[0] = c[0] + c_part1[0]")) << text;
}

TEST(PartSumsTest, OthersStay) {
  const std::vector<std::string> two = {"c[0] = c[0] + X[i * 2]",
                                        "c[0] = c[0] + X[i * 2 + 1]"};
  EXPECT_THAT(Parted({two[0]}), Not(HasSubstr(kPart)));
  EXPECT_THAT(Parted(two, {.range = "range(3)"}), Not(HasSubstr(kPart)));
  EXPECT_THAT(Parted(two, {.range = "T.unroll(20)"}), Not(HasSubstr(kPart)));
  EXPECT_THAT(Parted(two, {.type = "int32"}), Not(HasSubstr(kPart)));
  EXPECT_THAT(Parted(two, {.scope = "global"}), Not(HasSubstr(kPart)));
  EXPECT_THAT(Parted(two, {.attrs = "{\"numerics\": \"strict\"}"}),
              Not(HasSubstr(kPart)));
  EXPECT_THAT(Parted({two[0], "c[0] = c[0] * X[i]"}), Not(HasSubstr(kPart)));
  EXPECT_THAT(Parted({two[0], "Y[0] = c[0]", two[1]}), Not(HasSubstr(kPart)));
}

TEST(PartSumsTest, TermsThatReadSumsStay) {
  EXPECT_THAT(Parted({"c[0] = c[0] + X[i]", "c[0] = c[0] + c[1]"}),
              HasSubstr("c[0] = c[0] + c[1]"));
  EXPECT_THAT(Parted({"c[0] = c[0] + c[1]", "c[0] = c[0] + X[i]"}),
              Not(HasSubstr(kPart)));
}

TEST(PartSumsTest, SumsThatOverlapStay) {
  EXPECT_THAT(
      Parted({"c[0:4] = c[0:4] + X[i:i + 4]", "c[0:4] = c[0:4] + X[i:i + 4]",
              "c[2:6] = c[2:6] + X[i:i + 4]", "c[2:6] = c[2:6] + X[i:i + 4]"}),
      Not(HasSubstr(kPart)));
}

}  // namespace
}  // namespace kiln
