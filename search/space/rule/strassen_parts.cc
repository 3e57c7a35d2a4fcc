#include "kiln/search/space/rule/strassen_parts.h"

#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {
namespace {

// Whether the block is marked as one that makes or joins parts, and chooses
// among them by an iterator.
bool IsOfParts(const Function& f, const BlockInfo& info) {
  return IsMarked(NodeOf(f, info.name), kStrassenParts) &&
         absl::c_any_of(info.axes, [](const AxisInfo& a) { return a.chooses; });
}

// Whether the read takes the whole dimension at once, which is more than one.
bool TakesAll(const BufferRegion& read, size_t dim) {
  const int64_t* size = AsInt(read.buffer->shape[dim]);
  const int64_t* extent = AsInt(read.region[dim].extent);
  return size && extent && *size == *extent && *size > 1 &&
         IsZero(read.region[dim].min);
}

}  // namespace

std::optional<std::string> MakerOf(const Function& f, const BlockInfo& info,
                                   const ReadInfo& operand) {
  const Buffer& buffer = NodeOf(f, info.name).reads[operand.index].buffer;
  for (const std::string& name : info.producers) {
    const auto maker = DescribeBlock(f, name);
    if (maker && maker->consumers.size() == 1 && !maker->is_output &&
        IsOfParts(f, *maker) && WritesBuffer(NodeOf(f, name), buffer)) {
      return name;
    }
  }
  return std::nullopt;
}

bool IsShared(const Function& f, const BlockInfo& info,
              const ReadInfo& operand) {
  const Buffer& buffer = NodeOf(f, info.name).reads[operand.index].buffer;
  return Scope(f.root()).Readers(buffer).size() > 1;
}

std::optional<Joining> JoiningOf(const Function& f, const BlockInfo& info) {
  if (info.consumers.size() != 1 || info.is_output) return std::nullopt;
  const auto join = DescribeBlock(f, info.consumers[0]);
  if (!join || !IsOfParts(f, *join)) return std::nullopt;
  const Buffer& written = NodeOf(f, info.name).writes[0].buffer;
  Joining joining{*join, {}};
  for (const BufferRegion& read : NodeOf(f, join->name).reads) {
    if (read.buffer != written) continue;
    for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
      const int dim = info.axes[i].write_dim;
      const bool is_part = dim >= 0 && i != info.ContiguousAxis() &&
                           !info.axes[i].reduce && TakesAll(read, dim);
      if (is_part) joining.parts.push_back(i);
    }
  }
  if (joining.parts.empty()) return std::nullopt;
  return joining;
}

absl::StatusOr<std::vector<Rv>> OrderChoices(Schedule* sch, Rv block,
                                             const std::vector<AxisInfo>& axes,
                                             int64_t rows, int64_t lanes) {
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch->GetLoops(block));
  if (loops.size() < axes.size()) {
    return absl::FailedPreconditionError("fewer loops than axes");
  }
  loops.erase(loops.begin(), loops.end() - std::ssize(axes));
  std::vector<Rv> outer, choices;
  int64_t extent = 1;  // of the last other axis
  for (size_t i = 0; i + 1 < loops.size(); ++i) {
    (axes[i].chooses ? choices : outer).push_back(loops[i]);
    if (!axes[i].chooses) extent = axes[i].extent;
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> columns,
                        sch->Split(loops.back(), {Arg(), lanes}));
  std::vector<Rv> inner = {columns[0]};
  if (rows > 1 && !outer.empty()) {
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> parts,
        sch->Split(outer.back(), {Arg(), std::gcd(extent, rows)}));
    outer.back() = parts[0];
    inner.push_back(parts[1]);
  }
  std::vector<Rv> all = outer;
  all.insert(all.end(), inner.begin(), inner.end());
  all.insert(all.end(), choices.begin(), choices.end());
  all.push_back(columns[1]);
  KILN_RETURN_IF_ERROR(sch->Reorder(all));
  KILN_RETURN_IF_ERROR(sch->Vectorize(columns[1]));
  for (const Rv loop : choices) KILN_RETURN_IF_ERROR(sch->Unroll(loop));
  KILN_RETURN_IF_ERROR(sch->Unannotate(block, kStrassenParts));
  return outer;
}

}  // namespace kiln
