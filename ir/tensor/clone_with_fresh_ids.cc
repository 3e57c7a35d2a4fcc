#include "kiln/ir/tensor/clone_with_fresh_ids.h"

#include <unordered_set>
#include <utility>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using VarSet = std::unordered_set<const VarNode*>;

// Calls `use` on what describes the tensor of a match. A variable that stands
// alone there and has no value yet gets one from the match.
void ForEachField(const Buffer& buffer, FunctionRef<void(const Expr&)> use) {
  for (const Expr& extent : buffer->shape) use(extent);
  for (const Expr& stride : buffer->strides) use(stride);
  if (buffer->elem_offset) use(buffer->elem_offset);
}

// The variables that `f` has but for those that only `part` defines.
VarSet DefinedOutside(const Function& f, const Stmt& part) {
  VarSet vars;
  for (const Param& param : f.params) vars.insert(param.var.get());
  for (const Var& var : SymbolicDims(f)) vars.insert(var.get());
  Visit(f.body, [&](const Stmt& s) {
    if (s == part) return false;
    if (const auto* loop = s.As<ForNode>()) vars.insert(loop->var.get());
    if (const auto* let = s.As<LetStmtNode>()) vars.insert(let->var.get());
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) return true;
    for (const IterVar& iter : realize->block->iters) {
      vars.insert(iter.var.get());
    }
    for (const MatchBufferRegion& match : realize->block->match_buffers) {
      ForEachField(match.buffer, [&](const Expr& e) {
        if (const auto* var = e.As<VarNode>()) vars.insert(var);
      });
    }
    return true;
  });
  return vars;
}

class Renewer {
 public:
  Renewer(const std::string& suffix, VarSet outside, Function* f)
      : suffix_(suffix), outside_(std::move(outside)), f_(f) {}

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
      match.buffer = NewMatch(match.buffer);
    }
    for (BufferRegion& r : fields.reads) r = region(r);
    for (BufferRegion& r : fields.writes) r = region(r);
    if (fields.init) fields.init = Copy(fields.init);
    fields.body = Copy(fields.body);
    return MakeRealize(std::move(values), std::move(predicate),
                       MakeBlock(std::move(fields)));
  }

  // With the variables that it gives a value.
  Buffer NewMatch(const Buffer& buffer) {
    ForEachField(buffer, [&](const Expr& e) {
      const auto* var = e.As<VarNode>();
      if (!var || vars_.count(var) > 0 || outside_.count(var) > 0) return;
      NewVar(Var(var));
    });
    return NewBuffer(buffer);
  }

  // Another tensor like it; accesses follow when all is copied.
  Buffer NewBuffer(const Buffer& buffer) {
    const Buffer fresh = EditBuffer(buffer, [&](BufferNode& node) {
      if (node.data) node.data = NewVar(node.data);
      for (Expr& extent : node.shape) extent = Map(extent);
      for (Expr& stride : node.strides) stride = Map(stride);
      if (node.elem_offset) node.elem_offset = Map(node.elem_offset);
    });
    buffers_[buffer.get()] = fresh;
    return fresh;
  }

  const std::string& suffix_;
  const VarSet outside_;
  Function* f_;
  VarMap vars_;
  BufferMap buffers_;
};

}  // namespace

Stmt CloneWithFreshIds(const Stmt& s, const std::string& suffix, Function* f) {
  return Renewer(suffix, DefinedOutside(*f, s), f).Run(s);
}

}  // namespace kiln
