// Steps that put other blocks in the place of one, or copies beside it:
//
//   b1 = sch.reindex(block=b0, buffer=("read", 1))    a copy in b0's own order
//
// A buffer is given by its position among the reads or writes of a block, or by
// its name. Rows and their functions are as in loop_rows.cc.
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/schedule/primitive/blockize.h"
#include "kiln/schedule/primitive/decompose_padding.h"
#include "kiln/schedule/primitive/offset_operand.h"
#include "kiln/schedule/primitive/pad_domain.h"
#include "kiln/schedule/primitive/pad_einsum.h"
#include "kiln/schedule/primitive/reindex.h"
#include "kiln/schedule/primitive/rolling_buffer.h"
#include "kiln/schedule/primitive/storage_align.h"
#include "kiln/schedule/primitive/strassen.h"
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

absl::Status ApplyReindexCache(ApplyContext& c, BufferSide side) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(
      const int index,
      BufferIndex(c.function(), block, c.arg(1), side, c.kind().name));
  KILN_ASSIGN_OR_RETURN(
      ReindexResult result,
      ReindexCache(c.function(), block, index, side == BufferSide::kWrite,
                   c.string(2), c.index_map(3)));
  c.SetFunction(std::move(result.function));
  c.Output(result.copy);
  return absl::OkStatus();
}

absl::Status ApplyReindexCacheRead(ApplyContext& c) {
  return ApplyReindexCache(c, BufferSide::kRead);
}

absl::Status ApplyReindexCacheWrite(ApplyContext& c) {
  return ApplyReindexCache(c, BufferSide::kWrite);
}

InstructionKind ReindexCacheRow(std::string_view name,
                                std::string_view index_name,
                                absl::Status (*apply)(ApplyContext&)) {
  return StepRow(name,
                 {{"block", ParamKind::kBlock},
                  {index_name, ParamKind::kBufferIndex},
                  {"storage_scope", ParamKind::kString},
                  {"index_map", ParamKind::kIndexMap}},
                 apply, Outputs::kOne, RvKind::kBlock);
}

absl::Status ApplyTransformBlockLayout(ApplyContext& c) {
  const BlockId block = c.block(0);
  return Take(c, TransformBlockLayout(c.function(), block, c.index_map(1)));
}

absl::Status ApplyPadEinsum(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> padding, c.integers(1));
  return Take(c, PadEinsum(c.function(), block, padding));
}

absl::Status ApplyPadDomain(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> padding, c.integers(1));
  return Take(c, PadDomain(c.function(), block, padding));
}

absl::Status ApplyStrassen(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, c.integers(1));
  return Take(c, Strassen(c.function(), block, axes));
}

absl::Status ApplyOffsetOperand(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const int64_t index, c.integer(1));
  return Take(c, OffsetOperand(c.function(), block, index));
}

absl::Status ApplyStorageAlign(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const int index,
                        BufferIndex(c.function(), block, c.arg(1),
                                    BufferSide::kWrite, c.kind().name));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, c.integer(2));
  KILN_ASSIGN_OR_RETURN(const int64_t factor, c.integer(3));
  KILN_ASSIGN_OR_RETURN(const int64_t offset, c.integer(4));
  return Take(c,
              StorageAlign(c.function(), block, index, axis, factor, offset));
}

absl::Status ApplyRollingBuffer(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const int index,
                        BufferIndex(c.function(), block, c.arg(1),
                                    BufferSide::kWrite, c.kind().name));
  return Take(c, RollingBuffer(c.function(), block, index));
}

absl::Status ApplyDecomposePadding(ApplyContext& c) {
  const BlockId block = c.block(0);
  const LoopId loop = c.loop(1);
  KILN_RETURN_IF_ERROR(c.status());
  KILN_ASSIGN_OR_RETURN(DecomposePaddingResult result,
                        DecomposePadding(c.function(), block, loop));
  c.SetFunction(std::move(result.function));
  c.Output(result.fill);
  return absl::OkStatus();
}

absl::Status ApplyBlockize(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  KILN_RETURN_IF_ERROR(c.status());
  KILN_ASSIGN_OR_RETURN(BlockizeResult result,
                        Blockize(c.function(), loop, c.boolean(1)));
  c.SetFunction(std::move(result.function));
  c.Output(result.block);
  return absl::OkStatus();
}

}  // namespace

std::vector<InstructionKind> RewriteRows() {
  const ParamInfo block = {"block", ParamKind::kBlock};
  return {
      StepRow("reindex", {block, {"buffer", ParamKind::kBufferRef}},
              ApplyReindex, Outputs::kOne, RvKind::kBlock),
      ReindexCacheRow("reindex_cache_read", "read_buffer_index",
                      ApplyReindexCacheRead),
      ReindexCacheRow("reindex_cache_write", "write_buffer_index",
                      ApplyReindexCacheWrite),
      StepRow("transform_block_layout",
              {block, {"index_map", ParamKind::kIndexMap}},
              ApplyTransformBlockLayout),
      StepRow("pad_einsum", {block, {"padding", ParamKind::kInts}},
              ApplyPadEinsum),
      StepRow("pad_domain", {block, {"padding", ParamKind::kInts}},
              ApplyPadDomain),
      StepRow("offset_operand", {block, {"read_index", ParamKind::kInt}},
              ApplyOffsetOperand),
      StepRow("strassen", {block, {"axes", ParamKind::kInts}}, ApplyStrassen),
      StepRow("storage_align",
              {block,
               {"buffer_index", ParamKind::kBufferIndex},
               {"axis", ParamKind::kInt},
               {"factor", ParamKind::kInt},
               {"offset", ParamKind::kInt}},
              ApplyStorageAlign),
      StepRow("rolling_buffer",
              {block, {"write_buffer_index", ParamKind::kBufferIndex}},
              ApplyRollingBuffer),
      StepRow("decompose_padding", {block, {"loop", ParamKind::kLoop}},
              ApplyDecomposePadding, Outputs::kOne, RvKind::kBlock),
      StepRow("blockize",
              {{"target", ParamKind::kLoop},
               {"preserve_unit_iters", ParamKind::kBool, Arg(true)}},
              ApplyBlockize, Outputs::kOne, RvKind::kBlock),
  };
}

}  // namespace kiln
