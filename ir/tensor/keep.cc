#include "kiln/ir/tensor/keep.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

void Keep(const Node* node) {
  if (node) node->LiveForever();
}

void KeepExpr(const Expr& e);

void KeepBuffer(const Buffer& buffer) {
  if (!buffer) return;
  Keep(buffer.get());
  Keep(buffer->data.get());
  for (const Expr& e : buffer->shape) KeepExpr(e);
  for (const Expr& e : buffer->strides) KeepExpr(e);
  if (buffer->elem_offset) KeepExpr(buffer->elem_offset);
}

void KeepExpr(const Expr& e) {
  Visit(e, [](const Expr& part) {
    Keep(part.get());
    if (const auto* load = part.As<LoadNode>()) KeepBuffer(load->buffer);
    if (const auto* let = part.As<LetNode>()) Keep(let->var.get());
    return true;
  });
}

void KeepBlock(const BlockNode& block) {
  Keep(&block);
  for (const IterVar& iter : block.iters) Keep(iter.var.get());
  for (const BufferRegion& region : block.reads) KeepBuffer(region.buffer);
  for (const BufferRegion& region : block.writes) KeepBuffer(region.buffer);
  for (const Buffer& buffer : block.alloc_buffers) KeepBuffer(buffer);
  for (const MatchBufferRegion& match : block.match_buffers) {
    KeepBuffer(match.buffer);
    KeepBuffer(match.source.buffer);
  }
}

void KeepStmt(const Stmt& s) {
  Visit(s, [](const Stmt& part) {
    Keep(part.get());
    ForEachExpr(part, [](const Expr& e) { KeepExpr(e); });
    if (const auto* loop = part.As<ForNode>()) Keep(loop->var.get());
    if (const auto* realize = part.As<BlockRealizeNode>()) {
      KeepBlock(*realize->block);
    }
    if (const auto* store = part.As<StoreNode>()) KeepBuffer(store->buffer);
    if (const auto* let = part.As<LetStmtNode>()) Keep(let->var.get());
    if (const auto* allocate = part.As<AllocateNode>()) {
      KeepBuffer(allocate->buffer);
    }
    return true;
  });
}

}  // namespace

void KeepForever(const Function& f) {
  static auto& mutex = *new std::mutex;
  static auto& kept = *new std::vector<Function>;  // names what is not freed
  const std::lock_guard<std::mutex> lock(mutex);
  const bool is_kept =
      std::any_of(kept.begin(), kept.end(),
                  [&](const Function& other) { return other.body == f.body; });
  if (is_kept) return;
  kept.push_back(f);
  for (const Param& param : f.params) {
    Keep(param.var.get());
    KeepBuffer(param.buffer);
  }
  if (f.body) KeepStmt(f.body);
}

}  // namespace kiln
