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
#include "kiln/search/space/rule/register_nest.h"
#include "kiln/search/space/rule/row_chain.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

// Rows at a time, so many times two: what register tiles have divides them.
constexpr int64_t kLeastRows = 12;
constexpr int64_t kMostRows = 96;
// Rows wait before and after the chain, and leave half of the cache to the
// operands.
constexpr int64_t kPartOfCache = 4;

// A product of rows that a chain makes of those of another product.
struct Chained {
  BlockInfo product;
  // The axes of the product that move through the dimensions of rows which
  // have several, the dimensions in order.
  std::vector<int> row_axes;
  RowChain chain;
  BlockInfo first;            // the other product
  int64_t element_bytes = 4;  // of the rows
};

// The block that makes what `product` reads there, for it alone.
std::optional<BlockInfo> ProducerOf(const Function& f, const BlockInfo& product,
                                    const ReadInfo& read) {
  const Buffer& buffer = NodeOf(f, product.name).reads[read.index].buffer;
  for (const std::string& name : product.producers) {
    const auto info = DescribeBlock(f, name);
    if (!info || info->is_output || info->consumers.size() != 1) continue;
    if (NodeOf(f, name).writes[0].buffer == buffer) return info;
  }
  return std::nullopt;
}

// The axes that move through all but the last dimension of `rows`, which the
// product sums up; nullopt where they do not, one through each.
std::optional<std::vector<int>> RowAxes(const BlockInfo& product,
                                        const ReadInfo& rows) {
  std::vector<int> axes;
  double step = 1;
  for (int dim = rows.dims() - 1; dim >= 0; --dim) {
    const int64_t extent = rows.shape[dim];
    if (extent > 1) {
      const auto stride = absl::c_find(rows.strides, std::optional(step));
      if (stride == rows.strides.end()) return std::nullopt;
      const auto axis = static_cast<int>(stride - rows.strides.begin());
      const bool is_sum = dim + 1 == rows.dims();
      if (product.axes[axis].extent != extent ||
          product.axes[axis].reduce != is_sum) {
        return std::nullopt;
      }
      if (!is_sum) axes.insert(axes.begin(), axis);
    }
    step *= static_cast<double>(extent);
  }
  return axes;
}

// The product whose rows, and nobody else's, the chain reads.
std::optional<BlockInfo> FirstProduct(const Function& f,
                                      const RowChain& chain) {
  for (const BlockInfo& block : chain.blocks) {
    for (const std::string& name : block.producers) {
      const auto info = DescribeBlock(f, name);
      if (!info || info->is_output || !info->has_init) continue;
      if (!HasRows(*info, chain.blocks[0], chain.rows) ||
          info->write_dims != static_cast<int>(chain.rows) + 1 ||
          info->CountReduce() == 0 || info->ReducesContiguously()) {
        continue;
      }
      const bool inside = absl::c_all_of(
          info->consumers,
          [&](const std::string& user) { return chain.Holds(user); });
      if (inside) return info;
    }
  }
  return std::nullopt;
}

std::optional<Chained> FindChained(const Function& f, const std::string& name) {
  const auto product = DescribeBlock(f, name);
  if (!product || !product->has_init || product->CountReduce() != 1) {
    return std::nullopt;
  }
  for (const ReadInfo& read : product->reads) {
    const auto rows = RowAxes(*product, read);
    const auto last = ProducerOf(f, *product, read);
    if (!last || !rows || rows->empty()) continue;
    const size_t dims = last->axes.size() - 1;
    if (last->write_dims != read.dims() || last->axes.size() < 2 ||
        last->axes[dims - 1].extent < kLeastRows) {
      continue;
    }
    const auto chain = RowChainTo(f, *last, dims);
    if (!chain || !chain->HasReduction()) continue;
    const auto first = FirstProduct(f, *chain);
    if (!first) continue;
    const int64_t bytes = NodeOf(f, last->name).writes[0].buffer->dtype.bytes();
    return Chained{*product, *rows, *chain, *first, bytes};
  }
  return std::nullopt;
}

// How many rows at a time are worth trying, the least first.
std::vector<int64_t> Heights(const Chained& chained,
                             const RuleContext& context) {
  const int64_t bytes = chained.chain.RowLength() * chained.element_bytes;
  std::vector<int64_t> heights = {kLeastRows};
  while (heights.back() < kMostRows &&
         heights.back() * 2 * bytes <= context.near_bytes / kPartOfCache) {
    heights.push_back(heights.back() * 2);
  }
  if (heights.size() > 2) heights.erase(heights.begin(), heights.end() - 2);
  return heights;
}

// Ways to tile a product whose rows come a few at a time: all of them for some
// columns, then for the next ones.
std::vector<TilingChoice> ChoicesFor(const BlockInfo& info,
                                     const RuleContext& context) {
  const auto axes = ChooseTileAxes(info);
  if (!axes) return {};
  std::vector<TilingChoice> choices =
      TilingChoices(info, *axes, context.registers, context.near_bytes);
  std::erase_if(choices, [](const TilingChoice& choice) {
    return choice.streamed || choice.near || choice.columns_first;
  });
  for (TilingChoice& choice : choices) choice.columns_first = true;
  return choices;
}

class ChainFusion {
 public:
  ChainFusion(Schedule sch, const Chained& chained, const RuleContext& context)
      : sch_(std::move(sch)), chained_(chained), context_(context) {}

  absl::StatusOr<Schedule> Run(const TilingChoice& first,
                               const TilingChoice& last) {
    heights_ = Heights(chained_, context_);
    KILN_RETURN_IF_ERROR(SplitRows());
    const Rv rows = outer_.back();
    KILN_RETURN_IF_ERROR(ComputeChainAt(rows));
    KILN_ASSIGN_OR_RETURN(const Rv first_block, Block(chained_.first));
    KILN_RETURN_IF_ERROR(sch_.ComputeAt(first_block, rows, true));
    const auto rows_of_first = static_cast<int>(chained_.chain.rows);
    std::vector<int> axes;
    for (int i = 0; i < rows_of_first; ++i) axes.push_back(i);
    KILN_RETURN_IF_ERROR(Tile(chained_.first, axes, first));
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

  // The nest of a product of some rows.
  absl::Status Tile(BlockInfo info, const std::vector<int>& row_axes,
                    const TilingChoice& choice) {
    for (const int axis : row_axes) info.axes[axis].extent = 1;
    info.axes[row_axes.back()].extent = heights_.back();
    const auto axes = ChooseTileAxes(info);
    if (!axes) return absl::FailedPreconditionError("no register tile");
    KILN_ASSIGN_OR_RETURN(
        RegisterNest nest,
        TileInRegisters(std::move(sch_), info, *axes, choice, std::nullopt,
                        outer_.size(), context_));
    sch_ = std::move(nest.schedule);
    sums_.emplace_back(nest.block, nest.first_step);
    return absl::OkStatus();
  }

  Schedule sch_;
  const Chained& chained_;
  const RuleContext& context_;
  std::vector<int64_t> heights_;
  std::vector<Rv> blocks_;               // of the chain
  std::vector<Rv> outer_;                // loops around all of it
  std::vector<std::pair<Rv, Rv>> sums_;  // and their first reduction loops
};

}  // namespace

std::vector<Schedule> ProductChains(const Schedule& sch,
                                    const std::string& block,
                                    const RuleContext& context) {
  const auto chained = FindChained(FunctionOf(sch, context), block);
  if (!chained) return {};
  const std::vector<TilingChoice> first = ChoicesFor(chained->first, context);
  const std::vector<TilingChoice> last = ChoicesFor(chained->product, context);
  if (first.empty() || last.empty()) return {};
  std::vector<Schedule> made;
  for (size_t i = 0; i < std::max(first.size(), last.size()); ++i) {
    absl::StatusOr<Schedule> fused =
        ChainFusion(sch, *chained, context)
            .Run(first[std::min(i, first.size() - 1)],
                 last[std::min(i, last.size() - 1)]);
    if (fused.ok()) {
      made.push_back(*std::move(fused));
    } else {
      context.GaveUp("some rows of a chain of products", fused.status());
    }
  }
  if (!made.empty()) made.push_back(sch);
  return made;
}

}  // namespace kiln
