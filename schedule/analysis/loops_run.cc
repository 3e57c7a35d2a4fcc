#include "kiln/schedule/analysis/loops_run.h"

namespace kiln {

bool MayNotRun(const std::vector<const ForNode*>& loops,
               const std::vector<const ForNode*>& inner) {
  if (std::any_of(inner.begin(), inner.end(),
                  [](const ForNode* loop) { return IsZero(loop->extent); })) {
    return true;
  }
  const bool constant =
      std::all_of(inner.begin(), inner.end(),
                  [](const ForNode* loop) { return AsInt(loop->extent); });
  if (constant) return false;
  Analyzer analyzer;
  for (const ForNode* loop : loops) {
    const bool varies =
        std::count(inner.begin(), inner.end(), loop) > 0 &&
        std::any_of(loops.begin(), loops.end(), [&](const ForNode* outer) {
          return UsesVar(loop->extent, outer->var);
        });
    if (varies && !analyzer.CanProveLess(Int(0), loop->extent)) return true;
    analyzer.Bind(loop->var, {loop->min, loop->extent});  // so it runs
  }
  return false;
}

Expr LoopsRun::DividendIsEnough(const Expr& extent) {
  if (extent.kind() != ExprKind::kFloorDiv) return nullptr;
  const auto* quotient = extent.As<BinaryNode>();
  const int64_t* n = AsInt(quotient->b);
  return n && *n > 0 ? LE(quotient->b, quotient->a) : nullptr;
}

}  // namespace kiln
