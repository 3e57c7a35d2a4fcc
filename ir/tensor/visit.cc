// As for expressions, a rewrite gives back the node itself where nothing
// changed, and a list of expressions is copied only when one of them did
// (`Mapped`):
//
//   for i in range(8):          with n = 4
//     A[i] = T.float32(0)       the same store
//     B[i] = A[i + n]           a new store, in a new sequence in a new loop
//
// Shapes, strides and offsets belong to their buffer, and a buffer is known by
// its identity: ForEachExpr shows them where the buffer is defined, but
// MapExprs, and with it Substitute, leaves them alone. Whoever replaces a
// variable of a shape makes a new buffer and puts it everywhere by
// ReplaceBuffers.
#include "kiln/ir/tensor/visit.h"

#include <optional>
#include <utility>

#include "kiln/base/check.h"

namespace kiln {
namespace {

using ExprMap = FunctionRef<Expr(const Expr&)>;
using ExprUse = FunctionRef<void(const Expr&)>;

void UseRange(const Range& range, ExprUse use) {
  use(range.min);
  use(range.extent);
}

void UseRegion(const BufferRegion& region, ExprUse use) {
  for (const Range& range : region.region) UseRange(range, use);
}

void UseBuffer(const Buffer& buffer, ExprUse use) {
  for (const Expr& e : buffer->shape) use(e);
  for (const Expr& e : buffer->strides) use(e);
  if (buffer->elem_offset) use(buffer->elem_offset);
}

void UseBlock(const BlockNode& block, ExprUse use) {
  for (const IterVar& iter : block.iters) UseRange(iter.domain, use);
  for (const BufferRegion& region : block.reads) UseRegion(region, use);
  for (const BufferRegion& region : block.writes) UseRegion(region, use);
  for (const Buffer& buffer : block.alloc_buffers) UseBuffer(buffer, use);
  for (const MatchBufferRegion& match : block.match_buffers) {
    UseBuffer(match.buffer, use);
    UseRegion(match.source, use);
  }
}

// What `map` makes of something; nullopt where it changes nothing, and then
// nothing was copied.
std::optional<Expr> Mapped(const Expr& e, ExprMap map) {
  Expr mapped = map(e);
  if (mapped == e) return std::nullopt;
  return mapped;
}

std::optional<Range> Mapped(const Range& range, ExprMap map) {
  Expr min = map(range.min), extent = map(range.extent);
  if (min == range.min && extent == range.extent) return std::nullopt;
  return Range{std::move(min), std::move(extent)};
}

std::optional<IterVar> Mapped(const IterVar& iter, ExprMap map) {
  auto domain = Mapped(iter.domain, map);
  if (!domain) return std::nullopt;
  return IterVar{iter.var, *std::move(domain), iter.type};
}

std::optional<BufferRegion> Mapped(const BufferRegion& region, ExprMap map);
std::optional<MatchBufferRegion> Mapped(const MatchBufferRegion& match,
                                        ExprMap map);

template <typename T>
std::optional<std::vector<T>> Mapped(const std::vector<T>& list, ExprMap map) {
  std::optional<std::vector<T>> result;
  for (size_t i = 0; i < list.size(); ++i) {
    auto item = Mapped(list[i], map);
    if (!item) continue;
    if (!result) result = list;
    (*result)[i] = *std::move(item);
  }
  return result;
}

std::optional<BufferRegion> Mapped(const BufferRegion& region, ExprMap map) {
  auto ranges = Mapped(region.region, map);
  if (!ranges) return std::nullopt;
  return BufferRegion{region.buffer, *std::move(ranges)};
}

std::optional<MatchBufferRegion> Mapped(const MatchBufferRegion& match,
                                        ExprMap map) {
  auto source = Mapped(match.source, map);
  if (!source) return std::nullopt;
  return MatchBufferRegion{match.buffer, *std::move(source)};
}

// The block itself where nothing changes.
Block Mapped(const Block& block, ExprMap map) {
  auto iters = Mapped(block->iters, map);
  auto reads = Mapped(block->reads, map);
  auto writes = Mapped(block->writes, map);
  auto matches = Mapped(block->match_buffers, map);
  if (!iters && !reads && !writes && !matches) return block;
  BlockFields fields = block->fields();
  if (iters) fields.iters = *std::move(iters);
  if (reads) fields.reads = *std::move(reads);
  if (writes) fields.writes = *std::move(writes);
  if (matches) fields.match_buffers = *std::move(matches);
  return MakeBlock(std::move(fields));
}

Stmt MapForExprs(const Stmt& s, ExprMap map) {
  const auto* node = s.As<ForNode>();
  auto range = Mapped(Range{node->min, node->extent}, map);
  if (!range) return s;
  ForFields fields = node->fields();
  fields.min = std::move(range->min);
  fields.extent = std::move(range->extent);
  return MakeFor(std::move(fields));
}

Stmt MapRealizeExprs(const Stmt& s, ExprMap map) {
  const auto* node = s.As<BlockRealizeNode>();
  auto values = Mapped(node->values, map);
  Expr predicate = map(node->predicate);
  Block block = Mapped(node->block, map);
  if (!values && predicate == node->predicate && block == node->block) return s;
  return MakeRealize(values ? *std::move(values) : node->values,
                     std::move(predicate), std::move(block));
}

Stmt MapStoreExprs(const Stmt& s, ExprMap map) {
  const auto* node = s.As<StoreNode>();
  auto indices = Mapped(node->indices, map);
  Expr value = map(node->value);
  if (!indices && value == node->value) return s;
  return MakeStore(node->buffer, std::move(value),
                   indices ? *std::move(indices) : node->indices);
}

Stmt MapRealizeChildren(const Stmt& s, FunctionRef<Stmt(const Stmt&)> map) {
  const auto* node = s.As<BlockRealizeNode>();
  const BlockNode& block = *node->block;
  Stmt init = block.init ? map(block.init) : nullptr;
  Stmt body = map(block.body);
  if (init == block.init && body == block.body) return s;
  return MakeRealize(node->values, node->predicate,
                     WithBody(block, std::move(init), std::move(body)));
}

Stmt MapSeqChildren(const Stmt& s, FunctionRef<Stmt(const Stmt&)> map) {
  const auto* node = s.As<SeqNode>();
  std::vector<Stmt> stmts;
  stmts.reserve(node->stmts.size());
  bool changed = false;
  for (const Stmt& child : node->stmts) {
    stmts.push_back(map(child));
    changed |= stmts.back() != child;
  }
  return changed ? MakeSeq(std::move(stmts)) : s;
}

Stmt MapIfChildren(const Stmt& s, FunctionRef<Stmt(const Stmt&)> map) {
  const auto* node = s.As<IfNode>();
  Stmt then_case = map(node->then_case);
  Stmt else_case = node->else_case ? map(node->else_case) : nullptr;
  if (then_case == node->then_case && else_case == node->else_case) return s;
  return MakeIf(node->condition, std::move(then_case), std::move(else_case));
}

Stmt MapForChildren(const Stmt& s, FunctionRef<Stmt(const Stmt&)> map) {
  const auto* node = s.As<ForNode>();
  Stmt body = map(node->body);
  return body == node->body ? s : WithBody(*node, std::move(body));
}

}  // namespace

Range MapRange(const Range& range, ExprMap map) {
  return {map(range.min), map(range.extent)};
}

BufferRegion MapRegion(const BufferRegion& region, ExprMap map) {
  auto mapped = Mapped(region, map);
  return mapped ? *std::move(mapped) : region;
}

void ForEachChild(const Stmt& s, FunctionRef<void(const Stmt&)> child) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return child(s.As<ForNode>()->body);
    case StmtKind::kBlockRealize: {
      const BlockNode& block = *s.As<BlockRealizeNode>()->block;
      if (block.init) child(block.init);
      return child(block.body);
    }
    case StmtKind::kSeq:
      for (const Stmt& stmt : s.As<SeqNode>()->stmts) child(stmt);
      return;
    case StmtKind::kIf: {
      const auto* node = s.As<IfNode>();
      child(node->then_case);
      if (node->else_case) child(node->else_case);
      return;
    }
    case StmtKind::kLet:
      return child(s.As<LetStmtNode>()->body);
    case StmtKind::kAllocate:
      return child(s.As<AllocateNode>()->body);
    case StmtKind::kStore:
    case StmtKind::kEvaluate:
      return;
  }
}

void ForEachExpr(const Stmt& s, ExprUse use) {
  switch (s.kind()) {
    case StmtKind::kFor:
      use(s.As<ForNode>()->min);
      return use(s.As<ForNode>()->extent);
    case StmtKind::kBlockRealize: {
      const auto* node = s.As<BlockRealizeNode>();
      for (const Expr& value : node->values) use(value);
      use(node->predicate);
      return UseBlock(*node->block, use);
    }
    case StmtKind::kStore: {
      const auto* node = s.As<StoreNode>();
      for (const Expr& index : node->indices) use(index);
      return use(node->value);
    }
    case StmtKind::kIf:
      return use(s.As<IfNode>()->condition);
    case StmtKind::kLet:
      return use(s.As<LetStmtNode>()->value);
    case StmtKind::kAllocate:
      return UseBuffer(s.As<AllocateNode>()->buffer, use);
    case StmtKind::kEvaluate:
      return use(s.As<EvaluateNode>()->value);
    case StmtKind::kSeq:
      return;
  }
}

Stmt MapChildren(const Stmt& s, FunctionRef<Stmt(const Stmt&)> map) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return MapForChildren(s, map);
    case StmtKind::kBlockRealize:
      return MapRealizeChildren(s, map);
    case StmtKind::kSeq:
      return MapSeqChildren(s, map);
    case StmtKind::kIf:
      return MapIfChildren(s, map);
    case StmtKind::kLet: {
      const auto* node = s.As<LetStmtNode>();
      Stmt body = map(node->body);
      return body == node->body ? s : MakeLet(node->var, node->value, body);
    }
    case StmtKind::kAllocate: {
      const auto* node = s.As<AllocateNode>();
      Stmt body = map(node->body);
      if (body == node->body) return s;
      return MakeAllocate(node->buffer, body, node->is_view, node->annotations);
    }
    case StmtKind::kStore:
    case StmtKind::kEvaluate:
      return s;
  }
  KILN_CHECK(false) << "unknown kind";
  return s;
}

Stmt MapExprs(const Stmt& s, ExprMap map) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return MapForExprs(s, map);
    case StmtKind::kBlockRealize:
      return MapRealizeExprs(s, map);
    case StmtKind::kStore:
      return MapStoreExprs(s, map);
    case StmtKind::kIf: {
      const auto* node = s.As<IfNode>();
      Expr condition = map(node->condition);
      if (condition == node->condition) return s;
      return MakeIf(condition, node->then_case, node->else_case);
    }
    case StmtKind::kLet: {
      const auto* node = s.As<LetStmtNode>();
      Expr value = map(node->value);
      return value == node->value ? s : MakeLet(node->var, value, node->body);
    }
    case StmtKind::kEvaluate: {
      const auto* node = s.As<EvaluateNode>();
      Expr value = map(node->value);
      return value == node->value ? s : MakeEvaluate(value);
    }
    case StmtKind::kSeq:
    case StmtKind::kAllocate:
      return s;
  }
  KILN_CHECK(false) << "unknown kind";
  return s;
}

void Visit(const Stmt& s, FunctionRef<bool(const Stmt&)> visit) {
  if (!visit(s)) return;
  ForEachChild(s, [&](const Stmt& child) { Visit(child, visit); });
}

void VisitExprs(const Stmt& s, FunctionRef<bool(const Expr&)> visit) {
  Visit(s, [&](const Stmt& node) {
    ForEachExpr(node, [&](const Expr& e) { Visit(e, visit); });
    return true;
  });
}

Stmt Rewrite(const Stmt& s, FunctionRef<Stmt(const Stmt&)> rewrite) {
  if (Stmt replacement = rewrite(s)) return replacement;
  return MapChildren(
      s, [&](const Stmt& child) { return Rewrite(child, rewrite); });
}

Stmt RewriteExprs(const Stmt& s, ExprMap rewrite) {
  Stmt mapped = MapExprs(s, [&](const Expr& e) { return Rewrite(e, rewrite); });
  return MapChildren(
      mapped, [&](const Stmt& child) { return RewriteExprs(child, rewrite); });
}

Stmt Substitute(const Stmt& s, const VarMap& map) {
  if (map.empty()) return s;
  const Stmt mapped =
      MapExprs(s, [&](const Expr& e) { return Substitute(e, map); });
  return MapChildren(mapped,
                     [&](const Stmt& child) { return Substitute(child, map); });
}

namespace {

Buffer Mapped(const Buffer& buffer, const BufferMap& map) {
  auto found = map.find(buffer.get());
  return found == map.end() ? buffer : found->second;
}

template <typename Region>
bool ReplaceIn(std::vector<Region>& list, const BufferMap& map) {
  bool changed = false;
  for (Region& region : list) {
    Buffer mapped = Mapped(region.buffer, map);
    changed |= mapped != region.buffer;
    region.buffer = std::move(mapped);
  }
  return changed;
}

bool ReplaceIn(BlockFields& block, const BufferMap& map) {
  bool changed = ReplaceIn(block.reads, map);
  changed |= ReplaceIn(block.writes, map);
  changed |= ReplaceIn(block.match_buffers, map);
  for (MatchBufferRegion& match : block.match_buffers) {
    Buffer source = Mapped(match.source.buffer, map);
    changed |= source != match.source.buffer;
    match.source.buffer = std::move(source);
  }
  for (Buffer& buffer : block.alloc_buffers) {
    Buffer mapped = Mapped(buffer, map);
    changed |= mapped != buffer;
    buffer = std::move(mapped);
  }
  return changed;
}

// Replaces the buffers that stand directly in `s`.
Stmt ReplaceOwn(const Stmt& s, const BufferMap& map) {
  if (const auto* store = s.As<StoreNode>()) {
    Buffer mapped = Mapped(store->buffer, map);
    return mapped == store->buffer
               ? s
               : MakeStore(mapped, store->value, store->indices);
  }
  if (const auto* allocate = s.As<AllocateNode>()) {
    Buffer mapped = Mapped(allocate->buffer, map);
    return mapped == allocate->buffer
               ? s
               : MakeAllocate(mapped, allocate->body, allocate->is_view,
                              allocate->annotations);
  }
  if (const auto* realize = s.As<BlockRealizeNode>()) {
    BlockFields fields = realize->block->fields();
    if (!ReplaceIn(fields, map)) return s;
    return MakeRealize(realize->values, realize->predicate,
                       MakeBlock(std::move(fields)));
  }
  return s;
}

}  // namespace

Expr ReplaceBuffers(const Expr& e, const BufferMap& map) {
  if (!e->has_loads) return e;
  Expr below = MapOperands(
      e, [&](const Expr& operand) { return ReplaceBuffers(operand, map); });
  const auto* load = below.As<LoadNode>();
  if (!load) return below;
  Buffer mapped = Mapped(load->buffer, map);
  return mapped == load->buffer ? below : Load(mapped, load->indices);
}

Stmt ReplaceBuffers(const Stmt& s, const BufferMap& map) {
  Stmt own = MapExprs(s, [&](const Expr& e) { return ReplaceBuffers(e, map); });
  own = ReplaceOwn(own, map);
  return MapChildren(
      own, [&](const Stmt& child) { return ReplaceBuffers(child, map); });
}

}  // namespace kiln
