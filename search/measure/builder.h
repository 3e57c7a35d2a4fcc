// From scheduled functions to machine code that a Runner can measure.
#ifndef KILN_SEARCH_MEASURE_BUILDER_H_
#define KILN_SEARCH_MEASURE_BUILDER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/library/signature.h"

namespace kiln {

// What runs once, ahead of a kernel, and brings constant arguments into another
// layout. It and the kernel take their arguments from one list: the buffers of
// the signature of the whole, then `prepared`.
struct BuiltPreparation {
  std::string object;
  std::string symbol;
  std::vector<KernelBuffer> prepared;
  std::vector<int> args, kernel_args;  // positions in that list
  // The scalars of each, as positions among those of the whole.
  std::vector<int> scalars, kernel_scalars;
};

// A compiled kernel: a relocatable object that exports `symbol` with the
// kernel ABI.
struct BuildResult {
  std::string object;
  std::string symbol;
  KernelSignature signature;  // of the function, preparation included
  std::optional<BuiltPreparation> preparation = std::nullopt;
  // Buffers of the signature that lie in memory, and in no cache, when the
  // kernel is called, and with them what is prepared (kColdConstants in
  // ir/tensor/layout_free.h).
  std::vector<int> cold_buffers = {};
};

class Builder {
 public:
  virtual ~Builder() = default;

  // Compiles one scheduled function, in two where it has a preparation (see
  // ir/transform/split_preparation.h). Called from several threads at a time.
  virtual absl::StatusOr<BuildResult> Build(const Function& scheduled) = 0;

  // The same by as few steps as can be, for outputs to compare others with.
  virtual absl::StatusOr<BuildResult> BuildPlain(const Function& f) {
    return Build(f);
  }

  // What goes into a record's compiler_version.
  virtual std::string CompilerVersion() const = 0;
};

// Builds all of them on `num_threads` threads, results in the same order.
std::vector<absl::StatusOr<BuildResult>> BuildAll(
    Builder& builder, absl::Span<const Function> functions, int num_threads);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_BUILDER_H_
