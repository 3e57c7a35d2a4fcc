// A program is written as tokens in the order of one walk. Each node begins
// with its kind and each list with its length, so that the bytes can be read
// back in one way only: equal bytes, equal programs. A variable or buffer is
// the number of its first appearance, where its type, or its shape, follows;
// names and ids are left out, so that programs that differ in them alone have
// equal bytes.
//
//   def f(a, b), A and B of 8 float32           f, g: the same bytes
//     for i in range(8): B[i] = A[i]
//   def g(x, y), X and Y of 8 float32
//     for k in range(8): Y[k] = X[k]
//       a, x: 0   A, X: 1   b, y: 2   B, Y: 3   i, k: 4
//
// The form is a string rather than a hash, so that comparing two is exact.
// Nodes that are shared are written at each place where they stand. The order
// of attributes is that of their keys; nothing is simplified or sorted.
#include "kiln/ir/tensor/canonical.h"

#include <cstring>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/canonical_writer.h"

namespace kiln {

// Variable-length: 7 bits a byte after folding the sign into bit 0.
void CanonicalWriter::Number(int64_t value) {
  uint64_t bits =
      static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  while (bits >= 128) {
    Byte(static_cast<uint8_t>(bits | 128));
    bits >>= 7;
  }
  Byte(static_cast<uint8_t>(bits));
}

void CanonicalWriter::Text(std::string_view text) {
  Number(static_cast<int64_t>(text.size()));
  bytes_.append(text);
}

void CanonicalWriter::Write(const Expr& e) {
  Byte(static_cast<uint8_t>(e.kind()));
  if (const auto* var = e.As<VarNode>()) {
    auto [entry, is_new] = numbers_.emplace(var, numbers_.size());
    Number(entry->second);
    if (is_new) Type(var->dtype);
    return;
  }
  if (!IsBinary(e.kind())) Type(e.dtype());
  if (const auto* imm = e.As<IntImmNode>()) {
    Number(imm->value);
  } else if (const auto* real = e.As<FloatImmNode>()) {
    int64_t bits;
    std::memcpy(&bits, &real->value, sizeof(bits));
    Number(bits);
  } else if (const auto* text = e.As<StringImmNode>()) {
    Text(text->value);
  } else if (const auto* load = e.As<LoadNode>()) {
    Write(load->buffer);
  } else if (const auto* call = e.As<CallNode>()) {
    Byte(static_cast<uint8_t>(call->op));
    Number(static_cast<int64_t>(call->args.size()));
  } else if (const auto* let = e.As<LetNode>()) {
    Write(static_cast<const Expr&>(let->var));
  }
  ForEachOperand(e, [&](const Expr& operand) { Write(operand); });
}

void CanonicalWriter::Write(const Buffer& buffer) {
  auto [entry, is_new] = numbers_.emplace(buffer.get(), numbers_.size());
  Number(entry->second);
  if (!is_new) return;
  Type(buffer->dtype);
  WriteList(buffer->shape);
  WriteList(buffer->strides);
  WriteOptional(buffer->elem_offset);
  WriteOptional(static_cast<const Expr&>(buffer->data));
  Text(buffer->scope);
  Number(buffer->alignment);
  Number(buffer->offset_factor);
}

void CanonicalWriter::Write(const Attr& attr) {
  Byte(static_cast<uint8_t>(attr.value.index()));
  if (const Expr* e = attr.expr()) Write(*e);
  if (const std::string* text = attr.string()) Text(*text);
  if (const AttrList* list = attr.list()) WriteList(*list);
  if (const AttrMap* map = attr.map()) Write(*map);
}

void CanonicalWriter::Write(const AttrMap& map) {
  Number(static_cast<int64_t>(map.size()));
  for (const auto& [key, value] : map) {
    Text(key);
    Write(value);
  }
}

void CanonicalWriter::Write(const BlockNode& block) {
  if (options_.block_names) Text(block.name);
  WriteList(block.iters);
  WriteList(block.alloc_buffers);
  WriteList(block.match_buffers);
  WriteList(block.reads);
  WriteList(block.writes);
  Write(block.annotations);
  WriteOptional(block.init);
  Write(block.body);
}

void CanonicalWriter::Write(const BlockRealizeNode& realize) {
  WriteList(realize.values);
  Write(realize.predicate);
  Write(*realize.block);
}

void CanonicalWriter::Write(const ForNode& loop) {
  Write(static_cast<const Expr&>(loop.var));
  Write(loop.min);
  Write(loop.extent);
  Byte(static_cast<uint8_t>(loop.for_kind));
  Text(loop.thread_tag);
  Write(loop.annotations);
  Write(loop.body);
}

void CanonicalWriter::Write(const Stmt& s) {
  Byte(static_cast<uint8_t>(s.kind()));
  switch (s.kind()) {
    case StmtKind::kFor:
      return Write(*s.As<ForNode>());
    case StmtKind::kBlockRealize:
      return Write(*s.As<BlockRealizeNode>());
    case StmtKind::kSeq:
      return WriteList(s.As<SeqNode>()->stmts);
    case StmtKind::kStore: {
      const auto* node = s.As<StoreNode>();
      Write(node->buffer);
      WriteList(node->indices);
      return Write(node->value);
    }
    case StmtKind::kIf: {
      const auto* node = s.As<IfNode>();
      Write(node->condition);
      Write(node->then_case);
      return WriteOptional(node->else_case);
    }
    case StmtKind::kLet: {
      const auto* node = s.As<LetStmtNode>();
      Write(static_cast<const Expr&>(node->var));
      Write(node->value);
      return Write(node->body);
    }
    case StmtKind::kAllocate: {
      const auto* node = s.As<AllocateNode>();
      Write(node->buffer);
      Byte(node->is_view);
      Write(node->annotations);
      return Write(node->body);
    }
    case StmtKind::kEvaluate:
      return Write(s.As<EvaluateNode>()->value);
  }
}

void CanonicalWriter::Write(const Function& f) {
  Number(static_cast<int64_t>(f.params.size()));
  for (const Param& param : f.params) {
    Write(static_cast<const Expr&>(param.var));
    Byte(static_cast<bool>(param.buffer));
    if (param.buffer) Write(param.buffer);
  }
  // The symbol is one more name of the function.
  AttrMap attrs = f.attrs;
  attrs.erase("global_symbol");
  Write(attrs);
  Write(f.body);
}

void CanonicalWriter::Write(const Module& m) {
  Number(static_cast<int64_t>(m.functions.size()));
  for (const Function& f : m.functions) Write(f);
  for (const graph::GraphFunction& g : m.graph_functions) Write(g);
  Write(m.attrs);
}

std::string CanonicalForm(const Function& f, CanonicalOptions options) {
  CanonicalWriter writer(options);
  writer.Write(f);
  return writer.Take();
}

std::string CanonicalForm(const Module& m, CanonicalOptions options) {
  CanonicalWriter writer(options);
  writer.Write(m);
  return writer.Take();
}

std::string CanonicalForm(const Stmt& s, CanonicalOptions options) {
  CanonicalWriter writer(options);
  writer.Write(s);
  return writer.Take();
}

std::string CanonicalForm(const Expr& e) {
  CanonicalWriter writer({});
  writer.Write(e);
  return writer.Take();
}

bool StructurallyEqual(const Function& a, const Function& b) {
  return CanonicalForm(a) == CanonicalForm(b);
}

bool StructurallyEqual(const Module& a, const Module& b) {
  return CanonicalForm(a) == CanonicalForm(b);
}

bool StructurallyEqual(const Stmt& a, const Stmt& b) {
  return a == b || CanonicalForm(a) == CanonicalForm(b);
}

uint64_t StructuralHash(const Function& f) {
  return std::hash<std::string>()(CanonicalForm(f));
}

}  // namespace kiln
