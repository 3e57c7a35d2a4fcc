// The operand that all rows of a register tile share, copied into panels: what
// a tile reads for one step of the sum after the other.
#ifndef KILN_SEARCH_SPACE_RULE_OPERAND_PANELS_H_
#define KILN_SEARCH_SPACE_RULE_OPERAND_PANELS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule_context.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {

// [.., columns] → [columns / panel, .., panel], of one vector or all of a tile;
// what is summed up comes last, so that all of a sum is one stream. With pairs
// of steps (TileAxes::pair) → [columns / panel, .., k / 2, panel, 2], and as
// many as a dot product takes (TileAxes::dot_steps) likewise.
class OperandPanels {
 public:
  // Of `choice.packed`, an operand of the block `info`. All are kept by
  // reference.
  OperandPanels(const BlockInfo& info, const TileAxes& axes,
                const TilingChoice& choice, const RuleContext& context)
      : info_(info), axes_(axes), choice_(choice), context_(context) {}

  // Panels of the operand for `block`, which is `info`: a copy, or the block
  // that makes the operand makes them.
  absl::Status Pack(Schedule* sch, Rv block);
  // The copy is made in `loop` just before it is used.
  absl::Status ComputeAt(Schedule* sch, Rv loop) const;
  // Orders the loops of what makes the panels, and vectorizes them.
  absl::Status Mark(Schedule* sch) const;

 private:
  bool IsSummed(int dim) const;
  IndexMap Layout() const;
  const ReadInfo& operand() const { return *choice_.packed; }
  int64_t ColumnsOfVector() const;
  // Of the operand, the one whose steps lie side by side; -1: none.
  int DimOfSteps() const;
  // Whether some of the last of these stand for none of the operand.
  bool PadsSteps() const;

  absl::Status InlineTranspose(Schedule* sch);
  absl::Status MarkMaker(Schedule* sch) const;
  absl::Status MarkTransposed(Schedule* sch,
                              const std::vector<Rv>& loops) const;
  absl::StatusOr<Rv> TakeSteps(Schedule* sch, std::vector<Rv>* loops) const;
  absl::StatusOr<Rv> VectorizeColumns(Schedule* sch,
                                      std::vector<Rv>* loops) const;
  absl::StatusOr<Rv> Order(Schedule* sch, const std::vector<Rv>& loops) const;

  const BlockInfo& info_;
  const TileAxes& axes_;
  const TilingChoice& choice_;
  const RuleContext& context_;
  std::optional<Rv> copy_;   // a block that copies the operand into panels
  std::optional<Rv> maker_;  // or makes it there
  bool transposes_ = false;  // while it copies
};

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_OPERAND_PANELS_H_
