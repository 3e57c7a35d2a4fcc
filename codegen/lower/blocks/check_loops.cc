#include "kiln/codegen/lower/blocks/check_loops.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

absl::Status Check(const Stmt& s, const ForNode* parallel) {
  if (const auto* loop = s.As<ForNode>()) {
    if (loop->for_kind == ForKind::kThreadBinding) {
      return absl::UnimplementedError(absl::StrCat(
          "loop ", loop->var.name(), " is bound to ", loop->thread_tag,
          ", which a CPU does not have; make it a parallel or serial loop"));
    }
    if (loop->for_kind == ForKind::kParallel) {
      if (parallel) {
        return absl::InvalidArgumentError(
            absl::StrCat("parallel loop ", loop->var.name(),
                         " is inside of parallel loop ", parallel->var.name(),
                         "; fuse the two, or make one of them serial"));
      }
      parallel = loop;
    }
  }
  absl::Status status;
  ForEachChild(s, [&](const Stmt& child) {
    if (status.ok()) status = Check(child, parallel);
  });
  return status;
}

}  // namespace

absl::StatusOr<Function> CheckLoops(Function f) {
  KILN_RETURN_IF_ERROR(Check(f.body, nullptr));
  return f;
}

}  // namespace kiln
