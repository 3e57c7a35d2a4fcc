// Channels of a grouped convolution read the inputs of their group, so that a
// vector over the borders of groups would read each lane's by itself, and rows
// of other groups' weights come between those of one. Groups become an axis of
// their own. In eight groups of twelve:
//
//   C[h, w, c] += A[h, w, c // 12 * 12 + k] * W[k, c]
//     ->
//   T[h, w, g, c] += A[h, w, g * 12 + k] * W[k, g * 12 + c]
//   C[h, w, g * 12 + c] = T[h, w, g, c]
//
// Where whole groups fill a vector, as four of four channels do, it may hold
// them instead: the inputs of four groups are one load, and each k takes its
// element of every group from it (codegen/lower/vector/near_lanes.h). 56 x 56
// pixels of 32 groups of four take half the time (a Sapphire Rapids). Larger
// parts of a vector are worth more by themselves, as elements of one group need
// not be chosen from a register.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/reshaped_sum.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// Channels; one each is a depthwise convolution.
constexpr int64_t kLeastGroup = 2;
// In one vector. Choosing elements takes the port of half of the products of
// 512 bits: with two groups each, 28 x 28 pixels of 32 groups of eight take 1.3
// of the time of split ones, where AVX2 takes 0.75 of it for groups of four.
constexpr int64_t kLeastGroups = 2;
constexpr int64_t kLeastGroupsOf512 = 4;

// How many neighbouring steps of `axis` operands do not tell apart; 0 where
// they tell all apart, or none. Without operands whose elements in order serve
// some steps each, fewer than `lanes`, since a vector of those is one load:
// W[k, c // 8] of packed numbers, A[h, w, c // 2] of a depthwise convolution
// with a multiplier.
int64_t GroupOf(const BlockNode& block, const BlockInfo& info, int axis,
                int64_t lanes) {
  const Var& var = block.iters[axis].var;
  const int64_t extent = info.axes[axis].extent;
  int64_t group = 0;
  for (const ReadInfo& read : info.reads) {
    for (const Range& range : block.reads[read.index].region) {
      Visit(range.min, [&](const Expr& e) {
        const auto* quotient = e.As<BinaryNode>();
        if (!quotient || quotient->kind != ExprKind::kFloorDiv ||
            quotient->a != var) {
          return true;
        }
        const int64_t* size = AsInt(quotient->b);
        const bool divides = size && *size > 1 && *size < extent &&
                             extent % *size == 0 &&
                             !(read.lags[axis] && *size < lanes);
        if (divides) group = group == 0 ? *size : std::min(group, *size);
        return false;
      });
    }
  }
  return group;
}

// Of `count` axes, where `axis` becomes that of groups and that inside of one.
IndexMap MapOf(size_t count, size_t axis, int64_t group) {
  IndexMap map;
  for (size_t i = 0; i < count; ++i) {
    const Var var("d" + std::to_string(i));
    map.inputs.push_back(var);
    if (i == axis) {
      map.outputs.push_back(FloorDiv(var, Int(group)));
      map.outputs.push_back(FloorMod(var, Int(group)));
    } else {
      map.outputs.push_back(var);
    }
  }
  return map;
}

absl::StatusOr<Schedule> Split(Schedule sch, const BlockInfo& info,
                               int64_t group, const RuleContext& context) {
  const auto node_of = [&](Rv block) -> const BlockNode& {
    return *FindBlock(FunctionOf(sch, context), sch.Value(block))
                ->realize()
                ->block;
  };
  KILN_ASSIGN_OR_RETURN(const Rv block,
                        sch.GetBlock(info.name, FunctionOf(sch, context).name));
  KILN_ASSIGN_OR_RETURN(const Rv consumer,
                        ConsumerOfSum(&sch, block, info, context));
  const BlockNode& after = node_of(consumer);
  const auto other = DescribeBlock(FunctionOf(sch, context), after.name);
  if (!other ||
      !CopiesInOrder(after, *other, node_of(block).writes[0].buffer)) {
    return absl::FailedPreconditionError("the consumer is not elementwise");
  }
  const auto axis = static_cast<size_t>(info.ContiguousAxis());
  const size_t dims = other->axes.size();
  KILN_RETURN_IF_ERROR(ReshapeSum(&sch, block, consumer,
                                  MapOf(info.axes.size(), axis, group),
                                  [&] { return MapOf(dims, axis, group); }));
  return sch;
}

// Whether several whole groups fill vectors, and a step to the next group's
// channels is one to the next group's inputs.
bool FillVectors(const BlockInfo& info, int column, int64_t group,
                 const RuleContext& context) {
  const int64_t lanes = context.registers.Floats();
  const int64_t least =
      context.registers.bytes < 64 ? kLeastGroups : kLeastGroupsOf512;
  return lanes % (group * least) == 0 &&
         absl::c_all_of(info.reads, [&](const ReadInfo& read) {
           return read.strides[column] == 1.0;
         });
}

}  // namespace

std::vector<Schedule> SplitGroups(const Schedule& sch, const std::string& block,
                                  const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || !MayReshape(*info)) return {};
  const int column = info->ContiguousAxis();
  const BlockNode& node = NodeOf(f, block);
  if (column < 0 || !WritesAllInOrder(node, *info)) return {};
  const int64_t group =
      GroupOf(node, *info, column, context.registers.Floats());
  if (group < kLeastGroup) return {};
  std::vector<Schedule> ways =
      OnlyWay(Split(sch, *info, group, context), context);
  if (FillVectors(*info, column, group, context)) ways.push_back(sch);
  return ways;
}

}  // namespace kiln
