// Each access tells how far inwards the allocation may stand: the longest
// prefix of the path from the root to the access that ends before the first
// loop that carries the value. The allocation goes to what the prefixes of all
// accesses have in common. For
//
//   for i:
//     for k:
//       block W(vi = i, vk = reduce k): T[vi] += In[vi, vk]
//       block R(vi = i, vk = k): Out[vi, vk] = T[vi]
//
// R alone would allow its own body. W is iterated by k as a reduction, so k
// carries T from one iteration to the next, and W allows no more than the body
// of i: there T is allocated. Where the binding of a carrying iterator uses
// iterators of an outer block, these carry as well, up to the loops.
#include "kiln/codegen/lower/blocks/place_buffers.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/codegen/lower/storage/pad_strides.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// The loops and block realizations around a place, outermost first.
using Path = std::vector<const StmtNode*>;

struct Placement {
  Buffer buffer;
  size_t declared_depth = 0;  // length of the path to the declaring block
  bool is_used = false;
  Path site;  // where all accesses so far may share an allocation
};

const ForNode* AsLoop(const StmtNode* node) {
  return node->kind == StmtKind::kFor ? static_cast<const ForNode*>(node)
                                      : nullptr;
}
const BlockRealizeNode* AsRealize(const StmtNode* node) {
  return static_cast<const BlockRealizeNode*>(node);
}

bool Lists(const std::vector<BufferRegion>& regions, const BufferNode* buffer) {
  return std::any_of(
      regions.begin(), regions.end(),
      [&](const BufferRegion& r) { return r.buffer.get() == buffer; });
}

// What the statements that stand directly in one block do to buffers.
struct DirectUse {
  std::unordered_set<const BufferNode*> loads, stores;
};

using StrideLists = std::unordered_map<const BufferNode*, AttrList>;

class Placer {
 public:
  explicit Placer(const StrideLists& strides) : strides_(strides) {}
  Stmt Run(const Stmt& body) {
    Walk(body);
    for (const Placement& p : placements_) {
      if (p.is_used) sites_[p.site.back()].push_back(p.buffer);
    }
    return Insert(body);
  }

 private:
  void Walk(const Stmt& s);
  void WalkRealize(const Stmt& s);
  void UseExpr(const Expr& e);
  void Access(const BufferNode* buffer, bool is_write);
  size_t Carried(const Placement& p, bool is_write) const;
  static void AddCarried(const BlockRealizeNode& realize, bool is_carrier,
                         std::unordered_set<const VarNode*>* vars);
  static DirectUse CollectDirect(const Stmt& body);
  Stmt Insert(const Stmt& s);
  Stmt Wrap(const StmtNode* site, Stmt body) const;

  const StrideLists& strides_;
  Path path_;
  size_t block_depth_ = 0;  // length of the path to the innermost block
  std::vector<Placement> placements_;
  std::unordered_map<const BufferNode*, size_t> index_;
  std::unordered_map<const BufferNode*, const BufferNode*> matched_;
  std::unordered_map<const VarNode*, const BufferNode*> addresses_;
  std::unordered_map<const StmtNode*, DirectUse> direct_;
  std::unordered_map<const StmtNode*, std::vector<Buffer>> sites_;
};

DirectUse Placer::CollectDirect(const Stmt& body) {
  DirectUse use;
  Visit(body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      use.stores.insert(store->buffer.get());
    }
    if (s.As<BlockRealizeNode>()) return false;
    ForEachExpr(s, [&](const Expr& e) {
      Visit(e, [&](const Expr& x) {
        if (const auto* load = x.As<LoadNode>()) {
          use.loads.insert(load->buffer.get());
        }
        return true;
      });
    });
    return true;
  });
  return use;
}

void Placer::AddCarried(const BlockRealizeNode& realize, bool is_carrier,
                        std::unordered_set<const VarNode*>* vars) {
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const IterVar& iter = realize.block->iters[i];
    const bool carries = vars->count(iter.var.get()) ||
                         (is_carrier && iter.type != IterType::kSpatial);
    if (!carries) continue;
    for (const Var& var : FreeVars(realize.values[i])) vars->insert(var.get());
  }
}

// The longest prefix of the path to the current statement in whose last node
// the buffer may be allocated.
size_t Placer::Carried(const Placement& p, bool is_write) const {
  size_t end = block_depth_;
  const BufferNode* buffer = p.buffer.get();
  std::unordered_set<const VarNode*> carried;
  bool direct = true;  // still in the block of the access itself
  bool cuts_every_loop = false;
  for (size_t i = block_depth_; i-- > p.declared_depth;) {
    if (const ForNode* loop = AsLoop(path_[i])) {
      if (cuts_every_loop || carried.count(loop->var.get())) end = i;
      continue;
    }
    const BlockRealizeNode* realize = AsRealize(path_[i]);
    const DirectUse& use = direct_.at(path_[i]);
    const bool updates = use.loads.count(buffer) && use.stores.count(buffer);
    cuts_every_loop = direct && realize->values.empty() && updates;
    const bool writes = (direct && is_write) || use.stores.count(buffer) ||
                        Lists(realize->block->writes, buffer);
    AddCarried(*realize, writes, &carried);
    direct = false;
  }
  return end;
}

void Placer::Access(const BufferNode* buffer, bool is_write) {
  for (auto found = matched_.find(buffer); found != matched_.end();
       found = matched_.find(buffer)) {
    buffer = found->second;
  }
  auto found = index_.find(buffer);
  if (found == index_.end()) return;
  Placement& p = placements_[found->second];
  const size_t end = Carried(p, is_write);
  if (!p.is_used) {
    p.is_used = true;
    p.site.assign(path_.begin(), path_.begin() + end);
    return;
  }
  size_t common = 0;
  while (common < end && common < p.site.size() &&
         p.site[common] == path_[common]) {
    ++common;
  }
  p.site.resize(common);
}

void Placer::UseExpr(const Expr& e) {
  Visit(e, [&](const Expr& x) {
    if (const auto* load = x.As<LoadNode>()) Access(load->buffer.get(), false);
    if (const auto* var = x.As<VarNode>()) {
      auto found = addresses_.find(var);
      if (found != addresses_.end()) Access(found->second, true);
    }
    return true;
  });
}

void Placer::WalkRealize(const Stmt& s) {
  const auto* realize = s.As<BlockRealizeNode>();
  for (const Expr& value : realize->values) UseExpr(value);
  UseExpr(realize->predicate);
  const size_t outer_depth = block_depth_;
  path_.push_back(s.get());
  block_depth_ = path_.size();
  direct_[s.get()] = CollectDirect(realize->block->body);
  for (const Buffer& buffer : realize->block->alloc_buffers) {
    index_[buffer.get()] = placements_.size();
    placements_.push_back({buffer, block_depth_, false, {}});
    if (buffer->data) addresses_[buffer->data.get()] = buffer.get();
  }
  for (const MatchBufferRegion& match : realize->block->match_buffers) {
    const BufferNode* view = match.buffer.get();
    matched_[view] = match.source.buffer.get();
    if (match.buffer->data) addresses_[match.buffer->data.get()] = view;
    Access(view, Lists(realize->block->writes, match.source.buffer.get()));
  }
  Walk(realize->block->body);
  path_.pop_back();
  block_depth_ = outer_depth;
}

void Placer::Walk(const Stmt& s) {
  if (s.As<BlockRealizeNode>()) return WalkRealize(s);
  ForEachExpr(s, [&](const Expr& e) { UseExpr(e); });
  if (const auto* store = s.As<StoreNode>()) Access(store->buffer.get(), true);
  const bool is_loop = s.kind() == StmtKind::kFor;
  if (is_loop) path_.push_back(s.get());
  ForEachChild(s, [&](const Stmt& child) { Walk(child); });
  if (is_loop) path_.pop_back();
}

Stmt Placer::Wrap(const StmtNode* site, Stmt body) const {
  auto found = sites_.find(site);
  if (found == sites_.end()) return body;
  for (size_t i = found->second.size(); i-- > 0;) {
    const Buffer& buffer = found->second[i];
    Annotations notes;
    if (auto list = strides_.find(buffer.get()); list != strides_.end()) {
      notes[kStrideNote] = list->second;
    }
    body = MakeAllocate(buffer, std::move(body), false, std::move(notes));
  }
  return body;
}

Stmt Placer::Insert(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) {
    ForFields fields = loop->fields();
    fields.body = Wrap(s.get(), Insert(loop->body));
    return fields.body == loop->body ? s : MakeFor(std::move(fields));
  }
  const auto* realize = s.As<BlockRealizeNode>();
  if (!realize) {
    return MapChildren(s, [&](const Stmt& child) { return Insert(child); });
  }
  BlockFields fields = realize->block->fields();
  fields.alloc_buffers.clear();
  fields.body = Wrap(s.get(), Insert(fields.body));
  return MakeRealize(realize->values, realize->predicate,
                     MakeBlock(std::move(fields)));
}

}  // namespace

absl::StatusOr<Function> PlaceBuffers(Function f) {
  KILN_ASSIGN_OR_RETURN(const StrideLists strides, StrideNotes(f));
  f.body = Placer(strides).Run(f.body);
  return f;
}

}  // namespace kiln
