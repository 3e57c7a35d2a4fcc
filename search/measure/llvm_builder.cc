#include "kiln/search/measure/llvm_builder.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/host/signature.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/ir/transform/split_preparation.h"

namespace kiln {

namespace {

absl::StatusOr<BuildResult> BuildInTwo(const Function& scheduled,
                                       const Target& target) {
  KILN_ASSIGN_OR_RETURN(SplitFunction split, SplitPreparation(scheduled));
  BuildResult result;
  KILN_ASSIGN_OR_RETURN(result.signature, MakeSignature(scheduled));
  if (result.signature.buffers.size() != scheduled.params.size() ||
      !result.signature.scalars.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        "function ", scheduled.name,
        " has a preparation; it needs constant shapes and no scalars"));
  }
  KILN_ASSIGN_OR_RETURN(CompiledKernel main, CompileKernel(split.main, target));
  KILN_ASSIGN_OR_RETURN(CompiledKernel ahead,
                        CompileKernel(split.prepare, target));
  result.object = std::move(main.object);
  result.symbol = std::move(main.symbol);
  const size_t first = ahead.signature.buffers.size() - split.prepared.size();
  BuiltPreparation& preparation = result.preparation.emplace();
  preparation.object = std::move(ahead.object);
  preparation.symbol = std::move(ahead.symbol);
  preparation.prepared.assign(ahead.signature.buffers.begin() + first,
                              ahead.signature.buffers.end());
  preparation.args = std::move(split.prepare_args);
  preparation.kernel_args = std::move(split.main_args);
  return result;
}

}  // namespace

absl::StatusOr<BuildResult> LlvmBuilder::Build(const Function& scheduled) {
  if (HasPreparation(scheduled)) return BuildInTwo(scheduled, target_);
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel,
                        CompileKernel(scheduled, target_));
  return BuildResult{std::move(kernel.object), std::move(kernel.symbol),
                     std::move(kernel.signature)};
}

std::string LlvmBuilder::CompilerVersion() const {
  return absl::StrCat("llvm ", kiln::CompilerVersion());
}

}  // namespace kiln
