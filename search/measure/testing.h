// A task over hand-written kernels, for tests of what measures.
#ifndef KILN_SEARCH_MEASURE_TESTING_H_
#define KILN_SEARCH_MEASURE_TESTING_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/task_data.h"

namespace kiln::testing {

// "affine(A: float32[n], B: out float32[n])", which test_kernels.c computes.
KernelSignature AffineSignature();

// The task for n = `count`, with the trusted output.
std::shared_ptr<const MeasureTask> AffineTask(int64_t count);

// The kernel test_<name> of test_kernels.c.
BuildResult TestKernel(const std::string& name);

// Waits until a process has ended, whether anybody has noticed that or not.
void WaitForEnd(pid_t pid);

}  // namespace kiln::testing

#endif  // KILN_SEARCH_MEASURE_TESTING_H_
