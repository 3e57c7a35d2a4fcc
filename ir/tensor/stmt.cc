#include "kiln/ir/tensor/stmt.h"

#include <algorithm>

#include "kiln/base/check.h"

namespace kiln {
namespace {

void AppendFlat(Stmt stmt, std::vector<Stmt>* out) {
  if (const auto* seq = stmt.As<SeqNode>()) {
    out->insert(out->end(), seq->stmts.begin(), seq->stmts.end());
  } else {
    out->push_back(std::move(stmt));
  }
}

}  // namespace

Stmt MakeFor(ForFields fields) {
  KILN_CHECK(fields.var && fields.min && fields.extent && fields.body);
  return Stmt(new ForNode(std::move(fields)));
}

Stmt MakeFor(LoopId id, Var var, Expr extent, Stmt body, ForKind kind) {
  KILN_CHECK(var && extent && body);
  return Stmt(new ForNode({id,
                           std::move(var),
                           Int(0),
                           std::move(extent),
                           kind,
                           "",
                           {},
                           std::move(body)}));
}

Block MakeBlock(BlockFields fields) {
  KILN_CHECK(fields.body) << fields.name;
  return Block(new BlockNode(std::move(fields)));
}

Stmt WithBody(const ForNode& loop, Stmt body) {
  KILN_CHECK(body);
  return Stmt(new ForNode(loop, std::move(body)));
}

Block WithBody(const BlockNode& block, Stmt init, Stmt body) {
  KILN_CHECK(body) << block.name;
  return Block(new BlockNode(block, std::move(init), std::move(body)));
}

Stmt MakeRealize(std::vector<Expr> values, Expr predicate, Block block) {
  KILN_CHECK_EQ(values.size(), block->iters.size()) << block->name;
  KILN_CHECK(predicate && predicate.dtype().is_bool()) << block->name;
  auto* node = new BlockRealizeNode;
  node->values = std::move(values);
  node->predicate = std::move(predicate);
  node->block = std::move(block);
  return Stmt(node);
}

Stmt MakeSeq(std::vector<Stmt> stmts) {
  const bool is_flat =
      std::none_of(stmts.begin(), stmts.end(),
                   [](const Stmt& stmt) { return stmt.As<SeqNode>(); });
  std::vector<Stmt> flat;
  if (is_flat) {
    flat = std::move(stmts);
  } else {
    flat.reserve(stmts.size());
    for (Stmt& stmt : stmts) AppendFlat(std::move(stmt), &flat);
  }
  if (flat.empty()) return MakeEvaluate(Int(0));
  if (flat.size() == 1) return flat[0];
  auto* node = new SeqNode;
  node->stmts = std::move(flat);
  return Stmt(node);
}

Stmt MakeStore(Buffer buffer, Expr value, std::vector<Expr> indices) {
  KILN_CHECK_EQ(buffer->shape.size(), indices.size()) << buffer->name;
  KILN_CHECK(value.dtype().Element() == buffer->dtype.Element())
      << "store of " << value.dtype().ToString() << " into " << buffer->name;
  auto* node = new StoreNode;
  node->buffer = std::move(buffer);
  node->value = std::move(value);
  node->indices = std::move(indices);
  return Stmt(node);
}

Stmt MakeIf(Expr condition, Stmt then_case, Stmt else_case) {
  KILN_CHECK(condition.dtype().is_bool());
  auto* node = new IfNode;
  node->condition = std::move(condition);
  node->then_case = std::move(then_case);
  node->else_case = std::move(else_case);
  return Stmt(node);
}

Stmt MakeLet(Var var, Expr value, Stmt body) {
  KILN_CHECK(var.dtype() == value.dtype()) << var.name();
  auto* node = new LetStmtNode;
  node->var = std::move(var);
  node->value = std::move(value);
  node->body = std::move(body);
  return Stmt(node);
}

Stmt MakeAllocate(Buffer buffer, Stmt body, bool is_view,
                  Annotations annotations) {
  auto* node = new AllocateNode;
  node->buffer = std::move(buffer);
  node->is_view = is_view;
  node->annotations = std::move(annotations);
  node->body = std::move(body);
  return Stmt(node);
}

Stmt MakeEvaluate(Expr value) {
  auto* node = new EvaluateNode;
  node->value = std::move(value);
  return Stmt(node);
}

std::vector<Range> PointRegion(const std::vector<Expr>& indices) {
  std::vector<Range> region;
  region.reserve(indices.size());
  for (const Expr& index : indices) region.push_back({index, Int(1)});
  return region;
}

BufferRegion FullRegion(const Buffer& buffer) {
  BufferRegion full{buffer, {}};
  for (const Expr& extent : buffer->shape) {
    full.region.push_back({Int(0), extent});
  }
  return full;
}

}  // namespace kiln
