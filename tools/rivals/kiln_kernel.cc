#include "kiln/tools/rivals/kiln_kernel.h"

#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"

namespace kiln::bench {
namespace {

// A kernel, what it runs on, and what has to stay alive.
struct Running {
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<const LoadedObject> object;
  KilnKernel entry = nullptr;
  std::unique_ptr<KernelHost> host;
  std::vector<NDArray> args;
  std::vector<void*> data;
};

}  // namespace

Target TargetWith(int threads) {
  Target target = HostTarget();
  target.num_cores = threads;
  return target;
}

absl::StatusOr<std::function<void()>> CallOf(const Function& f,
                                             std::vector<NDArray> args,
                                             int threads,
                                             std::shared_ptr<ThreadPool> pool) {
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel,
                        CompileKernel(f, TargetWith(threads)));
  auto run = std::make_shared<Running>();
  KILN_ASSIGN_OR_RETURN(run->object, LoadedObject::Load(kernel.object));
  KILN_ASSIGN_OR_RETURN(run->entry, run->object->Kernel(kernel.symbol));
  run->host = std::make_unique<KernelHost>(pool.get(), threads);
  run->pool = std::move(pool);
  run->args = std::move(args);
  for (const NDArray& arg : run->args) run->data.push_back(arg.data());
  return [run] { run->entry(run->host->abi(), run->data.data(), nullptr); };
}

}  // namespace kiln::bench
