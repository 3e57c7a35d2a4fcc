// Which loops become sums of lanes, for which machines, and that programs mean
// the same before and after; also where the steps of a loop are fewer than an
// instruction takes.
#include "kiln/codegen/lower/vector/form_dot_products.h"

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

Machine WithDots(int dots) {
  Machine machine;
  machine.vectors.dots = {dots, true};
  return machine;
}

// The text of a product of A and B after the pass, which keeps its meaning.
struct Product {
  std::string a = "uint8", b = "int8", c = "int32";
  int lanes = 16, steps = 4;
  std::string index_a = "k * STEPS + e";
  std::string value = "T.Cast(\"TYPE\", A[IA]) * T.Cast(\"TYPE\", B[IB])";
  std::string kind = "T.unroll";
  int together = 0;  // steps of B that lie side by side; 0: all
};

std::string Replaced(std::string text, const std::string& from,
                     const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos;) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

std::string Formed(const Product& p, int dots) {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer((64,), "TA"), B: T.Buffer((1024,), "TB"),
         C: T.Buffer((64,), "TYPE")):
    for k in range(3):
        for j in T.vectorized(LANES):
            for e in KIND(STEPS):
                C[j + 7] = C[j + 7] + VALUE
)";
  text = Replaced(text, "VALUE", p.value);
  text = Replaced(text, "IA", p.index_a);
  const int together = p.together > 0 ? p.together : p.steps;
  text = Replaced(text, "IB",
                  absl::StrCat("(k * LANES + j) * ", together, " + e"));
  text = Replaced(text, "TYPE", p.c);
  text = Replaced(Replaced(text, "TA", p.a), "TB", p.b);
  text = Replaced(text, "LANES", absl::StrCat(p.lanes));
  text = Replaced(text, "STEPS", absl::StrCat(p.steps));
  text = Replaced(text, "KIND", p.kind);
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const Function& f = module->functions[0];
  const absl::StatusOr<Function> formed = FormDotProducts(f, WithDots(dots));
  EXPECT_TRUE(formed.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(f, *formed, 5));
  Module printed;
  printed.functions.push_back(*formed);
  const std::string result = PrintModule(printed);
  EXPECT_TRUE(ParseModule("printed.py", result).ok()) << result;
  return result;
}

TEST(FormDotProductsTest, OfFourBytes) {
  const std::string text = Formed({}, 4);
  EXPECT_THAT(text, HasSubstr("C[7:23] = C[7:23] + T.lane_sums("));
  EXPECT_THAT(text, HasSubstr("B[k * 64:k * 64 + 64]"));
  EXPECT_THAT(text, HasSubstr("% T.Broadcast(4, 64)"));
}

TEST(FormDotProductsTest, OfPairs) {
  for (const std::string a : {"int8", "uint8", "int16"}) {
    for (const std::string b : {"int8", "uint8", "int16"}) {
      EXPECT_THAT(Formed({.a = a, .b = b, .steps = 2}, 2),
                  HasSubstr("lane_sums"))
          << a << " " << b;
    }
  }
}

TEST(FormDotProductsTest, OnlyWhereAnInstructionTakesThem) {
  EXPECT_THAT(Formed({}, 2), Not(HasSubstr("lane_sums")));
  EXPECT_THAT(Formed({.steps = 2}, 1), Not(HasSubstr("lane_sums")));
  EXPECT_THAT(Formed({.a = "int8"}, 4), Not(HasSubstr("lane_sums")));
  EXPECT_THAT(Formed({.steps = 3}, 4), Not(HasSubstr("lane_sums")));
  EXPECT_THAT(Formed({.b = "uint16", .steps = 2}, 4),
              Not(HasSubstr("lane_sums")));
  EXPECT_THAT(Formed({.c = "int64", .steps = 2}, 4),
              Not(HasSubstr("lane_sums")));
  EXPECT_THAT(Formed({.lanes = 32}, 4), Not(HasSubstr("lane_sums")))
      << "of 128 lanes";
}

TEST(FormDotProductsTest, OnlyOfUnrolledSteps) {
  EXPECT_THAT(Formed({.kind = "range"}, 4), Not(HasSubstr("lane_sums")));
}

TEST(FormDotProductsTest, OfAnyLanesAndOperands) {
  EXPECT_THAT(Formed({.lanes = 7}, 4), HasSubstr("C[7:14]"));
  EXPECT_THAT(Formed({.index_a = "j + e"}, 4), HasSubstr("lane_sums"));
  EXPECT_THAT(Formed({.index_a = "k"}, 4), HasSubstr("lane_sums"));
}

TEST(FormDotProductsTest, TheLastStepsOfASumAreFewer) {
  for (const int steps : {1, 2, 3}) {
    const std::string text = Formed({.steps = steps, .together = 4}, 4);
    EXPECT_THAT(text, HasSubstr("B[k * 64:k * 64 + 64]")) << steps;
    EXPECT_THAT(text, HasSubstr("lane_sums(T.Cast(\"int32x64\", "
                                "T.if_then_else("))
        << steps;
  }
  EXPECT_THAT(Formed({.a = "int16", .steps = 1, .together = 2}, 4),
              HasSubstr("T.if_then_else("));
  EXPECT_THAT(Formed({.steps = 3,
                      .value = "T.Cast(\"int32\", T.if_then_else(k < 2, A[IA], "
                               "T.uint8(128))) * T.Cast(\"int32\", B[IB])",
                      .together = 4},
                     4),
              HasSubstr("T.Select("))
      << "the number beside what is loaded is none of the sum";
  EXPECT_THAT(Formed({.steps = 2,
                      .value = "T.Cast(\"int32\", A[IA]) * "
                               "T.Cast(\"int32\", B[960 + j * 4 + e * 2])"},
                     4),
              Not(HasSubstr("int32x64")))
      << "four steps would end behind B";
  EXPECT_THAT(Formed({.steps = 3, .together = 5}, 4),
              Not(HasSubstr("lane_sums")));
  EXPECT_THAT(Formed({.steps = 3, .together = 4}, 2),
              Not(HasSubstr("lane_sums")));
}

TEST(FormDotProductsTest, NoStepsAreNone) {
  EXPECT_THAT(Formed({.steps = 0, .together = 4}, 4),
              Not(HasSubstr("lane_sums")));
}

TEST(FormDotProductsTest, OtherValuesStay) {
  EXPECT_THAT(Formed({.value = "T.Cast(\"int32\", A[IA])"}, 4),
              Not(HasSubstr("lane_sums")));
  EXPECT_THAT(Formed({.value = "T.Cast(\"int32\", A[IA]) * C[0]"}, 4),
              Not(HasSubstr("lane_sums")));
}

}  // namespace
}  // namespace kiln
