#include "kiln/schedule/primitive/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Factors = std::vector<std::optional<int64_t>>;
constexpr auto kRest = std::nullopt;

// The program with `extent` for N and `loop` for LOOP.
std::string With(std::string text, const std::string& extent,
                 const std::string& loop) {
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"LOOP", loop}, {"N", extent}}) {
    for (size_t at; (at = text.find(from)) != std::string::npos;) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

constexpr char kDoubling[] = R"(
@T.prim_func
def main(A: T.Buffer((N,), "float32"), B: T.Buffer((N,), "float32")):
    for i in LOOP(N):
        with T.block("B"):
            vi = T.axis.spatial(N, i)
            B[vi] = A[vi] * T.float32(2)
)";

Function Doubling(const std::string& extent,
                  const std::string& loop = "range") {
  return ParseProgram(With(kDoubling, extent, loop));
}

constexpr char kRowSums[] = R"(
@T.prim_func
def main(A: T.Buffer((7, 13), "float32"), C: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 13):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)";

TEST(Split, NamesLoopsAfterTheOldOneAndGivesThemFreshIds) {
  const Function f = Doubling("128");
  const LoopId old = LoopsOf(f, "B")[0];
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult result,
                            Split(f, old, Factors{8, 4, 4}));
  const Function& g = result.function;
  EXPECT_THAT(LoopNames(g, "B"), ElementsAre("i_0", "i_1", "i_2"));
  EXPECT_THAT(Extents(g, "B"), ElementsAre(8, 4, 4));
  EXPECT_EQ(LoopsOf(g, "B"), result.loops);
  EXPECT_THAT(result.loops, Not(::testing::Contains(old)));
  EXPECT_EQ(BlockNamed(g, "B"), BlockNamed(f, "B"));
  EXPECT_TRUE(IsOne(RealizeNamed(g, "B").predicate));
  EXPECT_EQ(PrintExpr(RealizeNamed(g, "B").values[0]),
            "i_0 * 16 + i_1 * 4 + i_2");
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(Split, InfersOneFactorWhereverItStands) {
  const Function f = Doubling("128");
  const LoopId i = LoopsOf(f, "B")[0];
  for (const Factors& factors :
       {Factors{kRest, 4, 16}, Factors{2, kRest, 16}, Factors{2, 4, kRest}}) {
    KILN_ASSERT_OK_AND_ASSIGN(const SplitResult result, Split(f, i, factors));
    EXPECT_THAT(Extents(result.function, "B"), ElementsAre(2, 4, 16));
  }
}

TEST(Split, PrimeExtentGetsAPredicate) {
  const Function f = Doubling("13");
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult result,
                            Split(f, LoopsOf(f, "B")[0], Factors{kRest, 4}));
  EXPECT_THAT(Extents(result.function, "B"), ElementsAre(4, 4));
  EXPECT_EQ(PrintExpr(RealizeNamed(result.function, "B").predicate),
            "i_0 * 4 + i_1 < 13");
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
}

TEST(Split, PredicatesOfTwoInexactSplitsJoin) {
  const Function f = ParseProgram(kRowSums);
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult k,
                            Split(f, LoopsOf(f, "C")[1], Factors{3, 5}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const SplitResult both,
      Split(k.function, LoopsOf(f, "C")[0], Factors{kRest, 2}));
  EXPECT_THAT(Extents(both.function, "C"), ElementsAre(4, 2, 3, 5));
  KILN_EXPECT_OK(CheckSameResults(f, both.function, 3));
}

TEST(Split, OfAnInexactSplitKeepsBothBounds) {
  const Function f = Doubling("50");
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult outer,
                            Split(f, LoopsOf(f, "B")[0], Factors{kRest, 16}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const SplitResult inner,
      Split(outer.function, outer.loops[1], Factors{3, 6}));
  EXPECT_THAT(Extents(inner.function, "B"), ElementsAre(4, 3, 6));
  KILN_EXPECT_OK(CheckSameResults(f, inner.function, 4));
}

TEST(Split, EveryFactorisationOfSmallExtentsComputesTheSame) {
  for (int64_t extent = 1; extent <= 9; ++extent) {
    const Function f = Doubling(std::to_string(extent));
    for (int64_t outer = 1; outer <= 10; ++outer) {
      for (bool keep : {true, false}) {
        KILN_ASSERT_OK_AND_ASSIGN(
            const SplitResult result,
            Split(f, LoopsOf(f, "B")[0], Factors{outer, kRest},
                  {.preserve_unit_iters = keep}));
        KILN_EXPECT_OK(CheckSameResults(f, result.function, 5));
      }
    }
  }
}

TEST(Split, UnitLoopsAreKeptInBindingsOnRequest) {
  const Function f = Doubling("8");
  const LoopId i = LoopsOf(f, "B")[0];
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult kept, Split(f, i, Factors{1, 8}));
  EXPECT_EQ(PrintExpr(RealizeNamed(kept.function, "B").values[0]),
            "i_0 * 8 + i_1");
  KILN_ASSERT_OK_AND_ASSIGN(
      const SplitResult dropped,
      Split(f, i, Factors{1, 8}, {.preserve_unit_iters = false}));
  EXPECT_EQ(PrintExpr(RealizeNamed(dropped.function, "B").values[0]), "i_1");
  KILN_EXPECT_OK(CheckSameResults(f, dropped.function, 6));
}

TEST(Split, WorksOn64BitExtents) {
  const Function f = Doubling(std::to_string(int64_t{1} << 40));
  KILN_ASSERT_OK_AND_ASSIGN(
      const SplitResult result,
      Split(f, LoopsOf(f, "B")[0], Factors{kRest, int64_t{1} << 33}));
  EXPECT_THAT(Extents(result.function, "B"),
              ElementsAre(int64_t{1} << 7, int64_t{1} << 33));
  EXPECT_TRUE(IsOne(RealizeNamed(result.function, "B").predicate));
}

TEST(Split, RefusesFactorsWhoseProductOverflows) {
  const Function f =
      ParseProgram(With(R"(
@T.prim_func
def main(B: T.Buffer((4,), "float32")):
    for i in range(N):
        with T.block("B"):
            vi = T.axis.spatial(N, i)
            B[vi % 4] = T.float32(2)
)",
                        std::to_string((int64_t{3} << 61) + 1), ""));
  const LoopId i = LoopsOf(f, "B")[0];
  EXPECT_THAT(
      Split(f, i, Factors{int64_t{1} << 40, int64_t{1} << 40}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("overflows")));
  // Rounded up, the inferred factor is 2.
  EXPECT_THAT(
      Split(f, i, Factors{kRest, int64_t{3} << 61}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("overflows")));
}

TEST(Split, SymbolicExtentGetsAPredicateOrIsSplitExactly) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n * 4,), "float32")
    B = T.match_buffer(b, (n * 4,), "float32")
    for i in range(n * 4):
        with T.block("B"):
            vi = T.axis.spatial(n * 4, i)
            B[vi] = A[vi] + T.float32(1)
)");
  const LoopId i = LoopsOf(f, "B")[0];
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult exact,
                            Split(f, i, Factors{kRest, 4}));
  EXPECT_TRUE(IsOne(RealizeNamed(exact.function, "B").predicate));
  EXPECT_EQ(PrintExpr(LoopById(exact.function, exact.loops[0]).extent), "n");
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult inexact,
                            Split(f, i, Factors{kRest, 16}));
  EXPECT_FALSE(IsOne(RealizeNamed(inexact.function, "B").predicate));
  EXPECT_THAT(Split(f, i, Factors{2, 8}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("may have more")));
}

TEST(Split, RefusesFactorsThatMakeNoSense) {
  const Function f = Doubling("128");
  const LoopId i = LoopsOf(f, "B")[0];
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(Split(f, i, {}), StatusIs(bad, HasSubstr("no factors")));
  EXPECT_THAT(Split(f, i, Factors{kRest, kRest}),
              StatusIs(bad, HasSubstr("more than one factor is None")));
  EXPECT_THAT(Split(f, i, Factors{0, 128}),
              StatusIs(bad, HasSubstr("factor 0 is not positive")));
  EXPECT_THAT(Split(f, i, Factors{-2, kRest}),
              StatusIs(bad, HasSubstr("factor -2")));
}

TEST(Split, RefusesTooFewIterations) {
  const Function f = Doubling("128");
  EXPECT_THAT(Split(f, LoopsOf(f, "B")[0], Factors{8, 15}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("make 120 iterations, and loop `i` of extent "
                                 "128 may have more")));
}

TEST(Split, RefusesALoopWhoseNatureWouldBeLost) {
  for (const char* loop : {"T.parallel", "T.vectorized", "T.unroll"}) {
    const Function f = Doubling("16", loop);
    EXPECT_THAT(Split(f, LoopsOf(f, "B")[0], Factors{4, 4}),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("would be lost")))
        << loop;
  }
  const Function bound = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in T.thread_binding(16, thread="threadIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
)");
  EXPECT_THAT(Split(bound, LoopsOf(bound, "B")[0], Factors{4, 4}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("bound to a thread axis")));
}

TEST(Split, RefusesAnnotatedLoopsAndThoseThatDoNotStartAtZero) {
  const Function noted = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in T.serial(16, annotations={"note": 1}):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
)");
  EXPECT_THAT(Split(noted, LoopsOf(noted, "B")[0], Factors{4, 4}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("annotation `note`")));
  const Function late = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(8, 16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
)");
  EXPECT_THAT(Split(late, LoopsOf(late, "B")[0], Factors{2, 4}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("does not start at 0")));
}

TEST(Split, RefusesWhereNoPredicateCanStand) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((13,), "float32"), B: T.Buffer((13,), "float32")):
    for i in range(13):
        with T.block("B"):
            vi = T.axis.spatial(13, i)
            B[vi] = A[vi]
        T.evaluate(i)
)");
  const LoopId i = LoopsOf(f, "B")[0];
  EXPECT_THAT(Split(f, i, Factors{kRest, 4}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("outside of blocks")));
  KILN_EXPECT_OK(Split(f, i, Factors{13, 1}));
  const Function g = Doubling("13");
  EXPECT_THAT(Split(g, LoopsOf(g, "B")[0], Factors{kRest, 4},
                    {.disable_predication = true}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not known to divide")));
}

TEST(Split, SharesWhatItDoesNotTouchAndLeavesItsArgumentAlone) {
  const Function f = Doubling("128");
  const std::string form = CanonicalForm(f);
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult result,
                            Split(f, LoopsOf(f, "B")[0], Factors{8, 16}));
  EXPECT_EQ(CanonicalForm(f), form);
  EXPECT_EQ(RealizeNamed(result.function, "B").block.get(),
            RealizeNamed(f, "B").block.get());
  EXPECT_THAT(Split(f, 999, Factors{8, 16}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("has no loop 999")));
}

}  // namespace
}  // namespace kiln
