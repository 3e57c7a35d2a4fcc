// What follows for symbolic extents where a statement runs: the loops around it
// run at least once.
#ifndef KILN_SCHEDULE_ANALYSIS_LOOPS_RUN_H_
#define KILN_SCHEDULE_ANALYSIS_LOOPS_RUN_H_

#include <algorithm>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// Whether one of `inner`, which are among `loops` (outermost first), may have
// no iteration in some iterations of the loops around it.
bool MayNotRun(const std::vector<const ForNode*>& loops,
               const std::vector<const ForNode*>& inner);

// While it lives, `analyzer` knows that the extents of the loops are positive:
// those that are no constants and depend on none of the loops.
class LoopsRun {
 public:
  LoopsRun(const std::vector<const ForNode*>& loops, Analyzer* analyzer) {
    for (const ForNode* loop : loops) {
      if (AsInt(loop->extent)) continue;
      const bool varies =
          std::any_of(loops.begin(), loops.end(), [&](const ForNode* other) {
            return UsesVar(loop->extent, other->var);
          });
      if (varies) continue;
      held_.push_back(analyzer->Assume(LT(Int(0), loop->extent)));
      if (const Expr more = DividendIsEnough(loop->extent)) {
        held_.push_back(analyzer->Assume(more));
      }
    }
  }
  ~LoopsRun() {
    while (!held_.empty()) held_.pop_back();
  }
  LoopsRun(const LoopsRun&) = delete;
  LoopsRun& operator=(const LoopsRun&) = delete;

 private:
  // n <= x, of an extent x // n or x // n * m: as much as that it is positive.
  // Null for others.
  static Expr DividendIsEnough(const Expr& extent);

  std::vector<Analyzer::Assumption> held_;
};

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_LOOPS_RUN_H_
