#include "kiln/codegen/llvm/look_ahead.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kiln/codegen/lower/linear.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::codegen_internal {
namespace {

// Vectors that one iteration may ask for.
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

// Whether to compute `e` for an iteration that may not come could stop the
// program: it reads memory, or divides by what may be 0 there.
bool MayTrap(const Expr& e) {
  bool traps = false;
  Visit(e, [&](const Expr& inner) {
    const auto* node = inner.As<BinaryNode>();
    const bool divides = node && (node->kind == ExprKind::kFloorDiv ||
                                  node->kind == ExprKind::kFloorMod ||
                                  node->kind == ExprKind::kTruncDiv ||
                                  node->kind == ExprKind::kTruncMod);
    const int64_t* divisor = divides ? AsInt(node->b) : nullptr;
    traps |= inner.As<LoadNode>() || (divides && (!divisor || *divisor == 0));
    return !traps;
  });
  return traps;
}

// The loop that goes on where the last of `loops`, the rows, ends; nullopt
// where there is none, or where rows are not that of an affine index.
std::optional<size_t> FindBlockLoop(const lower::LinearForm& form,
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

// Notes the vectors that one iteration copies.
bool AddVectors(absl::Span<const Stmt> stores, VectorCopy* copy) {
  lower::LinearForm first;
  for (size_t i = 0; i < stores.size(); ++i) {
    const LoadNode* load = CopiedVector(stores[i]);
    const Expr element = load ? ContiguousBase(load->indices[0]) : Expr();
    if (!element || MayTrap(element)) return false;
    const lower::LinearForm form = lower::ToLinear(element);
    if (i == 0) {
      *copy = {load->buffer,       element, load->dtype.lanes(),
               std::ssize(stores), 0,       std::move(copy->loops)};
      first = form;
      continue;
    }
    const lower::LinearForm apart = lower::Difference(form, first);
    if (i == 1) copy->step = apart.constant;
    if (!apart.IsConstant() || load->buffer != copy->from ||
        apart.constant != static_cast<int64_t>(i) * copy->step) {
      return false;
    }
  }
  return !stores.empty();
}

// The loops that `copy` moves with, where each goes on when the one inside it
// is through: the outermost last.
std::vector<const ForNode*> LoopsThatMove(
    const VectorCopy& copy, absl::Span<const ForNode* const> around) {
  std::vector<const ForNode*> moving;
  for (size_t i = around.size(); i-- > 0;) {
    if (IsOne(around[i]->extent)) continue;
    const bool moves = UsesVar(copy.first, around[i]->var);
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

}  // namespace

Expr ContiguousBase(const Expr& index) {
  const auto* ramp = index.As<RampNode>();
  return ramp && IsOne(ramp->stride) ? ramp->base : nullptr;
}

int64_t VectorSpan(const Stmt& body, const Buffer& buffer) {
  int64_t first = INT64_MAX, end = INT64_MIN;
  VisitExprs(body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    const Expr element = load && load->buffer == buffer
                             ? ContiguousBase(load->indices[0])
                             : Expr();
    if (element) {
      const int64_t at = lower::ToLinear(element).constant;
      first = std::min(first, at);
      end = std::max(end, at + load->dtype.lanes());
    }
    return true;
  });
  return end > first ? end - first : 0;
}

std::optional<VectorCopy> FindVectorCopy(const Stmt& nest) {
  VectorCopy copy;
  Stmt body = nest;
  while (const auto* loop = body.As<ForNode>()) {
    if (loop->for_kind == ForKind::kParallel || !AsInt(loop->extent)) {
      return std::nullopt;
    }
    copy.loops.push_back(loop);
    body = loop->body;
  }
  const auto* seq = body.As<SeqNode>();
  const auto stores =
      seq ? absl::MakeConstSpan(seq->stmts) : absl::MakeConstSpan(&body, 1);
  if (copy.loops.empty() || !AddVectors(stores, &copy)) return std::nullopt;
  return copy;
}

std::vector<Expr> NextCopyIndices(const VectorCopy& copy,
                                  absl::Span<const ForNode* const> around,
                                  absl::Span<const ForNode* const> work) {
  const std::vector<const ForNode*> moving = LoopsThatMove(copy, around);
  const std::optional<Position> step = PositionIn(work);
  const std::optional<Position> copied = PositionIn(copy.loops);
  if (moving.empty() || !step || !copied) return {};
  const int64_t vectors = copied->count * copy.count;
  const int64_t at_once = (vectors + step->count - 1) / step->count;
  if (at_once > kMostAtOnce) return {};
  const int64_t passes = std::max<int64_t>(1, step->count / vectors);
  std::vector<Expr> indices;
  for (int64_t i = 0; i < at_once; ++i) {
    Expr vector =
        Add(Mul(FloorDiv(step->index, Int(passes)), Int(at_once)), Int(i));
    const Expr index =
        Add(copy.first, Mul(FloorMod(vector, Int(copy.count)), Int(copy.step)));
    vector = FloorDiv(vector, Int(copy.count));
    VarMap later = OneLater(moving);
    for (size_t l = copy.loops.size(); l-- > 0;) {
      const ForNode& loop = *copy.loops[l];
      later[loop.var.get()] = Add(loop.min, FloorMod(vector, loop.extent));
      vector = FloorDiv(vector, loop.extent);
    }
    indices.push_back(Substitute(index, later));
  }
  return indices;
}

std::optional<Expr> NextBlockIndex(const Expr& index,
                                   absl::Span<const ForNode* const> loops) {
  if (loops.size() < 3 || MayTrap(index)) return std::nullopt;
  const lower::LinearForm form = lower::ToLinear(index);
  const std::optional<size_t> block = FindBlockLoop(form, loops);
  if (!block) return std::nullopt;
  const auto inside = loops.subspan(*block + 1);
  const std::optional<Position> step = PositionIn(inside);
  if (!step) return std::nullopt;
  const ForNode& rows = *loops.back();
  int64_t panels = 1;
  for (const ForNode* loop : inside.subspan(0, inside.size() - 1)) {
    if (UsesVar(index, loop->var)) panels *= *AsInt(loop->extent);
  }
  if (panels < 2) return std::nullopt;
  // Steps that ask for the same: passes over the block.
  const int64_t passes = step->count / (panels * *AsInt(rows.extent));
  const Expr wanted = FloorDiv(step->index, Int(passes));
  VarMap later;
  later[loops[*block]->var.get()] = Add(loops[*block]->var, Int(1));
  later[rows.var.get()] = Add(rows.min, FloorDiv(wanted, Int(panels)));
  Expr panel = FloorMod(wanted, Int(panels));
  for (size_t i = inside.size() - 1; i-- > 0;) {
    const ForNode& loop = *inside[i];
    if (!UsesVar(index, loop.var)) continue;
    later[loop.var.get()] = Add(loop.min, FloorMod(panel, loop.extent));
    panel = FloorDiv(panel, loop.extent);
  }
  return Substitute(index, later);
}

std::optional<Expr> NextPanelIndex(const Expr& index,
                                   absl::Span<const ForNode* const> loops) {
  const auto moves = [&](size_t i) { return UsesVar(index, loops[i]->var); };
  const size_t row = loops.size() - 1;
  const int64_t* rows = AsInt(loops[row]->extent);
  if (!rows || !moves(row) || MayTrap(index)) return std::nullopt;
  size_t first_pass = row;
  while (first_pass > 0 && !moves(first_pass - 1)) --first_pass;
  const auto pass = PositionIn(loops.subspan(first_pass, row - first_pass));
  if (first_pass == 0 || !pass || pass->count < 2) return std::nullopt;

  const Var& panel_var = loops[first_pass - 1]->var;
  const Expr& first_row = loops[row]->min;
  const int64_t share = (*rows + pass->count - 1) / pass->count;
  const Expr in_share =
      FloorDiv(Sub(loops[row]->var, first_row), Int(pass->count));
  VarMap later;
  later[panel_var.get()] = Add(panel_var, Int(1));
  later[loops[row]->var.get()] =
      Add(first_row, Add(Mul(pass->index, Int(share)), in_share));
  return Substitute(index, later);
}

}  // namespace kiln::codegen_internal
