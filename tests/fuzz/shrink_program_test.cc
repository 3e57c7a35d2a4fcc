#include "kiln/tests/fuzz/shrink_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/testing/random_nests.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string TextOf(const Function& f) {
  return PrintFunction(f, {.header = false});
}

Function Read(const std::string& text) {
  absl::StatusOr<Function> f = ParseFunction("f.py", text);
  EXPECT_TRUE(f.ok()) << f.status();
  return *std::move(f);
}

// The fault of an imagined compiler: it takes T.max for T.min.
bool HoldsMax(const Function& f) {
  bool found = false;
  VisitExprs(f.body, [&](const Expr& e) {
    found = found || e->kind == ExprKind::kMax;
    return !found;
  });
  return found;
}

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((7, 13), "float32"), S: T.Buffer((13,), "int32"),
         X: T.Buffer((7, 13), "float32"), Y: T.Buffer((7,), "float32")):
    B = T.alloc_buffer((7, 13))
    for i in T.parallel(7):
        for j0, j1 in T.grid(4, 4):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                vj = T.axis.spatial(13, j0 * 4 + j1)
                T.where(j0 * 4 + j1 < 13)
                x: T.float32 = A[vi, S[vj]] + T.float32(2)
                B[vi, vj] = T.exp(x) * T.if_then_else(
                    vj < 12, T.max(A[vi, vj], x), T.float32(1))
    for i, j in T.grid(7, 13):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = B[vi, 12 - vj]
    for i, j in T.grid(7, 13):
        with T.block("Y"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vi, vj]
)";

TEST(ShrinkProgramTest, WhatHasNoPartInTheFaultGoes) {
  const Function f = Read(kProgram);
  int asked = 0;
  const Function small = ShrinkProgram(f, [&](const Function& candidate) {
    ++asked;
    EXPECT_EQ(VerifyFunction(candidate), absl::OkStatus());
    return HoldsMax(candidate);
  });
  EXPECT_TRUE(HoldsMax(small));
  const std::string text = TextOf(small);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 10) << text;
  for (const char* part : {"Y[", "T.exp", "T.where", "for ", "13", "7"}) {
    EXPECT_THAT(text, Not(HasSubstr(part)));
  }
  // What is printed is the program.
  EXPECT_EQ(TextOf(Read(text)), text);
  EXPECT_LT(asked, 500);
}

// The fault of an imagined primitive: a vectorized loop around a block that
// reads what it writes.
TEST(ShrinkProgramTest, AScheduleGoesOnFailingOnTheSmallerProgram) {
  const Function f = Read(kProgram);
  Module module;
  module.functions.push_back(f);
  Schedule schedule(module);
  KILN_ASSERT_OK(RunScript({"t.py", R"(
def apply(sch):
    b = sch.get_block("X")
    i, j = sch.get_loops(b)
    sch.unroll(i)
    sch.vectorize(j)
)"},
                           &schedule));
  const Trace& trace = schedule.trace();
  const auto fails = [&](const Function& g) {
    Module one;
    one.functions.push_back(g);
    const absl::StatusOr<State> end = Replay(trace, State(one));
    return end.ok() &&
           TextOf(*end->functions[0]).find("T.vectorized") != std::string::npos;
  };
  ASSERT_TRUE(fails(f));
  const Function small = ShrinkProgram(f, fails);
  EXPECT_TRUE(fails(small));
  const std::string text = TextOf(small);
  EXPECT_THAT(text, Not(HasSubstr("Y[")));
  EXPECT_THAT(text, Not(HasSubstr("\"B\"")));
  EXPECT_THAT(text, HasSubstr("\"X\""));
}

TEST(ShrinkProgramTest, AnyProgramThatFailsShrinksToAnotherThatDoes) {
  for (uint64_t seed = 1; seed < 40; seed += 2) {
    const NestProgram program = RandomNests(seed);
    if (!HoldsMax(program.function)) continue;
    const Function small = ShrinkProgram(
        program.function, [](const Function& f) { return HoldsMax(f); }, 200);
    EXPECT_TRUE(HoldsMax(small)) << "seed " << seed;
    EXPECT_EQ(VerifyFunction(small), absl::OkStatus()) << "seed " << seed;
    EXPECT_LE(TextOf(small).size(), TextOf(program.function).size());
  }
}

TEST(ShrinkProgramTest, ItAsksNoMoreOftenThanItMay) {
  int asked = 0;
  ShrinkProgram(
      Read(kProgram),
      [&](const Function&) {
        ++asked;
        return false;
      },
      5);
  EXPECT_EQ(asked, 5);
}

}  // namespace
}  // namespace kiln
