// Runs a compiled kernel where its faults become errors.
//
// Buffers and workspaces lie between pages that nothing may touch; workspaces
// start out as NaN (integers: -1), so that what a kernel reads and never wrote
// shows. A kernel that faults is left where it is, and the caller goes on.
#ifndef KILN_TESTS_FUZZ_SANDBOX_H_
#define KILN_TESTS_FUZZ_SANDBOX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln {

// How iterations of parallel loops are run.
enum class LoopOrder : uint8_t { kForward, kBackward, kThreads };

// Calls `entry` on copies of `tensors` and on `scalars` (kernel_abi.h), and
// copies the results back.
absl::Status RunInSandbox(KilnKernel entry, LoopOrder order,
                          const std::vector<int64_t>& scalars,
                          std::vector<Tensor>* tensors);

// What the calling thread is at, printed by signal handlers where a crash
// outside of kernels, or `alarm_seconds` in one task, end the process.
void InstallCrashReport(unsigned alarm_seconds);
void SetCurrentTask(uint64_t seed);

}  // namespace kiln

#endif  // KILN_TESTS_FUZZ_SANDBOX_H_
