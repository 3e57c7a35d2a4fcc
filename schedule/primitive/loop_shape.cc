#include "kiln/schedule/primitive/loop_shape.h"

#include <string>

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

absl::Status CheckPlainLoop(const ForNode& loop, std::string_view primitive) {
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
  if (loop.for_kind != ForKind::kSerial) {
    return Refusal(primitive,
                   Describe(loop) + " is " +
                       std::string(KindName(loop.for_kind)) +
                       ", which would be lost",
                   "change the kind of the loop afterwards");
  }
  return absl::OkStatus();
}

}  // namespace kiln
