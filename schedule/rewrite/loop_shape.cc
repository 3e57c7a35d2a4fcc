#include "kiln/schedule/rewrite/loop_shape.h"

#include <string>

#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

std::string_view KindName(ForKind kind) {
  switch (kind) {
    case ForKind::kSerial:
      return "serial";
    case ForKind::kParallel:
      return "parallel";
    case ForKind::kVectorized:
      return "vectorized";
    case ForKind::kUnrolled:
      return "unrolled";
    case ForKind::kThreadBinding:
      return "bound to a thread axis";
  }
  return "";
}

}  // namespace

absl::Status CheckPlainLoopLike(const ForNode& loop, const ForNode& like,
                                std::string_view primitive) {
  if (!IsZero(loop.min)) {
    return Refusal(primitive, Describe(loop) + " does not start at 0");
  }
  if (!loop.annotations.empty()) {
    return Refusal(primitive,
                   Describe(loop) + " has annotation `" +
                       loop.annotations.begin()->first +
                       "`, which would be lost",
                   "annotate afterwards, or unannotate first");
  }
  const bool bound = loop.for_kind == ForKind::kThreadBinding;
  if (loop.for_kind != like.for_kind || bound) {
    const ForNode& special = loop.for_kind == ForKind::kSerial ? like : loop;
    return Refusal(primitive,
                   Describe(special) + " is " +
                       std::string(KindName(special.for_kind)) +
                       ", which would be lost",
                   "change the kind of the loop afterwards");
  }
  return absl::OkStatus();
}

absl::Status CheckPlainLoop(const ForNode& loop, std::string_view primitive) {
  KILN_RETURN_IF_ERROR(CheckPlainLoopLike(loop, loop, primitive));
  if (loop.for_kind == ForKind::kSerial) return absl::OkStatus();
  return Refusal(primitive,
                 Describe(loop) + " is " +
                     std::string(KindName(loop.for_kind)) +
                     ", which would be lost",
                 "change the kind of the loop afterwards");
}

}  // namespace kiln
