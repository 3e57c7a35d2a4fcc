#include "kiln/tools/support/stated_difference.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// "" where they are the same.
std::string Difference(const std::string& a, const std::string& b) {
  const auto read = [](const std::string& body) {
    const absl::StatusOr<Module> module = ParseModule(
        "m.py", absl::StrCat("@R.function\ndef main(x: R.Tensor((2, 3), "
                             "\"float32\")):\n",
                             body));
    KILN_EXPECT_OK(module);
    return module.ok() ? *module : Module();
  };
  const std::string there = StatedDifference(read(a), read(b)).value_or("");
  const std::string back = StatedDifference(read(b), read(a)).value_or("");
  EXPECT_EQ(there.empty(), back.empty()) << there << back;
  return there;
}

constexpr char kBare[] = R"(
    with R.dataflow():
        gv = R.add(R.exp(x), x)
        R.output(gv)
    return gv
)";

TEST(StatedDifferenceTest, WhatIsInferredMayBeLeftOut) {
  EXPECT_EQ(Difference(kBare, R"(
    with R.dataflow():
        lv: R.Tensor((2, 3), "float32") = R.exp(x)
        gv: R.Tensor((2, 3), "float32") = R.add(lv, x)
        R.output(gv)
    return gv
)"),
            "");
  EXPECT_THAT(Difference(kBare, absl::StrReplaceAll(kBare, {{"exp", "sin"}})),
              HasSubstr("R.exp(x)"));
  EXPECT_THAT(Difference(kBare, absl::StrReplaceAll(kBare, {{", x)", ")"}})),
              HasSubstr("function main differs"));
}

constexpr char kConstants[] = R"(
    y = R.add(x, R.const([[1, 2, 3]], "float32"))
    z = R.add(y, R.const([[4, 5, 6]], "float32"))
    w = R.add(z, R.const([[1, 2, 3]], "float32"))
    return w
)";

std::string WithIndices(int first, int second, int third) {
  const auto place = [](int index) {
    return absl::StrCat("metadata[\"relax.expr.Constant\"][", index, "]");
  };
  return absl::StrCat("    y: R.Tensor((2, 3), \"float32\") = R.add(x, ",
                      place(first), ")\n    z = R.add(y, ", place(second),
                      ")\n    w = R.add(z, ", place(third),
                      ")\n    return w\n");
}

TEST(StatedDifferenceTest, BytesOfConstantsMayBeLeftOut) {
  EXPECT_EQ(Difference(kConstants, WithIndices(0, 1, 0)), "");
  EXPECT_EQ(Difference(kConstants, WithIndices(7, 0, 3)), "");
  EXPECT_EQ(Difference(WithIndices(0, 1, 0), WithIndices(0, 1, 0)), "");
}

TEST(StatedDifferenceTest, OneIndexIsOneConstant) {
  EXPECT_NE(Difference(kConstants, WithIndices(0, 0, 1)), "");
  EXPECT_NE(Difference(kConstants, WithIndices(0, 1, 1)), "");
  EXPECT_NE(Difference(WithIndices(0, 1, 0), WithIndices(0, 1, 2)), "");
}

// A variable is no constant.
TEST(StatedDifferenceTest, OtherOperandsDoNotStandForConstants) {
  EXPECT_NE(Difference("    y = R.add(x, x)\n    return y\n",
                       "    y = R.add(x, metadata[\"relax.expr.Constant\"][0])"
                       "\n    return y\n"),
            "");
}

TEST(StatedDifferenceTest, WhatCannotBeInferredIsComparedAsItIs) {
  const std::string wrong = "    y = R.matmul(x, x)\n    return y\n";
  EXPECT_EQ(Difference(wrong, wrong), "");
  EXPECT_THAT(Difference(wrong, "    y = R.add(x, x)\n    return y\n"),
              HasSubstr("R.matmul(x, x"));
}

}  // namespace
}  // namespace kiln
