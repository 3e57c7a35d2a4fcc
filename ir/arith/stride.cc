#include "kiln/ir/arith/stride.h"

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {

std::optional<int64_t> StrideOf(const Expr& e, const Var& var,
                                Analyzer* analyzer) {
  if (e == var) return 1;
  if (!UsesVar(e, var)) return 0;
  const Expr next = Substitute(e, var, Add(var, Int(1)));
  const Expr step = analyzer->Simplify(Sub(next, e));
  const int64_t* value = AsInt(step);
  return value ? std::optional(*value) : std::nullopt;
}

}  // namespace kiln
