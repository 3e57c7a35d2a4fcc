#ifndef KILN_CODEGEN_LOWER_BLOCKS_CHECK_NOTES_H_
#define KILN_CODEGEN_LOWER_BLOCKS_CHECK_NOTES_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// What becomes of an annotation of a loop or a block.
struct NoteInfo {
  std::string_view key;  // all keys that begin so, where it ends in "."
  bool is_honoured;      // else it is taken, and changes nothing on a CPU
  std::string_view why;
};

// The notes that lowering takes (docs/schedule_primitives.md lists them).
absl::Span<const NoteInfo> KnownNotes();

// Refuses notes of the kinds that ask a code generator for something
// ("pragma_...", "software_pipeline...", "double_buffer...", "buffer_...",
// "kiln...")
// and that this one does not know. Other keys are their author's own.
absl::StatusOr<Function> CheckNotes(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_BLOCKS_CHECK_NOTES_H_
