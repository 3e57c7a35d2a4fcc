#include "kiln/search/measure/llvm_builder.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/llvm/compile.h"

namespace kiln {

absl::StatusOr<BuildResult> LlvmBuilder::Build(const Function& scheduled) {
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel,
                        CompileKernel(scheduled, target_));
  return BuildResult{std::move(kernel.object), std::move(kernel.symbol),
                     std::move(kernel.signature)};
}

std::string LlvmBuilder::CompilerVersion() const {
  return absl::StrCat("llvm ", kiln::CompilerVersion());
}

}  // namespace kiln
