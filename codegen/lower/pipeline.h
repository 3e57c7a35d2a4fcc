// From tensor functions with blocks to flat loops, pass by pass.
#ifndef KILN_CODEGEN_LOWER_PIPELINE_H_
#define KILN_CODEGEN_LOWER_PIPELINE_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct LowerOptions {
  // Whose registers to fill, and whose caches.
  Machine machine = {.vectors = kAvx512Registers};
  // Leaves out the passes that only make programs faster: for a kernel that
  // others are compared with, so that few passes are trusted.
  bool only_required = false;
  // The pass to end with; empty: the last. An unknown name is an error.
  std::string stop_after;
  // Called with the name, the result and the duration of each pass: to time
  // passes, to dump the program, to bisect.
  std::function<void(std::string_view pass, const Function& after,
                     double seconds)>
      observe;
};

// A pass gives a new function that means the same.
struct LowerPass {
  std::string_view name;
  absl::StatusOr<Function> (*run)(Function, const LowerOptions&);
  // Whether what follows relies on it.
  bool required = true;
};

// All passes, in order.
absl::Span<const LowerPass> LowerPasses();

// Lowers `f` to the form that verify_lowered.h states. Errors say what the
// program does that cannot be lowered, and are prefixed with the pass.
//
// Annotations that count: of loops `pragma_auto_unroll_max_step`, of blocks the
// marks of ir/tensor/marks.h. All others are hints to other stages and are
// ignored.
absl::StatusOr<Function> Lower(const Function& f,
                               const LowerOptions& options = {});

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_PIPELINE_H_
