// A window that slides over a tensor, the tensor just as long as the window
// needs, or longer: what is computed stays, and what is tested depends on the
// room that there is.
#include "kiln/schedule/primitive/pad_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// A window of 3 that slides over 9 elements; A has room for `room` of them.
Function Window(int room, const std::string& added = "A[vi + vk] * B[2 - vk]",
                const std::string& dtype = "float32") {
  const std::string type = ", \"" + dtype + "\")";
  return ParseProgram(
      "\n@T.prim_func\ndef main(A: T.Buffer((" + std::to_string(room) + ",)" +
      type + ", B: T.Buffer((3,)" + type + ", C: T.Buffer((7,)" + type + R"():
    for i, k in T.grid(7, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.)" +
      dtype + R"((0)
            C[vi] = C[vi] + )" +
      added + "\n");
}

std::string BodyOf(const Function& f) {
  return PrintStmt(RealizeNamed(f, "C").block->body);
}

TEST(PadDomain, RoundsUpAndComputesTheSame) {
  for (const char* dtype : {"float32", "float64", "int32", "int8"}) {
    const Function f = Window(9, "A[vi + vk] * B[2 - vk]", dtype);
    for (const std::vector<int64_t>& padding :
         std::vector<std::vector<int64_t>>{
             {4, 1}, {1, 2}, {2, 2}, {5, 4}, {16, 32}}) {
      KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                                PadDomain(f, BlockNamed(f, "C"), padding));
      const std::vector<int64_t> extents = Extents(g, "C");
      for (size_t i = 0; i < 2; ++i) EXPECT_EQ(extents[i] % padding[i], 0);
      EXPECT_EQ(LoopsOf(g, "C"), LoopsOf(f, "C"));
      KILN_EXPECT_OK(CheckSameResults(f, g, 1));
    }
  }
}

TEST(PadDomain, WhatDividesStaysAsItIs) {
  const Function f = Window(9);
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadDomain(f, BlockNamed(f, "C"), {7, 3}));
  EXPECT_EQ(g.body, f.body);
}

// An output has to be tested only where its sum would read beside a tensor.
TEST(PadDomain, TestsOnlyWhatIsNotKnownToBeInside) {
  for (const auto& [room, tests] :
       std::vector<std::pair<int, bool>>{{9, true}, {10, true}, {11, false}}) {
    const Function f = Window(room);
    KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                              PadDomain(f, BlockNamed(f, "C"), {2, 2}));
    EXPECT_THAT(BodyOf(g), HasSubstr("vk < 3"));
    EXPECT_EQ(BodyOf(g).find("vi < 7") != std::string::npos, tests) << room;
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  }
}

TEST(PadDomain, ConditionsTellWhatIsInside) {
  const Function f = Window(
      8, "T.if_then_else(vi + vk < 8, A[vi + vk], T.float32(0)) * B[vk]");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadDomain(f, BlockNamed(f, "C"), {4, 2}));
  EXPECT_THAT(BodyOf(g), Not(HasSubstr("vi < 7")));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(PadDomain, AConditionThatTellsLittleIsAddedTo) {
  const Function f =
      Window(9, "T.if_then_else(vi < 9, A[vi + vk], T.float32(0)) * B[vk]");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadDomain(f, BlockNamed(f, "C"), {4, 2}));
  EXPECT_THAT(BodyOf(g), HasSubstr("vi < 7"));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

// Two of its elements are never written.
TEST(PadDomain, TestsWhatIsReadOfAnIntermediate) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), C: T.Buffer((7,), "float32")):
    B = T.alloc_buffer((11,))
    for i in range(9):
        with T.block("B"):
            vi = T.axis.spatial(9, i)
            B[vi] = A[vi]
    for i, k in T.grid(7, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + B[vi + vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadDomain(f, BlockNamed(f, "C"), {4, 1}));
  EXPECT_THAT(BodyOf(g), HasSubstr("vi < 7"));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(PadDomain, SymbolicExtents) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 5))
    C = T.match_buffer(c, (n,))
    for i, k in T.grid(n, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[n - vi - 1, 4 - vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadDomain(f, BlockNamed(f, "C"), {4, 2}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(PadDomain, RefusesWhatIsNoSum) {
  const Function most = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((7, 3), "float32"), C: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = T.max(C[vi], A[vi, vk])
)");
  EXPECT_THAT(PadDomain(most, BlockNamed(most, "C"), {1, 2}),
              StatusIs(kRefused, HasSubstr("not one sum")));
  const Function copy = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
    for i in range(7):
        with T.block("C"):
            vi = T.axis.spatial(7, i)
            C[vi] = A[vi]
)");
  EXPECT_THAT(PadDomain(copy, BlockNamed(copy, "C"), {2}),
              StatusIs(kRefused, HasSubstr("no reduction")));
}

TEST(PadDomain, RefusesNewTermsWhereNumericsAreStrict) {
  Function f = Window(9);
  f.attrs[kNumerics] = Attr(std::string(kStrict));
  EXPECT_THAT(PadDomain(f, BlockNamed(f, "C"), {1, 2}),
              StatusIs(kRefused, HasSubstr("strict")));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            PadDomain(f, BlockNamed(f, "C"), {2, 1}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(PadDomain, RefusesToDivideByPadding) {
  const Function f = Window(9, "A[vi + vk] // B[vk]", "int32");
  EXPECT_THAT(PadDomain(f, BlockNamed(f, "C"), {2, 1}),
              StatusIs(kRefused, HasSubstr("divides integers")));
}

TEST(PadDomain, RefusesOutputsAtOtherPlaces) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((7, 3), "float32"), C: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[6 - vi] = T.float32(0)
            C[6 - vi] = C[6 - vi] + A[vi, vk]
)");
  EXPECT_THAT(PadDomain(f, BlockNamed(f, "C"), {2, 1}),
              StatusIs(kRefused, HasSubstr("whole of the dimension")));
}

TEST(PadDomain, RefusesPaddingsThatMakeNoSense) {
  const Function f = Window(9);
  const BlockId c = BlockNamed(f, "C");
  EXPECT_THAT(PadDomain(f, c, {2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1 paddings for 2 iterators")));
  for (const int64_t padding :
       {int64_t{0}, int64_t{-3}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(PadDomain(f, c, {1, padding}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("below 1 or too large")));
  }
}

}  // namespace
}  // namespace kiln
