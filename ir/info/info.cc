// Every operation goes through the kinds once. Tensors are the one kind with
// several parts that may be unknown each: shape, rank, type, device. A part
// that `wanted` leaves open fits whatever the value has; a part that the value
// leaves open fits perhaps.
//
//   Join(Tensor((n, 3), f32), Tensor((n, 4), f32)) = Tensor(ndim=2, f32)
#include "kiln/ir/info/info.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::graph {
namespace {

StructInfo OrObject(const StructInfo& info) { return info ? info : Object(); }

StructInfo ConstantInfo(const ConstantNode& constant) {
  if (!constant.is_known()) {
    return TensorOfRank(kUnknownRank, DType::Void());
  }
  std::vector<Scalar> extents;
  for (const int64_t extent : constant.shape) extents.push_back(Int(extent));
  return Tensor(std::move(extents), constant.dtype);
}

StructInfo ItemInfo(const TupleItemNode& item) {
  const StructInfo info = InfoOf(item.tuple);
  const auto* tuple = info.As<TupleInfo>();
  if (!tuple || item.index < 0 ||
      item.index >= static_cast<int>(tuple->fields.size())) {
    return {};
  }
  return tuple->fields[item.index];
}

StructInfo TupleInfoOf(const TupleNode& tuple) {
  std::vector<StructInfo> fields;
  for (const Expr& field : tuple.fields) {
    fields.push_back(OrObject(InfoOf(field)));
  }
  return Tuple(std::move(fields));
}

}  // namespace

StructInfo SignatureOf(const FunctionNode& f) {
  std::vector<StructInfo> params;
  for (const Var& param : f.params) params.push_back(OrObject(param->info));
  return Callable(std::move(params), OrObject(f.result), f.is_pure);
}

StructInfo InfoOf(const Expr& e) {
  switch (e.kind()) {
    case GraphKind::kVar:
      return e.As<VarNode>()->info;
    case GraphKind::kConstant:
      return ConstantInfo(*e.As<ConstantNode>());
    case GraphKind::kPrim: {
      const Scalar& value = e.As<PrimNode>()->value;
      return Prim(value.dtype(), value);
    }
    case GraphKind::kShape:
      return Shape(e.As<ShapeNode>()->values);
    case GraphKind::kTuple:
      return TupleInfoOf(*e.As<TupleNode>());
    case GraphKind::kTupleItem:
      return ItemInfo(*e.As<TupleItemNode>());
    case GraphKind::kMatchCast:
      return e.As<MatchCastNode>()->info;
    case GraphKind::kSeq:
      return InfoOf(e.As<SeqNode>()->result);
    case GraphKind::kFunction:
      return SignatureOf(*e.As<FunctionNode>());
    case GraphKind::kString:
    case GraphKind::kDataType:
      return Object();
    case GraphKind::kGlobalVar:
    case GraphKind::kExtern:
    case GraphKind::kOp:
    case GraphKind::kCall:
    case GraphKind::kIf:
      break;
  }
  return {};
}

// --- Fits.

namespace {

Fit Worst(Fit a, Fit b) { return std::min(a, b); }

Fit FitScalar(const Scalar& value, const Scalar& wanted, Analyzer& analyzer) {
  if (value.dtype() != wanted.dtype()) return Fit::kPerhaps;
  if (analyzer.CanProveEqual(value, wanted)) return Fit::kAlways;
  const Scalar differ = Binary(ExprKind::kNE, value, wanted);
  return analyzer.CanProve(differ) ? Fit::kNever : Fit::kPerhaps;
}

Fit FitScalars(const std::vector<Scalar>& value,
               const std::vector<Scalar>& wanted, Analyzer& analyzer) {
  if (value.size() != wanted.size()) return Fit::kNever;
  Fit fit = Fit::kAlways;
  for (size_t i = 0; i < value.size(); ++i) {
    fit = Worst(fit, FitScalar(value[i], wanted[i], analyzer));
  }
  return fit;
}

Fit FitRank(int value, int wanted) {
  if (wanted == kUnknownRank || value == wanted) return Fit::kAlways;
  return value == kUnknownRank ? Fit::kPerhaps : Fit::kNever;
}

Fit FitPrim(const PrimInfo& value, const PrimInfo& wanted, Analyzer& analyzer) {
  if (value.dtype != wanted.dtype) return Fit::kNever;
  if (!wanted.value) return Fit::kAlways;
  return value.value ? FitScalar(value.value, wanted.value, analyzer)
                     : Fit::kPerhaps;
}

Fit FitShape(const ShapeInfo& value, const ShapeInfo& wanted,
             Analyzer& analyzer) {
  const Fit rank = FitRank(value.rank, wanted.rank);
  if (rank == Fit::kNever || !wanted.values) return rank;
  return value.values ? FitScalars(*value.values, *wanted.values, analyzer)
                      : Fit::kPerhaps;
}

// Extents of a tensor's shape, where a variable is known to hold them, too.
const std::vector<Scalar>* ExtentsOf(const TensorInfo& tensor) {
  if (const auto* extents = tensor.extents()) return extents;
  const auto* var = tensor.shape.As<VarNode>();
  const auto* shape = var ? var->info.As<ShapeInfo>() : nullptr;
  return shape && shape->values ? &*shape->values : nullptr;
}

Fit FitTensorShape(const TensorInfo& value, const TensorInfo& wanted,
                   Analyzer& analyzer) {
  if (!wanted.shape || (value.shape.get() == wanted.shape.get())) {
    return FitRank(value.rank, wanted.rank);
  }
  if (FitRank(value.rank, wanted.rank) == Fit::kNever) return Fit::kNever;
  const auto* have = ExtentsOf(value);
  const auto* want = ExtentsOf(wanted);
  return have && want ? FitScalars(*have, *want, analyzer) : Fit::kPerhaps;
}

Fit FitTensor(const TensorInfo& value, const TensorInfo& wanted,
              Analyzer& analyzer) {
  Fit fit = FitTensorShape(value, wanted, analyzer);
  if (!wanted.dtype.is_void() && value.dtype != wanted.dtype) {
    fit = Worst(fit, value.dtype.is_void() ? Fit::kPerhaps : Fit::kNever);
  }
  if (!wanted.device.empty() && value.device != wanted.device) {
    fit = Worst(fit, value.device.empty() ? Fit::kPerhaps : Fit::kNever);
  }
  return fit;
}

Fit FitList(const std::vector<StructInfo>& value,
            const std::vector<StructInfo>& wanted, Analyzer& analyzer) {
  if (value.size() != wanted.size()) return Fit::kNever;
  Fit fit = Fit::kAlways;
  for (size_t i = 0; i < value.size(); ++i) {
    fit = Worst(fit, Fits(value[i], wanted[i], analyzer));
  }
  return fit;
}

// Parameters the other way round. Dimensions of signatures are their own, so
// that those of the other one stand for them.
Fit FitFunction(const FunctionInfo& value, const FunctionInfo& wanted,
                Analyzer& analyzer) {
  if (wanted.is_pure && !value.is_pure) return Fit::kNever;
  if (!value.params || !wanted.params) {
    return wanted.params ? Fit::kPerhaps
                         : Fits(value.result, wanted.result, analyzer);
  }
  if (value.params->size() != wanted.params->size()) return Fit::kNever;
  Substitution known;
  for (size_t i = 0; i < value.params->size(); ++i) {
    Match((*value.params)[i], (*wanted.params)[i], known);
  }
  std::vector<StructInfo> params;
  for (const StructInfo& param : *value.params) {
    params.push_back(Substitute(param, known));
  }
  return Worst(FitList(*wanted.params, params, analyzer),
               Fits(Substitute(value.result, known), wanted.result, analyzer));
}

bool SaysNothing(const StructInfo& info) {
  return !info || info.kind() == InfoKind::kObject;
}

}  // namespace

Fit Fits(const StructInfo& value, const StructInfo& wanted,
         Analyzer& analyzer) {
  if (SaysNothing(wanted) || value.get() == wanted.get()) return Fit::kAlways;
  if (SaysNothing(value)) return Fit::kPerhaps;
  if (value.kind() != wanted.kind()) return Fit::kNever;
  switch (value.kind()) {
    case InfoKind::kObject:
      return Fit::kAlways;
    case InfoKind::kPrim:
      return FitPrim(*value.As<PrimInfo>(), *wanted.As<PrimInfo>(), analyzer);
    case InfoKind::kShape:
      return FitShape(*value.As<ShapeInfo>(), *wanted.As<ShapeInfo>(),
                      analyzer);
    case InfoKind::kTensor:
      return FitTensor(*value.As<TensorInfo>(), *wanted.As<TensorInfo>(),
                       analyzer);
    case InfoKind::kTuple:
      return FitList(value.As<TupleInfo>()->fields,
                     wanted.As<TupleInfo>()->fields, analyzer);
    case InfoKind::kFunction:
      return FitFunction(*value.As<FunctionInfo>(), *wanted.As<FunctionInfo>(),
                         analyzer);
  }
  return Fit::kPerhaps;
}

bool SameInfo(const StructInfo& a, const StructInfo& b, Analyzer& analyzer) {
  return Fits(a, b, analyzer) == Fit::kAlways &&
         Fits(b, a, analyzer) == Fit::kAlways;
}

// --- Join.

namespace {

StructInfo JoinTensors(const TensorInfo& a, const TensorInfo& b,
                       Analyzer& analyzer) {
  const DType dtype = a.dtype == b.dtype ? a.dtype : DType::Void();
  const std::string device = a.device == b.device ? a.device : "";
  const int rank = a.rank == b.rank ? a.rank : kUnknownRank;
  if (a.shape && b.shape && a.rank == b.rank &&
      FitTensorShape(a, b, analyzer) == Fit::kAlways) {
    return StructInfo(new TensorInfo(a.shape, a.rank, dtype, device));
  }
  return TensorOfRank(rank, dtype, device);
}

StructInfo JoinFunctions(const StructInfo& a, const StructInfo& b,
                         Analyzer& analyzer) {
  if (Fits(a, b, analyzer) == Fit::kAlways) return b;
  if (Fits(b, a, analyzer) == Fit::kAlways) return a;
  const auto& f = *a.As<FunctionInfo>();
  const auto& g = *b.As<FunctionInfo>();
  return Callable(std::nullopt, Join(f.result, g.result, analyzer),
                  f.is_pure && g.is_pure);
}

StructInfo JoinTuples(const TupleInfo& a, const TupleInfo& b,
                      Analyzer& analyzer) {
  if (a.fields.size() != b.fields.size()) return Object();
  std::vector<StructInfo> fields;
  for (size_t i = 0; i < a.fields.size(); ++i) {
    fields.push_back(Join(a.fields[i], b.fields[i], analyzer));
  }
  return Tuple(std::move(fields));
}

}  // namespace

StructInfo Join(const StructInfo& a, const StructInfo& b, Analyzer& analyzer) {
  if (SaysNothing(a) || SaysNothing(b) || a.kind() != b.kind()) {
    return Object();
  }
  switch (a.kind()) {
    case InfoKind::kObject:
      break;
    case InfoKind::kPrim: {
      const auto& x = *a.As<PrimInfo>();
      const auto& y = *b.As<PrimInfo>();
      if (x.dtype != y.dtype) return Object();
      const bool same =
          x.value && y.value && analyzer.CanProveEqual(x.value, y.value);
      return same ? a : Prim(x.dtype);
    }
    case InfoKind::kShape: {
      const auto& x = *a.As<ShapeInfo>();
      const auto& y = *b.As<ShapeInfo>();
      if (FitShape(x, y, analyzer) == Fit::kAlways && y.values) return a;
      return ShapeOfRank(x.rank == y.rank ? x.rank : kUnknownRank);
    }
    case InfoKind::kTensor:
      return JoinTensors(*a.As<TensorInfo>(), *b.As<TensorInfo>(), analyzer);
    case InfoKind::kTuple:
      return JoinTuples(*a.As<TupleInfo>(), *b.As<TupleInfo>(), analyzer);
    case InfoKind::kFunction:
      return JoinFunctions(a, b, analyzer);
  }
  return Object();
}

// --- Forget.

namespace {

bool Knows(const KnownVars& known, const Scalar& e) {
  return !UsesVar(e,
                  [&](const kiln::VarNode* var) { return !known.scalar(var); });
}

bool Knows(const KnownVars& known, const std::vector<Scalar>& list) {
  return std::all_of(list.begin(), list.end(),
                     [&](const Scalar& e) { return Knows(known, e); });
}

StructInfo ForgetFields(const TupleInfo& tuple, const KnownVars& known) {
  std::vector<StructInfo> fields;
  for (const StructInfo& field : tuple.fields) {
    fields.push_back(Forget(field, known));
  }
  return Tuple(std::move(fields));
}

StructInfo ForgetShape(const StructInfo& info, const TensorInfo& tensor,
                       const KnownVars& known) {
  const auto* extents = tensor.extents();
  const auto* var = tensor.shape.As<VarNode>();
  if ((extents && !Knows(known, *extents)) || (var && !known.shape(var))) {
    return TensorOfRank(tensor.rank, tensor.dtype, tensor.device);
  }
  return info;
}

// Dimensions that parameters bring in are known in the result.
StructInfo ForgetFunction(const FunctionInfo& function,
                          const KnownVars& known) {
  KnownVars inner = known;
  std::vector<const kiln::VarNode*> own;
  if (function.params) {
    for (const StructInfo& param : *function.params) {
      for (const kiln::Var& var : DefinedScalars(param)) {
        own.push_back(var.get());
      }
    }
  }
  inner.scalar = [&](const kiln::VarNode* var) {
    return std::find(own.begin(), own.end(), var) != own.end() ||
           known.scalar(var);
  };
  return Callable(function.params, Forget(function.result, inner),
                  function.is_pure);
}

}  // namespace

StructInfo Forget(const StructInfo& info, const KnownVars& known) {
  if (!info) return info;
  switch (info.kind()) {
    case InfoKind::kObject:
      return info;
    case InfoKind::kPrim: {
      const auto* prim = info.As<PrimInfo>();
      return prim->value && !Knows(known, prim->value) ? Prim(prim->dtype)
                                                       : info;
    }
    case InfoKind::kShape: {
      const auto* shape = info.As<ShapeInfo>();
      return shape->values && !Knows(known, *shape->values)
                 ? ShapeOfRank(shape->rank)
                 : info;
    }
    case InfoKind::kTensor:
      return ForgetShape(info, *info.As<TensorInfo>(), known);
    case InfoKind::kTuple:
      return ForgetFields(*info.As<TupleInfo>(), known);
    case InfoKind::kFunction:
      return ForgetFunction(*info.As<FunctionInfo>(), known);
  }
  return info;
}

// --- Calls of functions.

namespace {

void MatchScalar(const Scalar& param, const Scalar& arg, Substitution& known) {
  if (const auto* var = param.As<kiln::VarNode>()) {
    known.scalars.emplace(var, arg);
  }
}

void MatchScalars(const std::vector<Scalar>& params,
                  const std::vector<Scalar>& args, Substitution& known) {
  if (params.size() != args.size()) return;
  for (size_t i = 0; i < params.size(); ++i) {
    MatchScalar(params[i], args[i], known);
  }
}

void MatchTensors(const TensorInfo& param, const TensorInfo& arg,
                  Substitution& known) {
  if (const auto* var = param.shape.As<VarNode>()) {
    if (arg.shape) known.vars.emplace(var, arg.shape);
    return;
  }
  const auto* wanted = param.extents();
  const auto* have = ExtentsOf(arg);
  if (wanted && have) MatchScalars(*wanted, *have, known);
}

void MatchFunctions(const FunctionInfo& param, const FunctionInfo& arg,
                    Substitution& known) {
  if (param.params && arg.params &&
      param.params->size() == arg.params->size()) {
    for (size_t i = 0; i < param.params->size(); ++i) {
      Match((*param.params)[i], (*arg.params)[i], known);
    }
  }
  Match(param.result, arg.result, known);
}

}  // namespace

void Match(const StructInfo& param, const StructInfo& arg,
           Substitution& known) {
  if (!param || !arg || param.kind() != arg.kind()) return;
  switch (param.kind()) {
    case InfoKind::kObject:
      return;
    case InfoKind::kPrim: {
      const auto* wanted = param.As<PrimInfo>();
      const auto* have = arg.As<PrimInfo>();
      if (wanted->value && have->value) {
        MatchScalar(wanted->value, have->value, known);
      }
      return;
    }
    case InfoKind::kShape: {
      const auto* wanted = param.As<ShapeInfo>();
      const auto* have = arg.As<ShapeInfo>();
      if (wanted->values && have->values) {
        MatchScalars(*wanted->values, *have->values, known);
      }
      return;
    }
    case InfoKind::kTensor:
      return MatchTensors(*param.As<TensorInfo>(), *arg.As<TensorInfo>(),
                          known);
    case InfoKind::kTuple: {
      const auto& wanted = param.As<TupleInfo>()->fields;
      const auto& have = arg.As<TupleInfo>()->fields;
      for (size_t i = 0; i < std::min(wanted.size(), have.size()); ++i) {
        Match(wanted[i], have[i], known);
      }
      return;
    }
    case InfoKind::kFunction:
      return MatchFunctions(*param.As<FunctionInfo>(), *arg.As<FunctionInfo>(),
                            known);
  }
}

absl::StatusOr<StructInfo> ResultOf(const FunctionInfo& function,
                                    const std::vector<StructInfo>& args,
                                    Analyzer& analyzer) {
  if (!function.params) return function.result;
  const std::vector<StructInfo>& params = *function.params;
  if (params.size() != args.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the function takes ", params.size(), " arguments and ",
                     args.size(), " are given"));
  }
  Substitution known;
  for (size_t i = 0; i < params.size(); ++i) Match(params[i], args[i], known);
  for (size_t i = 0; i < params.size(); ++i) {
    const StructInfo wanted = Substitute(params[i], known);
    if (Fits(args[i], wanted, analyzer) != Fit::kNever) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("argument ", i + 1, " is ", PrintStructInfo(args[i]),
                     " and the function takes ", PrintStructInfo(wanted)));
  }
  std::vector<const kiln::VarNode*> own;
  for (const StructInfo& param : params) {
    for (const kiln::Var& var : DefinedScalars(param)) own.push_back(var.get());
  }
  // What the arguments do not tell of the function's own dimensions.
  const auto is_told = [&](const kiln::VarNode* var) {
    return known.scalars.count(var) > 0 ||
           std::find(own.begin(), own.end(), var) == own.end();
  };
  const StructInfo told =
      Forget(function.result, {is_told, [](const VarNode*) { return true; }});
  return Substitute(told, known);
}

namespace {

void AddDefined(const Scalar& e, std::vector<kiln::Var>& vars) {
  const auto* var = e.As<kiln::VarNode>();
  if (!var) return;
  const bool is_new =
      std::none_of(vars.begin(), vars.end(),
                   [&](const kiln::Var& known) { return known.get() == var; });
  if (is_new) vars.emplace_back(var);
}

void CollectDefined(const StructInfo& info, std::vector<kiln::Var>& vars) {
  if (const auto* tensor = info.As<TensorInfo>()) {
    if (const auto* extents = tensor->extents()) {
      for (const Scalar& extent : *extents) AddDefined(extent, vars);
    }
  } else if (const auto* shape = info.As<ShapeInfo>()) {
    if (!shape->values) return;
    for (const Scalar& value : *shape->values) AddDefined(value, vars);
  } else if (const auto* prim = info.As<PrimInfo>()) {
    if (prim->value) AddDefined(prim->value, vars);
  } else if (const auto* tuple = info.As<TupleInfo>()) {
    for (const StructInfo& field : tuple->fields) CollectDefined(field, vars);
  }
}

}  // namespace

std::vector<kiln::Var> DefinedScalars(const StructInfo& info) {
  std::vector<kiln::Var> vars;
  CollectDefined(info, vars);
  return vars;
}

namespace {

using ScalarSet = std::set<const kiln::VarNode*>;

void AddDefined(const StructInfo& info, ScalarSet& known) {
  for (const kiln::Var& var : DefinedScalars(info)) known.insert(var.get());
}

// Whether all dimensions that `info` speaks of are known behind it.
bool TellsAll(const StructInfo& info, ScalarSet known) {
  AddDefined(info, known);
  bool tells = true;
  VisitScalars(info, [&](const Scalar& e) {
    for (const kiln::Var& var : FreeVars(e)) {
      tells = tells && known.count(var.get()) > 0;
    }
  });
  return tells;
}

}  // namespace

std::vector<Var> InOrderOfDims(std::vector<Var> params) {
  ScalarSet told;
  std::vector<Var> ordered;
  while (!params.empty()) {
    auto next = std::find_if(
        params.begin(), params.end(),
        [&](const Var& param) { return TellsAll(param->info, told); });
    if (next == params.end()) next = params.begin();
    AddDefined((*next)->info, told);
    ordered.push_back(*next);
    params.erase(next);
  }
  return ordered;
}

}  // namespace kiln::graph
