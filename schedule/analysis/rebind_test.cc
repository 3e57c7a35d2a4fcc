// Each test puts the nest of `Rebound`, the loops x and y of extents `outer`
// and `inner`, where the first loop of a program stood.
#include "kiln/schedule/analysis/rebind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

const ForNode& FirstLoop(const Function& f) {
  const ForNode* first = nullptr;
  Visit(f.body, [&](const Stmt& s) {
    if (!first) first = s.As<ForNode>();
    return !first;
  });
  return *first;
}

struct Nest {
  int64_t outer, inner;
  bool preserve_unit_iters = true;
};

// `f` with its first loop i as x * inner + y.
Function Rebound(const Function& f, const Nest& nest) {
  const ForNode& loop = FirstLoop(f);
  const Path path = *FindLoop(f, loop.id);
  const Var x("x", loop.var.dtype()), y("y", loop.var.dtype());
  const auto number = [&](int64_t value) { return Int(value, x.dtype()); };
  Rebinding rebinding;
  rebinding.preserve_unit_iters = nest.preserve_unit_iters;
  rebinding.outside = LoopsAbove(path);
  const Expr i = Add(Mul(x, number(nest.inner)), y);
  rebinding.values.emplace(loop.var.get(), i);
  if (nest.outer * nest.inner != *AsInt(loop.extent)) {
    rebinding.predicate = LT(i, loop.extent);
  }
  rebinding.loops = {{x, {number(0), number(nest.outer)}},
                     {y, {number(0), number(nest.inner)}}};
  Function after = f;
  Stmt body = Rebind(loop.body, rebinding);
  body = MakeFor(after.NewId(), y, number(nest.inner), std::move(body));
  body = MakeFor(after.NewId(), x, number(nest.outer), std::move(body));
  after.body = ReplaceAt(path, std::move(body));
  return after;
}

std::string BindingsOf(const Function& f, const char* block) {
  std::string text;
  for (const Expr& value : RealizeNamed(f, block).values) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", PrintExpr(value));
  }
  return text;
}

std::string ConditionOf(const Function& f, const char* block) {
  return PrintExpr(RealizeNamed(f, block).predicate);
}

constexpr char kDigits[] = R"(
@T.prim_func
def main(A: T.Buffer((12, 5), "float32"), B: T.Buffer((3, 4, 5), "float32")):
    for i, j in T.grid(12, 5):
        with T.block("B"):
            va = T.axis.spatial(3, i // 4)
            vb = T.axis.spatial(4, i % 4)
            vj = T.axis.spatial(5, j)
            B[va, vb, vj] = A[va * 4 + vb, vj] + T.float32(1)
)";

TEST(RebindTest, BindingsComeBackInTheirSimplestForm) {
  const Function f = ParseProgram(kDigits);
  const Function whole = Rebound(f, {3, 4});
  EXPECT_EQ(BindingsOf(whole, "B"), "x, y, j");
  EXPECT_EQ(ConditionOf(whole, "B"), "T.bool(True)");
  const Function halves = Rebound(f, {6, 2});
  EXPECT_EQ(BindingsOf(halves, "B"), "x // 2, x % 2 * 2 + y, j");
  for (const Function& after : {whole, halves}) {
    KILN_EXPECT_OK(CheckSameResults(f, after, 3));
  }
}

TEST(RebindTest, IterationsBeyondTheOldOnesAreLeftOut) {
  const Function f = ParseProgram(kDigits);
  const Function after = Rebound(f, {2, 8});
  EXPECT_EQ(ConditionOf(after, "B"), "x * 8 + y < 12");
  KILN_EXPECT_OK(CheckSameResults(f, after, 3));
}

TEST(RebindTest, LoopsOfOneIterationAreNamedWhereTheyArePreserved) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((12,), "float32"), B: T.Buffer((12,), "float32")):
    for i in range(12):
        with T.block("B"):
            vi = T.axis.spatial(12, i)
            B[vi] = A[vi]
)");
  EXPECT_EQ(BindingsOf(Rebound(f, {1, 12, true}), "B"), "x * 12 + y");
  EXPECT_EQ(BindingsOf(Rebound(f, {1, 12, false}), "B"), "y");
}

constexpr char kNested[] = R"(
@T.prim_func
def main(A: T.Buffer((10, 10), "float32"), B: T.Buffer((10, 10), "float32")):
    for i in range(10):
        with T.block("outer"):
            vo = T.axis.spatial(10, i)
            T.reads(A[vo, 0:10])
            T.writes(B[vo, 0:10])
            for j in range(10):
                with T.block("inner"):
                    vi = T.axis.spatial(10, vo)
                    vj = T.axis.spatial(10, j)
                    B[vi, vj] = A[vi, vj] * T.float32(2)
)";

TEST(RebindTest, TheConditionJoinsThatOfTheOutermostBlockAlone) {
  const Function f = ParseProgram(kNested);
  const Function after = Rebound(f, {3, 4});
  EXPECT_EQ(ConditionOf(after, "outer"), "x * 4 + y < 10");
  EXPECT_EQ(ConditionOf(after, "inner"), "T.bool(True)");
  EXPECT_EQ(RealizeNamed(after, "outer").block, RealizeNamed(f, "outer").block);
  KILN_EXPECT_OK(CheckSameResults(f, after, 5));
}

TEST(RebindTest, ConditionsRangesAndOpaqueBodiesNameTheNewLoops) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((12, 12), "float32"), B: T.Buffer((12, 12), "float32"), C: T.Buffer((12,), "float32")):
    for i in range(12):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(i + j < 15)
                B[vi, vj] = A[vi, vj]
        with T.block("C"):
            T.reads(A[i, i])
            T.writes(C[i])
            C[i] = A[i, i]
)");
  const Function after = Rebound(f, {5, 3});
  const std::string text = PrintFunction(after);
  EXPECT_THAT(text, HasSubstr("in range(x * 3 + y + 1)"));
  EXPECT_THAT(text, HasSubstr("vj = T.axis.spatial(x * 3 + y + 1, j)"));
  EXPECT_THAT(text, HasSubstr("C[x * 3 + y] = A[x * 3 + y, x * 3 + y]"));
  EXPECT_THAT(ConditionOf(after, "B"), HasSubstr("x * 3 + y + j < 15"));
  EXPECT_THAT(ConditionOf(after, "B"), HasSubstr("x * 3 + y < 12"));
  EXPECT_EQ(ConditionOf(after, "C"), "x * 3 + y < 12");
  KILN_EXPECT_OK(CheckSameResults(f, after, 9));
}

TEST(RebindTest, EveryNestOfEveryFormComputesTheSame) {
  std::mt19937_64 random(16);  // the seed
  for (int pair = 0; pair < 200; ++pair) {
    const int64_t extent = 1 + static_cast<int64_t>(random() % 24);
    const int64_t digit = 1 + static_cast<int64_t>(random() % 7);
    const int64_t inner = 1 + static_cast<int64_t>(random() % 9);
    const int64_t outer =
        (extent + inner - 1) / inner + static_cast<int64_t>(random() % 2);
    const int64_t rows = (extent + digit - 1) / digit;
    const Function f = ParseProgram(absl::StrCat(
        R"(
@T.prim_func
def main(A: T.Buffer((3, )",
        extent, R"(), "float32"), B: T.Buffer((3, )", rows, ", ", digit,
        R"(), "float32")):
    for i, j in T.grid()",
        extent, R"(, 3):
        with T.block("B"):
            vj = T.axis.spatial(3, j)
            va = T.axis.spatial()",
        rows, ", i // ", digit, R"()
            vb = T.axis.spatial()",
        digit, ", i % ", digit, R"()
            B[vj, va, vb] = A[vj, va * )",
        digit, " + vb]\n"));
    const Nest nest{outer, inner, random() % 2 == 0};
    const absl::Status same = CheckSameResults(f, Rebound(f, nest), random());
    EXPECT_TRUE(same.ok()) << same << "\npair " << pair << ", " << outer
                           << " x " << inner << " of\n"
                           << PrintFunction(f);
  }
}

TEST(AllInBlocksTest, IsNotTheCaseOfStoresOutsideOfBlocks) {
  EXPECT_TRUE(AllInBlocks(FirstLoop(ParseProgram(kNested)).body));
  const Function mixed = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
        if i < 2:
            A[i] = T.float32(0)
)");
  EXPECT_FALSE(AllInBlocks(FirstLoop(mixed).body));
}

}  // namespace
}  // namespace kiln
