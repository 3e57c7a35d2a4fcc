#include "kiln/ir/ops/run_lowered.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {

namespace {

// The names of the tensors in "x: R.Tensor(...), n: R.Prim(...)", as read.
absl::StatusOr<std::vector<std::string>> TensorNames(
    const std::string& params) {
  KILN_ASSIGN_OR_RETURN(
      const Module module,
      ParseModule("test.py", absl::StrCat("@R.function\ndef main(", params,
                                          "):\n    return R.tuple()\n")));
  std::vector<std::string> names;
  for (const graph::Var& param : module.graph_functions[0]->params) {
    if (param->info.As<graph::TensorInfo>()) names.push_back(param->name);
  }
  return names;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunLowered(
    const std::string& params, const std::string& call,
    std::vector<Tensor> args, const std::vector<OutputSpec>& outputs) {
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        TensorNames(params));
  std::map<std::string, Tensor> tensors;
  for (size_t i = 0; i < names.size() && i < args.size(); ++i) {
    tensors[names[i]] = std::move(args[i]);
  }
  KILN_ASSIGN_OR_RETURN(std::vector<Tensor> results,
                        RunOp(params, call, tensors));
  if (results.size() != outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        results.size(), " results where ", outputs.size(), " are expected"));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].dtype == outputs[i].dtype &&
        results[i].shape == outputs[i].shape) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("result ", i, " is of another type or shape"));
  }
  return results;
}

Tensor TensorOf(DType dtype, std::vector<int64_t> shape,
                const std::vector<double>& values) {
  Tensor tensor(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(i, values[i]);
  return tensor;
}

Tensor Wavy(DType dtype, std::vector<int64_t> shape, int step) {
  Tensor tensor(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int64_t value = i * step % 11 - 5;
    tensor.Set(i, dtype.is_float() ? 0.25 * static_cast<double>(value)
                                   : static_cast<double>(value));
  }
  return tensor;
}

}  // namespace kiln
