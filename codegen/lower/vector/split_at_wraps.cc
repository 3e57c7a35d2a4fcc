// The lanes of (x*16 + v + 7) // 100, v in 0 .. 15, have one quotient for most
// x, and two for some. Where they have one, it is a constant in a loop over
// such x, a remainder is a difference, and a load of consecutive remainders is
// a load of consecutive elements:
//
//   x = 0 .. 4    7 .. 102 // 100 = 0        B[x*16:+16] = A[x*16 + 7:+16]
//   x = 5         87 .. 102                  two lots of lanes, as constants
//   x = 6 .. 11   103 .. 198 // 100 = 1      B[x*16:+16] = A[x*16 - 93:+16]
//
// After 25 iterations each of the lanes has the remainder that it had, so that
// a long loop is one over such turns, in which each quotient is 4 greater. What
// is divided must not move with other loops, but by multiples of the divisor,
// which the normal form of indices has taken out.
#include "kiln/codegen/lower/vector/split_at_wraps.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/codegen/lower/vector/lane_divisions.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::LaneDivisor;
using lower::LanePeriod;
using lower::TurnOf;
using lower::ValueAt;

// Of the iterations of a turn, where quotients of quotients are looked for, and
// in any case.
constexpr int64_t kMaxIterations = 4096;
constexpr int64_t kMaxLinearIterations = 1 << 20;
// Stores of all the pieces of a loop. Vectors of 16 lanes meet any divisor at
// 33 places at most.
constexpr int64_t kMaxPieceStores = 128;

// A vector of quotients or remainders in a loop.
struct Division {
  const ExprNode* node;
  int64_t divisor;
  int64_t growth;  // of the quotient, from one turn to the next
  // Of all lanes, for each iteration of a turn; nullopt where they differ.
  std::vector<std::optional<int64_t>> quotients;
};

// Iterations first, first + 1, ... of a turn.
struct Piece {
  int64_t first, count;
};

// Of a parallel loop: turns that are enough for all threads, and loops that it
// may become, each of which is started by itself.
constexpr int64_t kLeastParallelTurns = 64;
constexpr int64_t kMaxParallelLoops = 5;

// In the first iteration, so that no sum of what follows overflows.
constexpr int64_t kMaxValue = int64_t{1} << 60;

// The quotient that all lanes of a division have in one iteration, of those
// from `var` = `min` on.
class CommonQuotient {
 public:
  CommonQuotient(const Expr& division, const VarNode* var, int64_t min)
      : numerator_(division.As<BinaryNode>()->a),
        divisor_(LaneDivisor(division)),
        lanes_(division.dtype().lanes()),
        var_(var),
        min_(min) {
    const auto turn = TurnOf(numerator_, var);
    is_linear_ = turn && turn->period == 1;
    step_ = is_linear_ ? turn->increment : 0;
    for (int lane = 0; lane < lanes_; ++lane) {
      const auto x = ValueAt(numerator_, lane, var, min);
      if (x) first_.push_back(*x);
    }
    is_linear_ &= static_cast<int>(first_.size()) == lanes_ &&
                  absl::c_is_sorted(first_) && first_.front() >= -kMaxValue &&
                  first_.back() <= kMaxValue;
  }
  std::optional<int64_t> At(int64_t iteration) const {
    if (!is_linear_) return AtAny(iteration);
    const int64_t passed = step_ * iteration;
    const int64_t first = FloorQuotient(first_.front() + passed, divisor_);
    const int64_t last = FloorQuotient(first_.back() + passed, divisor_);
    return first == last ? std::optional<int64_t>(first) : std::nullopt;
  }
  bool is_linear() const { return is_linear_; }

 private:
  std::optional<int64_t> AtAny(int64_t iteration) const {
    std::optional<int64_t> all;
    for (int lane = 0; lane < lanes_; ++lane) {
      const auto x = ValueAt(numerator_, lane, var_, min_ + iteration);
      if (!x) return std::nullopt;
      const int64_t quotient = FloorQuotient(*x, divisor_);
      if (all && *all != quotient) return std::nullopt;
      all = quotient;
    }
    return all;
  }

  const Expr numerator_;
  const int64_t divisor_;
  const int lanes_;
  const VarNode* var_;
  const int64_t min_;
  std::vector<int64_t> first_;  // the lanes in the first iteration
  bool is_linear_ = false;
  int64_t step_ = 0;  // of each lane, from one iteration to the next
};

// The stores of a body of nothing but stores; else 0.
int64_t StoresOf(const Stmt& s) {
  if (s.kind() == StmtKind::kStore) return 1;
  const auto* seq = s.As<SeqNode>();
  int64_t stores = 0;
  if (!seq) return 0;
  for (const Stmt& child : seq->stmts) {
    if (child.kind() != StmtKind::kStore) return 0;
    ++stores;
  }
  return stores;
}

// One loop over vectors.
class Wraps {
 public:
  Wraps(const ForNode& loop, Function* f)
      : loop_(loop), f_(f), piece_kind_(loop.for_kind) {}
  // The loop in pieces; null where that would gain nothing.
  Stmt Split();

 private:
  void FindDivisions();
  void AddDivision(const Expr& e);
  bool IsSame(int64_t a, int64_t b) const;
  std::vector<Piece> Pieces(int64_t count) const;
  Expr WithQuotients(const Expr& e, int64_t iteration, const Expr& turn) const;
  Stmt Emit(const Piece& piece, const Expr& turn);
  Stmt EmitTurn(int64_t count, const Expr& turn);
  int64_t Iterations(int64_t period, int64_t extent) const;
  bool IsWorthIt(int64_t extent, int64_t stores) const;
  Stmt SplitTurns(int64_t extent);

  const ForNode& loop_;
  Function* f_;
  int64_t min_ = 0, turn_ = 0;  // the first value, iterations of a turn
  std::vector<Division> divisions_;
  ForKind piece_kind_;
};

void Wraps::AddDivision(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  const Expr quotient = FloorDiv(node->a, node->b);
  const auto turn = TurnOf(quotient, loop_.var.get());
  if (!turn || turn->increment == 0) return;
  Division division = {e.get(), LaneDivisor(e), 0, {}};
  if (turn_ % turn->period == 0) {
    division.growth = turn->increment * (turn_ / turn->period);
  }
  const CommonQuotient quotients(e, loop_.var.get(), min_);
  if (turn_ > kMaxIterations && !quotients.is_linear()) return;
  bool is_any = false;
  for (int64_t i = 0; i < turn_; ++i) {
    division.quotients.push_back(quotients.At(i));
    is_any |= division.quotients.back().has_value();
  }
  if (is_any) divisions_.push_back(std::move(division));
}

void Wraps::FindDivisions() {
  std::unordered_set<const ExprNode*> seen;
  VisitExprs(loop_.body, [&](const Expr& e) {
    if (LaneDivisor(e) != 0 && seen.insert(e.get()).second) {
      AddDivision(e);
    }
    return true;
  });
}

bool Wraps::IsSame(int64_t a, int64_t b) const {
  for (const Division& division : divisions_) {
    if (!division.quotients[a] ||
        division.quotients[a] != division.quotients[b]) {
      return false;
    }
  }
  return true;
}

std::vector<Piece> Wraps::Pieces(int64_t count) const {
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0 && IsSame(pieces.back().first, i)) {
      ++pieces.back().count;
    } else {
      pieces.push_back({i, 1});
    }
  }
  return pieces;
}

Expr Wraps::WithQuotients(const Expr& e, int64_t iteration,
                          const Expr& turn) const {
  for (const Division& division : divisions_) {
    if (division.node != e.get() || !division.quotients[iteration]) continue;
    const Expr quotient = Add(Mul(turn, Int(division.growth)),
                              Int(*division.quotients[iteration]));
    const int lanes = e.dtype().lanes();
    if (e.kind() == ExprKind::kFloorDiv) return Broadcast(quotient, lanes);
    return Sub(WithQuotients(e.As<BinaryNode>()->a, iteration, turn),
               Broadcast(Mul(quotient, Int(division.divisor)), lanes));
  }
  return MapOperands(
      e, [&](const Expr& x) { return WithQuotients(x, iteration, turn); });
}

Stmt Wraps::Emit(const Piece& piece, const Expr& turn) {
  Stmt body = MapExprs(loop_.body, [&](const Expr& e) {
    return WithQuotients(e, piece.first, turn);
  });
  const Expr before = Add(Mul(turn, Int(turn_)), Int(min_ + piece.first));
  if (piece.count == 1) {
    return Substitute(body, {{loop_.var.get(), before}});
  }
  ForFields fields = loop_.fields();
  fields.id = f_->NewId();
  fields.for_kind = piece_kind_;
  fields.var = Var(loop_.var.name());
  fields.min = Int(0);
  fields.extent = Int(piece.count);
  fields.body = Substitute(body, {{loop_.var.get(), Add(before, fields.var)}});
  return MakeFor(std::move(fields));
}

Stmt Wraps::EmitTurn(int64_t count, const Expr& turn) {
  std::vector<Stmt> stmts;
  for (const Piece& piece : Pieces(count)) stmts.push_back(Emit(piece, turn));
  return MakeSeq(std::move(stmts));
}

// How many iterations to look at: one turn, or all of a parallel loop that has
// few turns; 0 where these are too many.
int64_t Wraps::Iterations(int64_t period, int64_t extent) const {
  const bool is_parallel = loop_.for_kind == ForKind::kParallel;
  const int64_t turn = std::min(period, extent);
  const bool are_few = is_parallel && extent / turn < kLeastParallelTurns;
  const int64_t iterations = are_few ? extent : turn;
  return iterations <= kMaxLinearIterations ? iterations : 0;
}

// Each piece of a parallel loop without turns is one of its own.
bool Wraps::IsWorthIt(int64_t extent, int64_t stores) const {
  const std::vector<Piece> pieces = Pieces(turn_);
  const int64_t loops = absl::c_count_if(
      pieces, [](const Piece& piece) { return piece.count > 1; });
  const bool starts_each =
      loop_.for_kind == ForKind::kParallel && turn_ == extent;
  return !divisions_.empty() &&
         static_cast<int64_t>(pieces.size()) * stores <= kMaxPieceStores &&
         (!starts_each || loops <= kMaxParallelLoops);
}

Stmt Wraps::SplitTurns(int64_t extent) {
  if (turn_ == extent) return EmitTurn(turn_, Int(0));
  ForFields fields = loop_.fields();
  const Var turn(loop_.var.name() + "_turn");
  fields.var = turn;
  fields.min = Int(0);
  fields.extent = Int(extent / turn_);
  piece_kind_ = ForKind::kSerial;
  fields.body = EmitTurn(turn_, turn);
  std::vector<Stmt> stmts = {MakeFor(std::move(fields))};
  if (extent % turn_ != 0) {
    stmts.push_back(EmitTurn(extent % turn_, Int(extent / turn_)));
  }
  return MakeSeq(std::move(stmts));
}

Stmt Wraps::Split() {
  const int64_t* extent = AsInt(loop_.extent);
  const int64_t* min = AsInt(loop_.min);
  const int64_t stores = StoresOf(loop_.body);
  const bool is_plain = loop_.for_kind == ForKind::kSerial ||
                        loop_.for_kind == ForKind::kParallel;
  if (!extent || !min || !is_plain || stores == 0 || *min < -kMaxValue ||
      *min > kMaxValue || *extent * stores <= kImplicitSteps) {
    return nullptr;
  }
  const int64_t period = LanePeriod(loop_.body, loop_.var.get());
  if (period == 1 || period * stores <= kImplicitSteps) return nullptr;
  min_ = *min;
  turn_ = Iterations(period, *extent);
  FindDivisions();
  return IsWorthIt(*extent, stores) ? SplitTurns(*extent) : Stmt();
}

Stmt Run(const Stmt& s, Function* f) {
  const auto* loop = s.As<ForNode>();
  Stmt split = loop ? Wraps(*loop, f).Split() : Stmt();
  if (split) return split;
  return MapChildren(s, [&](const Stmt& child) { return Run(child, f); });
}

}  // namespace

absl::StatusOr<Function> SplitAtWraps(Function f) {
  if (!IsAuto(f)) return f;
  Stmt body = Run(f.body, &f);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
