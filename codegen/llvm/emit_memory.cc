// Loads and stores. Indices count elements of flat buffers; a vector index with
// stride 1 is one wide access, lanes near to each other are chosen from some
// (emit_near_lanes.cc), any others go one by one.
#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/codegen/llvm/emitter.h"
#include "kiln/codegen/lower/auto/vector_grid.h"
#include "kiln/codegen/lower/vector/near_lanes.h"

namespace kiln::codegen_internal {

using lower::ContiguousBase;

llvm::Value* Emitter::AddressOf(const Buffer& buffer, llvm::Value* index) {
  llvm::Value* base = frame_.buffers[buffer.get()];
  if (buffer->dtype.lanes() > 1) {
    index = b_.CreateMul(index, b_.getInt64(buffer->dtype.lanes()));
  }
  return b_.CreateInBoundsGEP(MemoryType(buffer->dtype.Element()), base, index);
}

// Splits a constant off the index, so that addresses which differ by a
// constant share the address of the other terms.
llvm::Value* Emitter::Address(const Buffer& buffer, const Expr& index) {
  if (!frame_.buffers.count(buffer.get())) {
    return Fail(
        absl::InvalidArgumentError(absl::StrCat("buffer ", buffer->name,
                                                " is used where it does not "
                                                "exist")),
        DType::Handle());
  }
  const auto* sum = index.As<BinaryNode>();
  if (sum && sum->kind == ExprKind::kAdd && AsInt(sum->b) &&
      buffer->dtype.lanes() == 1) {
    llvm::Value* base = AddressOf(buffer, Emit(sum->a));
    return b_.CreateInBoundsGEP(MemoryType(buffer->dtype), base,
                                b_.getInt64(*AsInt(sum->b)));
  }
  return AddressOf(buffer, Emit(index));
}

llvm::Value* Emitter::LoadElement(const Buffer& buffer, llvm::Value* address,
                                  int lanes) {
  const DType dtype = buffer->dtype.WithLanes(lanes);
  llvm::Type* type = MemoryType(dtype);
  const bool is_bfloat = type->getScalarType()->isBFloatTy();
  if (is_bfloat) type = type->getWithNewType(b_.getInt16Ty());
  llvm::Value* value =
      b_.CreateAlignedLoad(type, address, llvm::Align(dtype.Element().bytes()));
  if (is_bfloat) return b_.CreateBitCast(value, TypeOf(dtype));
  return dtype.is_bool() ? b_.CreateTrunc(value, TypeOf(dtype)) : value;
}

void Emitter::StoreElement(const Buffer& buffer, llvm::Value* address,
                           llvm::Value* value) {
  if (buffer->dtype.is_bool()) {
    llvm::Type* type = b_.getInt8Ty();
    if (auto* vector = llvm::dyn_cast<llvm::VectorType>(value->getType())) {
      type = llvm::VectorType::get(type, vector->getElementCount());
    }
    value = b_.CreateZExt(value, type);
  }
  b_.CreateAlignedStore(Bits(value), address,
                        llvm::Align(buffer->dtype.Element().bytes()));
}

namespace {

// Lanes that few wide loads read.
std::optional<lower::LaneOffsets> NearLanesOf(const Expr& index) {
  std::optional<lower::LaneOffsets> near = lower::OffsetsOfLanes(index);
  if (!near) return std::nullopt;
  const size_t loads = lower::WindowsOf(near->offsets, false).size();
  const size_t lanes = near->offsets.size();
  const bool is_few =
      index.As<RampNode>() ? lower::IsNearRamp(index) : 2 * loads <= lanes;
  return is_few ? near : std::nullopt;
}

}  // namespace

llvm::Value* Emitter::EmitLoad(const LoadNode& load) {
  const Expr& index = load.indices[0];
  const int lanes = load.dtype.lanes();
  if (index.dtype().is_scalar()) {
    return LoadElement(load.buffer, Address(load.buffer, index), lanes);
  }
  if (Expr base = ContiguousBase(index)) {
    return LoadElement(load.buffer, Address(load.buffer, base), lanes);
  }
  if (const auto* broadcast = index.As<BroadcastNode>()) {
    llvm::Value* value =
        LoadElement(load.buffer, Address(load.buffer, broadcast->value), 1);
    return InAllLanes(lanes, value);
  }
  const std::optional<lower::LaneOffsets> near = NearLanesOf(index);
  return near ? EmitNearLanes(load, *near) : EmitGather(load);
}

llvm::Value* Emitter::EmitGather(const LoadNode& load) {
  const int lanes = load.dtype.lanes();
  llvm::Value* indices = Emit(load.indices[0]);
  llvm::Value* gathered = Bits(llvm::PoisonValue::get(TypeOf(load.dtype)));
  for (int lane = 0; lane < lanes; ++lane) {
    llvm::Value* address =
        AddressOf(load.buffer, b_.CreateExtractElement(indices, lane));
    gathered = b_.CreateInsertElement(
        gathered, Bits(LoadElement(load.buffer, address, 1)), lane);
  }
  return b_.CreateBitCast(gathered, TypeOf(load.dtype));
}

void Emitter::EmitStore(const StoreNode& store) {
  const Expr& index = store.indices[0];
  llvm::Value* value = Emit(store.value);
  const int lanes = index.dtype().lanes();
  if (lanes > 1 && !value->getType()->isVectorTy()) {
    value = InAllLanes(lanes, value);
  }
  if (lanes == 1) {
    return StoreElement(store.buffer, Address(store.buffer, index), value);
  }
  if (Expr base = ContiguousBase(index)) {
    return StoreElement(store.buffer, Address(store.buffer, base), value);
  }
  llvm::Value* indices = Emit(index);
  value = Bits(value);
  for (int lane = 0; lane < lanes; ++lane) {
    llvm::Value* address =
        AddressOf(store.buffer, b_.CreateExtractElement(indices, lane));
    StoreElement(store.buffer, address, b_.CreateExtractElement(value, lane));
  }
}

llvm::Type* Emitter::TypeOf(DType dtype) {
  llvm::Type* scalar = nullptr;
  switch (dtype.code()) {
    case TypeCode::kInt:
    case TypeCode::kUInt:
      scalar = b_.getIntNTy(dtype.bits());
      break;
    case TypeCode::kBool:
      scalar = b_.getInt1Ty();
      break;
    case TypeCode::kBFloat:
      scalar = b_.getBFloatTy();
      break;
    case TypeCode::kFloat:
      scalar = dtype.bits() == 16   ? b_.getHalfTy()
               : dtype.bits() == 32 ? b_.getFloatTy()
                                    : b_.getDoubleTy();
      break;
    case TypeCode::kHandle:
      return b_.getPtrTy();
    case TypeCode::kVoid:
      return b_.getVoidTy();
  }
  return dtype.is_scalar() ? scalar
                           : llvm::FixedVectorType::get(scalar, dtype.lanes());
}

llvm::Type* Emitter::MemoryType(DType dtype) {
  return TypeOf(dtype.is_bool() ? DType::UInt(8).WithLanes(dtype.lanes())
                                : dtype);
}

}  // namespace kiln::codegen_internal
