// The checks of one scheduled program against its original.
#ifndef KILN_TESTS_FUZZ_CHECK_H_
#define KILN_TESTS_FUZZ_CHECK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/tests/fuzz/sandbox.h"

namespace kiln {

// What a pair stands for, but for its trace.
struct Case {
  State start;
  std::vector<Tensor> inputs;    // one for each parameter
  std::vector<Tensor> expected;  // the same after the original has run
};

// Which check failed comes first in the message, before a colon.
enum class Checked : uint8_t { kCompiled, kNotForCpu };

// Well-formed, and the same through LLVM; on `checked` whether it could run.
absl::Status CheckCompiled(const Case& c, const Trace& trace, LoopOrder order,
                           Checked* checked);
// The schedule that rules and the analytic model choose unmeasured, among a
// few drawn by `seed`, through LLVM.
absl::Status CheckDefault(const Case& c, uint64_t seed, LoopOrder order);
// The same by the interpreter.
absl::Status CheckInterpreted(const Case& c, const Trace& trace, bool reverse);
// The trace as text and as a message, and from the middle on, comes to the
// same program.
absl::Status CheckReplays(const Case& c, const Trace& trace);
// The scheduled module as text and as a message.
absl::Status CheckRoundTrips(const Case& c, const Trace& trace);

// Equal for integers; floats up to what reordered sums of the tensor's largest
// values need.
absl::Status CompareOutputs(const std::vector<Tensor>& actual,
                            const std::vector<Tensor>& expected,
                            const Function& f);

}  // namespace kiln

#endif  // KILN_TESTS_FUZZ_CHECK_H_
