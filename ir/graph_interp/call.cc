// Calls. An op that is a computation on tensors is computed for the extents at
// hand: of R.add(x, y) with values of shapes (2, 3) and (3,), a call on two new
// variables with these extents is inferred and legalized in a module of its
// own, and the tensor function is interpreted.
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph_interp/evaluator.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/ops/in_place.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/legalize.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/tensor/returned_value.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::graph {
namespace {

// What one tensor of the interpreter may take.
constexpr int64_t kMostBytes = int64_t{1} << 32;

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

absl::StatusOr<Value> NewTensor(DType dtype, const Extents& extents) {
  int64_t bytes = dtype.bytes();
  for (int64_t extent : extents) {
    if (extent < 0) return Invalid("a tensor has a negative extent");
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMostBytes) {
      return absl::ResourceExhaustedError(
          "a tensor is larger than the interpreter takes");
    }
  }
  return TensorOf(kiln::Tensor(dtype, extents));
}

Value OneOrTuple(std::vector<Value> values) {
  if (values.size() == 1) return std::move(values[0]);
  return TupleOfValues(std::move(values));
}

// Arguments of the interpreter of tensor functions.
absl::StatusOr<std::vector<Argument>> ToArguments(
    const std::vector<Value>& values) {
  std::vector<Argument> args;
  for (const Value& value : values) {
    if (const auto* tensor = std::get_if<TensorValue>(&value)) {
      args.emplace_back(tensor->get());
    } else if (const auto* integer = std::get_if<int64_t>(&value)) {
      args.emplace_back(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      args.emplace_back(*real);
    } else {
      return Invalid("a tensor function takes tensors and numbers only");
    }
  }
  return args;
}

}  // namespace

absl::StatusOr<Value> Evaluator::EvaluateCall(const CallNode& call,
                                              Scope& scope) {
  KILN_ASSIGN_OR_RETURN(const auto memory, AsMemoryCall(call));
  if (memory) return EvaluateMemory(*memory, scope);
  if (const auto* op = call.callee.As<OpNode>()) {
    return CallOfOp(op->name, call, scope);
  }
  KILN_ASSIGN_OR_RETURN(std::vector<Value> args, EvaluateAll(call.args, scope));
  if (call.callee.As<ExternNode>()) {
    return CallPacked(call.callee, std::move(args), call.infos, scope);
  }
  const auto* global = call.callee.As<GlobalVarNode>();
  const kiln::Function* f = global ? module_.Find(global->name) : nullptr;
  if (f && ReturnedValue(*f)) return ValueOf(*f, args);
  if (f) {
    KILN_RETURN_IF_ERROR(RunTensorFunction(call.callee, args, module_));
    return TupleOfValues({});
  }
  KILN_ASSIGN_OR_RETURN(const Value callee, Evaluate(call.callee, scope));
  return Call(callee, std::move(args));
}

absl::StatusOr<Value> Evaluator::CallOfOp(const std::string& name,
                                          const CallNode& call, Scope& scope) {
  if (name == "call_tir" || name == "call_tir_with_grad") {
    return CallTensorFunction(call, scope, module_);
  }
  if (name == "call_tir_inplace") return CallInPlace(call, scope);
  if (name == "vm.call_tir_dyn") return CallDynamic(call, scope);
  if (name == "call_dps_packed") return CallDps(call, scope);
  if (name == "call_pure_packed" || name == "call_inplace_packed") {
    KILN_ASSIGN_OR_RETURN(
        std::vector<Value> args,
        EvaluateAll({call.args.begin() + 1, call.args.end()}, scope));
    return CallPacked(call.args[0], std::move(args), call.infos, scope);
  }
  if (name == "invoke_closure" || name == "invoke_pure_closure") {
    KILN_ASSIGN_OR_RETURN(const Value callee, Evaluate(call.args[0], scope));
    KILN_ASSIGN_OR_RETURN(std::vector<Value> args, Fields(call.args[1], scope));
    return Call(callee, std::move(args));
  }
  if (name == "make_closure") {
    KILN_ASSIGN_OR_RETURN(const Value callee, Evaluate(call.args[0], scope));
    const auto* f = std::get_if<std::shared_ptr<const ClosureValue>>(&callee);
    if (!f) return Invalid("R.make_closure needs a function");
    ClosureValue closure = **f;
    KILN_ASSIGN_OR_RETURN(closure.captured, Fields(call.args[1], scope));
    return Value(std::make_shared<const ClosureValue>(std::move(closure)));
  }
  if (name == "shape_of") {
    KILN_ASSIGN_OR_RETURN(const Value value, Evaluate(call.args[0], scope));
    const auto* tensor = std::get_if<TensorValue>(&value);
    if (!tensor) return Invalid("R.shape_of needs a tensor");
    return Value((*tensor)->shape);
  }
  return ComputeOp(call, scope);
}

absl::StatusOr<std::vector<Value>> Evaluator::Fields(const Expr& e,
                                                     Scope& scope) {
  KILN_ASSIGN_OR_RETURN(const Value value, Evaluate(e, scope));
  const auto* tuple = std::get_if<std::shared_ptr<const TupleValue>>(&value);
  if (tuple) return (*tuple)->fields;
  return std::vector<Value>{value};
}

absl::StatusOr<std::vector<Value>> Evaluator::NewTensors(
    const std::vector<StructInfo>& infos, const Scope& scope) {
  std::vector<Value> tensors;
  for (const StructInfo& info : infos) {
    const StructInfo known = Substitute(info, scope.known);
    const auto* tensor = known.As<TensorInfo>();
    if (!tensor || !tensor->extents() || tensor->dtype.is_void()) {
      return Invalid(
          absl::StrCat("the extents of a result have to be known, "
                       "not only ",
                       PrintStructInfo(info)));
    }
    KILN_ASSIGN_OR_RETURN(const Value extents,
                          ExtentsOf(*tensor->extents(), scope));
    KILN_ASSIGN_OR_RETURN(Value made,
                          NewTensor(tensor->dtype, std::get<Extents>(extents)));
    tensors.push_back(std::move(made));
  }
  return tensors;
}

absl::StatusOr<Value> Evaluator::ValueOf(const kiln::Function& f,
                                         const std::vector<Value>& args) {
  const DType dtype = ReturnedValue(f).dtype();
  kiln::Tensor result(dtype, {});
  KILN_ASSIGN_OR_RETURN(std::vector<Argument> arguments, ToArguments(args));
  arguments.emplace_back(&result);
  KILN_ASSIGN_OR_RETURN(const Interpreter interpreter,
                        Interpreter::Create(WithStoredValue(f)));
  KILN_RETURN_IF_ERROR(interpreter.Run(arguments, options_.tensor));
  if (dtype.is_float()) return Value(result.GetReal(0));
  return Value(result.GetInt(0));
}

absl::Status Evaluator::RunTensorFunction(const Expr& callee,
                                          const std::vector<Value>& args,
                                          const Module& module) {
  const auto* global = callee.As<GlobalVarNode>();
  const auto* packed = callee.As<ExternNode>();
  const kiln::Function* f = nullptr;
  if (global || packed) f = module.Find(global ? global->name : packed->name);
  if (!f) {
    return Invalid(absl::StrCat(PrintGraphExpr(callee),
                                " is no tensor function of the module"));
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<Argument> arguments,
                        ToArguments(args));
  KILN_ASSIGN_OR_RETURN(const Interpreter interpreter, Interpreter::Create(*f));
  return interpreter.Run(arguments, options_.tensor);
}

absl::Status Evaluator::RunTensorFunction(const CallNode& call,
                                          std::vector<Value> args, Scope& scope,
                                          const Module& module) {
  if (call.args.size() > 2) {
    KILN_ASSIGN_OR_RETURN(const Value numbers, Evaluate(call.args[2], scope));
    if (const auto* extents = std::get_if<Extents>(&numbers)) {
      args.insert(args.end(), extents->begin(), extents->end());
    }
  }
  return RunTensorFunction(call.args[0], args, module);
}

// Shapes among the arguments are numbers one by one.
absl::StatusOr<Value> Evaluator::CallDynamic(const CallNode& call,
                                             Scope& scope) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Value> fields,
                        Fields(call.args[1], scope));
  std::vector<Value> args;
  for (const Value& field : fields) {
    if (const auto* extents = std::get_if<Extents>(&field)) {
      args.insert(args.end(), extents->begin(), extents->end());
    } else {
      args.push_back(field);
    }
  }
  KILN_RETURN_IF_ERROR(RunTensorFunction(call.args[0], args, module_));
  return TupleOfValues({});
}

absl::StatusOr<Value> Evaluator::CallTensorFunction(const CallNode& call,
                                                    Scope& scope,
                                                    const Module& module) {
  KILN_ASSIGN_OR_RETURN(std::vector<Value> args, Fields(call.args[1], scope));
  KILN_ASSIGN_OR_RETURN(std::vector<Value> outputs,
                        NewTensors(call.infos, scope));
  args.insert(args.end(), outputs.begin(), outputs.end());
  KILN_RETURN_IF_ERROR(RunTensorFunction(call, args, scope, module));
  return OneOrTuple(std::move(outputs));
}

absl::StatusOr<Value> Evaluator::CallInPlace(const CallNode& call,
                                             Scope& scope) {
  KILN_ASSIGN_OR_RETURN(std::vector<Value> args, Fields(call.args[1], scope));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> indices,
                        InPlaceIndices(call, args.size()));
  std::vector<Value> outputs;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0) {
      outputs.push_back(args[indices[i]]);
      continue;
    }
    KILN_ASSIGN_OR_RETURN(std::vector<Value> made,
                          NewTensors({call.infos[i]}, scope));
    outputs.push_back(made[0]);
    args.push_back(std::move(made[0]));
  }
  KILN_RETURN_IF_ERROR(RunTensorFunction(call, args, scope, module_));
  return OneOrTuple(std::move(outputs));
}

absl::StatusOr<Value> Evaluator::CallPacked(
    const Expr& callee, std::vector<Value> args,
    const std::vector<StructInfo>& infos, Scope& scope) {
  const auto* packed = callee.As<ExternNode>();
  if (!packed) {
    return Invalid(
        absl::StrCat(PrintGraphExpr(callee), " is no packed function"));
  }
  const auto* table = options_.packed;
  const auto it =
      table ? table->find(packed->name) : PackedTable::const_iterator();
  if (!table || it == table->end()) {
    return absl::NotFoundError(absl::StrCat(
        "nobody gave the interpreter the packed function ", packed->name));
  }
  KILN_ASSIGN_OR_RETURN(Value value, it->second(args));
  if (infos.empty()) return value;
  KILN_RETURN_IF_ERROR(MatchValue(
      value, infos.size() == 1 ? infos[0] : graph::Tuple(infos), scope));
  return value;
}

absl::StatusOr<Value> Evaluator::CallDps(const CallNode& call, Scope& scope) {
  KILN_ASSIGN_OR_RETURN(std::vector<Value> args, Fields(call.args[1], scope));
  KILN_ASSIGN_OR_RETURN(std::vector<Value> outputs,
                        NewTensors(call.infos, scope));
  args.insert(args.end(), outputs.begin(), outputs.end());
  // A tensor function of the module may be called by its name, too.
  const auto* packed = call.args[0].As<ExternNode>();
  const bool is_own = packed && module_.Find(packed->name);
  KILN_RETURN_IF_ERROR(
      is_own ? RunTensorFunction(call, args, scope, module_)
             : CallPacked(call.args[0], std::move(args), {}, scope).status());
  return OneOrTuple(std::move(outputs));
}

Expr Evaluator::LeafFor(const Value& value, Scope& scope) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return graph::Number(Int(*integer));
  }
  if (const auto* text = std::get_if<std::string>(&value)) return Text(*text);
  if (const auto* extents = std::get_if<Extents>(&value)) {
    std::vector<Scalar> values;
    for (int64_t extent : *extents) values.push_back(Int(extent));
    return ShapeOf(std::move(values));
  }
  if (const auto* tuple =
          std::get_if<std::shared_ptr<const TupleValue>>(&value)) {
    std::vector<Expr> fields;
    for (const Value& field : (*tuple)->fields) {
      fields.push_back(LeafFor(field, scope));
    }
    return TupleOf(std::move(fields));
  }
  Var var("x", InfoOfValue(value));
  scope.values[var.get()] = value;
  return var;
}

absl::StatusOr<Value> Evaluator::ComputeOp(const CallNode& call, Scope& scope) {
  const std::string& name = call.callee.As<OpNode>()->name;
  Scope own;  // of the new call
  std::vector<Expr> args;
  for (const Expr& arg : call.args) {
    const auto* constant = arg.As<ConstantNode>();
    const bool is_constant =
        (constant && constant->is_known()) || arg.As<DataTypeNode>() ||
        (arg.As<PrimNode>() && arg.As<PrimNode>()->value.dtype().is_float());
    if (is_constant) {
      args.push_back(arg);
      continue;
    }
    if (const auto* number = arg.As<PrimNode>()) {
      args.push_back(graph::Number(analyzer_.Simplify(
          kiln::Substitute(number->value, scope.known.scalars))));
      continue;
    }
    KILN_ASSIGN_OR_RETURN(const Value value, Evaluate(arg, scope));
    args.push_back(LeafFor(value, own));
  }
  const Expr known = CallOp(name, std::move(args), call.attrs, call.infos);
  const auto& node = *known.As<CallNode>();
  Module made;
  const OpContext context{&made, &analyzer_};
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferCall(node, context));
  std::vector<Binding> bindings;  // none: tuples stand as such in the call
  Substitution none;
  Emitter emit(/*is_dataflow=*/false, &bindings, &none);
  KILN_ASSIGN_OR_RETURN(const Expr legal, LegalizeCall(node, info, emit, made));
  if (!legal) {
    return absl::UnimplementedError(absl::StrCat(
        "R.", name, " has no lowering for ", PrintGraphExpr(known)));
  }
  const auto* lowered = legal.As<CallNode>();
  if (lowered && lowered->IsOp("call_tir")) {
    return CallTensorFunction(*lowered, own, made);
  }
  return Evaluate(legal, own);
}

}  // namespace kiln::graph
