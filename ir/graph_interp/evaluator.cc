// Expressions, from the outside in; what is called is in call.cc. A scope holds
// the values of variables and, as constants, the dimensions that parameters and
// casts told. A local function keeps a copy of the scope in which it stands.
#include "kiln/ir/graph_interp/evaluator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::graph {
namespace {

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

absl::Status Explain(const std::string& where, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(where, ": ", status.message()));
}

absl::StatusOr<Value> ConstantValue(const ConstantNode& constant) {
  KILN_RETURN_IF_ERROR(graph::CheckHasBytes(constant));
  kiln::Tensor tensor(constant.dtype, constant.shape);
  const std::string_view bytes = constant.data->bytes();
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return TensorOf(std::move(tensor));
}

absl::StatusOr<bool> IsTrue(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer != 0;
  const auto* tensor = std::get_if<TensorValue>(&value);
  if (tensor && (*tensor)->size() == 1 && (*tensor)->dtype.is_bool()) {
    return (*tensor)->GetInt(0) != 0;
  }
  return Invalid("a condition has to be one bool");
}

// A local function that sees itself as `self`.
Value Named(const Value& function, const Var& self) {
  ClosureValue closure =
      *std::get<std::shared_ptr<const ClosureValue>>(function);
  closure.self = self;
  return std::make_shared<const ClosureValue>(std::move(closure));
}

// Counts how deep calls are.
class Nesting {
 public:
  explicit Nesting(int* depth) : depth_(depth) { ++*depth_; }
  ~Nesting() { --*depth_; }

 private:
  int* depth_;
};

}  // namespace

absl::StatusOr<Value> InterpretGraph(const Module& module,
                                     const std::string& function,
                                     absl::Span<const Value> args,
                                     const GraphInterpOptions& options) {
  const FunctionNode* f = module.FindGraph(function);
  if (!f) {
    return absl::NotFoundError(
        absl::StrCat("no graph function is called ", function));
  }
  return Evaluator(module, options)
      .Call(*f, std::vector<Value>(args.begin(), args.end()));
}

absl::StatusOr<Value> Evaluator::Call(const FunctionNode& f,
                                      std::vector<Value> args, Scope scope) {
  const Nesting nesting(&depth_);
  if (depth_ > options_.max_depth) {
    return absl::ResourceExhaustedError(
        absl::StrCat(f.name, " is called within more than ", options_.max_depth,
                     " calls; a recursion without end?"));
  }
  if (args.size() != f.params.size()) {
    return Invalid(absl::StrCat(f.name, " takes ", f.params.size(),
                                " arguments, got ", args.size()));
  }
  if (!f.body) return Invalid(absl::StrCat(f.name, " is only declared"));
  // (2 * n,) may stand ahead of the parameter that says what n is.
  for (size_t i = 0; i < args.size(); ++i) {
    Match(f.params[i]->info, InfoOfValue(args[i]), scope.known);
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const Var& param = f.params[i];
    const absl::Status status = MatchValue(args[i], param->info, scope);
    if (!status.ok()) {
      return Explain(absl::StrCat(f.name, ": ", param->name), status);
    }
    scope.values[param.get()] = std::move(args[i]);
  }
  absl::StatusOr<Value> result = Evaluate(f.body, scope);
  if (!result.ok()) return Explain(f.name, result.status());
  return result;
}

absl::StatusOr<Value> Evaluator::Call(const Value& closure,
                                      std::vector<Value> args) {
  const auto* held = std::get_if<std::shared_ptr<const ClosureValue>>(&closure);
  if (!held) return Invalid("a value is called that is no function");
  const ClosureValue& callee = **held;
  args.insert(args.end(), callee.captured.begin(), callee.captured.end());
  Scope scope = callee.scope;
  if (callee.self) scope.values[callee.self.get()] = closure;
  return Call(*callee.function, std::move(args), std::move(scope));
}

absl::StatusOr<Value> Evaluator::Evaluate(const Expr& e, Scope& scope) {
  switch (e.kind()) {
    case GraphKind::kVar: {
      const auto* var = e.As<VarNode>();
      const auto it = scope.values.find(var);
      if (it != scope.values.end()) return it->second;
      return Invalid(absl::StrCat("variable ", var->name, " has no value"));
    }
    case GraphKind::kGlobalVar:
      return FunctionOf(*e.As<GlobalVarNode>());
    case GraphKind::kConstant:
      return ConstantValue(*e.As<ConstantNode>());
    case GraphKind::kPrim:
      return Number(e.As<PrimNode>()->value, scope);
    case GraphKind::kString:
      return Value(e.As<StringNode>()->name);
    case GraphKind::kDataType:
      return Value(e.As<DataTypeNode>()->dtype);
    case GraphKind::kShape:
      return ExtentsOf(e.As<ShapeNode>()->values, scope);
    case GraphKind::kTuple: {
      KILN_ASSIGN_OR_RETURN(std::vector<Value> fields,
                            EvaluateAll(e.As<TupleNode>()->fields, scope));
      return TupleOfValues(std::move(fields));
    }
    case GraphKind::kTupleItem: {
      const auto& item = *e.As<TupleItemNode>();
      KILN_ASSIGN_OR_RETURN(const std::vector<Value> fields,
                            Fields(item.tuple, scope));
      if (item.index < 0 || fields.size() <= static_cast<size_t>(item.index)) {
        return Invalid(absl::StrCat("a tuple has no field ", item.index));
      }
      return fields[item.index];
    }
    case GraphKind::kCall:
      return EvaluateCall(*e.As<CallNode>(), scope);
    case GraphKind::kMatchCast: {
      const auto& cast = *e.As<MatchCastNode>();
      KILN_ASSIGN_OR_RETURN(Value value, Evaluate(cast.value, scope));
      KILN_RETURN_IF_ERROR(MatchValue(value, cast.info, scope));
      return value;
    }
    case GraphKind::kIf:
      return EvaluateIf(*e.As<IfNode>(), scope);
    case GraphKind::kSeq:
      return EvaluateSeq(*e.As<SeqNode>(), scope);
    case GraphKind::kFunction: {
      ClosureValue closure;
      closure.function = e.As<FunctionNode>();
      closure.scope = scope;
      return Value(std::make_shared<const ClosureValue>(std::move(closure)));
    }
    case GraphKind::kExtern:
    case GraphKind::kOp:
      break;
  }
  return Invalid(absl::StrCat(PrintGraphExpr(e), " is no value"));
}

absl::StatusOr<std::vector<Value>> Evaluator::EvaluateAll(
    const std::vector<Expr>& es, Scope& scope) {
  std::vector<Value> values;
  for (const Expr& e : es) {
    KILN_ASSIGN_OR_RETURN(Value value, Evaluate(e, scope));
    values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<Value> Evaluator::EvaluateSeq(const SeqNode& seq, Scope& scope) {
  for (const BindingBlock& block : seq.blocks) {
    for (const Binding& binding : block.bindings) {
      if (++bindings_ > options_.max_bindings) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "more than ", options_.max_bindings, " bindings were computed"));
      }
      absl::StatusOr<Value> value = Evaluate(binding.value, scope);
      if (!value.ok()) return Explain(binding.var->name, value.status());
      scope.values[binding.var.get()] = binding.value.As<FunctionNode>()
                                            ? Named(*value, binding.var)
                                            : *std::move(value);
    }
  }
  return Evaluate(seq.result, scope);
}

absl::StatusOr<Value> Evaluator::EvaluateIf(const IfNode& branch,
                                            Scope& scope) {
  KILN_ASSIGN_OR_RETURN(const Value condition,
                        Evaluate(branch.condition, scope));
  KILN_ASSIGN_OR_RETURN(const bool holds, IsTrue(condition));
  return Evaluate(holds ? branch.then_body : branch.else_body, scope);
}

absl::StatusOr<Value> Evaluator::FunctionOf(const GlobalVarNode& global) const {
  ClosureValue closure;
  closure.function = module_.FindGraph(global.name);
  if (!closure.function) {
    return Invalid(absl::StrCat("no graph function is called ", global.name));
  }
  return Value(std::make_shared<const ClosureValue>(std::move(closure)));
}

absl::StatusOr<Value> Evaluator::Number(const Scalar& e, const Scope& scope) {
  const Scalar known =
      analyzer_.Simplify(kiln::Substitute(e, scope.known.scalars));
  if (const int64_t* integer = AsInt(known)) return Value(*integer);
  if (const auto* real = known.As<FloatImmNode>()) return Value(real->value);
  return Invalid(absl::StrCat("nothing tells the numbers in ", PrintExpr(e)));
}

absl::StatusOr<Value> Evaluator::ExtentsOf(const std::vector<Scalar>& es,
                                           const Scope& scope) {
  Extents extents;
  for (const Scalar& e : es) {
    KILN_ASSIGN_OR_RETURN(const Value number, Number(e, scope));
    const auto* extent = std::get_if<int64_t>(&number);
    if (!extent) {
      return Invalid(absl::StrCat(PrintExpr(e), " is no extent"));
    }
    extents.push_back(*extent);
  }
  return Value(std::move(extents));
}

absl::Status Evaluator::MatchValue(const Value& value, const StructInfo& info,
                                   Scope& scope) {
  if (!info || info.kind() == InfoKind::kObject) return absl::OkStatus();
  const StructInfo given = InfoOfValue(value);
  Match(info, given, scope.known);
  const StructInfo wanted = Substitute(info, scope.known);
  // Numbers are kept as int64 and float64, whatever their type.
  if (info.kind() == InfoKind::kPrim && given.kind() == InfoKind::kPrim) {
    return absl::OkStatus();
  }
  if (Fits(given, wanted, analyzer_) == Fit::kAlways) return absl::OkStatus();
  return Invalid(absl::StrCat("expected ", PrintStructInfo(wanted), ", got ",
                              PrintStructInfo(given)));
}

}  // namespace kiln::graph
