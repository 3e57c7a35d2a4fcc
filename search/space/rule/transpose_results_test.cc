// Sums written as text: of which the results are transposed, and that programs
// compute the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Extents = std::map<char, int>;

std::string Shape(const std::string& axes, const Extents& extents) {
  std::string shape = "(";
  for (const char c : axes) absl::StrAppend(&shape, extents.at(c), ", ");
  return shape + ")";
}

std::string Index(const std::string& axes) {
  return absl::StrJoin(axes, ", ", [](std::string* out, char c) {
    absl::StrAppend(out, "v", std::string(1, c));
  });
}

// C[c] += A[a] * B[b], each named by its axes; those of C come first in
// `loops`.
Module Sum(const std::string& a, const std::string& b, const std::string& c,
           const std::string& loops, const Extents& extents) {
  const std::string kinds =
      std::string(c.size(), 'S') + std::string(loops.size() - c.size(), 'R');
  const auto letters = [](std::string* out, char l) { out->push_back(l); };
  std::string extent = Shape(loops, extents);
  return ParseProgram(absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer($0, "float32"), B: T.Buffer($1, "float32"), C: T.Buffer($2, "float32")):
    for $3 in T.grid$4:
        with T.block("C"):
            $5 = T.axis.remap("$6", [$3])
            with T.init():
                C[$7] = T.float32(0)
            C[$7] = C[$7] + A[$8] * B[$9]
)",
      Shape(a, extents), Shape(b, extents), Shape(c, extents),
      absl::StrJoin(loops, ", ", letters), extent, Index(loops), kinds,
      Index(c), Index(a), Index(b)));
}

// What the rule makes of it, as one schedule that computes the same.
std::string TraceOf(const Module& module) {
  const std::vector<Schedule> made = ApplyRule(TransposeResults, module, "C");
  if (made.empty()) return "";
  EXPECT_EQ(made.size(), 1u);
  ExpectSameMeaning(module, made);
  return ToText(made[0].trace());
}

TEST(TransposeResultsTest, WhereSeveralOperandsWouldBeGathered) {
  const Extents extents = {{'b', 18}, {'i', 17}, {'j', 20}, {'k', 9}};
  const std::string trace = TraceOf(Sum("bik", "bkj", "ijb", "ijbk", extents));
  EXPECT_THAT(trace, HasSubstr("sch.cache_write"));
  EXPECT_THAT(trace, HasSubstr("lambda d0, d1, d2: (d2, d0, d1,)"));
  EXPECT_EQ(TraceOf(Sum("bik", "bkj", "bij", "bijk", extents)), "");
}

TEST(TransposeResultsTest, WhereRowsAreShort) {
  const auto sum = [](int rows, int columns) {
    return Sum("ik", "kj", "ji", "jik",
               {{'i', rows}, {'j', columns}, {'k', 10}});
  };
  EXPECT_NE(TraceOf(sum(5, 40)), "");
  EXPECT_EQ(TraceOf(sum(5, 9)), "") << "and so are columns";
  EXPECT_EQ(TraceOf(sum(16, 40)), "") << "an operand may be transposed";
  const Extents extents = {{'i', 5}, {'j', 40}, {'k', 10}};
  EXPECT_EQ(TraceOf(Sum("ki", "jk", "ji", "jik", extents)), "")
      << "an operand lies along them, and the other along no columns";
}

TEST(TransposeResultsTest, ColumnsOfOneOperandGoTogether) {
  const Extents extents = {{'a', 5}, {'d', 3}, {'e', 16}, {'f', 9}};
  EXPECT_THAT(TraceOf(Sum("af", "fed", "ead", "eadf", extents)),
              HasSubstr("lambda d0, d1, d2: (d1, d0, d2,)"));
  EXPECT_EQ(TraceOf(Sum("af", "fed", "aed", "aedf", extents)), "");
}

TEST(TransposeResultsTest, WhereTheOperandHasMoreElements) {
  const Extents extents = {{'i', 9}, {'j', 21}, {'k', 19}};
  EXPECT_NE(TraceOf(Sum("ijk", "ij", "kj", "kji", extents)), "");
  EXPECT_EQ(TraceOf(Sum("ijk", "ij", "jk", "jki", extents)), "");
}

TEST(TransposeResultsTest, AnAxisAlongWhichAllOperandsLieComesLast) {
  const Extents extents = {{'a', 16}, {'b', 5}, {'c', 6}, {'d', 7}, {'e', 9}};
  EXPECT_THAT(TraceOf(Sum("ceba", "beda", "cdab", "cdabe", extents)),
              HasSubstr("lambda d0, d1, d2, d3: (d3, d0, d1, d2,)"));
  EXPECT_THAT(TraceOf(Sum("ceb", "bed", "cdb", "cdbe", extents)),
              Not(HasSubstr("transform_layout")));
}

TEST(TransposeResultsTest, NotForAFewSteps) {
  const auto sum = [](int steps) {
    return Sum("bik", "bkj", "ijb", "ijbk",
               {{'b', 18}, {'i', 17}, {'j', 20}, {'k', steps}});
  };
  EXPECT_EQ(TraceOf(sum(1)), "");
  EXPECT_NE(TraceOf(sum(2)), "");
}

TEST(TransposeResultsTest, AllDesignsComputeTheSame) {
  const Module module = Sum("bik", "bkj", "jib", "jibk",
                            {{'b', 18}, {'i', 5}, {'j', 33}, {'k', 9}});
  const std::vector<Schedule> made =
      ApplyRules(module, CpuRules(), RuleContext(), 8);
  ASSERT_FALSE(made.empty());
  ExpectSameMeaning(module, made, 2);
}

}  // namespace
}  // namespace kiln
