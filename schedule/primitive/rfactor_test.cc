#include "kiln/schedule/primitive/rfactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/fuse.h"
#include "kiln/schedule/primitive/reorder.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kMatmul[] = R"(
@T.prim_func
def main(A: T.Buffer((6, 12), "float32"), B: T.Buffer((12, 7), "float32"), C: T.Buffer((6, 7), "float32")):
    for i, j, k in T.grid(6, 7, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

// A row reduction of which `init` and `update` are the parts.
Function RowReduction(const std::string& dtype, const std::string& init,
                      const std::string& update) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((5, 12), ")" +
                      dtype + R"("), C: T.Buffer((5,), ")" + dtype + R"(")):
    for i, k in T.grid(5, 12):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = )" +
                      init + R"(
            C[vi] = )" +
                      update + "\n");
}

constexpr char kArgmaxHead[] = R"(
@T.prim_func
def main(A: T.Buffer((5, 12), "int32"), I: T.Buffer((5,), "int32"), V: T.Buffer((5,), "int32")):
    for i, k in T.grid(5, 12):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                I[vi] = -1
                V[vi] = -2147483648
)";
constexpr char kFirstWins[] = R"(
            v_i: T.let[T.int32] = T.Select(V[vi] >= A[vi, vk], I[vi], T.Cast("int32", vk))
            v_v: T.let[T.int32] = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])
            I[vi] = v_i
            V[vi] = v_v
)";
constexpr char kLeastIndexWins[] = R"(
            v_i: T.let[T.int32] = T.Select(V[vi] > A[vi, vk] or V[vi] == A[vi, vk] and I[vi] < T.Cast("int32", vk), I[vi], T.Cast("int32", vk))
            v_v: T.let[T.int32] = T.Select(V[vi] > A[vi, vk], V[vi], A[vi, vk])
            I[vi] = v_i
            V[vi] = v_v
)";

// Splits the last loop of `C` and factors one of the two.
absl::StatusOr<RfactorResult> SplitAndFactor(const Function& f, int64_t inner,
                                             int which, int64_t axis) {
  const auto split =
      Split(f, LoopsOf(f, "C").back(), {std::nullopt, inner}, {});
  if (!split.ok()) return split.status();
  return Rfactor(split->function, split->loops[which], axis);
}

TEST(Rfactor, SumsPartsAndThenTheParts) {
  const Function f = ParseProgram(kMatmul);
  for (int64_t axis = -3; axis <= 2; ++axis) {
    for (int which : {0, 1}) {
      KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                                SplitAndFactor(f, 4, which, axis));
      const Function& g = result.function;
      EXPECT_EQ(BlockNamed(g, "C_rf"), result.rf_block);
      EXPECT_EQ(BlockNamed(g, "C"), BlockNamed(f, "C"));
      const Buffer& partial = RealizeNamed(g, "C_rf").block->writes[0].buffer;
      EXPECT_EQ(*AsInt(partial->shape[(axis + 3) % 3]), which ? 4 : 3);
      KILN_EXPECT_OK(CheckSameResults(f, g, 1));
    }
  }
}

TEST(Rfactor, KeepsTheLoopsOfTheBlockThatCombines) {
  const Function f = ParseProgram(kMatmul);
  const auto loops = LoopsOf(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const auto split,
                            Split(f, loops[2], {3, std::nullopt}, {}));
  KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                            Rfactor(split.function, split.loops[0], 0));
  EXPECT_THAT(LoopsOf(result.function, "C"),
              ElementsAre(loops[0], loops[1], split.loops[0]));
  EXPECT_THAT(LoopNames(result.function, "C_rf"),
              ElementsAre("i", "j", "k_0", "k_1"));
}

TEST(Rfactor, OfTheWholeReductionStoresOperands) {
  const Function f = ParseProgram(kMatmul);
  KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                            Rfactor(f, LoopsOf(f, "C")[2], 0));
  EXPECT_FALSE(RealizeNamed(result.function, "C_rf").block->init);
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
}

TEST(Rfactor, OfLoopsOutsideOfSpatialOnesAndFused) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 3, 6), "float32"), C: T.Buffer((4,), "float32")):
    for i, j, k in T.grid(4, 3, 6):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SRR", [i, j, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vj, vk] * A[vi, vj, vk]
)");
  const auto loops = LoopsOf(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const auto fused, Fuse(f, {loops[1], loops[2]}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const auto split, Split(fused.function, fused.loop, {std::nullopt, 3}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function turned,
      Reorder(split.function, {split.loops[1], loops[0]}));
  KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                            Rfactor(turned, split.loops[1], 1));
  EXPECT_EQ(Extents(result.function, "C"), (std::vector<int64_t>{3, 4}));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
}

TEST(Rfactor, LoopThatDoesNotDivideMakesPartsOfWhatIsThere) {
  const Function f = ParseProgram(kMatmul);
  for (int which : {0, 1}) {
    KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                              SplitAndFactor(f, 5, which, 2));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 4));
  }
  // 15 parts, of which three have nothing.
  KILN_ASSERT_OK_AND_ASSIGN(const auto split,
                            Split(f, LoopsOf(f, "C")[2], {1, 15}));
  KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                            Rfactor(split.function, split.loops[1], 0));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 5));
}

TEST(Rfactor, CombinesByEachKnownOperator) {
  for (const char* dtype : {"float32", "int32", "float64"}) {
    const std::string t = std::string("T.") + dtype;
    for (const auto& [init, update] :
         std::vector<std::pair<std::string, std::string>>{
             {"(0)", "C[vi] + A[vi, vk]"},
             {"(0)", "A[vi, vk] + C[vi]"},
             {"(1)", "C[vi] * A[vi, vk]"},
             {"(100000)", "T.min(C[vi], A[vi, vk])"},
             {"(-7)", "T.max(C[vi], A[vi, vk])"}}) {
      const Function f = RowReduction(dtype, t + init, update);
      KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                                SplitAndFactor(f, 4, 1, 1));
      KILN_EXPECT_OK(CheckSameResults(f, result.function, 6));
    }
  }
}

TEST(Rfactor, BoundsOfATypeAreInitialValues) {
  for (const char* dtype :
       {"float32", "float16", "float64", "int8", "int32", "int64", "uint8"}) {
    const std::string t = std::string("(\"") + dtype + "\")";
    for (const auto& [init, update] :
         std::vector<std::pair<std::string, std::string>>{
             {"T.max_value" + t, "T.min(A[vi, vk], C[vi])"},
             {"T.min_value" + t, "T.max(C[vi], A[vi, vk])"}}) {
      const Function f = RowReduction(dtype, init, update);
      KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                                SplitAndFactor(f, 4, 1, 0));
      KILN_EXPECT_OK(CheckSameResults(f, result.function, 6));
    }
  }
  const Function f = RowReduction("float32", "T.Cast(\"float32\", T.int32(0))",
                                  "C[vi] + A[vi, vk]");
  KILN_EXPECT_OK(SplitAndFactor(f, 4, 1, 0).status());
}

TEST(Rfactor, ALoopOfOneIterationNeedNotMoveTheReduction) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((5, 8), "float32"), C: T.Buffer((5,), "float32")):
    for i, one, k in T.grid(5, 1, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                            Rfactor(f, LoopsOf(f, "C")[1], 0));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
}

TEST(Rfactor, ArgmaxWithTheValueAhead) {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer((5, 12), "int32"), I: T.Buffer((5,), "int32"), V: T.Buffer((5,), "int32")):
    for i, k in T.grid(5, 12):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                V[vi] = T.min_value("int32")
                I[vi] = -1
            v_v: T.let[T.int32] = T.Select(V[vi] > A[vi, vk], V[vi], A[vi, vk])
            v_i: T.let[T.int32] = T.Select(V[vi] > A[vi, vk] or V[vi] == A[vi, vk] and I[vi] < T.Cast("int32", vk), I[vi], T.Cast("int32", vk))
            V[vi] = v_v
            I[vi] = v_i
)";
  const Function f = ParseProgram(text);
  for (int which : {0, 1}) {
    KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                              SplitAndFactor(f, 4, which, 1));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
  }
}

TEST(Rfactor, ArgmaxOfTheLeastIndexInAnyOrder) {
  const Function f = ParseProgram(std::string(kArgmaxHead) + kLeastIndexWins);
  for (int which : {0, 1}) {
    KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                              SplitAndFactor(f, 4, which, 1));
    for (uint64_t seed = 0; seed < 4; ++seed) {
      KILN_EXPECT_OK(CheckSameResults(f, result.function, seed));
    }
  }
}

TEST(Rfactor, ArgmaxMayCompareIndicesAsTheyWere) {
  std::string text = std::string(kArgmaxHead) + kLeastIndexWins;
  const std::string narrow = "I[vi] < T.Cast(\"int32\", vk)";
  text.replace(text.find(narrow), narrow.size(), "I[vi] < vk");
  const Function f = ParseProgram(text);
  KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                            SplitAndFactor(f, 4, 1, 1));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
}

TEST(Rfactor, ArgmaxOfTheFirstInAnyOrderWhereIndicesGrow) {
  const Function f = ParseProgram(std::string(kArgmaxHead) + kFirstWins);
  for (int which : {0, 1}) {
    KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                              SplitAndFactor(f, 4, which, 1));
    for (uint64_t seed = 0; seed < 4; ++seed) {
      KILN_EXPECT_OK(CheckSameResults(f, result.function, seed));
    }
  }
}

TEST(Rfactor, ArgmaxOfTheFirstOnlyInOrderWhereIndicesDoNotGrow) {
  const std::string text = std::string(kArgmaxHead) + kFirstWins;
  const auto with = [&](absl::string_view old, absl::string_view now) {
    return ParseProgram(absl::StrReplaceAll(text, {{old, now}}));
  };
  for (const Function& f : {with("\"int32\", vk", "\"int32\", 11 - vk"),
                            with("\"int32\", vk", "\"int32\", vk // 5"),
                            with("\"int32\", vk", "\"int32\", vk % 4"),
                            with("I[vi] = -1", "I[vi] = 3"),
                            with("\"int32\", vk", "\"int32\", vk - 2")}) {
    KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                              SplitAndFactor(f, 4, 0, 1));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 5));
    EXPECT_THAT(SplitAndFactor(f, 4, 1, 1),
                StatusIs(kRefused, HasSubstr("the first of equal values")));
  }
}

TEST(Rfactor, ArgmaxAsItIsSpelled) {
  for (const std::string body : {
           R"(
            v_i: T.let[T.int32] = T.Select(A[vi, vk] > V[vi], T.Cast("int32", vk), I[vi])
            v_v: T.let[T.int32] = T.max(A[vi, vk], V[vi])
            I[vi] = v_i
            V[vi] = v_v
)",
           R"(
            v_i: T.let[T.int32] = T.Select(A[vi, vk] <= V[vi], I[vi], T.Cast("int32", vk))
            v_v: T.let[T.int32] = T.Select(V[vi] < A[vi, vk], A[vi, vk], V[vi])
            I[vi] = v_i
            V[vi] = v_v
)",
           R"(
            if V[vi] < A[vi, vk]:
                I[vi] = T.Cast("int32", vk)
                V[vi] = A[vi, vk]
)",
       }) {
    const Function f = ParseProgram(std::string(kArgmaxHead) + body);
    for (int which : {0, 1}) {
      KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                                SplitAndFactor(f, 4, which, 1));
      for (uint64_t seed = 0; seed < 4; ++seed) {
        KILN_EXPECT_OK(CheckSameResults(f, result.function, seed));
      }
    }
  }
}

TEST(Rfactor, RefusesConditionalStoresOfWhatIsStored) {
  const Function f = ParseProgram(std::string(kArgmaxHead) + R"(
            if V[vi] < A[vi, vk]:
                I[vi] = T.Cast("int32", vk) + I[vi]
                V[vi] = A[vi, vk]
)");
  EXPECT_THAT(SplitAndFactor(f, 4, 0, 1), StatusIs(kRefused, HasSubstr("C")));
}

TEST(Rfactor, RefusesWaysOfCombiningThatDependOnOrder) {
  for (const auto& [init, update] :
       std::vector<std::pair<std::string, std::string>>{
           {"T.float32(0)", "C[vi] - A[vi, vk]"},
           {"T.float32(1)", "C[vi] + A[vi, vk]"},
           {"T.float32(0)", "C[vi] * A[vi, vk]"},
           {"T.float32(0)", "C[vi] + A[vi, vk] * C[vi]"},
           {"T.float32(0)", "A[vi, vk]"},
           {"A[vi, 0]", "T.max(C[vi], A[vi, vk])"}}) {
    const Function f = RowReduction("float32", init, update);
    EXPECT_FALSE(Rfactor(f, LoopsOf(f, "C")[1], 0).ok()) << update;
  }
}

TEST(Rfactor, RefusesAnAxisThatIsNotThere) {
  const Function f = ParseProgram(kMatmul);
  for (int64_t axis : {-4, 3, 1 << 30}) {
    EXPECT_THAT(
        Rfactor(f, LoopsOf(f, "C")[2], axis),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("factor_axis")));
  }
}

TEST(Rfactor, RefusesASpatialLoopAndABlockThatReducesNothing) {
  const Function f = ParseProgram(kMatmul);
  EXPECT_THAT(Rfactor(f, LoopsOf(f, "C")[1], 0),
              StatusIs(kRefused, HasSubstr("spatial iterator")));
  const Function copy = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
)");
  EXPECT_THAT(Rfactor(copy, LoopsOf(copy, "C")[0], 0),
              StatusIs(kRefused, HasSubstr("no reduction")));
  EXPECT_THAT(Rfactor(f, 999, 0), StatusIs(kRefused, HasSubstr("no loop")));
}

TEST(Rfactor, RefusesALoopOverSeveralBlocks) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32"), D: T.Buffer((4, 8), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
        with T.block("D"):
            vi, vk = T.axis.remap("SS", [i, k])
            D[vi, vk] = A[vi, vk]
)");
  EXPECT_THAT(Rfactor(f, LoopsOf(f, "C")[1], 0),
              StatusIs(kRefused, HasSubstr("2 blocks")));
}

TEST(Rfactor, StaysWithinALoopThatOtherBlocksShare) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((4, 8))
    for i in range(4):
        for k in range(8):
            with T.block("B"):
                vi, vk = T.axis.remap("SS", [i, k])
                B[vi, vk] = A[vi, vk] * T.float32(2)
        for k in range(8):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + B[vi, vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                            Rfactor(f, LoopsOf(f, "C")[1], 1));
  EXPECT_EQ(LoopsOf(result.function, "C_rf")[0], LoopsOf(f, "B")[0]);
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 7));
}

TEST(Rfactor, SymbolicExtentsKeepTheirCondition) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 8), "float32")
    C = T.match_buffer(c, (8,), "float32")
    for i, k in T.grid(8, n):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vk, vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const RfactorResult result,
                            SplitAndFactor(f, 16, 1, 0));
  EXPECT_FALSE(IsOne(RealizeNamed(result.function, "C").predicate));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 8));
}

}  // namespace
}  // namespace kiln
