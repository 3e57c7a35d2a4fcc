#include "kiln/codegen/llvm/optimize.h"

#include "kiln/codegen/llvm/combine_horizontal_adds.h"
#include "kiln/codegen/llvm/fuse_branch_updates.h"
#include "kiln/codegen/llvm/return_loads.h"
#include "kiln/codegen/llvm/separate_steps.h"
#include "kiln/codegen/llvm/widen_odd_vectors.h"
#include "kiln/ir/tensor/marks.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace kiln::codegen_internal {
namespace {

// Joins sums in the functions with the mark kLaneSums, and drops it; where none
// has such sums, the reason takes its place.
void JoinMarkedSums(llvm::Module& module) {
  bool joined = false;
  for (llvm::Function& function : module) {
    if (!function.hasFnAttribute(kLaneSums) || function.hasOptNone()) continue;
    joined |= CombineHorizontalAdds(function);
  }
  for (llvm::Function& function : module) {
    if (!function.hasFnAttribute(kLaneSums)) continue;
    function.removeFnAttr(kLaneSums);
    if (joined) continue;
    function.addFnAttr(kLaneSums,
                       "ignored: no block of code adds up the lanes of three "
                       "or more vectors");
  }
}

}  // namespace

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager first;
  first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  first.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::FunctionPassManager last;
  last.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasOptNone()) continue;
    first.run(function, functions);
    if (FuseBranchUpdates(function)) {
      functions.invalidate(function, llvm::PreservedAnalyses::none());
    }
    functions.invalidate(function, passes.run(function, functions));
    const LoadsInLoops loads(function,
                             functions.getResult<llvm::LoopAnalysis>(function));
    functions.invalidate(function, last.run(function, functions));
    loads.Return(functions.getResult<llvm::LoopAnalysis>(function),
                 machine.getTargetTransformInfo(function));
  }
  JoinMarkedSums(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.hasOptNone()) continue;
    const auto target = machine.getTargetTransformInfo(function);
    WidenOddVectors(function, target);
    SeparateSteps(function, target);
  }
}

}  // namespace kiln::codegen_internal
