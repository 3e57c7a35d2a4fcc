#include "kiln/ir/tensor/returned_value.h"

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

const CallNode* ReturnIn(const Expr& e) {
  const auto* call = e.As<CallNode>();
  const bool returns =
      call && call->op == Intrinsic::kRet && call->args.size() == 1;
  return returns ? call : nullptr;
}

}  // namespace

Expr ReturnedValue(const Function& f) {
  const auto* evaluate = f.body ? f.body.As<EvaluateNode>() : nullptr;
  const CallNode* call = evaluate ? ReturnIn(evaluate->value) : nullptr;
  return call ? call->args[0] : Expr();
}

Stmt ReturnOf(const Expr& value) {
  return MakeEvaluate(Call(value.dtype(), Intrinsic::kRet, {value}));
}

bool HasReturn(const Stmt& body) {
  bool has = false;
  VisitExprs(body, [&](const Expr& e) {
    has = has || ReturnIn(e) != nullptr;
    return !has;
  });
  return has;
}

Function WithStoredValue(const Function& f) {
  const Expr value = ReturnedValue(f);
  Function storing = f;
  const Buffer result = MakeBuffer("result", value.dtype(), {});
  storing.params.push_back({Var("result", DType::Handle()), result});
  storing.body = MakeStore(result, value, {});
  return storing;
}

}  // namespace kiln
