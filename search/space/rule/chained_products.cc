// A product is the second of two where it reads rows by a dimension each and
// sums up their elements, the block that makes the rows belongs to a chain of
// blocks that work row by row (row_chain.h), one of these reduces rows, and one
// reads those of another product. Blocks that read anything in between are part
// of the chain, or there is none:
//
//   S (first) → M, E, D, P (chain) → Y (product)
#include "kiln/search/space/rule/chained_products.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"

namespace kiln {
namespace {

constexpr int64_t kMostRows = 96;
// Rows wait before and after the chain, and leave half of the cache to the
// operands.
constexpr int64_t kPartOfCache = 4;

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

}  // namespace

std::vector<int> ChainedProducts::FirstRowAxes() const {
  std::vector<int> axes(chain.rows);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::optional<ChainedProducts> FindChainedProducts(const Function& f,
                                                   const std::string& name) {
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
        last->axes[dims - 1].extent < kLeastRowsAtATime) {
      continue;
    }
    const auto chain = RowChainTo(f, *last, dims);
    if (!chain || !chain->HasReduction()) continue;
    const auto first = FirstProduct(f, *chain);
    if (!first) continue;
    const int64_t bytes = NodeOf(f, last->name).writes[0].buffer->dtype.bytes();
    return ChainedProducts{*product, *rows, *chain, *first, bytes};
  }
  return std::nullopt;
}

std::vector<int64_t> RowsAtATime(const ChainedProducts& products,
                                 const RuleContext& context) {
  const int64_t bytes = products.chain.RowLength() * products.element_bytes;
  std::vector<int64_t> heights = {kLeastRowsAtATime};
  while (heights.back() < kMostRows &&
         heights.back() * 2 * bytes <= context.near_bytes / kPartOfCache) {
    heights.push_back(heights.back() * 2);
  }
  if (heights.size() > 2) heights.erase(heights.begin(), heights.end() - 2);
  return heights;
}

std::vector<TilingChoice> FewRowChoices(const BlockInfo& info,
                                        const RuleContext& context) {
  const auto axes = ChooseTileAxes(info);
  if (!axes) return {};
  std::vector<TilingChoice> choices =
      TilingChoices(info, *axes, context.registers, context.near_bytes);
  std::erase_if(choices, [](const TilingChoice& choice) {
    return choice.streamed || choice.near;
  });
  for (TilingChoice& choice : choices) choice.columns_first = true;
  const auto alike = [](const TilingChoice& a, const TilingChoice& b) {
    return a.packed.has_value() == b.packed.has_value() &&
           a.vectors == b.vectors;
  };
  choices.erase(std::unique(choices.begin(), choices.end(), alike),
                choices.end());
  return choices;
}

absl::StatusOr<TilingChoice> FewRowChoice(const BlockInfo& info, size_t way,
                                          const RuleContext& context) {
  const std::vector<TilingChoice> choices = FewRowChoices(info, context);
  if (choices.empty()) return absl::FailedPreconditionError("no register tile");
  return choices[std::min(way, choices.size() - 1)];
}

absl::StatusOr<RegisterNest> TileFewRows(Schedule sch, BlockInfo info,
                                         const std::vector<int>& row_axes,
                                         int64_t height,
                                         const TilingChoice& choice,
                                         size_t around,
                                         const RuleContext& context) {
  for (const int axis : row_axes) info.axes[axis].extent = 1;
  info.axes[row_axes.back()].extent = height;
  const auto axes = ChooseTileAxes(info);
  if (!axes) return absl::FailedPreconditionError("no register tile");
  return TileInRegisters(std::move(sch), info, *axes, choice, std::nullopt,
                         around, context);
}

}  // namespace kiln
