// Checks of one random module of graph functions.
#ifndef KILN_TESTS_GRAPH_FUZZ_CHECK_H_
#define KILN_TESTS_GRAPH_FUZZ_CHECK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/machine/value.h"

namespace kiln {

struct GraphCheckOptions {
  int passes = 6;       // how many of them run alone
  int sequence = 4;     // how many run one after the other
  bool machine = true;  // compile it and run it
  // One program of so many runs by default schedules, too; 0: none does.
  uint64_t scheduled = 8;
};

// Kernels of tensor functions that came up before, by their canonical form.
class KernelCache {
 public:
  KernelCache();
  absl::StatusOr<CompiledKernel> Compile(const Function& f);
  // By a default schedule of few draws.
  absl::StatusOr<CompiledKernel> CompileScheduled(const Function& f);
  const Target& target() const { return target_; }

 private:
  Target target_;
  ThreadPool pool_{{.num_threads = 1}};
  std::map<std::string, CompiledKernel> kernels_, scheduled_;
};

// Text and message read back as they were written; passes that `seed` draws
// keep what the interpreter computes; so does the virtual machine. An error
// begins with the check that failed: "dce: ...".
absl::Status CheckGraphProgram(const std::string& text, uint64_t seed,
                               const GraphCheckOptions& options,
                               KernelCache& kernels);

// Random arguments for main: elements in [-2, 2], dimensions of one name equal.
absl::StatusOr<std::vector<vm::Value>> RandomGraphArguments(
    const Module& module, uint64_t seed);

}  // namespace kiln

#endif  // KILN_TESTS_GRAPH_FUZZ_CHECK_H_
