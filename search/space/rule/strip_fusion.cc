// A depthwise convolution reads each element of what a product makes in a few
// neighbouring rows, so that the product need not be done for the whole image
// before: some rows of some channels go through both, while they stay in the
// second cache. Of a product of 56 x 56 pixels with 24 x 144 weights, and 3 x 3
// taps:
//
//   parallel i0 in 2, c0 in 9:
//     E[30 rows, 56, 16 channels] = relu6(X * weights)    in register tiles
//     Y[28 rows, 56, 16 channels] = relu6(E * taps)       in register tiles
//
// Strips overlap by the taps' reach, and what is there is computed twice.
// Channels are independent of each other, and a line of memory holds 16.
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/register_nest.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/strips.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

class Fusion {
 public:
  Fusion(Schedule sch, const Strips& strips, int64_t width,
         const RuleContext& context)
      : sch_(std::move(sch)),
        strips_(strips),
        width_(width),
        context_(context) {}

  absl::StatusOr<Schedule> Run() {
    KILN_RETURN_IF_ERROR(InlineAll());
    KILN_RETURN_IF_ERROR(CutStrips());
    KILN_RETURN_IF_ERROR(MoveProduct());
    KILN_RETURN_IF_ERROR(TileProduct());
    KILN_RETURN_IF_ERROR(TileWindow());
    KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(outer_));
    KILN_RETURN_IF_ERROR(Parallel(&sch_, fused, context_));
    for (const auto& [block, first_step] : sums_) {
      KILN_RETURN_IF_ERROR(sch_.DecomposeReduction(block, first_step).status());
    }
    return sch_;
  }

 private:
  absl::StatusOr<Rv> Block(const std::string& name) {
    return sch_.GetBlock(name, FunctionOf(sch_, context_).name);
  }

  absl::Status Inline(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      KILN_ASSIGN_OR_RETURN(const Rv block, Block(name));
      KILN_RETURN_IF_ERROR(sch_.ComputeInline(block));
    }
    return absl::OkStatus();
  }

  static std::vector<std::string> AllButLast(std::vector<std::string> names) {
    if (!names.empty()) names.pop_back();
    return names;
  }

  absl::Status InlineAll() {
    KILN_RETURN_IF_ERROR(Inline(AllButLast(strips_.between)));
    KILN_RETURN_IF_ERROR(Inline(strips_.padding));
    return Inline(AllButLast(strips_.behind));
  }

  absl::StatusOr<Rv> SampleHeight() {
    const std::vector<int64_t> heights =
        StripHeights(strips_, width_, context_);
    if (heights.empty()) {
      return absl::FailedPreconditionError("a single row is too long");
    }
    const std::vector<double> even(heights.size(), 1.0 / heights.size());
    return sch_.SampleCategorical(heights, even);
  }

  absl::Status CutStrips() {
    KILN_ASSIGN_OR_RETURN(const Rv window, Block(strips_.window.name));
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> inner, sch_.GetLoops(window));
    KILN_ASSIGN_OR_RETURN(const Rv height, SampleHeight());
    for (int axis = 0; axis < static_cast<int>(inner.size()); ++axis) {
      const bool is_outside = !strips_.window.axes[axis].reduce &&
                              (axis <= strips_.rows || axis == strips_.columns);
      if (!is_outside) continue;
      const Arg part = axis == strips_.rows      ? Arg(height)
                       : axis == strips_.columns ? Arg(width_)
                                                 : Arg(1);
      KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                            sch_.Split(inner[axis], {Arg(), part}));
      outer_.push_back(parts[0]);
      inner[axis] = parts[1];
    }
    std::vector<Rv> all = outer_;
    all.insert(all.end(), inner.begin(), inner.end());
    return sch_.Reorder(all);
  }

  absl::Status MoveProduct() {
    std::vector<std::string> moved = {strips_.product.name};
    if (!strips_.between.empty()) {
      moved.insert(moved.begin(), strips_.between.back());
    }
    for (const std::string& name : moved) {
      KILN_ASSIGN_OR_RETURN(const Rv block, Block(name));
      KILN_RETURN_IF_ERROR(sch_.ComputeAt(block, outer_.back(), true));
    }
    return absl::OkStatus();
  }

  // Lines of the image are tiled one by one.
  absl::Status TileProduct() {
    BlockInfo info = strips_.product;
    const int column = info.ContiguousAxis();
    info.axes[column].extent = width_;
    info.consumers = {strips_.between.empty() ? strips_.window.name
                                              : strips_.between.back()};
    int line = -1;
    for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
      if (info.axes[i].reduce || i == column) continue;
      if (line >= 0) info.axes[line].extent = 1;
      line = i;
    }
    return Tile(info);
  }

  absl::Status TileWindow() {
    BlockInfo info = strips_.window;
    for (int axis = 0; axis < strips_.rows; ++axis) info.axes[axis].extent = 1;
    if (!strips_.behind.empty()) info.consumers = {strips_.behind.back()};
    info.axes[strips_.rows].extent =
        absl::c_accumulate(StripHeights(strips_, width_, context_), int64_t{0},
                           std::gcd<int64_t, int64_t>);
    info.axes[strips_.columns].extent = width_;
    return Tile(info);
  }

  absl::Status Tile(const BlockInfo& info) {
    const auto axes = ChooseTileAxes(info);
    if (!axes) return absl::FailedPreconditionError("no register tile");
    KILN_ASSIGN_OR_RETURN(
        RegisterNest nest,
        TileInRegisters(std::move(sch_), info, *axes, TilingChoice(),
                        std::nullopt, outer_.size(), context_));
    sch_ = std::move(nest.schedule);
    sums_.emplace_back(nest.block, nest.first_step);
    return absl::OkStatus();
  }

  Schedule sch_;
  const Strips& strips_;
  const int64_t width_;
  const RuleContext& context_;
  std::vector<Rv> outer_;                // loops around all of it
  std::vector<std::pair<Rv, Rv>> sums_;  // and their first reduction loops
};

}  // namespace

std::vector<Schedule> StripFusion(const Schedule& sch, const std::string& block,
                                  const RuleContext& context) {
  const auto strips = FindStrips(FunctionOf(sch, context), block);
  if (!strips || context.open_size > 0) return {};
  std::vector<Schedule> made;
  for (const int64_t width : StripWidths(*strips, context)) {
    absl::StatusOr<Schedule> fused = Fusion(sch, *strips, width, context).Run();
    if (fused.ok()) {
      made.push_back(*std::move(fused));
    } else {
      context.GaveUp("strips of rows", fused.status());
    }
  }
  if (!made.empty()) made.push_back(sch);
  return made;
}

}  // namespace kiln
