#include "kiln/schedule/rewrite/element_access.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/stride_notes.h"

namespace kiln {
namespace {

using Indices = std::vector<Expr>;

bool Same(const Indices& a, const Indices& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameExpr);
}

// Collects the accesses to `buffer`, each set of indices once.
class Collector {
 public:
  explicit Collector(const Buffer& buffer) : buffer_(buffer) {}

  void Walk(const Stmt& s) {
    Visit(s, [&](const Stmt& below) {
      if (const auto* store = below.As<StoreNode>()) {
        if (store->buffer == buffer_) Add(store->indices);
      }
      plain_ =
          plain_ && !below.As<BlockRealizeNode>() && !below.As<AllocateNode>();
      return true;
    });
    VisitExprs(s, [&](const Expr& e) {
      const auto* load = e.As<LoadNode>();
      if (load && load->buffer == buffer_) {
        Add(load->indices);
        loads_ = true;
      }
      plain_ = plain_ && !(buffer_->data && e == buffer_->data);
      return true;
    });
  }

  const std::vector<Indices>& found() const { return found_; }
  bool plain() const { return plain_; }
  bool loads() const { return loads_; }

 private:
  void Add(const Indices& indices) {
    for (const Indices& other : found_) {
      if (Same(indices, other)) return;
    }
    found_.push_back(indices);
  }

  const Buffer& buffer_;
  std::vector<Indices> found_;
  bool plain_ = true, loads_ = false;
};

absl::StatusOr<Buffer> ChosenBuffer(const BlockNode& block, int index,
                                    bool is_write, std::string_view primitive) {
  const auto& regions = is_write ? block.writes : block.reads;
  if (index >= 0 && index < static_cast<int>(regions.size())) {
    return regions[index].buffer;
  }
  return BadArgument(
      primitive, absl::StrCat(Describe(block),
                              is_write ? " writes " : " reads ", regions.size(),
                              " tensors, so that there is no number ", index));
}

absl::Status CheckIters(const BlockNode& block, std::string_view primitive) {
  for (const IterVar& iter : block.iters) {
    if (iter.type != IterType::kOpaque && IsZero(iter.domain.min)) continue;
    return Refusal(
        primitive,
        absl::StrCat("iterator `", iter.var.name(), "` of ", Describe(block),
                     " is opaque or does not start at 0"));
  }
  if (block.alloc_buffers.empty() && block.match_buffers.empty()) {
    return absl::OkStatus();
  }
  return Refusal(primitive, absl::StrCat(Describe(block),
                                         " has tensors or views of its own"));
}

absl::Status CheckUse(const ElementAccess& access, const Collector& collector,
                      bool is_write, std::string_view primitive) {
  const BlockNode& block = access.node();
  const std::string name = absl::StrCat("`", access.buffer->name, "`");
  if (!collector.plain()) {
    return Refusal(primitive, absl::StrCat(Describe(block),
                                           " holds blocks or tensors, or "
                                           "uses the address of ",
                                           name));
  }
  if (collector.found().size() != 1) {
    return Refusal(primitive, absl::StrCat(Describe(block), " touches ", name,
                                           " at ", collector.found().size(),
                                           " places; one is wanted"));
  }
  if (!is_write && WritesBuffer(block, access.buffer)) {
    return Refusal(primitive,
                   absl::StrCat(Describe(block), " writes ", name, " too"));
  }
  if (is_write && !block.init && collector.loads()) {
    return Refusal(primitive, absl::StrCat(Describe(block), " changes ", name,
                                           " from what was there before"));
  }
  return absl::OkStatus();
}

absl::Status CheckIndices(ElementAccess* access, std::string_view primitive) {
  const BlockNode& block = access->node();
  for (const Expr& e : access->indices) {
    bool plain = e.dtype() == DType::Index();
    Visit(e, [&](const Expr& x) {
      plain = plain && !x.As<LoadNode>() && !x.As<CallNode>();
      return plain;
    });
    if (plain) continue;
    return Refusal(
        primitive,
        absl::StrCat("the indices of `", access->buffer->name, "` in ",
                     Describe(block), " do not follow from iterators"));
  }
  for (const IterVar& iter : block.iters) {
    const bool used =
        std::any_of(access->indices.begin(), access->indices.end(),
                    [&](const Expr& e) { return UsesVar(e, iter.var); });
    if (used) access->iters.push_back(iter);
  }
  return absl::OkStatus();
}

// Whether `e` loads from the tensor where a condition may prevent it.
bool LoadsUnderCondition(const Expr& e, const Buffer& buffer, bool guarded) {
  const auto* load = e.As<LoadNode>();
  if (load && load->buffer == buffer && guarded) return true;
  const auto* call = e.As<CallNode>();
  const bool chooses = call && call->op == Intrinsic::kIfThenElse;
  const bool stops = e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr;
  bool found = false, first = true;
  ForEachOperand(e, [&](const Expr& operand) {
    const bool depends = guarded || ((chooses || stops) && !first);
    found = found || LoadsUnderCondition(operand, buffer, depends);
    first = false;
  });
  return found;
}

}  // namespace

absl::StatusOr<ElementAccess> FindElementAccess(const Function& f, BlockId id,
                                                int index, bool is_write,
                                                std::string_view primitive) {
  ElementAccess access;
  KILN_ASSIGN_OR_RETURN(access.block, RequireBlockThatRuns(f, id, primitive));
  if (!access.block.scope()) {
    return Refusal(primitive, "the root block has no enclosing block",
                   "name a block inside of it");
  }
  access.scope = access.block.Prefix(access.block.ScopeIndex() + 1);
  const BlockNode& block = access.node();
  KILN_ASSIGN_OR_RETURN(access.buffer,
                        ChosenBuffer(block, index, is_write, primitive));
  if (Reason reason = WhyDomainsNameLoops(block, LoopsAbove(access.block))) {
    return Refusal(primitive, *reason);
  }
  KILN_RETURN_IF_ERROR(CheckIters(block, primitive));
  Collector collector(access.buffer);
  if (block.init) collector.Walk(block.init);
  collector.Walk(block.body);
  KILN_RETURN_IF_ERROR(CheckUse(access, collector, is_write, primitive));
  // Iterators that change nothing (co // 64 for co below 64, or y * 2 + ry for
  // the only y) do not count; an index that is the only value of one stays.
  Analyzer analyzer, with_units;
  for (const IterVar& iter : block.iters) {
    if (!IsOne(iter.domain.extent)) analyzer.Bind(iter.var, iter.domain);
    with_units.Bind(iter.var, iter.domain);
  }
  for (const Expr& e : collector.found()[0]) {
    const Expr simple = with_units.Simplify(e);
    access.indices.push_back(AsInt(simple) ? analyzer.Simplify(e) : simple);
  }
  KILN_RETURN_IF_ERROR(CheckIndices(&access, primitive));
  return access;
}

bool HasConditions(const BlockNode& block, const Buffer& buffer,
                   bool is_write) {
  bool found = false;
  Visit(block.body, [&](const Stmt& s) {
    found = found || s.As<IfNode>() || s.As<ForNode>();
    return !found;
  });
  if (is_write || found) return found;
  Visit(block.body, [&](const Stmt& s) {
    ForEachExpr(s, [&](const Expr& e) {
      found = found || LoadsUnderCondition(e, buffer, false);
    });
    return !found;
  });
  return found;
}

bool IsWithin(const ElementAccess& access) {
  Analyzer analyzer;
  for (const IterVar& iter : access.iters) analyzer.Bind(iter.var, iter.domain);
  for (size_t d = 0; d < access.indices.size(); ++d) {
    if (!analyzer.CanProveLessEqual(Int(0), access.indices[d]) ||
        !analyzer.CanProveLess(access.indices[d], access.buffer->shape[d])) {
      return false;
    }
  }
  return true;
}

bool IsInjective(const ElementAccess& access) {
  std::vector<LoopRange> ranges;
  for (const IterVar& iter : access.iters) {
    ranges.push_back({iter.var, iter.domain});
  }
  return CheckIterMap(access.indices, ranges, Bool(true),
                      IterMapLevel::kInjective)
      .ok();
}

bool TouchesAll(const ElementAccess& access, bool is_write) {
  std::set<const VarNode*> seen;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    const Expr& index = access.indices[d];
    const auto iter =
        std::find_if(access.iters.begin(), access.iters.end(),
                     [&](const IterVar& i) { return i.var == index; });
    const Expr& extent = access.buffer->shape[d];
    if (iter == access.iters.end()) {
      if (IsZero(index) && IsOne(extent)) continue;
      return false;
    }
    if (!seen.insert(iter->var.get()).second ||
        !Analyzer().CanProveEqual(iter->domain.extent, extent)) {
      return false;
    }
  }
  return !HasConditions(access.node(), access.buffer, is_write);
}

// Whether the predicate leaves out no more than values beyond the domains of
// the iterators.
bool OnlyClips(const ScopeBlock& block) {
  const BlockRealizeNode& realize = *block.realize;
  if (IsOne(realize.predicate)) return true;
  Analyzer analyzer;
  for (const ForNode* loop : block.loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  Expr within = Bool(true);
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const Range& domain = realize.block->iters[i].domain;
    within = And(within, LE(domain.min, realize.values[i]));
    within = And(within, LT(realize.values[i], Add(domain.min, domain.extent)));
  }
  const auto held = analyzer.Assume(within);
  return analyzer.CanProve(realize.predicate);
}

Reason WhyNotWholeDomain(const ScopeBlock& block) {
  const BlockRealizeNode& realize = *block.realize;
  Domains domains;
  for (const ForNode* loop : block.loops) {
    domains[loop->var.get()] = {loop->min, loop->extent};
  }
  const Reason reason =
      absl::StrCat(Describe(block.block()),
                   " is not known to run for all values of its iterators");
  for (const ForNode* loop : block.loops) {
    if (UsesLoop(loop->min, block.loops) ||
        UsesLoop(loop->extent, block.loops)) {
      return reason;
    }
  }
  Analyzer analyzer;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const Range& domain = realize.block->iters[i].domain;
    const auto range = ToRange(
        EvalSet(realize.values[i], domains, realize.predicate, &analyzer),
        &analyzer);
    if (!range || !analyzer.CanProveEqual(range->min, domain.min) ||
        !analyzer.CanProveEqual(range->extent, domain.extent)) {
      return reason;
    }
  }
  if (IsOne(realize.predicate) && HasTrivialBinding(realize)) {
    return std::nullopt;
  }
  std::vector<const ForNode*> used;
  for (const ForNode* loop : block.loops) {
    const bool is_used = std::any_of(
        realize.values.begin(), realize.values.end(),
        [&](const Expr& value) { return UsesVar(value, loop->var); });
    if (is_used || UsesVar(realize.predicate, loop->var)) used.push_back(loop);
  }
  const bool fills = CheckIterMap(realize.values, Ranges(used),
                                  realize.predicate, IterMapLevel::kBijective)
                         .ok();
  return fills && OnlyClips(block) ? std::nullopt : reason;
}

Block Redirect(const ElementAccess& access, const Buffer& to,
               const std::vector<Expr>& indices) {
  const auto loads = [&](const Expr& e) {
    return Rewrite(e, [&](const Expr& x) -> Expr {
      const auto* load = x.As<LoadNode>();
      if (!load || load->buffer != access.buffer) return nullptr;
      return Load(to, indices);
    });
  };
  const auto redirect = [&](const auto& self, const Stmt& s) -> Stmt {
    Stmt own = MapExprs(s, loads);
    const auto* store = own.As<StoreNode>();
    if (store && store->buffer == access.buffer) {
      own = MakeStore(to, store->value, indices);
    }
    return MapChildren(own,
                       [&](const Stmt& child) { return self(self, child); });
  };
  BlockFields fields = access.node().fields();
  for (auto* regions : {&fields.reads, &fields.writes}) {
    for (BufferRegion& region : *regions) {
      if (region.buffer == access.buffer) {
        region = {to, PointRegion(indices)};
      } else {
        region = MapRegion(region, loads);  // X[S[i]]
      }
    }
  }
  if (fields.init) fields.init = redirect(redirect, fields.init);
  fields.body = redirect(redirect, fields.body);
  DropStridesOfReplaced(access.node(), &fields);
  return MakeBlock(std::move(fields));
}

Block CopyBlock(BlockId id, std::string name, std::vector<IterVar> iters,
                const Buffer& from, std::vector<Expr> from_indices,
                const Buffer& to, std::vector<Expr> to_indices) {
  VarMap renamed;
  BlockFields fields;
  for (IterVar& iter : iters) {
    Var fresh(absl::StrCat("v", fields.iters.size()), iter.var.dtype());
    renamed[iter.var.get()] = fresh;
    fields.iters.push_back({fresh, iter.domain, IterType::kSpatial});
  }
  for (Expr& e : from_indices) e = Substitute(e, renamed);
  for (Expr& e : to_indices) e = Substitute(e, renamed);
  fields.id = id;
  fields.name = std::move(name);
  fields.reads = {{from, PointRegion(from_indices)}};
  fields.writes = {{to, PointRegion(to_indices)}};
  fields.body = MakeStore(to, Load(from, from_indices), to_indices);
  return MakeBlock(std::move(fields));
}

Stmt LoopsOverDomains(Block block, Function* f) {
  const std::vector<IterVar> iters = block->iters;
  std::vector<Expr> values;
  std::vector<Var> loops;
  std::vector<LoopId> ids;
  for (size_t i = 0; i < iters.size(); ++i) {
    loops.emplace_back(absl::StrCat("ax", i), iters[i].var.dtype());
    values.push_back(loops.back());
    ids.push_back(f->NewId());
  }
  Stmt stmt = MakeRealize(std::move(values), Bool(true), std::move(block));
  for (size_t i = loops.size(); i-- > 0;) {
    stmt = MakeFor(ids[i], loops[i], iters[i].domain.extent, std::move(stmt));
  }
  return stmt;
}

Buffer StagingBuffer(const Buffer& buffer, std::string name,
                     std::vector<Expr> shape, const std::string& scope) {
  Buffer made =
      MakeBuffer(std::move(name), buffer->dtype, std::move(shape), scope);
  if (!buffer->data) return made;
  return EditBuffer(made, [&](BufferNode& node) {
    node.data = Var(node.name, buffer->data.dtype());
  });
}

}  // namespace kiln
