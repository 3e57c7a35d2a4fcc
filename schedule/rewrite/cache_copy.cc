#include "kiln/schedule/rewrite/cache_copy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/rewrite/inlining.h"

namespace kiln {
namespace {

bool DependsOnLoads(const Expr& e) {
  bool found = false;
  Visit(e, [&](const Expr& x) {
    found = found || x.As<LoadNode>();
    return !found;
  });
  return found;
}

// Whether all instances of a block may fail in one instance of `scope`.
bool MayAllFail(const Expr& predicate, const BlockNode& scope) {
  return DependsOnLoads(predicate) ||
         UsesVar(predicate, [&](const VarNode* var) {
           return std::any_of(
               scope.iters.begin(), scope.iters.end(),
               [&](const IterVar& iter) { return iter.var.get() == var; });
         });
}

// Whether the body takes elements of `buffer` only where a condition holds.
bool AccessesByCondition(const BlockNode& scope, const Buffer& buffer) {
  const Stmt& body = scope.body;
  bool found = false;
  VisitExprs(body, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    const bool chooses =
        e.As<SelectNode>() || (call && call->op == Intrinsic::kIfThenElse);
    found = found || (chooses && LoadsFrom(e, buffer));
    return !found;
  });
  Visit(body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    found = found || s.As<IfNode>() ||
            (realize && MayAllFail(realize->predicate, scope));
    return !found;
  });
  return found;
}

// Indices into the cache for indices into the tensor.
std::vector<Expr> Shifted(const CacheCopy& copy, std::vector<Expr> indices) {
  if (copy.is_whole) return indices;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!IsZero(copy.box[i].min)) {
      indices[i] = Sub(indices[i], copy.box[i].min);
    }
  }
  return indices;
}

BufferRegion Shifted(const CacheCopy& copy, BufferRegion region) {
  region.buffer = copy.cache;
  if (copy.is_whole) return region;
  for (size_t i = 0; i < region.region.size(); ++i) {
    if (!IsZero(copy.box[i].min)) {
      region.region[i].min = Sub(region.region[i].min, copy.box[i].min);
    }
  }
  return region;
}

// Redirects accesses of the tensor to the cache: loads and read regions, and
// with `writes` also stores and written regions.
class Redirect {
 public:
  Redirect(const Buffer& tensor, const CacheCopy& copy, bool writes)
      : tensor_(tensor), copy_(copy), writes_(writes) {}

  Stmt operator()(const Stmt& s) const {
    Stmt own = s;
    if (tensor_->data || HasLoads(s)) {
      own = MapExprs(s, [&](const Expr& e) { return Loads(e); });
    }
    if (const auto* store = own.As<StoreNode>()) return Store(own, *store);
    if (const auto* realize = own.As<BlockRealizeNode>()) {
      return WithBlock(*realize, Redirected(*realize->block));
    }
    return MapChildren(own, *this);
  }

 private:
  Expr Loads(const Expr& e) const {
    if (tensor_->data && e == tensor_->data) return copy_.cache->data;
    if (!tensor_->data && !LoadsFrom(e, tensor_)) return e;
    Expr below = MapOperands(e, [&](const Expr& x) { return Loads(x); });
    const auto* load = below.As<LoadNode>();
    if (!load || load->buffer != tensor_) return below;
    return Load(copy_.cache, Shifted(copy_, load->indices));
  }

  Stmt Store(const Stmt& s, const StoreNode& store) const {
    if (!writes_ || store.buffer != tensor_) return s;
    return MakeStore(copy_.cache, store.value, Shifted(copy_, store.indices));
  }

  BlockFields Redirected(const BlockNode& block) const {
    BlockFields fields = block.fields();
    for (BufferRegion& region : fields.reads) {
      if (region.buffer == tensor_) region = Shifted(copy_, region);
    }
    for (BufferRegion& region : fields.writes) {
      if (writes_ && region.buffer == tensor_) region = Shifted(copy_, region);
    }
    for (MatchBufferRegion& match : fields.match_buffers) {
      if (match.source.buffer == tensor_) {
        match.source = Shifted(copy_, match.source);
      }
    }
    if (block.init) fields.init = (*this)(block.init);
    fields.body = (*this)(block.body);
    return fields;
  }

  const Buffer& tensor_;
  const CacheCopy& copy_;
  bool writes_;
};

// values[i] in the domain of the i-th iterator for all i, as far as it is not
// known anyway.
Expr WithinDomains(const CacheCopy& copy, const std::vector<Expr>& values,
                   const std::vector<Var>& loops, const BlockFields& block,
                   FunctionRef<Analyzer()> around) {
  const auto is_plain = [&](size_t i) {
    const int64_t* runs = AsInt(copy.box[i].extent);
    const int64_t* most = AsInt(block.iters[i].domain.extent);
    return values[i] == loops[i] && runs && most && *runs <= *most;
  };
  size_t plain = 0;
  while (plain < values.size() && is_plain(plain)) ++plain;
  Expr predicate = Bool(true);
  if (plain == values.size()) return predicate;
  Analyzer analyzer = around();
  for (size_t i = 0; i < values.size(); ++i) {
    analyzer.Bind(loops[i], Range{Int(0), copy.box[i].extent});
    if (is_plain(i)) continue;
    for (const Expr& within :
         {LE(Int(0), values[i]), LT(values[i], block.iters[i].domain.extent)}) {
      if (analyzer.CanProve(within)) continue;
      predicate = AsInt(predicate) ? within : And(predicate, within);
    }
  }
  return predicate;
}

void AddCondition(const Expr& condition, Expr* predicate) {
  if (IsOne(condition)) return;
  *predicate = AsInt(*predicate) ? condition : And(*predicate, condition);
}

// What keeps the copy's iterators in their domains where the box may reach
// beyond the tensor, and leaves out what nobody wrote.
Expr CopyPredicate(const CacheCopy& copy, const std::vector<Expr>& values,
                   const std::vector<Var>& loops, const BlockFields& block,
                   FunctionRef<Analyzer()> around) {
  Expr predicate = Bool(true);
  for (const Expr& runs : copy.loops_run) AddCondition(runs, &predicate);
  AddCondition(WithinDomains(copy, values, loops, block, around), &predicate);
  for (const PredicateBound& cut : copy.cuts) {
    const Expr& min = copy.box[cut.dim].min;
    const Expr index =
        IsZero(min) ? Expr(loops[cut.dim]) : Add(min, loops[cut.dim]);
    AddCondition(cut.end ? LT(index, cut.end) : LE(cut.begin, index),
                 &predicate);
  }
  AddCondition(copy.writer_runs, &predicate);
  return predicate;
}

// What `e` loads is appended to `regions`: R[0] for A's index R[0] + v0.
void AddLoadedRegions(const Expr& e, std::vector<BufferRegion>* regions) {
  if (!e->has_loads) return;
  Visit(e, [&](const Expr& part) {
    const auto* load = part.As<LoadNode>();
    if (load) regions->push_back({load->buffer, PointRegion(load->indices)});
    return part->has_loads;
  });
}

}  // namespace

Reason WhyBoxMoves(const std::vector<Range>& box,
                   FunctionRef<bool(const Buffer&)> is_written) {
  std::vector<BufferRegion> loaded;
  for (const Range& range : box) {
    AddLoadedRegions(range.min, &loaded);
    AddLoadedRegions(range.extent, &loaded);
  }
  for (const BufferRegion& region : loaded) {
    if (!is_written(region.buffer)) continue;
    return absl::StrCat("the box to copy depends on what `",
                        region.buffer->name,
                        "` holds, which is written meanwhile");
  }
  return std::nullopt;
}

Buffer MakeCacheBuffer(const Buffer& buffer, const std::string& scope,
                       std::vector<Expr> shape) {
  Buffer cache = MakeBuffer(absl::StrCat(buffer->name, "_", scope),
                            buffer->dtype, std::move(shape), scope);
  if (!buffer->data) return cache;
  return EditBuffer(cache, [&](BufferNode& node) {
    node.data = Var(node.name, buffer->data.dtype());
  });
}

bool IsWithinTensor(const BlockNode& scope, const Buffer& buffer,
                    const std::vector<Range>& box) {
  Analyzer analyzer;
  for (const IterVar& iter : scope.iters) analyzer.Bind(iter.var, iter.domain);
  const bool uses_all = !AccessesByCondition(scope, buffer);
  for (size_t i = 0; i < box.size(); ++i) {
    if (uses_all && IsOne(box[i].extent)) continue;
    const Expr end = Add(box[i].min, box[i].extent);
    if (!analyzer.CanProveLessEqual(Int(0), box[i].min) ||
        !analyzer.CanProveLessEqual(end, buffer->shape[i])) {
      return false;
    }
  }
  return true;
}

Stmt MakeCopy(const Buffer& tensor, const CacheCopy& copy, bool into_cache,
              FunctionRef<Analyzer()> around, Function* f, BlockId* copy_id) {
  const size_t rank = copy.box.size();
  std::vector<Var> loops;
  loops.reserve(rank);
  std::vector<Expr> values, cache_indices, tensor_indices;
  for (auto* list : {&values, &cache_indices, &tensor_indices}) {
    list->reserve(rank);
  }
  BlockFields block;
  block.iters.reserve(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Range& range = copy.box[i];
    Var loop(absl::StrCat("ax", i)), iter(absl::StrCat("v", i));
    loops.push_back(loop);
    const bool shifted = copy.is_whole && !IsZero(range.min);
    values.push_back(shifted ? Add(range.min, loop) : Expr(loop));
    const Expr extent = copy.is_whole ? tensor->shape[i] : range.extent;
    block.iters.push_back({iter, {Int(0), extent}, IterType::kSpatial});
    cache_indices.push_back(iter);
    tensor_indices.push_back(
        copy.is_whole || IsZero(range.min) ? Expr(iter) : Add(range.min, iter));
  }
  const Buffer& from = into_cache ? tensor : copy.cache;
  const Buffer& to = into_cache ? copy.cache : tensor;
  auto& from_indices = into_cache ? tensor_indices : cache_indices;
  auto& to_indices = into_cache ? cache_indices : tensor_indices;
  Expr predicate = CopyPredicate(copy, values, loops, block, around);
  block.id = *copy_id = f->NewId();
  block.name = copy.cache->name;
  for (const Expr& index : tensor_indices) {
    AddLoadedRegions(index, &block.reads);
  }
  block.reads.push_back({from, PointRegion(from_indices)});
  block.writes.push_back({to, PointRegion(to_indices)});
  block.body =
      MakeStore(to, Load(from, std::move(from_indices)), std::move(to_indices));
  Stmt stmt = MakeRealize(std::move(values), std::move(predicate),
                          MakeBlock(std::move(block)));
  const LoopId first_id = f->next_id;
  f->next_id += static_cast<LoopId>(rank);
  for (size_t i = rank; i-- > 0;) {
    stmt = MakeFor(first_id + static_cast<LoopId>(i), std::move(loops[i]),
                   copy.box[i].extent, std::move(stmt));
  }
  return stmt;
}

Stmt RedirectBlocks(const Stmt& body, const std::vector<BlockId>& blocks,
                    const Buffer& tensor, const CacheCopy& copy, bool writes) {
  if (blocks.empty()) return body;
  const Redirect redirect(tensor, copy, writes);
  return Rewrite(body, [&](const Stmt& s) -> Stmt {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) return nullptr;
    const bool named =
        std::count(blocks.begin(), blocks.end(), realize->block->id) > 0;
    return named ? redirect(s) : nullptr;
  });
}

}  // namespace kiln
