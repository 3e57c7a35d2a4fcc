// A model in Kiln beside the same over oneDNN.
#ifndef KILN_EXAMPLES_MODELS_COMPARISON_H_
#define KILN_EXAMPLES_MODELS_COMPARISON_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::models {

struct CompileRequest {
  Target target;
  std::vector<std::string> passes;  // ahead of those that models go through
  PrepareOptions prepare;
  std::string work_dir;  // what tune left; empty: default schedules only
};

struct CompiledModel {
  vm::Executable executable;
  double prepare_s = 0, compile_s = 0;
  int tuned = 0;  // functions that were put back
};

// As `compile` does it, with the time that it takes.
absl::StatusOr<CompiledModel> CompileForRun(const Module& module,
                                            const CompileRequest& request);

// Differences over the root mean square of what is expected.
struct Errors {
  double largest = 0, rms = 0;
};

// The tensors of a result, those of a tuple in order, beside as many others; of
// the worst of them. InvalidArgument where number, types or shapes differ;
// infinite where an element is no number.
absl::StatusOr<Errors> ErrorsOf(const vm::Value& result,
                                absl::Span<const NDArray> expected);

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_COMPARISON_H_
