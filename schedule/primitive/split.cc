// The old variable is ((i_0 * f_1 + i_1) * f_2 + i_2) ...: that form stays in
// predicates and in bindings that are not affine; others are simplified.
#include "kiln/schedule/primitive/split.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/rebind.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/primitive/loop_shape.h"

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
Expr FlatPosition(const std::vector<Var>& vars,
                  const std::vector<Expr>& extents, bool preserve_unit_iters) {
  Expr flat;
  Expr step = Int(1, vars[0].dtype());
  std::vector<Expr> steps(vars.size());
  for (size_t i = vars.size(); i-- > 0;) {
    if (IsOne(extents[i]) && !preserve_unit_iters) return nullptr;
    steps[i] = step;
    step = Mul(extents[i], step);
  }
  for (size_t i = 0; i < vars.size(); ++i) {
    const Expr term = IsOne(steps[i]) ? Expr(vars[i]) : Mul(vars[i], steps[i]);
    flat = flat ? Add(flat, term) : term;
  }
  return flat;
}

}  // namespace

absl::StatusOr<SplitResult> Split(
    const Function& f, LoopId id,
    const std::vector<std::optional<int64_t>>& factors, SplitOptions options) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, id, kName));
  const ForNode& loop = *path.loop();
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(loop, factors));
  KILN_RETURN_IF_ERROR(Check(loop, plan, options));

  Rebinding rebinding;
  rebinding.preserve_unit_iters = options.preserve_unit_iters;
  rebinding.outside = LoopsAbove(path);
  rebinding.loops.reserve(factors.size());
  std::vector<Var> vars;
  vars.reserve(factors.size());
  Expr position;
  for (size_t i = 0; i < factors.size(); ++i) {
    const DType dtype = loop.var.dtype();
    vars.emplace_back(absl::StrCat(loop.var.name(), "_", i), dtype);
    rebinding.loops.push_back({vars[i], {Int(0, dtype), plan.extents[i]}});
    position =
        position ? Add(Mul(position, plan.extents[i]), vars[i]) : Expr(vars[i]);
  }
  rebinding.values[loop.var.get()] = position;
  if (Expr flat =
          FlatPosition(vars, plan.extents, options.preserve_unit_iters)) {
    rebinding.simple[loop.var.get()] = flat;
  }
  if (!plan.exact) rebinding.predicate = LT(position, loop.extent);

  SplitResult result{f, std::vector<LoopId>(factors.size())};
  for (LoopId& new_id : result.loops) new_id = result.function.NewId();
  Stmt body = Rebind(loop.body, rebinding);
  for (size_t i = factors.size(); i-- > 0;) {
    body = MakeFor(result.loops[i], vars[i], plan.extents[i], std::move(body));
  }
  result.function =
      ReplaceAt(std::move(result.function), path, std::move(body));
  return result;
}

}  // namespace kiln
