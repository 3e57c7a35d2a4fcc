// call_tir(cls.f, (x, y), out_sinfo=[a, b]) has to meet f(x, y, a, b); with
// scalars [n] behind its arguments, f(x, y, a, b, n). What is written in place
// of an argument has no parameter of its own.
#include "kiln/frontends/builder/calls.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/signature.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::graph {
namespace {

absl::Status Error(const CallNode& call, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(message), "\n    ",
                                                 PrintGraphExpr(Expr(&call))));
}

// --- Ops.

std::string Names(const std::vector<AttributeSignature>& attrs) {
  if (attrs.empty()) return "it has none";
  return absl::StrCat(
      "it knows ", absl::StrJoin(attrs, ", ", [](std::string* out, auto& attr) {
        out->append(attr.name);
      }));
}

absl::Status CheckAgainst(const CallNode& call, const OpSignature& op) {
  for (const auto& [name, value] : call.attrs) {
    if (op.FindAttribute(name)) continue;
    return Error(call, absl::StrCat("R.", op.name, " has no attribute `", name,
                                    "`; ", Names(op.attrs)));
  }
  if (op.TakesMore() || call.args.size() <= op.args.size()) {
    return absl::OkStatus();
  }
  return Error(call, absl::StrCat("R.", op.name, " takes ", op.args.size(),
                                  " arguments (", absl::StrJoin(op.args, ", "),
                                  "), got ", call.args.size(),
                                  "; attributes are given by name"));
}

absl::StatusOr<Expr> WithDefaults(const CallNode& call, const OpSignature& op) {
  AttrMap attrs = call.attrs;
  for (const AttributeSignature& attr : op.attrs) {
    if (attrs.count(attr.name)) continue;
    if (attr.default_text.empty()) {
      return Error(call, absl::StrCat("R.", op.name, " needs the attribute `",
                                      attr.name, "`"));
    }
    KILN_ASSIGN_OR_RETURN(attrs[attr.name],
                          ParseAttribute(attr.name, attr.default_text));
  }
  return CallOp(op.name, call.args, std::move(attrs), call.infos);
}

// --- Tensor functions.

bool CallsTensors(const CallNode& call) {
  return call.IsOp("call_tir") || call.IsOp("call_tir_inplace") ||
         call.IsOp("call_tir_with_grad");
}

// How many results are written to parameters of their own.
size_t CountOutputs(const CallNode& call) {
  const auto found = call.attrs.find("inplace_indices");
  const AttrList* list =
      found == call.attrs.end() ? nullptr : found->second.list();
  if (!list) return call.infos.size();
  return std::count_if(list->begin(), list->end(), [](const Attr& index) {
    const int64_t* known = index.expr() ? AsInt(*index.expr()) : nullptr;
    return known && *known < 0;
  });
}

absl::Status CheckCount(const CallNode& call, const Function& f) {
  size_t given = call.args[1].As<TupleNode>()->fields.size();
  const size_t inputs = given;
  const size_t outputs = CountOutputs(call);
  given += outputs;
  if (call.args.size() > 2) {
    const auto* scalars = call.args[2].As<ShapeNode>();
    if (!scalars) return Error(call, "the scalars of the function are a shape");
    given += scalars->values.size();
  }
  if (given == f.params.size()) return absl::OkStatus();
  return Error(call, absl::StrCat(f.name, " has ", f.params.size(),
                                  " parameters, and the call gives ", inputs,
                                  " arguments, ", outputs, " outputs and ",
                                  given - inputs - outputs, " scalars"));
}

absl::Status CheckInplace(const CallNode& call) {
  if (!call.IsOp("call_tir_inplace")) return absl::OkStatus();
  const auto found = call.attrs.find("inplace_indices");
  const AttrList* list =
      found == call.attrs.end() ? nullptr : found->second.list();
  if (!list || list->size() != call.infos.size()) {
    return Error(call,
                 "`inplace_indices` lists, for each output, the argument that "
                 "it overwrites, or -1");
  }
  const auto count =
      static_cast<int64_t>(call.args[1].As<TupleNode>()->fields.size());
  for (const Attr& index : *list) {
    const int64_t* known = index.expr() ? AsInt(*index.expr()) : nullptr;
    if (known && *known >= -1 && *known < count) continue;
    return Error(call, absl::StrCat("an index in `inplace_indices` is no "
                                    "argument; arguments are 0 to ",
                                    count - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckTensorCall(const CallNode& call, const Module& module) {
  if (call.args.size() < 2 || !call.args[1].As<TupleNode>() ||
      call.infos.empty()) {
    return Error(call,
                 "a call of a tensor function needs the function, a tuple of "
                 "its arguments, and the struct info of what it writes");
  }
  KILN_RETURN_IF_ERROR(CheckInplace(call));
  const auto* global = call.args[0].As<GlobalVarNode>();
  if (!global) return absl::OkStatus();
  const Function* f = module.Find(global->name);
  if (f) return CheckCount(call, *f);
  return Error(call, absl::StrCat("the module has no tensor function called ",
                                  global->name, "; add it by AddFunction"));
}

}  // namespace

absl::StatusOr<Expr> CompleteCall(const CallNode& call, const Module& module) {
  const auto* op = call.callee.As<OpNode>();
  const OpSignature* signature = op ? FindSignature(op->name) : nullptr;
  if (CallsTensors(call)) {
    KILN_RETURN_IF_ERROR(CheckTensorCall(call, module));
  }
  if (!signature) return Expr(&call);
  KILN_RETURN_IF_ERROR(CheckAgainst(call, *signature));
  // Calls of functions have no defaults.
  if (absl::StartsWith(op->name, "call_")) return Expr(&call);
  return WithDefaults(call, *signature);
}

bool IsImpure(const Expr& value, const Module& module) {
  const auto* call = value.As<CallNode>();
  if (!call) return false;
  if (call->callee.As<ExternNode>()) return true;
  if (const auto* op = call->callee.As<OpNode>()) {
    const OpRow* row = FindOp(op->name);
    return row && !row->is_pure;
  }
  if (const auto* global = call->callee.As<GlobalVarNode>()) {
    const FunctionNode* f = module.FindGraph(global->name);
    return f && !f->is_pure;
  }
  const StructInfo info = InfoOf(call->callee);
  const auto* function = info.As<FunctionInfo>();
  return function && !function->is_pure;
}

}  // namespace kiln::graph
