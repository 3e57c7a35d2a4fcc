// Of n queries and n keys, with 12 rows at a time and panels of 24 columns:
//
//   K_pad[n rounded up to 24, :] = K, or 0         in panels
//   parallel i0 in (n + 11) // 12:
//     Q_pad[12 rows, :] = Q, or 0
//     S_pad[12 rows, :] = Q_pad * K_pad            in whole register tiles
//     i1: highest, E, total of S_pad               where i0*12 + i1 < n
//         P_pad[i1, :] = E / total, or 0
//     Y_pad[12 rows, :] = P_pad * V                in whole register tiles
//     Y[rows, :] = Y_pad[rows, :]                  where they are below n
//
// The first product is the anchor, below whose rows all else moves: moved
// below its consumers it would compute the columns alone that these read.
#include "kiln/search/space/rule/padded_chain.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/row_chain.h"
#include "kiln/search/space/rule/vector_reduction.h"

namespace kiln {
namespace {

// What pad_einsum makes of a tensor: a buffer, and the block that copies.
std::string PaddedName(const Buffer& buffer) {
  return absl::StrCat(buffer->name, "_pad");
}

class PaddedChain {
 public:
  PaddedChain(Schedule sch, const ChainedProducts& products, size_t way,
              const RuleContext& context)
      : sch_(std::move(sch)),
        products_(products),
        way_(way),
        context_(context) {}

  absl::StatusOr<Schedule> Run() {
    KILN_RETURN_IF_ERROR(Pad());
    KILN_RETURN_IF_ERROR(DescribePadded());
    KILN_RETURN_IF_ERROR(SplitRows());
    KILN_RETURN_IF_ERROR(MoveChain());
    KILN_RETURN_IF_ERROR(MoveProduct());
    KILN_RETURN_IF_ERROR(
        Tile(first_, products_.first, products_.FirstRowAxes()));
    InlineColumns();
    KILN_RETURN_IF_ERROR(Tile(last_, products_.product, products_.row_axes));
    KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(outer_));
    KILN_RETURN_IF_ERROR(Parallel(&sch_, fused, context_));
    KILN_RETURN_IF_ERROR(VectorizeChain());
    for (const auto& [block, first_step] : sums_) {
      KILN_RETURN_IF_ERROR(sch_.DecomposeReduction(block, first_step).status());
    }
    return sch_;
  }

 private:
  absl::StatusOr<Rv> Block(const std::string& name) {
    return sch_.GetBlock(name, FunctionOf(sch_, context_).name);
  }
  size_t CountRows() const { return products_.chain.rows; }

  // Both products, to whole tiles. The names are those before.
  absl::Status Pad() {
    const Function& f = FunctionOf(sch_, context_);
    const BlockNode& first = NodeOf(f, products_.first.name);
    const BlockNode& chain = NodeOf(f, products_.chain.blocks[0].name);
    const std::string sums = PaddedName(first.writes[0].buffer);
    made_name_ = PaddedName(chain.writes[0].buffer);
    for (const ReadInfo& read : products_.first.reads) {
      const bool has_rows = read.Uses(static_cast<int>(CountRows()) - 1);
      (has_rows ? read_name_ : columns_name_) =
          PaddedName(first.reads[read.index].buffer);
    }
    KILN_RETURN_IF_ERROR(PadAxes(
        products_.product, {{products_.row_axes.back(), kLeastRowsAtATime}}));
    KILN_ASSIGN_OR_RETURN(const TilingChoice choice,
                          FewRowChoice(products_.first, way_, context_));
    if (choice.vectors == 0) {
      return absl::FailedPreconditionError("no panels: tiles are of any width");
    }
    const auto column = static_cast<int>(CountRows());
    KILN_RETURN_IF_ERROR(
        PadAxes(products_.first,
                {{column - 1, kLeastRowsAtATime},
                 {column, context_.registers.Floats() * choice.vectors}}));
    KILN_ASSIGN_OR_RETURN(const Rv copy, Block(sums));
    return sch_.ComputeInline(copy);
  }

  absl::Status PadAxes(const BlockInfo& info,
                       const std::vector<std::pair<int, int64_t>>& axes) {
    std::vector<int64_t> padding(info.axes.size(), 1);
    for (const auto& [axis, unit] : axes) padding[axis] = unit;
    KILN_ASSIGN_OR_RETURN(const Rv block, Block(info.name));
    return sch_.PadEinsum(block, padding);
  }

  absl::Status DescribePadded() {
    const Function& f = FunctionOf(sch_, context_);
    const auto first = DescribeBlock(f, products_.first.name);
    const auto last = DescribeBlock(f, products_.product.name);
    const auto made = DescribeBlock(f, made_name_);
    if (!first || !last || !made) {
      return absl::FailedPreconditionError("there is nothing to pad");
    }
    first_ = *first;
    last_ = *last;
    made_ = *made;
    return absl::OkStatus();
  }

  // What is padded for panels alone is padded there, unless it is already.
  void InlineColumns() {
    const absl::StatusOr<Rv> copy = Block(columns_name_);
    if (!copy.ok()) return;
    context_.WentOn("padding done where panels are made",
                    sch_.ComputeInline(*copy));
  }

  absl::Status SplitRows() {
    KILN_ASSIGN_OR_RETURN(const Rv first, Block(first_.name));
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> inner, sch_.GetLoops(first));
    for (size_t i = 0; i < CountRows(); ++i) {
      const bool is_last = i + 1 == CountRows();
      KILN_ASSIGN_OR_RETURN(
          const std::vector<Rv> parts,
          sch_.Split(inner[i], {Arg(), is_last ? kLeastRowsAtATime : 1}));
      outer_.push_back(parts[0]);
      inner[i] = parts[1];
    }
    std::vector<Rv> all = outer_;
    all.insert(all.end(), inner.begin(), inner.end());
    return sch_.Reorder(all);
  }

  // Below the rows of the first product, all of a row before the next.
  absl::Status MoveChain() {
    std::vector<Rv> blocks;  // producers last
    for (const BlockInfo& info : products_.chain.blocks) {
      KILN_ASSIGN_OR_RETURN(const Rv block, Block(info.name));
      blocks.push_back(block);
    }
    KILN_RETURN_IF_ERROR(sch_.ComputeInline(blocks[0]));
    KILN_ASSIGN_OR_RETURN(blocks[0], Block(made_name_));
    for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) {
      KILN_RETURN_IF_ERROR(sch_.ReverseComputeAt(*it, outer_.back(), true));
    }
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops,
                          sch_.GetLoops(blocks[0]));
    const Rv row = loops[outer_.size() + CountRows() - 1];
    for (size_t i = 1; i < blocks.size(); ++i) {
      KILN_RETURN_IF_ERROR(sch_.ComputeAt(blocks[i], row, true));
    }
    blocks_ = std::move(blocks);
    return absl::OkStatus();
  }

  absl::Status MoveProduct() {
    KILN_ASSIGN_OR_RETURN(const Rv product, Block(last_.name));
    KILN_RETURN_IF_ERROR(sch_.ReverseComputeAt(product, outer_.back(), true));
    KILN_ASSIGN_OR_RETURN(const Rv read, Block(read_name_));
    return sch_.ComputeAt(read, outer_.back(), true);
  }

  // `info`: with padding.
  absl::Status Tile(const BlockInfo& info, const BlockInfo& unpadded,
                    const std::vector<int>& row_axes) {
    KILN_ASSIGN_OR_RETURN(TilingChoice choice,
                          FewRowChoice(unpadded, way_, context_));
    choice.unblocked = info.name == first_.name;
    KILN_ASSIGN_OR_RETURN(
        RegisterNest nest,
        TileFewRows(std::move(sch_), info, row_axes, kLeastRowsAtATime, choice,
                    outer_.size(), context_));
    sch_ = std::move(nest.schedule);
    sums_.emplace_back(nest.block, nest.first_step);
    return absl::OkStatus();
  }

  absl::StatusOr<Rv> SampleWidth() {
    const int64_t lanes = context_.registers.Floats();
    if (2 * lanes > WidestVector(made_.axes.back().extent, context_)) {
      return sch_.SampleCategorical({lanes}, {1.0});
    }
    return sch_.SampleCategorical({lanes, 2 * lanes}, {0.5, 0.5});
  }

  // The outer loops are one now.
  absl::Status VectorizeChain() {
    KILN_ASSIGN_OR_RETURN(const Rv width, SampleWidth());
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const BlockInfo& info = i == 0 ? made_ : products_.chain.blocks[i];
      KILN_RETURN_IF_ERROR(VectorizeRow(&sch_, blocks_[i], info, CountRows(),
                                        /*around=*/CountRows() + 1, width,
                                        context_));
    }
    return absl::OkStatus();
  }

  Schedule sch_;
  const ChainedProducts& products_;
  const size_t way_;
  const RuleContext& context_;
  std::string read_name_, made_name_;    // of padded rows: Q_pad, P_pad
  std::string columns_name_;             // K_pad
  BlockInfo first_, last_, made_;        // with padding: S, Y, P_pad
  std::vector<Rv> blocks_;               // of the chain, P_pad for the first
  std::vector<Rv> outer_;                // loops around all of it
  std::vector<std::pair<Rv, Rv>> sums_;  // and their first reduction loops
};

}  // namespace

absl::StatusOr<Schedule> FusePaddedChain(const Schedule& sch,
                                         const ChainedProducts& products,
                                         size_t way,
                                         const RuleContext& context) {
  return PaddedChain(sch, products, way, context).Run();
}

}  // namespace kiln
