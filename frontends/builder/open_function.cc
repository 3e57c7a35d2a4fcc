// A value is made flat before it is bound: an operand that is a call becomes a
// variable first, once however often it is used. Inference sees one binding at
// a time, as the body of a function of its own:
//
//   Emit(relu(matmul(x, w)))       lv  = R.matmul(x, w)
//                                  lv1 = R.nn.relu(lv)
//
//   def main():                    x, w and lv have struct info already, so
//       lv1 = R.nn.relu(lv)        that nobody has to define them here
//       return lv1
//
// The function as a whole is inferred when it is finished.
#include "kiln/frontends/builder/open_function.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/frontends/builder/calls.h"
#include "kiln/frontends/builder/dimensions.h"
#include "kiln/frontends/builder/place.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::graph {
namespace {

constexpr int kMaxDepth = 400;

}  // namespace

absl::Status CheckParams(const std::vector<Var>& params) {
  std::set<const VarNode*> seen;
  for (const Var& param : params) {
    if (!param) return absl::InvalidArgumentError("a parameter is missing");
    if (!param->info) {
      return absl::InvalidArgumentError(
          absl::StrCat("the parameter ", param->name,
                       " has no struct info; make it with Var(\"", param->name,
                       "\", Tensor({Int(1)}, DType::Float(32))) or the like"));
    }
    if (param->is_dataflow) return UnseenError(param);
    if (!seen.insert(param.get()).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the parameter ", param->name, " stands twice; list it once"));
    }
    KILN_RETURN_IF_ERROR(CheckInfo(param->info, param->name));
  }
  return absl::OkStatus();
}

OpenFunction::OpenFunction(FunctionFields fields, int id, const Module* module)
    : fields_(std::move(fields)),
      id_(id),
      has_params_(!fields_.params.empty()),
      module_(module) {
  for (const Var& param : fields_.params) {
    scopes_.Bind(param);
    names_.insert(param->name);
  }
  frames_.push_back({{{}}, 0, scopes_.depth()});
}

absl::Status OpenFunction::InFunction(const absl::Status& status) const {
  const std::string prefix = absl::StrCat(name(), ": ");
  const std::string message(status.message());
  if (status.ok() || absl::StartsWith(message, prefix)) return status;
  return absl::Status(status.code(), absl::StrCat(prefix, message));
}

std::string OpenFunction::UniqueName(const std::string& hint) {
  std::string base = hint.empty() ? (in_dataflow() ? "lv" : "gv") : hint;
  for (char& c : base) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (std::isdigit(static_cast<unsigned char>(base[0]))) base.insert(0, "_");
  std::string name = base;
  for (int i = 1; !names_.insert(name).second; ++i) {
    name = absl::StrCat(base, i);
  }
  return name;
}

// --- Scopes.

absl::Status OpenFunction::BeginDataflow(int id) {
  if (in_dataflow()) {
    return InFunction(absl::FailedPreconditionError(
        "a dataflow block stands in no other one; end the other one first"));
  }
  scopes_.Enter(/*is_dataflow=*/true);
  frames_.back().dataflow_id = id;
  frames_.back().blocks.push_back({/*is_dataflow=*/true, {}});
  return absl::OkStatus();
}

void OpenFunction::EndDataflow(int id) {
  if (!in_dataflow() || frames_.back().dataflow_id != id) return;
  scopes_.Leave();
  frames_.back().blocks.push_back({/*is_dataflow=*/false, {}});
}

void OpenFunction::BeginBranch() {
  scopes_.Enter(/*is_dataflow=*/false);
  frames_.push_back({{{}}, 0, scopes_.depth()});
}

absl::StatusOr<Expr> OpenFunction::EndBranch(
    const absl::StatusOr<Expr>& value) {
  absl::StatusOr<Expr> result = value;
  if (result.ok() && in_dataflow()) {
    result = InFunction(absl::FailedPreconditionError(
        "a branch ends inside of a dataflow block; end the block first"));
  }
  if (result.ok()) result = Operand(*result);
  if (result.ok()) result = Seq(frames_.back().blocks, *result);
  while (scopes_.depth() >= frames_.back().depth) scopes_.Leave();
  frames_.pop_back();
  return result;
}

// --- Values.

void OpenFunction::GoBackTo(const Mark& mark) {
  for (; block().size() > mark.bindings; block().pop_back()) {
    scopes_.Unbind(block().back().var);
  }
  for (; pending_.size() > mark.pending; pending_.pop_back()) {
    scopes_.Unbind(pending_.back().var);
  }
}

absl::StatusOr<Expr> OpenFunction::MapLeaves(const Expr& e) {
  absl::Status status;
  Expr mapped = MapOperands(e, [&](const Expr& operand) {
    if (!status.ok()) return operand;
    absl::StatusOr<Expr> leaf = Leaf(operand);
    status = leaf.status();
    return leaf.ok() ? *leaf : operand;
  });
  if (!status.ok()) return status;
  return mapped;
}

absl::StatusOr<Expr> OpenFunction::Leaf(const Expr& e) {
  if (!e) return absl::InvalidArgumentError("an operand is missing (null)");
  if (depth_ >= kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("operands nest more than ", kMaxDepth,
                     " deep; bind inner ones with Emit first"));
  }
  switch (e.kind()) {
    case GraphKind::kTuple:
    case GraphKind::kTupleItem:
    case GraphKind::kCall:
    case GraphKind::kMatchCast:
    case GraphKind::kIf:
    case GraphKind::kSeq:
    case GraphKind::kFunction:
      break;
    case GraphKind::kVar: {
      const Var var(e.As<VarNode>());
      if (!scopes_.Sees(var)) KILN_RETURN_IF_ERROR(Unseen(var));
      return e;
    }
    case GraphKind::kGlobalVar:
    case GraphKind::kExtern:
    case GraphKind::kOp:
    case GraphKind::kConstant:
    case GraphKind::kPrim:
    case GraphKind::kString:
    case GraphKind::kDataType:
    case GraphKind::kShape:
      return e;
  }
  ++depth_;
  absl::StatusOr<Expr> leaf = LeafOfInner(e);
  --depth_;
  return leaf;
}

// Of a tuple, field by field; of what is no leaf, a variable.
absl::StatusOr<Expr> OpenFunction::LeafOfInner(const Expr& e) {
  if (e.kind() == GraphKind::kTuple) return MapLeaves(e);
  const auto found = bound_.find(e.get());
  if (found != bound_.end()) return found->second;
  KILN_ASSIGN_OR_RETURN(const Var var, Bind(e, "", /*is_output=*/false));
  bound_.emplace(e.get(), var);
  return var;
}

// `e` with operands that are leaves, and with all its attributes.
absl::StatusOr<Expr> OpenFunction::Flat(const Expr& e) {
  if (e.kind() == GraphKind::kSeq || e.kind() == GraphKind::kFunction) return e;
  if (const auto* branch = e.As<IfNode>()) {
    KILN_ASSIGN_OR_RETURN(Expr condition, Leaf(branch->condition));
    return Expr(
        new IfNode(std::move(condition), branch->then_body, branch->else_body));
  }
  KILN_ASSIGN_OR_RETURN(const Expr flat, MapLeaves(e));
  const auto* call = flat.As<CallNode>();
  return call ? CompleteCall(*call, *module_) : flat;
}

absl::Status OpenFunction::Unseen(const Var& var) {
  if (has_params_ || var->is_dataflow) return UnseenError(var);
  KILN_RETURN_IF_ERROR(CheckParams({var}));
  pending_.push_back({var, place_});
  scopes_.BindOutside(var);
  names_.insert(var->name);
  return absl::OkStatus();
}

absl::Status OpenFunction::CheckPure(const Expr& value) const {
  if (!IsImpure(value, *module_)) return absl::OkStatus();
  if (in_dataflow()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a call with effects stands outside of dataflow blocks; end the block "
        "first\n    ",
        PrintGraphExpr(value)));
  }
  const bool is_forced = fields_.attrs.count("relax.force_pure") > 0;
  if (!fields_.is_pure || is_forced) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a call with effects stands in a pure function; begin it with is_pure = "
      "false\n    ",
      PrintGraphExpr(value)));
}

absl::StatusOr<Binding> OpenFunction::Infer(const Var& var,
                                            const Expr& value) const {
  FunctionFields alone;
  alone.name = name();
  if (value.kind() == GraphKind::kMatchCast) {
    // They say which dimensions are known already.
    alone.params = fields_.params;
    alone.params.insert(alone.params.end(), casts_.begin(), casts_.end());
  }
  alone.body = Seq({{var->is_dataflow, {{var, value}}}}, var);
  const GraphFunction f(std::move(alone));
  KILN_ASSIGN_OR_RETURN(const GraphFunction inferred,
                        InferFunction(*f, *module_));
  return inferred->body.As<SeqNode>()->blocks[0].bindings.back();
}

absl::StatusOr<Var> OpenFunction::Bind(const Expr& e, std::string name,
                                       bool is_output) {
  KILN_ASSIGN_OR_RETURN(const Expr value, Flat(e));
  return BindFlat(value, std::move(name), is_output);
}

absl::StatusOr<Var> OpenFunction::BindFlat(const Expr& value, std::string name,
                                           bool is_output) {
  KILN_RETURN_IF_ERROR(
      scopes_.Check(value, [&](const Var& var) { return Unseen(var); }));
  KILN_RETURN_IF_ERROR(CheckPure(value));
  const Var var(UniqueName(name), {}, in_dataflow() && !is_output);
  KILN_ASSIGN_OR_RETURN(Binding binding, Infer(var, value));
  const Var bound = binding.var;
  if (value.kind() == GraphKind::kMatchCast) casts_.push_back(bound);
  scopes_.Bind(bound);
  block().push_back(std::move(binding));
  return bound;
}

absl::StatusOr<Var> OpenFunction::Emit(const Expr& value,
                                       const std::string& name,
                                       bool is_output) {
  if (!value) {
    return InFunction(absl::InvalidArgumentError("a value is missing (null)"));
  }
  if (is_output && !in_dataflow()) {
    return InFunction(absl::FailedPreconditionError(
        "EmitOutput stands in a dataflow block; use Emit outside of one"));
  }
  const Mark mark = Here();
  absl::StatusOr<Var> var = Bind(value, name, is_output);
  bound_.clear();
  if (var.ok()) return var;
  GoBackTo(mark);
  return InFunction(var.status());
}

absl::StatusOr<Expr> OpenFunction::Operand(const Expr& value) {
  const Mark mark = Here();
  absl::StatusOr<Expr> leaf = Leaf(value);
  bound_.clear();
  absl::Status status = leaf.status();
  if (status.ok()) {
    status = scopes_.Check(*leaf, [&](const Var& var) { return Unseen(var); });
  }
  if (status.ok()) return leaf;
  GoBackTo(mark);
  return InFunction(status);
}

// --- The end.

absl::Status OpenFunction::TakeParams(const std::vector<Var>& params) {
  if (params.empty()) return absl::OkStatus();
  if (has_params_) {
    return absl::FailedPreconditionError(
        "parameters were given to BeginFunction already; leave them out here");
  }
  KILN_RETURN_IF_ERROR(CheckParams(params));
  for (const Var& param : params) {
    if (IsPending(param)) continue;
    if (scopes_.Sees(param)) {
      return absl::InvalidArgumentError(absl::StrCat(
          param->name, " is bound in this function and is no parameter"));
    }
    pending_.push_back({param, place_});
    scopes_.BindOutside(param);
  }
  fields_.params = params;
  return absl::OkStatus();
}

std::vector<Var> OpenFunction::FreeVars() const {
  std::vector<Var> vars;
  for (const Pending& pending : pending_) vars.push_back(pending.var);
  return vars;
}

bool OpenFunction::IsPending(const Var& var) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& p) {
    return p.var.get() == var.get();
  });
}

absl::Status OpenFunction::CheckPending() const {
  for (const Pending& pending : pending_) {
    const auto& params = fields_.params;
    const bool is_param = std::any_of(
        params.begin(), params.end(),
        [&](const Var& param) { return param.get() == pending.var.get(); });
    if (is_param) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(UnseenError(pending.var).message(), "; it is used in ",
                     PlaceText(pending.place)));
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphFunction> OpenFunction::Close(
    const Expr& value, const std::vector<Var>& params) {
  KILN_RETURN_IF_ERROR(TakeParams(params));
  KILN_ASSIGN_OR_RETURN(Expr result, Operand(value));
  KILN_RETURN_IF_ERROR(CheckPending());
  FunctionFields fields = fields_;
  fields.body = Seq(frames_.back().blocks, std::move(result));
  const GraphFunction whole(std::move(fields));
  KILN_ASSIGN_OR_RETURN(GraphFunction inferred,
                        InferFunction(*whole, *module_));
  KILN_RETURN_IF_ERROR(CheckDimensions(*inferred));
  return inferred;
}

absl::StatusOr<GraphFunction> OpenFunction::Finish(
    const Expr& value, const std::vector<Var>& params) {
  if (frames_.size() > 1 || in_dataflow()) {
    return InFunction(absl::FailedPreconditionError(absl::StrCat(
        "the output of a function stands outside of ",
        in_dataflow() ? "dataflow blocks; end the block first" : "branches")));
  }
  const std::vector<Var> before = fields_.params;
  const Mark mark = Here();
  absl::StatusOr<GraphFunction> finished = Close(value, params);
  if (finished.ok()) return finished;
  GoBackTo(mark);
  fields_.params = before;
  return InFunction(finished.status());
}

}  // namespace kiln::graph
