#include "kiln/ir/testing/scalar_args.h"

#include <cstring>

#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/interp.h"

namespace kiln {

absl::Status InterpretWithScalars(const Function& f, std::vector<Tensor>& args,
                                  const InterpOptions& options) {
  KILN_ASSIGN_OR_RETURN(const Interpreter interpreter, Interpreter::Create(f));
  std::vector<Argument> values;
  for (size_t i = 0; i < args.size(); ++i) {
    if (f.params[i].buffer) {
      values.emplace_back(&args[i]);
    } else if (args[i].dtype.is_float()) {
      values.emplace_back(args[i].GetReal(0));
    } else {
      values.emplace_back(args[i].GetInt(0));
    }
  }
  return interpreter.Run(values, options);
}

int64_t ScalarBits(const Tensor& scalar) {
  if (!scalar.dtype.is_float()) return scalar.GetInt(0);
  const double value = scalar.GetReal(0);
  int64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace kiln
