#include <algorithm>

#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

std::vector<const OpRow*> All() {
  std::vector<const OpRow*> all;
  for (absl::Span<const OpRow> family :
       {ElementwiseOps(),  ActivationOps(), ChoiceOps(),  ReductionOps(),
        SearchOps(),       ScanOps(),       ShapeOps(),   ReshapeOps(),
        StretchOps(),      RepeatOps(),     JoinOps(),    SliceOps(),
        DynamicSliceOps(), LayoutOps(),     GatherOps(),  ScatterOps(),
        CreationOps(),     DiagonalOps(),   OrderOps(),   DistinctOps(),
        BinOps(),          ProductOps(),    ProgramOps(), ConvolutionOps(),
        PoolingOps(),      NetworkOps(),    ImageOps(),   VisionOps()}) {
    for (const OpRow& row : family) all.push_back(&row);
  }
  std::sort(all.begin(), all.end(),
            [](const OpRow* a, const OpRow* b) { return a->name < b->name; });
  return all;
}

}  // namespace

const std::vector<const OpRow*>& Ops() {
  static const auto& all = *new std::vector<const OpRow*>(All());
  return all;
}

const OpRow* FindOp(std::string_view name) {
  const std::vector<const OpRow*>& all = Ops();
  const auto at = std::lower_bound(
      all.begin(), all.end(), name,
      [](const OpRow* row, std::string_view key) { return row->name < key; });
  return at != all.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace kiln
