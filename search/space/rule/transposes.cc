#include "kiln/search/space/rule/transposes.h"

#include <cstdint>

#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/marks.h"

namespace kiln {
namespace {

// Rows that are narrower than a square are written one by one, and read so
// where they are less than a part of one.
constexpr int64_t kLeastRead = 4;

// Elements on a side of a square, as many as fit the registers: 50 matrices of
// 64 x 31 take 12 us in squares of 16 with AVX-512. With AVX2, which has half
// as many registers of half the size, they take 56 us so, and 16 in squares of
// 8.
int64_t SideOfSquare(const RuleContext& context) {
  return context.registers.Floats() >= 16 ? 16 : 8;
}

}  // namespace

int TransposedAxis(const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  if (column < 0 || !info.is_elementwise) return -1;
  for (const ReadInfo& read : info.reads) {
    if (!read.Uses(column) || read.strides[column] == 1.0) continue;
    for (size_t i = 0; i < info.axes.size(); ++i) {
      if (read.strides[i] == 1.0) return static_cast<int>(i);
    }
  }
  return -1;
}

std::optional<std::string> TransposeBefore(const Function& f,
                                           const std::string& reader) {
  const auto info = DescribeBlock(f, reader);
  if (!info || info->producers.size() != 1) return std::nullopt;
  const std::string& name = info->producers[0];
  const auto made = DescribeBlock(f, name);
  if (!made || made->is_output || made->consumers.size() != 1) {
    return std::nullopt;
  }
  const int along = TransposedAxis(*made);
  if (along < 0 || made->axes[along].write_dim != made->write_dims - 2) {
    return std::nullopt;
  }
  return name;
}

absl::StatusOr<std::vector<Rv>> TileSquares(Schedule* sch, Rv block,
                                            const BlockInfo& info,
                                            const std::vector<Rv>& loops,
                                            const RuleContext& context) {
  const int64_t side = SideOfSquare(context);
  const int column = info.ContiguousAxis(), read_axis = TransposedAxis(info);
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> written,
                        sch->Split(loops[column], {Arg(), side}));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> read,
                        sch->Split(loops[read_axis], {Arg(), side}));
  std::vector<Rv> outer;
  for (int i = 0; i < static_cast<int>(loops.size()); ++i) {
    if (i != column && i != read_axis) outer.push_back(loops[i]);
  }
  outer.push_back(read[0]);
  std::vector<Rv> order = outer;
  order.insert(order.end(), {written[0], read[1], written[1]});
  KILN_RETURN_IF_ERROR(sch->Reorder(order));
  KILN_RETURN_IF_ERROR(sch->Unroll(read[1]));
  const bool fits = info.axes[column].extent >= side &&
                    info.axes[read_axis].extent >= kLeastRead;
  KILN_RETURN_IF_ERROR(fits ? sch->Vectorize(written[1])
                            : sch->Unroll(written[1]));
  if (fits) {
    KILN_RETURN_IF_ERROR(sch->Annotate(block, kTransposedCopy, true));
  }
  return outer;
}

}  // namespace kiln
