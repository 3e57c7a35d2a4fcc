// Loops as text that may run in any order, and the same with one thing changed
// for which they may not: elements that iterations share, flow from one to the
// next, sums that begin in another one.
#include "kiln/schedule/analysis/independence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Function Program(const std::string& body) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), M: T.Buffer((16,), "int32"), B: T.Buffer((16, 16), "float32"), V: T.Buffer((16,), "float32")):
    S = T.alloc_buffer((16, 16))
)" + body + "\n");
}

// Of loop number `loop` above block "X"; empty where it is independent.
std::string Why(const std::string& body, size_t loop,
                IndependenceOptions options = {}) {
  const Function f = Program(body);
  const LoopId id = LoopsOf(f, "X").at(loop);
  return WhyNotIndependent(*FindLoop(f, id), options).value_or("");
}

constexpr char kSum[] = R"(
    for i, k in T.grid(16, 16):
        with T.block("X"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                V[vi] = 0.0
            V[vi] = V[vi] + A[vi, vk])";

TEST(IndependenceTest, ASumIsIndependentWhereItIsSpatial) {
  EXPECT_EQ(Why(kSum, 0), "");
  EXPECT_THAT(Why(kSum, 1), HasSubstr("iterator `vk` of block `X`"));
  EXPECT_EQ(Why(kSum, 1, {.allow_reduction = true}), "");
}

TEST(IndependenceTest, IterationsHaveToWriteElementsOfTheirOwn) {
  const auto copy = [](const std::string& store) {
    return R"(
    for i, j in T.grid(16, 16):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            )" +
           store;
  };
  EXPECT_EQ(Why(copy("B[vi, vj] = A[vi, vj]"), 0), "");
  EXPECT_EQ(Why(copy("B[vj, 15 - vi] = A[vi, vj]"), 0), "");
  EXPECT_EQ(Why(copy("B[vi, vj] = B[vi, vj] + A[vi, vj]"), 0), "");
  EXPECT_NE(Why(copy("V[vi] = A[vi, vj]"), 1), "");
  EXPECT_NE(Why(copy("V[vi // 2] = A[vi, vj]"), 0), "");
  EXPECT_NE(Why(copy("B[M[vi], vj] = A[vi, vj]"), 0), "");
  EXPECT_NE(Why(copy("B[vi, vj] = B[vi, (vj + 1) % 16]"), 1), "");
}

TEST(IndependenceTest, WhatOneBlockHandsToAnotherStaysWithinAnIteration) {
  const auto chain = [](const std::string& read) {
    return R"(
    for i in range(16):
        for j in range(16):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = A[vi, vj]
        for j in range(16):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = )" +
           read;
  };
  EXPECT_EQ(Why(chain("S[vi, 15 - vj]"), 0), "");
  EXPECT_NE(Why(chain("S[vj, vi]"), 0), "");
  EXPECT_NE(Why(chain("S[15 - vi, vj]"), 0), "");
}

// Strips of two rows, for which three are summed up.
std::string Strips(const std::string& steps, const std::string& condition,
                   const std::string& read) {
  return R"(
    for i in range(8):
        for r, j in T.grid(3, 16):
            for k in range()" +
         steps + R"():
                with T.block("X"):
                    vi = T.axis.spatial(16, i * 2 - 1 + r)
                    vj, vk = T.axis.remap("SR", [j, k])
                    T.where()" +
         condition + R"()
                    with T.init():
                        S[vi, vj] = 0.0
                    S[vi, vj] = S[vi, vj] + A[vi, vk]
        for r, j in T.grid(2, 16):
            with T.block("Y"):
                vi = T.axis.spatial(16, i * 2 + r)
                vj = T.axis.spatial(16, j)
                B[vi, vj] = )" +
         read;
}

TEST(IndependenceTest, IterationsMaySumUpTheSameForThemselves) {
  EXPECT_EQ(Why(Strips("4", "1 <= i * 2 + r", "S[T.max(vi - 1, 0), vj]"), 0),
            "");
  EXPECT_NE(Why(Strips("4", "1 <= i * 2 + r", "S[T.max(vi - 2, 0), vj]"), 0),
            "");
}

// Where an iteration does not begin a sum it goes on with that of another one.
TEST(IndependenceTest, IterationsBeginTheSumsThatTheyShare) {
  EXPECT_NE(Why(Strips("4", "1 <= i * 2 + r and 1 <= i + k", "S[vi, vj]"), 0),
            "");
  EXPECT_NE(Why(Strips("T.min(i, 4)", "1 <= i * 2 + r", "S[vi, vj]"), 0), "");
}

TEST(IndependenceTest, OneIterationIsIndependentOfNone) {
  EXPECT_EQ(Why(R"(
    for i in range(1):
        for k in range(16):
            with T.block("X"):
                vk = T.axis.opaque(16, k)
                V[0] = V[0] + A[0, vk])",
                0),
            "");
}

TEST(IndependenceTest, FlowHasToBeCoveredAndNotOverwritten) {
  const auto crosses = [](const std::string& body) {
    const Function f = Program(body);
    return WhyFlowCrosses(Scope(f.root())).has_value();
  };
  const std::string first = R"(
    for i, j in T.grid(16, 16):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = A[vi, vj])";
  const auto second = [](const std::string& rows, const std::string& store) {
    return R"(
    for i, j in T.grid()" +
           rows + R"(, 16):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            )" +
           store;
  };
  EXPECT_FALSE(crosses(first + second("16", "B[vi, vj] = S[vj, vi]")));
  EXPECT_TRUE(crosses(first + second("16", "A[vi, vj] = S[vi, vj]")));
  EXPECT_TRUE(crosses(second("8", "S[vi, vj] = 1.0") + R"(
    for i, j in T.grid(16, 16):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = S[vi, vj])"));
}

TEST(IndependenceTest, ABufferLivesWhereAllItsUsersAre) {
  const Function f = Program(R"(
    for i in range(16):
        for j in range(16):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = A[vi, vj]
        for j in range(16):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = S[vi, vj])");
  const BlockNode& root = f.root();
  const Buffer s = root.alloc_buffers[0];
  const Path outer = *FindLoop(f, LoopsOf(f, "X")[0]);
  const Path inner = *FindLoop(f, LoopsOf(f, "X")[1]);
  EXPECT_TRUE(LivesWithin(root, outer.back(), s));
  EXPECT_FALSE(LivesWithin(root, inner.back(), s));
  EXPECT_FALSE(LivesWithin(root, outer.back(), f.params[0].buffer));
}

}  // namespace
}  // namespace kiln
