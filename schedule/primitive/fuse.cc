// The fused variable counts the iterations of the nest in their order, so that
// each old variable is a digit of it: modulo the iterations from its loop
// inwards, divided by those of the loops inside it. The order of iterations
// stays; hence no dependence has to be looked at.
//
//   for i, j, k in T.grid(3, 5, 7): B(i, j, k)
//   =>
//   for i_j_k_fused in range(105):
//     B(i_j_k_fused // 35, i_j_k_fused % 35 // 7, i_j_k_fused % 7)
//
// The product of the extents is the number of iterations but for two negative
// ones: T.grid(-3, -5, 7) runs nothing, and range(105) would. With one negative
// extent the product is not positive, and the fused loop runs nothing either.
#include "kiln/schedule/primitive/fuse.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/rebind.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/loop_shape.h"

namespace kiln {
namespace {

constexpr char kName[] = "fuse";
// More than a dimension can have.
constexpr int64_t kMostElements = int64_t{1} << 62;

// The nest that begins at `outermost`, if the loops are exactly `ids`.
absl::StatusOr<std::vector<const ForNode*>> FindNest(
    const Function& f, const Stmt& outermost, const std::vector<LoopId>& ids) {
  std::vector<const ForNode*> nest;
  const Stmt* at = &outermost;
  for (LoopId id : ids) {
    const auto* loop = at->As<ForNode>();
    if (!loop || loop->id != id) {
      KILN_ASSIGN_OR_RETURN(const Path other, RequireLoop(f, id, kName));
      return Refusal(
          kName,
          absl::StrCat(Describe(*other.loop()),
                       " is not the only statement in ",
                       Describe(nest.empty() ? *other.loop() : *nest.back())),
          "give loops outermost first, each directly in the one "
          "before; reorder brings them together");
    }
    nest.push_back(loop);
    at = &loop->body;
  }
  return nest;
}

absl::Status Check(const std::vector<const ForNode*>& nest) {
  for (size_t i = 0; i < nest.size(); ++i) {
    KILN_RETURN_IF_ERROR(CheckPlainLoopLike(*nest[i], *nest[0], kName));
    for (size_t j = 0; j < i; ++j) {
      if (UsesVar(nest[i]->extent, nest[j]->var)) {
        return Refusal(kName, absl::StrCat("the extent of ", Describe(*nest[i]),
                                           " depends on ", Describe(*nest[j])));
      }
    }
  }
  return absl::OkStatus();
}

// The extents of the loops after the i-th, multiplied: how far apart its
// iterations stand in the fused loop.
std::vector<Expr> Steps(const std::vector<const ForNode*>& nest) {
  std::vector<Expr> steps(nest.size() + 1);
  steps.back() = Int(1, nest[0]->extent.dtype());
  for (size_t i = nest.size(); i-- > 0;) {
    steps[i] = IsOne(steps[i + 1]) ? nest[i]->extent
                                   : Mul(nest[i]->extent, steps[i + 1]);
  }
  return steps;
}

bool SameConst(const Expr& a, const Expr& b) {
  const int64_t* x = AsInt(a);
  const int64_t* y = AsInt(b);
  return x && y && *x == *y;
}

bool HasConstSteps(const std::vector<Expr>& steps) {
  return std::all_of(steps.begin(), steps.end(),
                     [](const Expr& step) { return AsInt(step); });
}

// Refuses constant extents whose product does not fit in 64 bits: it is then
// no constant.
absl::Status CheckProduct(const std::vector<const ForNode*>& nest,
                          const Expr& product) {
  const bool all_known =
      std::all_of(nest.begin(), nest.end(),
                  [](const ForNode* loop) { return AsInt(loop->extent); });
  if (!all_known || AsInt(product)) return absl::OkStatus();
  return Refusal(kName, "the product of the extents overflows");
}

// Two loops with negative extents do not run; a loop over the product of these
// extents, which is positive, would.
absl::Status CheckSigns(const Function& f, const Path& path,
                        const std::vector<const ForNode*>& nest) {
  Analyzer analyzer;
  for (const Param& param : f.params) {
    for (const Expr& extent :
         param.buffer ? param.buffer->shape : std::vector<Expr>()) {
      const auto* dim = extent.As<VarNode>();
      if (dim) analyzer.Bind(Var(dim), {Int(0), Int(kMostElements)});
    }
  }
  for (const ForNode* loop : LoopsAbove(path)) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  const ForNode* negative = nullptr;
  for (const ForNode* loop : nest) {
    const int64_t* known = AsInt(loop->extent);
    if (known ? *known >= 0
              : analyzer.CanProveLessEqual(Int(0), loop->extent)) {
      continue;
    }
    if (negative) {
      return Refusal(
          kName, absl::StrCat("the extents of ", Describe(*negative), " and ",
                              Describe(*loop), " may both be negative"));
    }
    negative = loop;
  }
  return absl::OkStatus();
}

// The value of the i-th old variable: 0 for a loop of one iteration, and no
// remainder where all the loops outside it have one.
Expr Position(const Var& fused, const std::vector<Expr>& steps, size_t i) {
  if (SameConst(steps[i], steps[i + 1])) return Int(0, fused.dtype());
  Expr value = fused;
  if (!SameConst(steps[0], steps[i])) value = FloorMod(value, steps[i]);
  return IsOne(steps[i + 1]) ? value : FloorDiv(value, steps[i + 1]);
}

}  // namespace

absl::StatusOr<FuseResult> Fuse(const Function& f,
                                const std::vector<LoopId>& ids,
                                FuseOptions options) {
  if (ids.empty()) return BadArgument(kName, "no loops are given");
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, ids[0], kName));
  KILN_ASSIGN_OR_RETURN(const auto nest, FindNest(f, path.back(), ids));
  KILN_RETURN_IF_ERROR(Check(nest));
  KILN_RETURN_IF_ERROR(CheckSigns(f, path, nest));

  std::string name;
  for (const ForNode* loop : nest) name += loop->var.name() + "_";
  const Var fused(name + "fused", nest[0]->var.dtype());
  const std::vector<Expr> steps = Steps(nest);
  KILN_RETURN_IF_ERROR(CheckProduct(nest, steps[0]));
  const Expr extent =
      AsInt(steps[0]) ? steps[0] : Analyzer().Simplify(steps[0]);

  Rebinding rebinding;
  rebinding.preserve_unit_iters = options.preserve_unit_iters;
  rebinding.outside = LoopsAbove(path);
  rebinding.loops.push_back({fused, {Int(0, fused.dtype()), extent}});
  for (size_t i = 0; i < nest.size(); ++i) {
    const Expr position = Position(fused, steps, i);
    rebinding.values[nest[i]->var.get()] = position;
    if (HasConstSteps(steps)) {
      rebinding.simple[nest[i]->var.get()] = position;
    }
  }
  Stmt body = Rebind(nest.back()->body, rebinding);
  FuseResult result{f, 0};
  result.loop = result.function.NewId();
  result.function = ReplaceAt(
      std::move(result.function), path,
      MakeFor(result.loop, fused, extent, std::move(body), nest[0]->for_kind));
  return result;
}

}  // namespace kiln
