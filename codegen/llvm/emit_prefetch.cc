#include "kiln/codegen/llvm/emitter.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen_internal {
namespace {

// Whether `e` is a constant of at most `most`.
bool IsOneOf(const Expr& e, int64_t most) {
  const int64_t* value = AsInt(e);
  return value && *value >= 0 && *value <= most;
}

}  // namespace

// The address may lie outside of the buffer, so that nothing is said of it.
llvm::Value* Emitter::EmitPrefetch(const CallNode& call) {
  const LoadNode* element = PrefetchedElement(call);
  const bool is_known = element && element->indices.size() == 1 &&
                        element->indices[0].dtype().is_scalar() &&
                        frame_.buffers.count(element->buffer.get()) &&
                        IsOneOf(call.args[1], 1) && IsOneOf(call.args[2], 3) &&
                        IsOne(call.args[3]);
  if (!is_known) {
    return Fail(absl::InvalidArgumentError(
                    "T.prefetch takes the address of an element of a buffer "
                    "that exists there, 0 or 1, a locality from 0 to 3, and 1"),
                call.dtype);
  }
  const Expr& index = element->indices[0];
  const auto* sum = index.As<BinaryNode>();
  const int64_t* apart =
      sum && sum->kind == ExprKind::kAdd ? AsInt(sum->b) : nullptr;
  const DType dtype = element->buffer->dtype;
  llvm::Type* type = MemoryType(dtype.Element());
  const auto scaled = [&](llvm::Value* elements) {
    const int lanes = dtype.lanes();
    return lanes == 1 ? elements : b_.CreateMul(elements, b_.getInt64(lanes));
  };
  llvm::Value* address =
      b_.CreateGEP(type, frame_.buffers[element->buffer.get()],
                   scaled(Emit(apart ? sum->a : index)));
  if (apart) address = b_.CreateGEP(type, address, scaled(b_.getInt64(*apart)));
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                     {address, b_.getInt32(*AsInt(call.args[1])),
                      b_.getInt32(*AsInt(call.args[2])), b_.getInt32(1)});
  return llvm::ConstantInt::get(TypeOf(call.dtype), 0);
}

}  // namespace kiln::codegen_internal
