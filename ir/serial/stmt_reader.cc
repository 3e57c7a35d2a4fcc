// Reads a table node by node into entries_; the node at hand is current_, whose
// depth and size grow with each reference that it uses (expr_reader.cc). For
// B[i] = A[i]:
//
//   1: IntImm 8               2: Buffer B, shape [1]    3: Var i
//   4: Buffer A, shape [1]    5: Load 4 [3]             6: Store 2 [3], value 5
//
// The first failure is kept, and reading goes on to the end of the node with
// null references in place of what failed. A node is therefore built without
// looking into its operands, or after ok() was asked. Enumerations count from 1
// in the message, so that a missing field is no valid value.
#include "absl/strings/str_cat.h"
#include "kiln/ir/serial/reader.h"

namespace kiln::serial_internal {

namespace {

// Attributes nest in the message itself.
constexpr int kMaxAttrDepth = 64;

}  // namespace

void Reader::ReadTable(const Nodes& nodes) {
  entries_.reserve(nodes.size());
  for (const proto::Node& node : nodes) {
    current_ = Entry();
    if (node.has_expr()) {
      current_.expr = ReadExpr(node.expr());
    } else if (node.has_buffer()) {
      current_.buffer = ReadBuffer(node.buffer());
    } else if (node.has_stmt()) {
      current_.stmt = ReadStmt(node.stmt());
    } else {
      Fail("neither expression, buffer nor statement");
    }
    if (!ok()) return;
    entries_.push_back(std::move(current_));
  }
  current_ = Entry();
}

Range Reader::GetRange(const proto::Range& message) {
  Expr min = GetExpr(message.min());
  return {std::move(min), GetExpr(message.extent())};
}

BufferRegion Reader::GetRegion(const proto::BufferRegion& message) {
  BufferRegion region{GetBuffer(message.buffer()), {}};
  for (const proto::Range& range : message.region()) {
    region.region.push_back(GetRange(range));
  }
  return region;
}

Stmt Reader::ReadFor(const proto::For& message) {
  ForFields fields;
  fields.id = message.id();
  fields.var = GetVar(message.var());
  Range range = GetRange(message.range());
  fields.min = std::move(range.min);
  fields.extent = std::move(range.extent);
  if (message.kind() < proto::FOR_KIND_SERIAL ||
      message.kind() > proto::FOR_KIND_THREAD_BINDING) {
    Fail(absl::StrCat("unknown kind of loop ",
                      static_cast<int>(message.kind())));
  }
  fields.for_kind = static_cast<ForKind>(static_cast<int>(message.kind()) - 1);
  fields.thread_tag = message.thread_tag();
  fields.annotations = GetAttrs(message.annotations());
  fields.body = GetStmt(message.body());
  return ok() ? Stmt(new ForNode(std::move(fields))) : nullptr;
}

BlockFields Reader::ReadBlock(const proto::Block& message) {
  BlockFields fields;
  fields.id = message.id();
  fields.name = message.name();
  for (const proto::IterVar& iter : message.iters()) {
    if (iter.type() < proto::ITER_TYPE_SPATIAL ||
        iter.type() > proto::ITER_TYPE_OPAQUE) {
      Fail(absl::StrCat("unknown type of iterator ",
                        static_cast<int>(iter.type())));
    }
    Var var = GetVar(iter.var());
    fields.iters.push_back(
        {std::move(var), GetRange(iter.domain()),
         static_cast<IterType>(static_cast<int>(iter.type()) - 1)});
  }
  for (const auto& region : message.reads()) {
    fields.reads.push_back(GetRegion(region));
  }
  for (const auto& region : message.writes()) {
    fields.writes.push_back(GetRegion(region));
  }
  for (uint32_t ref : message.alloc_buffers()) {
    fields.alloc_buffers.push_back(GetBuffer(ref));
  }
  for (const auto& match : message.match_buffers()) {
    Buffer buffer = GetBuffer(match.buffer());
    fields.match_buffers.push_back(
        {std::move(buffer), GetRegion(match.source())});
  }
  fields.annotations = GetAttrs(message.annotations());
  fields.init = GetStmt(message.init(), /*optional=*/true);
  fields.body = GetStmt(message.body());
  return fields;
}

Stmt Reader::ReadRealize(const proto::BlockRealize& message) {
  auto* node = new BlockRealizeNode;
  Stmt stmt(node);
  node->values = GetExprs(message.values());
  node->predicate = GetExpr(message.predicate());
  BlockFields fields = ReadBlock(message.block());
  if (node->values.size() != fields.iters.size()) {
    Fail(absl::StrCat("block \"", fields.name, "\" has ", fields.iters.size(),
                      " iterators and ", node->values.size(), " bindings"));
  }
  node->block = Block(new BlockNode(std::move(fields)));
  return stmt;
}

Stmt Reader::ReadSeq(const proto::Seq& message) {
  auto* node = new SeqNode;
  Stmt stmt(node);
  if (message.stmts_size() < 2) Fail("a sequence of fewer than two statements");
  for (uint32_t ref : message.stmts()) {
    node->stmts.push_back(GetStmt(ref));
    if (ok() && node->stmts.back().kind() == StmtKind::kSeq) {
      Fail("a sequence directly inside a sequence");
    }
  }
  return stmt;
}

Stmt Reader::ReadStore(const proto::Store& message) {
  auto* node = new StoreNode;
  Stmt stmt(node);
  node->buffer = GetBuffer(message.buffer());
  node->indices = GetExprs(message.indices());
  node->value = GetExpr(message.value());
  return stmt;
}

Stmt Reader::ReadIf(const proto::If& message) {
  auto* node = new IfNode;
  Stmt stmt(node);
  node->condition = GetExpr(message.condition());
  node->then_case = GetStmt(message.then_case());
  node->else_case = GetStmt(message.else_case(), /*optional=*/true);
  return stmt;
}

Stmt Reader::ReadLet(const proto::Let& message) {
  auto* node = new LetStmtNode;
  Stmt stmt(node);
  node->var = GetVar(message.var());
  node->value = GetExpr(message.value());
  node->body = GetStmt(message.body());
  return stmt;
}

Stmt Reader::ReadAllocate(const proto::Allocate& message) {
  auto* node = new AllocateNode;
  Stmt stmt(node);
  node->buffer = GetBuffer(message.buffer());
  node->is_view = message.is_view();
  node->annotations = GetAttrs(message.annotations());
  node->body = GetStmt(message.body());
  return stmt;
}

Stmt Reader::ReadStmt(const proto::Stmt& message) {
  switch (message.value_case()) {
    case proto::Stmt::kForLoop:
      return ReadFor(message.for_loop());
    case proto::Stmt::kBlockRealize:
      return ReadRealize(message.block_realize());
    case proto::Stmt::kSeq:
      return ReadSeq(message.seq());
    case proto::Stmt::kStore:
      return ReadStore(message.store());
    case proto::Stmt::kIfElse:
      return ReadIf(message.if_else());
    case proto::Stmt::kLet:
      return ReadLet(message.let());
    case proto::Stmt::kAllocate:
      return ReadAllocate(message.allocate());
    case proto::Stmt::kEvaluate: {
      Expr value = GetExpr(message.evaluate());
      return ok() ? MakeEvaluate(std::move(value)) : nullptr;
    }
    case proto::Stmt::VALUE_NOT_SET:
      Fail("an unknown kind of statement");
      return nullptr;
  }
  Fail("an unknown kind of statement");
  return nullptr;
}

Attr Reader::GetAttr(const proto::Attr& message, int depth) {
  if (depth > kMaxAttrDepth) {
    Fail("attributes nest too deeply");
    return Attr();
  }
  switch (message.value_case()) {
    case proto::Attr::kNone:
      return Attr();
    case proto::Attr::kExpr:
      return Attr(GetExpr(message.expr()));
    case proto::Attr::kText:
      return Attr(message.text());
    case proto::Attr::kMap:
      return Attr(GetAttrs(message.map(), depth + 1));
    case proto::Attr::kList: {
      AttrList list;
      for (const proto::Attr& value : message.list().values()) {
        list.push_back(GetAttr(value, depth + 1));
      }
      return Attr(std::move(list));
    }
    case proto::Attr::VALUE_NOT_SET:
      break;
  }
  Fail("an unknown kind of attribute");
  return Attr();
}

AttrMap Reader::GetAttrs(const proto::AttrMap& map, int depth) {
  AttrMap attrs;
  for (const proto::AttrEntry& entry : map.entries()) {
    Attr value = GetAttr(entry.value(), depth);
    if (!attrs.emplace(entry.key(), std::move(value)).second) {
      Fail(absl::StrCat("attribute \"", entry.key(), "\" comes twice"));
    }
  }
  return attrs;
}

AttrMap Reader::GetAttrs(const proto::AttrMap& map) { return GetAttrs(map, 0); }

}  // namespace kiln::serial_internal
