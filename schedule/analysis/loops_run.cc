#include "kiln/schedule/analysis/loops_run.h"

namespace kiln {

bool MayNotRun(const std::vector<const ForNode*>& loops, size_t depth) {
  const bool constant =
      std::all_of(loops.begin(), loops.end(),
                  [](const ForNode* loop) { return AsInt(loop->extent); });
  if (constant) return false;
  Analyzer analyzer;
  for (size_t i = 0; i < loops.size(); ++i) {
    const ForNode& loop = *loops[i];
    const bool varies = std::any_of(
        loops.begin(), loops.begin() + static_cast<long>(i),
        [&](const ForNode* outer) { return UsesVar(loop.extent, outer->var); });
    if (i >= depth && varies && !analyzer.CanProveLess(Int(0), loop.extent)) {
      return true;
    }
    analyzer.Bind(loop.var, {loop.min, loop.extent});  // so it runs
  }
  return false;
}

}  // namespace kiln
