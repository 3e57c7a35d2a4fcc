#include "kiln/codegen/lower/guards/sure_loads.h"

#include <algorithm>

#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {

void SureLoads::Add(const Expr& e) {
  Visit(e, [&](const Expr& x) {
    if (x.As<LoadNode>()) loads_.push_back(x);
    if (x.kind() == ExprKind::kAnd || x.kind() == ExprKind::kOr) {
      Add(x.As<BinaryNode>()->a);
      return false;
    }
    const auto* call = x.As<CallNode>();
    if (!call || call->op != Intrinsic::kIfThenElse) return true;
    Add(call->args[0]);
    return false;
  });
}

void SureLoads::Add(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::kSeq:
    case StmtKind::kAllocate:
      ForEachChild(s, [&](const Stmt& child) { Add(child); });
      return;
    case StmtKind::kLet:
      Add(s.As<LetStmtNode>()->value);
      Add(s.As<LetStmtNode>()->body);
      return;
    case StmtKind::kStore:
      Add(s.As<StoreNode>()->value);
      for (const Expr& index : s.As<StoreNode>()->indices) Add(index);
      return;
    case StmtKind::kFor:
    case StmtKind::kIf:
    case StmtKind::kEvaluate:
    case StmtKind::kBlockRealize:
      return;
  }
}

bool SureLoads::Holds(const LoadNode& load) const {
  return std::any_of(loads_.begin(), loads_.end(), [&](const Expr& e) {
    const auto* sure = e.As<LoadNode>();
    return sure->buffer == load.buffer &&
           std::equal(sure->indices.begin(), sure->indices.end(),
                      load.indices.begin(), load.indices.end(), SameExpr);
  });
}

}  // namespace kiln::lower
