// A body is one store, or variables that hold all new values and then a store
// for each of them:
//
//   v_idx = T.Select(val[i] >= x[i, k], idx[i], k)
//   v_val = T.Select(val[i] >= x[i, k], val[i], x[i, k])
//   idx[i] = v_idx
//   val[i] = v_val
//
// or stores under one condition, where all others keep what they held:
//
//   if x[i, k] > val[i]:
//     idx[i] = k
//     val[i] = x[i, k]
#include "kiln/schedule/analysis/reducer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/separation.h"

namespace kiln {
namespace {

struct Update {
  Buffer buffer;
  std::vector<Expr> indices;
  Expr value;
};

absl::Status No(const BlockNode& block, std::string_view reason) {
  return absl::FailedPreconditionError(
      absl::StrCat(Describe(block), " ", std::string(reason)));
}

std::vector<Stmt> StmtsOf(const Stmt& body) {
  const auto* seq = body.As<SeqNode>();
  return seq ? seq->stmts : std::vector<Stmt>{body};
}

// The stores of `stmts`; nullopt when there is anything else.
std::optional<std::vector<Update>> Stores(const Stmt& body) {
  std::vector<Update> updates;
  for (const Stmt& s : StmtsOf(body)) {
    const auto* store = s.As<StoreNode>();
    if (!store) return std::nullopt;
    updates.push_back({store->buffer, store->indices, store->value});
  }
  return updates;
}

// The stores under a condition as choices between new values and the old ones;
// nullopt where a value is of what an earlier store wrote.
std::optional<std::vector<Update>> Conditional(const IfNode& choice) {
  auto updates = Stores(choice.then_case);
  if (!updates || choice.else_case) return std::nullopt;
  for (Update& update : *updates) {
    for (const Update& other : *updates) {
      if (LoadsFrom(update.value, other.buffer)) return std::nullopt;
    }
    update.value = Select(choice.condition, update.value,
                          Load(update.buffer, update.indices));
  }
  return updates;
}

// The stores of a body with the values of its variables.
absl::StatusOr<std::vector<Update>> Updates(const BlockNode& block) {
  if (const auto* choice = block.body.As<IfNode>()) {
    if (auto updates = Conditional(*choice)) return *updates;
  }
  std::vector<std::pair<Var, Expr>> lets;
  Stmt body = block.body;
  while (const auto* let = body.As<LetStmtNode>()) {
    lets.emplace_back(let->var, let->value);
    const Stmt below = let->body;
    body = below;
  }
  auto updates = Stores(body);
  if (!updates) return No(block, "does more than to store new values");
  if (lets.empty() && updates->size() == 1) return *updates;
  if (lets.size() != updates->size()) {
    return No(block, "does not store one variable for each value");
  }
  std::vector<bool> used(lets.size(), false);
  for (Update& update : *updates) {
    size_t i = 0;
    while (i < lets.size() && (used[i] || lets[i].first != update.value)) ++i;
    if (i == lets.size()) {
      return No(block, "does not store one variable for each value");
    }
    used[i] = true;
    update.value = lets[i].second;
  }
  return *updates;
}

bool SameIndices(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameExpr);
}

absl::Status CheckPlaces(const BlockNode& block,
                         const std::vector<Update>& updates) {
  for (size_t i = 0; i < updates.size(); ++i) {
    if (!SameIndices(updates[i].indices, updates[0].indices)) {
      return No(block, "writes its tensors at different indices");
    }
    for (size_t j = 0; j < i; ++j) {
      if (updates[i].buffer == updates[j].buffer) {
        return No(block,
                  absl::StrCat("writes `", updates[i].buffer->name, "` twice"));
      }
    }
  }
  return absl::OkStatus();
}

// The initial value of each tensor, in the order of `updates`.
absl::StatusOr<std::vector<Expr>> Initial(const BlockNode& block,
                                          const std::vector<Update>& updates) {
  if (!block.init) return No(block, "has no init");
  auto inits = Stores(block.init);
  if (!inits || inits->size() != updates.size()) {
    return No(block, "does not initialize each of its tensors by one store");
  }
  std::vector<Expr> initial;
  for (const Update& update : updates) {
    const auto init = std::find_if(
        inits->begin(), inits->end(),
        [&](const Update& other) { return other.buffer == update.buffer; });
    if (init == inits->end() || !SameIndices(init->indices, update.indices)) {
      return No(block,
                absl::StrCat("does not initialize `", update.buffer->name,
                             "` where it writes it"));
    }
    initial.push_back(init->value);
  }
  return initial;
}

// Numbers, the least and greatest of a type, and what conversions make of them.
bool IsNumber(const Expr& e) {
  if (const auto* cast = e.As<CastNode>()) return IsNumber(cast->value);
  if (const auto* call = e.As<CallNode>()) {
    return call->op == Intrinsic::kMinValue ||
           call->op == Intrinsic::kMaxValue || call->op == Intrinsic::kInfinity;
  }
  return e.As<IntImmNode>() || e.As<FloatImmNode>();
}

bool IsNumber(const Expr& e, int value) {
  if (const auto* cast = e.As<CastNode>()) return IsNumber(cast->value, value);
  const auto* real = e.As<FloatImmNode>();
  return real ? real->value == value : IsConst(e, value);
}

// `b op a` as `a op b`.
std::optional<ExprKind> Mirrored(ExprKind kind) {
  if (kind == ExprKind::kLT) return ExprKind::kGT;
  if (kind == ExprKind::kLE) return ExprKind::kGE;
  if (kind == ExprKind::kGT) return ExprKind::kLT;
  if (kind == ExprKind::kGE) return ExprKind::kLE;
  return std::nullopt;
}

std::optional<ExprKind> Opposite(ExprKind kind) {
  if (kind == ExprKind::kLT) return ExprKind::kGE;
  if (kind == ExprKind::kLE) return ExprKind::kGT;
  if (kind == ExprKind::kGT) return ExprKind::kLE;
  if (kind == ExprKind::kGE) return ExprKind::kLT;
  return std::nullopt;
}

// The matching of one block: fills `result` step by step.
class Matcher {
 public:
  Matcher(const BlockNode& block, std::vector<Update> updates,
          std::vector<Expr> initial)
      : block_(block) {
    result_.indices = updates[0].indices;
    result_.initial = std::move(initial);
    for (size_t i = 0; i < updates.size(); ++i) {
      const DType dtype = updates[i].buffer->dtype;
      result_.buffers.push_back(updates[i].buffer);
      result_.left.emplace_back(absl::StrCat("l", i), dtype);
      result_.right.emplace_back(absl::StrCat("r", i), dtype);
    }
    for (const Update& update : updates)
      result_.updates.push_back(Left(update.value));
  }

  absl::StatusOr<Reducer> Run() {
    KILN_RETURN_IF_ERROR(CheckInitial());
    const bool found = IsSimple() || IsArg(0) || IsArg(1);
    if (!found) {
      return No(block_,
                "does not combine values by +, *, min, max, argmin or argmax, "
                "beginning with a value that changes nothing");
    }
    for (const Expr& operand : result_.operands) {
      if (ReadsResult(operand)) {
        return No(block_, "reads what it has combined so far in another place");
      }
    }
    return std::move(result_);
  }

 private:
  // `e` with what was combined so far as variables.
  Expr Left(const Expr& e) const {
    return Rewrite(e, [&](const Expr& x) -> Expr {
      const auto* load = x.As<LoadNode>();
      for (size_t i = 0; load && i < result_.buffers.size(); ++i) {
        if (load->buffer == result_.buffers[i] &&
            SameIndices(load->indices, result_.indices)) {
          return result_.left[i];
        }
      }
      return nullptr;
    });
  }

  absl::Status CheckInitial() const {
    for (const Expr& value : result_.initial) {
      if (!IsNumber(value)) return No(block_, "begins with what is no number");
    }
    return absl::OkStatus();
  }

  bool ReadsResult(const Expr& e) const {
    for (size_t i = 0; i < result_.buffers.size(); ++i) {
      if (LoadsFrom(e, result_.buffers[i]) || UsesVar(e, result_.left[i])) {
        return true;
      }
    }
    return false;
  }

  // The kind of value i, when it is left_i and another operand.
  const BinaryNode* Simple(size_t i, Expr* operand) const {
    const auto* node = result_.updates[i].As<BinaryNode>();
    if (!node) return nullptr;
    const bool first = node->a == result_.left[i];
    if (!first && node->b != result_.left[i]) return nullptr;
    *operand = first ? node->b : node->a;
    const Expr& initial = result_.initial[i];
    const bool known = (node->kind == ExprKind::kAdd && IsNumber(initial, 0)) ||
                       (node->kind == ExprKind::kMul && IsNumber(initial, 1)) ||
                       node->kind == ExprKind::kMin ||
                       node->kind == ExprKind::kMax;
    return known ? node : nullptr;
  }

  bool IsSimple() {
    std::vector<Expr> operands(result_.updates.size()), combined;
    for (size_t i = 0; i < result_.updates.size(); ++i) {
      const BinaryNode* node = Simple(i, &operands[i]);
      if (!node) return false;
      combined.push_back(Binary(node->kind, result_.left[i], result_.right[i]));
    }
    result_.operands = std::move(operands);
    result_.combined = std::move(combined);
    return true;
  }

  // The operand as a wide integer, where a cast made it narrow and changes
  // nothing: such an index is compared as the wide one that it was.
  Expr Wide(const Expr& operand) const {
    const auto* cast = operand.As<CastNode>();
    if (!cast || !cast->dtype.is_int() || !cast->value.dtype().is_int() ||
        cast->dtype.bits() != 32) {
      return nullptr;
    }
    Analyzer analyzer;
    for (const IterVar& iter : block_.iters) {
      analyzer.Bind(iter.var, iter.domain);
    }
    const ConstBound bound = analyzer.Bound(cast->value);
    const bool fits = bound.min >= std::numeric_limits<int32_t>::min() &&
                      bound.max <= std::numeric_limits<int32_t>::max();
    return fits ? cast->value : nullptr;
  }

  // left < right for indices.
  Expr IndexLess(const Expr& left, const Expr& right, const Expr& wide) const {
    if (!wide) return Binary(ExprKind::kLT, left, right);
    return Binary(ExprKind::kLT, Cast(wide.dtype(), left), wide);
  }

  // Whether update `index` is the index and the other the value of an argmax
  // or argmin.
  bool IsArg(size_t index) {
    if (result_.updates.size() != 2) return false;
    return IsArg(index, ExprKind::kGE, ExprKind::kGT) ||
           IsArg(index, ExprKind::kLE, ExprKind::kLT);
  }

  // (index, value) of which the larger value wins for kGE and kGT, and the left
  // pair where `chooses` says so.
  std::vector<Expr> Pair(size_t index, const Expr& chooses,
                         const Expr& better) const {
    const size_t value = 1 - index;
    std::vector<Expr> pair(2);
    pair[index] = Select(chooses, result_.left[index], result_.right[index]);
    pair[value] = Select(better, result_.left[value], result_.right[value]);
    return pair;
  }

  // Of equal values either the one combined first wins, or the one of lower
  // index, compared as it is or as the wide integer that it was.
  bool IsArg(size_t index, ExprKind keeps, ExprKind wins) {
    std::vector<Expr> operands, updates;
    for (const Expr& update : result_.updates) {
      updates.push_back(OldFirst(update));
      const auto* select = updates.back().As<SelectNode>();
      if (!select) return false;
      operands.push_back(select->false_value);
    }
    const Var &l = result_.left[1 - index], &r = result_.right[1 - index];
    const Expr first = Binary(keeps, l, r), better = Binary(wins, l, r);
    const auto by_index = [&](const Expr& wide) {
      return Or(better, And(EQ(l, r), IndexLess(result_.left[index],
                                                result_.right[index], wide)));
    };
    const auto is = [&](const Expr& chooses) {
      return Equal(Pair(index, chooses, better), operands, updates) ||
             Equal(Pair(index, chooses, first), operands, updates);
    };
    const Expr wide = Wide(operands[index]);
    result_.keeps_first = is(first);
    if (!result_.keeps_first && !is(by_index(nullptr)) &&
        !(wide && is(by_index(wide)))) {
      return false;
    }
    result_.index = index;
    result_.operands = std::move(operands);
    result_.lower_index_wins = Pair(index, by_index(nullptr), better);
    result_.combined = result_.keeps_first ? Pair(index, first, first)
                                           : result_.lower_index_wins;
    return true;
  }

  bool IsLeft(const Expr& e) const {
    return std::any_of(result_.left.begin(), result_.left.end(),
                       [&](const Var& left) { return e == left; });
  }

  // A choice between the value combined so far and another one, as
  // `l >= r ? l : r`, where it is spelled `r > l ? r : l` or max(r, l).
  Expr OldFirst(const Expr& e) const {
    if (e.kind() == ExprKind::kMax || e.kind() == ExprKind::kMin) {
      const auto* node = e.As<BinaryNode>();
      const bool is_left = IsLeft(node->a);
      const Expr &l = is_left ? node->a : node->b,
                 &r = is_left ? node->b : node->a;
      const bool is_max = e.kind() == ExprKind::kMax;
      return Select(Binary(is_max ? ExprKind::kGE : ExprKind::kLE, l, r), l, r);
    }
    const auto* select = e.As<SelectNode>();
    const auto* compare = select ? select->condition.As<BinaryNode>() : nullptr;
    if (!compare) return e;
    ExprKind kind = compare->kind;
    Expr a = compare->a, b = compare->b;
    if (!IsLeft(a) && IsLeft(b) && Mirrored(kind)) {
      std::swap(a, b);
      kind = *Mirrored(kind);
    }
    const bool is_new_first =
        IsLeft(select->false_value) && !IsLeft(select->true_value);
    if (!is_new_first) {
      return Select(Binary(kind, a, b), select->true_value,
                    select->false_value);
    }
    if (!Opposite(kind)) return e;
    return Select(Binary(*Opposite(kind), a, b), select->false_value,
                  select->true_value);
  }

  bool Equal(const std::vector<Expr>& combined,
             const std::vector<Expr>& operands,
             const std::vector<Expr>& updates) const {
    VarMap map;
    for (size_t i = 0; i < operands.size(); ++i) {
      map[result_.right[i].get()] = operands[i];
    }
    for (size_t i = 0; i < combined.size(); ++i) {
      if (!SameExpr(Substitute(combined[i], map), updates[i])) return false;
    }
    return true;
  }

  const BlockNode& block_;
  Reducer result_;
};

}  // namespace

std::vector<Expr> Reducer::Combine(const std::vector<Expr>& values,
                                   const std::vector<Expr>& with) const {
  VarMap map;
  for (size_t i = 0; i < left.size(); ++i) {
    map[left[i].get()] = values[i];
    map[right[i].get()] = with[i];
  }
  std::vector<Expr> result;
  for (const Expr& e : combined) result.push_back(Substitute(e, map));
  return result;
}

absl::StatusOr<Reducer> MatchReducer(const BlockNode& block) {
  if (!block.alloc_buffers.empty() || !block.match_buffers.empty()) {
    return No(block, "has tensors or views of its own");
  }
  KILN_ASSIGN_OR_RETURN(std::vector<Update> updates, Updates(block));
  KILN_RETURN_IF_ERROR(CheckPlaces(block, updates));
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> initial, Initial(block, updates));
  return Matcher(block, std::move(updates), std::move(initial)).Run();
}

bool CombinesAtWill(const BlockNode& block) {
  if (CombinesInAnyOrder(block)) return true;
  if (!block.init) return false;
  const absl::StatusOr<Reducer> reducer = MatchReducer(block);
  return reducer.ok() && !reducer->keeps_first;
}

}  // namespace kiln
