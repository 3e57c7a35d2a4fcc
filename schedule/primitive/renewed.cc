#include "kiln/schedule/primitive/renewed.h"

#include <utility>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

class Renewer {
 public:
  Renewer(const std::string& suffix, Function* f) : suffix_(suffix), f_(f) {}

  Stmt Run(const Stmt& s) { return ReplaceBuffers(Copy(s), buffers_); }

 private:
  Var NewVar(const Var& var) {
    Var fresh(var.name(), var.dtype());
    vars_[var.get()] = fresh;
    return fresh;
  }
  Expr Map(const Expr& e) { return Substitute(e, vars_); }
  Range Map(const Range& range) {
    return MapRange(range, [&](const Expr& e) { return Map(e); });
  }

  Stmt Copy(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) {
      ForFields fields = loop->fields();
      fields.id = f_->NewId();
      fields.min = Map(loop->min);
      fields.extent = Map(loop->extent);
      fields.var = NewVar(loop->var);
      fields.body = Copy(loop->body);
      return MakeFor(std::move(fields));
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) return Copy(*realize);
    if (const auto* let = s.As<LetStmtNode>()) {
      Expr value = Map(let->value);
      const Var var = NewVar(let->var);
      return MakeLet(var, std::move(value), Copy(let->body));
    }
    if (const auto* allocate = s.As<AllocateNode>()) {
      const Buffer buffer = NewBuffer(allocate->buffer);
      return MakeAllocate(buffer, Copy(allocate->body), allocate->is_view,
                          allocate->annotations);
    }
    const Stmt own = MapExprs(s, [&](const Expr& e) { return Map(e); });
    return MapChildren(own, [&](const Stmt& child) { return Copy(child); });
  }

  Stmt Copy(const BlockRealizeNode& realize) {
    std::vector<Expr> values;
    for (const Expr& value : realize.values) values.push_back(Map(value));
    Expr predicate = Map(realize.predicate);
    BlockFields fields = realize.block->fields();
    fields.id = f_->NewId();
    fields.name += suffix_;
    for (IterVar& iter : fields.iters) {
      iter.domain = Map(iter.domain);
      iter.var = NewVar(iter.var);
    }
    for (Buffer& buffer : fields.alloc_buffers) buffer = NewBuffer(buffer);
    const auto region = [&](const BufferRegion& r) {
      return MapRegion(r, [&](const Expr& e) { return Map(e); });
    };
    for (MatchBufferRegion& match : fields.match_buffers) {
      match.source = region(match.source);
      match.buffer = NewBuffer(match.buffer);
    }
    for (BufferRegion& r : fields.reads) r = region(r);
    for (BufferRegion& r : fields.writes) r = region(r);
    if (fields.init) fields.init = Copy(fields.init);
    fields.body = Copy(fields.body);
    return MakeRealize(std::move(values), std::move(predicate),
                       MakeBlock(std::move(fields)));
  }

  // Another tensor like it; accesses follow when all is copied.
  Buffer NewBuffer(const Buffer& buffer) {
    const Buffer fresh = EditBuffer(buffer, [&](BufferNode& node) {
      if (node.data) node.data = NewVar(node.data);
      for (Expr& extent : node.shape) extent = Map(extent);
      for (Expr& stride : node.strides) stride = Map(stride);
    });
    buffers_[buffer.get()] = fresh;
    return fresh;
  }

  const std::string& suffix_;
  Function* f_;
  VarMap vars_;
  BufferMap buffers_;
};

}  // namespace

Stmt Renewed(const Stmt& s, const std::string& suffix, Function* f) {
  return Renewer(suffix, f).Run(s);
}

}  // namespace kiln
