#include "kiln/search/measure/llvm_builder.h"

#include <utility>

#include "absl/algorithm/container.h"
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

// The buffers among positions in the list of the parameters and what is
// prepared, numbered as those of `whole` and behind them.
std::vector<int> BuffersOf(const std::vector<int>& positions,
                           const KernelSignature& whole) {
  const auto num_params = static_cast<int>(whole.params.size());
  const auto num_buffers = static_cast<int>(whole.buffers.size());
  std::vector<int> buffers;
  for (int position : positions) {
    if (position >= num_params) {
      buffers.push_back(num_buffers + position - num_params);
    } else if (whole.params[position].kind == KernelParam::Kind::kBuffer) {
      buffers.push_back(whole.params[position].index);
    }
  }
  return buffers;
}

// Where the scalars of a part, parameters and dimensions, stand among those of
// the whole: they keep their names.
absl::StatusOr<std::vector<int>> ScalarsOf(const KernelSignature& part,
                                           const KernelSignature& whole) {
  std::vector<int> scalars;
  for (const KernelScalar& scalar : part.scalars) {
    const auto has_name = [&](const KernelScalar& other) {
      return other.name == scalar.name;
    };
    const auto found = absl::c_find_if(whole.scalars, has_name);
    if (absl::c_count_if(whole.scalars, has_name) != 1) {
      return absl::UnimplementedError(
          absl::StrCat("function ", whole.name,
                       " has a preparation; that needs scalars and "
                       "dimensions with names of their own, unlike ",
                       scalar.name));
    }
    scalars.push_back(static_cast<int>(found - whole.scalars.begin()));
  }
  return scalars;
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

bool HasOpenShape(const Buffer& buffer) {
  return absl::c_any_of(buffer->shape,
                        [](const Expr& extent) { return !AsInt(extent); });
}

absl::StatusOr<BuildResult> BuildInTwo(const Function& scheduled,
                                       const Target& target) {
  KILN_ASSIGN_OR_RETURN(SplitFunction split, SplitPreparation(scheduled));
  BuildResult result;
  KILN_ASSIGN_OR_RETURN(result.signature, MakeSignature(scheduled));
  KILN_ASSIGN_OR_RETURN(CompiledKernel main, CompileKernel(split.main, target));
  KILN_ASSIGN_OR_RETURN(CompiledKernel ahead,
                        CompileKernel(split.prepare, target));
  result.object = std::move(main.object);
  result.symbol = std::move(main.symbol);
  if (absl::c_any_of(split.prepared, HasOpenShape)) {
    return absl::UnimplementedError(
        absl::StrCat("function ", scheduled.name,
                     " prepares tensors whose shapes are not constant"));
  }
  const size_t first = ahead.signature.buffers.size() - split.prepared.size();
  BuiltPreparation& preparation = result.preparation.emplace();
  preparation.object = std::move(ahead.object);
  preparation.symbol = std::move(ahead.symbol);
  preparation.prepared.assign(ahead.signature.buffers.begin() + first,
                              ahead.signature.buffers.end());
  preparation.args = BuffersOf(split.prepare_args, result.signature);
  preparation.kernel_args = BuffersOf(split.main_args, result.signature);
  KILN_ASSIGN_OR_RETURN(preparation.scalars,
                        ScalarsOf(ahead.signature, result.signature));
  KILN_ASSIGN_OR_RETURN(preparation.kernel_scalars,
                        ScalarsOf(main.signature, result.signature));
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
