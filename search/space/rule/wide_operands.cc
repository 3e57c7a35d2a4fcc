// A product of narrow numbers that is summed up in a wider type, where no
// instruction multiplies the narrow ones:
//
//   C[i, j] += float32(A[i, k]) * float32(B[k, j])     A and B of int8
//
//   →  A_wide[i, k] = float32(A[i, k])
//      B_wide[k, j] = float32(B[k, j])
//      C[i, j] += A_wide[i, k] * B_wide[k, j]
//
// Register tiles would convert each element of A for each group of columns, and
// each of B for each group of rows: 197 x 197 of int8, sums of 64, take 4.1
// times as long as float32 without copies. Constants stay as they are: they are
// narrow to be small.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/dot_steps.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

// Uses of each element that make up for a pass over the operand: by each core
// as one lane of a vector, where cores read what another one has made, and as a
// number in all lanes, which is converted by itself.
constexpr double kLeastUses = 16, kLeastBroadcasts = 4;

// Whether the block casts elements of the operand to float numbers of more
// bits.
bool IsWidened(const BlockNode& block, const Buffer& operand) {
  bool is_widened = false;
  VisitExprs(block.body, [&](const Expr& e) {
    const auto* cast = e.As<CastNode>();
    is_widened = is_widened || (cast && e.dtype().is_float() &&
                                e.dtype().bits() > operand->dtype.bits() &&
                                cast->value.dtype() == operand->dtype &&
                                LoadsFrom(cast->value, operand));
    return !is_widened;
  });
  return is_widened;
}

// Whether instructions multiply the narrow numbers: of tiles, or along rows.
bool HasDots(const BlockInfo& info, const BlockNode& block,
             const RuleContext& context) {
  if (!NarrowSumOf(block)) return false;
  if (context.registers.dots.bf16 && info.ReducesContiguously()) return true;
  const std::optional<TileAxes> axes = ChooseTileAxes(info);
  return axes && DotSteps(info, block, *axes, context.registers) > 1;
}

// Read number `index` of the block, where it is worth a pass.
std::optional<ReadInfo> ReadToWiden(const Schedule& sch,
                                    const std::string& block, int index,
                                    const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || !info->has_init) return std::nullopt;
  const auto steps =
      static_cast<double>(info->SpatialSize() * info->ReduceSize());
  for (const ReadInfo& read : info->reads) {
    const BlockNode& node = NodeOf(f, block);
    const int column = info->ContiguousAxis();
    const bool is_vector = column >= 0 && read.Uses(column);
    const double least =
        is_vector ? kLeastUses * context.cores : kLeastBroadcasts;
    if (read.index == index && !read.layout_free &&
        steps >= least * read.elements &&
        IsWidened(node, node.reads[index].buffer) &&
        !HasDots(*info, node, context)) {
      return read;
    }
  }
  return std::nullopt;
}

// What makes the operand makes it wide.
absl::Status WidenWhereMade(Schedule* sch, Rv block, const Buffer& operand,
                            const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> makers, sch->GetProducers(block));
  for (const Rv maker : makers) {
    const std::optional<Path> path =
        FindBlock(FunctionOf(*sch, context), sch->Value(maker));
    if (path->realize()->block->writes[0].buffer == operand) {
      return sch->HoistCast(maker, 0);
    }
  }
  return absl::FailedPreconditionError("no block makes it");
}

absl::Status Widen(Schedule* sch, const std::string& name,
                   const ReadInfo& operand, const RuleContext& context) {
  const Function& f = FunctionOf(*sch, context);
  const Buffer buffer = NodeOf(f, name).reads[operand.index].buffer;
  KILN_ASSIGN_OR_RETURN(const Rv block, sch->GetBlock(name, f.name));
  if (WidenWhereMade(sch, block, buffer, context).ok()) {
    return absl::OkStatus();
  }
  KILN_ASSIGN_OR_RETURN(
      const Rv copy, sch->CacheRead(block, operand.index, "global", {block}));
  return sch->HoistCast(copy, 0);
}

}  // namespace

std::vector<Schedule> WideOperands(const Schedule& sch,
                                   const std::string& block,
                                   const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info) return {};
  Schedule made = sch;
  bool is_changed = false;
  for (const ReadInfo& read : info->reads) {
    const auto operand = ReadToWiden(made, block, read.index, context);
    if (!operand) continue;
    Schedule widened = made;
    const absl::Status done = Widen(&widened, block, *operand, context);
    context.WentOn("a wide copy", done);
    if (!done.ok()) continue;
    made = std::move(widened);
    is_changed = true;
  }
  if (!is_changed) return {};
  return {std::move(made)};
}

}  // namespace kiln
