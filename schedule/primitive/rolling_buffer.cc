// An element that an iteration leaves out was computed by the one before, or
// kept by it. It is still there: what takes the place of a row in the ring
// comes as many rows later as the ring has, and is not needed together with
// it. Each element has one value whenever it is computed, since nothing that
// the block reads is overwritten.
#include "kiln/schedule/primitive/rolling_buffer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/stride.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/dense.h"
#include "kiln/schedule/analysis/instances.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {
namespace {

constexpr char kName[] = "rolling_buffer";

using Loops = std::vector<const ForNode*>;

// What one iteration of the shared loops writes along a dimension: from
// step * loop on, `extent` rows; `inner` counts them.
struct Dim {
  std::optional<size_t> loop;  // among the shared ones
  int64_t step = 0, extent = 0;
  Expr inner;
  bool overlaps() const { return loop && extent > step; }
};

struct Roll {
  Buffer buffer;
  Loops shared, own;  // around the block
  std::vector<Dim> dims;
  size_t ring = 0;  // the dimension
  const ForNode& ring_loop() const { return *shared[*dims[ring].loop]; }
};

absl::Status CheckScope(const Scope& scope, int index, const Buffer& buffer) {
  const auto& allocated = scope.block->alloc_buffers;
  if (std::count(allocated.begin(), allocated.end(), buffer) == 0) {
    return Refusal(kName,
                   absl::StrCat("`", buffer->name,
                                "` is not allocated by the block around ",
                                Describe(scope.blocks[index].block())));
  }
  if (scope.Writers(buffer).size() != 1) {
    return Refusal(kName,
                   absl::StrCat("`", buffer->name, "` has several writers"));
  }
  if (scope.Readers(buffer).empty()) {
    return Refusal(kName, absl::StrCat("nobody reads `", buffer->name, "`"));
  }
  if (Reason reason = WhyNotStagePipeline(scope))
    return Refusal(kName, *reason);
  if (HasPlainPredicate(scope.blocks[index])) return absl::OkStatus();
  return Refusal(kName,
                 absl::StrCat(Describe(scope.blocks[index].block()),
                              " runs under a condition that its iterators' "
                              "domains do not imply"));
}

// The loops that the block shares with every reader, and its own.
absl::Status SplitLoops(const Scope& scope, int index, Roll* roll) {
  const Loops& loops = scope.blocks[index].loops;
  size_t depth = loops.size();
  for (int reader : scope.Readers(roll->buffer)) {
    const Loops& others = scope.blocks[reader].loops;
    const auto end =
        std::mismatch(loops.begin(), loops.end(), others.begin(), others.end());
    depth = std::min<size_t>(depth, end.first - loops.begin());
  }
  roll->shared.assign(loops.begin(), loops.begin() + depth);
  roll->own.assign(loops.begin() + depth, loops.end());
  if (depth > 0) return absl::OkStatus();
  return Refusal(
      kName,
      absl::StrCat("no loop holds both ", Describe(scope.blocks[index].block()),
                   " and those who read it"),
      "compute_at brings them together");
}

absl::Status NoDim(const IterVar& iter, const char* why) {
  return Refusal(kName, absl::StrCat("iterator `", iter.var.name(), "` ", why));
}

absl::StatusOr<Dim> DimOf(const Roll& roll, const IterVar& iter,
                          const Expr& value) {
  Analyzer analyzer;
  VarMap start;
  for (const ForNode* loop : roll.own) start[loop->var.get()] = loop->min;
  const Expr base = analyzer.Simplify(Substitute(value, start));
  Dim dim;
  dim.inner = analyzer.Simplify(Sub(value, base));
  Expr rest = base;
  for (size_t i = 0; i < roll.shared.size(); ++i) {
    const Var& var = roll.shared[i]->var;
    if (UsesVar(dim.inner, var)) return NoDim(iter, "mixes loops");
    if (!UsesVar(base, var)) continue;
    if (dim.loop) return NoDim(iter, "is moved by several shared loops");
    dim.loop = i;
    dim.step = StrideOf(base, var, &analyzer).value_or(0);
    if (dim.step < 1) return NoDim(iter, "moves in no constant steps");
    rest = analyzer.Simplify(Substitute(base, var, Int(0)));
  }
  if (!AsInt(rest)) return NoDim(iter, "does not begin at a constant");
  Domains domains;
  for (const ForNode* loop : roll.own) {
    domains[loop->var.get()] = {loop->min, loop->extent};
  }
  const IntSet run = EvalSet(dim.inner, domains, &analyzer);
  const int64_t* min = run.min ? AsInt(run.min) : nullptr;
  const int64_t* max = run.max ? AsInt(run.max) : nullptr;
  if (!min || !max || *min != 0 || !IsDense(dim.inner, roll.own)) {
    return NoDim(iter, "does not run without gaps from 0 to a constant");
  }
  dim.extent = *max + 1;
  return dim;
}

// While the shared loops stand still, each element is computed once, and sums
// begin at their beginning.
absl::Status CheckComputesOnce(const Roll& roll,
                               const BlockRealizeNode& realize) {
  if (Reason reason = WhyNotAffine(realize, roll.own)) {
    return Refusal(kName, *reason);
  }
  if (!realize.block->init) return absl::OkStatus();
  if (Reason reason = WhyInitNotFirst(realize, roll.own)) {
    return Refusal(kName, *reason);
  }
  return absl::OkStatus();
}

// Iterators that choose no element reduce, in loops of the block's own.
absl::Status CheckOthers(const Roll& roll, const BlockRealizeNode& realize,
                         const std::vector<const VarNode*>& chosen) {
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const IterVar& iter = realize.block->iters[i];
    if (std::count(chosen.begin(), chosen.end(), iter.var.get()) > 0) {
      if (iter.type == IterType::kSpatial) continue;
      return NoDim(iter, "is not spatial");
    }
    if (iter.type != IterType::kReduce && !IsOne(iter.domain.extent)) {
      return NoDim(iter, "chooses no element");
    }
    if (iter.type == IterType::kReduce && !realize.block->init) {
      return NoDim(iter, "adds to what is there");
    }
    for (const ForNode* loop : roll.shared) {
      if (UsesVar(realize.values[i], loop->var)) {
        return NoDim(iter, "is moved by a loop that readers share");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status FindDims(const BlockRealizeNode& realize,
                      const BufferRegion& written, Roll* roll) {
  std::vector<const VarNode*> chosen;
  std::vector<size_t> loops;
  for (const Range& range : written.region) {
    const auto* var = range.min.As<VarNode>();
    if (!var || !IsOne(range.extent) ||
        std::count(chosen.begin(), chosen.end(), var) > 0) {
      return Refusal(kName, absl::StrCat(Describe(*realize.block),
                                         " does not write at an iterator of "
                                         "its own for each dimension"));
    }
    chosen.push_back(var);
    const auto& iters = realize.block->iters;
    const auto at = std::find_if(
        iters.begin(), iters.end(),
        [&](const IterVar& iter) { return iter.var.get() == var; });
    if (at == iters.end()) return NoDim({Var(var), {}, {}}, "is another's");
    KILN_ASSIGN_OR_RETURN(
        const Dim dim, DimOf(*roll, *at, realize.values[at - iters.begin()]));
    if (dim.loop && std::count(loops.begin(), loops.end(), *dim.loop) > 0) {
      return NoDim(*at, "shares its loop with another one");
    }
    if (dim.loop) loops.push_back(*dim.loop);
    roll->dims.push_back(dim);
  }
  KILN_RETURN_IF_ERROR(CheckOthers(*roll, realize, chosen));
  return CheckComputesOnce(*roll, realize);
}

absl::Status ChooseRing(Roll* roll) {
  std::optional<size_t> ring;
  for (size_t d = 0; d < roll->dims.size(); ++d) {
    const Dim& dim = roll->dims[d];
    if (!dim.overlaps()) continue;
    if (!ring || *dim.loop < *roll->dims[*ring].loop) ring = d;
  }
  if (!ring) {
    return Refusal(kName,
                   absl::StrCat("no two iterations compute the same of `",
                                roll->buffer->name, "`"));
  }
  roll->ring = *ring;
  for (size_t i = *roll->dims[*ring].loop; i < roll->shared.size(); ++i) {
    const ForNode& loop = *roll->shared[i];
    const bool in_order = loop.for_kind == ForKind::kSerial ||
                          loop.for_kind == ForKind::kUnrolled;
    if (in_order && IsZero(loop.min)) continue;
    return Refusal(kName, absl::StrCat(Describe(loop),
                                       " does not run in order from 0 on"));
  }
  return absl::OkStatus();
}

// Where `predicate` holds, what is there already is left out.
Expr NewRows(const Roll& roll, const Expr& predicate) {
  Expr condition = predicate;
  for (const Dim& dim : roll.dims) {
    if (!dim.overlaps()) continue;
    const Expr is_new = Or(LT(roll.shared[*dim.loop]->var, Int(1)),
                           LE(Int(dim.extent - dim.step), dim.inner));
    condition = IsOne(condition) ? is_new : And(condition, is_new);
  }
  return condition;
}

// Accesses to the tensor, led into the ring.
class IntoRing {
 public:
  IntoRing(const Roll& roll, Buffer ring)
      : roll_(roll), ring_(std::move(ring)) {}

  Stmt Block(const BlockRealizeNode& realize, const Expr& predicate) const {
    BlockFields fields = realize.block->fields();
    for (BufferRegion& region : fields.reads) region = Region(region);
    for (BufferRegion& region : fields.writes) region = Region(region);
    for (size_t i = 0; i < fields.iters.size(); ++i) {
      // A reduce iterator has an order already, and says when a sum begins.
      if (fields.iters[i].type == IterType::kSpatial &&
          UsesVar(realize.values[i], roll_.ring_loop().var)) {
        fields.iters[i].type = IterType::kOpaque;
      }
    }
    if (fields.init) fields.init = Accesses(fields.init);
    fields.body = Accesses(fields.body);
    return MakeRealize(realize.values, predicate, MakeBlock(std::move(fields)));
  }

 private:
  Expr Slot(const Expr& index) const {
    return FloorMod(index, ring_->shape[roll_.ring]);
  }

  BufferRegion Region(BufferRegion region) const {
    if (region.buffer != roll_.buffer) return region;
    region.buffer = ring_;
    Range& range = region.region[roll_.ring];
    range = IsOne(range.extent) ? Range{Slot(range.min), range.extent}
                                : Range{Int(0), ring_->shape[roll_.ring]};
    return region;
  }

  std::vector<Expr> Indices(std::vector<Expr> indices) const {
    indices[roll_.ring] = Slot(indices[roll_.ring]);
    return indices;
  }

  Expr Loads(const Expr& e) const {
    const Expr below = MapOperands(e, [&](const Expr& x) { return Loads(x); });
    const auto* load = below.As<LoadNode>();
    if (!load || load->buffer != roll_.buffer) return below;
    return Load(ring_, Indices(load->indices));
  }

  Stmt Accesses(const Stmt& s) const {
    const Stmt own = MapExprs(s, [&](const Expr& e) { return Loads(e); });
    const auto* store = own.As<StoreNode>();
    if (store && store->buffer == roll_.buffer) {
      return MakeStore(ring_, store->value, Indices(store->indices));
    }
    return MapChildren(own, [&](const Stmt& x) { return Accesses(x); });
  }

  const Roll& roll_;
  const Buffer ring_;
};

// Readers and writer touch the tensor element by element, in no inner block.
absl::Status CheckAccesses(const Scope& scope, const Buffer& buffer) {
  for (const ScopeBlock& user : scope.blocks) {
    const BlockNode& block = user.block();
    if (!ReadsBuffer(block, buffer) && !WritesBuffer(block, buffer)) continue;
    bool plain = !buffer->data && block.match_buffers.empty();
    Visit(block.body, [&](const Stmt& s) {
      plain = plain && !s.As<BlockRealizeNode>();
      return plain;
    });
    if (plain) continue;
    return Refusal(kName, absl::StrCat(Describe(block),
                                       " holds blocks or views of tensors"));
  }
  return absl::OkStatus();
}

Function Apply(const Function& f, const Path& path, const Roll& roll) {
  const Buffer ring = EditBuffer(roll.buffer, [&](BufferNode& node) {
    node.shape[roll.ring] = Int(roll.dims[roll.ring].extent);
  });
  const BlockId writer = path.realize()->block->id;
  const IntoRing into(roll, ring);
  const Path scope = path.Prefix(path.ScopeIndex() + 1);
  BlockFields fields = scope.realize()->block->fields();
  fields.body = Rewrite(fields.body, [&](const Stmt& s) -> Stmt {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) return nullptr;
    const BlockNode& block = *realize->block;
    if (!ReadsBuffer(block, roll.buffer) && !WritesBuffer(block, roll.buffer)) {
      return s;
    }
    return into.Block(*realize, block.id == writer
                                    ? NewRows(roll, realize->predicate)
                                    : realize->predicate);
  });
  for (Buffer& buffer : fields.alloc_buffers) {
    if (buffer == roll.buffer) buffer = ring;
  }
  return ReplaceAt(f, scope, WithBlock(*scope.realize(), std::move(fields)));
}

}  // namespace

absl::StatusOr<Function> RollingBuffer(const Function& f, BlockId id,
                                       int index) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlockThatRuns(f, id, kName));
  if (!path.scope()) {
    return Refusal(kName, "the root block has no enclosing block",
                   "name a block inside of it");
  }
  const BlockRealizeNode& realize = *path.realize();
  const BlockNode& block = *realize.block;
  if (index < 0 || index >= static_cast<int>(block.writes.size())) {
    return BadArgument(
        kName, absl::StrCat(Describe(block), " writes ", block.writes.size(),
                            " tensors, so that there is no number ", index));
  }
  if (block.writes.size() > 1) {
    return Refusal(kName, absl::StrCat(Describe(block),
                                       " writes several tensors, of which the "
                                       "others would be left out too"));
  }
  Roll roll;
  roll.buffer = block.writes[index].buffer;
  const Scope scope(*path.scope()->block);
  const int at = scope.IndexOf(id);
  KILN_RETURN_IF_ERROR(CheckScope(scope, at, roll.buffer));
  KILN_RETURN_IF_ERROR(CheckAccesses(scope, roll.buffer));
  KILN_RETURN_IF_ERROR(SplitLoops(scope, at, &roll));
  KILN_RETURN_IF_ERROR(FindDims(realize, block.writes[index], &roll));
  KILN_RETURN_IF_ERROR(ChooseRing(&roll));
  return Apply(f, path, roll);
}

}  // namespace kiln
