// The old variable is a number whose digits are the new ones, in a mixed radix:
// i = ((i_0 * f_1 + i_1) * f_2 + i_2) ..., so that the new nest visits the old
// iterations in their order and each once. Digits can also count past the
// extent; then the blocks below get a predicate that cuts those values off, and
// a statement outside of blocks, which cannot carry one, is refused:
//
//   for i in range(13): B(vi = i)
//   =>  factors {None, 4}
//   for i_0, i_1 in T.grid(4, 4):
//     B(vi = i_0 * 4 + i_1)    where i_0 * 4 + i_1 < 13
//
// A binding that is the old variable alone gets the sum i_0 * s_0 + i_1 * s_1 +
// ... as it is, which spares a run of the simplifier. The nested form stays in
// predicates and in bindings that are not affine; others are simplified.
#include "kiln/schedule/primitive/split.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/rebind.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/loop_shape.h"

namespace kiln {
namespace {

constexpr char kName[] = "split";

struct Plan {
  std::vector<Expr> extents;  // of the new loops
  bool exact = false;         // the new loops visit no iteration too many
};

absl::StatusOr<int64_t> ProductOfKnown(
    const std::vector<std::optional<int64_t>>& factors) {
  int64_t product = 1;
  int unknown = 0;
  for (const auto& factor : factors) {
    if (!factor) {
      if (++unknown > 1) {
        return BadArgument(kName, "more than one factor is None",
                           "give all factors but one");
      }
      continue;
    }
    if (*factor < 1) {
      return BadArgument(kName,
                         absl::StrCat("factor ", *factor, " is not positive"));
    }
    if (!FoldInt(ExprKind::kMul, product, *factor, &product)) {
      return BadArgument(kName, "the product of the factors overflows");
    }
  }
  return product;
}

Expr Inferred(const Expr& extent, int64_t product) {
  if (const int64_t* value = AsInt(extent)) {
    return Int(*value / product + (*value % product != 0), extent.dtype());
  }
  const DType dtype = extent.dtype();
  return Analyzer().Simplify(
      FloorDiv(Add(extent, Int(product - 1, dtype)), Int(product, dtype)));
}

absl::StatusOr<Plan> MakePlan(
    const ForNode& loop, const std::vector<std::optional<int64_t>>& factors) {
  if (factors.empty()) return BadArgument(kName, "no factors are given");
  KILN_ASSIGN_OR_RETURN(const int64_t product, ProductOfKnown(factors));
  Plan plan;
  plan.extents.reserve(factors.size());
  Expr total = Int(product, loop.extent.dtype());
  for (const auto& factor : factors) {
    plan.extents.push_back(factor ? Int(*factor, loop.extent.dtype())
                                  : Inferred(loop.extent, product));
    if (!factor) total = Mul(plan.extents.back(), total);
  }
  const int64_t* have = AsInt(total);
  const int64_t* want = AsInt(loop.extent);
  if (want && !have) {
    return BadArgument(kName, "the product of the factors overflows");
  }
  plan.exact = have && want ? *have == *want
                            : Analyzer().CanProveEqual(total, loop.extent);
  // A factor that was inferred makes the product reach the extent.
  const bool inferred =
      std::find(factors.begin(), factors.end(), std::nullopt) != factors.end();
  const bool reaches =
      plan.exact || inferred ||
      (want ? *have >= *want
            : Analyzer().CanProveLessEqual(loop.extent, total));
  if (!reaches) {
    return Refusal(kName,
                   absl::StrCat("the factors make ", *have, " iterations, and ",
                                Describe(loop), " may have more"),
                   "use larger factors, or None for one of them");
  }
  return plan;
}

absl::Status Check(const ForNode& loop, const Plan& plan,
                   const SplitOptions& options) {
  KILN_RETURN_IF_ERROR(CheckPlainLoop(loop, kName));
  if (plan.exact) return absl::OkStatus();
  if (options.disable_predication) {
    return Refusal(kName,
                   absl::StrCat("the factors are not known to divide ",
                                Describe(loop), " exactly"),
                   "leave disable_predication off");
  }
  if (!AllInBlocks(loop.body)) {
    return Refusal(kName,
                   "the split is not exact and the loop holds statements "
                   "outside of blocks, which take no predicate",
                   "use factors that divide the extent");
  }
  return absl::OkStatus();
}

// The old variable as i_0 * s_0 + i_1 * s_1 + ...; null where a unit loop is
// not to be seen, which takes a simplifier.
Expr FlatPosition(const std::vector<LoopRange>& loops,
                  bool preserve_unit_iters) {
  Expr step = Int(1, loops[0].var.dtype());
  absl::InlinedVector<Expr, 8> terms(loops.size());
  for (size_t i = loops.size(); i-- > 0;) {
    const auto& [var, range] = loops[i];
    if (IsOne(range.extent) && !preserve_unit_iters) return nullptr;
    terms[i] = IsOne(step) ? Expr(var) : Mul(var, step);
    step = Mul(range.extent, std::move(step));
  }
  Expr flat = std::move(terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) {
    flat = Add(std::move(flat), std::move(terms[i]));
  }
  return flat;
}

// The new loops in place of the old one.
Rebinding Rebound(const ForNode& loop, const Plan& plan, SplitOptions options) {
  Rebinding rebinding;
  rebinding.preserve_unit_iters = options.preserve_unit_iters;
  rebinding.loops.reserve(plan.extents.size());
  const DType dtype = loop.var.dtype();
  Expr position;
  for (const Expr& extent : plan.extents) {
    const size_t i = rebinding.loops.size();
    Var var(absl::StrCat(loop.var.name(), "_", i), dtype);
    position =
        position ? Add(Mul(std::move(position), extent), var) : Expr(var);
    rebinding.loops.push_back({std::move(var), {Int(0, dtype), extent}});
  }
  if (Expr flat = FlatPosition(rebinding.loops, options.preserve_unit_iters)) {
    rebinding.simple.emplace(loop.var.get(), std::move(flat));
  }
  if (!plan.exact) rebinding.predicate = LT(position, loop.extent);
  rebinding.values.emplace(loop.var.get(), std::move(position));
  return rebinding;
}

}  // namespace

absl::StatusOr<SplitResult> Split(
    const Function& f, LoopId id,
    const std::vector<std::optional<int64_t>>& factors, SplitOptions options) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, id, kName));
  const ForNode& loop = *path.loop();
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(loop, factors));
  KILN_RETURN_IF_ERROR(Check(loop, plan, options));

  Rebinding rebinding = Rebound(loop, plan, options);
  rebinding.outside = LoopsAbove(path);
  SplitResult result{f, std::vector<LoopId>(factors.size())};
  for (LoopId& new_id : result.loops) new_id = result.function.NewId();
  Stmt body = Rebind(loop.body, rebinding);
  for (size_t i = factors.size(); i-- > 0;) {
    auto& [var, range] = rebinding.loops[i];
    body = MakeFor(result.loops[i], std::move(var), std::move(range.extent),
                   std::move(body));
  }
  result.function.body = ReplaceAt(path, std::move(body));
  return result;
}

}  // namespace kiln
