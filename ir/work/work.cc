// One walk over the statements, with the loops and conditions above each:
//
//   for h, w: P[h, w] = if_then_else(1 <= h, A[h - 1, w], 0)
//   for h, w, r: C[h, w] = C[h, w] + P[h + r, w] * W[r]
//
// Behind the walk, P is known to hold a number, not an inserted zero, where
// 1 <= h. The product and the sum below are therefore needed where 1 <= h + r.
#include "kiln/ir/work/work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/work/accesses.h"
#include "kiln/ir/work/points.h"

namespace kiln {
namespace {

using work_internal::Access;
using work_internal::Domain;
using work_internal::Iter;

// Where a value is no inserted zero: a condition on iterators; null: anywhere.
using NonZero = Expr;

NonZero Both(const NonZero& a, const NonZero& b) {
  if (a && IsZero(a)) return a;
  if (b && IsZero(b)) return b;
  return Conjunction(a, b);
}

NonZero Either(const NonZero& a, const NonZero& b) {
  if (!a || !b) return nullptr;
  if (IsZero(a) || a == b) return b;
  return IsZero(b) ? a : Or(a, b);
}

// What stores say about the elements of a tensor.
struct Contents {
  std::vector<Expr> indices;
  NonZero non_zero;
  bool is_clear = true;  // false: zeros of several stores, which are not told
};

class Counter {
 public:
  explicit Counter(const Function& f) {
    for (const Param& param : f.params) {
      if (param.buffer) accesses_[param.buffer.get()];
    }
    Visit(f.body, [&](const Stmt& s) {
      if (const auto* store = s.As<StoreNode>()) ++stores_[store->buffer.get()];
      return true;
    });
  }

  absl::StatusOr<Work> Run(const Function& f) {
    KILN_RETURN_IF_ERROR(OfStmt(f.body));
    for (const Param& param : f.params) {
      if (param.buffer) AddBytes(param.buffer);
    }
    return work_;
  }

 private:
  absl::Status OfStmt(const Stmt& s) {
    switch (s.kind()) {
      case StmtKind::kFor:
        return OfLoop(*s.As<ForNode>());
      case StmtKind::kBlockRealize:
        return OfBlock(*s.As<BlockRealizeNode>());
      case StmtKind::kIf:
        return OfIf(*s.As<IfNode>());
      case StmtKind::kStore: {
        const auto* store = s.As<StoreNode>();
        OfStore(store->buffer, store->indices, store->value);
        return absl::OkStatus();
      }
      case StmtKind::kLet:
        return OfLet(*s.As<LetStmtNode>());
      case StmtKind::kEvaluate:
        OfValue(Bound(s.As<EvaluateNode>()->value));
        return absl::OkStatus();
      case StmtKind::kAllocate:
        if (s.As<AllocateNode>()->is_view) knows_bytes_ = false;
        return OfChildren(s);
      case StmtKind::kSeq:
        return OfChildren(s);
    }
    return absl::OkStatus();
  }

  absl::Status OfChildren(const Stmt& s) {
    absl::Status status;
    ForEachChild(s, [&](const Stmt& child) {
      if (status.ok()) status = OfStmt(child);
    });
    return status;
  }

  absl::Status OfLoop(const ForNode& loop) {
    const Expr min = Bound(loop.min), extent = Bound(loop.extent);
    const ConstBound from = analyzer_.Bound(min);
    const ConstBound last = analyzer_.Bound(Add(min, extent));
    if (from.min == ConstBound::kNegInf || last.max == ConstBound::kPosInf) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the extent of loop ", loop.var.name(),
          " has no constant bound, so its work cannot be counted; give the "
          "function constant shapes"));
    }
    const int64_t count = std::max<int64_t>(last.max - from.min, 0);
    domain_.iters.push_back({loop.var, from.min, count});
    analyzer_.Bind(loop.var, Range{Int(from.min), Int(count)});
    const size_t depth = domain_.conditions.size();
    if (!AsInt(min)) Assume(Binary(ExprKind::kLE, min, loop.var));
    if (!AsInt(min) || !AsInt(extent)) Assume(LT(loop.var, Add(min, extent)));
    const absl::Status status = OfStmt(loop.body);
    domain_.conditions.resize(depth);
    domain_.iters.pop_back();
    return status;
  }

  absl::Status OfBlock(const BlockRealizeNode& realize) {
    const BlockNode& block = *realize.block;
    const size_t depth = domain_.conditions.size();
    Assume(Bound(realize.predicate));
    for (size_t i = 0; i < block.iters.size(); ++i) {
      bound_[block.iters[i].var.get()] = Bound(realize.values[i]);
    }
    if (!block.match_buffers.empty()) knows_bytes_ = false;
    absl::Status status;
    if (block.init) {
      const size_t before = domain_.conditions.size();
      for (const IterVar& iter : block.iters) {
        if (iter.type != IterType::kReduce) continue;
        Assume(EQ(Bound(iter.var), Bound(iter.domain.min)));
      }
      status = OfStmt(block.init);
      domain_.conditions.resize(before);
    }
    if (status.ok()) status = OfStmt(block.body);
    domain_.conditions.resize(depth);
    return status;
  }

  absl::Status OfIf(const IfNode& node) {
    const Expr condition = Bound(node.condition);
    OfCondition(condition);
    const auto* yes = node.then_case.As<StoreNode>();
    const auto* no = node.else_case ? node.else_case.As<StoreNode>() : nullptr;
    if (yes && no && yes->buffer == no->buffer &&
        stores_[yes->buffer.get()] == 2) {
      stores_[yes->buffer.get()] = 1;
      OfStore(yes->buffer, yes->indices,
              Call(yes->value.dtype(), Intrinsic::kIfThenElse,
                   {node.condition, yes->value, no->value}));
      return absl::OkStatus();
    }
    KILN_RETURN_IF_ERROR(Under(condition, node.then_case));
    if (!node.else_case) return absl::OkStatus();
    return Under(Not(condition), node.else_case);
  }

  absl::Status Under(const Expr& condition, const Stmt& s) {
    const size_t depth = domain_.conditions.size();
    Assume(condition);
    const absl::Status status = OfStmt(s);
    domain_.conditions.resize(depth);
    return status;
  }

  absl::Status OfLet(const LetStmtNode& let) {
    const Expr value = Bound(let.value);
    OfValue(value);
    if (IsIndex(let.var, let.value)) bound_[let.var.get()] = value;
    return OfStmt(let.body);
  }

  // Whether the variable is replaced by its value where conditions and indices
  // use it. Values made of variables made of variables may be exponentially
  // long.
  bool IsIndex(const Var& var, const Expr& value) {
    constexpr int64_t kMostNodes = 4096;
    if (!value.dtype().is_integral() || value->has_loads) return false;
    int64_t nodes = 0;
    kiln::Visit(value, [&](const Expr& e) {
      const auto* part = e.As<VarNode>();
      const auto known = part ? nodes_.find(part) : nodes_.end();
      nodes += known == nodes_.end() ? 1 : known->second;
      return true;
    });
    if (nodes > kMostNodes) return false;
    nodes_[var.get()] = nodes;
    return true;
  }

  void OfStore(const Buffer& buffer, const std::vector<Expr>& where,
               const Expr& what) {
    const Expr value = Bound(what);
    std::vector<Expr> indices;
    for (const Expr& index : where) {
      indices.push_back(Bound(index));
      OfCondition(indices.back());
    }
    const NonZero non_zero = OfValue(value);
    ++statement_;
    AddAccess(buffer, indices, true);
    if (!non_zero) return;
    Contents& contents = contents_[buffer.get()];
    contents = {indices, non_zero, stores_[buffer.get()] == 1};
  }

  // Counts the reads of an index or a condition, whose arithmetic is none of
  // the work.
  void OfCondition(const Expr& e) {
    if (!e->has_loads) return;
    kiln::Visit(e, [&](const Expr& part) {
      if (const auto* load = part.As<LoadNode>()) {
        AddAccess(load->buffer, load->indices, false);
      }
      return true;
    });
  }

  // Counts the operations and reads of `e`; returns where its value is no
  // inserted zero.
  NonZero OfValue(const Expr& e) {
    if (e.dtype().is_bool()) {
      OfCondition(e);
      return nullptr;
    }
    if (const auto* load = e.As<LoadNode>()) return OfLoad(*load);
    if (const auto* binary = e.As<BinaryNode>()) return OfBinary(*binary);
    if (const auto* call = e.As<CallNode>()) return OfCall(*call);
    if (const auto* cast = e.As<CastNode>()) return OfValue(cast->value);
    if (const auto* wide = e.As<BroadcastNode>()) return OfValue(wide->value);
    if (const auto* select = e.As<SelectNode>()) {
      return OfChoice(select->condition, select->true_value,
                      select->false_value);
    }
    if (const auto* let = e.As<LetNode>()) {
      OfValue(let->value);
      if (!IsIndex(let->var, let->value)) return OfValue(let->body);
      return OfValue(kiln::Substitute(let->body, let->var, let->value));
    }
    return nullptr;
  }

  NonZero OfLoad(const LoadNode& load) {
    for (const Expr& index : load.indices) OfCondition(index);
    AddAccess(load.buffer, load.indices, false);
    const auto found = contents_.find(load.buffer.get());
    if (found == contents_.end()) return nullptr;
    const Contents& contents = found->second;
    VarMap at;
    for (size_t d = 0; d < load.indices.size(); ++d) {
      const auto* var = contents.indices[d].As<VarNode>();
      if (var) at[var] = load.indices[d];
    }
    bool is_clear = contents.is_clear;
    for (const Var& var : FreeVars(contents.non_zero)) {
      is_clear = is_clear && at.count(var.get());
    }
    if (is_clear) return kiln::Substitute(contents.non_zero, at);
    work_.needed_flop.exact = false;
    return nullptr;
  }

  NonZero OfBinary(const BinaryNode& e) {
    const NonZero a = OfValue(e.a), b = OfValue(e.b);
    // Indices may be data: casts of iterators, for one.
    const bool is_index = e.dtype.is_integral() && !e.has_loads;
    const double lanes = is_index ? 0 : e.dtype.lanes();
    if (e.kind == ExprKind::kMul) {
      AddFlop(lanes, Both(a, b));
      return Both(a, b);
    }
    if (e.kind == ExprKind::kAdd) {
      AddFlop(lanes, Both(a, b));
    } else if (e.kind == ExprKind::kSub) {
      AddFlop(lanes, b);
    } else if (e.kind == ExprKind::kMin || e.kind == ExprKind::kMax) {
      AddFlop(lanes, Either(a, b));
    } else {
      AddFlop(lanes, a);
      return a;
    }
    return Either(a, b);
  }

  NonZero OfCall(const CallNode& call) {
    if (call.op == Intrinsic::kIfThenElse) {
      return OfChoice(call.args[0], call.args[1], call.args[2]);
    }
    std::vector<NonZero> args;
    for (const Expr& arg : call.args) args.push_back(OfValue(arg));
    const double lanes = call.dtype.lanes();
    if (call.op == Intrinsic::kFma) {
      const NonZero product = Both(args[0], args[1]);
      AddFlop(lanes, product);
      AddFlop(lanes, Both(product, args[2]));
      return Either(product, args[2]);
    }
    if (call.op == Intrinsic::kLikely || call.op == Intrinsic::kReinterpret) {
      return args[0];
    }
    if (GetIntrinsicInfo(call.op).purity == Purity::kOpaque) {
      work_.flop.exact = work_.needed_flop.exact = knows_bytes_ = false;
      return nullptr;
    }
    const bool is_index = call.dtype.is_integral() && !call.has_loads;
    if (!args.empty() && !is_index) AddFlop(lanes, nullptr);
    return nullptr;
  }

  NonZero OfChoice(const Expr& condition, const Expr& yes, const Expr& no) {
    OfCondition(condition);
    const NonZero first = OfBranch(condition, yes);
    const NonZero second = OfBranch(Not(condition), no);
    if (!first && !second) return nullptr;
    if (condition->has_loads) {
      const auto is_zero = [](const NonZero& e) { return e && IsZero(e); };
      const bool is_plain =
          (!first || is_zero(first)) && (!second || is_zero(second));
      if (!is_plain) work_.needed_flop.exact = false;
      return nullptr;
    }
    return Either(Both(condition, first), Both(Not(condition), second));
  }

  NonZero OfBranch(const Expr& condition, const Expr& value) {
    const auto* real = value.As<FloatImmNode>();
    if ((real && real->value == 0) || IsZero(value)) return Bool(false);
    const size_t depth = domain_.conditions.size();
    Assume(condition);
    const NonZero non_zero = OfValue(value);
    domain_.conditions.resize(depth);
    return non_zero;
  }

  void AddFlop(double lanes, const NonZero& needed) {
    if (lanes == 0) return;
    AddPoints(lanes, nullptr, &work_.flop);
    AddPoints(lanes, needed, &work_.needed_flop);
  }

  void AddPoints(double factor, const NonZero& needed, Count* count) {
    std::vector<Expr> key = domain_.conditions;
    if (needed) key.push_back(needed);
    for (const Iter& iter : domain_.iters) key.push_back(iter.var);
    const auto [entry, is_new] = known_.try_emplace(Keyed(key));
    if (is_new) {
      Domain domain = domain_;
      if (needed) domain.conditions.push_back(needed);
      const std::optional<double> points = work_internal::CountPoints(domain);
      entry->second = {points.value_or(work_internal::CountAll(domain)),
                       points.has_value()};
      kept_.push_back(std::move(key));
    }
    count->value += factor * entry->second.value;
    count->exact = count->exact && entry->second.exact;
  }

  static std::vector<const ExprNode*> Keyed(const std::vector<Expr>& list) {
    std::vector<const ExprNode*> key;
    for (const Expr& e : list) key.push_back(e.get());
    return key;
  }

  void AddAccess(const Buffer& buffer, const std::vector<Expr>& indices,
                 bool writes) {
    const auto found = accesses_.find(buffer.get());
    if (found == accesses_.end()) return;
    found->second.push_back(
        {buffer, domain_, indices, writes, statement_ - (writes ? 1 : 0)});
  }

  void AddBytes(const Buffer& buffer) {
    const std::vector<Access>& accesses = accesses_[buffer.get()];
    const auto add = [&](const Count& elements, Count* bytes) {
      bytes->value += elements.value * buffer->dtype.bytes();
      bytes->exact = bytes->exact && elements.exact && knows_bytes_;
    };
    add(work_internal::ElementsRead(buffer, accesses), &work_.bytes_read);
    add(work_internal::ElementsWritten(buffer, accesses), &work_.bytes_written);
  }

  void Assume(const Expr& condition) {
    if (!IsOne(condition)) domain_.conditions.push_back(condition);
  }
  // Over loop variables.
  Expr Bound(const Expr& e) const { return kiln::Substitute(e, bound_); }

  Work work_;
  bool knows_bytes_ = true;
  int statement_ = 0;
  Domain domain_;
  Analyzer analyzer_;
  VarMap bound_;
  std::unordered_map<const VarNode*, int64_t> nodes_;  // of what is bound
  std::map<const BufferNode*, int> stores_;
  std::map<const BufferNode*, Contents> contents_;
  std::map<const BufferNode*, std::vector<Access>> accesses_;
  // Points that were counted before, by what was asked, which is kept alive.
  std::map<std::vector<const ExprNode*>, Count> known_;
  std::vector<std::vector<Expr>> kept_;
};

}  // namespace

absl::StatusOr<Work> CountWork(const Function& f) { return Counter(f).Run(f); }

}  // namespace kiln
