#include "kiln/ir/ops/run_lowered.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/legalize.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {

absl::StatusOr<std::vector<Tensor>> RunLowered(
    const std::string& params, const std::string& call,
    std::vector<Tensor> args, const std::vector<OutputSpec>& outputs) {
  const std::string text =
      absl::StrCat("@R.function\ndef main(", params, "):\n    result = R.",
                   call, "\n    return result\n");
  KILN_ASSIGN_OR_RETURN(const Module read, ParseModule("test.py", text));
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(read));
  KILN_ASSIGN_OR_RETURN(const Module legal, LegalizeOps(inferred));
  if (legal.functions.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("not lowered to one function:\n", PrintModule(legal)));
  }
  const size_t inputs = args.size();
  for (const OutputSpec& output : outputs) {
    args.emplace_back(output.dtype, output.shape);
  }
  KILN_RETURN_IF_ERROR(Interpret(legal.functions[0], args));
  return std::vector<Tensor>(args.begin() + inputs, args.end());
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

std::vector<double> ValuesOf(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    values.push_back(tensor.dtype.is_float()
                         ? tensor.GetReal(i)
                         : static_cast<double>(tensor.GetInt(i)));
  }
  return values;
}

}  // namespace kiln
