// From tensor functions with blocks to flat loops, pass by pass.
#ifndef KILN_CODEGEN_LOWER_PIPELINE_H_
#define KILN_CODEGEN_LOWER_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/base/machine.h"
#include "kiln/base/pass.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct LowerOptions {
  // Whose registers to fill, and whose caches.
  Machine machine = {.vectors = kAvx512Registers};
  // Leaves out the passes that only make programs faster: for a kernel that
  // others are compared with, so that few passes are trusted.
  bool only_required = false;
  // The pass, or the stage, to end with; empty: the last. An unknown name is an
  // error.
  std::string stop_after;
  // Called with the name, the result and the duration of each pass: to time
  // passes, to dump the program, to bisect.
  std::function<void(std::string_view pass, const Function& after,
                     double seconds)>
      observe;
  // Asked about each pass; an error ends lowering.
  std::function<absl::Status(std::string_view pass, const Function& before,
                             const Function& after)>
      verify;
};

// What decides unasked is left out where a function is not to be lowered so
// (ir/tensor/automatic.h).
using LowerPass = Pass<Function, LowerOptions>;

// All passes, in order.
absl::Span<const LowerPass> LowerPasses();

// The names of their stages, in order.
std::vector<std::string> LowerStages();

// Lowers `f` to the form that verify_lowered.h states. Errors say what the
// program does that cannot be lowered, and are prefixed with the pass.
//
// Annotations of loops and blocks are followed, taken without effect, or
// refused: check_notes.h has the table.
absl::StatusOr<Function> Lower(const Function& f,
                               const LowerOptions& options = {});

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_PIPELINE_H_
