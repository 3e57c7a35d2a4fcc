// Old order: all of one nest, then all of the next. New order: iteration by
// iteration. What changes is when iteration s of an earlier nest runs, seen
// from iteration t < s of a later one. No harm where the nests have no tensor
// in common that one of them writes; and none where each element of such a
// tensor is written in one iteration only and read in the same.
#include "kiln/schedule/primitive/merge.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/independence.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/loop_shape.h"

namespace kiln {
namespace {

constexpr char kName[] = "merge";

// The loops from the common sequence down to a loop that is to be merged.
struct Nest {
  Path path;
  std::vector<const ForNode*> loops;
  size_t position = 0;  // in the sequence

  const ForNode& inner() const { return *loops.back(); }
};

struct Plan {
  Path parent;  // to the sequence
  std::vector<Nest> nests;
  const SeqNode& sequence() const { return *parent.back().As<SeqNode>(); }
  const BlockNode& scope() const { return *parent.scope()->block; }
};

// How many statements all paths begin with.
size_t CommonLength(const std::vector<Nest>& nests) {
  size_t length = 0;
  for (;; ++length) {
    for (const Nest& nest : nests) {
      if (length >= nest.path.size()) return length;
      if (nest.path[length] != nests[0].path[length]) return length;
    }
  }
}

absl::Status TakeLoops(size_t first, Nest* nest) {
  for (size_t i = first; i < nest->path.size(); ++i) {
    const auto* loop = nest->path[i].As<ForNode>();
    if (!loop) {
      return Refusal(kName,
                     absl::StrCat("between the loops around ",
                                  Describe(*nest->path.loop()),
                                  " stand other statements or blocks"),
                     "merge outer loops first");
    }
    nest->loops.push_back(loop);
  }
  return absl::OkStatus();
}

absl::StatusOr<Plan> MakePlan(const Function& f,
                              const std::vector<LoopId>& ids) {
  Plan plan;
  for (LoopId id : ids) {
    plan.nests.emplace_back();
    KILN_ASSIGN_OR_RETURN(plan.nests.back().path, RequireLoop(f, id, kName));
  }
  const size_t common = CommonLength(plan.nests);
  plan.parent = plan.nests[0].path.Prefix(common);
  const auto* sequence = plan.parent.back().As<SeqNode>();
  for (Nest& nest : plan.nests) {
    if (common == nest.path.size() || !sequence) {
      return Refusal(kName, "the loops do not stand beside each other",
                     "give loops of different nests under one loop or block");
    }
    KILN_RETURN_IF_ERROR(TakeLoops(common, &nest));
    const auto& stmts = sequence->stmts;
    nest.position = std::find(stmts.begin(), stmts.end(), nest.path[common]) -
                    stmts.begin();
  }
  const auto before = [](const Nest& a, const Nest& b) {
    return a.position < b.position;
  };
  std::sort(plan.nests.begin(), plan.nests.end(), before);
  for (size_t i = 1; i < plan.nests.size(); ++i) {
    if (before(plan.nests[i - 1], plan.nests[i])) continue;
    return Refusal(kName,
                   absl::StrCat(Describe(plan.nests[i].inner()),
                                " shares a loop with another one given"),
                   "merge those two first");
  }
  return plan;
}

// `e` of a nest in terms of the variables of another one.
Expr Translate(const Expr& e, const Nest& from, const Nest& to, size_t depth) {
  VarMap map;
  for (size_t i = 0; i < depth; ++i) {
    map[from.loops[i]->var.get()] = to.loops[i]->var;
  }
  return Substitute(e, map);
}

absl::Status CheckShapes(const Plan& plan) {
  const Nest& first = plan.nests[0];
  for (const Nest& nest : plan.nests) {
    if (nest.loops.size() != first.loops.size()) {
      return Refusal(kName, absl::StrCat(Describe(nest.inner()), " and ",
                                         Describe(first.inner()),
                                         " do not stand equally deep"));
    }
    Analyzer analyzer;
    for (size_t i = 0; i < nest.loops.size(); ++i) {
      const ForNode& loop = *nest.loops[i];
      KILN_RETURN_IF_ERROR(CheckPlainLoopLike(loop, *first.loops[i], kName));
      if (!analyzer.CanProveEqual(Translate(loop.extent, nest, first, i),
                                  first.loops[i]->extent)) {
        return Refusal(kName, absl::StrCat(Describe(loop), " and ",
                                           Describe(*first.loops[i]),
                                           " differ in extent"));
      }
    }
  }
  return absl::OkStatus();
}

bool Overlap(const std::vector<BufferRegion>& a,
             const std::vector<BufferRegion>& b) {
  return std::any_of(a.begin(), a.end(), [&](const BufferRegion& x) {
    return std::any_of(b.begin(), b.end(), [&](const BufferRegion& y) {
      return x.buffer == y.buffer;
    });
  });
}

// Whether the order of two statements of the scope matters.
bool Conflict(const BlockNode& scope, const Stmt& a, const Stmt& b) {
  const Scope first(scope, a), second(scope, b);
  for (const ScopeBlock& x : first.blocks) {
    for (const ScopeBlock& y : second.blocks) {
      if (Overlap(x.block().writes, y.block().reads) ||
          Overlap(x.block().reads, y.block().writes) ||
          Overlap(x.block().writes, y.block().writes)) {
        return true;
      }
    }
  }
  return false;
}

// Statements between two nests come to stand before both.
absl::Status CheckBetween(const Plan& plan) {
  const auto& stmts = plan.sequence().stmts;
  const size_t last = plan.nests.back().position;
  for (const Nest& nest : plan.nests) {
    for (size_t i = nest.position + 1; i < last; ++i) {
      const bool is_nest =
          std::any_of(plan.nests.begin(), plan.nests.end(),
                      [&](const Nest& other) { return other.position == i; });
      if (is_nest || !Conflict(plan.scope(), stmts[nest.position], stmts[i])) {
        continue;
      }
      return Refusal(
          kName, absl::StrCat("what stands after ", Describe(*nest.loops[0]),
                              " has to stay there: both use a "
                              "tensor that one of them writes"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOnlyBlocks(const Plan& plan) {
  if (Scope(plan.scope(), plan.parent.back()).only_loops_and_blocks) {
    return absl::OkStatus();
  }
  return Refusal(kName,
                 "beside the loops stand statements other than loops and "
                 "blocks");
}

bool HaveConflict(const Plan& plan) {
  const auto& stmts = plan.sequence().stmts;
  for (size_t i = 0; i < plan.nests.size(); ++i) {
    for (size_t j = i + 1; j < plan.nests.size(); ++j) {
      if (Conflict(plan.scope(), stmts[plan.nests[i].position],
                   stmts[plan.nests[j].position])) {
        return true;
      }
    }
  }
  return false;
}

// Why iterations of the nest may write the same elements: they do not where
// every loop moves an iterator of each block, and bindings are affine.
Reason WhyWritesAgain(const Plan& plan, const Nest& nest) {
  const Scope local(plan.scope(),
                    nest.path[nest.path.size() - nest.loops.size()]);
  for (const ScopeBlock& block : local.blocks) {
    for (const ForNode* loop : nest.loops) {
      const auto& values = block.realize->values;
      const bool moves =
          std::any_of(values.begin(), values.end(),
                      [&](const Expr& e) { return UsesVar(e, loop->var); });
      if (moves || IsOne(loop->extent)) continue;
      return absl::StrCat("iterations of ", Describe(*loop),
                          " write the same elements in ",
                          Describe(block.block()));
    }
    if (Reason reason = WhyNotAffine(block)) return reason;
  }
  return std::nullopt;
}

// The nests as one, and the ids of its loops.
Stmt MergeNests(const Plan& plan, Function* f, std::vector<LoopId>* ids) {
  const Nest& first = plan.nests[0];
  std::vector<ForFields> loops;
  for (const ForNode* loop : first.loops) {
    ForFields fields = loop->fields();
    fields.id = f->NewId();
    fields.var = Var(loop->var.name() + "_m", loop->var.dtype());
    ids->push_back(fields.id);
    loops.push_back(std::move(fields));
  }
  std::vector<Stmt> bodies;
  for (const Nest& nest : plan.nests) {
    VarMap map;
    for (size_t i = 0; i < loops.size(); ++i) {
      map[nest.loops[i]->var.get()] = loops[i].var;
    }
    bodies.push_back(Substitute(nest.inner().body, map));
  }
  VarMap outer;
  for (size_t i = 0; i < loops.size(); ++i) {
    loops[i].extent = Substitute(loops[i].extent, outer);
    outer[first.loops[i]->var.get()] = loops[i].var;
  }
  Stmt merged = MakeSeq(std::move(bodies));
  for (size_t i = loops.size(); i-- > 0;) {
    loops[i].body = std::move(merged);
    merged = MakeFor(std::move(loops[i]));
  }
  return merged;
}

absl::Status CheckFlow(const Plan& plan, const Function& merged,
                       const std::vector<LoopId>& ids) {
  for (const Nest& nest : plan.nests) {
    if (Reason reason = WhyWritesAgain(plan, nest)) {
      return Refusal(kName, *reason);
    }
  }
  for (LoopId id : ids) {
    const std::optional<Path> path = FindLoop(merged, id);
    if (Reason reason = WhyNotIndependent(*path)) {
      return Refusal(kName,
                     absl::StrCat("what one nest hands to another would not "
                                  "stay within an iteration: ",
                                  *reason));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MergeResult> Merge(const Function& f,
                                  const std::vector<LoopId>& loops) {
  if (loops.size() < 2) return BadArgument(kName, "give two loops or more");
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(f, loops));
  KILN_RETURN_IF_ERROR(CheckShapes(plan));
  KILN_RETURN_IF_ERROR(CheckOnlyBlocks(plan));
  KILN_RETURN_IF_ERROR(CheckBetween(plan));
  MergeResult result{f, 0};
  std::vector<LoopId> ids;
  Stmt merged = MergeNests(plan, &result.function, &ids);
  std::vector<Stmt> stmts;
  for (size_t i = 0; i < plan.sequence().stmts.size(); ++i) {
    const bool is_nest =
        std::any_of(plan.nests.begin(), plan.nests.end(),
                    [&](const Nest& nest) { return nest.position == i; });
    if (!is_nest) stmts.push_back(plan.sequence().stmts[i]);
    if (i == plan.nests.back().position) stmts.push_back(merged);
  }
  result.function.body = ReplaceAt(plan.parent, MakeSeq(std::move(stmts)));
  if (HaveConflict(plan)) {
    KILN_RETURN_IF_ERROR(CheckFlow(plan, result.function, ids));
  }
  result.loop = ids.back();
  return result;
}

}  // namespace kiln
