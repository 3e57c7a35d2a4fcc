// What a call gives, by its callee: an op by its row, a function by its
// signature, a packed function by what the call itself says.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/tensor/returned_value.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::StructInfo;

// Of what says itself what it gives.
StructInfo Stated(const graph::CallNode& call) {
  if (call.infos.empty()) return graph::Object();
  return call.infos.size() == 1 ? call.infos[0] : graph::Tuple(call.infos);
}

absl::StatusOr<StructInfo> ResultOfCall(const graph::CallNode& call,
                                        const graph::FunctionInfo& function,
                                        const OpContext& context) {
  std::vector<StructInfo> args;
  for (const graph::Expr& arg : call.args) {
    StructInfo info = graph::InfoOf(arg);
    args.push_back(info ? std::move(info) : graph::Object());
  }
  absl::StatusOr<StructInfo> result =
      graph::ResultOf(function, args, *context.analyzer);
  if (result.ok()) return result;
  return absl::InvalidArgumentError(absl::StrCat(
      result.status().message(), "\n    ", PrintGraphExpr(graph::Expr(&call))));
}

absl::StatusOr<StructInfo> InferNamed(const graph::CallNode& call,
                                      const std::string& name,
                                      const OpContext& context) {
  if (!context.module) return Stated(call);
  if (const auto* f = context.module->FindGraph(name)) {
    const StructInfo signature = graph::SignatureOf(*f);
    return ResultOfCall(call, *signature.As<graph::FunctionInfo>(), context);
  }
  if (const Function* f = context.module->Find(name)) {
    const Expr value = ReturnedValue(*f);
    return value ? graph::Prim(value.dtype()) : Stated(call);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the module has no function called ", name, "\n    ",
                   PrintGraphExpr(graph::Expr(&call))));
}

}  // namespace

absl::StatusOr<StructInfo> InferCall(const graph::CallNode& call,
                                     const OpContext& context) {
  if (const auto* op = call.callee.As<graph::OpNode>()) {
    const OpRow* row = FindOp(op->name);
    return row ? row->infer(OpCall(call, context)) : Stated(call);
  }
  if (const auto* global = call.callee.As<graph::GlobalVarNode>()) {
    return InferNamed(call, global->name, context);
  }
  if (call.callee.As<graph::ExternNode>()) return Stated(call);
  const StructInfo callee = graph::InfoOf(call.callee);
  if (const auto* function = callee.As<graph::FunctionInfo>()) {
    return ResultOfCall(call, *function, context);
  }
  if (!callee || callee.kind() == graph::InfoKind::kObject) return Stated(call);
  return absl::InvalidArgumentError(absl::StrCat(
      "what is called is no function but ", PrintStructInfo(callee), "\n    ",
      PrintGraphExpr(graph::Expr(&call))));
}

}  // namespace kiln
