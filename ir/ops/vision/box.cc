#include "kiln/ir/ops/vision/vision.h"

namespace kiln {
namespace {

constexpr OpRow kRows[] = {
    {"vision.all_class_non_max_suppression", InferAllClassSuppression},
    {"vision.get_valid_counts", InferValidCounts},
    {"vision.multibox_transform_loc", InferMultibox},
    {"vision.non_max_suppression", InferSuppression},
};

}  // namespace

absl::Span<const OpRow> BoxOps() { return kRows; }

}  // namespace kiln
