#include "kiln/codegen/lower/guards/split_at_borders.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "kiln/codegen/lower/guards/condition.h"
#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// The number of iterations from the first one on in which form >= 0, which are
// all such iterations; it may be negative, or more than there are. Nullopt
// where the form does not fall with the loop, or could not be computed before
// it.
std::optional<Expr> IterationsBefore(const Expr& condition,
                                     const ForNode& loop) {
  const auto test = lower::AsCondition(condition);
  if (!test || test->test != lower::Test::kNonNegative ||
      !lower::IsSafeIn({}, condition)) {
    return std::nullopt;
  }
  Linear rest = test->form;
  const VarNode* var = loop.var.get();
  const int64_t step = -rest.Coefficient(var);
  if (step <= 0 || rest.HidesVar([&](const auto* v) { return v == var; })) {
    return std::nullopt;
  }
  const auto* own = absl::c_find_if(
      rest.terms, [&](const Term& term) { return term.atom.get() == var; });
  rest.terms.erase(own);
  return Add(FloorDiv(IndexNormalizer().Build(rest), Int(step)), Int(1));
}

// Of a loop of constant extent whether it is an innermost one, and its interior
// of constant extent as well; of a parallel one, all but one iteration of it.
bool MaySplit(const ForNode& loop, const Expr& before) {
  const int64_t* extent = AsInt(loop.extent);
  const int64_t* interior = AsInt(before);
  const bool is_innermost = interior && !lower::GoesRound(loop.body);
  if (loop.for_kind == ForKind::kSerial) return !extent || is_innermost;
  return loop.for_kind == ForKind::kParallel && extent && is_innermost &&
         *interior == *extent - 1;
}

Stmt SplitLoop(const ForNode& loop) {
  const auto* choice = loop.body.As<IfNode>();
  const int64_t* first = AsInt(loop.min);
  if (!choice || !first || *first != 0) return Stmt(&loop);
  const auto before = IterationsBefore(choice->condition, loop);
  if (!before || !MaySplit(loop, *before)) return Stmt(&loop);
  const Expr count = Min(Max(*before, Int(0)), loop.extent);
  ForFields interior = loop.fields();
  interior.extent = count;
  interior.body = choice->then_case;
  if (!choice->else_case) return MakeFor(std::move(interior));
  ForFields border = loop.fields();
  border.for_kind = ForKind::kSerial;
  border.min = count;
  border.extent = Sub(loop.extent, count);
  border.body = choice->else_case;
  return MakeSeq({MakeFor(std::move(interior)), MakeFor(std::move(border))});
}

Stmt Split(const Stmt& s) {
  const Stmt inner =
      MapChildren(s, [](const Stmt& child) { return Split(child); });
  const auto* loop = inner.As<ForNode>();
  return loop ? SplitLoop(*loop) : inner;
}

}  // namespace

absl::StatusOr<Function> SplitAtBorders(Function f) {
  f.body = Split(f.body);
  return f;
}

}  // namespace kiln
