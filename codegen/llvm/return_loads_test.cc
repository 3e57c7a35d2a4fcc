// Loops as LLVM's text that add products of loaded vectors to sums. All loads
// are of what the loop does not change, so that LICM takes them out; counted is
// how many stand in the loop afterwards.
#include "kiln/codegen/llvm/return_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kiln/codegen/llvm/machine_for_tests.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace kiln::codegen_internal {
namespace {

// Loads in the loop before, after LICM and in the end; -1 where the text or
// the result is invalid.
struct Loads {
  int before = -1, hoisted = -1, returned = -1;
  bool has_first = false;  // whether %v0 is in the loop in the end
  friend bool operator==(const Loads&, const Loads&) = default;
};

llvm::BasicBlock& LoopIn(llvm::Function& f) {
  return *llvm::find_if(f, [](const llvm::BasicBlock& block) {
    return block.getName() == "loop";
  });
}

int LoadsInLoop(llvm::Function& f) {
  return static_cast<int>(llvm::count_if(LoopIn(f), [](const auto& value) {
    return llvm::isa<llvm::LoadInst>(value);
  }));
}

Loads LoadsOf(const std::string& text, const std::string& cpu) {
  Loads loads;
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(text, error, context);
  if (!module) return loads;
  const auto machine = MachineForTests(cpu);
  module->setDataLayout(machine->createDataLayout());
  llvm::Function& f = *module->getFunction("f");
  f.addFnAttr("target-cpu", cpu);
  llvm::LoopAnalysisManager of_loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(of_loops);
  builder.crossRegisterProxies(of_loops, functions, components, modules);
  const LoadsInLoops in_loops(f, functions.getResult<llvm::LoopAnalysis>(f));
  loads.before = LoadsInLoop(f);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  functions.invalidate(f, passes.run(f, functions));
  loads.hoisted = LoadsInLoop(f);
  const bool changed =
      in_loops.Return(functions.getResult<llvm::LoopAnalysis>(f),
                      machine->getTargetTransformInfo(f));
  loads.returned = LoadsInLoop(f);
  loads.has_first = llvm::any_of(
      LoopIn(f), [](const auto& value) { return value.getName() == "v0"; });
  EXPECT_EQ(changed, loads.returned != loads.hoisted);
  if (llvm::verifyFunction(f, &llvm::errs())) return {};
  return loads;
}

std::string LoopOf(const std::string& body, bool is_noalias = true) {
  return absl::Substitute(R"(
define void @f(ptr $0 %a, ptr $0 %c, i64 %n) {
entry:
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %to = getelementptr <8 x float>, ptr %c, i64 %j
$1  %next = add i64 %j, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
)",
                          is_noalias ? "noalias" : "", body);
}

// C[j] = j * (a[0] + a[1] + ...), of vectors or of elements spread over one.
std::string Sums(int terms, bool spread) {
  std::string body =
      "  %i = trunc i64 %j to i32\n  %x = sitofp i32 %i to float\n"
      "  %y = insertelement <8 x float> poison, float %x, i64 0\n"
      "  %s0 = shufflevector <8 x float> %y, <8 x float> poison, <8 x i32> "
      "zeroinitializer\n";
  for (int i = 0; i < terms; ++i) {
    const std::string type = spread ? "float" : "<8 x float>";
    absl::StrAppend(&body, "  %p", i, " = getelementptr ", type,
                    ", ptr %a, i64 ", i, "\n");
    if (spread) {
      absl::StrAppend(&body, "  %l", i, " = load float, ptr %p", i, "\n  %e", i,
                      " = insertelement <8 x float> poison, float %l", i,
                      ", i64 0\n  %v", i, " = shufflevector <8 x float> %e", i,
                      ", <8 x float> poison, <8 x i32> zeroinitializer\n");
    } else {
      absl::StrAppend(&body, "  %v", i, " = load <8 x float>, ptr %p", i, "\n");
    }
    absl::StrAppend(&body, "  %s", i + 1, " = fadd <8 x float> %s", i, ", %v",
                    i, "\n");
  }
  absl::StrAppend(&body, "  store <8 x float> %s", terms, ", ptr %to\n");
  return body;
}

TEST(ReturnLoadsTest, WhatFitsIntoRegistersStaysOutside) {
  EXPECT_EQ(LoadsOf(LoopOf(Sums(8, false)), "haswell"), (Loads{8, 0, 0}));
  EXPECT_EQ(LoadsOf(LoopOf(Sums(8, true)), "haswell"), (Loads{8, 0, 0}));
}

TEST(ReturnLoadsTest, WhatDoesNotReturns) {
  const Loads vectors = LoadsOf(LoopOf(Sums(40, false)), "haswell");
  EXPECT_EQ(vectors.hoisted, 0);
  // A sum and two operands take registers of the 16.
  EXPECT_EQ(vectors.returned, 40 - 13);
  EXPECT_EQ(LoadsOf(LoopOf(Sums(40, true)), "haswell"), vectors);
}

TEST(ReturnLoadsTest, TheTargetSaysHowManyFit) {
  EXPECT_EQ(LoadsOf(LoopOf(Sums(24, false)), "skylake-avx512").returned, 0);
  EXPECT_EQ(LoadsOf(LoopOf(Sums(24, false)), "haswell").returned, 24 - 13);
  // Eight floats are two registers of SSE.
  EXPECT_EQ(LoadsOf(LoopOf(Sums(8, false)), "x86-64-v2").returned, 8 - 6);
}

TEST(ReturnLoadsTest, WhatTheLoopMayChangeNeverLeft) {
  EXPECT_EQ(LoadsOf(LoopOf(Sums(40, false), false), "haswell"),
            (Loads{40, 40, 40, true}));
}

TEST(ReturnLoadsTest, WhatIsUsedMoreOftenStays) {
  std::string body = Sums(20, false);
  const Loads once = LoadsOf(LoopOf(body), "haswell");
  EXPECT_EQ(once, (Loads{20, 0, 20 - 13, true}));
  const std::string store = "  store <8 x float> %s20, ptr %to\n";
  ASSERT_NE(body.find(store), body.npos);
  body.replace(body.find(store), store.size(),
               "  %t = fadd <8 x float> %s20, %v0\n"
               "  store <8 x float> %t, ptr %to\n");
  const Loads twice = LoadsOf(LoopOf(body), "haswell");
  EXPECT_EQ(twice, (Loads{20, 0, 20 - 13, false}));
}

}  // namespace
}  // namespace kiln::codegen_internal
