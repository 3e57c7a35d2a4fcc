// Tuning as one call, for programs that use Kiln as a library:
//
//   KILN_ASSIGN_OR_RETURN(kiln::Function mm, kiln::ParseFunction("mm", text));
//   KILN_ASSIGN_OR_RETURN(kiln::TunedFunction fast, kiln::Tune(mm));
//   KILN_RETURN_IF_ERROR(fast.Call({a, b, c}));
#ifndef KILN_TOOLS_TUNING_TUNE_FUNCTION_H_
#define KILN_TOOLS_TUNING_TUNE_FUNCTION_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/tools/support/split_kernel.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/packed/packed_function.h"

namespace kiln {

struct TuneFunctionOptions {
  // Programs to measure, those of earlier calls with this folder included. 0:
  // none; the schedule that the analytic model takes for the fastest.
  int64_t trials = 64;
  double max_seconds = std::numeric_limits<double>::infinity();
  // Keeps every trial, so that the same call again resumes, and gets the files
  // that tools/README.md lists, kernel.o and kernel.h among them. Empty: the
  // records are thrown away.
  std::string folder;
  // A schedule function that samples, as text; empty: Kiln makes a space.
  std::string space;
  // What to compile for; num_cores is how many threads the kernel uses. This
  // machine has to be able to run it.
  Target target = HostTarget();
  uint64_t seed = 0;  // of all random choices
  // Asked after each trial; true ends the search with what was found.
  std::function<bool()> stop;
  bool show_progress = false;  // on standard output, as `tune` does
};

// A function with the schedule that was found, as code in memory. A value;
// copies share the code and its threads. One call at a time.
class TunedFunction {
 public:
  // The scheduled function, and the schedule as text.
  const Function& scheduled() const { return scheduled_; }
  const std::string& trace() const { return trace_; }
  // The least time of a call that was measured, in microseconds; 0: none was.
  double us() const { return us_; }
  int64_t trials() const { return trials_; }
  // Where the files are; empty without TuneFunctionOptions::folder.
  const std::string& folder() const { return folder_; }

  const KernelSignature& signature() const;
  // Runs it on one argument for each parameter, tensors at any address. What is
  // laid out ahead (ir/tensor/layout_free.h) is laid out in every call.
  absl::Status Call(absl::Span<const PackedValue> args) const;

 private:
  friend absl::StatusOr<TunedFunction> Tune(const Function&,
                                            const TuneFunctionOptions&);
  struct Code;

  Function scheduled_;
  std::string trace_, folder_;
  double us_ = 0;
  int64_t trials_ = 0;
  std::shared_ptr<const Code> code_;
};

// Searches the schedules of `f` on this machine; every candidate is compared
// with what `f` means. The error says what is wrong with `f` or the options,
// or why no trial succeeded. Forks; call it where no other thread holds locks
// for long. The first call on a machine measures its peaks, which takes some
// seconds, and stores them (tools/README.md).
absl::StatusOr<TunedFunction> Tune(const Function& f,
                                   const TuneFunctionOptions& options = {});

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_TUNE_FUNCTION_H_
