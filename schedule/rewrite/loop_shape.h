// What split, fuse and reorder ask of a loop before they give it another shape.
#ifndef KILN_SCHEDULE_REWRITE_LOOP_SHAPE_H_
#define KILN_SCHEDULE_REWRITE_LOOP_SHAPE_H_

#include <string_view>

#include "absl/status/status.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// Refuses a loop that starts elsewhere than at 0, has annotations, or is more
// than a serial loop: that would be lost.
absl::Status CheckPlainLoop(const ForNode& loop, std::string_view primitive);

// The same, but the loop may be of any kind that `like` has too.
absl::Status CheckPlainLoopLike(const ForNode& loop, const ForNode& like,
                                std::string_view primitive);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_LOOP_SHAPE_H_
