// Narrow operands that are made wide (wide_operands.cc) become so just before
// they are used, in the innermost loop that reads no element again:
//
//   A_wide = float32(A)                  for rows of 8:
//   for rows of 8:                  →      A_wide[rows] = float32(A[rows])
//     C[rows] = A_wide[rows] B             C[rows] = A_wide[rows] B
//
// Rows then stay in the first level, and no core reads what another one wrote.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// Elements copied for each of the operand's: borders of windows repeat some.
constexpr double kMostRepeated = 1.25;

bool MakesWide(const BlockInfo& info, const BlockNode& block) {
  const auto* store = block.body.As<StoreNode>();
  const auto* cast = store ? store->value.As<CastNode>() : nullptr;
  return cast && info.is_elementwise && info.reads.size() == 1 &&
         cast->value.As<LoadNode>() &&
         cast->value.dtype().bits() < store->value.dtype().bits();
}

// How many loops around the reader run its spatial iterators one by one, from
// the outermost on.
int CountSpatialLoops(const Path& reader) {
  const BlockRealizeNode& realize = *reader.realize();
  int count = 0;
  for (const ForNode* loop : LoopsAbove(reader)) {
    if (loop->for_kind != ForKind::kSerial &&
        loop->for_kind != ForKind::kParallel) {
      break;
    }
    for (size_t i = 0; i < realize.values.size(); ++i) {
      if (realize.block->iters[i].type != IterType::kSpatial &&
          UsesVar(realize.values[i], loop->var)) {
        return count;
      }
    }
    ++count;
  }
  return count;
}

// The elements that the block writes in all iterations of its loops.
double CountWritten(const Function& f, BlockId block) {
  const std::optional<Path> path = FindBlock(f, block);
  double count = 1;
  for (const ForNode* loop : LoopsAbove(*path)) {
    const int64_t* extent = AsInt(loop->extent);
    count *= extent ? static_cast<double>(*extent) : 1;
  }
  return count;
}

// The copy inside of loop number `at` around its reader.
absl::StatusOr<Schedule> MoveTo(Schedule sch, const BlockInfo& info, int at,
                                const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const DType wide = NodeOf(f, info.name).writes[0].buffer->dtype;
  KILN_ASSIGN_OR_RETURN(const Rv copy, sch.GetBlock(info.name, f.name));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> readers, sch.GetConsumers(copy));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> around, sch.GetLoops(readers[0]));
  KILN_RETURN_IF_ERROR(sch.ComputeAt(copy, around[at], true));
  const double written =
      CountWritten(FunctionOf(sch, context), sch.Value(copy));
  if (written > kMostRepeated * static_cast<double>(info.SpatialSize())) {
    return absl::FailedPreconditionError("elements would be copied again");
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(copy));
  const int64_t lanes = context.registers.Lanes(wide.bits() / 8);
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                        sch.Split(loops.back(), {Arg(), lanes}));
  KILN_RETURN_IF_ERROR(sch.Vectorize(parts[1]));
  return sch;
}

}  // namespace

std::vector<Schedule> NearCopies(const Schedule& sch, const std::string& block,
                                 const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || info->is_output || info->consumers.size() != 1 ||
      !MakesWide(*info, NodeOf(f, block))) {
    return {};
  }
  const std::optional<Path> reader =
      FindBlock(f, NodeOf(f, info->consumers[0]).id);
  for (int at = CountSpatialLoops(*reader) - 1; at >= 0; --at) {
    absl::StatusOr<Schedule> moved = MoveTo(sch, *info, at, context);
    if (moved.ok()) return {*std::move(moved)};
    context.WentOn("a copy in a loop", moved.status());
  }
  return {};
}

}  // namespace kiln
