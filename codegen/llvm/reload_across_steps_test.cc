// Functions as LLVM's text: steps that add the product of a spread element and
// a vector to each of some sums, all of which read element 0.
#include "kiln/codegen/llvm/reload_across_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/codegen/llvm/machine_for_tests.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::codegen_internal {
namespace {

constexpr char kSpread[] = R"(
  %e = load float, ptr %a
  %i = insertelement <8 x float> poison, float %e, i64 0
  %x = shufflevector <8 x float> %i, <8 x float> poison, <8 x i32> zeroinitializer
)";

// Step `step` loads a vector and adds its product with %x to each sum.
std::string Step(int step, int sums) {
  std::string body =
      absl::StrCat("  %p", step, " = getelementptr i8, ptr %b, i64 ", step * 32,
                   "\n  %y", step, " = load <8 x float>, ptr %p", step, "\n");
  for (int sum = 0; sum < sums; ++sum) {
    const std::string before =
        step == 0 ? "zeroinitializer" : absl::StrCat("%s", step - 1, "_", sum);
    absl::StrAppend(&body, "  %s", step, "_", sum,
                    " = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %x, "
                    "<8 x float> %y",
                    step, ", <8 x float> ", before, ")\n");
  }
  return body;
}

struct Reloaded {
  bool changed;
  int loads_of_elements;
};

// What becomes of steps of so many sums, with `between` behind the first one.
Reloaded Reload(int steps, int sums, const std::string& between = "") {
  std::string body = kSpread;
  for (int step = 0; step < steps; ++step) {
    body += Step(step, sums) + (step == 0 ? between : "");
  }
  for (int sum = 0; sum < sums; ++sum) {
    absl::StrAppend(&body, "  store <8 x float> %s", steps - 1, "_", sum,
                    ", ptr %c\n");
  }
  // The stores stand behind the block that is looked at.
  body.insert(body.find("  store"), "  br label %end\nend:\n");
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(
      absl::StrCat("define void @f(ptr %a, ptr %b, ptr %c) {\n", body,
                   "  ret void\n}\n"),
      error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  if (!module) return {};
  const auto machine = MachineForTests("haswell");
  module->setDataLayout(machine->createDataLayout());
  llvm::Function& f = *module->getFunction("f");
  f.addFnAttr("target-cpu", "haswell");
  llvm::BasicBlock& block = f.getEntryBlock();
  std::vector<llvm::Instruction*> beginnings;
  for (llvm::Instruction& instruction : block) {
    const auto name = instruction.getName();
    if (name.starts_with("p") && name != "p0") {
      beginnings.push_back(&instruction);
    }
  }
  Reloaded reloaded = {};
  reloaded.changed =
      ReloadAcrossSteps(block, beginnings, machine->getTargetTransformInfo(f));
  EXPECT_FALSE(llvm::verifyFunction(f, &llvm::errs()));
  for (const llvm::Instruction& instruction : block) {
    reloaded.loads_of_elements += llvm::isa<llvm::LoadInst>(instruction) &&
                                  instruction.getType()->isFloatTy();
  }
  return reloaded;
}

TEST(ReloadAcrossStepsTest, EachStepLoadsWhereTheRegistersDoNotSuffice) {
  const Reloaded reloaded = Reload(/*steps=*/3, /*sums=*/15);
  EXPECT_TRUE(reloaded.changed);
  EXPECT_EQ(reloaded.loads_of_elements, 3);
}

TEST(ReloadAcrossStepsTest, WhatFitsInTheRegistersIsKept) {
  const Reloaded reloaded = Reload(/*steps=*/3, /*sums=*/12);
  EXPECT_FALSE(reloaded.changed);
  EXPECT_EQ(reloaded.loads_of_elements, 1);
}

TEST(ReloadAcrossStepsTest, WhatMayHaveChangedIsKept) {
  EXPECT_FALSE(Reload(3, 15, "  store float 1.0, ptr %a\n").changed);
}

TEST(ReloadAcrossStepsTest, APrefetchChangesNothing) {
  EXPECT_TRUE(
      Reload(3, 15,
             "  call void @llvm.prefetch.p0(ptr %a, i32 0, i32 3, i32 1)\n")
          .changed);
}

TEST(ReloadAcrossStepsTest, OneStepIsLeftAlone) {
  EXPECT_FALSE(Reload(/*steps=*/1, /*sums=*/15).changed);
}

}  // namespace
}  // namespace kiln::codegen_internal
