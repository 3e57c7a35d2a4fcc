#include "kiln/ir/transform/graph/gradient/adjoints.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {

using GraphVar = graph::Var;
using GraphExpr = graph::Expr;

namespace {

bool NeedsName(const GraphExpr& e) {
  return e.As<graph::CallNode>() || e.As<graph::TupleItemNode>();
}

}  // namespace

GraphExpr AdjointBlock::WithLeaves(const GraphExpr& e) {
  return graph::MapOperands(
      e, [&](const GraphExpr& operand) { return Leaf(operand); });
}

GraphExpr AdjointBlock::Leaf(const GraphExpr& e) {
  if (!NeedsName(e)) return WithLeaves(e);
  const auto found = known_.find(e.get());
  if (found != known_.end()) return found->second.leaf;
  const GraphVar var("lv", {}, true);
  Bind(var, e);
  return var;
}

void AdjointBlock::Bind(const GraphVar& var, const GraphExpr& e) {
  const auto found = known_.find(e.get());
  GraphExpr value = found == known_.end() ? WithLeaves(e) : found->second.leaf;
  bindings_.push_back({var, std::move(value)});
  if (NeedsName(e)) known_.emplace(e.get(), Known{e, var});
}

GraphExpr Adjoints::Of(const graph::VarNode* var) const {
  const auto found = adjoints_.find(var);
  return found == adjoints_.end() ? GraphExpr() : found->second;
}

namespace {

// A field of what is a tuple.
GraphExpr FieldOf(const GraphExpr& e, size_t index) {
  const auto* tuple = e.As<graph::TupleNode>();
  if (tuple && index < tuple->fields.size()) return tuple->fields[index];
  return graph::Item(e, static_cast<int>(index));
}

// The sum of two values of this kind; tuples field by field.
GraphExpr SumOf(const graph::StructInfo& info, const GraphExpr& a,
                const GraphExpr& b) {
  const auto* tuple = info.As<graph::TupleInfo>();
  if (!tuple) return Plus(a, b);
  std::vector<GraphExpr> fields;
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    fields.push_back(SumOf(tuple->fields[i], FieldOf(a, i), FieldOf(b, i)));
  }
  return graph::TupleOf(std::move(fields));
}

}  // namespace

void Adjoints::Set(const graph::VarNode* var, const GraphExpr& value) {
  const GraphVar adjoint(absl::StrCat(var->name, "_adjoint"), {}, true);
  block_.Bind(adjoint, value);
  adjoints_[var] = adjoint;
}

void Adjoints::Add(const GraphExpr& target, const GraphExpr& increment) {
  if (const auto* tuple = target.As<graph::TupleNode>()) {
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      Add(tuple->fields[i], FieldOf(increment, i));
    }
    return;
  }
  const auto* var = target.As<graph::VarNode>();
  if (!var) return;
  const GraphExpr before = Of(var);
  Set(var, before ? SumOf(var->info, before, increment) : increment);
}

absl::Status Adjoints::AddToField(const GraphExpr& tuple, int index,
                                  const GraphExpr& increment) {
  if (const auto* known = tuple.As<graph::TupleNode>()) {
    Add(known->fields[index], increment);
    return absl::OkStatus();
  }
  const auto* var = tuple.As<graph::VarNode>();
  const auto* info = var ? var->info.As<graph::TupleInfo>() : nullptr;
  if (!info) return absl::OkStatus();
  const GraphExpr before = Of(var);
  std::vector<GraphExpr> fields;
  for (int i = 0; i < static_cast<int>(info->fields.size()); ++i) {
    const graph::StructInfo& field = info->fields[i];
    if (before) {
      const GraphExpr own = graph::Item(before, i);
      fields.push_back(i == index ? SumOf(field, own, increment) : own);
    } else if (i == index) {
      fields.push_back(increment);
    } else {
      KILN_ASSIGN_OR_RETURN(fields.emplace_back(), ZerosOf(field));
    }
  }
  Set(var, graph::TupleOf(std::move(fields)));
  return absl::OkStatus();
}

absl::StatusOr<GraphExpr> ZerosOf(const graph::StructInfo& info) {
  if (const auto* tuple = info.As<graph::TupleInfo>()) {
    std::vector<GraphExpr> fields;
    for (const graph::StructInfo& field : tuple->fields) {
      KILN_ASSIGN_OR_RETURN(fields.emplace_back(), ZerosOf(field));
    }
    return graph::TupleOf(std::move(fields));
  }
  const auto* tensor = info.As<graph::TensorInfo>();
  if (tensor && tensor->extents() && !tensor->dtype.is_void()) {
    return ZerosLike(*tensor);
  }
  return absl::UnimplementedError(
      absl::StrCat("the adjoint of ", PrintStructInfo(info),
                   " needs tensors whose extents are known one by one"));
}

}  // namespace kiln
