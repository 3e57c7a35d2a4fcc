// Of an instruction that multiplies four pairs of bytes and adds up the
// products, one factor has a sign and the other has none (vpdpbusd). A product
// of two int8 matrices becomes one of uint8 by int8 (offset_operand.h): the
// rows, which are copied once, get the offset, and columns of the other, whose
// sums are taken, may be constants.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/dot_steps.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

// Uses of each element of the other operand that make up for the passes over
// both.
constexpr double kLeastUses = 4;
// As many steps of all reductions: 128 x 7 x 128 takes as long without.
constexpr int64_t kLeastSteps = 16;

// What consumers make of the result they make of the sums.
absl::Status JoinConsumers(Schedule* sch, Rv result,
                           const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> consumers,
                        sch->GetConsumers(result));
  if (consumers.empty()) return absl::OkStatus();
  context.WentOn("the offset taken off by consumers",
                 sch->ComputeInline(result));
  return absl::OkStatus();
}

absl::StatusOr<Schedule> Offset(Schedule sch, const BlockInfo& info, int read,
                                const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv block,
                        sch.GetBlock(info.name, FunctionOf(sch, context).name));
  KILN_RETURN_IF_ERROR(sch.OffsetOperand(block, read));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> results, sch.GetConsumers(block));
  KILN_RETURN_IF_ERROR(PrepareConstants(&sch, results[0], context));
  KILN_RETURN_IF_ERROR(JoinConsumers(&sch, results[0], context));
  return sch;
}

}  // namespace

std::vector<Schedule> OffsetOperands(const Schedule& sch,
                                     const std::string& block,
                                     const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || !info->has_init || info->ReduceSize() < kLeastSteps ||
      context.registers.dots.integers < kBytesOfDot) {
    return {};
  }
  const std::optional<TileAxes> axes = ChooseTileAxes(*info);
  if (!axes) return {};
  const std::optional<ReadInfo> rows =
      RowsOfLikeBytes(*info, NodeOf(f, block), *axes, kLeastUses);
  if (!rows) return {};
  return OnlyWay(Offset(sch, *info, rows->index, context), context);
}

}  // namespace kiln
