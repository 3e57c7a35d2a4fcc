// From scheduled functions to machine code that a Runner can measure.
#ifndef KILN_SEARCH_MEASURE_BUILDER_H_
#define KILN_SEARCH_MEASURE_BUILDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/library/signature.h"

namespace kiln {

// A compiled kernel: a relocatable object that exports `symbol` with the
// kernel ABI.
struct BuildResult {
  std::string object;
  std::string symbol;
  KernelSignature signature;
};

class Builder {
 public:
  virtual ~Builder() = default;

  // Compiles one scheduled function. Called from several threads at a time.
  virtual absl::StatusOr<BuildResult> Build(const Function& scheduled) = 0;

  // What goes into a record's compiler_version.
  virtual std::string CompilerVersion() const = 0;
};

// Builds all of them on `num_threads` threads, results in the same order.
std::vector<absl::StatusOr<BuildResult>> BuildAll(
    Builder& builder, absl::Span<const Function> functions, int num_threads);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_BUILDER_H_
