// Where the least value of a condition's form over all inner iterations is not
// negative, the condition holds in all of them. That least value is a form in
// the outer loops alone, so one test in an outer loop replaces one in each
// inner iteration. In the border copy the opposite holds, which shortens its
// loops and gives some variables their only value.
//
//   for i in 7, k in 8, v in 16:           for i in 7:
//     if i*16 + v < 100: S(i, k, v)          if 0 <= i*-16 + 84:
//                                              for k in 8, v in 16: S(i, k, v)
//                                     →      else:
//                                              for k in 8, v in 4: S(6, k, v)
//
// The form 99 - i*16 - v is least for v = 15; in the border i must be 6, and
// then v is less than 4. The copies cost code, so there is a limit to the
// statements of a function, and a test that covers less than half of what the
// condition covers itself is not made.
//
// Of five taps with padding of two, the first two and the last two read outside
// for some columns of a tile: the border has more than one tap, and would ask
// for each column. Iterations of such a loop get code of their own.
#include "kiln/codegen/lower/guards/partition_loops.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/codegen/lower/guards/alternatives.h"
#include "kiln/codegen/lower/guards/condition.h"
#include "kiln/codegen/lower/guards/condition_sites.h"
#include "kiln/codegen/lower/guards/fold_known_conditions.h"
#include "kiln/codegen/lower/guards/known_conditions.h"
#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/codegen/lower/guards/narrow_loop_ranges.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::AsCondition;
using lower::AtomValues;
using lower::CertainAt;
using lower::CertainIn;
using lower::Condition;
using lower::ConditionSites;
using lower::Coverage;
using lower::DoesNothing;
using lower::Extreme;
using lower::FewerValues;
using lower::FindConditionSites;
using lower::FoldKnownConditions;
using lower::GoesRound;
using lower::Known;
using lower::LoopStack;
using lower::NarrowLoopRanges;
using lower::ResolveKnown;
using lower::ResolvePins;
using lower::Site;
using lower::Test;
using lower::Values;
using lower::ValuesOf;
using lower::ValuesWhere;

// Of a border whose place is known in a call only: statements of the copies for
// all lengths.
constexpr int64_t kMaxCountedStatements = 900;

// Of the statements that there may be, the part for copies that spare no
// conditions inside of unrolled loops: one in so many, where as many copies
// would fit into it.
constexpr int64_t kOutsidePart = 4;

// Iterations of a loop that may each get code of its own.
constexpr int64_t kMaxPinned = 8;
// Statements with them; borders of other loops come later.
constexpr int64_t kMaxForPinned = kMaxPartitionedStatements / 4 * 3;

// Statements with the copies for conditions of lanes.
constexpr int64_t kMaxForLanes = 2 * kMaxPartitionedStatements;

// The statement count after unrolling.
int64_t UnrolledSize(const Stmt& s) {
  if (s.kind() == StmtKind::kStore || s.kind() == StmtKind::kEvaluate) return 1;
  int64_t size = 0;
  ForEachChild(s, [&](const Stmt& child) { size += UnrolledSize(child); });
  const auto* loop = s.As<ForNode>();
  const int64_t* extent = loop ? AsInt(loop->extent) : nullptr;
  if (extent && loop->for_kind == ForKind::kUnrolled) size *= *extent;
  return std::min<int64_t>(size, kMaxPartitionedStatements + 1);
}

// A part of the iterations of one loop body in which conditions are known.
struct Interior {
  Linear margin;  // negative in the border
  Expr guard;     // margin >= 0
  Known known;    // conjuncts in it
  std::vector<Site> sites;
};

class Partitioner {
 public:
  explicit Partitioner(const Stmt& body) : size_(UnrolledSize(body)) {}
  Stmt Run(const Stmt& s);

 private:
  Stmt RunFor(const ForNode& loop);
  Stmt RunBody(const Stmt& body);
  Stmt RunPiece(const Stmt& piece);
  bool HasMixedParts(const Stmt& body) const;
  Stmt RunWhere(const Linear& form, Stmt piece, int64_t counted);
  Stmt RunResolved(Stmt piece, int64_t counted);
  std::optional<int64_t> CountsIn(const Interior& interior,
                                  const Stmt& body) const;
  Stmt RunAtMargin(const Stmt& body, const Interior& interior, int64_t margin);
  Stmt RunByCount(const Stmt& body, const Interior& interior, int64_t counts);
  Stmt Separate(const Stmt& body, const Interior& interior);
  std::vector<Interior> FindInteriors(const Stmt& body) const;
  bool IsTried(const Expr& guard) const;
  bool IsPinned(const ForNode& loop, const Site& site,
                const std::unordered_set<const VarNode*>& lets) const;
  bool AsksForIterations(const ForNode& loop);
  std::optional<Stmt> RunEach(const ForNode& loop);
  bool IsInside(const Site& site) const;
  bool IsOfLanes(const Site& site) const;
  const Interior* Choose(const std::vector<Interior>& interiors,
                         int64_t size) const;
  const Interior* ChooseForLanes(const std::vector<Interior>& interiors,
                                 const Stmt& piece, int64_t size) const;
  std::optional<Linear> MarginOf(
      const Site& site, const std::unordered_set<const VarNode*>& lets) const;
  std::optional<Linear> Covering(const Linear& wanted, const Linear& form,
                                 const Site& site) const;

  LoopStack loops_;
  FewerValues fewer_;        // in the piece at hand
  std::vector<Expr> tried_;  // guards that a border copy is the else-branch of
  int64_t size_;
};

Expr NonNegative(const Linear& form) {
  return LE(Int(0), IndexNormalizer().Build(form));
}

// A condition on numbers that a call gives is the same in all iterations, which
// are no interior and border. LLVM takes it out of loops where that pays; here
// the conditions on begins, ends and steps of a slice would make 2^12 copies.
bool UsesLoop(const Linear& form, const LoopStack& loops) {
  return std::any_of(form.terms.begin(), form.terms.end(), [&](const Term& t) {
    return UsesVar(t.atom, [&](const VarNode* var) {
      return std::any_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
        return loop->var.get() == var;
      });
    });
  });
}

// The form that is negative where `form` is not.
Linear Negated(Linear form) {
  for (Term& term : form.terms) term.coefficient *= -1;
  form.constant = -form.constant - 1;
  return form;
}

// A form of the loops so far; where it is not negative, the conjunct is true
// (an equality: false) for all iterations of the loops inside. Nullopt when
// there is none that covers enough.
std::optional<Linear> Partitioner::MarginOf(
    const Site& site, const std::unordered_set<const VarNode*>& lets) const {
  std::optional<Condition> condition = AsCondition(site.conjunct);
  if (!condition || site.loops.size() == loops_.size() ||
      !lower::IsSafeIn(loops_, site.conjunct)) {
    return std::nullopt;
  }
  const Linear& form = condition->form;
  auto is_inner = [&](const VarNode* var) {
    return lets.count(var) ||
           std::any_of(
               site.loops.begin() + loops_.size(), site.loops.end(),
               [&](const ForNode* loop) { return loop->var.get() == var; });
  };
  if (form.HidesVar(is_inner) || !UsesLoop(form, site.loops)) {
    return std::nullopt;
  }
  for (const Term& term : form.terms) {
    if (lets.count(term.atom.As<VarNode>())) return std::nullopt;
    // Remainders that must vanish do so now and then, not in an interior.
    if (condition->test == Test::kZero &&
        term.atom.kind() == ExprKind::kFloorMod) {
      return std::nullopt;
    }
  }
  if (condition->test == Test::kNonNegative) return Covering(form, form, site);
  // An equality fails before as well as behind where it holds.
  Linear behind = form;
  behind.AddConstant(-1);
  std::optional<Linear> margin = Covering(behind, form, site);
  return margin ? margin : Covering(Negated(form), form, site);
}

// Where `wanted` is not negative for all iterations of the inner loops, if that
// is at least half of what `form` covers.
std::optional<Linear> Partitioner::Covering(const Linear& wanted,
                                            const Linear& form,
                                            const Site& site) const {
  std::optional<Linear> least =
      Extreme(wanted, site.loops, loops_.size(), 1, fewer_);
  if (!least || least->is_constant() ||
      Coverage(*least, loops_, fewer_) <
          0.5 * Coverage(form, site.loops, fewer_)) {
    return std::nullopt;
  }
  return least;
}

bool Partitioner::IsTried(const Expr& guard) const {
  return std::any_of(tried_.begin(), tried_.end(),
                     [&](const Expr& g) { return SameExpr(g, guard); });
}

std::vector<Interior> Partitioner::FindInteriors(const Stmt& body) const {
  const ConditionSites conditions = FindConditionSites(body, loops_);
  std::unordered_set<const ExprNode*> refused;
  std::unordered_map<const ExprNode*, Expr> guard_of;
  std::vector<Interior> found;
  for (const Site& site : conditions.sites) {
    std::optional<Linear> margin = MarginOf(site, conditions.lets);
    const Expr guard = margin ? NonNegative(*margin) : Expr();
    if (!guard || IsTried(guard)) {
      refused.insert(site.conjunct.get());
      continue;
    }
    auto same = [&](const Interior& x) { return SameExpr(x.guard, guard); };
    auto at = std::find_if(found.begin(), found.end(), same);
    if (at == found.end()) at = found.insert(at, {*margin, guard, {}, {}});
    at->known[site.conjunct.get()] = site.conjunct.kind() != ExprKind::kEQ;
    at->sites.push_back(site);
    auto [owner, is_new] = guard_of.emplace(site.conjunct.get(), at->guard);
    if (!is_new && owner->second != at->guard) {
      refused.insert(site.conjunct.get());
    }
  }
  // A node may stand at several sites: what is known has to hold at all.
  for (Interior& interior : found) {
    for (const ExprNode* conjunct : refused) interior.known.erase(conjunct);
  }
  found.erase(std::remove_if(found.begin(), found.end(),
                             [](const Interior& x) { return x.known.empty(); }),
              found.end());
  return found;
}

// Of a piece, what runs where form >= 0, decided as far as that allows. The
// size so far has `counted` statements for it.
Stmt Partitioner::RunWhere(const Linear& form, Stmt piece, int64_t counted) {
  const FewerValues before = fewer_;
  std::vector<AtomValues> pins;
  for (const AtomValues& found : ValuesWhere(form, loops_, fewer_)) {
    if (found.values.first == found.values.last) {
      pins.push_back(found);
    } else if (const auto* var = found.atom.As<VarNode>()) {
      fewer_[var] = found.values;
    }
  }
  if (!pins.empty()) piece = ResolvePins(piece, pins);
  Stmt out = RunResolved(std::move(piece), counted);
  fewer_ = before;
  return out;
}

// A border has fewer statements than it was copied from.
Stmt Partitioner::RunResolved(Stmt piece, int64_t counted) {
  piece = NarrowLoopRanges(piece, loops_, fewer_);
  const Known known = CertainIn(piece, loops_, fewer_);
  if (!known.empty()) piece = ResolveKnown(piece, known);
  size_ -= std::max<int64_t>(0, counted - UnrolledSize(piece));
  return RunPiece(piece);
}

// In how many ways a border is cut short, each of which gets code of its own:
// with the rows that are left of a tile of 4, of which only a call tells the
// number, 3. Nullopt where the border is known by now, or its conditions ask
// for loops that are not unrolled, or the copies would be too long.
std::optional<int64_t> Partitioner::CountsIn(const Interior& interior,
                                             const Stmt& body) const {
  const auto low = Extreme(interior.margin, loops_, 0, 1, fewer_);
  if (low && low->is_constant()) return std::nullopt;
  int64_t counts = 0;
  for (const Site& site : interior.sites) {
    const std::optional<Condition> condition = AsCondition(site.conjunct);
    if (condition->test != Test::kNonNegative) return std::nullopt;
    const Linear above = Difference(condition->form, interior.margin);
    for (const Term& term : above.terms) {
      const bool is_copied =
          std::any_of(site.loops.begin() + loops_.size(), site.loops.end(),
                      [&](const ForNode* loop) {
                        return term.atom == loop->var &&
                               (loop->for_kind == ForKind::kUnrolled ||
                                loop->for_kind == ForKind::kVectorized);
                      });
      if (!is_copied) return std::nullopt;
    }
    const auto most = Extreme(above, site.loops, loops_.size(), -1, fewer_);
    if (!most || !most->is_constant()) return std::nullopt;
    counts = std::max(counts, most->constant);
  }
  const int64_t copies = counts * UnrolledSize(body) / 2;
  if (counts > kMaxTailCounts || copies > kMaxCountedStatements ||
      size_ + copies > kMaxPartitionedStatements) {
    return std::nullopt;
  }
  return counts;
}

// The body where the margin is a number: conditions ask for inner loops alone.
Stmt Partitioner::RunAtMargin(const Stmt& body, const Interior& interior,
                              int64_t margin) {
  Stmt piece = FoldKnownConditions(body, [&](const Expr& e) {
    if (interior.known.count(e.get()) == 0) return Expr();
    Linear form = Difference(AsCondition(e)->form, interior.margin);
    form.AddConstant(margin);
    return NonNegative(form);
  });
  return RunResolved(std::move(piece), /*counted=*/0);
}

// if margin == -1: ... else if margin == -2: ... down to -counts, behind which
// no condition holds.
Stmt Partitioner::RunByCount(const Stmt& body, const Interior& interior,
                             int64_t counts) {
  size_ += counts * UnrolledSize(body) / 2;
  Known none = interior.known;
  for (auto& [conjunct, value] : none) value = false;
  Stmt out = RunPiece(ResolveKnown(body, none));
  for (int64_t count = counts; count > 0; --count) {
    Linear form = interior.margin;
    form.AddConstant(count);
    Stmt piece = RunAtMargin(body, interior, -count);
    out = DoesNothing(out)
              ? MakeIf(NonNegative(form), std::move(piece))
              : MakeIf(NonNegative(form), std::move(piece), std::move(out));
  }
  return out;
}

Stmt Partitioner::Separate(const Stmt& body, const Interior& interior) {
  const int64_t size = UnrolledSize(body);
  Stmt inside =
      RunWhere(interior.margin, ResolveKnown(body, interior.known), size);
  tried_.push_back(interior.guard);
  const std::optional<int64_t> counts = CountsIn(interior, body);
  Stmt border = counts ? RunByCount(body, interior, *counts)
                       : RunWhere(Negated(interior.margin), body, size);
  tried_.pop_back();
  if (DoesNothing(border)) return MakeIf(interior.guard, std::move(inside));
  return MakeIf(interior.guard, std::move(inside), std::move(border));
}

// Whether the condition is asked for each copy of what is unrolled, and not
// once in an iteration of loops that go round.
bool Partitioner::IsInside(const Site& site) const {
  return std::any_of(
      site.loops.begin() + static_cast<std::ptrdiff_t>(loops_.size()),
      site.loops.end(), [&](const ForNode* loop) {
        return (loop->for_kind == ForKind::kUnrolled ||
                loop->for_kind == ForKind::kVectorized) &&
               UsesVar(site.conjunct, loop->var);
      });
}

// Conditions inside come first, and others get a part of the code: copies for
// the borders of all dimensions of a convolution would leave some conditions in
// its innermost loop.
// Of those inside, the one that holds most often is outermost: its border is
// the last to get copies, of which there may be none by then.
const Interior* Partitioner::Choose(const std::vector<Interior>& interiors,
                                    int64_t size) const {
  const Interior* widest = nullptr;
  double covers = 0;
  for (const Interior& interior : interiors) {
    const auto is_inside = [&](const Site& site) { return IsInside(site); };
    if (!absl::c_any_of(interior.sites, is_inside)) continue;
    const double covered = Coverage(interior.margin, loops_, fewer_);
    if (covered > covers) {
      widest = &interior;
      covers = covered;
    }
  }
  if (widest) return widest;
  const bool has_room =
      size_ + size * kOutsidePart <= kMaxPartitionedStatements / kOutsidePart;
  return has_room && !interiors.empty() ? &interiors.front() : nullptr;
}

// Whether a condition differs by lane of a vector.
bool Partitioner::IsOfLanes(const Site& site) const {
  return std::any_of(
      site.loops.begin() + static_cast<std::ptrdiff_t>(loops_.size()),
      site.loops.end(), [&](const ForNode* loop) {
        return loop->for_kind == ForKind::kVectorized &&
               UsesVar(site.conjunct, loop->var);
      });
}

// Past the limit, the lanes' own conditions alone, in the innermost loop that
// goes round: with one for each lane a vector would be that many numbers.
const Interior* Partitioner::ChooseForLanes(
    const std::vector<Interior>& interiors, const Stmt& piece,
    int64_t size) const {
  if (size_ + size > kMaxForLanes || GoesRound(piece)) return nullptr;
  const auto at = absl::c_find_if(interiors, [&](const Interior& interior) {
    return absl::c_any_of(interior.sites,
                          [&](const Site& site) { return IsOfLanes(site); });
  });
  return at == interiors.end() ? nullptr : &*at;
}

// One piece of a loop body, separated if it has an interior.
Stmt Partitioner::RunPiece(const Stmt& piece) {
  const int64_t size = UnrolledSize(piece);
  const bool has_room = size_ + size <= kMaxPartitionedStatements;
  if (!has_room && GoesRound(piece)) return Run(piece);
  const std::vector<Interior> interiors = FindInteriors(piece);
  const Interior* chosen = has_room ? Choose(interiors, size)
                                    : ChooseForLanes(interiors, piece, size);
  if (!chosen) return Run(piece);
  size_ += size;
  return Separate(piece, *chosen);
}

// Statements without border conditions are not copied for the sake of those
// with them. Where all have some, allocations around them are copied too, so
// that the interior has storage of its own.
Stmt Partitioner::RunBody(const Stmt& body) {
  if (const auto* node = body.As<AllocateNode>()) {
    if (HasMixedParts(node->body)) {
      return MakeAllocate(node->buffer, RunBody(node->body), node->is_view,
                          node->annotations);
    }
  }
  const auto* seq = body.As<SeqNode>();
  if (!seq || !HasMixedParts(body)) return RunPiece(body);
  std::vector<Stmt> out, run;
  auto flush = [&] {
    if (!run.empty()) out.push_back(RunPiece(MakeSeq(std::move(run))));
    run.clear();
  };
  for (const Stmt& part : seq->stmts) {
    if (!FindInteriors(part).empty()) {
      run.push_back(part);
      continue;
    }
    flush();
    out.push_back(Run(part));
  }
  flush();
  return MakeSeq(std::move(out));
}

// Whether some statements of the body have an interior and others not.
bool Partitioner::HasMixedParts(const Stmt& body) const {
  if (const auto* node = body.As<AllocateNode>()) {
    return HasMixedParts(node->body);
  }
  const auto* seq = body.As<SeqNode>();
  if (!seq) return false;
  size_t count = 0;
  for (const Stmt& part : seq->stmts) {
    count += !FindInteriors(part).empty();
  }
  return count > 0 && count < seq->stmts.size();
}

// Whether a number for the variable of the innermost loop decides, here or in
// loops inside, what the site asks of each copy of what is unrolled, and no
// margin leaves it a single one in the border.
bool Partitioner::IsPinned(
    const ForNode& loop, const Site& site,
    const std::unordered_set<const VarNode*>& lets) const {
  const auto is_known = [&](const ForNode* around) {
    return around == &loop || IsOne(around->extent) ||
           around->for_kind == ForKind::kUnrolled ||
           !UsesVar(site.conjunct, around->var);
  };
  if (!UsesVar(site.conjunct, loop.var) || !IsInside(site) ||
      !absl::c_all_of(loops_, is_known) || CertainAt(site, fewer_)) {
    return false;
  }
  const std::optional<Linear> margin = MarginOf(site, lets);
  return !margin ||
         absl::c_none_of(ValuesWhere(Negated(*margin), loops_, fewer_),
                         [&](const AtomValues& border) {
                           return border.atom == loop.var &&
                                  border.values.first == border.values.last;
                         });
}

bool Partitioner::AsksForIterations(const ForNode& loop) {
  loops_.push_back(&loop);
  const ConditionSites conditions = FindConditionSites(loop.body, loops_);
  const bool asks = absl::c_any_of(conditions.sites, [&](const Site& site) {
    return (loop.for_kind == ForKind::kSerial || IsOfLanes(site)) &&
           IsPinned(loop, site, conditions.lets);
  });
  loops_.pop_back();
  return asks;
}

// Each iteration of a short loop by itself, where conditions inside hold for
// too few of them at a time: of three taps that reach two columns beyond an
// image on either side, none reads inside of it in all columns of a tile. Of an
// unrolled loop, which costs no copies, that holds for conditions on lanes:
// columns that end in the middle of a vector hold in all lanes before it and in
// none behind it, and others are known when the loop is unrolled.
std::optional<Stmt> Partitioner::RunEach(const ForNode& loop) {
  const int64_t *min = AsInt(loop.min), *extent = AsInt(loop.extent);
  const bool is_unrolled = loop.for_kind == ForKind::kUnrolled;
  if ((loop.for_kind != ForKind::kSerial && !is_unrolled) || !min || !extent ||
      *extent < 2 || *extent > kMaxPinned) {
    return std::nullopt;
  }
  const int64_t size = UnrolledSize(loop.body);
  const int64_t copied = is_unrolled ? 0 : size * (*extent - 1);
  if (size_ + copied > kMaxForPinned || !AsksForIterations(loop)) {
    return std::nullopt;
  }
  size_ += copied;
  std::vector<Stmt> copies;
  for (int64_t i = *min; i < *min + *extent; ++i) {
    copies.push_back(
        RunResolved(ResolvePins(loop.body, {{loop.var, {i, i}}}), size));
  }
  return MakeSeq(std::move(copies));
}

Stmt Partitioner::RunFor(const ForNode& loop) {
  if (std::optional<Stmt> each = RunEach(loop)) return *each;
  loops_.push_back(&loop);
  ForFields fields = loop.fields();
  const bool may_separate =
      loop.for_kind != ForKind::kVectorized && !IsOne(loop.extent);
  fields.body = may_separate ? RunBody(loop.body) : Run(loop.body);
  loops_.pop_back();
  return fields.body == loop.body ? Stmt(&loop) : MakeFor(std::move(fields));
}

Stmt Partitioner::Run(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) return RunFor(*loop);
  return MapChildren(s, [&](const Stmt& child) { return Run(child); });
}

}  // namespace

absl::StatusOr<Function> PartitionLoops(Function f) {
  f.body = lower::MapAlternatives(
      f.body, [](const Stmt& part) { return Partitioner(part).Run(part); });
  return f;
}

}  // namespace kiln
