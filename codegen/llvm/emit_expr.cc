// Expressions, one kind at a time. An operand whose evaluation can do no harm
// is computed whether it is needed or not, since a branch costs more; one that
// loads, calls or divides by a variable is computed behind a branch:
//
//   i < n and j < m       %a = icmp.. %b = icmp.. and i1 %a, %b
//   i < n and A[i] > 0    br (i < n), then, else
//                         then: the load and the comparison
//                         end: phi [the comparison, then], [false, else]
//
// if_then_else always branches, a Select never does. Conditions of vectors are
// computed in all lanes: vectorization leaves none whose lanes may not be. To
// add an intrinsic, add its case to EmitCall, or to EmitMath where it is a
// function of numbers.
#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/codegen/llvm/emitter.h"
#include "kiln/ir/expr/visit.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen_internal {
namespace {

// Whether evaluating `e` where its value is not needed can do harm.
bool IsSpeculatable(const Expr& e) {
  bool safe = true;
  Visit(e, [&](const Expr& node) {
    const BinaryInfo* info = GetBinaryInfo(node.kind());
    const bool divides = info && (node.kind() == ExprKind::kFloorDiv ||
                                  node.kind() == ExprKind::kFloorMod ||
                                  node.kind() == ExprKind::kTruncDiv ||
                                  node.kind() == ExprKind::kTruncMod);
    // No harm, but slow.
    if (divides) safe = safe && AsInt(node.As<BinaryNode>()->b);
    if (node.kind() == ExprKind::kLoad || node.kind() == ExprKind::kCall) {
      safe = false;
    }
    return safe;
  });
  return safe;
}

absl::Status NotANumber(const StringImmNode& text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "string \"", text.value, "\" stands where a number is wanted"));
}

// Names the function that is called.
absl::Status PackedRefusal(const CallNode& call) {
  const auto* name =
      call.args.empty() ? nullptr : call.args[0].As<StringImmNode>();
  return absl::UnimplementedError(absl::StrCat(
      "T.", std::string(GetIntrinsicInfo(call.op).name),
      name ? absl::StrCat(" of \"", name->value, "\"") : std::string(),
      " cannot be compiled for a CPU; kernels call functions of C "
      "(T.call_extern), and graph functions call packed ones (R.call_packed)"));
}

llvm::CmpInst::Predicate FloatPredicate(ExprKind kind) {
  if (kind == ExprKind::kEQ) return llvm::CmpInst::FCMP_OEQ;
  if (kind == ExprKind::kNE) return llvm::CmpInst::FCMP_UNE;
  if (kind == ExprKind::kLT) return llvm::CmpInst::FCMP_OLT;
  if (kind == ExprKind::kLE) return llvm::CmpInst::FCMP_OLE;
  if (kind == ExprKind::kGT) return llvm::CmpInst::FCMP_OGT;
  KILN_CHECK(kind == ExprKind::kGE) << ExprKindName(kind);
  return llvm::CmpInst::FCMP_OGE;
}

llvm::CmpInst::Predicate IntPredicate(ExprKind kind, bool is_signed) {
  using Cmp = llvm::CmpInst;
  if (kind == ExprKind::kEQ) return Cmp::ICMP_EQ;
  if (kind == ExprKind::kNE) return Cmp::ICMP_NE;
  if (kind == ExprKind::kLT) return is_signed ? Cmp::ICMP_SLT : Cmp::ICMP_ULT;
  if (kind == ExprKind::kLE) return is_signed ? Cmp::ICMP_SLE : Cmp::ICMP_ULE;
  if (kind == ExprKind::kGT) return is_signed ? Cmp::ICMP_SGT : Cmp::ICMP_UGT;
  KILN_CHECK(kind == ExprKind::kGE) << ExprKindName(kind);
  return is_signed ? Cmp::ICMP_SGE : Cmp::ICMP_UGE;
}

}  // namespace

llvm::Value* Emitter::Emit(const Expr& e) {
  switch (e.kind()) {
#define KILN_CASE(kind, ...) case ExprKind::k##kind:
    KILN_BINARY_KINDS(KILN_CASE)
#undef KILN_CASE
    if (llvm::Value* lanes = EmitFixedLanes(e)) return lanes;
    return EmitBinary(*e.As<BinaryNode>());
    case ExprKind::kIntImm:
      return llvm::ConstantInt::get(TypeOf(e.dtype()),
                                    e.As<IntImmNode>()->value, true);
    case ExprKind::kFloatImm:
      return llvm::ConstantFP::get(TypeOf(e.dtype()),
                                   e.As<FloatImmNode>()->value);
    case ExprKind::kStringImm:
      return Fail(NotANumber(*e.As<StringImmNode>()), DType::Handle());
    case ExprKind::kVar:
      return EmitVar(*e.As<VarNode>());
    case ExprKind::kCast: {
      const auto* cast = e.As<CastNode>();
      return EmitCast(e.dtype(), cast->value.dtype(), Emit(cast->value));
    }
    case ExprKind::kNot:
      return b_.CreateNot(Emit(e.As<NotNode>()->value));
    case ExprKind::kSelect:
      return EmitSelect(*e.As<SelectNode>());
    case ExprKind::kLoad:
      return EmitLoad(*e.As<LoadNode>());
    case ExprKind::kRamp:
      return EmitRamp(*e.As<RampNode>());
    case ExprKind::kBroadcast:
      return InAllLanes(e.As<BroadcastNode>()->lanes,
                        Emit(e.As<BroadcastNode>()->value));
    case ExprKind::kLet:
      return EmitLet(*e.As<LetNode>());
    case ExprKind::kCall:
      return EmitCall(*e.As<CallNode>());
  }
  return nullptr;
}

// Of quotients and remainders of indices, those at constant distances from lane
// 0, which is all that is divided; else null.
llvm::Value* Emitter::EmitFixedLanes(const Expr& e) {
  const bool divides =
      e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod;
  if (!divides || e.dtype().is_scalar()) return nullptr;
  const auto lanes = lower::OffsetsOfLanes(e);
  if (!lanes) return nullptr;
  std::vector<llvm::Constant*> offsets;
  for (const int64_t offset : lanes->offsets) {
    offsets.push_back(llvm::ConstantInt::getSigned(b_.getInt64Ty(), offset));
  }
  return b_.CreateAdd(InAllLanes(e.dtype().lanes(), Emit(lanes->base)),
                      llvm::ConstantVector::get(offsets));
}

llvm::Value* Emitter::EmitVar(const VarNode& var) {
  auto found = frame_.vars.find(&var);
  if (found != frame_.vars.end()) {
    return b_.CreateBitCast(found->second, TypeOf(var.dtype));
  }
  return Fail(absl::InvalidArgumentError(
                  absl::StrCat("variable ", var.name, " has no value")),
              var.dtype);
}

llvm::Value* Emitter::EmitSelect(const SelectNode& node) {
  llvm::Value* condition = Emit(node.condition);
  llvm::Value* true_value = Emit(node.true_value);
  return Choose(condition, true_value, Emit(node.false_value));
}

llvm::Value* Emitter::EmitLet(const LetNode& let) {
  frame_.vars[let.var.get()] = Bits(Emit(let.value));
  return Emit(let.body);
}

llvm::Value* Emitter::EmitRamp(const RampNode& node) {
  llvm::Type* type = TypeOf(node.base.dtype());
  std::vector<llvm::Constant*> steps;
  for (int lane = 0; lane < node.lanes; ++lane) {
    steps.push_back(llvm::ConstantInt::get(type, lane));
  }
  llvm::Value* base = b_.CreateVectorSplat(node.lanes, Emit(node.base));
  llvm::Value* stride = b_.CreateVectorSplat(node.lanes, Emit(node.stride));
  return b_.CreateAdd(base,
                      b_.CreateMul(stride, llvm::ConstantVector::get(steps)));
}

llvm::Value* Emitter::EmitBinary(const BinaryNode& node) {
  if (node.kind == ExprKind::kAnd || node.kind == ExprKind::kOr) {
    return EmitLogic(node);
  }
  if (llvm::Value* sum = EmitSumWithDotProduct(node)) return sum;
  llvm::Value* a = Emit(node.a);
  llvm::Value* b = Emit(node.b);
  const DType dtype = node.a.dtype();
  if (GetBinaryInfo(node.kind)->gives_bool) {
    return EmitCompare(node.kind, dtype, a, b);
  }
  if (node.kind == ExprKind::kMin) {
    return Choose(EmitCompare(ExprKind::kLT, dtype, a, b), a, b);
  }
  if (node.kind == ExprKind::kMax) {
    return Choose(EmitCompare(ExprKind::kGT, dtype, a, b), a, b);
  }
  return dtype.is_float() ? EmitFloatArithmetic(node.kind, a, b)
                          : EmitIntArithmetic(node, a, b);
}

llvm::Value* Emitter::EmitCompare(ExprKind kind, DType dtype, llvm::Value* a,
                                  llvm::Value* b) {
  if (dtype.is_float()) {
    return b_.CreateFCmp(FloatPredicate(kind), Comparable(a), Comparable(b));
  }
  return b_.CreateICmp(IntPredicate(kind, dtype.is_int()), a, b);
}

template <typename Then, typename Else>
llvm::Value* Emitter::EmitBranches(llvm::Value* condition, Then then_value,
                                   Else else_value) {
  auto* then_block =
      llvm::BasicBlock::Create(context_, "then", frame_.function);
  auto* else_block =
      llvm::BasicBlock::Create(context_, "else", frame_.function);
  auto* end_block = llvm::BasicBlock::Create(context_, "end", frame_.function);
  b_.CreateCondBr(condition, then_block, else_block);
  b_.SetInsertPoint(then_block);
  llvm::Value* a = then_value();
  llvm::Type* type = a->getType();
  a = Bits(a);
  then_block = b_.GetInsertBlock();
  b_.CreateBr(end_block);
  b_.SetInsertPoint(else_block);
  llvm::Value* b = Bits(else_value());
  else_block = b_.GetInsertBlock();
  b_.CreateBr(end_block);
  b_.SetInsertPoint(end_block);
  llvm::PHINode* phi = b_.CreatePHI(a->getType(), 2);
  phi->addIncoming(a, then_block);
  phi->addIncoming(b, else_block);
  return b_.CreateBitCast(phi, type);
}

llvm::Value* Emitter::EmitLogic(const BinaryNode& node) {
  const bool is_and = node.kind == ExprKind::kAnd;
  llvm::Value* a = Emit(node.a);
  if (!node.dtype.is_scalar() || IsSpeculatable(node.b)) {
    llvm::Value* b = Emit(node.b);
    return is_and ? b_.CreateAnd(a, b) : b_.CreateOr(a, b);
  }
  if (is_and) {
    return EmitBranches(
        a, [&] { return Emit(node.b); }, [&] { return b_.getFalse(); });
  }
  return EmitBranches(
      a, [&] { return b_.getTrue(); }, [&] { return Emit(node.b); });
}

llvm::Value* Emitter::EmitLimit(const CallNode& call) {
  const bool smallest = call.op == Intrinsic::kMinValue;
  llvm::Type* type = TypeOf(call.dtype);
  if (call.dtype.is_float()) {
    if (call.op == Intrinsic::kInfinity) {
      return llvm::ConstantFP::getInfinity(type);
    }
    const auto& semantics = type->getScalarType()->getFltSemantics();
    return llvm::ConstantFP::get(
        type, llvm::APFloat::getLargest(semantics, smallest));
  }
  const unsigned bits = call.dtype.bits();
  const bool is_signed = call.dtype.is_int();
  const llvm::APInt value =
      smallest ? (is_signed ? llvm::APInt::getSignedMinValue(bits)
                            : llvm::APInt::getMinValue(bits))
               : (is_signed ? llvm::APInt::getSignedMaxValue(bits)
                            : llvm::APInt::getMaxValue(bits));
  return llvm::ConstantInt::get(type, value);
}

llvm::Value* Emitter::EmitBits(const CallNode& call) {
  llvm::Value* a = Emit(call.args[0]);
  llvm::Value* b = call.args.size() > 1 ? Emit(call.args[1]) : nullptr;
  switch (call.op) {
    case Intrinsic::kBitwiseAnd:
      return b_.CreateAnd(a, b);
    case Intrinsic::kBitwiseOr:
      return b_.CreateOr(a, b);
    case Intrinsic::kBitwiseXor:
      return b_.CreateXor(a, b);
    case Intrinsic::kBitwiseNot:
      return b_.CreateNot(a);
    case Intrinsic::kShiftLeft:
    case Intrinsic::kShiftRight:
      return EmitShift(call, a, b);
    case Intrinsic::kPopcount:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
    case Intrinsic::kClz:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, b_.getFalse());
    default:
      return b_.CreateBitCast(a, TypeOf(call.dtype));  // kReinterpret
  }
}

llvm::Value* Emitter::EmitCall(const CallNode& call) {
  switch (call.op) {
    case Intrinsic::kIfThenElse:
      if (!call.args[0].dtype().is_scalar()) return EmitMaskedLoad(call);
      return EmitBranches(
          Emit(call.args[0]), [&] { return Emit(call.args[1]); },
          [&] { return Emit(call.args[2]); });
    case Intrinsic::kLikely:
      return Emit(call.args[0]);
    case Intrinsic::kMinValue:
    case Intrinsic::kMaxValue:
    case Intrinsic::kInfinity:
      return EmitLimit(call);
    case Intrinsic::kBitwiseAnd:
    case Intrinsic::kBitwiseOr:
    case Intrinsic::kBitwiseXor:
    case Intrinsic::kBitwiseNot:
    case Intrinsic::kShiftLeft:
    case Intrinsic::kShiftRight:
    case Intrinsic::kPopcount:
    case Intrinsic::kClz:
    case Intrinsic::kReinterpret:
      return EmitBits(call);
    case Intrinsic::kLaneSums:
      return EmitLaneSums(call);
    case Intrinsic::kLdexp:
      return EmitLdexp(call);
    case Intrinsic::kQMultiplyShift:
    case Intrinsic::kQMultiplyShiftPerAxis:
      return EmitFixedPoint(call);
    case Intrinsic::kCallExtern:
    case Intrinsic::kCallPureExtern:
      return EmitExtern(call);
    case Intrinsic::kCallPacked:
    case Intrinsic::kCallCPacked:
      return Fail(PackedRefusal(call), call.dtype);
    case Intrinsic::kRet:
      return Fail(absl::UnimplementedError(
                      "a function that returns a number is no kernel; graph "
                      "functions call it"),
                  call.dtype);
    case Intrinsic::kPrefetch:
      return EmitPrefetch(call);
    case Intrinsic::kAssume:
    case Intrinsic::kAttr:
      return llvm::ConstantInt::get(TypeOf(call.dtype), 0);
    default:
      return EmitMath(call);
  }
}

}  // namespace kiln::codegen_internal
