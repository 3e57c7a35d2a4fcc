// The innermost loop of a product is a vector already, so that the nest ends
// with
//
//   C[ramp(c, 1, 16)] = C[ramp(c, 1, 16)] +
//       int32(broadcast(A[a], 16)) * int32(B[ramp(b, 4, 16)])
//
// and the loops around it are taken from how a, b and c depend on them.
#include "kiln/codegen/llvm/tile_product.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::codegen_internal {
namespace {

// One of the three tensors: the element for the first lane, and elements from
// a lane to the next.
struct Operand {
  const LoadNode* load = nullptr;
  Expr index;
  int64_t lane = 0;
  Linear linear;
};

bool SetIndex(const Expr& index, Operand* operand) {
  if (const auto* ramp = index.As<RampNode>()) {
    const int64_t* stride = AsInt(ramp->stride);
    if (!stride) return false;
    operand->lane = *stride;
    operand->index = ramp->base;
  } else {
    operand->index = index;
  }
  if (!operand->index.dtype().is_scalar() || operand->index->has_loads) {
    return false;
  }
  Decompose(Analyzer().Simplify(operand->index), 1, &operand->linear);
  return operand->linear.ok;
}

std::optional<Operand> OperandOf(Expr e) {
  if (const auto* all = e.As<BroadcastNode>()) e = all->value;
  Operand operand;
  operand.load = e.As<LoadNode>();
  if (!operand.load || operand.load->indices.size() != 1 ||
      !operand.load->buffer->dtype.is_scalar() ||
      !SetIndex(operand.load->indices[0], &operand)) {
    return std::nullopt;
  }
  return operand;
}

// int32(broadcast(x)) of broadcast(int32(x)).
Expr WithCastOutside(const Expr& e) {
  const auto* all = e.As<BroadcastNode>();
  const auto* cast = all ? all->value.As<CastNode>() : nullptr;
  if (!cast) return e;
  return Cast(e.dtype(), Broadcast(cast->value, e.dtype().lanes()));
}

// The loops of a nest of serial loops from 0, from the outermost; empty for
// others.
std::vector<const ForNode*> LoopsOf(const ForNode& outermost) {
  std::vector<const ForNode*> loops;
  for (const ForNode* loop = &outermost; loop;
       loop = loop->body.As<ForNode>()) {
    const int64_t* extent = AsInt(loop->extent);
    if (loop->for_kind != ForKind::kSerial || !extent || *extent < 1 ||
        !IsZero(loop->min)) {
      return {};
    }
    loops.push_back(loop);
  }
  return loops;
}

// Where all loops begin.
Expr First(const Operand& operand, const std::vector<const ForNode*>& loops) {
  Expr first = operand.index;
  for (const ForNode* loop : loops) {
    first = Substitute(first, {{loop->var.get(), Int(0)}});
  }
  return Analyzer().Simplify(first);
}

bool HidesLoop(const Operand& operand,
               const std::vector<const ForNode*>& loops) {
  return operand.linear.HidesVar([&](const VarNode* var) {
    return absl::c_any_of(
        loops, [&](const ForNode* l) { return l->var.get() == var; });
  });
}

// Extents and strides of the loops that have iterations.
std::vector<std::pair<int64_t, int64_t>> Sorted(
    std::vector<std::pair<int64_t, int64_t>> loops) {
  loops.erase(std::remove_if(loops.begin(), loops.end(),
                             [](const auto& loop) { return loop.first == 1; }),
              loops.end());
  std::sort(loops.begin(), loops.end());
  return loops;
}

class Finder {
 public:
  explicit Finder(const TileInstructions& tiles) : tiles_(tiles) {}

  std::optional<TileProduct> Find(const ForNode& outermost) {
    loops_ = LoopsOf(outermost);
    if (loops_.empty()) return std::nullopt;
    const auto* store = loops_.back()->body.As<StoreNode>();
    if (!store || !SetOperands(*store)) return std::nullopt;
    return Product();
  }

 private:
  bool SetOperands(const StoreNode& store) {
    const auto* sum = store.value.As<BinaryNode>();
    if (store.value.kind() != ExprKind::kAdd || store.indices.size() != 1 ||
        store.value.dtype().lanes() != kTileRows) {
      return false;
    }
    const auto sums = OperandOf(sum->a);
    if (!sums || sums->load->buffer != store.buffer ||
        !SameExpr(sums->load->indices[0], store.indices[0]) ||
        sum->b.kind() != ExprKind::kMul) {
      return false;
    }
    const auto* factors = sum->b.As<BinaryNode>();
    const auto product = NarrowProductOf(
        Mul(WithCastOutside(factors->a), WithCastOutside(factors->b)));
    if (!product) return false;
    group_ = StepsOfTileGroup(*product, tiles_);
    const auto a = OperandOf(product->a), b = OperandOf(product->b);
    if (group_ == 0 || !a || !b) return false;
    const bool a_moves = a->lane != 0;
    sums_ = *sums;
    rows_ = a_moves ? *b : *a;
    columns_ = a_moves ? *a : *b;
    return rows_.load->buffer != store.buffer &&
           columns_.load->buffer != store.buffer;
  }

  ProductLoop LoopOf(const ForNode& loop) const {
    const VarNode* var = loop.var.get();
    return {.extent = *AsInt(loop.extent),
            .sums = sums_.linear.Coefficient(var),
            .rows = rows_.linear.Coefficient(var),
            .columns = columns_.linear.Coefficient(var)};
  }

  std::optional<TileProduct> Product() const {
    if (HidesLoop(sums_, loops_) || HidesLoop(rows_, loops_) ||
        HidesLoop(columns_, loops_)) {
      return std::nullopt;
    }
    std::vector<ProductLoop> loops = {{.extent = kTileRows,
                                       .sums = sums_.lane,
                                       .rows = rows_.lane,
                                       .columns = columns_.lane}};
    for (size_t i = loops_.size(); i-- > 0;) {
      loops.push_back(LoopOf(*loops_[i]));
    }
    const auto nest = TileNestOf(loops, group_);
    if (!nest || nest->loops != loops.size()) return std::nullopt;
    return TileProduct{.nest = *nest,
                       .rows_type = rows_.load->buffer->dtype,
                       .columns_type = columns_.load->buffer->dtype,
                       .sums = sums_.load->buffer,
                       .rows = rows_.load->buffer,
                       .columns = columns_.load->buffer,
                       .first_sum = First(sums_, loops_),
                       .first_row = First(rows_, loops_),
                       .first_column = First(columns_, loops_)};
  }

  const TileInstructions& tiles_;
  std::vector<const ForNode*> loops_;  // from the outermost
  int64_t group_ = 0;
  Operand sums_, rows_, columns_;
};

// 0 of integers or +0.
bool HasNoBitSet(const Expr& e) {
  const auto* number = e.As<FloatImmNode>();
  return IsZero(e) ||
         (number && number->value == 0 && !std::signbit(number->value));
}

}  // namespace

std::optional<TileProduct> FindTileProduct(const ForNode& loop,
                                           const TileInstructions& tiles) {
  if (tiles == TileInstructions() || !IsMarked(loop, kTileProduct)) {
    return std::nullopt;
  }
  return Finder(tiles).Find(loop);
}

bool MakesZero(const Stmt& s, const TileProduct& product) {
  const auto* outermost = s.As<ForNode>();
  if (!outermost || !IsMarked(*outermost, kTileProduct)) return false;
  const std::vector<const ForNode*> loops = LoopsOf(*outermost);
  const auto* store =
      loops.empty() ? nullptr : loops.back()->body.As<StoreNode>();
  if (!store || store->buffer != product.sums) return false;
  const auto* value = store->value.As<BroadcastNode>();
  Operand sums;
  if (!value || !HasNoBitSet(value->value) ||
      value->dtype.lanes() != kTileRows ||
      !SetIndex(store->indices[0], &sums) || sums.lane != 1 ||
      HidesLoop(sums, loops) ||
      !SameExpr(First(sums, loops), product.first_sum)) {
    return false;
  }
  std::vector<std::pair<int64_t, int64_t>> stored;
  for (const ForNode* loop : loops) {
    stored.emplace_back(*AsInt(loop->extent),
                        sums.linear.Coefficient(loop->var.get()));
  }
  return Sorted(stored) ==
         Sorted({{kTileRows, product.nest.sums_row},
                 {product.nest.down.extent, product.nest.down.sums},
                 {product.nest.across.extent, product.nest.across.sums}});
}

bool HoldsTileProduct(const Stmt& s, const TileInstructions& tiles) {
  bool holds = false;
  Visit(s, [&](const Stmt& inner) {
    const auto* loop = inner.As<ForNode>();
    holds = holds || (loop && FindTileProduct(*loop, tiles));
    return !holds;
  });
  return holds;
}

bool LeavesFunction(const Stmt& s) {
  bool leaves = false;
  Visit(s, [&](const Stmt& inner) {
    const auto* loop = inner.As<ForNode>();
    leaves = leaves || (loop && loop->for_kind == ForKind::kParallel);
    return !leaves;
  });
  VisitExprs(s, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    leaves = leaves || (call && (call->op == Intrinsic::kCallExtern ||
                                 call->op == Intrinsic::kCallPureExtern));
    return !leaves;
  });
  return leaves;
}

}  // namespace kiln::codegen_internal
