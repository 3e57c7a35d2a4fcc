// A node is written behind all nodes that it refers to, and once, however often
// it is shared: refs_ maps the address of a node to its position. The store
// A[i] = A[i] * 2.0, with A of 8 elements, becomes
//
//   1: IntImm 8           2: Buffer A, shape [1]
//   3: Var i              4: Load 2 [3]
//   5: FloatImm 2.0       6: Mul [4, 5]
//   7: Store 2 [3], value 6
//
// The message so has the size of the program's graph and hardly nests, and what
// was one variable or one buffer is one again when it is read. Two equal nodes
// that the program does not share are written twice.
#include "kiln/ir/serial/writer.h"

#include "kiln/ir/expr/visit.h"

namespace kiln::serial_internal {

uint32_t Writer::Append(const void* key, proto::Node node) {
  *nodes_->Add() = std::move(node);
  const uint32_t ref = static_cast<uint32_t>(nodes_->size());
  refs_[key] = ref;
  return ref;
}

uint32_t Writer::Ref(const Expr& e) {
  if (!e) return 0;
  auto found = refs_.find(e.get());
  if (found != refs_.end()) return found->second;
  proto::Node node;
  Write(e, node.mutable_expr());
  return Append(e.get(), std::move(node));
}

uint32_t Writer::Ref(const Buffer& buffer) {
  if (!buffer) return 0;
  auto found = refs_.find(buffer.get());
  if (found != refs_.end()) return found->second;
  proto::Node node;
  Write(*buffer, node.mutable_buffer());
  return Append(buffer.get(), std::move(node));
}

uint32_t Writer::Ref(const Stmt& s) {
  if (!s) return 0;
  auto found = refs_.find(s.get());
  if (found != refs_.end()) return found->second;
  proto::Node node;
  Write(s, node.mutable_stmt());
  return Append(s.get(), std::move(node));
}

void Writer::Write(const Expr& e, proto::Expr* out) {
  out->set_kind(std::string(ExprKindName(e.kind())));
  out->set_dtype(e.dtype().ToString());
  if (const auto* imm = e.As<IntImmNode>()) out->set_number(imm->value);
  if (const auto* real = e.As<FloatImmNode>()) out->set_real(real->value);
  if (const auto* text = e.As<StringImmNode>()) out->set_text(text->value);
  if (const auto* var = e.As<VarNode>()) out->set_text(var->name);
  if (const auto* load = e.As<LoadNode>()) out->set_buffer(Ref(load->buffer));
  if (const auto* let = e.As<LetNode>()) {
    out->set_var(Ref(static_cast<const Expr&>(let->var)));
  }
  if (const auto* call = e.As<CallNode>()) {
    out->set_text(std::string(GetIntrinsicInfo(call->op).name));
  }
  ForEachOperand(e,
                 [&](const Expr& operand) { out->add_operands(Ref(operand)); });
}

void Writer::Write(const BufferNode& buffer, proto::Buffer* out) {
  out->set_name(buffer.name);
  out->set_dtype(buffer.dtype.ToString());
  WriteRefs(buffer.shape, out->mutable_shape());
  WriteRefs(buffer.strides, out->mutable_strides());
  out->set_elem_offset(Ref(buffer.elem_offset));
  out->set_data(Ref(static_cast<const Expr&>(buffer.data)));
  out->set_scope(buffer.scope);
  out->set_alignment(buffer.alignment);
  out->set_offset_factor(buffer.offset_factor);
}

void Writer::Write(const Range& range, proto::Range* out) {
  out->set_min(Ref(range.min));
  out->set_extent(Ref(range.extent));
}

void Writer::Write(const BufferRegion& region, proto::BufferRegion* out) {
  out->set_buffer(Ref(region.buffer));
  for (const Range& range : region.region) Write(range, out->add_region());
}

void Writer::Write(const ForNode& loop, proto::For* out) {
  out->set_id(loop.id);
  out->set_var(Ref(static_cast<const Expr&>(loop.var)));
  Write(Range{loop.min, loop.extent}, out->mutable_range());
  out->set_kind(
      static_cast<proto::ForKind>(static_cast<int>(loop.for_kind) + 1));
  out->set_thread_tag(loop.thread_tag);
  Write(loop.annotations, out->mutable_annotations());
  out->set_body(Ref(loop.body));
}

void Writer::Write(const BlockNode& block, proto::Block* out) {
  out->set_id(block.id);
  out->set_name(block.name);
  for (const IterVar& iter : block.iters) {
    proto::IterVar* message = out->add_iters();
    message->set_var(Ref(static_cast<const Expr&>(iter.var)));
    Write(iter.domain, message->mutable_domain());
    message->set_type(
        static_cast<proto::IterType>(static_cast<int>(iter.type) + 1));
  }
  for (const auto& region : block.reads) Write(region, out->add_reads());
  for (const auto& region : block.writes) Write(region, out->add_writes());
  WriteRefs(block.alloc_buffers, out->mutable_alloc_buffers());
  for (const MatchBufferRegion& match : block.match_buffers) {
    proto::MatchBufferRegion* message = out->add_match_buffers();
    message->set_buffer(Ref(match.buffer));
    Write(match.source, message->mutable_source());
  }
  Write(block.annotations, out->mutable_annotations());
  out->set_init(Ref(block.init));
  out->set_body(Ref(block.body));
}

void Writer::Write(const BlockRealizeNode& realize, proto::BlockRealize* out) {
  WriteRefs(realize.values, out->mutable_values());
  out->set_predicate(Ref(realize.predicate));
  Write(*realize.block, out->mutable_block());
}

void Writer::Write(const Stmt& s, proto::Stmt* out) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return Write(*s.As<ForNode>(), out->mutable_for_loop());
    case StmtKind::kBlockRealize:
      return Write(*s.As<BlockRealizeNode>(), out->mutable_block_realize());
    case StmtKind::kSeq:
      return WriteRefs(s.As<SeqNode>()->stmts,
                       out->mutable_seq()->mutable_stmts());
    case StmtKind::kStore: {
      const auto* store = s.As<StoreNode>();
      out->mutable_store()->set_buffer(Ref(store->buffer));
      WriteRefs(store->indices, out->mutable_store()->mutable_indices());
      return out->mutable_store()->set_value(Ref(store->value));
    }
    case StmtKind::kIf: {
      const auto* node = s.As<IfNode>();
      out->mutable_if_else()->set_condition(Ref(node->condition));
      out->mutable_if_else()->set_then_case(Ref(node->then_case));
      return out->mutable_if_else()->set_else_case(Ref(node->else_case));
    }
    case StmtKind::kLet: {
      const auto* let = s.As<LetStmtNode>();
      out->mutable_let()->set_var(Ref(static_cast<const Expr&>(let->var)));
      out->mutable_let()->set_value(Ref(let->value));
      return out->mutable_let()->set_body(Ref(let->body));
    }
    case StmtKind::kAllocate: {
      const auto* node = s.As<AllocateNode>();
      out->mutable_allocate()->set_buffer(Ref(node->buffer));
      out->mutable_allocate()->set_is_view(node->is_view);
      Write(node->annotations, out->mutable_allocate()->mutable_annotations());
      return out->mutable_allocate()->set_body(Ref(node->body));
    }
    case StmtKind::kEvaluate:
      return out->set_evaluate(Ref(s.As<EvaluateNode>()->value));
  }
}

void Writer::Write(const Attr& attr, proto::Attr* out) {
  if (attr.is_none()) out->set_none(true);
  if (const Expr* e = attr.expr()) out->set_expr(Ref(*e));
  if (const std::string* text = attr.string()) out->set_text(*text);
  if (const AttrMap* map = attr.map()) Write(*map, out->mutable_map());
  if (const AttrList* list = attr.list()) {
    out->mutable_list();
    for (const Attr& value : *list) {
      Write(value, out->mutable_list()->add_values());
    }
  }
}

void Writer::Write(const AttrMap& map, proto::AttrMap* out) {
  for (const auto& [key, value] : map) {
    proto::AttrEntry* entry = out->add_entries();
    entry->set_key(key);
    Write(value, entry->mutable_value());
  }
}

}  // namespace kiln::serial_internal
