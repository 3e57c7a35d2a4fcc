#include "kiln/search/space/rule/row_chain.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/vector_reduction.h"

namespace kiln {

bool HasRows(const BlockInfo& info, const BlockInfo& last, size_t rows) {
  if (info.axes.size() < rows) return false;
  for (size_t i = 0; i < rows; ++i) {
    if (info.axes[i].extent != last.axes[i].extent) return false;
    // Indices of one value may be written as 0.
    if (info.axes[i].extent == 1) continue;
    if (info.axes[i].write_dim != static_cast<int>(i)) return false;
  }
  return true;
}

// Of several reductions, as the taps of an image and its channels, the last may
// be too short for vectors.
constexpr int64_t kLeastOfSeveral = 16;

bool ReducesRows(const BlockInfo& info, size_t rows) {
  const auto sums = static_cast<size_t>(info.CountReduce());
  return info.ReducesContiguously() && info.axes.back().reduce &&
         info.axes.size() == rows + sums &&
         (sums == 1 || info.axes.back().extent >= kLeastOfSeveral) &&
         info.write_dims == static_cast<int>(rows);
}

bool IsRowwise(const BlockInfo& info, const BlockInfo& last, size_t rows) {
  if (!HasRows(info, last, rows)) return false;
  if (ReducesRows(info, rows)) return true;
  return info.is_elementwise &&
         (info.axes.size() == rows || info.axes.size() == rows + 1);
}

bool RowChain::Holds(const std::string& name) const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const BlockInfo& b) { return b.name == name; });
}

bool RowChain::HasReduction() const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const BlockInfo& b) { return ReducesRows(b, rows); });
}

int64_t RowChain::RowLength() const {
  int64_t longest = 1;
  for (const BlockInfo& block : blocks) {
    if (block.axes.size() == rows) continue;
    longest = std::max(longest, block.axes.back().extent);
  }
  return longest;
}

std::optional<RowChain> RowChainTo(const Function& f, const BlockInfo& last,
                                   size_t rows) {
  if (rows == 0 || !IsRowwise(last, last, rows)) return std::nullopt;
  RowChain chain{{last}, rows};
  const std::vector<std::string> names = RootBlocks(f);
  for (size_t i = names.size(); i-- > 0;) {
    const auto info = DescribeBlock(f, names[i]);
    if (!info || info->is_output || info->consumers.empty()) continue;
    const bool inside =
        std::all_of(info->consumers.begin(), info->consumers.end(),
                    [&](const std::string& name) { return chain.Holds(name); });
    if (inside && IsRowwise(*info, last, rows)) chain.blocks.push_back(*info);
  }
  return chain;
}

absl::StatusOr<Rv> SampleRowWidth(Schedule* sch, const RuleContext& context) {
  const int64_t lanes = context.registers.Floats();
  return sch->SampleCategorical({lanes, 2 * lanes, 4 * lanes}, {0.3, 0.4, 0.3});
}

absl::Status VectorizeRow(Schedule* sch, Rv block, const BlockInfo& info,
                          size_t rows, size_t around, Rv width,
                          const RuleContext& context) {
  if (info.axes.size() == rows) return absl::OkStatus();
  const int64_t columns = info.axes.back().extent;
  if (!ReducesRows(info, rows)) {
    if (columns < context.registers.Floats()) return absl::OkStatus();
    return VectorizeLastIter(sch, context.function, block, around, width);
  }
  KILN_ASSIGN_OR_RETURN(
      const VectorReduction sum,
      VectorReduction::Make(sch, block, static_cast<int>(rows), around, columns,
                            context));
  return sum.Vectorize(sch);
}

}  // namespace kiln
