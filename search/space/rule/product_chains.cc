// Attention, for one: a product reads rows that are made of those of another
// product. Some rows go through all of it at a time, so that they stay in the
// second cache:
//
//   parallel i0:
//     S[rows, :] = Q[rows, :] * K                   in register tiles
//     i1: highest, E, total, P[i1, :] of S[i1, :]   in vectors, as softmax has
//     Y[rows, :] = P[rows, :] * V                   in register tiles
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/chained_products.h"
#include "kiln/search/space/rule/padded_chain.h"
#include "kiln/search/space/rule/register_nest.h"
#include "kiln/search/space/rule/row_chain.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

class ChainFusion {
 public:
  ChainFusion(Schedule sch, const ChainedProducts& chained,
              const RuleContext& context)
      : sch_(std::move(sch)), chained_(chained), context_(context) {}

  absl::StatusOr<Schedule> Run(const TilingChoice& first,
                               const TilingChoice& last) {
    heights_ = RowsAtATime(chained_, context_);
    KILN_RETURN_IF_ERROR(SplitRows());
    const Rv rows = outer_.back();
    KILN_RETURN_IF_ERROR(ComputeChainAt(rows));
    KILN_ASSIGN_OR_RETURN(const Rv first_block, Block(chained_.first));
    KILN_RETURN_IF_ERROR(sch_.ComputeAt(first_block, rows, true));
    KILN_RETURN_IF_ERROR(Tile(chained_.first, chained_.FirstRowAxes(), first));
    KILN_RETURN_IF_ERROR(Tile(chained_.product, chained_.row_axes, last));
    KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(outer_));
    KILN_RETURN_IF_ERROR(Parallel(&sch_, fused, context_));
    KILN_RETURN_IF_ERROR(VectorizeChain());
    for (const auto& [block, first_step] : sums_) {
      KILN_RETURN_IF_ERROR(sch_.DecomposeReduction(block, first_step).status());
    }
    return sch_;
  }

 private:
  absl::StatusOr<Rv> Block(const BlockInfo& info) {
    return sch_.GetBlock(info.name, FunctionOf(sch_, context_).name);
  }

  // The last loop outside becomes the one over some rows at a time.
  absl::Status SplitRows() {
    KILN_ASSIGN_OR_RETURN(const Rv product, Block(chained_.product));
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> inner, sch_.GetLoops(product));
    KILN_ASSIGN_OR_RETURN(const Arg height, SampleHeight());
    for (const int axis : chained_.row_axes) {
      const bool is_last = axis == chained_.row_axes.back();
      KILN_ASSIGN_OR_RETURN(
          const std::vector<Rv> parts,
          sch_.Split(inner[axis], {Arg(), is_last ? height : Arg(1)}));
      outer_.push_back(parts[0]);
      inner[axis] = parts[1];
    }
    std::vector<Rv> all = outer_;
    all.insert(all.end(), inner.begin(), inner.end());
    return sch_.Reorder(all);
  }

  absl::StatusOr<Arg> SampleHeight() {
    if (heights_.size() == 1) return Arg(heights_[0]);
    KILN_ASSIGN_OR_RETURN(const Rv height,
                          sch_.SampleCategorical(heights_, {0.5, 0.5}));
    return Arg(height);
  }

  // All of a row of the chain, then the next row.
  absl::Status ComputeChainAt(Rv rows) {
    const RowChain& chain = chained_.chain;
    for (const BlockInfo& info : chain.blocks) {
      KILN_ASSIGN_OR_RETURN(const Rv block, Block(info));
      blocks_.push_back(block);
    }
    KILN_RETURN_IF_ERROR(sch_.ComputeAt(blocks_[0], rows, true));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops,
                          sch_.GetLoops(blocks_[0]));
    const size_t last = outer_.size() + chain.rows - 1;  // of its rows
    for (size_t i = 1; i < blocks_.size(); ++i) {
      KILN_RETURN_IF_ERROR(sch_.ComputeAt(blocks_[i], loops[last], true));
    }
    return absl::OkStatus();
  }

  absl::Status VectorizeChain() {
    const RowChain& chain = chained_.chain;
    KILN_ASSIGN_OR_RETURN(const Rv width, SampleRowWidth(&sch_, context_));
    for (size_t i = 0; i < blocks_.size(); ++i) {
      KILN_RETURN_IF_ERROR(VectorizeRow(&sch_, blocks_[i], chain.blocks[i],
                                        chain.rows, chain.rows + 1, width,
                                        context_));
    }
    return absl::OkStatus();
  }

  absl::Status Tile(const BlockInfo& info, const std::vector<int>& row_axes,
                    const TilingChoice& choice) {
    KILN_ASSIGN_OR_RETURN(
        RegisterNest nest,
        TileFewRows(std::move(sch_), info, row_axes, heights_.back(), choice,
                    outer_.size(), context_));
    sch_ = std::move(nest.schedule);
    sums_.emplace_back(nest.block, nest.first_step);
    return absl::OkStatus();
  }

  Schedule sch_;
  const ChainedProducts& chained_;
  const RuleContext& context_;
  std::vector<int64_t> heights_;
  std::vector<Rv> blocks_;               // of the chain
  std::vector<Rv> outer_;                // loops around all of it
  std::vector<std::pair<Rv, Rv>> sums_;  // and their first reduction loops
};

// Whether there is no telling how many rows or columns there are.
bool HasOpenRows(const ChainedProducts& chained, int64_t open_size) {
  const std::vector<AxisInfo>& axes = chained.first.axes;
  const size_t rows = chained.chain.rows;
  return open_size > 0 &&
         (axes[rows - 1].extent == open_size || axes[rows].extent == open_size);
}

// Open extents are many, whatever size stands for them.
ChainedProducts WithManyRows(ChainedProducts chained, int64_t open_size) {
  constexpr int64_t kMany = 1024;
  for (BlockInfo* info : {&chained.first, &chained.product}) {
    for (AxisInfo& axis : info->axes) {
      if (axis.extent == open_size) axis.extent = kMany;
    }
  }
  return chained;
}

absl::StatusOr<Schedule> FuseChain(const Schedule& sch,
                                   const ChainedProducts& chained, size_t way,
                                   const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const TilingChoice first,
                        FewRowChoice(chained.first, way, context));
  KILN_ASSIGN_OR_RETURN(const TilingChoice last,
                        FewRowChoice(chained.product, way, context));
  return ChainFusion(sch, chained, context).Run(first, last);
}

}  // namespace

std::vector<Schedule> ProductChains(const Schedule& sch,
                                    const std::string& block,
                                    const RuleContext& context) {
  auto chained = FindChainedProducts(FunctionOf(sch, context), block);
  if (!chained) return {};
  const bool is_open = HasOpenRows(*chained, context.open_size);
  if (is_open) chained = WithManyRows(*std::move(chained), context.open_size);
  const size_t ways = std::max(FewRowChoices(chained->first, context).size(),
                               FewRowChoices(chained->product, context).size());
  std::vector<Schedule> made;
  for (size_t i = 0; i < ways; ++i) {
    absl::StatusOr<Schedule> fused =
        is_open ? FusePaddedChain(sch, *chained, i, context)
                : FuseChain(sch, *chained, i, context);
    if (fused.ok()) {
      made.push_back(*std::move(fused));
    } else {
      context.GaveUp("some rows of a chain of products", fused.status());
    }
  }
  // Elsewhere rows and columns of tiles are cut short where extents are open.
  if (!made.empty() && !is_open) made.push_back(sch);
  return made;
}

}  // namespace kiln
