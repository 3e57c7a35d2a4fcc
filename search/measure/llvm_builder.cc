#include "kiln/search/measure/llvm_builder.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/host/signature.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/transform/split_preparation.h"

namespace kiln {

namespace {

// Parts positions in the list of the parameters and what is prepared into those
// of the buffers of that list and those of the scalars.
void Part(const std::vector<int>& positions, const KernelSignature& whole,
          std::vector<int>* buffers, std::vector<int>* scalars) {
  const auto num_params = static_cast<int>(whole.params.size());
  const auto num_buffers = static_cast<int>(whole.buffers.size());
  for (int position : positions) {
    if (position >= num_params) {
      buffers->push_back(num_buffers + position - num_params);
      continue;
    }
    const KernelParam& param = whole.params[position];
    const bool is_buffer = param.kind == KernelParam::Kind::kBuffer;
    (is_buffer ? buffers : scalars)->push_back(param.index);
  }
}

std::vector<int> ColdBuffers(const Function& f,
                             const KernelSignature& signature) {
  std::vector<int> buffers;
  if (!HasColdConstants(f)) return buffers;
  for (const int param : LayoutFreeParams(f)) {
    buffers.push_back(signature.params[param].index);
  }
  return buffers;
}

absl::StatusOr<BuildResult> BuildInTwo(const Function& scheduled,
                                       const Target& target) {
  KILN_ASSIGN_OR_RETURN(SplitFunction split, SplitPreparation(scheduled));
  BuildResult result;
  KILN_ASSIGN_OR_RETURN(result.signature, MakeSignature(scheduled));
  if (!SymbolicDims(scheduled).empty()) {
    return absl::UnimplementedError(
        absl::StrCat("function ", scheduled.name,
                     " has a preparation; it needs constant shapes"));
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
  Part(split.prepare_args, result.signature, &preparation.args,
       &preparation.scalars);
  Part(split.main_args, result.signature, &preparation.kernel_args,
       &preparation.kernel_scalars);
  return result;
}

}  // namespace

absl::StatusOr<BuildResult> LlvmBuilder::Build(const Function& scheduled) {
  KILN_RETURN_IF_ERROR(CheckRunsHere(target_));
  BuildResult result;
  if (HasPreparation(scheduled)) {
    KILN_ASSIGN_OR_RETURN(result, BuildInTwo(scheduled, target_));
  } else {
    KILN_ASSIGN_OR_RETURN(CompiledKernel kernel,
                          CompileKernel(scheduled, target_));
    result = {std::move(kernel.object), std::move(kernel.symbol),
              std::move(kernel.signature)};
  }
  result.cold_buffers = ColdBuffers(scheduled, result.signature);
  return result;
}

absl::StatusOr<BuildResult> LlvmBuilder::BuildPlain(const Function& f) {
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel,
                        CompileKernel(f, target_, Effort::kPlain));
  return BuildResult{std::move(kernel.object), std::move(kernel.symbol),
                     std::move(kernel.signature)};
}

std::string LlvmBuilder::CompilerVersion() const {
  return absl::StrCat("llvm ", kiln::CompilerVersion());
}

}  // namespace kiln
