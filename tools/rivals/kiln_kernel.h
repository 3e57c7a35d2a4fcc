// Kiln's kernels as calls on the data of a case.
#ifndef KILN_TOOLS_RIVALS_KILN_KERNEL_H_
#define KILN_TOOLS_RIVALS_KILN_KERNEL_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::bench {

// `target` with `threads` threads for a kernel.
Target WithThreads(Target target, int threads);

// Compiles `f` for `target` and gives the call that runs it on `args`, one
// array for each parameter, with at most the target's threads of the pool. What
// `f` lays out ahead is prepared here, and no part of the call.
absl::StatusOr<std::function<void()>> CallOf(const Function& f,
                                             std::vector<NDArray> args,
                                             const Target& target,
                                             std::shared_ptr<ThreadPool> pool);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_KILN_KERNEL_H_
