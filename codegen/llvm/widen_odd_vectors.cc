// LLVM takes loads and stores of 7 floats apart into 4, 2 and 1, and fills a
// register with an element once for 7 lanes and once more for 16 that use the
// same element. Both go away when the program says 8 lanes:
//
//   %y = load <7 x float>, ptr %p       %y = masked.load <8 x float>, ptr %p,
//                                  →           <1, 1, 1, 1, 1, 1, 1, 0>
//   %z = fmul <7 x float> %x, %y        %z = fmul <8 x float> %x, %y
//
// Where elements fill whole registers, what they fill for fewer lanes becomes
// as wide, even for 4 lanes: LLVM would keep one element in registers of two
// sizes, and run out of them. Accesses of a power of two stay as they are.
//
// With AVX-512, few lanes beside whole registers of floats fill one, too: a
// Xeon takes 5.7 us for a depthwise convolution of 28 x 28 x 23 in 16 and 8
// lanes, and 4.2 in 16 and 16. For 7 alone 16 lanes take 1.9, and 8 lanes 1.5.
//
// The last lanes hold whatever comes of zeros and of poison; nobody reads them.
// So only instructions whose lanes have nothing to do with each other, and that
// cannot trap, are widened: divisions of integers are not. Between those and
// the others a shuffle adds or drops the last lanes.
#include "kiln/codegen/llvm/widen_odd_vectors.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::codegen_internal {
namespace {

using llvm::dyn_cast;
using llvm::FixedVectorType;
using llvm::Instruction;
using llvm::Value;

unsigned Lanes(const Value* value) {
  return llvm::cast<FixedVectorType>(value->getType())->getNumElements();
}

// The first `lanes` of `width` lanes.
llvm::Constant* Mask(unsigned lanes, unsigned width,
                     llvm::LLVMContext& context) {
  llvm::SmallVector<llvm::Constant*> bits;
  for (unsigned i = 0; i < width; ++i) {
    bits.push_back(llvm::ConstantInt::getBool(context, i < lanes));
  }
  return llvm::ConstantVector::get(bits);
}

// The value with lanes added or dropped at its end.
Value* Resized(llvm::IRBuilder<>& b, Value* value, unsigned lanes) {
  llvm::SmallVector<int> order;
  for (unsigned i = 0; i < lanes; ++i) {
    order.push_back(i < Lanes(value) ? static_cast<int>(i)
                                     : llvm::PoisonMaskElem);
  }
  return b.CreateShuffleVector(value, order);
}

llvm::Constant* WideConstant(llvm::Constant* constant, FixedVectorType* type) {
  if (llvm::Constant* element = constant->getSplatValue()) {
    return llvm::ConstantVector::getSplat(type->getElementCount(), element);
  }
  llvm::SmallVector<llvm::Constant*> elements;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    elements.push_back(i < Lanes(constant)
                           ? constant->getAggregateElement(i)
                           : llvm::PoisonValue::get(type->getElementType()));
  }
  return llvm::ConstantVector::get(elements);
}

// Whether an intrinsic does the same to each lane of operands of its type;
// there may be flags beside them.
bool IsLanewise(const llvm::IntrinsicInst& call) {
  if (!llvm::isTriviallyVectorizable(call.getIntrinsicID())) return false;
  return llvm::all_of(call.args(), [&](const llvm::Use& operand) {
    return operand->getType() == call.getType() ||
           operand->getType()->isIntegerTy(1);
  });
}

bool IsLanewise(const Instruction& instruction) {
  if (const auto* call = dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    return IsLanewise(*call);
  }
  if (instruction.isIntDivRem()) return false;
  const auto* cast = dyn_cast<llvm::CastInst>(&instruction);
  if (cast && cast->getOpcode() == Instruction::BitCast) return false;
  return cast || llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator,
                           llvm::CmpInst, llvm::SelectInst>(instruction);
}

class Widener {
 public:
  Widener(llvm::Function& function, const llvm::TargetTransformInfo& target)
      : function_(function), target_(target) {}

  bool Run();

 private:
  void FindShared();
  void FindLeast();
  unsigned LanesOfRegister(llvm::Type* element) const;
  FixedVectorType* WideType(llvm::Type* type) const;
  Value* Wide(Value* value);
  Value* WideResult(Instruction& instruction);
  Value* WideLoad(llvm::LoadInst& load);
  Value* WideShuffle(llvm::ShuffleVectorInst& shuffle);
  Value* WidePhi(llvm::PHINode& phi);
  Value* WideClone(Instruction& instruction);
  bool HasMaskRegisters() const;
  void WidenStore(llvm::StoreInst& store);
  void FillPhis();
  void Replace();

  llvm::Function& function_;
  const llvm::TargetTransformInfo& target_;
  // How many lanes the fewer ones become at least.
  unsigned least_ = 0;
  // Of vectors that share their elements with whole registers.
  std::set<std::pair<llvm::Type*, unsigned>> shared_;
  llvm::DenseMap<Value*, Value*> wide_;
  std::vector<Instruction*> widened_;  // in the order of the function
};

unsigned Widener::LanesOfRegister(llvm::Type* element) const {
  const unsigned bits =
      target_
          .getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
          .getFixedValue();
  return std::max(1u, bits / std::max(8u, element->getScalarSizeInBits()));
}

void Widener::FindShared() {
  std::vector<llvm::ShuffleVectorInst*> filled;
  llvm::DenseMap<Value*, unsigned> most;  // lanes that an element fills
  for (Instruction& instruction : llvm::instructions(function_)) {
    auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(&instruction);
    Value* element = shuffle ? llvm::getSplatValue(shuffle) : nullptr;
    if (!element) continue;
    filled.push_back(shuffle);
    unsigned& lanes = most[element];
    lanes = std::max(lanes, Lanes(shuffle));
  }
  for (llvm::ShuffleVectorInst* shuffle : filled) {
    llvm::Type* element = shuffle->getType()->getElementType();
    const unsigned whole = LanesOfRegister(element);
    if (Lanes(shuffle) > 1 && Lanes(shuffle) < whole &&
        most[llvm::getSplatValue(shuffle)] >= whole) {
      shared_.insert({element, Lanes(shuffle)});
    }
  }
}

// Tails of rows that fill registers are about as many instructions as those.
void Widener::FindLeast() {
  constexpr unsigned kAvx512 = 16;
  llvm::Type* element = llvm::Type::getFloatTy(function_.getContext());
  const unsigned whole = LanesOfRegister(element);
  if (whole < kAvx512) return;
  int fill_registers = 0, are_fewer = 0;
  for (const Instruction& instruction : llvm::instructions(function_)) {
    const auto* type = dyn_cast<FixedVectorType>(instruction.getType());
    if (!type || type->getElementType() != element) continue;
    fill_registers += type->getNumElements() == whole;
    are_fewer += type->getNumElements() < whole &&
                 WideType(instruction.getType()) != nullptr;
  }
  if (fill_registers > 0 && 2 * fill_registers >= are_fewer) least_ = whole;
}

// The vector of a whole register where elements are shared, else of the next
// power of two lanes; null for what stays. Of a vector longer than a register,
// the part that fills registers is as good as it stands, and so is a remaining
// power of two.
FixedVectorType* Widener::WideType(llvm::Type* type) const {
  auto* vector = dyn_cast<FixedVectorType>(type);
  if (!vector || vector->getElementType()->isPointerTy()) return nullptr;
  llvm::Type* element = vector->getElementType();
  const unsigned lanes = vector->getNumElements();
  const unsigned whole = LanesOfRegister(element);
  if (shared_.count({element, lanes})) {
    return FixedVectorType::get(element, whole);
  }
  const unsigned partial = lanes > whole ? lanes % whole : lanes;
  if (partial == 0 || llvm::isPowerOf2_32(partial)) return nullptr;
  return FixedVectorType::get(
      element, std::max<unsigned>(llvm::PowerOf2Ceil(lanes), least_));
}

// The value in the lanes of its wide type.
Value* Widener::Wide(Value* value) {
  FixedVectorType* type = WideType(value->getType());
  if (!type) return value;
  if (auto* constant = dyn_cast<llvm::Constant>(value)) {
    return WideConstant(constant, type);
  }
  Value*& wide = wide_[value];
  if (wide) return wide;
  auto* definition = dyn_cast<Instruction>(value);
  llvm::IRBuilder<> b(function_.getContext());
  if (definition) {
    b.SetInsertPoint(*definition->getInsertionPointAfterDef());
  } else {
    b.SetInsertPointPastAllocas(&function_);
  }
  return wide = Resized(b, value, type->getNumElements());
}

Value* Widener::WideLoad(llvm::LoadInst& load) {
  FixedVectorType* type = WideType(load.getType());
  if (llvm::isPowerOf2_32(Lanes(&load)) || !load.isSimple() ||
      !target_.isLegalMaskedLoad(type, load.getAlign())) {
    return nullptr;
  }
  llvm::IRBuilder<> b(&load);
  llvm::CallInst* wide = b.CreateMaskedLoad(
      type, load.getPointerOperand(), load.getAlign(),
      Mask(Lanes(&load), type->getNumElements(), load.getContext()),
      llvm::Constant::getNullValue(type));
  wide->setAAMetadata(load.getAAMetadata());
  return wide;
}

// One element fills the last lanes, too, where it fills all others.
Value* Widener::WideShuffle(llvm::ShuffleVectorInst& shuffle) {
  FixedVectorType* type = WideType(shuffle.getType());
  llvm::IRBuilder<> b(&shuffle);
  if (Value* element = llvm::getSplatValue(&shuffle)) {
    return b.CreateVectorSplat(type->getElementCount(), element);
  }
  llvm::SmallVector<int> order(shuffle.getShuffleMask());
  order.resize(type->getNumElements(), llvm::PoisonMaskElem);
  return b.CreateShuffleVector(shuffle.getOperand(0), shuffle.getOperand(1),
                               order);
}

// Its values come when all of them are wide.
Value* Widener::WidePhi(llvm::PHINode& phi) {
  llvm::IRBuilder<> b(&phi);
  return b.CreatePHI(WideType(phi.getType()), phi.getNumIncomingValues());
}

Value* Widener::WideClone(Instruction& instruction) {
  FixedVectorType* type = WideType(instruction.getType());
  for (const llvm::Use& operand : instruction.operands()) {
    if (!operand->getType()->isVectorTy()) continue;
    const FixedVectorType* wide = WideType(operand->getType());
    if (!wide || wide->getNumElements() != type->getNumElements()) {
      return nullptr;
    }
  }
  std::vector<Value*> operands;
  for (Value* operand : instruction.operand_values()) {
    operands.push_back(Wide(operand));
  }
  Instruction* wide = instruction.clone();
  for (unsigned i = 0; i < operands.size(); ++i)
    wide->setOperand(i, operands[i]);
  if (auto* call = dyn_cast<llvm::IntrinsicInst>(wide)) {
    call->setCalledFunction(llvm::Intrinsic::getDeclaration(
        function_.getParent(), call->getIntrinsicID(), {type}));
  }
  wide->mutateType(type);
  wide->insertBefore(&instruction);
  return wide;
}

// Null where the instruction stays.
Value* Widener::WideResult(Instruction& instruction) {
  if (auto* load = dyn_cast<llvm::LoadInst>(&instruction)) {
    return WideLoad(*load);
  }
  if (auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    return WideShuffle(*shuffle);
  }
  if (auto* phi = dyn_cast<llvm::PHINode>(&instruction)) return WidePhi(*phi);
  return IsLanewise(instruction) ? WideClone(instruction) : nullptr;
}

// Whether masks have registers of their own. Where they have not (AVX2), masked
// loads are as fast as others, but stores are not: on a Zen 3 one takes as long
// as twelve (Agner Fog's tables), and LLVM's parts of 4, 2 and 1 lanes less.
bool Widener::HasMaskRegisters() const {
  constexpr unsigned kAvx512 = 32;
  return target_.getNumberOfRegisters(target_.getRegisterClassForType(true)) >=
         kAvx512;
}

void Widener::WidenStore(llvm::StoreInst& store) {
  Value* value = store.getValueOperand();
  FixedVectorType* type = WideType(value->getType());
  if (!type || llvm::isPowerOf2_32(Lanes(value)) || !store.isSimple() ||
      !HasMaskRegisters() ||
      !target_.isLegalMaskedStore(type, store.getAlign())) {
    return;
  }
  llvm::IRBuilder<> b(&store);
  llvm::CallInst* wide = b.CreateMaskedStore(
      Wide(value), store.getPointerOperand(), store.getAlign(),
      Mask(Lanes(value), type->getNumElements(), store.getContext()));
  wide->setAAMetadata(store.getAAMetadata());
  widened_.push_back(&store);
}

void Widener::FillPhis() {
  for (Instruction* instruction : widened_) {
    auto* phi = dyn_cast<llvm::PHINode>(instruction);
    if (!phi) continue;
    auto* wide = llvm::cast<llvm::PHINode>(wide_[phi]);
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      wide->addIncoming(Wide(phi->getIncomingValue(i)),
                        phi->getIncomingBlock(i));
    }
  }
}

// Whoever still reads the narrow values gets them from the wide ones.
void Widener::Replace() {
  const llvm::SmallPtrSet<llvm::User*, 32> gone(widened_.begin(),
                                                widened_.end());
  for (Instruction* narrow : widened_) {
    if (narrow->getType()->isVoidTy()) continue;
    const auto stays = [&](llvm::Use& use) {
      return !gone.count(use.getUser());
    };
    if (!llvm::any_of(narrow->uses(), stays)) continue;
    llvm::IRBuilder<> b(function_.getContext());
    b.SetInsertPoint(*narrow->getInsertionPointAfterDef());
    narrow->replaceUsesWithIf(Resized(b, wide_[narrow], Lanes(narrow)), stays);
  }
  for (Instruction* narrow : widened_) {
    narrow->replaceAllUsesWith(llvm::PoisonValue::get(narrow->getType()));
    narrow->eraseFromParent();
  }
}

bool Widener::Run() {
  FindShared();
  FindLeast();
  std::vector<Instruction*> all;
  for (llvm::BasicBlock* block :
       llvm::ReversePostOrderTraversal<llvm::Function*>(&function_)) {
    for (Instruction& instruction : *block) all.push_back(&instruction);
  }
  for (Instruction* instruction : all) {
    if (auto* store = dyn_cast<llvm::StoreInst>(instruction)) {
      WidenStore(*store);
    } else if (WideType(instruction->getType())) {
      if (Value* wide = WideResult(*instruction)) {
        wide_[instruction] = wide;
        widened_.push_back(instruction);
      }
    }
  }
  FillPhis();
  Replace();
  return !widened_.empty();
}

}  // namespace

bool WidenOddVectors(llvm::Function& function,
                     const llvm::TargetTransformInfo& target) {
  auto* floats =
      FixedVectorType::get(llvm::Type::getFloatTy(function.getContext()), 4);
  if (!target.isLegalMaskedLoad(floats, llvm::Align(4))) return false;
  return Widener(function, target).Run();
}

}  // namespace kiln::codegen_internal
