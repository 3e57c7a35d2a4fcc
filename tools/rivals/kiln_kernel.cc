#include "kiln/tools/rivals/kiln_kernel.h"

#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/tools/support/split_kernel.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/packed/packed_function.h"

namespace kiln::bench {
namespace {

// A kernel, what it runs on, and what has to stay alive.
struct Running {
  std::shared_ptr<ThreadPool> pool;
  std::unique_ptr<KernelHost> host;
  SplitKernel kernel;
  std::vector<PackedValue> args;
  BoundArguments bound;
};

}  // namespace

Target WithThreads(Target target, int threads) {
  target.num_cores = threads;
  return target;
}

absl::StatusOr<std::function<void()>> CallOf(const Function& f,
                                             std::vector<NDArray> args,
                                             const Target& target,
                                             std::shared_ptr<ThreadPool> pool) {
  auto run = std::make_shared<Running>();
  run->host = std::make_unique<KernelHost>(pool.get(), target.num_cores);
  run->pool = std::move(pool);
  KILN_ASSIGN_OR_RETURN(run->kernel, SplitKernel::Load(f, target));
  const std::vector<PackedValue> whole(args.begin(), args.end());
  KILN_ASSIGN_OR_RETURN(run->args,
                        run->kernel.Prepare(run->host->abi(), whole));
  KILN_ASSIGN_OR_RETURN(run->bound, run->kernel.main().Bind(run->args));
  return [run, entry = run->kernel.main().entry()] {
    entry(run->host->abi(), run->bound.data.data(), nullptr);
  };
}

}  // namespace kiln::bench
