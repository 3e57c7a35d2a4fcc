// Iterations of a loop over lanes become lanes, and the steps inside of it
// lanes beside each other. Where a panel holds four steps of each lane and the
// last three of a sum are no whole four, what the other operand has for the
// fourth is zero:
//
//   for j in vectorized(16):     →   C[0:16] = C[0:16] + lane_sums(
//     for e in unroll(3):                int32(a) * int32(B[0:64]), 4)
//       C[j] = C[j] +
//           int32(A[e]) *            where v is 0 .. 63 and a is
//           int32(B[j*4 + e])          if_then_else(v % 4 < 3, A[v % 4], 0)
#include "kiln/codegen/lower/vector/form_dot_products.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "kiln/codegen/lower/vector/added_term.h"
#include "kiln/codegen/lower/vector/lane_independence.h"
#include "kiln/codegen/lower/vector/vector_expr.h"
#include "kiln/codegen/lower/vector/vectorize_loops.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/dot_product.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::LaneMapper;

// With v // 4 * 4 + v % 4 as v.
Expr WithSimpleIndices(const Expr& e) {
  const auto* load = e.As<LoadNode>();
  if (!load) {
    return MapOperands(e, [](const Expr& x) { return WithSimpleIndices(x); });
  }
  return Load(load->buffer, {Analyzer().Simplify(load->indices[0])});
}

// Elements from a lane to the next in what `e` loads, the index of which must
// be linear in it; 0 where it does not move, -1 where that is not known.
int64_t StrideOf(const Expr& e, const Var& lane) {
  int64_t stride = 0;
  Visit(e, [&](const Expr& x) {
    const auto* load = x.As<LoadNode>();
    if (!load) return true;
    Linear linear;
    Decompose(Analyzer().Simplify(load->indices[0]), 1, &linear);
    const bool hides =
        linear.HidesVar([&](const VarNode* var) { return var == lane.get(); });
    const int64_t here =
        linear.ok && !hides ? linear.Coefficient(lane.get()) : -1;
    stride = stride == 0 || stride == here ? here : -1;
    return false;
  });
  return stride;
}

// Of a loop over lanes around one over steps.
class DotProduct {
 public:
  DotProduct(const ForNode& lanes, const ForNode& steps,
             const DotInstructions& dots)
      : lanes_(lanes), steps_(steps), dots_(dots) {}

  // Null where there is none.
  Stmt Run() {
    const auto* store = steps_.body.As<StoreNode>();
    const Expr term = store ? lower::AddedTerm(*store) : nullptr;
    const auto product = term ? NarrowProductOf(term) : std::nullopt;
    const int64_t *lanes = AsInt(lanes_.extent), *steps = AsInt(steps_.extent);
    if (!product || !lanes || !steps || *lanes < 2 || *steps < 1 ||
        UsesVar(store->indices[0], steps_.var)) {
      return nullptr;
    }
    count_ = static_cast<int>(*lanes);
    valid_ = *steps;
    together_ = Together(*product);
    if (together_ == 0 || *lanes * together_ > kMaxLanes ||
        (product->is_float() && (*lanes & (*lanes - 1)) != 0) ||
        !lower::IterationsAreIndependent(lanes_)) {
      return nullptr;
    }
    return Vectors(*store, *product, term.As<BinaryNode>());
  }

 private:
  // Steps of the instruction: as many as lie side by side in the operand that
  // moves from lane to lane, of which the last may be missing in the loop, or
  // else all of the loop. 0: there is none.
  int Together(const NarrowProduct& product) const {
    for (const auto& [moving, still] :
         {std::pair(product.a, product.b), std::pair(product.b, product.a)}) {
      const int64_t stride = StrideOf(moving, lanes_.var);
      if (stride >= valid_ && StrideOf(still, lanes_.var) == 0 &&
          IsDotProduct(product, stride, dots_) &&
          (stride == valid_ || HoldsAll(moving, stride))) {
        return static_cast<int>(stride);
      }
    }
    return IsDotProduct(product, valid_, dots_) ? static_cast<int>(valid_) : 0;
  }

  // Whether the tensor has room for `stride` steps of each lane, side by side:
  // an element that begins them and its size are multiples of that. What is
  // there may be anything, of which 0 times is not 0 for floats.
  bool HoldsAll(const Expr& moving, int64_t stride) const {
    const auto* load = moving.As<LoadNode>();
    if (!load || moving.dtype().is_float()) return false;
    const int64_t* size = AsInt(load->buffer->shape[0]);
    const Expr first = Substitute(
        load->indices[0],
        {{lanes_.var.get(), lanes_.min}, {steps_.var.get(), steps_.min}});
    return size && *size % stride == 0 && StrideOf(moving, steps_.var) == 1 &&
           Analyzer().CanProveEqual(FloorMod(first, Int(stride)), Int(0));
  }

  // All lanes and steps of a factor, zero where there is no step.
  Expr Map(LaneMapper* products, const Var& both, const Expr& e) const {
    const Expr lane = FloorDiv(both, Int(together_));
    const Expr step = FloorMod(both, Int(together_));
    Expr all = products->Map(WithSimpleIndices(
        Substitute(e, {{lanes_.var.get(), Add(lanes_.min, lane)},
                       {steps_.var.get(), Add(steps_.min, step)}})));
    return all && all.dtype().is_scalar() ? Broadcast(all, products->lanes())
                                          : all;
  }

  // Which lanes of all are steps of the loop.
  Expr IsValid(int lanes) const {
    const Expr step =
        FloorMod(Ramp(Int(0), Int(1), lanes), Broadcast(Int(together_), lanes));
    return LT(step, Broadcast(Int(valid_), lanes));
  }

  // The factor, zero for steps beyond those of the loop, for which nothing is
  // loaded. Null for one that no lane changes.
  Expr OnlyValid(const Expr& factor) const {
    const int lanes = factor.dtype().lanes();
    const auto* cast = factor.As<CastNode>();
    if (!cast) return nullptr;
    const Expr loaded = OnlyValidLoads(factor);
    if (cast->value.As<LoadNode>()) return loaded;
    const Expr zero = Constant(0, cast->value.dtype().Element());
    return Cast(factor.dtype(),
                Select(IsValid(lanes), loaded.As<CastNode>()->value,
                       Broadcast(zero, lanes)));
  }

  Expr OnlyValidLoads(const Expr& e) const {
    if (!e.As<LoadNode>()) {
      return MapOperands(e, [&](const Expr& x) { return OnlyValidLoads(x); });
    }
    const int lanes = e.dtype().lanes();
    if (lanes == 1) return e;
    const Expr zero = Constant(0, e.dtype().Element());
    return Call(e.dtype(), Intrinsic::kIfThenElse,
                {IsValid(lanes), e, Broadcast(zero, lanes)});
  }

  Stmt Vectors(const StoreNode& store, const NarrowProduct& product,
               const BinaryNode* factors) const {
    LaneMapper sums(lanes_.var, lanes_.min, count_);
    const Expr index = sums.Map(store.indices[0]);
    const Var both(lanes_.var.name());
    LaneMapper products(both, Int(0), count_ * together_);
    Expr a = Map(&products, both, factors->a);
    Expr b = Map(&products, both, factors->b);
    if (!index || !a || !b || index.dtype().lanes() != count_) return nullptr;
    if (valid_ < together_) {
      Expr& still = StrideOf(product.a, lanes_.var) == 0 ? a : b;
      still = OnlyValid(still);
      if (!still) return nullptr;
    }
    return MakeStore(
        store.buffer,
        Add(Load(store.buffer, {index}), LaneSums(Mul(a, b), together_)),
        {index});
  }

  const ForNode& lanes_;
  const ForNode& steps_;
  const DotInstructions& dots_;
  int count_ = 0;      // of lanes
  int64_t valid_ = 0;  // steps of the loop
  int together_ = 0;   // steps of an instruction
};

Stmt Form(const Stmt& s, const DotInstructions& dots) {
  const auto* loop = s.As<ForNode>();
  const auto* inner = loop ? loop->body.As<ForNode>() : nullptr;
  if (inner && loop->for_kind == ForKind::kVectorized &&
      inner->for_kind == ForKind::kUnrolled) {
    if (Stmt dot = DotProduct(*loop, *inner, dots).Run()) return dot;
  }
  return MapChildren(s, [&](const Stmt& child) { return Form(child, dots); });
}

}  // namespace

absl::StatusOr<Function> FormDotProducts(Function f, const Machine& machine) {
  DotInstructions dots = machine.vectors.dots;
  if (IsStrict(f)) dots.bf16 = false;
  if (dots == DotInstructions()) return f;
  Stmt body = Form(f.body, dots);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
