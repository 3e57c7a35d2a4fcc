#include "kiln/schedule/analysis/scope.h"

#include <algorithm>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

bool Names(const std::vector<BufferRegion>& regions, const Buffer& buffer) {
  return std::any_of(
      regions.begin(), regions.end(),
      [&](const BufferRegion& region) { return region.buffer == buffer; });
}

bool Share(const std::vector<BufferRegion>& a,
           const std::vector<BufferRegion>& b) {
  return std::any_of(a.begin(), a.end(), [&](const BufferRegion& region) {
    return Names(b, region.buffer);
  });
}

// Whether data flows from `a` into `b` or `b` overwrites it.
bool Feeds(const BlockNode& a, const BlockNode& b) {
  return Share(a.writes, b.reads) || Share(a.writes, b.writes);
}

}  // namespace

bool ReadsBuffer(const BlockNode& block, const Buffer& buffer) {
  return Names(block.reads, buffer);
}

bool WritesBuffer(const BlockNode& block, const Buffer& buffer) {
  return Names(block.writes, buffer);
}

Scope::Scope(const BlockNode& scope) : Scope(scope, scope.body) {}

Scope::Scope(const BlockNode& scope, const Stmt& subtree) : block(&scope) {
  std::vector<const ForNode*> loops;
  loops.reserve(16);
  blocks.reserve(4);
  Collect(subtree, &loops);
}

void Scope::Collect(const Stmt& s, std::vector<const ForNode*>* loops) {
  if (const auto* realize = s.As<BlockRealizeNode>()) {
    blocks.push_back({realize, *loops});
    return;
  }
  if (const auto* loop = s.As<ForNode>()) {
    loops->push_back(loop);
    Collect(loop->body, loops);
    loops->pop_back();
    return;
  }
  if (const auto* seq = s.As<SeqNode>()) {
    for (const Stmt& child : seq->stmts) Collect(child, loops);
    return;
  }
  only_loops_and_blocks = false;
  ForEachChild(s, [&](const Stmt& child) { Collect(child, loops); });
}

int Scope::IndexOf(BlockId id) const {
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].block().id == id) return static_cast<int>(i);
  }
  return -1;
}

std::vector<Dependence> Scope::Dependences() const {
  std::vector<Dependence> found;
  for (int b = 1; b < static_cast<int>(blocks.size()); ++b) {
    const BlockNode& later = blocks[b].block();
    for (int a = 0; a < b; ++a) {
      const BlockNode& earlier = blocks[a].block();
      if (Share(earlier.writes, later.reads)) {
        found.push_back({a, b, DependenceKind::kRaw});
      }
      if (Share(earlier.writes, later.writes)) {
        found.push_back({a, b, DependenceKind::kWaw});
      }
      if (Share(earlier.reads, later.writes)) {
        found.push_back({a, b, DependenceKind::kWar});
      }
    }
  }
  return found;
}

std::vector<int> Scope::Producers(int index) const {
  std::vector<int> found;
  for (int i = 0; i < index; ++i) {
    if (Feeds(blocks[i].block(), blocks[index].block())) found.push_back(i);
  }
  return found;
}

std::vector<int> Scope::Consumers(int index) const {
  std::vector<int> found;
  for (int i = index + 1; i < static_cast<int>(blocks.size()); ++i) {
    if (Feeds(blocks[index].block(), blocks[i].block())) found.push_back(i);
  }
  return found;
}

std::vector<int> Scope::Writers(const Buffer& buffer) const {
  std::vector<int> found;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (WritesBuffer(blocks[i].block(), buffer)) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

std::vector<int> Scope::Readers(const Buffer& buffer) const {
  std::vector<int> found;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (ReadsBuffer(blocks[i].block(), buffer)) {
      found.push_back(static_cast<int>(i));
    }
  }
  return found;
}

bool Scope::IsOutput(int index) const {
  const auto& writes = blocks[index].block().writes;
  return std::any_of(writes.begin(), writes.end(), [&](const auto& region) {
    const auto& local = block->alloc_buffers;
    return std::find(local.begin(), local.end(), region.buffer) == local.end();
  });
}

}  // namespace kiln
