#include "kiln/tools/support/split_kernel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/signature.h"
#include "kiln/ir/transform/split_preparation.h"
#include "kiln/tools/support/execute.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {
namespace {

absl::StatusOr<NDArray> NewArray(const KernelBuffer& buffer) {
  std::vector<int64_t> shape;
  for (const KernelDim& dim : buffer.shape) {
    if (!dim.is_constant()) {
      return absl::UnimplementedError(absl::StrCat(
          "what is prepared, ", buffer.name, ", has no constant shape"));
    }
    shape.push_back(dim.constant());
  }
  return NDArray::Empty(std::move(shape), buffer.dtype);
}

std::vector<PackedValue> Pick(const std::vector<PackedValue>& from,
                              const std::vector<int>& positions) {
  std::vector<PackedValue> picked;
  for (int at : positions) picked.push_back(from[at]);
  return picked;
}

}  // namespace

absl::StatusOr<SplitKernel> SplitKernel::Load(const Function& f,
                                              const Target& target) {
  SplitKernel kernel;
  if (!HasPreparation(f)) {
    KILN_ASSIGN_OR_RETURN(kernel.main_, CompileAndLoad(f, target));
    kernel.signature_ = kernel.main_.signature();
    return kernel;
  }
  KILN_ASSIGN_OR_RETURN(SplitFunction split, SplitPreparation(f));
  KILN_ASSIGN_OR_RETURN(kernel.signature_, MakeSignature(f));
  KILN_ASSIGN_OR_RETURN(kernel.prepare_, CompileAndLoad(split.prepare, target));
  KILN_ASSIGN_OR_RETURN(kernel.main_, CompileAndLoad(split.main, target));
  kernel.prepare_args_ = std::move(split.prepare_args);
  kernel.main_args_ = std::move(split.main_args);
  return kernel;
}

absl::StatusOr<std::vector<PackedValue>> SplitKernel::Prepare(
    const KilnHost* host, absl::Span<const PackedValue> args) const {
  std::vector<PackedValue> all(args.begin(), args.end());
  if (!prepare_) return all;
  if (args.size() != signature_.params.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(signature_.name, " has ", signature_.params.size(),
                     " parameters, given are ", args.size()));
  }
  for (size_t i = 0; i < prepare_args_.size(); ++i) {
    if (prepare_args_[i] < static_cast<int>(args.size())) continue;
    const KernelParam& param = prepare_->signature().params[i];
    KILN_ASSIGN_OR_RETURN(NDArray array,
                          NewArray(prepare_->signature().buffers[param.index]));
    all.push_back(std::move(array));
  }
  KILN_RETURN_IF_ERROR(prepare_->Call(host, Pick(all, prepare_args_)));
  return Pick(all, main_args_);
}

}  // namespace kiln
