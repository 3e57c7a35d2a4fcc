// A search, pattern by pattern: each tries the variables of the block that no
// other pattern has taken, and looks at the edges whose two ends are known
// then.
//
//   a = R.matmul(x, w)     exp used by add: exp takes b; add takes c, as
//   b = R.exp(a)           b is among its operands
//   c = R.add(b, a)
#include "kiln/ir/pattern/pattern_context.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/pattern/matcher.h"

namespace kiln {

void PatternContext::Add(const Pattern& pattern) {
  for (const Pattern& known : patterns_) {
    if (known.get() == pattern.get()) return;
  }
  patterns_.push_back(pattern);
}

void PatternContext::UsedBy(const Pattern& value, const Pattern& user,
                            int argument) {
  Add(value);
  Add(user);
  edges_.push_back({value, user, argument, false});
}

void PatternContext::OnlyUsedBy(const Pattern& value, const Pattern& user,
                                int argument) {
  UsedBy(value, user, argument);
  edges_.back().is_only = true;
}

void PatternContext::SameShape(std::vector<Pattern> patterns) {
  for (const Pattern& pattern : patterns) Add(pattern);
  same_shape_.push_back(std::move(patterns));
}

namespace {

BoundValues ValuesOf(const std::vector<graph::Binding>& bindings) {
  BoundValues bound;
  for (const graph::Binding& binding : bindings) {
    bound[binding.var.get()] = binding.value;
  }
  return bound;
}

// What the bindings bind, other names aside, and then what else they use.
std::vector<graph::Expr> VarsOf(const std::vector<graph::Binding>& bindings) {
  std::vector<graph::Expr> vars;
  std::set<const graph::VarNode*> seen;
  for (const graph::Binding& binding : bindings) {
    seen.insert(binding.var.get());
    const bool is_name = binding.value.As<graph::VarNode>() != nullptr;
    if (!is_name) vars.push_back(binding.var);
  }
  for (const graph::Binding& binding : bindings) {
    for (const graph::VarNode* var : UsedVars(binding.value)) {
      if (seen.insert(var).second) vars.push_back(graph::Var(var));
    }
  }
  return vars;
}

// The operands of a value, and the fields of tuples among them.
void AddOperands(const graph::Expr& e, std::vector<graph::Expr>& operands) {
  if (const auto* tuple = e.As<graph::TupleNode>()) {
    for (const graph::Expr& field : tuple->fields) AddOperands(field, operands);
  } else {
    operands.push_back(e);
  }
}

std::vector<graph::Expr> OperandsOf(const graph::Expr& value, int argument) {
  std::vector<graph::Expr> operands;
  if (const auto* call = value.As<graph::CallNode>()) {
    const std::vector<graph::Expr> args = ArgumentsOf(*call);
    if (argument == kAnyArgument) {
      AddOperands(call->callee, operands);
      for (const graph::Expr& arg : call->args) AddOperands(arg, operands);
    } else if (argument < static_cast<int>(args.size())) {
      AddOperands(args[argument], operands);
    }
  } else if (argument != kAnyArgument) {
    return operands;
  } else if (const auto* item = value.As<graph::TupleItemNode>()) {
    AddOperands(item->tuple, operands);
  } else if (const auto* cast = value.As<graph::MatchCastNode>()) {
    AddOperands(cast->value, operands);
  } else if (value.As<graph::TupleNode>()) {
    AddOperands(value, operands);
  }
  return operands;
}

bool HaveOneShape(const graph::Expr& a, const graph::Expr& b) {
  const graph::StructInfo left = graph::InfoOf(a), right = graph::InfoOf(b);
  const auto* tensor = left.As<graph::TensorInfo>();
  const auto* other = right.As<graph::TensorInfo>();
  if (!tensor || !other || !tensor->extents() || !other->extents()) {
    return tensor && other && tensor->shape &&
           tensor->shape.get() == other->shape.get();
  }
  Analyzer analyzer;
  return graph::SameInfo(graph::Shape(*tensor->extents()),
                         graph::Shape(*other->extents()), analyzer);
}

}  // namespace

class PatternContext::Search {
 public:
  Search(const PatternContext& context,
         const std::vector<graph::Binding>& bindings, const Uses& uses,
         FunctionRef<bool(const Match&)> accepts)
      : context_(context),
        uses_(uses),
        accepts_(accepts),
        vars_(VarsOf(bindings)),
        bound_(ValuesOf(bindings)),
        matcher_(bound_, {}, {}) {
    matcher_.set_limit(kMostTests);
    matcher_.set_notes_first_names();
  }

  absl::StatusOr<bool> Run() {
    const bool found = RunFrom(0);
    if (found || !matcher_.reached_limit()) return found;
    return absl::ResourceExhaustedError(absl::StrCat(
        "a search for ", context_.patterns_.size(), " patterns in ",
        bound_.size(), " bindings ended after ", kMostTests,
        " tests; patterns that say more of their values, or of who uses them, "
        "are found sooner"));
  }

 private:
  bool RunFrom(size_t i) {
    if (i == context_.patterns_.size()) {
      if (!matcher_.HoldsWhatWasPutOff() || !HoldsAtEnd()) return false;
      if (accepts_(matcher_.match())) return true;
      // Who refuses a match may have looked at all of the block.
      matcher_.Charge(static_cast<int64_t>(bound_.size()) / 16);
      return false;
    }
    const Pattern& pattern = context_.patterns_[i];
    const graph::Expr known = matcher_.match().at(pattern);
    if (known) return Take(i, known);
    for (const graph::Expr& var : vars_) {
      if (Take(i, var)) return true;
      if (matcher_.reached_limit()) return false;
    }
    return false;
  }

  bool Take(size_t i, const graph::Expr& var) {
    const auto* taken = var.As<graph::VarNode>();
    if (!taken || !taken_.insert(taken).second) return false;
    const bool found = matcher_.Run(context_.patterns_[i], var, [&] {
      return HoldEdges() && RunFrom(i + 1);
    });
    taken_.erase(taken);
    return found;
  }

  // As far as their ends are known.
  bool HoldEdges() const {
    const Match& match = matcher_.match();
    return std::all_of(
        context_.edges_.begin(), context_.edges_.end(), [&](const Edge& edge) {
          return !match.Has(edge.value) || !match.Has(edge.user) || Holds(edge);
        });
  }

  bool Holds(const Edge& edge) const {
    const graph::Expr value = matcher_.match().at(edge.value);
    const graph::Expr user = matcher_.match().at(edge.user);
    const std::vector<graph::Expr> operands =
        OperandsOf(matcher_.ValueOf(user), edge.argument);
    return std::any_of(operands.begin(), operands.end(),
                       [&](const graph::Expr& operand) {
                         return matcher_.IsSame(operand, value);
                       });
  }

  bool HoldsAtEnd() const {
    for (const Edge& edge : context_.edges_) {
      if (edge.is_only && !HasNoOtherUser(edge.value)) return false;
    }
    for (const std::vector<Pattern>& patterns : context_.same_shape_) {
      for (const Pattern& pattern : patterns) {
        if (!HaveOneShape(matcher_.match().at(patterns[0]),
                          matcher_.match().at(pattern))) {
          return false;
        }
      }
    }
    return true;
  }

  bool HasNoOtherUser(const Pattern& value) const {
    const graph::Expr var = matcher_.match().at(value);
    Uses::Users others = uses_.Of(var.As<graph::VarNode>());
    for (const Edge& edge : context_.edges_) {
      if (edge.value.get() != value.get()) continue;
      // By the name that the call is bound to.
      const graph::Expr user = matcher_.match().at(edge.user);
      for (auto other = others.begin(); other != others.end();) {
        const bool is_user =
            *other && matcher_.IsSame(graph::Var(*other), user);
        other = is_user ? others.erase(other) : std::next(other);
      }
    }
    return others.empty();
  }

  const PatternContext& context_;
  const Uses& uses_;
  const FunctionRef<bool(const Match&)> accepts_;
  const std::vector<graph::Expr> vars_;
  const BoundValues bound_;
  Matcher matcher_;
  std::set<const graph::VarNode*> taken_;
};

absl::StatusOr<bool> PatternContext::Find(
    const std::vector<graph::Binding>& bindings, const Uses& uses,
    FunctionRef<bool(const Match&)> accepts) const {
  return Search(*this, bindings, uses, accepts).Run();
}

}  // namespace kiln
