// Steps that put other blocks in the place of one, or copies beside it.
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/schedule/primitive/reindex.h"
#include "kiln/schedule/primitive/transform_block_layout.h"
#include "kiln/schedule/trace/buffer_arg.h"
#include "kiln/schedule/trace/table.h"

namespace kiln {
namespace {

absl::Status Take(ApplyContext& c, absl::StatusOr<Function> f) {
  KILN_RETURN_IF_ERROR(f.status());
  c.SetFunction(*std::move(f));
  return absl::OkStatus();
}

absl::Status ApplyReindex(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(
      const BufferPosition at,
      FindBuffer(c.function(), block, c.arg(1), c.kind().name));
  KILN_ASSIGN_OR_RETURN(
      ReindexResult result,
      Reindex(c.function(), block, at.index, at.side == BufferSide::kWrite));
  c.SetFunction(std::move(result.function));
  c.Output(result.copy);
  return absl::OkStatus();
}

absl::Status ApplyTransformBlockLayout(ApplyContext& c) {
  const BlockId block = c.block(0);
  return Take(c, TransformBlockLayout(c.function(), block, c.index_map(1)));
}

}  // namespace

std::vector<InstructionKind> RewriteRows() {
  const ParamInfo block = {"block", ParamKind::kBlock};
  return {
      StepRow("reindex", {block, {"buffer", ParamKind::kBufferRef}},
              ApplyReindex, Outputs::kOne, RvKind::kBlock),
      StepRow("transform_block_layout",
              {block, {"index_map", ParamKind::kIndexMap}},
              ApplyTransformBlockLayout),
  };
}

}  // namespace kiln
