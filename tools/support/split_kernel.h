// A function as machine code, in two where its constant arguments are laid out
// ahead (ir/transform/split_preparation.h).
#ifndef KILN_TOOLS_SUPPORT_SPLIT_KERNEL_H_
#define KILN_TOOLS_SUPPORT_SPLIT_KERNEL_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/packed/loaded_kernel.h"
#include "kiln/vm/packed/packed_function.h"

namespace kiln {

class SplitKernel {
 public:
  // Compiles and loads `f`, or its two parts.
  static absl::StatusOr<SplitKernel> Load(const Function& f,
                                          const Target& target);

  // Of the whole function.
  const KernelSignature& signature() const { return signature_; }
  bool has_preparation() const { return prepare_.has_value(); }
  // What runs in every call: all of it, or what the preparation leaves.
  const LoadedKernel& main() const { return main_; }

  // Runs the preparation, if there is one, on the arguments of the whole
  // function; gives the arguments of main().
  absl::StatusOr<std::vector<PackedValue>> Prepare(
      const KilnHost* host, absl::Span<const PackedValue> args) const;

 private:
  KernelSignature signature_;
  LoadedKernel main_;
  std::optional<LoadedKernel> prepare_;
  // Positions among the arguments of the whole and, behind them, what is
  // prepared.
  std::vector<int> prepare_args_, main_args_;
};

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_SPLIT_KERNEL_H_
