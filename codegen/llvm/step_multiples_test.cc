// Functions as LLVM's text: two loops, one in the other, of which the inner one
// multiplies its counter.
#include "kiln/codegen/llvm/step_multiples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::codegen_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Stepped(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(
      absl::StrCat("declare void @use(i64)\n", "define void @f(i64 %start) {\n",
                   body, "}\n"),
      error, context);
  if (!module) return "unread: " + error.getMessage().str();
  llvm::Function& f = *module->getFunction("f");
  llvm::DominatorTree dominators(f);
  StepMultiples(llvm::LoopInfo(dominators));
  if (llvm::verifyFunction(f, &llvm::errs())) return "invalid";
  std::string out;
  llvm::raw_string_ostream stream(out);
  f.print(stream);
  return out;
}

// for i = 0.. in 9 steps: for j = `start`, growing by `step`: use(`product`).
std::string TwoLoops(const std::string& product, const std::string& start = "0",
                     int step = 1) {
  return absl::StrCat(R"(
  br label %outer
outer:
  %i = phi i64 [ 0, %0 ], [ %i1, %after ]
  br label %inner
inner:
  %j = phi i64 [ )",
                      start, ", %outer ], [ %j1, %inner ]\n", product, R"(
  call void @use(i64 %p)
  %j1 = add i64 %j, )",
                      step, R"(
  %more = icmp slt i64 %j1, 100
  br i1 %more, label %inner, label %after
after:
  %i1 = add i64 %i, 1
  %again = icmp slt i64 %i1, 9
  br i1 %again, label %outer, label %end
end:
  ret void
)");
}

TEST(StepMultiplesTest, AMultipleGrowsByTheFactor) {
  EXPECT_THAT(
      Stepped(TwoLoops("%p = mul i64 %j, 2748")),
      AllOf(HasSubstr("%1 = phi i64 [ 0, %outer ], [ %2, %inner ]"),
            HasSubstr("%2 = add i64 %1, 2748"),
            HasSubstr("call void @use(i64 %1)"), Not(HasSubstr("mul"))));
}

TEST(StepMultiplesTest, TheStepOfTheCounterCounts) {
  EXPECT_THAT(Stepped(TwoLoops("%p = mul i64 %j, 100", "0", 3)),
              HasSubstr("add i64 %1, 300"));
}

TEST(StepMultiplesTest, TheFirstMultipleIsOfTheStart) {
  EXPECT_THAT(Stepped(TwoLoops("%p = mul i64 %j, -6", "%start")),
              AllOf(HasSubstr("%1 = mul i64 %start, -6"),
                    HasSubstr("phi i64 [ %1, %outer ]"),
                    HasSubstr("= add i64 %2, -6")));
}

TEST(StepMultiplesTest, AShiftIsAProduct) {
  EXPECT_THAT(Stepped(TwoLoops("%p = shl i64 %j, 8")),
              AllOf(HasSubstr(", 256"), Not(HasSubstr("shl"))));
}

TEST(StepMultiplesTest, AddressesScaleThemselves) {
  EXPECT_THAT(Stepped(TwoLoops("%p = shl i64 %j, 3")), HasSubstr("shl"));
  EXPECT_THAT(Stepped(TwoLoops("%p = mul i64 %j, 4")), HasSubstr("mul"));
}

TEST(StepMultiplesTest, EqualProductsShareACounter) {
  EXPECT_THAT(Stepped(TwoLoops("%q = mul i64 %j, 24\n%r = mul i64 %j, 24\n"
                               "%p = add i64 %q, %r")),
              AllOf(HasSubstr("%p = add i64 %1, %1"),
                    Not(HasSubstr("phi i64 [ 0, %outer ], [ %3"))));
}

TEST(StepMultiplesTest, OutermostLoopsStay) {
  EXPECT_THAT(Stepped(TwoLoops("%p = mul i64 %i, 2748")), HasSubstr("mul"));
}

TEST(StepMultiplesTest, WhatIsNoCounterStays) {
  EXPECT_THAT(Stepped(TwoLoops("%q = mul i64 %j, %j\n%p = mul i64 %q, 24")),
              AllOf(HasSubstr("mul i64 %j, %j"), HasSubstr("mul i64 %q, 24")));
}

}  // namespace
}  // namespace kiln::codegen_internal
