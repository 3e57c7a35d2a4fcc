// A stack of sets. A variable of a dataflow block lives in the block's set, one
// that the block outputs in the set around it:
//
//   with R.dataflow():         {x} {}
//       lv = R.exp(x)          {x} {lv}
//       gv = R.negative(lv)    {x, gv} {lv}
//       R.output(gv)
//   return gv                  {x, gv}
#include "kiln/frontends/builder/scopes.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/frontends/builder/dimensions.h"

namespace kiln::graph {

namespace {

constexpr int kMaxDepth = 400;

}  // namespace

void Scopes::Enter(bool is_dataflow) { levels_.push_back({is_dataflow, {}}); }

void Scopes::Leave() { levels_.pop_back(); }

void Scopes::Bind(const Var& var) {
  const bool is_output = levels_.back().is_dataflow && !var->is_dataflow;
  levels_[levels_.size() - (is_output ? 2 : 1)].vars.insert(var.get());
}

void Scopes::Unbind(const Var& var) {
  for (Level& level : levels_) level.vars.erase(var.get());
}

bool Scopes::Sees(const Var& var) const {
  return std::any_of(levels_.begin(), levels_.end(), [&](const Level& level) {
    return level.vars.count(var.get()) > 0;
  });
}

absl::Status UnseenError(const Var& var) {
  if (var->is_dataflow) {
    return absl::InvalidArgumentError(absl::StrCat(
        var->name,
        " is a variable of a dataflow block and is not seen outside of it; "
        "give it out with EmitOutput(",
        var->name, ") there and use what that gives"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      var->name,
      " is neither a parameter nor bound before in this function; list it "
      "among the parameters, or, if a branch binds it, use the value of the "
      "branch"));
}

absl::Status Scopes::Check(const Expr& e, OnUnseen on_unseen) {
  if (!e) return absl::InvalidArgumentError("an operand is missing (null)");
  if (depth_ >= kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("expressions nest more than ", kMaxDepth,
                     " deep; bind inner ones to variables first"));
  }
  ++depth_;
  absl::Status status = CheckBelow(e, on_unseen);
  --depth_;
  return status;
}

absl::Status Scopes::CheckSeq(const SeqNode& seq, OnUnseen on_unseen) {
  Enter(/*is_dataflow=*/false);
  absl::Status status;
  for (const BindingBlock& block : seq.blocks) {
    if (block.is_dataflow) Enter(/*is_dataflow=*/true);
    for (const Binding& binding : block.bindings) {
      if (status.ok()) status = CheckBinding(binding, on_unseen);
    }
    if (block.is_dataflow) Leave();
  }
  if (status.ok()) status = Check(seq.result, on_unseen);
  Leave();
  return status;
}

absl::Status Scopes::CheckBinding(const Binding& binding, OnUnseen on_unseen) {
  const Var& var = binding.var;
  if (!var) return absl::InvalidArgumentError("a binding lacks its variable");
  if (Sees(var)) {
    return absl::InvalidArgumentError(
        absl::StrCat(var->name, " is bound twice; use another variable"));
  }
  if (var->is_dataflow && !is_dataflow()) {
    return absl::InvalidArgumentError(absl::StrCat(
        var->name, " is a dataflow variable that no dataflow block binds"));
  }
  KILN_RETURN_IF_ERROR(CheckInfo(var->info, var->name));
  // A function may call itself by its variable.
  const bool is_function = binding.value.As<FunctionNode>() != nullptr;
  if (is_function) Bind(var);
  KILN_RETURN_IF_ERROR(Check(binding.value, on_unseen));
  if (!is_function) Bind(var);
  return absl::OkStatus();
}

absl::Status Scopes::CheckFunction(const FunctionNode& f, OnUnseen on_unseen) {
  Enter(/*is_dataflow=*/false);
  absl::Status status = CheckInfo(f.result, "the result");
  for (const Var& param : f.params) {
    if (!status.ok()) break;
    if (!param || param->is_dataflow || Sees(param)) {
      status = absl::InvalidArgumentError(
          "a parameter is missing, a dataflow variable, or stands twice");
      break;
    }
    status = CheckInfo(param->info, param->name);
    Bind(param);
  }
  if (status.ok() && f.body) status = Check(f.body, on_unseen);
  Leave();
  return status;
}

absl::Status Scopes::CheckAll(const std::vector<Expr>& list,
                              OnUnseen on_unseen) {
  for (const Expr& e : list) KILN_RETURN_IF_ERROR(Check(e, on_unseen));
  return absl::OkStatus();
}

absl::Status Scopes::CheckCall(const CallNode& call, OnUnseen on_unseen) {
  KILN_RETURN_IF_ERROR(Check(call.callee, on_unseen));
  KILN_RETURN_IF_ERROR(CheckAll(call.args, on_unseen));
  for (const StructInfo& info : call.infos) {
    if (!info) {
      return absl::InvalidArgumentError(
          "the struct info of what the call gives is missing (null)");
    }
    KILN_RETURN_IF_ERROR(CheckInfo(info, "what the call gives"));
  }
  return absl::OkStatus();
}

absl::Status Scopes::CheckCast(const MatchCastNode& cast, OnUnseen on_unseen) {
  if (!cast.info) {
    return absl::InvalidArgumentError("the struct info of a cast is missing");
  }
  KILN_RETURN_IF_ERROR(CheckInfo(cast.info, "what the cast asks for"));
  return Check(cast.value, on_unseen);
}

absl::Status Scopes::CheckIf(const IfNode& branch, OnUnseen on_unseen) {
  if (is_dataflow()) {
    return absl::InvalidArgumentError(
        "a branch stands outside of dataflow blocks; end the block first");
  }
  return CheckAll({branch.condition, branch.then_body, branch.else_body},
                  on_unseen);
}

absl::Status Scopes::CheckBelow(const Expr& e, OnUnseen on_unseen) {
  switch (e.kind()) {
    case GraphKind::kVar: {
      const Var var(e.As<VarNode>());
      return Sees(var) ? absl::OkStatus() : on_unseen(var);
    }
    case GraphKind::kTuple:
      return CheckAll(e.As<TupleNode>()->fields, on_unseen);
    case GraphKind::kTupleItem:
      return Check(e.As<TupleItemNode>()->tuple, on_unseen);
    case GraphKind::kCall:
      return CheckCall(*e.As<CallNode>(), on_unseen);
    case GraphKind::kMatchCast:
      return CheckCast(*e.As<MatchCastNode>(), on_unseen);
    case GraphKind::kIf:
      return CheckIf(*e.As<IfNode>(), on_unseen);
    case GraphKind::kSeq:
      return CheckSeq(*e.As<SeqNode>(), on_unseen);
    case GraphKind::kFunction:
      return CheckFunction(*e.As<FunctionNode>(), on_unseen);
    case GraphKind::kShape:
      return CheckInfo(Shape(e.As<ShapeNode>()->values), "shape");
    case GraphKind::kPrim:
      if (e.As<PrimNode>()->value) return absl::OkStatus();
      return absl::InvalidArgumentError("a number is missing (null)");
    case GraphKind::kGlobalVar:
    case GraphKind::kExtern:
    case GraphKind::kOp:
    case GraphKind::kConstant:
    case GraphKind::kString:
    case GraphKind::kDataType:
      break;
  }
  return absl::OkStatus();
}

absl::Status CheckFunctionScopes(const FunctionNode& f) {
  const absl::Status status = Scopes().Check(
      GraphFunction(&f), [](const Var& var) { return UnseenError(var); });
  if (status.ok()) return CheckDimensions(f);
  return absl::Status(status.code(),
                      absl::StrCat(f.name, ": ", status.message()));
}

}  // namespace kiln::graph
