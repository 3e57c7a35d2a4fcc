#include "kiln/ir/te/flops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

double OfExpr(const Expr& e);

double OfOperands(const Expr& e) {
  double total = 0;
  ForEachOperand(e, [&](const Expr& operand) { total += OfExpr(operand); });
  return total;
}

double OfCall(const CallNode& call) {
  const double lanes = call.dtype.lanes();
  if (call.op == Intrinsic::kIfThenElse) {
    return std::max(OfExpr(call.args[1]), OfExpr(call.args[2]));
  }
  if (call.op == Intrinsic::kFma) return 2 * lanes + OfOperands(Expr(&call));
  const bool counts = GetIntrinsicInfo(call.op).purity == Purity::kPure &&
                      !call.args.empty() && !call.dtype.is_bool() &&
                      call.op != Intrinsic::kLikely &&
                      call.op != Intrinsic::kReinterpret;
  return (counts ? lanes : 0) + OfOperands(Expr(&call));
}

double OfExpr(const Expr& e) {
  if (e.dtype().is_bool()) return 0;
  switch (e.kind()) {
#define KILN_CASE(kind, ...) case ExprKind::k##kind:
    KILN_BINARY_KINDS(KILN_CASE)
#undef KILN_CASE
    return e.dtype().lanes() + OfOperands(e);
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
    case ExprKind::kVar:
    case ExprKind::kNot:
    case ExprKind::kLoad:
    case ExprKind::kRamp:
      return 0;
    case ExprKind::kSelect: {
      const auto* select = e.As<SelectNode>();
      return std::max(OfExpr(select->true_value), OfExpr(select->false_value));
    }
    case ExprKind::kCast:
    case ExprKind::kBroadcast:
    case ExprKind::kLet:
      return OfOperands(e);
    case ExprKind::kCall:
      return OfCall(*e.As<CallNode>());
  }
  return 0;
}

absl::StatusOr<double> OfStmt(const Stmt& s);

absl::StatusOr<double> OfLoop(const ForNode& loop) {
  const int64_t* extent = AsInt(loop.extent);
  if (!extent) {
    return absl::InvalidArgumentError(
        absl::StrCat("the extent of loop ", loop.var.name(),
                     " is not constant, so its work cannot be counted; give "
                     "the function constant shapes"));
  }
  absl::StatusOr<double> body = OfStmt(loop.body);
  if (body.ok()) *body *= static_cast<double>(std::max<int64_t>(*extent, 0));
  return body;
}

absl::StatusOr<double> OfIf(const IfNode& node) {
  absl::StatusOr<double> yes = OfStmt(node.then_case);
  if (!yes.ok() || !node.else_case) return yes;
  absl::StatusOr<double> no = OfStmt(node.else_case);
  return no.ok() ? std::max(*yes, *no) : no;
}

absl::StatusOr<double> OfStmt(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) return OfLoop(*loop);
  if (const auto* node = s.As<IfNode>()) return OfIf(*node);
  double total = 0;
  if (const auto* store = s.As<StoreNode>()) total = OfExpr(store->value);
  const auto* let = s.As<LetStmtNode>();
  if (let && let->value.dtype().is_float()) total = OfExpr(let->value);
  absl::Status status;
  ForEachChild(s, [&](const Stmt& child) {
    absl::StatusOr<double> part = OfStmt(child);
    if (part.ok()) {
      total += *part;
    } else {
      status = part.status();
    }
  });
  if (!status.ok()) return status;
  return total;
}

}  // namespace

absl::StatusOr<double> EstimateFlops(const Function& f) {
  return OfStmt(f.body);
}

}  // namespace kiln
