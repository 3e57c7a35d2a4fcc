// Long loops whose vectors come from rows far apart, as those of a matrix that
// was not packed: the hardware does not see where the next row is, so each
// step asks for the row that some later step loads.
//
//   for k in 512: acc += A[k] * B[k*1024 : k*1024 + 16]
//     +  prefetch &B[(k + 16)*1024]
//
// Of blocks of rows that are read panel by panel, each asks for the next one.
// And of panels that are passed over again and again, each pass asks for its
// share of the next one (look_ahead.h). What is copied before some work is
// asked for by the work that comes before.
#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "kiln/codegen/llvm/emitter.h"
#include "kiln/codegen/llvm/look_ahead.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen_internal {
namespace {

constexpr int64_t kLineBytes = 64;
// Rows closer together than this are prefetched by hardware, as are those that
// follow without gaps.
constexpr int64_t kMinStrideBytes = 512;
constexpr int64_t kMinIterations = 16;
// Smaller buffers are near enough.
constexpr int64_t kMinBufferBytes = 256 << 10;
// How far ahead to ask, in cycles with two vector operations each.
constexpr int64_t kCyclesAhead = 128;
constexpr int64_t kMaxAhead = 64;

// Localities as LLVM counts them.
constexpr int kNearest = 3;
constexpr int kSecondLevel = 2;
// Buffers from this size on, and panels within these sizes, are asked for a
// panel ahead.
constexpr int64_t kMinFarBytes = 1 << 20;
constexpr int64_t kMinPanelBytes = 8 << 10;
constexpr int64_t kMaxPanelBytes = 1 << 20;

bool HasBytes(const Buffer& buffer, int64_t least) {
  const int64_t* size =
      buffer->shape.size() == 1 ? AsInt(buffer->shape[0]) : nullptr;
  return size && *size >= least / buffer->dtype.bytes();
}

bool IsLarge(const Buffer& buffer) { return HasBytes(buffer, kMinBufferBytes); }
bool IsFar(const Buffer& buffer) { return HasBytes(buffer, kMinFarBytes); }

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
  return {
      &loop, std::clamp<int64_t>(kCyclesAhead / cycles, 1, kMaxAhead), {}, {}};
}

void Emitter::EmitPrefetch(llvm::Value* address, int64_t bytes, int locality) {
  for (int64_t line = 0; line < bytes; line += kLineBytes) {
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {b_.CreateConstGEP1_64(b_.getInt8Ty(), address, line),
                        b_.getInt32(0), b_.getInt32(locality), b_.getInt32(1)});
  }
}

void Emitter::PrefetchAhead(const Stmt& body) {
  PrefetchCopies();
  for (const VectorGrid& grid : FindVectorGrids(body)) {
    if (!IsFar(grid.buffer) || grid.buffer.get() == frame_.asked) continue;
    AskAhead ask = AskForNextBlock(grid, frame_.loops);
    if (!ask.indices.empty()) {
      frame_.stream.blocks.push_back(grid.buffer.get());
    } else if (IsPanel(grid)) {
      ask = AskForNextPanel(grid, frame_.loops);
    }
    Ask(grid, ask);
  }
}

void Emitter::Ask(const VectorGrid& grid, const AskAhead& ask) {
  if (ask.indices.empty()) return;
  const int64_t bytes = grid.buffer->dtype.bytes();
  llvm::Value* base = frame_.buffers[grid.buffer.get()];
  InEvery(ask.every, [&] {
    for (const Expr& index : ask.indices) {
      llvm::Value* offset = b_.CreateMul(Emit(index), b_.getInt64(bytes));
      EmitPrefetch(b_.CreateGEP(b_.getInt8Ty(), base, offset),
                   grid.lanes * bytes, kSecondLevel);
    }
  });
}

void Emitter::InEvery(int64_t count, FunctionRef<void()> emit) {
  if (count == 1) return emit();
  const ForNode& loop = *frame_.loops.back();
  llvm::Value* step = b_.CreateSub(Emit(loop.var), Emit(loop.min));
  llvm::Value* rest = b_.CreateURem(step, b_.getInt64(count));
  auto* ask = llvm::BasicBlock::Create(context_, "ask", frame_.function);
  auto* asked = llvm::BasicBlock::Create(context_, "asked", frame_.function);
  b_.CreateCondBr(b_.CreateICmpEQ(rest, b_.getInt64(0)), ask, asked);
  b_.SetInsertPoint(ask);
  emit();
  b_.CreateBr(asked);
  b_.SetInsertPoint(asked);
}

void Emitter::PrefetchRow(const Buffer& buffer, const Expr& index, int lanes) {
  Stream& stream = frame_.stream;
  if (!stream.loop || !IsLarge(buffer) || buffer.get() == frame_.asked ||
      absl::c_linear_search(stream.blocks, buffer.get())) {
    return;
  }
  for (const auto& [seen, seen_index] : stream.seen) {
    if (seen == buffer.get() && SameExpr(seen_index, index)) return;
  }
  stream.seen.emplace_back(buffer.get(), index);
  const int64_t bytes = buffer->dtype.Element().bytes();
  const int64_t stride =
      bytes * ToLinear(index).Coefficient(stream.loop->var.get());
  if (stride <= kMinStrideBytes || stride <= bytes * SpanOf(buffer)) return;
  llvm::Value* later = b_.CreateConstGEP1_64(
      b_.getInt8Ty(), Address(buffer, index), stride * stream.ahead);
  EmitPrefetch(later, lanes * bytes, kNearest);
}

int64_t Emitter::SpanOf(const Buffer& buffer) {
  Stream& stream = frame_.stream;
  for (const auto& [known, span] : stream.spans) {
    if (known == buffer.get()) return span;
  }
  const int64_t span = VectorSpan(stream.loop->body, buffer);
  stream.spans.emplace_back(buffer.get(), span);
  return span;
}

std::optional<Emitter::CopyAhead> Emitter::FindCopyAhead(
    const Stmt& stmt) const {
  std::optional<VectorCopy> copy = FindVectorCopy(stmt);
  if (!copy || !IsFar(copy->from.buffer) || frame_.loops.empty())
    return std::nullopt;
  return CopyAhead{*std::move(copy), frame_.loops.size()};
}

void Emitter::PrefetchCopies() {
  const absl::Span<const ForNode* const> loops(frame_.loops);
  for (const auto& [copy, around] : frame_.copies) {
    Ask(copy.from,
        AskForNextCopy(copy, loops.first(around), loops.subspan(around)));
  }
}

bool Emitter::IsPanel(const VectorGrid& grid) const {
  const int64_t bytes = *AsInt(frame_.stream.loop->extent) * grid.count() *
                        grid.lanes * grid.buffer->dtype.bytes();
  return bytes >= kMinPanelBytes && bytes <= kMaxPanelBytes;
}

}  // namespace kiln::codegen_internal
