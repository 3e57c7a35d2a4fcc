#include "kiln/codegen/lower/partition_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "kiln/codegen/lower/border_pins.h"
#include "kiln/codegen/lower/condition.h"
#include "kiln/codegen/lower/linear.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::AsCondition;
using lower::Condition;
using lower::LinearForm;
using lower::LinearTerm;
using lower::LoopStack;
using lower::Pin;
using lower::PinsInBorder;
using lower::Test;
using lower::Values;
using lower::ValuesOf;

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

// The least (sign 1) or greatest (sign -1) value of `form` over `loops`, as a
// form of the other variables; nullopt when it has no such form.
std::optional<LinearForm> Extreme(const LinearForm& form,
                                  const LoopStack& loops, size_t from,
                                  int sign) {
  LinearForm out;
  out.constant = form.constant;
  for (const LinearTerm& term : form.terms) {
    const auto* var = term.atom.As<VarNode>();
    auto binds = [&](const ForNode* loop) { return loop->var.get() == var; };
    auto loop = std::find_if(loops.begin() + from, loops.end(), binds);
    if (loop == loops.end()) {
      out.terms.push_back(term);
      continue;
    }
    std::optional<Values> values = ValuesOf(**loop);
    if (!values) return std::nullopt;
    const bool low = (term.coefficient > 0) == (sign > 0);
    out.constant += term.coefficient * (low ? values->first : values->last);
  }
  return out;
}

// The share of the iterations of `loops` in which form >= 0; 1 when unknown.
double Coverage(const LinearForm& form, const LoopStack& loops) {
  std::optional<LinearForm> low = Extreme(form, loops, 0, 1);
  std::optional<LinearForm> high = Extreme(form, loops, 0, -1);
  if (!low || !high || !low->IsConstant() || !high->IsConstant()) return 1;
  if (low->constant >= 0) return 1;
  if (high->constant < 0) return 0;
  return (high->constant + 1.0) / (high->constant - low->constant + 1.0);
}

// A conjunct that stands in the body of the loop at hand.
struct Site {
  Expr conjunct;
  LoopStack loops;  // around it, from the outermost of the function
};

// Collects the conjuncts of conditions, and the loops between.
class SiteCollector {
 public:
  explicit SiteCollector(const LoopStack& outer) : loops_(outer) {}
  void Collect(const Stmt& s);
  std::vector<Site> sites;
  std::unordered_set<const VarNode*> lets;

 private:
  void CollectExpr(const Expr& e);
  void AddConjuncts(const Expr& condition);
  LoopStack loops_;
};

void SiteCollector::AddConjuncts(const Expr& condition) {
  for (const Expr& conjunct : ConjunctsOf(condition)) {
    sites.push_back({conjunct, loops_});
  }
}

void SiteCollector::CollectExpr(const Expr& e) {
  Visit(e, [&](const Expr& x) {
    if (const auto* let = x.As<LetNode>()) lets.insert(let->var.get());
    const auto* call = x.As<CallNode>();
    if (call && call->op == Intrinsic::kIfThenElse) {
      AddConjuncts(call->args[0]);
    }
    return true;
  });
}

void SiteCollector::Collect(const Stmt& s) {
  if (const auto* let = s.As<LetStmtNode>()) lets.insert(let->var.get());
  if (const auto* branch = s.As<IfNode>()) AddConjuncts(branch->condition);
  ForEachExpr(s, [&](const Expr& e) { CollectExpr(e); });
  const auto* loop = s.As<ForNode>();
  if (loop) loops_.push_back(loop);
  ForEachChild(s, [&](const Stmt& child) { Collect(child); });
  if (loop) loops_.pop_back();
}

// A part of the iterations of one loop body in which conditions are known.
struct Interior {
  LinearForm margin;                                // negative in the border
  Expr guard;                                       // margin >= 0
  std::unordered_map<const ExprNode*, bool> known;  // conjuncts in it
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
  Stmt Separate(const Stmt& body, const Interior& interior);
  std::vector<Interior> FindInteriors(const Stmt& body) const;
  bool IsTried(const Expr& guard) const;
  std::optional<LinearForm> MarginOf(
      const Site& site, const std::unordered_set<const VarNode*>& lets) const;

  LoopStack loops_;
  std::vector<Expr> tried_;  // guards that a border copy is the else-branch of
  int64_t size_;
};

Expr NonNegative(const LinearForm& form) {
  return LE(Int(0), lower::Normalizer().Build(form));
}

// A form of the loops so far; where it is not negative, the conjunct is true
// (an equality: false) for all iterations of the loops inside. Nullopt when
// there is none that covers enough.
std::optional<LinearForm> Partitioner::MarginOf(
    const Site& site, const std::unordered_set<const VarNode*>& lets) const {
  std::optional<Condition> condition = AsCondition(site.conjunct);
  if (!condition || site.loops.size() == loops_.size()) return std::nullopt;
  const LinearForm& form = condition->form;
  auto is_inner = [&](const VarNode* var) {
    return lets.count(var) ||
           std::any_of(
               site.loops.begin() + loops_.size(), site.loops.end(),
               [&](const ForNode* loop) { return loop->var.get() == var; });
  };
  if (form.HidesVar(is_inner)) return std::nullopt;
  for (const LinearTerm& term : form.terms) {
    if (term.atom.As<LoadNode>() || lets.count(term.atom.As<VarNode>())) {
      return std::nullopt;
    }
    // Remainders that must vanish do so now and then, not in an interior.
    if (condition->test == Test::kZero &&
        term.atom.kind() == ExprKind::kFloorMod) {
      return std::nullopt;
    }
  }
  std::optional<LinearForm> least = Extreme(form, site.loops, loops_.size(), 1);
  if (!least || least->IsConstant()) return std::nullopt;
  if (condition->test == Test::kZero) least->constant -= 1;  // form > 0
  if (Coverage(*least, loops_) < 0.5 * Coverage(form, site.loops)) {
    return std::nullopt;
  }
  return least;
}

bool Partitioner::IsTried(const Expr& guard) const {
  return std::any_of(tried_.begin(), tried_.end(), [&](const Expr& g) {
    return lower::SameStructure(g, guard);
  });
}

std::vector<Interior> Partitioner::FindInteriors(const Stmt& body) const {
  SiteCollector collector(loops_);
  collector.Collect(body);
  std::unordered_set<const ExprNode*> refused;
  std::unordered_map<const ExprNode*, Expr> guard_of;
  std::vector<Interior> found;
  for (const Site& site : collector.sites) {
    std::optional<LinearForm> margin = MarginOf(site, collector.lets);
    const Expr guard = margin ? NonNegative(*margin) : Expr();
    if (!guard || IsTried(guard)) {
      refused.insert(site.conjunct.get());
      continue;
    }
    auto same = [&](const Interior& x) {
      return lower::SameStructure(x.guard, guard);
    };
    auto at = std::find_if(found.begin(), found.end(), same);
    if (at == found.end()) at = found.insert(at, {*margin, guard, {}});
    at->known[site.conjunct.get()] = site.conjunct.kind() != ExprKind::kEQ;
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

// What an expression is replaced by; null: by nothing.
using Replace = FunctionRef<Expr(const Expr&)>;

Expr ResolveExpr(const Expr& e, Replace replace) {
  if (Expr replaced = replace(e)) return replaced;
  return MapOperands(e, [&](const Expr& x) { return ResolveExpr(x, replace); });
}

// `s` after replacement, branches taken where conditions became constants.
Stmt Resolve(const Stmt& s, Replace replace) {
  lower::Normalizer normalizer;
  Stmt own = MapExprs(s, [&](const Expr& e) {
    Expr resolved = ResolveExpr(e, replace);
    return resolved == e ? e : normalizer.Run(resolved);
  });
  if (const auto* branch = own.As<IfNode>()) {
    if (const int64_t* known = AsInt(branch->condition)) {
      const Stmt& taken = *known ? branch->then_case : branch->else_case;
      return taken ? Resolve(taken, replace) : MakeEvaluate(Int(0));
    }
  }
  return MapChildren(
      own, [&](const Stmt& child) { return Resolve(child, replace); });
}

Stmt ResolveInterior(const Stmt& body, const Interior& interior) {
  return Resolve(body, [&](const Expr& e) {
    auto found = interior.known.find(e.get());
    return found == interior.known.end() ? Expr() : Bool(found->second);
  });
}

Stmt ResolveBorder(const Stmt& body, const std::vector<Pin>& pins) {
  return Resolve(body, [&](const Expr& e) {
    for (const Pin& pin : pins) {
      if (lower::SameStructure(e, pin.atom)) return Int(pin.value);
    }
    return Expr();
  });
}

Stmt Partitioner::Separate(const Stmt& body, const Interior& interior) {
  Stmt inside = RunPiece(ResolveInterior(body, interior));
  tried_.push_back(interior.guard);
  const std::vector<Pin> pins = PinsInBorder(interior.margin, loops_);
  Stmt border = RunPiece(pins.empty() ? body : ResolveBorder(body, pins));
  tried_.pop_back();
  return MakeIf(interior.guard, std::move(inside), std::move(border));
}

// One piece of a loop body, separated if it has an interior.
Stmt Partitioner::RunPiece(const Stmt& piece) {
  const int64_t size = UnrolledSize(piece);
  if (size_ + size > kMaxPartitionedStatements) return Run(piece);
  const std::vector<Interior> interiors = FindInteriors(piece);
  if (interiors.empty()) return Run(piece);
  size_ += size;
  return Separate(piece, interiors.front());
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

Stmt Partitioner::RunFor(const ForNode& loop) {
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
  f.body = Partitioner(f.body).Run(f.body);
  return f;
}

}  // namespace kiln
