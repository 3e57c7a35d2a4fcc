#include "kiln/search/space/rule/dot_steps.h"

#include <cstdint>
#include <optional>

#include "absl/algorithm/container.h"

namespace kiln {
namespace {

// Whether neighbouring elements are for neighbouring steps, and all columns
// share them.
bool IsOfRows(const ReadInfo& read, const TileAxes& axes) {
  return read.strides[axes.column] == 0.0 && read.strides[axes.unroll] == 1.0;
}

// Whether instructions of `steps` are worth it: the last may be short, of
// integers.
bool FitsSteps(const NarrowProduct& product, int64_t extent, int steps) {
  return 2 * extent > steps && (!product.is_float() || extent % steps == 0);
}

// Whether all rows share the operand, and panels of it may hold steps side by
// side: those of a window that goes along the columns are other columns.
bool IsForPanels(const BlockInfo& info, const ReadInfo& read,
                 const TileAxes& axes) {
  const int dim = DimAlong(read, axes.unroll);
  return !read.Uses(axes.row) && dim >= 0 &&
         dim != DimAlong(read, axes.column) &&
         !HoldsOtherColumns(info, axes, read);
}

// Of one operand, that it is one of rows; of the other that it can be packed by
// `steps`.
bool LieForSteps(const BlockInfo& info, const TileAxes& axes, int steps) {
  const auto is_row = [&](const ReadInfo& read) {
    return IsOfRows(read, axes);
  };
  const auto is_shared = [&](const ReadInfo& read) {
    const int dim = DimAlong(read, axes.unroll);
    return read.strides[axes.column] == 1.0 && IsForPanels(info, read, axes) &&
           (read.shape[dim] % steps == 0 ||
            read.shape[dim] == info.axes[axes.unroll].extent);
  };
  return info.reads.size() == 2 && absl::c_any_of(info.reads, is_row) &&
         absl::c_any_of(info.reads, is_shared);
}

}  // namespace

std::optional<NarrowProduct> NarrowSumOf(const BlockNode& block) {
  const auto* store = block.body.As<StoreNode>();
  const auto* sum = store ? store->value.As<BinaryNode>() : nullptr;
  if (!sum || store->value.kind() != ExprKind::kAdd) return std::nullopt;
  return NarrowProductOf(sum->b);
}

int DotSteps(const BlockInfo& info, const BlockNode& block,
             const TileAxes& axes, const VectorRegisters& registers) {
  const std::optional<NarrowProduct> product = NarrowSumOf(block);
  if (!product || axes.row < 0 || axes.unroll < 0) return 1;
  for (const int steps : {kBytesOfDot, 2}) {
    if (FitsSteps(*product, info.axes[axes.unroll].extent, steps) &&
        IsDotProduct(*product, steps, registers.dots) &&
        LieForSteps(info, axes, steps)) {
      return steps;
    }
  }
  return 1;
}

std::optional<ReadInfo> RowsOfLikeBytes(const BlockInfo& info,
                                        const BlockNode& block,
                                        const TileAxes& axes,
                                        double least_uses) {
  const std::optional<NarrowProduct> product = NarrowSumOf(block);
  const auto is_byte = [](const Expr& e) { return e.dtype().bits() == 8; };
  if (!product || !is_byte(product->a) || !is_byte(product->b) ||
      product->AddedUp() == kBytesOfDot || axes.row < 0 || axes.unroll < 0 ||
      !FitsSteps(*product, info.axes[axes.unroll].extent, kBytesOfDot) ||
      info.reads.size() != 2) {
    return std::nullopt;
  }
  for (const int i : {0, 1}) {
    const ReadInfo& rows = info.reads[i];
    const ReadInfo& other = info.reads[1 - i];
    const double uses = static_cast<double>(info.SpatialSize()) *
                        static_cast<double>(info.ReduceSize()) / other.elements;
    if (IsOfRows(rows, axes) && IsForPanels(info, other, axes) &&
        uses >= least_uses) {
      return rows;
    }
  }
  return std::nullopt;
}

}  // namespace kiln
