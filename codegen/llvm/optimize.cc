#include "kiln/codegen/llvm/optimize.h"

#include "kiln/codegen/llvm/combine_horizontal_adds.h"
#include "kiln/codegen/llvm/fuse_branch_updates.h"
#include "kiln/codegen/llvm/return_loads.h"
#include "kiln/codegen/llvm/separate_steps.h"
#include "kiln/codegen/llvm/step_multiples.h"
#include "kiln/codegen/llvm/widen_odd_vectors.h"
#include "kiln/ir/tensor/marks.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
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

// Accesses of an unrolled loop up to which its sums are kept in registers. Of
// LLVM's own 250 are a tile of 21 sums in four steps.
constexpr unsigned kAccesses = 4000;

// Early CSE asks at most 500 times in a function what may have written to
// memory before a load. The unrolled sums of one tile take a hundred, so that
// in a convolution whose borders are split off those of the last parts would
// stay in memory. There is no other way than the option, which all threads
// share; it is set before the first of them runs the pass.
void LetEarlyCseAskOn() {
  static const bool is_set = [] {
    constexpr unsigned kQuestions = 20000;
    auto& options = llvm::cl::getRegisteredOptions();
    auto found = options.find("earlycse-mssa-optimization-cap");
    if (found == options.end()) return false;
    static_cast<llvm::cl::opt<unsigned>*>(found->second)->setValue(kQuestions);
    return true;
  }();
  (void)is_set;
}

}  // namespace

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  LetEarlyCseAskOn();
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
  llvm::LICMOptions licm;
  licm.MssaNoAccForPromotionCap = kAccesses;
  llvm::FunctionPassManager last;
  last.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(licm),
                                                     /*UseMemorySSA=*/true));
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
    const auto& in_loops = functions.getResult<llvm::LoopAnalysis>(function);
    loads.Return(in_loops, machine.getTargetTransformInfo(function));
    StepMultiples(in_loops);
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
