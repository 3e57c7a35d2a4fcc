#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/primitive/cache_inplace.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/primitive/compute_inline.h"
#include "kiln/schedule/primitive/reverse_compute_inline.h"
#include "kiln/schedule/primitive/sample.h"
#include "kiln/schedule/trace/buffer_arg.h"
#include "kiln/schedule/trace/table.h"

namespace kiln {
namespace {

absl::Status Take(ApplyContext& c, absl::StatusOr<Function> f) {
  KILN_RETURN_IF_ERROR(f.status());
  c.SetFunction(*std::move(f));
  return absl::OkStatus();
}

using CacheFunction = absl::StatusOr<CacheResult> (*)(
    const Function&, BlockId, int, const std::string&,
    const std::vector<BlockId>&);

absl::Status ApplyCache(ApplyContext& c, BufferSide side, CacheFunction cache) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(
      const int index,
      BufferIndex(c.function(), block, c.arg(1), side,
                  side == BufferSide::kRead ? "cache_read" : "cache_write"));
  const std::vector<BlockId> consumers = c.blocks(3);
  KILN_RETURN_IF_ERROR(c.status());
  KILN_ASSIGN_OR_RETURN(CacheResult result, cache(c.function(), block, index,
                                                  c.string(2), consumers));
  c.SetFunction(std::move(result.function));
  c.Output(result.cache_block);
  return absl::OkStatus();
}

absl::Status ApplyCacheRead(ApplyContext& c) {
  return ApplyCache(c, BufferSide::kRead, CacheRead);
}

absl::Status ApplyCacheWrite(ApplyContext& c) {
  return ApplyCache(c, BufferSide::kWrite, CacheWrite);
}

absl::Status ApplyCacheInplace(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const int index,
                        BufferIndex(c.function(), block, c.arg(1),
                                    BufferSide::kRead, c.kind().name));
  KILN_ASSIGN_OR_RETURN(CacheInplaceResult result,
                        CacheInplace(c.function(), block, index, c.string(2)));
  c.SetFunction(std::move(result.function));
  c.Output(std::vector<int64_t>{result.copy_in, result.copy_out});
  return absl::OkStatus();
}

using ComputeAtFunction = absl::StatusOr<Function> (*)(const Function&, BlockId,
                                                       LoopId,
                                                       ComputeAtOptions);
using InlineFunction = absl::StatusOr<Function> (*)(const Function&, BlockId);

absl::Status Move(ApplyContext& c, ComputeAtFunction move,
                  InlineFunction inline_block) {
  const BlockId block = c.block(0);
  const LoopId loop = c.loop(1);
  if (loop == kRootLocation) return absl::OkStatus();
  if (loop == kInlineLocation)
    return Take(c, inline_block(c.function(), block));
  KILN_RETURN_IF_ERROR(c.status());
  KILN_ASSIGN_OR_RETURN(const int64_t index, c.integer(3));
  if (index < -2 || index > 1 << 20) {
    return BadArgument(c.kind().name, "there is no such index");
  }
  return Take(c, move(c.function(), block, loop,
                      {.preserve_unit_loops = c.boolean(2),
                       .index = static_cast<int>(index)}));
}

absl::Status ApplyComputeAt(ApplyContext& c) {
  return Move(c, ComputeAt, ComputeInline);
}

absl::Status ApplyReverseComputeAt(ApplyContext& c) {
  return Move(c, ReverseComputeAt, ReverseComputeInline);
}

InstructionKind CacheRow(std::string_view name, std::string_view index_name,
                         absl::Status (*apply)(ApplyContext&)) {
  return StepRow(
      name,
      {{"block", ParamKind::kBlock},
       {index_name, ParamKind::kBufferIndex},
       {"storage_scope", ParamKind::kString},
       {"consumer_blocks", ParamKind::kBlocks, Arg(ArgList()), false, true}},
      apply, Outputs::kOne, RvKind::kBlock);
}

InstructionKind MoveRow(std::string_view name,
                        absl::Status (*apply)(ApplyContext&)) {
  return StepRow(name,
                 {{"block", ParamKind::kBlock},
                  {"loop", ParamKind::kLoop},
                  {"preserve_unit_loops", ParamKind::kBool, Arg(false)},
                  {"index", ParamKind::kInt, Arg(-1)}},
                 apply);
}

}  // namespace

std::vector<InstructionKind> PlaceRows() {
  return {
      CacheRow("cache_read", "read_buffer_index", ApplyCacheRead),
      CacheRow("cache_write", "write_buffer_index", ApplyCacheWrite),
      StepRow("cache_inplace",
              {{"block", ParamKind::kBlock},
               {"read_buffer_index", ParamKind::kBufferIndex},
               {"storage_scope", ParamKind::kString}},
              ApplyCacheInplace, Outputs::kList, RvKind::kBlock),
      MoveRow("compute_at", ApplyComputeAt),
      MoveRow("reverse_compute_at", ApplyReverseComputeAt),
  };
}

}  // namespace kiln
