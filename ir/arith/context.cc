// What holds in a loop or a branch stops to hold at its end. Facts that Assume
// adds are therefore logged, and UndoTo takes them back in the reverse order.
// What a binding declares is not logged: it belongs to its variable and goes
// when the variable is bound again.
//
//   BindRange(i, 0, 16)    i in 0..15
//   BindRange(j, 0, n)     j >= 0; constraint j - n <= -1, owned by j
//   Assume(i + j < 12)     constraint i + j <= 11; i in 0..11; j in 0..11
//   UndoTo(0)              i in 0..15, j >= 0; j - n <= -1 stays
//
// A fact about one variable tightens its interval; a fact about a sum of
// several terms becomes a linear constraint, which const_bound.cc uses; any
// other condition is kept as it is and looked up. Assumptions end in the
// reverse order of their beginning, so that the last constraint without an
// owner is the one to drop. A binding while an assumption holds raises the
// variable's version, and the undo of the older interval is then skipped.
#include "kiln/ir/arith/context.h"

#include <algorithm>
#include <utility>

#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

size_t Hash(const VarNode* var) {
  return (reinterpret_cast<uintptr_t>(var) >> 4) * 0x9E3779B97F4A7C15ull >> 20;
}

}  // namespace

Context::VarInfo* Context::FindVar(const VarNode* var) {
  if (!(var->var_bits & var_bits_)) return nullptr;
  if (index_.empty()) {
    for (VarInfo& info : vars_) {
      if (info.var.get() == var) return &info;
    }
    return nullptr;
  }
  const size_t mask = index_.size() - 1;
  for (size_t slot = Hash(var) & mask; index_[slot]; slot = (slot + 1) & mask) {
    VarInfo& info = vars_[index_[slot] - 1];
    if (info.var.get() == var) return &info;
  }
  return nullptr;
}

Context::VarInfo& Context::VarOf(const Var& var) {
  if (VarInfo* found = FindVar(var.get())) return *found;
  if (vars_.empty()) vars_.reserve(16);
  vars_.emplace_back().var = var;
  var_bits_ |= var->var_bits;
  const size_t count = vars_.size();
  if (count <= 12) return vars_.back();
  const auto insert = [&](size_t position) {
    const size_t mask = index_.size() - 1;
    size_t slot = Hash(vars_[position].var.get()) & mask;
    while (index_[slot]) slot = (slot + 1) & mask;
    index_[slot] = static_cast<uint32_t>(position + 1);
  };
  if (index_.size() < 2 * count) {
    index_.assign(std::max<size_t>(64, index_.size() * 2), 0);
    for (size_t i = 0; i < count; ++i) insert(i);
  } else {
    insert(count - 1);
  }
  return vars_.back();
}

Context::VarInfo& Context::Rebind(const Var& var) {
  ForgetBounds();
  VarInfo& info = VarOf(var);
  info.bound = {};
  info.modular = {};
  info.value = nullptr;
  ++info.version;
  std::erase_if(constraints_, [&](const Constraint& constraint) {
    return constraint.owner == var.get();
  });
  return info;
}

void Context::BindRange(const Var& var, const Range& range) {
  if (IsOne(range.extent)) return BindValue(var, range.min);
  const int64_t* min = AsInt(range.min);
  const int64_t* extent = AsInt(range.extent);
  if (min && extent) {
    Rebind(var).bound =
        Plus(Point(*min), {0, std::max<int64_t>(*extent, 0) - 1});
    return;
  }
  Linear low = LinearOf(range.min), high = LinearOf(range.extent);
  high.Add(low, 1);
  const ConstBound low_bound = BoundOf(low), high_bound = BoundOf(high);
  Rebind(var).bound = {low_bound.min, Plus(high_bound, Point(-1)).max};
  low.Add(var, -1);   // low - var <= 0
  high.Add(var, -1);  // var + 1 - high <= 0
  Linear above;
  above.Add(high, -1);
  above.AddConstant(1);
  AddUpper(low, var.get());
  AddUpper(above, var.get());
}

void Context::BindValue(const Var& var, const Expr& value) {
  Expr simplified = Simplify(value);
  const ConstBound bound = BoundOf(simplified);
  const Modular modular = ModulusOf(simplified);
  VarInfo& info = Rebind(var);
  if (simplified == static_cast<const Expr&>(var)) return;
  info.bound = bound;
  info.modular = modular;
  info.value = std::move(simplified);
}

void Context::Unbind(const VarNode* var) {
  if (VarInfo* info = FindVar(var)) Rebind(info->var);
}

void Context::UndoTo(size_t depth) {
  if (undo_.size() > depth) ForgetBounds();
  while (undo_.size() > depth) {
    const Undo& undo = undo_.back();
    switch (undo.kind) {
      case Undo::kVar:
        if (vars_[undo.var].version == undo.version) {
          vars_[undo.var].bound = undo.bound;
          vars_[undo.var].modular = undo.modular;
        }
        break;
      case Undo::kConstraint: {
        auto last = std::find_if(
            constraints_.rbegin(), constraints_.rend(),
            [](const Constraint& constraint) { return !constraint.owner; });
        if (last != constraints_.rend()) {
          constraints_.erase(std::next(last).base());
        }
        break;
      }
      case Undo::kFact:
        facts_.pop_back();
        break;
    }
    undo_.pop_back();
  }
}

void Context::AddFact(const Expr& condition, bool value) {
  facts_.push_back({condition, value});
  undo_.push_back({Undo::kFact});
}

std::optional<bool> Context::LookUp(const Expr& condition) const {
  for (const Fact& fact : facts_) {
    if (SameButForFactorOrder(fact.condition, condition)) return fact.value;
  }
  return std::nullopt;
}

void Context::TightenVar(const Var& var, const ConstBound& bound) {
  VarInfo& info = VarOf(var);
  if (info.value) return;
  const ConstBound tighter = Intersect(info.bound, bound);
  if (tighter.min == info.bound.min && tighter.max == info.bound.max) return;
  undo_.push_back({Undo::kVar, static_cast<uint32_t>(&info - vars_.data()),
                   info.version, info.bound, info.modular});
  info.bound = tighter;
  ForgetBounds();
}

// A fact that is known already would only take from the work that one proof
// may do.
bool Context::IsKnownUpper(const Linear& linear) const {
  const auto is_same = [&](const Linear& terms) {
    return terms.terms.size() == linear.terms.size() &&
           std::all_of(linear.terms.begin(), linear.terms.end(),
                       [&](const Term& term) {
                         const int at = terms.Find(term.atom);
                         return at >= 0 &&
                                terms.terms[at].coefficient == term.coefficient;
                       });
  };
  return std::any_of(constraints_.begin(), constraints_.end(),
                     [&](const Constraint& constraint) {
                       return constraint.bound.max <= -linear.constant &&
                              is_same(constraint.terms);
                     });
}

void Context::AddUpper(const Linear& linear, const VarNode* owner) {
  if (!linear.ok || linear.terms.size() < 2) return;
  if (!owner && IsKnownUpper(linear)) return;
  Constraint constraint{linear, {ConstBound::kNegInf, -linear.constant}, owner};
  constraint.terms.constant = 0;
  constraints_.push_back(std::move(constraint));
  ForgetBounds();
  if (!owner) undo_.push_back({Undo::kConstraint});
}

void Context::Tighten(const Expr& atom, const ConstBound& bound) {
  if (bound.min == ConstBound::kNegInf && bound.max == ConstBound::kPosInf) {
    return;
  }
  if (const auto* var = atom.As<VarNode>()) return TightenVar(Var(var), bound);
  Constraint constraint{{}, bound, nullptr};
  constraint.terms.Add(atom, 1);
  constraints_.push_back(std::move(constraint));
  ForgetBounds();
  undo_.push_back({Undo::kConstraint});
}

}  // namespace kiln
