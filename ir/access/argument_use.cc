// A parameter is written whole where the first block that touches it is of the
// form
//
//   for i, j, k in T.grid(8, 16, 32):      # constant, positive extents
//       with T.block("C"):
//           vi, vj, vk = T.axis.remap("SSR", [i, j, k])
//           with T.init():
//               C[vi, vj] = 0              # or this as the body, without init
//           ...
//
// with C of shape (8, 16), and where neither a condition nor a read of C comes
// ahead of the store.
#include "kiln/ir/access/argument_use.h"

#include <optional>
#include <set>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

bool Touches(const Expr& e, const Buffer& buffer) {
  return LoadsFrom(e, buffer) || (buffer->data && UsesVar(e, buffer->data));
}

bool Names(const std::vector<BufferRegion>& regions, const Buffer& buffer) {
  for (const BufferRegion& region : regions) {
    if (region.buffer == buffer) return true;
  }
  return false;
}

// Whether the statement itself, not those below it, reads or writes `buffer`.
bool TouchesHere(const Stmt& s, const Buffer& buffer) {
  const auto* store = s.As<StoreNode>();
  if (store && store->buffer == buffer) return true;
  if (const auto* realize = s.As<BlockRealizeNode>()) {
    const BlockNode& block = *realize->block;
    if (Names(block.reads, buffer) || Names(block.writes, buffer)) return true;
    for (const MatchBufferRegion& match : block.match_buffers) {
      if (match.source.buffer == buffer) return true;
    }
  }
  bool touches = false;
  ForEachExpr(s, [&](const Expr& e) { touches |= Touches(e, buffer); });
  return touches;
}

bool TouchesBelow(const Stmt& s, const Buffer& buffer) {
  bool touches = false;
  Visit(s, [&](const Stmt& below) {
    touches = touches || TouchesHere(below, buffer);
    return !touches;
  });
  return touches;
}

// A block with the loops around it, where nothing but loops and the root is.
struct PlainNest {
  std::vector<const ForNode*> loops;
  const BlockRealizeNode* realize = nullptr;
};

// The first statement below the root that touches the buffer, as a nest.
std::optional<PlainNest> FirstNest(const Function& f, const Buffer& buffer) {
  PlainNest nest;
  Stmt s = f.root().body;
  while (true) {
    if (const auto* seq = s.As<SeqNode>()) {
      Stmt first;
      for (const Stmt& one : seq->stmts) {
        if (!first && TouchesBelow(one, buffer)) first = one;
      }
      // What comes later in a loop runs again before its first statement.
      if (!first || !nest.loops.empty()) return std::nullopt;
      s = first;
    } else if (const auto* loop = s.As<ForNode>()) {
      nest.loops.push_back(loop);
      s = loop->body;
    } else {
      nest.realize = s.As<BlockRealizeNode>();
      if (!nest.realize) return std::nullopt;
      return nest;
    }
  }
}

// Whether each iterator runs over its domain as one loop from 0 on, and each
// loop drives one iterator.
bool RunsOverDomains(const PlainNest& nest) {
  const BlockRealizeNode& realize = *nest.realize;
  if (realize.values.size() != nest.loops.size()) return false;
  std::set<const ExprNode*> used;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const ForNode* driver = nullptr;
    for (const ForNode* loop : nest.loops) {
      if (loop->var == realize.values[i]) driver = loop;
    }
    if (!driver || !used.insert(driver->var.get()).second) return false;
    const int64_t* extent = AsInt(driver->extent);
    const Range& domain = realize.block->iters[i].domain;
    if (!extent || *extent < 1 || !IsZero(driver->min) || !IsZero(domain.min) ||
        !IsConst(domain.extent, *extent)) {
      return false;
    }
  }
  return true;
}

// Whether the store's indices are different iterators over the whole buffer.
bool CoversBuffer(const StoreNode& store, const BlockNode& block) {
  std::set<const ExprNode*> used;
  for (size_t d = 0; d < store.indices.size(); ++d) {
    const IterVar* driver = nullptr;
    for (const IterVar& iter : block.iters) {
      if (iter.var == store.indices[d]) driver = &iter;
    }
    const int64_t* extent = AsInt(store.buffer->shape[d]);
    if (!driver || !extent || !used.insert(driver->var.get()).second ||
        !IsConst(driver->domain.extent, *extent)) {
      return false;
    }
  }
  // A reduce iterator in an index would make instances that run no init.
  for (const IterVar& iter : block.iters) {
    if (iter.type != IterType::kSpatial && used.count(iter.var.get()) > 0) {
      return false;
    }
  }
  return true;
}

// The first of the statements in a row that touches the buffer.
Stmt FirstToTouch(const Stmt& s, const Buffer& buffer) {
  const auto* seq = s.As<SeqNode>();
  if (!seq) return s;
  for (const Stmt& one : seq->stmts) {
    if (TouchesBelow(one, buffer)) return one;
  }
  return s;
}

bool IsWrittenFirst(const Function& f, const Buffer& buffer) {
  const std::optional<PlainNest> nest = FirstNest(f, buffer);
  if (!nest || !RunsOverDomains(*nest)) return false;
  const BlockNode& block = *nest->realize->block;
  if (!IsOne(nest->realize->predicate) || !block.match_buffers.empty()) {
    return false;
  }
  const Stmt first = FirstToTouch(block.init ? block.init : block.body, buffer);
  const auto* store = first.As<StoreNode>();
  if (!store || store->buffer != buffer) return false;
  if (Touches(store->value, buffer)) return false;
  return CoversBuffer(*store, block);
}

// Calls may do anything to a buffer whose address they are given.
bool HasCalls(const Function& f) {
  bool found = false;
  Visit(f.body, [&](const Stmt& s) {
    const auto* evaluate = s.As<EvaluateNode>();
    const auto* call = evaluate ? evaluate->value.As<CallNode>() : nullptr;
    found |= evaluate && !(call && call->op == Intrinsic::kPrefetch);
    return !found;
  });
  return found;
}

bool IsWritten(const Function& f, const Buffer& buffer) {
  bool written = false;
  Visit(f.body, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    const auto* realize = s.As<BlockRealizeNode>();
    written = written || (store && store->buffer == buffer) ||
              (realize && Names(realize->block->writes, buffer));
    return !written;
  });
  return written;
}

}  // namespace

std::vector<ArgumentUse> ArgumentUses(const Function& f) {
  const bool has_root = f.body && f.body.kind() == StmtKind::kBlockRealize;
  const bool provable = has_root && !HasCalls(f);
  std::vector<ArgumentUse> uses;
  for (const Param& param : f.params) {
    ArgumentUse use = ArgumentUse::kRead;
    if (param.buffer && IsWritten(f, param.buffer)) {
      const bool first = provable && IsWrittenFirst(f, param.buffer);
      use = first ? ArgumentUse::kWritten : ArgumentUse::kUpdated;
    }
    uses.push_back(use);
  }
  return uses;
}

}  // namespace kiln
