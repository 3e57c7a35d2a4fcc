#include "kiln/ir/tensor/timed_size.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

// Negates n rows of m numbers.
Function Negate(const std::string& attrs = "") {
  const std::string text = R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
)" + attrs + R"(
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.float32(0) - A[vi, vj]
)";
  return *ParseFunction("main", text);
}

std::string Text(const Function& f) {
  Module module;
  module.functions.push_back(f);
  return PrintModule(module);
}

TEST(TimedSizeTest, NumbersTakeThePlaceOfDimensions) {
  const std::string text = Text(AtSize(Negate(), {3, 5}));
  EXPECT_THAT(text, HasSubstr("T.Buffer((3, 5), \"float32\")"));
  EXPECT_THAT(text, HasSubstr("T.grid(3, 5)"));
}

TEST(TimedSizeTest, ItSurvivesTheText) {
  Function f = Negate();
  EXPECT_EQ(TimedSize(f), std::nullopt);
  SetTimedSize(&f, {3, 5});
  EXPECT_THAT(TimedSize(f), Optional(ElementsAre(3, 5)));
  KILN_ASSERT_OK_AND_ASSIGN(const Module read, ParseModule("m", Text(f)));
  EXPECT_THAT(TimedSize(read.functions[0]), Optional(ElementsAre(3, 5)));
  EXPECT_EQ(Text(AtTimedSize(f)), Text(AtSize(Negate(), {3, 5})));
  SetTimedSize(&f, {});
  EXPECT_EQ(Text(f), Text(Negate()));
}

TEST(TimedSizeTest, AModuleListsSizes) {
  Module module;
  module.functions.push_back(Negate());
  EXPECT_TRUE(TimedSizes(module).empty());
  SetTimedSizes(&module, {{3, 5}, {16, 1}});
  KILN_ASSERT_OK_AND_ASSIGN(const Module read,
                            ParseModule("m", PrintModule(module)));
  EXPECT_THAT(TimedSizes(read), ElementsAre(DimSize{3, 5}, DimSize{16, 1}));
}

TEST(TimedSizeTest, WhatIsNoSizeIsNone) {
  for (const char* value : {"[3]", "[3, 5, 7]", "[3, -1]", "7", "[3, \"m\"]"}) {
    const std::string attrs =
        std::string("    T.func_attr({\"kiln.timed_size\": ") + value + "})";
    EXPECT_EQ(TimedSize(Negate(attrs)), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace kiln
