#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/dot_steps.h"
#include "kiln/search/space/rule/paired_sums.h"
#include "kiln/search/space/rule/register_nest.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/strassen_parts.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

// "panels of 3 vectors, packed near".
std::string NameOf(const TilingChoice& choice, bool joined,
                   const TileAxes& axes) {
  std::string name =
      !choice.packed ? "an operand as it lies"
      : choice.vectors == 0
          ? "a packed operand"
          : absl::StrCat("panels of ", choice.vectors, " vectors");
  if (choice.panels > 1)
    absl::StrAppend(&name, ", ", choice.panels, " at once");
  if (axes.pair >= 0) absl::StrAppend(&name, " of pairs");
  if (axes.dot_steps > 1) {
    absl::StrAppend(&name, " for dot products of ", axes.dot_steps);
  }
  if (choice.near) absl::StrAppend(&name, ", packed near");
  if (choice.streamed) absl::StrAppend(&name, ", streamed");
  if (choice.columns_first) absl::StrAppend(&name, ", columns first");
  if (joined) absl::StrAppend(&name, ", parts joined");
  return name;
}

// Whether panels of the operand may hold several steps side by side: tiles of
// fixed width that keep their sums in registers.
bool MayHoldSteps(const TilingChoice& choice) {
  return choice.packed && !choice.streamed && choice.vectors > 0 &&
         choice.panels == 1;
}

// A block, and the schedules that the rule makes of it.
class Designs {
 public:
  explicit Designs(const RuleContext& context) : context_(context) {}

  void Add(const Schedule& sch, const BlockInfo& info, const TileAxes& axes,
           const TilingChoice& choice, const std::optional<Joining>& joining) {
    absl::StatusOr<Schedule> tiled = Tile(sch, info, axes, choice, joining);
    if (tiled.ok()) {
      made_.push_back(*std::move(tiled));
    } else {
      context_.GaveUp(NameOf(choice, joining.has_value(), axes),
                      tiled.status());
    }
  }

  std::vector<Schedule> Take() { return std::move(made_); }

 private:
  absl::StatusOr<Schedule> Tile(const Schedule& sch, const BlockInfo& info,
                                const TileAxes& axes,
                                const TilingChoice& choice,
                                const std::optional<Joining>& joining) const {
    KILN_ASSIGN_OR_RETURN(
        RegisterNest nest,
        TileInRegisters(sch, info, axes, choice, joining, 0, context_));
    KILN_RETURN_IF_ERROR(
        nest.schedule.DecomposeReduction(nest.block, nest.first_step).status());
    return nest.schedule;
  }

  const RuleContext& context_;
  std::vector<Schedule> made_;
};

std::vector<TilingChoice> ChoicesOf(const BlockInfo& info, const TileAxes& axes,
                                    const RuleContext& context) {
  return TilingChoices(info, axes, context.registers, context.near_bytes);
}

// Those over panels that hold several steps side by side.
std::vector<Schedule> TilingsBySteps(const Schedule& sch, const BlockInfo& info,
                                     const TileAxes& axes,
                                     const RuleContext& context) {
  Designs designs(context);
  for (const TilingChoice& choice : ChoicesOf(info, axes, context)) {
    if (!MayHoldSteps(choice)) continue;
    designs.Add(sch, info, axes, choice, std::nullopt);
  }
  return designs.Take();
}

// Those of dot products or of sums of pairs, where these are worth it.
std::vector<Schedule> SteppedTilings(const Schedule& sch, const BlockInfo& info,
                                     TileAxes axes,
                                     const RuleContext& context) {
  axes.dot_steps = DotSteps(info, NodeOf(FunctionOf(sch, context), info.name),
                            axes, context.registers);
  if (axes.dot_steps > 1) return TilingsBySteps(sch, info, axes, context);
  const std::optional<PairedSums> pairs = PairSums(sch, info, axes, context);
  if (!pairs) return {};
  return TilingsBySteps(pairs->schedule, pairs->info, pairs->axes, context);
}

}  // namespace

std::vector<Schedule> RegisterTiling(const Schedule& sch,
                                     const std::string& block,
                                     const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || !info->has_init) return {};
  const std::optional<TileAxes> axes = ChooseTileAxes(*info);
  if (!axes) return {};
  const auto joining = JoiningOf(FunctionOf(sch, context), *info);
  std::vector<Schedule> stepped;
  if (!joining) stepped = SteppedTilings(sch, *info, *axes, context);
  Designs designs(context);
  for (const TilingChoice& choice : ChoicesOf(*info, *axes, context)) {
    if (!stepped.empty() && MayHoldSteps(choice)) continue;
    if (joining) designs.Add(sch, *info, *axes, choice, joining);
    // Streamed ones were the same.
    if (joining && choice.streamed) continue;
    designs.Add(sch, *info, *axes, choice, std::nullopt);
  }
  std::vector<Schedule> made = designs.Take();
  absl::c_move(stepped, std::back_inserter(made));
  return made;
}

}  // namespace kiln
