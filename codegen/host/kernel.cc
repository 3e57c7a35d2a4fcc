#include "kiln/codegen/host/kernel.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/signature.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/codegen/lower/pipeline.h"

namespace kiln {

Function WithDimsAsParams(Function f) {
  for (const Var& dim : SymbolicDims(f)) f.params.push_back({dim, nullptr});
  return f;
}

absl::StatusOr<Function> LowerForTarget(const Function& f, const Target& target,
                                        Effort effort,
                                        const std::string& stop_after) {
  LowerOptions options;
  options.stop_after = stop_after;
  options.only_required = effort == Effort::kPlain;
  options.machine = target.machine;
  return Lower(WithDimsAsParams(f), options);
}

absl::StatusOr<CompiledKernel> CompileKernel(const Function& f,
                                             const Target& target,
                                             Effort effort) {
  CompiledKernel kernel;
  kernel.symbol = absl::StrCat("kiln_", f.name);
  KILN_ASSIGN_OR_RETURN(kernel.signature, MakeSignature(f));
  KILN_ASSIGN_OR_RETURN(Function lowered, LowerForTarget(f, target, effort));
  KILN_ASSIGN_OR_RETURN(kernel.object,
                        CompileToObject(lowered, kernel.symbol, target));
  return kernel;
}

}  // namespace kiln
