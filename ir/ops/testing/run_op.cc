// Bindings of main are carried out in order: values are lists of tensors, one
// for a tensor and one for each field of a tuple.
//
//   lv = R.call_tir(cls.f, (x, n), ...)    f runs on x, n and what it writes
//   y = lv[0]                              the first that it wrote
#include "kiln/ir/ops/testing/run_op.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/legalize.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using Values = std::vector<Tensor>;

class Runner {
 public:
  explicit Runner(const Module& module) : module_(module) {}

  void SetNumber(const Expr& e, int64_t value) {
    const auto* var = e.As<VarNode>();
    if (var && !dims_.count(var)) dims_[var] = Int(value);
  }
  void SetNumbers(const Expr& e, const std::map<std::string, int64_t>& named) {
    const auto* var = e.As<VarNode>();
    const auto found = var ? named.find(var->name) : named.end();
    if (found != named.end()) SetNumber(e, found->second);
  }
  absl::Status Bind(const graph::Var& param,
                    const std::map<std::string, Tensor>& tensors,
                    const std::map<std::string, int64_t>& numbers);
  absl::Status Run(const graph::Binding& binding);
  absl::StatusOr<Values> ValuesOf(const graph::Expr& e);

 private:
  absl::StatusOr<int64_t> Evaluate(const Expr& e);
  absl::StatusOr<Values> Call(const graph::CallNode& call);
  absl::Status Cast(const graph::MatchCastNode& cast, Values& values);
  absl::StatusOr<Tensor> Allocated(const graph::StructInfo& info);

  const Module& module_;
  VarMap dims_;
  std::map<const graph::VarNode*, Values> values_;
};

absl::Status Runner::Bind(const graph::Var& param,
                          const std::map<std::string, Tensor>& tensors,
                          const std::map<std::string, int64_t>& numbers) {
  const auto* tensor = param->info.As<graph::TensorInfo>();
  if (const auto* prim = param->info.As<graph::PrimInfo>()) {
    SetNumbers(prim->value, numbers);
  }
  if (const auto* shape = param->info.As<graph::ShapeInfo>()) {
    for (const Expr& e : *shape->values) SetNumbers(e, numbers);
  }
  if (!tensor) return absl::OkStatus();
  const auto value = tensors.find(param->name);
  if (value == tensors.end()) {
    return absl::NotFoundError(absl::StrCat("no tensor for ", param->name));
  }
  values_[param.get()] = {value->second};
  for (size_t d = 0; tensor->extents() && d < tensor->extents()->size(); ++d) {
    SetNumber((*tensor->extents())[d], value->second.shape[d]);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Runner::Evaluate(const Expr& e) {
  const Expr value = Analyzer().Simplify(Substitute(e, dims_));
  if (const int64_t* known = AsInt(value)) return *known;
  return absl::InternalError("a dimension is not known");
}

absl::StatusOr<Tensor> Runner::Allocated(const graph::StructInfo& info) {
  const auto* tensor = info.As<graph::TensorInfo>();
  std::vector<int64_t> shape;
  for (const Expr& extent : *tensor->extents()) {
    KILN_ASSIGN_OR_RETURN(shape.emplace_back(), Evaluate(extent));
  }
  return Tensor(tensor->dtype, std::move(shape));
}

absl::StatusOr<Values> Runner::ValuesOf(const graph::Expr& e) {
  if (const auto* var = e.As<graph::VarNode>()) return values_.at(var);
  if (const auto* constant = e.As<graph::ConstantNode>()) {
    Tensor tensor(constant->dtype, constant->shape);
    std::memcpy(tensor.bytes.data(), constant->data->bytes().data(),
                tensor.bytes.size());
    return Values{std::move(tensor)};
  }
  if (const auto* item = e.As<graph::TupleItemNode>()) {
    KILN_ASSIGN_OR_RETURN(const Values tuple, ValuesOf(item->tuple));
    return Values{tuple.at(item->index)};
  }
  if (const auto* shape = e.As<graph::ShapeNode>()) {
    Tensor extents(DType::Int(64),
                   {static_cast<int64_t>(shape->values.size())});
    for (size_t k = 0; k < shape->values.size(); ++k) {
      KILN_ASSIGN_OR_RETURN(const int64_t value, Evaluate(shape->values[k]));
      extents.SetInt(k, value);
    }
    return Values{std::move(extents)};
  }
  Values fields;
  if (const auto* tuple = e.As<graph::TupleNode>()) {
    for (const graph::Expr& field : tuple->fields) {
      KILN_ASSIGN_OR_RETURN(const Values value, ValuesOf(field));
      fields.insert(fields.end(), value.begin(), value.end());
    }
    return fields;
  }
  return absl::UnimplementedError(graph::Expr(e) ? PrintGraphExpr(e) : "null");
}

// The number that this is; null for a tensor.
graph::Scalar NumberOf(const graph::Expr& e) {
  if (const auto* number = e.As<graph::PrimNode>()) return number->value;
  const graph::StructInfo info = graph::InfoOf(e);
  const auto* prim = info.As<graph::PrimInfo>();
  return prim ? prim->value : graph::Scalar();
}

absl::StatusOr<Values> Runner::Call(const graph::CallNode& call) {
  if (call.IsOp("call_pure_packed")) {
    const auto* packed = call.args[0].As<graph::ExternNode>();
    if (packed && packed->name == "kiln.builtin.tensor_to_shape") {
      return ValuesOf(call.args[1]);
    }
  }
  if (!call.IsOp("call_tir")) {
    return absl::FailedPreconditionError(
        absl::StrCat("not lowered: ", PrintGraphExpr(graph::Expr(&call))));
  }
  const auto* name = call.args[0].As<graph::GlobalVarNode>();
  Values tensors, outputs;
  std::vector<int64_t> numbers;
  for (const graph::Expr& arg : call.args[1].As<graph::TupleNode>()->fields) {
    if (const graph::Scalar number = NumberOf(arg)) {
      KILN_ASSIGN_OR_RETURN(numbers.emplace_back(), Evaluate(number));
      continue;
    }
    KILN_ASSIGN_OR_RETURN(const Values value, ValuesOf(arg));
    tensors.push_back(value.front());
  }
  for (const graph::StructInfo& info : call.infos) {
    KILN_ASSIGN_OR_RETURN(outputs.emplace_back(), Allocated(info));
  }
  std::vector<Argument> args;
  for (Tensor& tensor : tensors) args.push_back(&tensor);
  for (const int64_t number : numbers) args.push_back(number);
  for (Tensor& output : outputs) args.push_back(&output);
  KILN_ASSIGN_OR_RETURN(const Interpreter interpreter,
                        Interpreter::Create(*module_.Find(name->name)));
  KILN_RETURN_IF_ERROR(interpreter.Run(args));
  return outputs;
}

// shape: R.Shape([b0, b1]) = R.match_cast(R.tensor_to_shape(x), ...) tells the
// variables from the elements of x, and compares what is known of them.
absl::Status Runner::Cast(const graph::MatchCastNode& cast, Values& values) {
  KILN_ASSIGN_OR_RETURN(values, ValuesOf(cast.value));
  const auto* shape = cast.info.As<graph::ShapeInfo>();
  for (int k = 0; shape && shape->values && k < shape->rank; ++k) {
    const int64_t own = values.at(0).GetInt(k);
    SetNumber((*shape->values)[k], own);
    KILN_ASSIGN_OR_RETURN(const int64_t wanted, Evaluate((*shape->values)[k]));
    if (own != wanted) return absl::FailedPreconditionError("a cast fails");
  }
  return absl::OkStatus();
}

absl::Status Runner::Run(const graph::Binding& binding) {
  Values& values = values_[binding.var.get()];
  if (const auto* cast = binding.value.As<graph::MatchCastNode>()) {
    return Cast(*cast, values);
  }
  const auto* call = binding.value.As<graph::CallNode>();
  if (call) {
    KILN_ASSIGN_OR_RETURN(values, Call(*call));
  } else {
    KILN_ASSIGN_OR_RETURN(values, ValuesOf(binding.value));
  }
  return absl::OkStatus();
}

}  // namespace

Tensor Numbers(std::vector<int64_t> shape, const std::vector<double>& values,
               DType dtype) {
  Tensor tensor(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.Set(static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

std::vector<double> ValuesOf(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    values.push_back(tensor.GetReal(i));
  }
  return values;
}

absl::StatusOr<Module> LegalizedCall(const std::string& params,
                                     const std::string& call) {
  KILN_ASSIGN_OR_RETURN(
      const Module module,
      ParseModule("g.py",
                  absl::StrCat("@R.function\ndef main(", params,
                               "):\n    y = R.", call, "\n    return y\n")));
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  return LegalizeOps(inferred);
}

absl::StatusOr<std::vector<Tensor>> RunOp(
    const std::string& params, const std::string& call,
    const std::map<std::string, Tensor>& tensors,
    const std::map<std::string, int64_t>& numbers) {
  KILN_ASSIGN_OR_RETURN(const Module module, LegalizedCall(params, call));
  const graph::FunctionNode& main = *module.FindGraph("main");
  Runner runner(module);
  for (const graph::Var& param : main.params) {
    KILN_RETURN_IF_ERROR(runner.Bind(param, tensors, numbers));
  }
  const auto* body = main.body.As<graph::SeqNode>();
  for (const graph::BindingBlock& block : body->blocks) {
    for (const graph::Binding& binding : block.bindings) {
      KILN_RETURN_IF_ERROR(runner.Run(binding));
    }
  }
  return runner.ValuesOf(body->result);
}

absl::StatusOr<std::vector<double>> ValuesOfOp(
    const std::string& params, const std::string& call,
    const std::map<std::string, Tensor>& tensors,
    const std::map<std::string, int64_t>& numbers) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                        RunOp(params, call, tensors, numbers));
  if (results.size() == 1) return ValuesOf(results[0]);
  return absl::FailedPreconditionError(
      absl::StrCat("the call gives ", results.size(), " tensors"));
}

}  // namespace kiln
