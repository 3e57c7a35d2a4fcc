// A 1x1 convolution treats all pixels of an image alike: neither the rows nor
// the columns of the image matter, but their product does, of which a register
// tile leaves fewer over.
//
//   C[h, w, c] += A[h, w, k] * W[k, c]      7 x 7: tiles of 4 in each row of 7
//     ->
//   T[v, c] += A[v // 7, v % 7, k] * W[k, c]     49: 12 tiles of 4, and 1
//   C[v // 7, v % 7, c] = T[v, c]
//
// Neighbouring axes become one where all that the block reads goes on from one
// row of the inner axis to the next as inside of a row, or stands still, and
// its only consumer is elementwise and adds up nothing else, or transposes the
// results (transpose_results.cc), which keeps its own axes.
//
// Columns too few for a vector become one axis with those before them first of
// all, so that no other rule pads them, or transposes results or operands to
// have more.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/merged_axes.h"
#include "kiln/search/space/rule/reshaped_sum.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// Columns of which vectors are made as they are.
constexpr int64_t kManyColumns = 16;

// Axes over which an operand is shared: of others, those of a batch, tiles are
// made of the inner ones.
bool SharesOperand(const BlockInfo& info, size_t axis) {
  return absl::c_any_of(info.reads, [&](const ReadInfo& read) {
    return !read.Uses(static_cast<int>(axis));
  });
}

MergedAxes FindMerged(const BlockInfo& info) {
  MergedAxes merged(info.axes.size(), false);
  for (size_t i = 1; i < merged.size(); ++i) {
    merged[i] = info.GoesOn(i - 1, i) && SharesOperand(info, i);
  }
  return merged;
}

// The few columns and what they go on from.
MergedAxes FindMergedColumns(const BlockInfo& info) {
  MergedAxes merged(info.axes.size(), false);
  const int column = info.ContiguousAxis();
  if (column < 0 || info.axes[column].extent >= kManyColumns) return merged;
  for (int i = column; i > 0 && info.GoesOn(i - 1, i); --i) merged[i] = true;
  return merged;
}

class Merger {
 public:
  Merger(Schedule sch, const BlockInfo& info, const RuleContext& context)
      : sch_(std::move(sch)), info_(info), context_(context) {}

  // nullopt where no axes become one.
  absl::StatusOr<std::optional<Schedule>> Run(MergedAxes merged) {
    if (!absl::c_linear_search(merged, true)) return std::nullopt;
    KILN_ASSIGN_OR_RETURN(const Rv block, sch_.GetBlock(info_.name, F().name));
    if (!WritesAllInOrder(NodeOf(block), info_)) return std::nullopt;
    KILN_ASSIGN_OR_RETURN(const Rv consumer,
                          ConsumerOfSum(&sch_, block, info_, context_));
    const auto other = DescribeBlock(F(), NodeOf(consumer).name);
    if (!other) return std::nullopt;
    const Buffer sums = NodeOf(block).writes[0].buffer;
    if (ReadsPermuted(NodeOf(consumer), *other, sums)) {
      return MergeSums(block, merged);
    }
    if (!Suits(NodeOf(consumer), *other, sums, &merged)) return std::nullopt;
    const std::vector<int64_t> shape = ExtentsOf(*other);
    KILN_RETURN_IF_ERROR(ReshapeSum(&sch_, block, consumer,
                                    MergeAxes(ExtentsOf(info_), merged),
                                    [&] { return MergeAxes(shape, merged); }));
    return std::move(sch_);
  }

 private:
  const Function& F() const { return FunctionOf(sch_, context_); }
  const BlockNode& NodeOf(Rv block) const {
    return *FindBlock(F(), sch_.Value(block))->realize()->block;
  }

  // Takes out of `merged` what the consumer reads otherwise; false where it
  // suits no axes.
  static bool Suits(const BlockNode& block, const BlockInfo& info,
                    const Buffer& sums, MergedAxes* merged) {
    if (!CopiesInOrder(block, info, sums)) return false;
    for (size_t i = 1; i < merged->size(); ++i) {
      if ((*merged)[i]) {
        (*merged)[i] = i < info.axes.size() && info.GoesOn(i - 1, i);
      }
    }
    return absl::c_linear_search(*merged, true);
  }

  absl::StatusOr<std::optional<Schedule>> MergeSums(Rv block,
                                                    const MergedAxes& merged) {
    std::vector<int64_t> shape = ExtentsOf(info_);
    KILN_RETURN_IF_ERROR(
        sch_.TransformBlockLayout(block, MergeAxes(shape, merged)));
    shape.resize(info_.write_dims);
    KILN_RETURN_IF_ERROR(sch_.TransformLayout(block, Schedule::Side::kWrite, 0,
                                              MergeAxes(shape, merged)));
    return std::move(sch_);
  }

  Schedule sch_;
  const BlockInfo& info_;
  const RuleContext& context_;
};

std::vector<Schedule> Merge(const Schedule& sch, const std::string& block,
                            const RuleContext& context,
                            MergedAxes (*find)(const BlockInfo&)) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || !MayReshape(*info) || info->has_condition) return {};
  absl::StatusOr<std::optional<Schedule>> made =
      Merger(sch, *info, context).Run(find(*info));
  if (made.ok() && *made) return {**std::move(made)};
  if (!made.ok()) context.GaveUp("", made.status());
  return {};
}

}  // namespace

std::vector<Schedule> MergeColumns(const Schedule& sch,
                                   const std::string& block,
                                   const RuleContext& context) {
  return Merge(sch, block, context, FindMergedColumns);
}

std::vector<Schedule> MergeAxes(const Schedule& sch, const std::string& block,
                                const RuleContext& context) {
  return Merge(sch, block, context, FindMerged);
}

}  // namespace kiln
