#include "kiln/schedule/analysis/loops_run.h"

namespace kiln {

bool MayNotRun(const std::vector<const ForNode*>& loops,
               const std::vector<const ForNode*>& inner) {
  const auto is_known = [](const ForNode* loop) { return AsInt(loop->extent); };
  const auto is_empty = [](const ForNode* loop) {
    const int64_t* extent = AsInt(loop->extent);
    return extent && *extent <= 0;
  };
  if (std::any_of(inner.begin(), inner.end(), is_empty)) return true;
  if (std::all_of(inner.begin(), inner.end(), is_known)) return false;
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
  const auto* binary = extent.As<BinaryNode>();
  const int64_t* n = binary ? AsInt(binary->b) : nullptr;
  if (!n || *n <= 0) return nullptr;
  if (extent.kind() == ExprKind::kMul) return DividendIsEnough(binary->a);
  const bool is_quotient = extent.kind() == ExprKind::kFloorDiv;
  return is_quotient ? LE(binary->b, binary->a) : nullptr;
}

}  // namespace kiln
