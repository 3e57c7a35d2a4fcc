#include "kiln/codegen/lower/guards/fold_known_conditions.h"

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

Expr ResolveExpr(const Expr& e, Replace replace) {
  if (Expr replaced = replace(e)) return replaced;
  return MapOperands(e, [&](const Expr& x) { return ResolveExpr(x, replace); });
}

}  // namespace

Stmt FoldKnownConditions(const Stmt& s, Replace replace) {
  IndexNormalizer normalizer;
  Stmt own = MapExprs(s, [&](const Expr& e) {
    Expr resolved = ResolveExpr(e, replace);
    return resolved == e ? e : normalizer.Run(resolved);
  });
  if (const auto* branch = own.As<IfNode>()) {
    if (const int64_t* known = AsInt(branch->condition)) {
      const Stmt& taken = *known ? branch->then_case : branch->else_case;
      return taken ? FoldKnownConditions(taken, replace) : MakeEvaluate(Int(0));
    }
  }
  return MapChildren(own, [&](const Stmt& child) {
    return FoldKnownConditions(child, replace);
  });
}

bool DoesNothing(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) return DoesNothing(loop->body);
  const auto* evaluate = s.As<EvaluateNode>();
  return evaluate && AsInt(evaluate->value);
}

}  // namespace kiln::lower
