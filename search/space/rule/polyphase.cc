// A transposed convolution by s reads an element where (y + r) % s == 0, and
// zero otherwise. With outputs y = s * y' + p and taps r = s * r' + q, that is
// decided by the phases p and q alone, and lowering leaves the rest out, of
// which it is told by the mark kPhases (ir/tensor/marks.h):
//
//   for y, r:                           for p in s, y', q in s, r':
//     C[y] += if_then_else(      →        C'[p, y'] += if_then_else(
//       (y + r) % s == 0, ...)              (p + q) % s == 0, ...)
//                                       C[s * y' + p] = C'[p, y']
//
// Outputs and taps that are no multiple of s are rounded up to one first; taps
// that there are not are under a condition of r' and q (pad_domain.h).
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/feature/approximate_index.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// Iterators by position, and by what to divide them.
using Phases = std::map<size_t, int64_t>;

// e of `e % divisor == 0`, or null.
Expr Dividend(const Expr& condition, int64_t* divisor) {
  const auto* equal = condition.As<BinaryNode>();
  if (!equal || condition.kind() != ExprKind::kEQ || !IsZero(equal->b)) {
    return nullptr;
  }
  const auto* mod = equal->a.As<BinaryNode>();
  if (!mod || equal->a.kind() != ExprKind::kFloorMod) return nullptr;
  const int64_t* constant = AsInt(mod->b);
  if (!constant || *constant < 2) return nullptr;
  *divisor = *constant;
  return mod->a;
}

// Adds the iterators that decide `dividend % divisor`; false where they cannot
// be told.
bool AddPhases(const Expr& dividend, int64_t divisor,
               const ApproximateScope& scope, Phases* phases) {
  const ApproximateIndex form = scope.Evaluate(dividend);
  if (form.unknown) return false;
  for (const ApproximateTerm& term : form.terms) {
    const auto coefficient = static_cast<int64_t>(term.coefficient);
    if (coefficient != term.coefficient) return false;
    if (coefficient % divisor == 0) continue;
    const auto [at, is_new] = phases->emplace(term.loop, divisor);
    if (!is_new && at->second != divisor) return false;
  }
  return true;
}

Phases FindPhases(const BlockNode& block, const BlockInfo& info) {
  ApproximateScope scope;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    scope.Bind(
        block.iters[i].var.get(),
        ApproximateIndex::OfLoop(static_cast<int>(i), info.axes[i].extent));
  }
  Phases phases;
  bool possible = true;
  VisitExprs(block.body, [&](const Expr& e) {
    int64_t divisor = 0;
    const Expr dividend = Dividend(e, &divisor);
    if (dividend) {
      possible &= AddPhases(dividend, divisor, scope, &phases);
    }
    return true;
  });
  return possible ? phases : Phases();
}

// (.., y, ..) → (.., y % s, y // s, ..)
IndexMap PhaseMap(size_t axes, const Phases& phases) {
  IndexMap map;
  for (size_t i = 0; i < axes; ++i) {
    map.inputs.push_back(Var("d" + std::to_string(i)));
    const Expr input = map.inputs.back();
    const auto phase = phases.find(i);
    if (phase == phases.end()) {
      map.outputs.push_back(input);
      continue;
    }
    map.outputs.push_back(FloorMod(input, Int(phase->second)));
    map.outputs.push_back(FloorDiv(input, Int(phase->second)));
  }
  return map;
}

// By how much extents are rounded up to whole phases; empty where all divide.
std::vector<int64_t> PaddingTo(const Phases& phases, const BlockInfo& info) {
  std::vector<int64_t> padding(info.axes.size(), 1);
  bool divides = true;
  for (const auto& [axis, divisor] : phases) {
    padding[axis] = divisor;
    divides &= info.axes[axis].extent % divisor == 0;
  }
  return divides ? std::vector<int64_t>() : padding;
}

absl::StatusOr<Schedule> Split(Schedule sch, Rv block, const BlockInfo& info,
                               const Phases& phases,
                               const RuleContext& context) {
  const std::vector<int64_t> padding = PaddingTo(phases, info);
  if (!padding.empty()) {
    KILN_RETURN_IF_ERROR(sch.PadDomain(block, padding));
  }
  KILN_RETURN_IF_ERROR(
      sch.TransformBlockLayout(block, PhaseMap(info.axes.size(), phases)));
  KILN_RETURN_IF_ERROR(sch.Annotate(block, kPhases, true));
  KILN_ASSIGN_OR_RETURN(const Rv copy,
                        sch.Reindex(block, Schedule::Side::kWrite, 0));
  KILN_RETURN_IF_ERROR(FinishInCopy(&sch, copy, context));
  if (!padding.empty()) KILN_RETURN_IF_ERROR(FinishInCopy(&sch, copy, context));
  return sch;
}

}  // namespace

std::vector<Schedule> Polyphase(const Schedule& sch, const std::string& block,
                                const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || !info->has_init || !info->has_condition) return {};
  Schedule next = sch;
  const absl::StatusOr<Rv> rv = next.GetBlock(block, f.name);
  if (!rv.ok()) {
    context.GaveUp("", rv.status());
    return {};
  }
  const std::optional<Path> path = FindBlock(f, next.Value(*rv));
  const BlockNode& node = *path->realize()->block;
  const Phases phases = FindPhases(node, *info);
  if (phases.empty()) return {};
  return OnlyWay(Split(std::move(next), *rv, *info, phases, context), context);
}

}  // namespace kiln
