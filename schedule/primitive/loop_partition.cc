// Order and number of instances stay as they are; only the loops around them
// are cut. Around each part, and around all, stands a block, whose regions are
// the hulls of what its children touch.
#include "kiln/schedule/primitive/loop_partition.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/clone_with_fresh_ids.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/loop_shape.h"

namespace kiln {
namespace {

constexpr char kName[] = "loop_partition";
constexpr size_t kMostParts = 1024;

// Where the parts begin, and the end.
absl::StatusOr<std::vector<int64_t>> Cuts(
    const ForNode& loop, const std::vector<std::optional<int64_t>>& factors) {
  const int64_t* extent = AsInt(loop.extent);
  if (!extent) {
    return Refusal(kName, absl::StrCat("the extent of ", Describe(loop),
                                       " is not constant"));
  }
  int64_t left = *extent;
  int open = 0;
  for (const auto& factor : factors) {
    open += !factor;
    if (factor && (*factor < 1 || *factor > left)) {
      return BadArgument(kName, absl::StrCat("a part of ", *factor, " where ",
                                             left, " iterations are left"));
    }
    left -= factor.value_or(0);
  }
  if (factors.empty() || factors.size() > kMostParts || open > 1 || left < 1) {
    return BadArgument(
        kName,
        absl::StrCat(factors.size(), " parts, ", open, " of them open, and ",
                     left, " iterations left for the last"),
        "give parts that leave something");
  }
  std::vector<int64_t> cuts = {0};
  for (const auto& factor : factors) {
    cuts.push_back(cuts.back() + factor.value_or(left));
  }
  if (open == 0) cuts.push_back(*extent);
  return cuts;
}

absl::Status CheckBelow(const BlockRealizeNode& realize, const ForNode& loop) {
  bool plain = true;
  Visit(realize.block->body, [&](const Stmt& s) {
    plain = plain && !s.As<AllocateNode>() && !s.As<BlockRealizeNode>();
    return plain;
  });
  const BlockNode& block = *realize.block;
  if (!plain || !block.alloc_buffers.empty() || !block.match_buffers.empty()) {
    return Refusal(kName, absl::StrCat(Describe(block),
                                       " holds blocks, tensors or views"));
  }
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].type == IterType::kSpatial ||
        !UsesVar(realize.values[i], loop.var)) {
      continue;
    }
    return Refusal(
        kName, absl::StrCat(Describe(loop), " moves iterator `",
                            block.iters[i].var.name(), "` of ", Describe(block),
                            ", which is not spatial"));
  }
  return absl::OkStatus();
}

bool HasConstBounds(const ForNode& loop) {
  return AsInt(loop.min) && AsInt(loop.extent);
}

absl::Status Check(const Path& path, const Scope& below) {
  KILN_RETURN_IF_ERROR(CheckPlainLoop(*path.loop(), kName));
  for (const ForNode* outer : LoopsAbove(path)) {
    if (HasConstBounds(*outer)) continue;
    return Refusal(kName, absl::StrCat("the bounds of ", Describe(*outer),
                                       " are not constant"));
  }
  if (below.blocks.empty() || !below.only_loops_and_blocks) {
    return Refusal(kName, absl::StrCat("below ", Describe(*path.loop()),
                                       " stand other statements than blocks"));
  }
  for (const ScopeBlock& block : below.blocks) {
    KILN_RETURN_IF_ERROR(CheckBelow(*block.realize, *path.loop()));
    if (std::all_of(
            block.loops.begin(), block.loops.end(),
            [](const ForNode* loop) { return HasConstBounds(*loop); })) {
      continue;
    }
    return Refusal(kName, absl::StrCat("loops around ", Describe(block.block()),
                                       " have bounds that are not constant"));
  }
  return absl::OkStatus();
}

// Adds the hull of a child's region to those of a block around it.
void AddHull(const BufferRegion& whole, const std::vector<IntSet>& box,
             Analyzer* analyzer, std::vector<BufferRegion>* regions) {
  BufferRegion hull = whole;
  for (size_t d = 0; d < box.size(); ++d) {
    if (const auto range = ToRange(box[d], analyzer)) {
      hull.region[d] = {analyzer->Simplify(range->min),
                        analyzer->Simplify(range->extent)};
    }
  }
  for (BufferRegion& known : *regions) {
    if (known.buffer != hull.buffer) continue;
    for (size_t d = 0; d < box.size(); ++d) {
      const auto set = [](const Range& r) {
        return IntSet{r.min, Sub(Add(r.min, r.extent), Int(1))};
      };
      const auto both =
          ToRange(UnionSet(set(known.region[d]), set(hull.region[d]), analyzer),
                  analyzer);
      known.region[d] = both ? *both : whole.region[d];
    }
    return;
  }
  regions->push_back(std::move(hull));
}

// What the blocks below `subtree` touch while all of its loops run.
absl::Status AddRegions(const BlockNode& scope, const Stmt& subtree,
                        BlockFields* fields) {
  Analyzer analyzer;
  for (const ScopeBlock& block : Scope(scope, subtree).blocks) {
    for (const BufferRegion& read : block.block().reads) {
      AddHull(FullRegion(read.buffer), TouchedBox(block, read, 0, &analyzer),
              &analyzer, &fields->reads);
    }
    for (const BufferRegion& write : block.block().writes) {
      const std::vector<IntSet> box = TouchedBox(block, write, 0, &analyzer);
      const bool bounded =
          std::all_of(box.begin(), box.end(),
                      [](const IntSet& set) { return set.IsBounded(); });
      if (!bounded || !IsOne(block.realize->predicate) ||
          !FillsBox(block, write, 0, box, &analyzer)) {
        return Refusal(kName, absl::StrCat(Describe(block.block()),
                                           " may leave gaps in what it writes "
                                           "of `",
                                           write.buffer->name, "`"));
      }
      AddHull(FullRegion(write.buffer), box, &analyzer, &fields->writes);
    }
  }
  return absl::OkStatus();
}

// `body` in a block of its own, whose iterators stand for `loops`, as far as
// it uses them. What it reads and writes is what `subtree` touches.
absl::StatusOr<Stmt> InBlock(const BlockNode& scope, const Stmt& subtree,
                             const std::vector<const ForNode*>& loops,
                             BlockFields fields, const Stmt& body) {
  KILN_RETURN_IF_ERROR(AddRegions(scope, subtree, &fields));
  VarMap map;
  std::vector<Expr> values;
  for (const ForNode* loop : loops) {
    bool used = false;
    VisitExprs(body, [&](const Expr& e) {
      used = used || UsesVar(e, loop->var);
      return !used;
    });
    if (!used) continue;
    const Var iter("v_" + loop->var.name(), loop->var.dtype());
    map[loop->var.get()] = iter;
    values.push_back(loop->var);
    fields.iters.push_back(
        {iter, {loop->min, loop->extent}, IterType::kOpaque});
  }
  const auto region = [&](const BufferRegion& r) {
    return MapRegion(r, [&](const Expr& e) { return Substitute(e, map); });
  };
  for (BufferRegion& r : fields.reads) r = region(r);
  for (BufferRegion& r : fields.writes) r = region(r);
  fields.body = Substitute(body, map);
  return MakeRealize(std::move(values), Bool(true),
                     MakeBlock(std::move(fields)));
}

// The loop over one part; iterators that are its variable keep to the part.
Stmt PartLoop(const Stmt& loop, const std::string& name, const Range& range,
              Function* f) {
  const Stmt copy = CloneWithFreshIds(loop, "_" + name, f);
  ForFields fields = copy.As<ForNode>()->fields();
  const Var var(name, fields.var.dtype());
  fields.body = Substitute(fields.body, {{fields.var.get(), Expr(var)}});
  fields.var = var;
  fields.min = range.min;
  fields.extent = range.extent;
  fields.body = Rewrite(fields.body, [&](const Stmt& s) -> Stmt {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) return nullptr;
    BlockFields block = realize->block->fields();
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (realize->values[i] == var) block.iters[i].domain = range;
    }
    return WithBlock(*realize, std::move(block));
  });
  return MakeFor(std::move(fields));
}

BlockFields NewBlock(std::string name, Function* f) {
  BlockFields fields;
  fields.id = f->NewId();
  fields.name = std::move(name);
  return fields;
}

}  // namespace

absl::StatusOr<LoopPartitionResult> LoopPartition(
    const Function& f, LoopId id,
    const std::vector<std::optional<int64_t>>& factors) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, id, kName));
  const BlockNode& scope = *path.scope()->block;
  const Scope below(scope, path.back());
  KILN_RETURN_IF_ERROR(Check(path, below));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> cuts,
                        Cuts(*path.loop(), factors));
  const std::vector<const ForNode*> outer = LoopsAbove(path);
  const std::string loop_name = path.loop()->var.name();
  const std::string prefix = below.blocks[0].block().name + "_" + loop_name;
  LoopPartitionResult result{f, {}};
  Function& g = result.function;
  std::vector<Stmt> parts;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const Range range = {Int(cuts[i]), Int(cuts[i + 1] - cuts[i])};
    const Stmt loop =
        PartLoop(path.back(), absl::StrCat(loop_name, i), range, &g);
    result.loops.push_back(loop.As<ForNode>()->id);
    KILN_ASSIGN_OR_RETURN(
        Stmt part,
        InBlock(scope, loop, outer,
                NewBlock(absl::StrCat(prefix, i, "_partition"), &g), loop));
    parts.push_back(std::move(part));
  }
  KILN_ASSIGN_OR_RETURN(Stmt common, InBlock(scope, path.back(), outer,
                                             NewBlock(prefix + "_common", &g),
                                             MakeSeq(std::move(parts))));
  g.body = ReplaceAt(path, std::move(common));
  return result;
}

}  // namespace kiln
