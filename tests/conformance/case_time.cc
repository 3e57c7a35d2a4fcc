#include "kiln/tests/conformance/case_time.h"

#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/support/execute.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/ndarray/random_fill.h"
#include "kiln/vm/packed/loaded_kernel.h"
#include "kiln/vm/profile/time_evaluator.h"

namespace kiln {
namespace {

absl::StatusOr<std::vector<PackedValue>> RandomArguments(
    const KernelSignature& signature) {
  std::vector<PackedValue> args;
  for (const KernelBuffer& buffer : signature.buffers) {
    std::vector<int64_t> shape;
    for (const KernelDim& dim : buffer.shape) {
      if (!dim.is_constant()) {
        return absl::UnimplementedError("symbolic dimensions are not timed");
      }
      shape.push_back(dim.constant());
    }
    KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(shape, buffer.dtype));
    FillRandom(array, args.size());
    args.push_back(std::move(array));
  }
  return args;
}

}  // namespace

absl::StatusOr<double> TimeCase(const ScheduleCase& c) {
  KILN_ASSIGN_OR_RETURN(Module module, ReplayCase(c));
  if (module.functions.size() != 1) {
    return absl::UnimplementedError("the module has several functions");
  }
  KILN_ASSIGN_OR_RETURN(LoadedKernel kernel,
                        CompileAndLoad(module.functions[0], HostTarget()));
  KILN_ASSIGN_OR_RETURN(std::vector<PackedValue> args,
                        RandomArguments(kernel.signature()));
  KILN_ASSIGN_OR_RETURN(BoundArguments bound, kernel.Bind(args));
  ThreadPool pool;
  KernelHost host(&pool);
  TimeOptions options;
  options.total_us = 200000;
  KILN_ASSIGN_OR_RETURN(
      TimeResult result,
      MeasureTime([&] { return kernel.RunBound(host.abi(), bound); }, options));
  return result.median_us;
}

}  // namespace kiln
