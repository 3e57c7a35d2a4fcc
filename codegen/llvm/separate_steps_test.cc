// Functions as LLVM's text. Twelve sums, of which processors with few registers
// keep the steps apart, and those with many do not; what stands between two
// steps is counted, and where it stands.
#include "kiln/codegen/llvm/separate_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/codegen/llvm/machine_for_tests.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::codegen_internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The lines of the body after the pass that are what was put in, and those
// right behind each of them.
std::vector<std::string> BehindBarriers(const std::string& body,
                                        const std::string& cpu = "haswell") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(
      absl::StrCat("define void @f(ptr %a) {\n", body, "  ret void\n}\n"),
      error, context);
  if (!module) return {"unread: " + error.getMessage().str()};
  const auto machine = MachineForTests(cpu);
  module->setDataLayout(machine->createDataLayout());
  llvm::Function& f = *module->getFunction("f");
  f.addFnAttr("target-cpu", cpu);
  SeparateSteps(f, machine->getTargetTransformInfo(f));
  if (llvm::verifyFunction(f, &llvm::errs())) return {"invalid"};
  std::string out;
  llvm::raw_string_ostream stream(out);
  f.print(stream);
  std::vector<std::string> behind;
  bool is_behind = false;
  for (const absl::string_view line : absl::StrSplit(stream.str(), '\n')) {
    if (is_behind) {
      behind.emplace_back(line.substr(line.find_first_not_of(' ')));
    }
    is_behind = line.find("asm sideeffect") != line.npos;
  }
  return behind;
}

std::string Sum(int step, int sum) {
  const std::string before =
      step == 0 ? "zeroinitializer" : absl::StrCat("%s", step - 1, "_", sum);
  return absl::StrCat("  %s", step, "_", sum, " = fadd <8 x float> ", before,
                      ", %x", step, "\n");
}

std::string FusedSum(int step, int sum) {
  return absl::StrCat("  %s", step, "_", sum,
                      " = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %x",
                      step, ", <8 x float> %x", step, ", <8 x float> %s",
                      step - 1, "_", sum, ")\n");
}

std::string Load(int step) {
  return absl::StrCat("  %x", step, " = load <8 x float>, ptr %a\n");
}

// Steps of `sums` sums each, one after the other, and the store of one sum.
std::string Steps(int steps, int sums) {
  std::string body;
  for (int step = 0; step < steps; ++step) {
    body += Load(step);
    for (int sum = 0; sum < sums; ++sum) body += Sum(step, sum);
  }
  return absl::StrCat(body, "  store <8 x float> %s", steps - 1,
                      "_0, ptr %a\n");
}

TEST(SeparateStepsTest, LoadsOfAStepStayBehindTheOneBefore) {
  EXPECT_THAT(BehindBarriers(Steps(3, 12)),
              ElementsAre("%x1 = load <8 x float>, ptr %a, align 32",
                          "%x2 = load <8 x float>, ptr %a, align 32"));
}

TEST(SeparateStepsTest, OneStepIsNotCut) {
  EXPECT_THAT(BehindBarriers(Steps(1, 12)), IsEmpty());
}

// Of 16 registers 6 sums leave enough for the operands of several steps; 12
// sums do of the 32 of AVX-512.
TEST(SeparateStepsTest, SmallTilesMayBeMixed) {
  EXPECT_THAT(BehindBarriers(Steps(3, 6)), IsEmpty());
  EXPECT_THAT(BehindBarriers(Steps(3, 12), "skylake-avx512"), IsEmpty());
}

TEST(SeparateStepsTest, AMultiplyAddIsASumToo) {
  std::string body = Load(0);
  for (int sum = 0; sum < 12; ++sum) body += Sum(0, sum);
  body += Load(1);
  for (int sum = 0; sum < 12; ++sum) body += FusedSum(1, sum);
  EXPECT_THAT(BehindBarriers(body), SizeIs(1));
}

TEST(SeparateStepsTest, SumsThatGoOnBeforeOthersBeginHaveNoSteps) {
  std::string body = Load(0) + Load(1);
  for (int sum = 0; sum < 12; ++sum) body += Sum(0, sum) + Sum(1, sum);
  EXPECT_THAT(BehindBarriers(body), IsEmpty());
}

}  // namespace
}  // namespace kiln::codegen_internal
