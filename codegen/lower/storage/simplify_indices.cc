#include "kiln/codegen/lower/storage/simplify_indices.h"

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

class Simplifier {
 public:
  Stmt Run(const Stmt& s);

 private:
  Expr Map(const Expr& e);
  Expr MapChoice(const Expr& e);
  Stmt RunIf(const IfNode& node);
  Stmt RunFor(const ForNode& loop);

  Analyzer analyzer_;
};

// if_then_else, whose branches may use its condition.
Expr Simplifier::MapChoice(const Expr& e) {
  const auto* call = e.As<CallNode>();
  const Expr condition = analyzer_.Simplify(Map(call->args[0]));
  if (const int64_t* known = AsInt(condition)) {
    return Map(call->args[*known ? 1 : 2]);
  }
  Expr yes;
  {
    Analyzer::Assumption assumed = analyzer_.Assume(condition);
    yes = Map(call->args[1]);
  }
  Expr no = Map(call->args[2]);
  if (condition == call->args[0] && yes == call->args[1] &&
      no == call->args[2]) {
    return e;
  }
  return Call(call->dtype, call->op, {condition, yes, no});
}

// Simplifies the integer parts of `e`.
Expr Simplifier::Map(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call && call->op == Intrinsic::kIfThenElse) return MapChoice(e);
  Expr below = MapOperands(e, [&](const Expr& x) {
    return x.dtype() == DType::Index() ? analyzer_.Simplify(Map(x)) : Map(x);
  });
  return below;
}

Stmt Simplifier::RunIf(const IfNode& node) {
  const Expr condition = analyzer_.Simplify(Map(node.condition));
  if (const int64_t* known = AsInt(condition)) {
    if (*known) return Run(node.then_case);
    return node.else_case ? Run(node.else_case) : MakeEvaluate(Int(0));
  }
  Stmt yes;
  {
    Analyzer::Assumption assumed = analyzer_.Assume(condition);
    yes = Run(node.then_case);
  }
  return MakeIf(condition, yes, node.else_case ? Run(node.else_case) : nullptr);
}

Stmt Simplifier::RunFor(const ForNode& loop) {
  ForFields fields = loop.fields();
  fields.min = analyzer_.Simplify(Map(fields.min));
  fields.extent = analyzer_.Simplify(Map(fields.extent));
  analyzer_.Bind(fields.var, Range{fields.min, fields.extent});
  fields.body = Run(fields.body);
  analyzer_.Unbind(fields.var);  // that the loop ran holds inside of it only
  return MakeFor(std::move(fields));
}

Stmt Simplifier::Run(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) return RunFor(*loop);
  if (const auto* node = s.As<IfNode>()) return RunIf(*node);
  Stmt own = MapExprs(s, [&](const Expr& e) {
    return e.dtype() == DType::Index() ? analyzer_.Simplify(Map(e)) : Map(e);
  });
  return MapChildren(own, [&](const Stmt& child) { return Run(child); });
}

}  // namespace

absl::StatusOr<Function> SimplifyIndices(Function f) {
  f.body = Simplifier().Run(f.body);
  return f;
}

}  // namespace kiln
