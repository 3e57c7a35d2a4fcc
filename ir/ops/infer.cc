// One walk in the order of evaluation. Variables that were bound before are
// sent to what stands for them now, which has struct info:
//
//   y = R.nn.relu(R.add(x, x))      lv: R.Tensor((2,)) = R.add(x, x)
//   return y                        y: R.Tensor((2,)) = R.nn.relu(lv)
//                                   return y
//
// A function whose result is not annotated is inferred before its callers; one
// that calls itself gives an object there.
#include "kiln/ir/ops/infer.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::BindingBlock;
using graph::Expr;
using graph::Fit;
using graph::GraphKind;
using graph::StructInfo;
using graph::Var;

bool IsLeaf(const Expr& e) {
  switch (e.kind()) {
    case GraphKind::kVar:
    case GraphKind::kGlobalVar:
    case GraphKind::kExtern:
    case GraphKind::kOp:
    case GraphKind::kConstant:
    case GraphKind::kPrim:
    case GraphKind::kString:
    case GraphKind::kDataType:
    case GraphKind::kShape:
      return true;
    case GraphKind::kTuple:
      for (const Expr& field : e.As<graph::TupleNode>()->fields) {
        if (!IsLeaf(field)) return false;
      }
      return true;
    case GraphKind::kTupleItem:
    case GraphKind::kCall:
    case GraphKind::kMatchCast:
    case GraphKind::kIf:
    case GraphKind::kSeq:
    case GraphKind::kFunction:
      break;
  }
  return false;
}

absl::Status Annotate(const absl::Status& status, std::string_view place) {
  return absl::Status(status.code(),
                      absl::StrCat(std::string(place), ": ", status.message()));
}

class Inferrer {
 public:
  explicit Inferrer(const Module& module) : module_(module) {}

  absl::StatusOr<graph::GraphFunction> Function(const graph::FunctionNode& f);

 private:
  // The bindings so far of the sequence that is built.
  struct Scope {
    std::vector<BindingBlock> blocks;
    std::set<const kiln::VarNode*> scalars;  // that it brings in
  };

  // What stands behind the bindings of a sequence. In text, a branch has
  // bindings only, and gives the last of them.
  enum class Result { kLeaf, kLastBinding };

  absl::StatusOr<Expr> Value(const Expr& e);
  absl::StatusOr<Expr> Leaf(const Expr& e);
  absl::StatusOr<Expr> Call(const graph::CallNode& call);
  absl::StatusOr<Expr> Cast(const graph::MatchCastNode& cast);
  absl::StatusOr<Expr> If(const graph::IfNode& branch);
  absl::StatusOr<Expr> Seq(const Expr& e, Result result = Result::kLeaf);
  absl::Status Block(const BindingBlock& block);
  absl::Status Binding(const graph::Binding& binding);
  absl::Status NestedFunction(const graph::Binding& binding);
  absl::Status Bound(const Var& var, Expr value);
  absl::StatusOr<StructInfo> InfoOf(const Expr& value);
  Var Renewed(const Var& var, const StructInfo& info);
  Expr Resolved(const Expr& e) const;
  StructInfo Visible(const StructInfo& info) const;
  StructInfo AsResult(const std::vector<Var>& params,
                      const StructInfo& info) const;
  void Define(const StructInfo& info);

  const Module& module_;
  Analyzer analyzer_;
  graph::Substitution renewed_;
  std::vector<Scope> scopes_;
  // What is known of the results of sequences outside of them.
  std::unordered_map<const graph::GraphNode*, StructInfo> visible_;
};

Expr Inferrer::Resolved(const Expr& e) const {
  const auto found = renewed_.vars.find(e.As<graph::VarNode>());
  return found == renewed_.vars.end() ? e : found->second;
}

Var Inferrer::Renewed(const Var& var, const StructInfo& info) {
  if (var->info.get() == info.get()) return var;
  Var renewed(var->name, info, var->is_dataflow);
  renewed_.vars[var.get()] = renewed;
  return renewed;
}

void Inferrer::Define(const StructInfo& info) {
  for (const kiln::Var& var : graph::DefinedScalars(info)) {
    scopes_.back().scalars.insert(var.get());
  }
}

// `info` as it is known outside of the innermost scope; an object for null.
StructInfo Inferrer::Visible(const StructInfo& info) const {
  if (!info) return graph::Object();
  const std::set<const kiln::VarNode*>& own = scopes_.back().scalars;
  return graph::Forget(
      info, {[&](const kiln::VarNode* var) { return own.count(var) == 0; },
             [](const graph::VarNode*) { return true; }});
}

absl::StatusOr<Expr> Inferrer::Leaf(const Expr& e) {
  KILN_ASSIGN_OR_RETURN(Expr value, Value(e));
  if (IsLeaf(value)) return value;
  const bool is_dataflow = scopes_.back().blocks.back().is_dataflow;
  const Var var("lv", {}, is_dataflow);
  KILN_RETURN_IF_ERROR(Bound(var, std::move(value)));
  return Resolved(var);
}

absl::StatusOr<Expr> Inferrer::Call(const graph::CallNode& call) {
  KILN_ASSIGN_OR_RETURN(Expr callee, Leaf(call.callee));
  std::vector<Expr> args;
  for (const Expr& arg : call.args) {
    KILN_ASSIGN_OR_RETURN(args.emplace_back(), Leaf(arg));
  }
  std::vector<StructInfo> infos;
  for (const StructInfo& info : call.infos) {
    infos.push_back(graph::Substitute(info, renewed_));
  }
  return Expr(new graph::CallNode(std::move(callee), std::move(args),
                                  call.attrs, std::move(infos)));
}

absl::StatusOr<Expr> Inferrer::Cast(const graph::MatchCastNode& cast) {
  KILN_ASSIGN_OR_RETURN(Expr value, Leaf(cast.value));
  const StructInfo wanted = graph::Substitute(cast.info, renewed_);
  const StructInfo have = graph::InfoOf(value);
  // Dimensions that are first known here stand for any extent.
  graph::Substitution known;
  for (const kiln::Var& var : graph::DefinedScalars(wanted)) {
    bool is_known = false;
    for (const Scope& scope : scopes_) {
      is_known = is_known || scope.scalars.count(var.get()) > 0;
    }
    if (!is_known) known.scalars.emplace(var.get(), kiln::Var(var.name()));
  }
  if (have && graph::Fits(have, graph::Substitute(wanted, known), analyzer_) ==
                  Fit::kNever) {
    return absl::InvalidArgumentError(
        absl::StrCat("the value is ", PrintStructInfo(have),
                     ", which never is ", PrintStructInfo(wanted)));
  }
  Define(wanted);
  return Expr(new graph::MatchCastNode(std::move(value), wanted));
}

absl::StatusOr<Expr> Inferrer::If(const graph::IfNode& branch) {
  KILN_ASSIGN_OR_RETURN(Expr condition, Leaf(branch.condition));
  KILN_ASSIGN_OR_RETURN(Expr then_body,
                        Seq(branch.then_body, Result::kLastBinding));
  KILN_ASSIGN_OR_RETURN(Expr else_body,
                        Seq(branch.else_body, Result::kLastBinding));
  return Expr(new graph::IfNode(std::move(condition), std::move(then_body),
                                std::move(else_body)));
}

absl::StatusOr<Expr> Inferrer::Value(const Expr& e) {
  switch (e.kind()) {
    case GraphKind::kVar:
      return Resolved(e);
    case GraphKind::kTuple: {
      std::vector<Expr> fields;
      for (const Expr& field : e.As<graph::TupleNode>()->fields) {
        KILN_ASSIGN_OR_RETURN(fields.emplace_back(), Leaf(field));
      }
      return graph::TupleOf(std::move(fields));
    }
    case GraphKind::kTupleItem: {
      const auto* item = e.As<graph::TupleItemNode>();
      KILN_ASSIGN_OR_RETURN(Expr tuple, Leaf(item->tuple));
      return graph::Item(std::move(tuple), item->index);
    }
    case GraphKind::kCall:
      return Call(*e.As<graph::CallNode>());
    case GraphKind::kMatchCast:
      return Cast(*e.As<graph::MatchCastNode>());
    case GraphKind::kIf:
      return If(*e.As<graph::IfNode>());
    case GraphKind::kSeq:
      return Seq(e);
    case GraphKind::kFunction: {
      KILN_ASSIGN_OR_RETURN(graph::GraphFunction f,
                            Function(*e.As<graph::FunctionNode>()));
      return Expr(f);
    }
    case GraphKind::kGlobalVar:
    case GraphKind::kExtern:
    case GraphKind::kOp:
    case GraphKind::kConstant:
    case GraphKind::kPrim:
    case GraphKind::kString:
    case GraphKind::kDataType:
    case GraphKind::kShape:
      break;
  }
  return e;
}

// A field that the tuple does not have is refused here, since nothing can be
// said of it.
absl::Status CheckItem(const graph::TupleItemNode& item) {
  const StructInfo info = graph::InfoOf(item.tuple);
  if (!info || info.kind() == graph::InfoKind::kObject) return absl::OkStatus();
  const auto* tuple = info.As<graph::TupleInfo>();
  if (!tuple) {
    return absl::InvalidArgumentError(absl::StrCat(
        "only tuples have fields, and this is ", PrintStructInfo(info)));
  }
  const auto count = static_cast<int>(tuple->fields.size());
  if (item.index >= 0 && item.index < count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there is no field ", item.index, " in a tuple of ", count));
}

absl::StatusOr<StructInfo> Inferrer::InfoOf(const Expr& value) {
  if (const auto* call = value.As<graph::CallNode>()) {
    return InferCall(*call, {&module_, &analyzer_});
  }
  if (const auto* branch = value.As<graph::IfNode>()) {
    return graph::Join(visible_.at(branch->then_body.get()),
                       visible_.at(branch->else_body.get()), analyzer_);
  }
  if (value.As<graph::SeqNode>()) return visible_.at(value.get());
  if (const auto* item = value.As<graph::TupleItemNode>()) {
    KILN_RETURN_IF_ERROR(CheckItem(*item));
  }
  const StructInfo info = graph::InfoOf(value);
  return info ? info : graph::Object();
}

// A number that is not known gets a name, by which extents speak of it.
StructInfo NamedNumber(const std::string& name, const StructInfo& info) {
  const auto* number = info.As<graph::PrimInfo>();
  if (!number || number->value) return info;
  return graph::Prim(number->dtype, kiln::Var(name, number->dtype));
}

// Adds `var = value` to the innermost block.
absl::Status Inferrer::Bound(const Var& var, Expr value) {
  absl::StatusOr<StructInfo> info = InfoOf(value);
  if (!info.ok()) return Annotate(info.status(), var->name);
  std::vector<graph::Binding>& out = scopes_.back().blocks.back().bindings;
  if (!var->info) {
    const StructInfo named = NamedNumber(var->name, *info);
    if (named.get() != info->get()) Define(named);
    out.push_back({Renewed(var, named), std::move(value)});
    return absl::OkStatus();
  }
  const StructInfo wanted = graph::Substitute(var->info, renewed_);
  const Fit fit = graph::Fits(*info, wanted, analyzer_);
  if (fit == Fit::kNever) {
    return absl::InvalidArgumentError(
        absl::StrCat(var->name, " is annotated as ", PrintStructInfo(wanted),
                     ", and its value is ", PrintStructInfo(*info), "\n    ",
                     PrintGraphExpr(value)));
  }
  if (fit == Fit::kPerhaps) {
    if (!IsLeaf(value)) {
      const Var unchecked("lv", *info, var->is_dataflow);
      out.push_back({unchecked, std::move(value)});
      value = unchecked;
    }
    value = Expr(new graph::MatchCastNode(std::move(value), wanted));
    Define(wanted);
  }
  out.push_back({Renewed(var, wanted), std::move(value)});
  return absl::OkStatus();
}

// The signature is known before the body, which may call the function by its
// variable.
absl::Status Inferrer::NestedFunction(const graph::Binding& binding) {
  const auto& f = *binding.value.As<graph::FunctionNode>();
  const StructInfo declared =
      graph::Substitute(graph::SignatureOf(f), renewed_);
  const Var first = Renewed(binding.var, declared);
  KILN_ASSIGN_OR_RETURN(graph::GraphFunction inferred, Function(f));
  const Var var = Renewed(binding.var, graph::SignatureOf(*inferred));
  Expr value = inferred;
  if (var != first)
    value = graph::Substitute(value, {{}, {{first.get(), var}}});
  scopes_.back().blocks.back().bindings.push_back({var, std::move(value)});
  return absl::OkStatus();
}

absl::Status Inferrer::Binding(const graph::Binding& binding) {
  if (binding.value.kind() == GraphKind::kFunction) {
    return NestedFunction(binding);
  }
  absl::StatusOr<Expr> value = Value(binding.value);
  if (!value.ok()) return Annotate(value.status(), binding.var->name);
  return Bound(binding.var, *std::move(value));
}

absl::Status Inferrer::Block(const BindingBlock& block) {
  scopes_.back().blocks.push_back({block.is_dataflow, {}});
  for (const graph::Binding& binding : block.bindings) {
    KILN_RETURN_IF_ERROR(Binding(binding));
  }
  return absl::OkStatus();
}

bool IsLastBinding(const Expr& result,
                   const std::vector<BindingBlock>& blocks) {
  for (size_t i = blocks.size(); i-- > 0;) {
    const BindingBlock& block = blocks[i];
    if (block.bindings.empty()) continue;
    return !block.is_dataflow &&
           block.bindings.back().var.get() == result.get();
  }
  return false;
}

absl::StatusOr<Expr> Inferrer::Seq(const Expr& e, Result kind) {
  const auto* seq = e.As<graph::SeqNode>();
  scopes_.emplace_back();
  for (size_t i = 0; seq && i < seq->blocks.size(); ++i) {
    KILN_RETURN_IF_ERROR(Block(seq->blocks[i]));
  }
  // What the result needs stands outside of dataflow blocks.
  scopes_.back().blocks.push_back({false, {}});
  KILN_ASSIGN_OR_RETURN(Expr result, Leaf(seq ? seq->result : e));
  if (kind == Result::kLastBinding &&
      !IsLastBinding(result, scopes_.back().blocks)) {
    const Var var("lv", {}, false);
    KILN_RETURN_IF_ERROR(Bound(var, std::move(result)));
    result = Resolved(var);
  }
  const Expr built =
      graph::Seq(std::move(scopes_.back().blocks), std::move(result));
  visible_[built.get()] = Visible(graph::InfoOf(built));
  scopes_.pop_back();
  return built;
}

// `info` as the result of a function, which speaks of dimensions that stand in
// the shapes of its parameters, or around it: what a number or a shape is that
// is a parameter itself, its signature does not say.
StructInfo Inferrer::AsResult(const std::vector<Var>& params,
                              const StructInfo& info) const {
  std::set<const kiln::VarNode*> known;
  for (const Var& param : params) {
    if (param->info.As<graph::PrimInfo>()) continue;
    for (const kiln::Var& var : graph::DefinedScalars(param->info)) {
      known.insert(var.get());
    }
  }
  for (size_t i = 0; i + 1 < scopes_.size(); ++i) {
    known.insert(scopes_[i].scalars.begin(), scopes_[i].scalars.end());
  }
  return graph::Forget(
      info, {[&](const kiln::VarNode* var) { return known.count(var) > 0; },
             [](const graph::VarNode*) { return false; }});
}

absl::StatusOr<graph::GraphFunction> Inferrer::Function(
    const graph::FunctionNode& f) {
  graph::FunctionFields fields = f.fields();
  if (!f.body) return graph::GraphFunction(std::move(fields));
  scopes_.emplace_back();
  for (Var& param : fields.params) {
    const StructInfo info = graph::Substitute(param->info, renewed_);
    param = Renewed(param, info ? info : graph::Object());
    Define(param->info);
  }
  KILN_ASSIGN_OR_RETURN(fields.body, Seq(f.body));
  StructInfo result = AsResult(fields.params, visible_.at(fields.body.get()));
  if (f.result) {
    const StructInfo wanted = graph::Substitute(f.result, renewed_);
    const Fit fit = graph::Fits(result, wanted, analyzer_);
    if (fit == Fit::kNever) {
      return absl::InvalidArgumentError(
          absl::StrCat("the result is annotated as ", PrintStructInfo(wanted),
                       " and is ", PrintStructInfo(result)));
    }
    // What is found may say more than what is annotated.
    if (fit == Fit::kPerhaps) result = wanted;
  }
  scopes_.pop_back();
  fields.result = std::move(result);
  return graph::GraphFunction(std::move(fields));
}

// Infers functions that others call before these, where their results are not
// annotated.
class ModuleInferrer {
 public:
  explicit ModuleInferrer(Module module) : module_(std::move(module)) {}

  absl::StatusOr<Module> Infer() {
    for (size_t i = 0; i < module_.graph_functions.size(); ++i) {
      KILN_RETURN_IF_ERROR(Infer(i));
    }
    return std::move(module_);
  }

 private:
  absl::Status Infer(size_t index) {
    if (!started_.insert(index).second) return absl::OkStatus();
    const graph::GraphFunction f = module_.graph_functions[index];
    if (f->body) KILN_RETURN_IF_ERROR(InferCallees(f->body));
    absl::StatusOr<graph::GraphFunction> inferred = InferFunction(*f, module_);
    if (!inferred.ok()) return inferred.status();
    module_.graph_functions[index] = *std::move(inferred);
    return absl::OkStatus();
  }

  absl::Status InferCallees(const Expr& body) {
    std::vector<std::string> names;
    graph::Visit(body, [&](const Expr& e) {
      if (const auto* global = e.As<graph::GlobalVarNode>()) {
        names.push_back(global->name);
      }
      return true;
    });
    for (size_t i = 0; i < module_.graph_functions.size(); ++i) {
      const graph::FunctionNode& callee = *module_.graph_functions[i];
      if (callee.result) continue;
      for (const std::string& name : names) {
        if (name == callee.name) KILN_RETURN_IF_ERROR(Infer(i));
      }
    }
    return absl::OkStatus();
  }

  Module module_;
  std::set<size_t> started_;
};

}  // namespace

absl::StatusOr<graph::GraphFunction> InferFunction(const graph::FunctionNode& f,
                                                   const Module& module) {
  absl::StatusOr<graph::GraphFunction> inferred = Inferrer(module).Function(f);
  if (!inferred.ok()) return Annotate(inferred.status(), f.name);
  return inferred;
}

absl::StatusOr<Module> InferModule(const Module& module) {
  return ModuleInferrer(module).Infer();
}

graph::Expr WithoutInfo(const graph::Expr& e) {
  graph::Expr bare = graph::RewriteBindings(
      e, [](const graph::Binding& binding, graph::Emitter& emit) {
        if (!binding.var->info) return false;
        const graph::Var var(binding.var->name, {}, binding.var->is_dataflow);
        emit.Emit(var, binding.value);
        emit.Replace(binding.var, var);
        return true;
      });
  const auto* f = bare.As<graph::FunctionNode>();
  if (!f) return bare;
  graph::FunctionFields fields = f->fields();
  fields.result = {};
  return graph::GraphFunction(std::move(fields));
}

}  // namespace kiln
