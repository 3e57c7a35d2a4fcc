// Each binding becomes the instructions of its value, in order. Of
//
//   y = R.call_tir(cls.dense, (x, w), out_sinfo=R.Tensor((n, 128), "float32"))
//
// first comes an allocation of float32[n, 128], then the kernel's call on x, w
// and the new tensor. A variable stands for an operand, so that one which only
// renames another costs nothing. Every value has a register of its own at
// first (registers.h makes them few).
#include "kiln/codegen/graph/compile_function.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/graph/labels.h"
#include "kiln/codegen/graph/registers.h"
#include "kiln/codegen/host/dim.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/in_place.h"
#include "kiln/ir/ops/memory_call.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::StructInfo;
using vm::Instruction;
using vm::Opcode;
using vm::Operand;

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

Operand Register(int32_t index) {
  return {Operand::Kind::kRegister, false, index};
}

class FunctionCompiler {
 public:
  FunctionCompiler(const graph::FunctionNode& f, ExecutableTables& tables)
      : f_(f), tables_(tables), labels_(LabelsOf(f)) {}

  absl::StatusOr<vm::Function> Run() {
    out_.name = f_.name;
    out_.is_private = f_.is_private;
    for (const graph::Var& param : f_.params) {
      out_.params.push_back(param->name);
      places_[param.get()] = Register(out_.num_registers++);
    }
    for (const graph::Var& param : graph::InOrderOfDims(f_.params)) {
      label_ = tables_.AddString(param->name);
      KILN_RETURN_IF_ERROR(
          Explain(param->name, Match(places_[param.get()], param->info)));
    }
    label_ = Instruction::kNone;
    graph::Visit(f_.body, [&](const graph::Expr& e) {
      if (const auto* var = e.As<graph::VarNode>()) read_.insert(var);
      return true;
    });
    KILN_ASSIGN_OR_RETURN(const Operand result, Value(f_.body));
    Emit({Opcode::kReturn, Instruction::kNone}, {result});
    AssignRegisters(&out_);
    return std::move(out_);
  }

 private:
  absl::Status Explain(const std::string& what,
                       const absl::Status& status) const {
    if (status.ok()) return status;
    return absl::Status(
        status.code(),
        absl::StrCat(f_.name, ": ", what, ": ", std::string(status.message())));
  }

  // --- Instructions.

  void Emit(Instruction instruction, std::vector<Operand> args) {
    instruction.label = label_;
    instruction.args = std::move(args);
    out_.code.push_back(std::move(instruction));
  }

  // One with a result.
  Operand EmitValue(Opcode op, int32_t index, std::vector<Operand> args) {
    const int32_t dst = out_.num_registers++;
    Emit({op, dst, index}, std::move(args));
    return Register(dst);
  }

  // --- Numbers and types.

  absl::StatusOr<KernelDim> Dim(const Expr& e) const {
    std::optional<KernelDim> dim = ToKernelDim(e, dims_);
    if (dim) return *std::move(dim);
    return Invalid(absl::StrCat(
        PrintExpr(e),
        " cannot be worked out when the program runs: it needs "
        "variables that parameters or R.match_cast tell, and +, -, *, //, %, "
        "T.min, T.max and T.if_then_else of them"));
  }

  absl::StatusOr<Operand> NumberOperand(const Expr& e) {
    if (const auto* real = e.As<FloatImmNode>()) {
      return ConstantOperand(real->value);
    }
    KILN_ASSIGN_OR_RETURN(KernelDim dim, Dim(e));
    const auto known = std::find(out_.numbers.begin(), out_.numbers.end(), dim);
    const auto index = static_cast<int32_t>(known - out_.numbers.begin());
    if (known == out_.numbers.end()) out_.numbers.push_back(std::move(dim));
    return Operand{Operand::Kind::kNumber, false, index};
  }

  Operand ConstantOperand(const vm::Constant& constant) {
    return {Operand::Kind::kConstant, false, tables_.AddConstant(constant)};
  }

  // Dims that stand alone in struct info and are new get a place.
  void Define(const StructInfo& info) {
    for (const Var& var : graph::DefinedScalars(info)) {
      const auto next = static_cast<int>(out_.dims.size());
      if (dims_.emplace(var.get(), next).second) {
        out_.dims.push_back(var.name());
      }
    }
  }

  absl::Status SetDims(const std::vector<Expr>& values, vm::Type* type) const {
    type->has_dims = true;
    for (const Expr& value : values) {
      KILN_ASSIGN_OR_RETURN(KernelDim dim, Dim(value));
      type->dims.push_back(std::move(dim));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int32_t> TypeOf(const StructInfo& info) {
    vm::Type type;
    switch (info.kind()) {
      case graph::InfoKind::kObject:
        break;
      case graph::InfoKind::kPrim: {
        const auto& number = *info.As<graph::PrimInfo>();
        type.kind = vm::Type::Kind::kNumber;
        type.dtype = number.dtype;
        if (number.value && !number.dtype.is_float()) {
          KILN_RETURN_IF_ERROR(SetDims({number.value}, &type));
        }
        break;
      }
      case graph::InfoKind::kShape: {
        const auto& shape = *info.As<graph::ShapeInfo>();
        type.kind = vm::Type::Kind::kShape;
        type.rank = shape.rank;
        if (shape.values) KILN_RETURN_IF_ERROR(SetDims(*shape.values, &type));
        break;
      }
      case graph::InfoKind::kTensor: {
        const auto& tensor = *info.As<graph::TensorInfo>();
        type.kind = vm::Type::Kind::kTensor;
        type.dtype = tensor.dtype;
        type.rank = tensor.rank;
        if (const auto* extents = tensor.extents()) {
          KILN_RETURN_IF_ERROR(SetDims(*extents, &type));
        }
        break;
      }
      case graph::InfoKind::kTuple:
        type.kind = vm::Type::Kind::kTuple;
        for (const StructInfo& field : info.As<graph::TupleInfo>()->fields) {
          KILN_ASSIGN_OR_RETURN(const int32_t index, TypeOf(field));
          type.fields.push_back(index);
        }
        break;
      case graph::InfoKind::kFunction:
        type.kind = vm::Type::Kind::kFunction;
        break;
    }
    return tables_.AddType(type);
  }

  // Checks a value, and takes dims from it.
  absl::Status Match(const Operand& value, const StructInfo& info) {
    if (!info || info.kind() == graph::InfoKind::kObject) {
      return absl::OkStatus();
    }
    Define(info);
    KILN_ASSIGN_OR_RETURN(const int32_t type, TypeOf(info));
    Emit({Opcode::kMatch, Instruction::kNone, type}, {value});
    return absl::OkStatus();
  }

  // --- Expressions.

  absl::StatusOr<Operand> Value(const graph::Expr& e) {
    switch (e.kind()) {
      case graph::GraphKind::kVar:
        return Place(*e.As<graph::VarNode>());
      case graph::GraphKind::kGlobalVar:
        return Closure(e, {});
      case graph::GraphKind::kConstant: {
        KILN_ASSIGN_OR_RETURN(const int32_t index,
                              tables_.AddTensor(*e.As<graph::ConstantNode>()));
        return Operand{Operand::Kind::kConstant, false, index};
      }
      case graph::GraphKind::kPrim:
        return NumberOperand(e.As<graph::PrimNode>()->value);
      case graph::GraphKind::kString:
        return ConstantOperand(e.As<graph::StringNode>()->name);
      case graph::GraphKind::kDataType:
        return ConstantOperand(e.As<graph::DataTypeNode>()->dtype);
      case graph::GraphKind::kShape:
        return ShapeValue(e.As<graph::ShapeNode>()->values);
      case graph::GraphKind::kTuple: {
        KILN_ASSIGN_OR_RETURN(std::vector<Operand> fields,
                              Values(e.As<graph::TupleNode>()->fields));
        return EmitValue(Opcode::kTuple, Instruction::kNone, std::move(fields));
      }
      case graph::GraphKind::kTupleItem: {
        const auto& item = *e.As<graph::TupleItemNode>();
        KILN_ASSIGN_OR_RETURN(const Operand tuple, Value(item.tuple));
        return EmitValue(Opcode::kItem, item.index, {tuple});
      }
      case graph::GraphKind::kCall:
        return CallValue(*e.As<graph::CallNode>());
      case graph::GraphKind::kMatchCast: {
        const auto& cast = *e.As<graph::MatchCastNode>();
        KILN_ASSIGN_OR_RETURN(const Operand value, Value(cast.value));
        KILN_RETURN_IF_ERROR(Match(value, cast.info));
        return value;
      }
      case graph::GraphKind::kIf:
        return IfValue(*e.As<graph::IfNode>());
      case graph::GraphKind::kSeq:
        return SeqValue(*e.As<graph::SeqNode>());
      case graph::GraphKind::kExtern:
      case graph::GraphKind::kOp:
      case graph::GraphKind::kFunction:
        break;
    }
    return Invalid(
        absl::StrCat("cannot be compiled as a value: ", PrintGraphExpr(e)));
  }

  absl::StatusOr<std::vector<Operand>> Values(
      const std::vector<graph::Expr>& es) {
    std::vector<Operand> values;
    for (const graph::Expr& e : es) {
      KILN_ASSIGN_OR_RETURN(const Operand value, Value(e));
      values.push_back(value);
    }
    return values;
  }

  // The fields of a tuple, which may be a variable.
  absl::StatusOr<std::vector<Operand>> Fields(const graph::Expr& e) {
    if (const auto* tuple = e.As<graph::TupleNode>()) {
      return Values(tuple->fields);
    }
    const StructInfo info = graph::InfoOf(e);
    const auto* tuple = info.As<graph::TupleInfo>();
    if (!tuple) {
      KILN_ASSIGN_OR_RETURN(const Operand value, Value(e));
      return std::vector<Operand>{value};
    }
    KILN_ASSIGN_OR_RETURN(const Operand value, Value(e));
    std::vector<Operand> fields;
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      fields.push_back(
          EmitValue(Opcode::kItem, static_cast<int32_t>(i), {value}));
    }
    return fields;
  }

  absl::StatusOr<Operand> Place(const graph::VarNode& var) const {
    const auto it = places_.find(&var);
    if (it != places_.end()) return it->second;
    return Invalid(
        absl::StrCat("variable ", var.name, " is not bound where it is used"));
  }

  absl::StatusOr<Operand> ShapeValue(const std::vector<Expr>& values) {
    std::vector<Operand> numbers;
    for (const Expr& value : values) {
      KILN_ASSIGN_OR_RETURN(const Operand number, NumberOperand(value));
      numbers.push_back(number);
    }
    return EmitValue(Opcode::kShape, Instruction::kNone, std::move(numbers));
  }

  absl::StatusOr<Operand> SeqValue(const graph::SeqNode& seq) {
    for (const graph::BindingBlock& block : seq.blocks) {
      for (const graph::Binding& binding : block.bindings) {
        label_ = tables_.AddString(labels_.at(binding.var.get()));
        absl::StatusOr<Operand> value = Value(binding.value);
        if (!value.ok()) return Explain(binding.var->name, value.status());
        places_[binding.var.get()] = *value;
        if (IsNothing(*value) && !IsRead(binding.var)) out_.code.pop_back();
      }
    }
    return Value(seq.result);
  }

  absl::StatusOr<Operand> IfValue(const graph::IfNode& branch) {
    KILN_ASSIGN_OR_RETURN(const Operand condition, Value(branch.condition));
    const Operand result = Register(out_.num_registers++);
    const size_t at_if = out_.code.size();
    Emit({Opcode::kIf}, {condition});
    KILN_ASSIGN_OR_RETURN(const Operand then_value, Value(branch.then_body));
    Emit({Opcode::kCopy, result.index}, {then_value});
    const size_t at_jump = out_.code.size();
    Emit({Opcode::kJump}, {});
    out_.code[at_if].target = static_cast<int32_t>(out_.code.size());
    KILN_ASSIGN_OR_RETURN(const Operand else_value, Value(branch.else_body));
    Emit({Opcode::kCopy, result.index}, {else_value});
    out_.code[at_jump].target = static_cast<int32_t>(out_.code.size());
    return result;
  }

  // --- Calls.

  absl::StatusOr<Operand> CallValue(const graph::CallNode& call) {
    KILN_ASSIGN_OR_RETURN(const auto memory, AsMemoryCall(call));
    if (memory) return MemoryValue(*memory);
    if (const auto* op = call.callee.As<graph::OpNode>()) {
      return OpValue(op->name, call);
    }
    if (const auto* packed = call.callee.As<graph::ExternNode>()) {
      return PackedValue(packed->name, call.args, call.infos);
    }
    KILN_ASSIGN_OR_RETURN(std::vector<Operand> args, Values(call.args));
    if (const auto* global = call.callee.As<graph::GlobalVarNode>()) {
      const int32_t index = tables_.FunctionIndex(global->name);
      if (index >= 0) {
        return EmitValue(Opcode::kFunction, index, std::move(args));
      }
      KILN_RETURN_IF_ERROR(EmitKernel(call.callee, std::move(args)));
      return Nothing();
    }
    KILN_ASSIGN_OR_RETURN(const Operand callee, Value(call.callee));
    args.insert(args.begin(), callee);
    return EmitValue(Opcode::kClosure, Instruction::kNone, std::move(args));
  }

  // What a call gives that is made for its effect.
  Operand Nothing() {
    return EmitValue(Opcode::kTuple, Instruction::kNone, {});
  }
  // Whether the last instruction makes `value`, which is nothing.
  bool IsNothing(const Operand& value) const {
    if (out_.code.empty()) return false;
    const Instruction& last = out_.code.back();
    return last.op == Opcode::kTuple && last.args.empty() &&
           last.dst == value.index;
  }
  bool IsRead(const graph::Var& var) const {
    return read_.count(var.get()) > 0;
  }

  absl::StatusOr<Operand> MemoryValue(const MemoryCall& call) {
    switch (call.action) {
      case MemoryAction::kAllocate:
        return Allocate(call.info);
      case MemoryAction::kTake:
      case MemoryAction::kView: {
        KILN_ASSIGN_OR_RETURN(const int32_t type, TypeOf(call.info));
        KILN_ASSIGN_OR_RETURN(const Operand source, Value(call.source));
        KILN_ASSIGN_OR_RETURN(const Operand offset, NumberOperand(call.offset));
        return EmitValue(Opcode::kView, type, {source, offset});
      }
      case MemoryAction::kSame:
        return Value(call.source);
      case MemoryAction::kEnd:
        return Nothing();
    }
    return Invalid("an unknown call that manages memory");
  }

  absl::StatusOr<Operand> OpValue(const std::string& name,
                                  const graph::CallNode& call) {
    if (name == "call_tir" || name == "call_tir_with_grad") {
      return TensorCall(call);
    }
    if (name == "call_tir_inplace") return InPlaceCall(call);
    if (name == "vm.call_tir_dyn") return DynamicCall(call);
    if (name == "call_dps_packed") return DpsCall(call);
    if (name == "call_pure_packed" || name == "call_inplace_packed") {
      return NamedPackedCall(call);
    }
    if (name == "invoke_closure" || name == "invoke_pure_closure") {
      KILN_ASSIGN_OR_RETURN(const Operand closure, Value(call.args[0]));
      KILN_ASSIGN_OR_RETURN(std::vector<Operand> args, Fields(call.args[1]));
      args.insert(args.begin(), closure);
      return EmitValue(Opcode::kClosure, Instruction::kNone, std::move(args));
    }
    if (name == "make_closure") {
      KILN_ASSIGN_OR_RETURN(std::vector<Operand> args, Fields(call.args[1]));
      return Closure(call.args[0], std::move(args));
    }
    if (name == "shape_of") {
      KILN_ASSIGN_OR_RETURN(const Operand tensor, Value(call.args[0]));
      return EmitValue(Opcode::kShapeOf, Instruction::kNone, {tensor});
    }
    for (const graph::Expr& arg : call.args) {
      const auto* constant = arg.As<graph::ConstantNode>();
      if (constant) KILN_RETURN_IF_ERROR(graph::CheckHasBytes(*constant));
    }
    return Invalid(
        absl::StrCat("R.", name,
                     " is no call of a tensor function, and Kiln has no "
                     "lowering for it, or not for these arguments"));
  }

  absl::StatusOr<Operand> Closure(const graph::Expr& callee,
                                  std::vector<Operand> captured) {
    const auto* global = callee.As<graph::GlobalVarNode>();
    const int32_t index =
        global ? tables_.FunctionIndex(global->name) : Instruction::kNone;
    if (index < 0) {
      return Invalid(absl::StrCat(PrintGraphExpr(callee),
                                  " is no graph function of the module"));
    }
    return EmitValue(Opcode::kMakeClosure, index, std::move(captured));
  }

  absl::StatusOr<Operand> Allocate(const StructInfo& info) {
    const auto* tensor = info.As<graph::TensorInfo>();
    if (!tensor || !tensor->extents() || tensor->dtype.is_void()) {
      return Invalid(
          absl::StrCat("the extents of a result have to be known, "
                       "not only ",
                       PrintStructInfo(info)));
    }
    KILN_ASSIGN_OR_RETURN(const int32_t type, TypeOf(info));
    return EmitValue(Opcode::kAllocTensor, type, {});
  }

  absl::StatusOr<std::vector<Operand>> AllocateAll(
      const std::vector<StructInfo>& infos) {
    std::vector<Operand> outputs;
    for (const StructInfo& info : infos) {
      KILN_ASSIGN_OR_RETURN(const Operand output, Allocate(info));
      outputs.push_back(output);
    }
    return outputs;
  }

  Operand ResultOf(std::vector<Operand> outputs) {
    if (outputs.size() == 1) return outputs[0];
    return EmitValue(Opcode::kTuple, Instruction::kNone, std::move(outputs));
  }

  absl::Status EmitKernel(const graph::Expr& callee,
                          std::vector<Operand> args) {
    const auto* global = callee.As<graph::GlobalVarNode>();
    const int32_t index =
        global ? tables_.KernelIndex(global->name) : Instruction::kNone;
    if (index < 0) {
      return Invalid(absl::StrCat(PrintGraphExpr(callee),
                                  " is no function of the module"));
    }
    KILN_RETURN_IF_ERROR(tables_.CheckWritten(index, args));
    Emit({Opcode::kKernel, Instruction::kNone, index}, std::move(args));
    return absl::OkStatus();
  }

  absl::Status AddNumbers(const graph::Expr& e, std::vector<Operand>* args) {
    const auto* shape = e.As<graph::ShapeNode>();
    if (!shape) return absl::OkStatus();
    for (const Expr& value : shape->values) {
      KILN_ASSIGN_OR_RETURN(const Operand number, NumberOperand(value));
      args->push_back(number);
    }
    return absl::OkStatus();
  }

  // The kernel of R.call_tir, on `args` and the scalars that the call names.
  absl::Status EmitKernel(const graph::CallNode& call,
                          std::vector<Operand> args) {
    if (call.args.size() > 2) {
      KILN_RETURN_IF_ERROR(AddNumbers(call.args[2], &args));
    }
    return EmitKernel(call.args[0], std::move(args));
  }

  // R.vm.call_tir_dyn(f, (tensors..., R.shape([n]))): shapes are scalars.
  absl::StatusOr<Operand> DynamicCall(const graph::CallNode& call) {
    const auto* tuple = call.args[1].As<graph::TupleNode>();
    if (!tuple) return Invalid("R.vm.call_tir_dyn needs a tuple of arguments");
    std::vector<Operand> args;
    for (const graph::Expr& field : tuple->fields) {
      if (field.As<graph::ShapeNode>()) {
        KILN_RETURN_IF_ERROR(AddNumbers(field, &args));
        continue;
      }
      KILN_ASSIGN_OR_RETURN(const Operand value, Value(field));
      args.push_back(value);
    }
    KILN_RETURN_IF_ERROR(EmitKernel(call.args[0], std::move(args)));
    return Nothing();
  }

  absl::StatusOr<Operand> TensorCall(const graph::CallNode& call) {
    KILN_ASSIGN_OR_RETURN(std::vector<Operand> args, Fields(call.args[1]));
    KILN_ASSIGN_OR_RETURN(std::vector<Operand> outputs,
                          AllocateAll(call.infos));
    args.insert(args.end(), outputs.begin(), outputs.end());
    KILN_RETURN_IF_ERROR(EmitKernel(call, std::move(args)));
    return ResultOf(std::move(outputs));
  }

  absl::StatusOr<Operand> InPlaceCall(const graph::CallNode& call) {
    KILN_ASSIGN_OR_RETURN(std::vector<Operand> args, Fields(call.args[1]));
    KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> indices,
                          InPlaceIndices(call, args.size()));
    std::vector<Operand> outputs;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] >= 0) {
        Operand& arg = args[indices[i]];
        if (arg.kind != Operand::Kind::kRegister) {
          return Invalid("a constant cannot be written in place");
        }
        outputs.push_back(arg);
        continue;
      }
      KILN_ASSIGN_OR_RETURN(const Operand output, Allocate(call.infos[i]));
      outputs.push_back(output);
      args.push_back(output);
    }
    KILN_RETURN_IF_ERROR(EmitKernel(call, std::move(args)));
    return ResultOf(std::move(outputs));
  }

  absl::StatusOr<std::string> PackedName(const graph::Expr& callee) const {
    if (const auto* packed = callee.As<graph::ExternNode>()) {
      return packed->name;
    }
    return Invalid(
        absl::StrCat(PrintGraphExpr(callee), " is no packed function"));
  }

  absl::StatusOr<Operand> DpsCall(const graph::CallNode& call) {
    KILN_ASSIGN_OR_RETURN(const std::string name, PackedName(call.args[0]));
    KILN_ASSIGN_OR_RETURN(std::vector<Operand> args, Fields(call.args[1]));
    KILN_ASSIGN_OR_RETURN(std::vector<Operand> outputs,
                          AllocateAll(call.infos));
    args.insert(args.end(), outputs.begin(), outputs.end());
    const int32_t kernel = tables_.KernelIndex(name);
    if (kernel >= 0) {
      Emit({Opcode::kKernel, Instruction::kNone, kernel}, std::move(args));
    } else {
      EmitValue(Opcode::kPacked, tables_.AddString(name), std::move(args));
    }
    return ResultOf(std::move(outputs));
  }

  absl::StatusOr<Operand> NamedPackedCall(const graph::CallNode& call) {
    KILN_ASSIGN_OR_RETURN(const std::string name, PackedName(call.args[0]));
    return PackedValue(name, {call.args.begin() + 1, call.args.end()},
                       call.infos);
  }

  absl::StatusOr<Operand> PackedValue(const std::string& name,
                                      const std::vector<graph::Expr>& args,
                                      const std::vector<StructInfo>& infos) {
    KILN_ASSIGN_OR_RETURN(std::vector<Operand> values, Values(args));
    const Operand result =
        EmitValue(Opcode::kPacked, tables_.AddString(name), std::move(values));
    if (infos.empty()) return result;
    KILN_RETURN_IF_ERROR(
        Match(result, infos.size() == 1 ? infos[0] : graph::Tuple(infos)));
    return result;
  }

  const graph::FunctionNode& f_;
  ExecutableTables& tables_;
  vm::Function out_;
  ScalarNumbers dims_;
  std::unordered_map<const graph::VarNode*, Operand> places_;
  const std::unordered_map<const graph::VarNode*, std::string> labels_;
  std::unordered_set<const graph::VarNode*> read_;
  int32_t label_ = Instruction::kNone;
};

}  // namespace

absl::StatusOr<vm::Function> CompileGraphFunction(const graph::FunctionNode& f,
                                                  ExecutableTables& tables) {
  return FunctionCompiler(f, tables).Run();
}

}  // namespace kiln
