// The rows of the instruction table by family, and what they share.
#ifndef KILN_SCHEDULE_TRACE_TABLE_H_
#define KILN_SCHEDULE_TRACE_TABLE_H_

#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/trace/instruction.h"

namespace kiln {

std::vector<InstructionKind> LookupRows();   // get_block, get_loops, ...
std::vector<InstructionKind> SampleRows();   // sample_perfect_tile, ...
std::vector<InstructionKind> LoopRows();     // split, fuse, parallel, ...
std::vector<InstructionKind> PlaceRows();    // cache_read, compute_at, ...
std::vector<InstructionKind> LayoutRows();   // compute_inline, ...
std::vector<InstructionKind> RewriteRows();  // reindex, ...
std::vector<InstructionKind> NoteRows();     // annotate, set_scope, ...

// A row of an instruction that changes the program and samples nothing.
InstructionKind StepRow(std::string_view name, std::vector<ParamInfo> params,
                        absl::Status (*apply)(ApplyContext&),
                        Outputs outputs = Outputs::kNone,
                        RvKind output_kind = RvKind::kInt);

// An argument as what an annotation holds. `evaluate` gives integers.
absl::StatusOr<Attr> ToAttr(
    const Arg& arg, FunctionRef<absl::StatusOr<int64_t>(const Arg&)> evaluate);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_TABLE_H_
