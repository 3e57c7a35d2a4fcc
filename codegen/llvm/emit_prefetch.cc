// Long loops whose vectors come from rows far apart, as those of a matrix that
// was not packed: the hardware does not see where the next row is, so each
// step asks for the row that some later step loads.
//
//   for k in 512: acc += A[k] * B[k*1024 : k*1024 + 16]
//     +  prefetch &B[(k + 16)*1024]
#include <algorithm>

#include "kiln/codegen/llvm/emitter.h"
#include "kiln/codegen/lower/linear.h"
#include "kiln/ir/tensor/visit.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen_internal {
namespace {

constexpr int64_t kLineBytes = 64;
// Rows closer together than this are prefetched by hardware.
constexpr int64_t kMinStrideBytes = 512;
constexpr int64_t kMinIterations = 16;
// Smaller buffers are near enough.
constexpr int64_t kMinBufferBytes = 256 << 10;
// How far ahead to ask, in cycles with two vector operations each.
constexpr int64_t kCyclesAhead = 128;
constexpr int64_t kMaxAhead = 64;

bool IsLarge(const Buffer& buffer) {
  const int64_t* size =
      buffer->shape.size() == 1 ? AsInt(buffer->shape[0]) : nullptr;
  return size && *size >= kMinBufferBytes / buffer->dtype.bytes();
}

}  // namespace

Emitter::Stream Emitter::FindStream(const ForNode& loop) {
  bool is_innermost = true;
  int64_t bytes = 0;
  Visit(loop.body, [&](const Stmt& s) {
    is_innermost &= !s.As<ForNode>();
    if (const auto* store = s.As<StoreNode>()) {
      bytes += store->value.dtype().bytes();
    }
    return is_innermost;
  });
  const int64_t* extent = AsInt(loop.extent);
  if (!is_innermost || bytes == 0 || !extent || *extent < kMinIterations) {
    return {};
  }
  const int64_t cycles = std::max<int64_t>(1, bytes / (2 * kLineBytes));
  return {&loop, std::clamp<int64_t>(kCyclesAhead / cycles, 1, kMaxAhead), {}};
}

void Emitter::Prefetch(const Buffer& buffer, const Expr& index, int lanes) {
  Stream& stream = frame_.stream;
  if (!stream.loop || !IsLarge(buffer)) return;
  const int64_t bytes = buffer->dtype.Element().bytes();
  const int64_t stride =
      bytes * lower::ToLinear(index).Coefficient(stream.loop->var.get());
  if (stride <= kMinStrideBytes) return;
  for (const auto& [seen, seen_index] : stream.seen) {
    if (seen == buffer.get() && lower::SameStructure(seen_index, index)) return;
  }
  stream.seen.emplace_back(buffer.get(), index);
  llvm::Value* now = Address(buffer, index);
  for (int64_t line = 0; line < lanes * bytes; line += kLineBytes) {
    llvm::Value* later = b_.CreateConstGEP1_64(b_.getInt8Ty(), now,
                                               stride * stream.ahead + line);
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {later, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
  }
}

}  // namespace kiln::codegen_internal
