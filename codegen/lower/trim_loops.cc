#include "kiln/codegen/lower/trim_loops.h"

#include "kiln/codegen/lower/loop_limits.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// Whether the loop adds to the same elements again and again, in loops of its
// own.
bool RunsOverTerms(const ForNode& loop) {
  bool stays = true, has_loops = false;
  Visit(loop.body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      for (const Expr& index : store->indices) {
        stays = stays && !UsesVar(index, loop.var);
      }
    }
    const auto* inner = s.As<ForNode>();
    has_loops = has_loops || (inner && inner->for_kind == ForKind::kSerial);
    return stays;
  });
  return stays && has_loops;
}

// Null when nothing limits the loop.
Stmt Trimmed(const ForNode& loop) {
  if (loop.for_kind != ForKind::kSerial || !RunsOverTerms(loop)) return nullptr;
  return lower::NarrowLoop(loop, [](const lower::Limit&) { return true; });
}

Stmt Trim(const Stmt& s) {
  const Stmt below =
      MapChildren(s, [](const Stmt& child) { return Trim(child); });
  const auto* loop = below.As<ForNode>();
  const Stmt trimmed = loop ? Trimmed(*loop) : nullptr;
  return trimmed ? trimmed : below;
}

}  // namespace

absl::StatusOr<Function> TrimLoops(Function f) {
  f.body = Trim(f.body);
  return f;
}

}  // namespace kiln
