// All three plans are shares of one count. The rows of vectors that the next
// panel, the next block or the next copy reads have numbers, and so have the
// steps of the loops that run before it does. Each step takes its share of the
// numbers, in order, and turns a number into a place: its digits are the
// iteration of the loops that will read it, and the row of the grid there.
//
//   for j in 16, i in 8, k in 512: reads 3 vectors at j*24576 + k*48
//     512 rows of 3 vectors are next, 8 passes of 512 steps come before: every
//     8th step asks for one row, in step (i, k) that of number i*64 + k//8
//
// Vectors next to each other are asked for together. Steps beyond the last
// number take it again.
#include "kiln/codegen/lower/auto/prefetch_plan.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

// Vectors that one iteration may ask for, but for panels and blocks of few
// passes.
constexpr int64_t kMostAtOnce = 4;

// Where an iteration stands among all of a nest.
struct Position {
  Expr index = Int(0);
  int64_t count = 1;
};

std::optional<Position> PositionIn(absl::Span<const ForNode* const> loops) {
  Position position;
  for (const ForNode* loop : loops) {
    const int64_t* extent = AsInt(loop->extent);
    if (!extent || *extent < 1 ||
        __builtin_mul_overflow(position.count, *extent, &position.count)) {
      return std::nullopt;
    }
    position.index =
        Add(Mul(position.index, loop->extent), Sub(loop->var, loop->min));
  }
  return position;
}

// Parts of some work, numbered from 0, that each step takes: all steps together
// take all `count` in order, and the last one again where steps are left.
struct Share {
  int64_t every = 1;  // iterations of the last loop
  std::vector<Expr> parts;
};

std::optional<Share> ShareOut(absl::Span<const ForNode* const> loops,
                              int64_t count) {
  if (loops.empty() || !PositionIn(loops)) return std::nullopt;
  const ForNode& last = *loops.back();
  const auto run = PositionIn(loops.first(loops.size() - 1));
  const int64_t steps = *AsInt(last.extent);
  const int64_t wanted = (count + run->count - 1) / run->count;
  Share share;
  while (2 * share.every * wanted <= steps) share.every *= 2;
  const int64_t turns = (steps + share.every - 1) / share.every;
  const int64_t each = (wanted + turns - 1) / turns;
  const Expr turn = Add(Mul(run->index, Int(turns)),
                        FloorDiv(Sub(last.var, last.min), Int(share.every)));
  for (int64_t i = 0; i < each; ++i) {
    const Expr part = Add(Mul(turn, Int(each)), Int(i));
    share.parts.push_back(Min(part, Int(count - 1)));
  }
  return share;
}

// Neighbours in a row of the grid that are asked for together.
int64_t AtOnce(const VectorGrid& grid) {
  int64_t columns = std::min(grid.columns, kMostAtOnce);
  while (grid.columns % columns != 0) --columns;
  return columns;
}

// Takes the last digit of `number`, which has the base `base`.
Expr TakeDigit(Expr* number, const Expr& base) {
  const Expr digit = FloorMod(*number, base);
  *number = FloorDiv(*number, base);
  return digit;
}

// Takes a digit for each of `loops`, the last one first.
void TakeIteration(Expr* number, absl::Span<const ForNode* const> loops,
                   VarMap* iteration) {
  for (size_t i = loops.size(); i-- > 0;) {
    (*iteration)[loops[i]->var.get()] =
        Add(loops[i]->min, TakeDigit(number, loops[i]->extent));
  }
}

// Asks for `rows` rows of the grid, whose first elements `first_of` tells by
// their number.
PrefetchPlan PlanRows(const VectorGrid& grid, int64_t rows,
                      absl::Span<const ForNode* const> loops,
                      FunctionRef<Expr(Expr)> first_of) {
  const int64_t at_once = AtOnce(grid);
  const int64_t parts = grid.columns / at_once;  // of a row
  const std::optional<Share> share = ShareOut(loops, rows * parts);
  if (!share) return {};
  PrefetchPlan ask{share->every, {}};
  for (Expr number : share->parts) {
    const Expr column = Mul(TakeDigit(&number, Int(parts)), Int(at_once));
    const Expr first = first_of(number);
    for (int64_t i = 0; i < at_once; ++i) {
      const Expr apart = Mul(Add(column, Int(i)), Int(grid.column_step));
      ask.indices.push_back(Add(first, apart));
    }
  }
  return ask;
}

// The loop that goes on where the last of `loops`, the rows, ends; nullopt
// where there is none, or where rows are not that of an affine index.
std::optional<size_t> FindBlockLoop(const Linear& form,
                                    absl::Span<const ForNode* const> loops) {
  const ForNode& rows = *loops.back();
  const int64_t* count = AsInt(rows.extent);
  const int64_t step = form.Coefficient(rows.var.get());
  if (!count || step <= 0) return std::nullopt;
  for (size_t b = loops.size() - 1; b-- > 0;) {
    const Var& var = loops[b]->var;
    if (form.HidesVar([&](const VarNode* v) { return v == var.get(); })) break;
    if (form.Coefficient(var.get()) == step * *count) return b;
  }
  return std::nullopt;
}

// Whether the panels lie side by side in each of the rows. Else the loop over
// rows is one over columns, the last one that goes on from left to right.
bool LieInRows(absl::Span<const ForNode* const> panels, const Linear& form,
               const ForNode& rows) {
  const int64_t step = form.Coefficient(rows.var.get());
  return absl::c_all_of(panels, [&](const ForNode* panel) {
    return form.Coefficient(panel->var.get()) < step;
  });
}

// Passes over a panel that leave the time to ask for the next one. Rows that
// lie far apart are each in another page: a product of 17 rows with a 768 x
// 3072 matrix as it lies takes 0.97 ms on a Xeon where two passes ask for the
// next panel, and 0.69 where each row is asked for some rows ahead.
int64_t LeastPasses(const VectorGrid& panel, const ForNode& rows) {
  const int64_t step = ToLinear(panel.first).Coefficient(rows.var.get());
  return step == panel.count() * panel.lanes ? 2 : 3;
}

// The vector that a store copies, or copies where it is not padding.
const LoadNode* CopiedVector(const Stmt& s) {
  const auto* store = s.As<StoreNode>();
  if (!store) return nullptr;
  const auto* choice = store->value.As<CallNode>();
  const bool is_padded = choice && choice->op == Intrinsic::kIfThenElse;
  const auto* load =
      (is_padded ? choice->args[1] : store->value).As<LoadNode>();
  return load && load->buffer != store->buffer ? load : nullptr;
}

// The loops that `copy` moves with, where each goes on when the one inside it
// is through: the outermost last.
std::vector<const ForNode*> LoopsThatMove(
    const VectorCopy& copy, absl::Span<const ForNode* const> around) {
  std::vector<const ForNode*> moving;
  for (size_t i = around.size(); i-- > 0;) {
    if (IsOne(around[i]->extent)) continue;
    const bool moves = UsesVar(copy.from.first, around[i]->var);
    if (!moves && !moving.empty()) break;
    if (moves) moving.push_back(around[i]);
  }
  return moving;
}

// The variables of `loops` one iteration later.
VarMap OneLater(absl::Span<const ForNode* const> loops) {
  VarMap later;
  Expr carry = Int(1);
  for (const ForNode* loop : loops) {
    const Expr next = Add(Sub(loop->var, loop->min), carry);
    const bool is_last = loop == loops.back();
    later[loop->var.get()] =
        Add(loop->min, is_last ? next : FloorMod(next, loop->extent));
    carry = FloorDiv(next, loop->extent);
  }
  return later;
}

// Rows of a grid of scalars, where the last of the loops goes on along them.
struct ScalarRows {
  int64_t rows = 1, row_step = 0;
  int64_t length = 0;  // of each in all iterations
};

// nullopt where its scalars are no such rows.
std::optional<ScalarRows> RowsOf(const VectorGrid& scalars, const Linear& form,
                                 const ForNode& last) {
  const int64_t* count = AsInt(last.extent);
  const bool has_runs = scalars.columns > 1 && scalars.column_step == 1;
  const int64_t run = has_runs ? scalars.columns : 1;
  if (!count || form.Coefficient(last.var.get()) != run) return std::nullopt;
  if (has_runs || scalars.columns == 1) {
    return ScalarRows{scalars.rows, scalars.row_step, run * *count};
  }
  if (scalars.rows > 1) return std::nullopt;
  return ScalarRows{scalars.columns, scalars.column_step, *count};
}

bool TrapsWith(const Expr& e, FunctionRef<bool(const Expr&)> may_be_zero) {
  bool traps = false;
  Visit(e, [&](const Expr& inner) {
    const auto* node = inner.As<BinaryNode>();
    const bool divides = node && (node->kind == ExprKind::kFloorDiv ||
                                  node->kind == ExprKind::kFloorMod ||
                                  node->kind == ExprKind::kTruncDiv ||
                                  node->kind == ExprKind::kTruncMod);
    const int64_t* divisor = divides ? AsInt(node->b) : nullptr;
    traps |= inner.As<LoadNode>() ||
             (divides && (divisor ? *divisor == 0 : may_be_zero(node->b)));
    return !traps;
  });
  return traps;
}

// A parallel loop over panels and the passes over each, as two loops.
struct FusedPasses {
  Expr first;  // of the grid, by their variables
  Stmt panels, passes;
  std::vector<const ForNode*> loops;  // these two, and those inside
  VarMap fused;                       // their variables by that of the one loop
};

// nullopt where the outermost loop is no such one: where `first` does not use
// its variable in quotients alone, of which all divisors are multiples of one.
//
//   for p in 301: ... K[p // 7 * 49152 + k * 192]   // 7 passes over a panel
//     ->  for panel in 43, pass in 7: ... K[panel * 49152 + k * 192]
std::optional<FusedPasses> SplitPasses(const Expr& first,
                                       absl::Span<const ForNode* const> loops) {
  const ForNode& loop = *loops.front();
  const int64_t* extent = AsInt(loop.extent);
  if (!extent || !IsZero(loop.min)) return std::nullopt;
  int64_t passes = 0;
  const auto divisor_of = [&](const Expr& e) -> const int64_t* {
    const auto* node = e.As<BinaryNode>();
    const bool is_quotient = node && node->kind == ExprKind::kFloorDiv &&
                             node->a.get() == loop.var.get();
    return is_quotient ? AsInt(node->b) : nullptr;
  };
  Visit(first, [&](const Expr& e) {
    const int64_t* divisor = divisor_of(e);
    if (divisor) passes = std::gcd(passes, *divisor);
    return !divisor;
  });
  if (passes < 2 || *extent % passes != 0) return std::nullopt;
  const Var panel("panel"), pass("pass");
  const Expr whole = Rewrite(first, [&](const Expr& e) -> Expr {
    const int64_t* divisor = divisor_of(e);
    return divisor ? FloorDiv(panel, Int(*divisor / passes)) : nullptr;
  });
  if (UsesVar(whole, loop.var)) return std::nullopt;
  const Stmt nothing = MakeEvaluate(Int(0));
  FusedPasses apart;
  apart.first = whole;
  apart.panels = MakeFor(0, panel, Int(*extent / passes), nothing);
  apart.passes = MakeFor(0, pass, Int(passes), nothing);
  apart.loops = {apart.panels.As<ForNode>(), apart.passes.As<ForNode>()};
  apart.loops.insert(apart.loops.end(), loops.begin() + 1, loops.end());
  apart.fused = {{panel.get(), FloorDiv(loop.var, Int(passes))},
                 {pass.get(), FloorMod(loop.var, Int(passes))}};
  return apart;
}

// Of loops: the passes over a panel, before its taps, and the rows of each.
struct PanelLoops {
  size_t first_pass = 0, first_tap = 0;
};

PanelLoops FindPanelLoops(const Expr& index,
                          absl::Span<const ForNode* const> loops) {
  const auto moves = [&](size_t i) { return UsesVar(index, loops[i]->var); };
  PanelLoops panel;
  panel.first_tap = loops.size() - 1;
  while (panel.first_tap > 0 && moves(panel.first_tap - 1)) --panel.first_tap;
  panel.first_pass = panel.first_tap;
  while (panel.first_pass > 0 && !moves(panel.first_pass - 1)) {
    --panel.first_pass;
  }
  return panel;
}

PrefetchPlan PlanPanel(const VectorGrid& grid,
                       absl::Span<const ForNode* const> loops) {
  const ForNode& rows = *loops.back();
  const int64_t* count = AsInt(rows.extent);
  if (!count || !UsesVar(grid.first, rows.var) || MayTrap(grid.first, loops)) {
    return {};
  }
  const auto [first_pass, first_tap] = FindPanelLoops(grid.first, loops);
  const auto passes =
      PositionIn(loops.subspan(first_pass, first_tap - first_pass));
  if (first_pass == 0 || !passes || passes->count < LeastPasses(grid, rows)) {
    return {};
  }

  std::vector<const ForNode*> steps(loops.begin() + first_pass,
                                    loops.begin() + first_tap);
  steps.push_back(&rows);
  const Var& panel = loops[first_pass - 1]->var;
  VarMap later;
  later[panel.get()] = Add(panel, Int(1));
  return PlanRows(grid, *count * grid.rows, steps, [&](Expr number) {
    const Expr row = TakeDigit(&number, Int(grid.rows));
    later[rows.var.get()] = Add(rows.min, number);
    return Add(Substitute(grid.first, later), Mul(row, Int(grid.row_step)));
  });
}

}  // namespace

bool MayTrap(const Expr& e) {
  return TrapsWith(e, [](const Expr& divisor) { return true; });
}

bool MayTrap(const Expr& e, absl::Span<const ForNode* const> loops) {
  return TrapsWith(e, [&](const Expr& divisor) {
    return absl::c_any_of(loops, [&](const ForNode* loop) {
      return UsesVar(divisor, loop->var);
    });
  });
}

std::optional<VectorCopy> FindVectorCopy(const Stmt& nest) {
  std::vector<const ForNode*> loops;
  Stmt body = nest;
  while (const auto* loop = body.As<ForNode>()) {
    if (loop->for_kind == ForKind::kParallel || !AsInt(loop->extent)) {
      return std::nullopt;
    }
    loops.push_back(loop);
    body = loop->body;
  }
  const auto* seq = body.As<SeqNode>();
  std::vector<const LoadNode*> loads;
  for (const Stmt& s :
       seq ? absl::MakeConstSpan(seq->stmts) : absl::MakeConstSpan(&body, 1)) {
    loads.push_back(CopiedVector(s));
    if (!loads.back()) return std::nullopt;
  }
  std::optional<VectorGrid> from = GridOf(loads);
  if (loops.empty() || !from || MayTrap(from->first)) return std::nullopt;
  return VectorCopy{*std::move(from), std::move(loops)};
}

PrefetchPlan PlanNextCopy(const VectorCopy& copy,
                          absl::Span<const ForNode* const> around,
                          absl::Span<const ForNode* const> work) {
  const VectorGrid& from = copy.from;
  const std::vector<const ForNode*> moving = LoopsThatMove(copy, around);
  const std::optional<Position> copied = PositionIn(copy.loops);
  if (moving.empty() || !copied) return {};
  VarMap later = OneLater(moving);
  PrefetchPlan ask =
      PlanRows(from, copied->count * from.rows, work, [&](Expr number) {
        const Expr row = TakeDigit(&number, Int(from.rows));
        TakeIteration(&number, copy.loops, &later);
        return Add(Substitute(from.first, later), Mul(row, Int(from.row_step)));
      });
  return std::ssize(ask.indices) <= kMostAtOnce ? ask : PrefetchPlan();
}

PrefetchPlan PlanNextBlock(const VectorGrid& grid,
                           absl::Span<const ForNode* const> loops) {
  if (loops.size() < 3 || MayTrap(grid.first, loops)) return {};
  const Linear form = ToLinear(grid.first);
  const auto block = FindBlockLoop(form, loops);
  if (!block) return {};
  const auto inside = loops.subspan(*block + 1);
  std::vector<const ForNode*> panels(inside.begin(), inside.end() - 1);
  std::erase_if(panels, [&](const ForNode* loop) {
    return !UsesVar(grid.first, loop->var);
  });
  const std::optional<Position> panel = PositionIn(panels);
  const ForNode& rows = *loops.back();
  if (!panel || panel->count < 2 || !LieInRows(panels, form, rows)) return {};
  const int64_t count = panel->count * *AsInt(rows.extent) * grid.rows;
  VarMap later;
  later[loops[*block]->var.get()] = Add(loops[*block]->var, Int(1));
  return PlanRows(grid, count, inside, [&](Expr number) {
    TakeIteration(&number, panels, &later);
    const Expr row = TakeDigit(&number, Int(grid.rows));
    later[rows.var.get()] = Add(rows.min, number);
    return Add(Substitute(grid.first, later), Mul(row, Int(grid.row_step)));
  });
}

PrefetchPlan PlanNextPanel(const VectorGrid& grid,
                           absl::Span<const ForNode* const> loops) {
  const std::optional<FusedPasses> apart = SplitPasses(grid.first, loops);
  if (!apart) return PlanPanel(grid, loops);
  const absl::Span<const ForNode* const> all(apart->loops);
  const size_t first_tap = FindPanelLoops(apart->first, all).first_tap;
  const auto rows = PositionIn(all.subspan(first_tap));
  const int64_t row_bytes =
      grid.count() * grid.lanes * grid.buffer->dtype.bytes();
  if (!rows || !IsAskedForAhead(rows->count * row_bytes)) return {};
  VectorGrid inside = grid;
  inside.first = apart->first;
  PrefetchPlan plan = PlanPanel(inside, all);
  for (Expr& index : plan.indices) index = Substitute(index, apart->fused);
  return plan;
}

Passes PassesOver(const Expr& index, absl::Span<const ForNode* const> loops) {
  const std::optional<FusedPasses> apart = SplitPasses(index, loops);
  if (apart) loops = apart->loops;
  const PanelLoops panel = FindPanelLoops(apart ? apart->first : index, loops);
  const auto inside = PositionIn(loops.subspan(panel.first_tap));
  if (!inside) return {};
  Passes passes = {nullptr, inside->count};
  for (size_t i = panel.first_pass; i < panel.first_tap; ++i) {
    if (IsOne(loops[i]->extent)) continue;
    passes.is_first =
        Conjunction(passes.is_first, EQ(loops[i]->var, loops[i]->min));
  }
  if (passes.is_first && apart) {
    passes.is_first = Substitute(passes.is_first, apart->fused);
  }
  return passes;
}

PrefetchPlan PlanNextRows(const VectorGrid& scalars, int64_t line,
                          int64_t ahead,
                          absl::Span<const ForNode* const> loops) {
  const ForNode& last = *loops.back();
  const Linear form = ToLinear(scalars.first);
  const std::optional<ScalarRows> rows = RowsOf(scalars, form, last);
  size_t inside = loops.size() - 1;
  while (inside > 0 && !UsesVar(scalars.first, loops[inside - 1]->var)) {
    --inside;
  }
  if (!rows || inside == 0 || MayTrap(scalars.first, loops)) return {};
  const Var& next = loops[inside - 1]->var;
  const int64_t beyond = (rows->rows - 1) * rows->row_step + rows->length;
  if (form.HidesVar([&](const VarNode* v) { return v == next.get(); }) ||
      form.Coefficient(next.get()) < beyond) {
    return {};
  }
  VarMap later;
  later[next.get()] = Add(next, Int(ahead));
  later[last.var.get()] = last.min;
  const Expr first = Substitute(scalars.first, later);
  VectorGrid lines{scalars.buffer, first, static_cast<int>(line)};
  lines.columns = (rows->length + line - 1) / line;
  lines.column_step = line;
  return PlanRows(lines, rows->rows, loops.subspan(inside), [&](Expr row) {
    return Add(first, Mul(row, Int(rows->row_step)));
  });
}

}  // namespace kiln::lower
