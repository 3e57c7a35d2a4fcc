#include "kiln/schedule/primitive/strassen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;
constexpr auto kBad = absl::StatusCode::kInvalidArgument;

// C[b, i, j] for 2 x 8 x 12 and k of 4.
struct Text {
  std::string dtype = "float32", result = "float32";
  std::string a = "(2, 8, 4)", b = "(2, 4, 12)", c = "(2, 8, 12)";
  std::string attrs = "{\"numerics\": \"normwise\"}";
  std::string init = "T.float32(0)";
  std::string update = "C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vk, vj]";
  std::string to = "C[vb, vi, vj]";
};

Function Parse(const Text& t) {
  const auto buffer = [](const char* name, const std::string& shape,
                         const std::string& dtype) {
    return std::string(name) + ": T.Buffer(" + shape + ", \"" + dtype + "\")";
  };
  return ParseProgram("\n@T.prim_func\ndef main(" + buffer("A", t.a, t.dtype) +
                      ", " + buffer("B", t.b, t.dtype) + ", " +
                      buffer("C", t.c, t.result) + R"():
    T.func_attr()" + t.attrs +
                      R"()
    for b, i, j, k in T.grid(2, 8, 12, 4):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                )" + t.to +
                      " = " + t.init + R"(
            )" + t.to +
                      " = " + t.update + "\n");
}

absl::StatusOr<Function> Apply(const Function& f) {
  return Strassen(f, BlockNamed(f, "C"), {1, 2, 3});
}

TEST(Strassen, SevenProductsOfHalves) {
  const Function f = Parse({});
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Apply(f));
  EXPECT_THAT(Extents(g, "C"), ElementsAre(7, 2, 4, 6, 2));
  EXPECT_THAT(Extents(g, "A_sums"), ElementsAre(7, 2, 4, 2));
  EXPECT_THAT(Extents(g, "B_sums"), ElementsAre(7, 2, 2, 6));
  EXPECT_THAT(Extents(g, "C_join"), ElementsAre(2, 2, 4, 2, 6));
  EXPECT_EQ(BlockNamed(g, "C"), BlockNamed(f, "C"));
  KILN_EXPECT_OK(VerifyFunction(g));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(Strassen, OnTheSumsOfStrassen) {
  const Function f = Parse({});
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Apply(f));
  KILN_ASSERT_OK_AND_ASSIGN(const Function h,
                            Strassen(g, BlockNamed(g, "C"), {2, 3, 4}));
  EXPECT_THAT(Extents(h, "C"), ElementsAre(7, 7, 2, 2, 3, 1));
  KILN_EXPECT_OK(CheckSameResults(f, h, 2));
}

TEST(Strassen, DimensionsInAnyOrder) {
  for (const Text& text : {
           Text{.b = "(2, 12, 4)",
                .update = "C[vb, vi, vj] + A[vb, vi, vk] * B[vb, vj, vk]"},
           Text{.a = "(4, 8, 2)",
                .update = "C[vb, vi, vj] + A[vk, vi, vb] * B[vb, vk, vj]"},
           Text{.update = "C[vb, vi, vj] + B[vb, vk, vj] * A[vb, vi, vk]"},
           Text{.update = "A[vb, vi, vk] * B[vb, vk, vj] + C[vb, vi, vj]"},
           Text{.c = "(12, 2, 8)",
                .update = "C[vj, vb, vi] + A[vb, vi, vk] * B[vb, vk, vj]",
                .to = "C[vj, vb, vi]"},
           Text{.a = "(8, 4)",
                .update = "C[vb, vi, vj] + A[vi, vk] * B[vb, vk, vj]"},
           Text{.a = "(5, 8, 4)",
                .update = "C[vb, vi, vj] + A[vb * 3 + 1, vi, vk]"
                          " * B[vb, vk, vj]"},
       }) {
    const Function f = Parse(text);
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, Apply(f));
    KILN_EXPECT_OK(CheckSameResults(f, g, 3));
  }
}

TEST(Strassen, ConvolutionsByOnePixel) {
  const Function f = MakeWorkload("c1d:8,4,6,1,1,0:normwise")->functions[0];
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function g, Strassen(f, BlockNamed(f, "conv1d_nlc"), {1, 2, 4}));
  EXPECT_THAT(Extents(g, "conv1d_nlc"), ElementsAre(7, 1, 4, 3, 1, 2));
  KILN_EXPECT_OK(CheckSameResults(f, g, 6));
}

TEST(Strassen, IntegersNeedNoLeave) {
  const Function f = Parse({.dtype = "int8",
                            .result = "int32",
                            .attrs = "{}",
                            .init = "0",
                            .update = "C[vb, vi, vj]"
                                      " + T.Cast(\"int32\", A[vb, vi, vk])"
                                      " * T.Cast(\"int32\", B[vb, vk, vj])"});
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Apply(f));
  EXPECT_EQ(RealizeNamed(g, "A_sums").block->writes[0].buffer->dtype,
            DType::Int(32));
  KILN_EXPECT_OK(CheckSameResults(f, g, 4));
}

TEST(Strassen, FloatsDo) {
  for (const char* attrs : {"{}", "{\"numerics\": \"componentwise\"}"}) {
    EXPECT_THAT(Apply(Parse({.attrs = attrs})),
                StatusIs(kRefused, HasSubstr("normwise")));
  }
}

TEST(Strassen, RefusesWhatIsNoProductOfMatrices) {
  const struct {
    Text text;
    const char* message;
  } kCases[] = {
      {{.init = "T.float32(1)"}, "beginning with a value that changes nothing"},
      {{.update = "C[vb, vi, vj] + (A[vb, vi, vk] + B[vb, vk, vj])"},
       "is not a sum of products"},
      {{.update = "T.max(C[vb, vi, vj], A[vb, vi, vk] * B[vb, vk, vj])"},
       "is not a sum of products"},
      {{.update = "C[vb, vi, vj] + A[vb, vi, vk] * T.exp(B[vb, vk, vj])"},
       "is not an element of a tensor"},
      {{.a = "(2, 9, 4)",
        .update = "C[vb, vi, vj] + A[vb, vi + 1, vk] * B[vb, vk, vj]"},
       "`vi` is not an index alone of `A`"},
      {{.a = "(2, 9, 4)"}, "`vi` is not an index alone of `A`"},
      {{.a = "(2, 12, 8, 4)",
        .update = "C[vb, vi, vj] + A[vb, vj, vi, vk] * B[vb, vk, vj]"},
       "`A` has an index with `vj`"},
      {{.update = "C[vb, vi, vj] + A[vb, vi, vk] * A[vb, vi, vk]"},
       "`vj` is not an index alone of `A`"},
      {{.c = "(3, 8, 12)"}, "touches only a part of `C`"},
  };
  for (const auto& bad : kCases) {
    EXPECT_THAT(Apply(Parse(bad.text)),
                StatusIs(kRefused, HasSubstr(bad.message)))
        << bad.message;
  }
}

TEST(Strassen, RefusesIndicesThatDependOnData) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(J: T.Buffer((2,), "int64"), A: T.Buffer((3, 8, 4), "int32"),
         B: T.Buffer((2, 4, 12), "int32"), C: T.Buffer((2, 8, 12), "int32")):
    for b, i, j, k in T.grid(2, 8, 12, 4):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = 0
            C[vb, vi, vj] = C[vb, vi, vj] + A[J[vb], vi, vk] * B[vb, vk, vj]
)");
  EXPECT_THAT(Apply(f), StatusIs(kRefused, HasSubstr("strassen")));
}

TEST(Strassen, RefusesPartsOfTensorsThatAreNoArguments) {
  // Two of three matrices of A have values.
  const Function f = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((2, 8, 4), "int32"), B: T.Buffer((2, 4, 12), "int32"),
         C: T.Buffer((2, 8, 12), "int32")):
    A = T.alloc_buffer((3, 8, 4), "int32")
    for b, i, k in T.grid(2, 8, 4):
        with T.block("A"):
            vb, vi, vk = T.axis.remap("SSS", [b, i, k])
            A[vb + 1, vi, vk] = X[vb, vi, vk]
    for b, i, j, k in T.grid(2, 8, 12, 4):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = 0
            C[vb, vi, vj] = C[vb, vi, vj] + A[vb + 1, vi, vk] * B[vb, vk, vj]
)");
  EXPECT_THAT(Apply(f),
              StatusIs(kRefused, HasSubstr("touches only a part of `A`")));
}

TEST(Strassen, RefusesOtherSpatialIteratorsThatIndexNoResult) {
  EXPECT_THAT(
      Apply(Parse({.c = "(8, 12)",
                   .update = "C[vi, vj] + A[vb, vi, vk] * B[vb, vk, vj]",
                   .to = "C[vi, vj]"})),
      StatusIs(kRefused, HasSubstr("instances that differ in `vb`")));
}

TEST(Strassen, RefusesIntegersWhoseOverflowIsUndefined) {
  EXPECT_THAT(Apply(Parse({.dtype = "int64", .result = "int64", .init = "0"})),
              StatusIs(kRefused, HasSubstr("64-bit")));
}

TEST(Strassen, BlocksHaveNamesOfTheirOwn) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), B: T.Buffer((4, 12), "int32"),
         C: T.Buffer((8, 12), "int32"), D: T.Buffer((8, 12), "int32")):
    for i, j, k in T.grid(8, 12, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j, k in T.grid(8, 12, 4):
        with T.block("D"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                D[vi, vj] = 0
            D[vi, vj] = D[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            Strassen(f, BlockNamed(f, "C"), {0, 1, 2}));
  KILN_ASSERT_OK_AND_ASSIGN(const Function h,
                            Strassen(g, BlockNamed(g, "D"), {0, 1, 2}));
  for (const char* name : {"A_sums", "A_sums_1", "B_sums", "B_sums_1"}) {
    EXPECT_EQ(BlocksNamed(h, name).size(), 1u) << name;
  }
  KILN_EXPECT_OK(VerifyFunction(h));
  KILN_EXPECT_OK(CheckSameResults(f, h, 7));
}

TEST(Strassen, RefusesAxes) {
  const Function f = Parse({});
  const BlockId block = BlockNamed(f, "C");
  EXPECT_THAT(Strassen(f, block, {1, 2}),
              StatusIs(kBad, HasSubstr("axes are the positions")));
  EXPECT_THAT(Strassen(f, block, {1, 1, 3}),
              StatusIs(kBad, HasSubstr("axes are the positions")));
  EXPECT_THAT(Strassen(f, block, {1, 2, 4}),
              StatusIs(kBad, HasSubstr("axes are the positions")));
  EXPECT_THAT(Strassen(f, block, {-1, 2, 3}),
              StatusIs(kBad, HasSubstr("axes are the positions")));
  EXPECT_THAT(Strassen(f, block, {1, 3, 2}),
              StatusIs(kRefused, HasSubstr("`vk` is no spatial iterator")));
  EXPECT_THAT(Strassen(f, block, {0, 2, 3}),
              StatusIs(kRefused, HasSubstr("index with `vb`")));
}

TEST(Strassen, RowsAndColumnsMayBeExchanged) {
  const Function f = Parse({});
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            Strassen(f, BlockNamed(f, "C"), {2, 1, 3}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 5));
}

absl::Status CheckCloseResults(const Function& before, const Function& after,
                               uint64_t seed) {
  std::vector<Tensor> expected = RandomInputs(before, seed), got = expected;
  KILN_RETURN_IF_ERROR(Interpret(before, expected));
  KILN_RETURN_IF_ERROR(Interpret(after, got));
  for (size_t i = 0; i < got.size(); ++i) {
    KILN_RETURN_IF_ERROR(CompareTensors(got[i], expected[i]));
  }
  return absl::OkStatus();
}

TEST(Strassen, RandomPrograms) {
  int applied = 0;
  for (uint64_t seed = 0; seed < 1000; seed += 4) {
    const Function f = RandomProgram(seed);
    ForEachBlockDeep(f.root().body, [&](const BlockRealizeNode& realize) {
      const auto last = std::ssize(realize.block->iters) - 1;
      for (int64_t i = 0; realize.block->init && i < last; ++i) {
        for (int64_t j = 0; j < last; ++j) {
          const auto g = Strassen(f, realize.block->id, {i, j, last});
          if (!g.ok()) continue;
          ++applied;
          EXPECT_EQ(CheckCloseResults(f, *g, seed), absl::OkStatus()) << seed;
        }
      }
    });
  }
  EXPECT_GT(applied, 50);
}

TEST(Strassen, RefusesHalvesThatAreNotWhole) {
  const Function f = Parse({});
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Apply(f));
  KILN_ASSERT_OK_AND_ASSIGN(const Function h,
                            Strassen(g, BlockNamed(g, "C"), {2, 3, 4}));
  EXPECT_THAT(Strassen(h, BlockNamed(h, "C"), {3, 4, 5}),
              StatusIs(kRefused, HasSubstr("twice a constant")));
}

TEST(Strassen, RefusesSplitLoops) {
  const Function f = Parse({});
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult split,
                            Split(f, LoopsOf(f, "C")[1], {2, 4}));
  EXPECT_THAT(
      Strassen(split.function, BlockNamed(split.function, "C"), {1, 2, 3}),
      StatusIs(kRefused, HasSubstr("loop of its own")));
}

}  // namespace
}  // namespace kiln
