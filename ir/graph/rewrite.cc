// One way to rebuild: operands first, in order of evaluation, with a
// substitution that grows on the way. A binding whose variable gets other
// struct info binds a new variable, and the substitution sends the old one to
// it:
//
//   n -> 4:   y: R.Tensor((n,)) = f(x)       y1: R.Tensor((4,)) = f(x)
//             z: R.Tensor((n,)) = g(y)       z1: R.Tensor((4,)) = g(y1)
#include "kiln/ir/graph/rewrite.h"

#include <functional>
#include <optional>
#include <utility>

namespace kiln::graph {
namespace {

std::vector<Expr> MapList(const std::vector<Expr>& list,
                          FunctionRef<Expr(const Expr&)> map, bool& changed) {
  std::vector<Expr> mapped;
  mapped.reserve(list.size());
  for (const Expr& e : list) {
    mapped.push_back(map(e));
    changed = changed || mapped.back().get() != e.get();
  }
  return mapped;
}

std::vector<Scalar> MapScalars(const std::vector<Scalar>& list,
                               FunctionRef<Scalar(const Scalar&)> map,
                               bool& changed) {
  std::vector<Scalar> mapped;
  mapped.reserve(list.size());
  for (const Scalar& value : list) {
    mapped.push_back(map(value));
    changed = changed || mapped.back().get() != value.get();
  }
  return mapped;
}

Expr MapSeq(const Expr& e, const SeqNode& seq,
            FunctionRef<Expr(const Expr&)> map) {
  bool changed = false;
  std::vector<BindingBlock> blocks = seq.blocks;
  for (BindingBlock& block : blocks) {
    for (Binding& binding : block.bindings) {
      Expr value = map(binding.value);
      changed = changed || value.get() != binding.value.get();
      binding.value = std::move(value);
    }
  }
  Expr result = map(seq.result);
  changed = changed || result.get() != seq.result.get();
  return changed ? Seq(std::move(blocks), std::move(result)) : e;
}

Expr MapIf(const Expr& e, const IfNode& branch,
           FunctionRef<Expr(const Expr&)> map) {
  Expr condition = map(branch.condition);
  Expr then_body = map(branch.then_body);
  Expr else_body = map(branch.else_body);
  if (condition.get() == branch.condition.get() &&
      then_body.get() == branch.then_body.get() &&
      else_body.get() == branch.else_body.get()) {
    return e;
  }
  return Expr(new IfNode(std::move(condition), std::move(then_body),
                         std::move(else_body)));
}

Expr MapCall(const Expr& e, const CallNode& call,
             FunctionRef<Expr(const Expr&)> map) {
  bool changed = false;
  Expr callee = map(call.callee);
  changed = callee.get() != call.callee.get();
  std::vector<Expr> args = MapList(call.args, map, changed);
  if (!changed) return e;
  return Expr(
      new CallNode(std::move(callee), std::move(args), call.attrs, call.infos));
}

}  // namespace

Expr MapOperands(const Expr& e, FunctionRef<Expr(const Expr&)> map) {
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
      return e;
    case GraphKind::kTuple: {
      bool changed = false;
      std::vector<Expr> fields =
          MapList(e.As<TupleNode>()->fields, map, changed);
      return changed ? TupleOf(std::move(fields)) : e;
    }
    case GraphKind::kTupleItem: {
      const auto* item = e.As<TupleItemNode>();
      Expr tuple = map(item->tuple);
      return tuple.get() == item->tuple.get()
                 ? e
                 : Item(std::move(tuple), item->index);
    }
    case GraphKind::kCall:
      return MapCall(e, *e.As<CallNode>(), map);
    case GraphKind::kMatchCast: {
      const auto* cast = e.As<MatchCastNode>();
      Expr value = map(cast->value);
      return value.get() == cast->value.get()
                 ? e
                 : Expr(new MatchCastNode(std::move(value), cast->info));
    }
    case GraphKind::kIf:
      return MapIf(e, *e.As<IfNode>(), map);
    case GraphKind::kSeq:
      return MapSeq(e, *e.As<SeqNode>(), map);
    case GraphKind::kFunction: {
      const auto* f = e.As<FunctionNode>();
      if (!f->body) return e;
      Expr body = map(f->body);
      return body.get() == f->body.get() ? e : WithBody(*f, std::move(body));
    }
  }
  return e;
}

Expr Rewrite(const Expr& e, FunctionRef<Expr(const Expr&)> rewrite) {
  if (Expr replacement = rewrite(e)) return replacement;
  return MapOperands(
      e, [&](const Expr& operand) { return Rewrite(operand, rewrite); });
}

namespace {

StructInfo MapTensorInfo(const StructInfo& info, const TensorInfo& tensor,
                         FunctionRef<Scalar(const Scalar&)> map_scalar,
                         FunctionRef<Expr(const Expr&)> map_shape) {
  if (const auto* extents = tensor.extents()) {
    bool changed = false;
    std::vector<Scalar> mapped = MapScalars(*extents, map_scalar, changed);
    return changed ? Tensor(std::move(mapped), tensor.dtype, tensor.device)
                   : info;
  }
  if (!tensor.shape) return info;
  Expr shape = map_shape(tensor.shape);
  if (shape.get() == tensor.shape.get()) return info;
  const auto* known = shape.As<ShapeNode>();
  const int rank = known ? static_cast<int>(known->values.size()) : tensor.rank;
  return StructInfo(
      new TensorInfo(std::move(shape), rank, tensor.dtype, tensor.device));
}

std::vector<StructInfo> MapInfos(const std::vector<StructInfo>& list,
                                 FunctionRef<Scalar(const Scalar&)> map_scalar,
                                 FunctionRef<Expr(const Expr&)> map_shape,
                                 bool& changed) {
  std::vector<StructInfo> mapped;
  for (const StructInfo& info : list) {
    mapped.push_back(MapInfo(info, map_scalar, map_shape));
    changed = changed || mapped.back().get() != info.get();
  }
  return mapped;
}

StructInfo MapFunctionInfo(const StructInfo& info, const FunctionInfo& function,
                           FunctionRef<Scalar(const Scalar&)> map_scalar,
                           FunctionRef<Expr(const Expr&)> map_shape) {
  bool changed = false;
  std::optional<std::vector<StructInfo>> params = function.params;
  if (params) *params = MapInfos(*params, map_scalar, map_shape, changed);
  StructInfo result = MapInfo(function.result, map_scalar, map_shape);
  changed = changed || result.get() != function.result.get();
  return changed
             ? Callable(std::move(params), std::move(result), function.is_pure)
             : info;
}

}  // namespace

StructInfo MapInfo(const StructInfo& info,
                   FunctionRef<Scalar(const Scalar&)> map_scalar,
                   FunctionRef<Expr(const Expr&)> map_shape) {
  if (!info) return info;
  switch (info.kind()) {
    case InfoKind::kObject:
      return info;
    case InfoKind::kPrim: {
      const auto* prim = info.As<PrimInfo>();
      if (!prim->value) return info;
      Scalar value = map_scalar(prim->value);
      return value.get() == prim->value.get()
                 ? info
                 : Prim(prim->dtype, std::move(value));
    }
    case InfoKind::kShape: {
      const auto* shape = info.As<ShapeInfo>();
      if (!shape->values) return info;
      bool changed = false;
      std::vector<Scalar> values =
          MapScalars(*shape->values, map_scalar, changed);
      return changed ? Shape(std::move(values)) : info;
    }
    case InfoKind::kTensor:
      return MapTensorInfo(info, *info.As<TensorInfo>(), map_scalar, map_shape);
    case InfoKind::kTuple: {
      bool changed = false;
      std::vector<StructInfo> fields = MapInfos(info.As<TupleInfo>()->fields,
                                                map_scalar, map_shape, changed);
      return changed ? Tuple(std::move(fields)) : info;
    }
    case InfoKind::kFunction:
      return MapFunctionInfo(info, *info.As<FunctionInfo>(), map_scalar,
                             map_shape);
  }
  return info;
}

StructInfo Substitute(const StructInfo& info, const Substitution& s) {
  if (s.is_empty()) return info;
  return MapInfo(
      info,
      [&](const Scalar& value) { return kiln::Substitute(value, s.scalars); },
      [&](const Expr& shape) {
        const auto found = s.vars.find(shape.As<VarNode>());
        return found == s.vars.end() ? shape : found->second;
      });
}

namespace {

// Rebuilds with a substitution that grows as variables are renewed.
class Rebuilder {
 public:
  explicit Rebuilder(Substitution substitution)
      : substitution_(std::move(substitution)) {}

  Expr Rebuild(const Expr& e);

  // Whether every variable that is bound is renewed.
  bool renews = false;
  // Asked about each binding where it is set.
  const BindingRule* rule = nullptr;
  // What becomes of numbers and extents where it is set.
  const FunctionRef<Scalar(const Scalar&)>* map = nullptr;

 private:
  Expr Resolve(Expr e) const;
  Var Bound(const Var& var);
  Expr RebuildShape(const Expr& e);
  Expr RebuildCall(const CallNode& call);
  Expr RebuildSeq(const Expr& e);
  Expr RebuildFunction(const FunctionNode& f);
  void Bind(const Binding& binding, bool is_dataflow,
            std::vector<Binding>& out);
  StructInfo Rebuild(const StructInfo& info) {
    const StructInfo own = Substitute(info, substitution_);
    if (!own || !map) return own;
    return MapInfo(own, *map, [](const Expr& shape) { return shape; });
  }
  Scalar Rebuild(const Scalar& value) {
    const Scalar own = kiln::Substitute(value, substitution_.scalars);
    return own && map ? (*map)(own) : own;
  }

  Substitution substitution_;
};

// A variable that was renewed may have been replaced after that.
Expr Rebuilder::Resolve(Expr e) const {
  auto found = substitution_.vars.find(e.As<VarNode>());
  while (found != substitution_.vars.end() && found->second.get() != e.get()) {
    e = found->second;
    found = substitution_.vars.find(e.As<VarNode>());
  }
  return e;
}

Var Rebuilder::Bound(const Var& var) {
  const Expr known = Resolve(var);
  if (known.get() != var.get() && known.As<VarNode>()) {
    return Var(known.As<VarNode>());
  }
  StructInfo info = Rebuild(var->info);
  if (!renews && info.get() == var->info.get()) return var;
  Var renewed(var->name, std::move(info), var->is_dataflow);
  substitution_.vars[var.get()] = renewed;
  return renewed;
}

Expr Rebuilder::RebuildShape(const Expr& e) {
  bool changed = false;
  std::vector<Scalar> values = MapScalars(
      e.As<ShapeNode>()->values,
      [&](const Scalar& value) { return Rebuild(value); }, changed);
  return changed ? ShapeOf(std::move(values)) : e;
}

Expr Rebuilder::RebuildCall(const CallNode& call) {
  std::vector<Expr> args;
  for (const Expr& arg : call.args) args.push_back(Rebuild(arg));
  std::vector<StructInfo> infos;
  for (const StructInfo& info : call.infos) infos.push_back(Rebuild(info));
  return Expr(new CallNode(Rebuild(call.callee), std::move(args), call.attrs,
                           std::move(infos)));
}

void Rebuilder::Bind(const Binding& binding, bool is_dataflow,
                     std::vector<Binding>& out) {
  // A function may call itself by the variable.
  const bool is_function = binding.value.kind() == GraphKind::kFunction;
  Binding rebuilt;
  if (is_function) rebuilt.var = Bound(binding.var);
  rebuilt.value = Rebuild(binding.value);
  if (!is_function) rebuilt.var = Bound(binding.var);
  Emitter emitter(is_dataflow, &out, &substitution_);
  if (rule && (*rule)(rebuilt, emitter)) return;
  out.push_back(std::move(rebuilt));
}

Expr Rebuilder::RebuildSeq(const Expr& e) {
  const auto& seq = *e.As<SeqNode>();
  std::vector<BindingBlock> blocks;
  for (const BindingBlock& block : seq.blocks) {
    BindingBlock rebuilt{block.is_dataflow, {}};
    for (const Binding& binding : block.bindings) {
      Bind(binding, block.is_dataflow, rebuilt.bindings);
    }
    if (!rebuilt.bindings.empty()) blocks.push_back(std::move(rebuilt));
  }
  return Seq(std::move(blocks), Rebuild(seq.result));
}

Expr Rebuilder::RebuildFunction(const FunctionNode& f) {
  FunctionFields fields = f.fields();
  for (Var& param : fields.params) param = Bound(param);
  fields.result = Rebuild(f.result);
  if (f.body) fields.body = Rebuild(f.body);
  return GraphFunction(std::move(fields));
}

Expr Rebuilder::Rebuild(const Expr& e) {
  switch (e.kind()) {
    case GraphKind::kVar:
      return Resolve(e);
    case GraphKind::kPrim: {
      const auto* prim = e.As<PrimNode>();
      Scalar value = Rebuild(prim->value);
      return value.get() == prim->value.get() ? e : Number(std::move(value));
    }
    case GraphKind::kShape:
      return RebuildShape(e);
    case GraphKind::kCall:
      return RebuildCall(*e.As<CallNode>());
    case GraphKind::kMatchCast: {
      const auto* cast = e.As<MatchCastNode>();
      return Expr(new MatchCastNode(Rebuild(cast->value), Rebuild(cast->info)));
    }
    case GraphKind::kSeq:
      return RebuildSeq(e);
    case GraphKind::kFunction:
      return RebuildFunction(*e.As<FunctionNode>());
    case GraphKind::kGlobalVar:
    case GraphKind::kExtern:
    case GraphKind::kOp:
    case GraphKind::kConstant:
    case GraphKind::kString:
    case GraphKind::kDataType:
    case GraphKind::kTuple:
    case GraphKind::kTupleItem:
    case GraphKind::kIf:
      break;
  }
  return MapOperands(e, [&](const Expr& operand) { return Rebuild(operand); });
}

}  // namespace

Expr RewriteScalars(const Expr& e, FunctionRef<Scalar(const Scalar&)> map) {
  Rebuilder rebuilder({});
  rebuilder.map = &map;
  return rebuilder.Rebuild(e);
}

Expr Substitute(const Expr& e, const Substitution& substitution) {
  return Rebuilder(substitution).Rebuild(e);
}

Expr WithFreshVars(const Expr& e) {
  Rebuilder rebuilder({});
  rebuilder.renews = true;
  return rebuilder.Rebuild(e);
}

Var Emitter::Emit(Expr value, std::string name) {
  Var var(std::move(name), {}, is_dataflow_);
  Emit(var, std::move(value));
  return var;
}

Expr RewriteBindings(const Expr& e, BindingRule rule) {
  Rebuilder rebuilder({});
  rebuilder.rule = &rule;
  return rebuilder.Rebuild(e);
}

GraphFunction WithBody(const FunctionNode& f, Expr body) {
  FunctionFields fields = f.fields();
  fields.body = std::move(body);
  return GraphFunction(std::move(fields));
}

}  // namespace kiln::graph
