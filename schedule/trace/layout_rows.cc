#include <cmath>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/primitive/compute_inline.h"
#include "kiln/schedule/primitive/reverse_compute_inline.h"
#include "kiln/schedule/primitive/transform_layout.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/schedule/trace/buffer_arg.h"
#include "kiln/schedule/trace/table.h"

namespace kiln {
namespace {

absl::Status Take(ApplyContext& c, absl::StatusOr<Function> f) {
  KILN_RETURN_IF_ERROR(f.status());
  c.SetFunction(*std::move(f));
  return absl::OkStatus();
}

absl::Status ApplyComputeInline(ApplyContext& c) {
  const BlockId block = c.block(0);
  return Take(c, ComputeInline(c.function(), block));
}

absl::Status ApplyReverseComputeInline(ApplyContext& c) {
  const BlockId block = c.block(0);
  return Take(c, ReverseComputeInline(c.function(), block));
}

DType TypeOf(const Function& f, BlockId id, const BufferPosition& at) {
  DType dtype = DType::Float(32);
  ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
    if (realize.block->id != id) return;
    const auto& regions = at.side == BufferSide::kWrite ? realize.block->writes
                                                        : realize.block->reads;
    if (at.index >= 0 && at.index < static_cast<int>(regions.size())) {
      dtype = regions[at.index].buffer->dtype;
    }
  });
  return dtype;
}

// A number as the primitive takes it: one of a float type in that type, others
// as they are, to be checked against the tensor's type.
Expr PadNumber(double value, DType dtype) {
  if (dtype.is_float()) return Constant(value, dtype);
  if (value != std::floor(value)) return Constant(value, DType::Float(64));
  return Int(static_cast<int64_t>(value));
}

// A number as a map that gives it everywhere.
std::optional<IndexMap> PadValue(ApplyContext& c, int i, DType dtype) {
  const Arg& arg = c.arg(i);
  if (arg.index_map()) return c.index_map(i);
  if (arg.integer()) {
    return IndexMap{
        {},
        {dtype.is_float() ? Constant(static_cast<double>(*arg.integer()), dtype)
                          : Int(*arg.integer())}};
  }
  if (arg.real()) return IndexMap{{}, {PadNumber(*arg.real(), dtype)}};
  return std::nullopt;
}

// A constant of a lambda in the type of the buffer.
void MatchType(DType dtype, std::optional<IndexMap>* pad) {
  if (!*pad) return;
  for (Expr& e : (*pad)->outputs) {
    if (const auto* value = e.As<FloatImmNode>()) {
      e = PadNumber(value->value, dtype);
    } else if (const auto* value = e.As<IntImmNode>()) {
      if (dtype.is_float()) {
        e = Constant(static_cast<double>(value->value), dtype);
      }
    }
  }
}

absl::Status ApplyTransformLayout(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(
      const BufferPosition at,
      FindBuffer(c.function(), block, c.arg(1), "transform_layout"));
  const DType dtype = TypeOf(c.function(), block, at);
  TransformLayoutOptions options;
  options.pad_value = PadValue(c, 3, dtype);
  MatchType(dtype, &options.pad_value);
  options.assume_injective_transform = c.boolean(4);
  return Take(c, TransformLayout(c.function(), block, at.index,
                                 at.side == BufferSide::kWrite, c.index_map(2),
                                 options));
}

}  // namespace

std::vector<InstructionKind> LayoutRows() {
  const ParamInfo block = {"block", ParamKind::kBlock};
  return {
      StepRow("compute_inline", {block}, ApplyComputeInline),
      StepRow("reverse_compute_inline", {block}, ApplyReverseComputeInline),
      StepRow("transform_layout",
              {block,
               {"buffer", ParamKind::kBufferRef},
               {"index_map", ParamKind::kIndexMap},
               {"pad_value", ParamKind::kPadValue, Arg()},
               {"assume_injective_transform", ParamKind::kBool, Arg(false)}},
              ApplyTransformLayout),
  };
}

}  // namespace kiln
