#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/register_nest.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/strassen_parts.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

// "panels of 3 vectors, packed near".
std::string NameOf(const TilingChoice& choice, bool joined) {
  std::string name =
      !choice.packed ? "an operand as it lies"
      : choice.vectors == 0
          ? "a packed operand"
          : absl::StrCat("panels of ", choice.vectors, " vectors");
  if (choice.panels > 1)
    absl::StrAppend(&name, ", ", choice.panels, " at once");
  if (choice.near) absl::StrAppend(&name, ", packed near");
  if (choice.streamed) absl::StrAppend(&name, ", streamed");
  if (choice.columns_first) absl::StrAppend(&name, ", columns first");
  if (joined) absl::StrAppend(&name, ", parts joined");
  return name;
}

absl::StatusOr<Schedule> Tile(const Schedule& sch, const BlockInfo& info,
                              const TileAxes& axes, const TilingChoice& choice,
                              const std::optional<Joining>& joining,
                              const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(
      RegisterNest nest,
      TileInRegisters(sch, info, axes, choice, joining, 0, context));
  KILN_RETURN_IF_ERROR(
      nest.schedule.DecomposeReduction(nest.block, nest.first_step).status());
  return nest.schedule;
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
  std::vector<Schedule> made;
  for (const TilingChoice& choice :
       TilingChoices(*info, *axes, context.registers, context.near_bytes)) {
    for (const auto& joined : {joining, std::optional<Joining>()}) {
      if (!joined && joining && choice.streamed) continue;  // were the same
      absl::StatusOr<Schedule> tiled =
          Tile(sch, *info, *axes, choice, joined, context);
      if (tiled.ok()) {
        made.push_back(*std::move(tiled));
      } else {
        context.GaveUp(NameOf(choice, joined.has_value()), tiled.status());
      }
      if (!joining) break;
    }
  }
  return made;
}

}  // namespace kiln
