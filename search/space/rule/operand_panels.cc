// For a matrix of K x M elements, panels of 48 columns, and some rows of it
// into all panels before the next rows:
//
//   parallel k outer:
//     panels, 8 rows:
//       columns of the panel (vectors):  P[m // 48, k, m % 48] = B[k, m]
//
// Of pairs of steps a vector holds half as many columns, each for both steps:
//
//       P[m // 24, k // 2, m % 24, k % 2] = B[k, m]
//
// and so do those of dot products, of one sum for both or for four.
#include "kiln/search/space/rule/operand_panels.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/strassen_parts.h"
#include "kiln/search/space/rule/transposes.h"

namespace kiln {
namespace {

constexpr int64_t kRowsPacked = 8;  // at most, into all panels

}  // namespace

// Whether a reduction, or a part of one, moves through the dimension.
bool OperandPanels::IsSummed(int dim) const {
  const double step = StepOf(operand(), dim);
  for (int i = 0; i < static_cast<int>(info_.axes.size()); ++i) {
    const bool sums = info_.axes[i].reduce || i == axes_.pair;
    if (sums && operand().strides[i] == step) return true;
  }
  return false;
}

int64_t OperandPanels::ColumnsOfVector() const {
  return LanesOf(info_, axes_, context_.registers) / LanesOfColumn(axes_);
}

int OperandPanels::DimOfSteps() const {
  if (StepsTogether(axes_) == 1) return -1;
  return DimAlong(operand(), axes_.pair >= 0 ? axes_.pair : axes_.unroll);
}

bool OperandPanels::PadsSteps() const {
  const int dim = DimOfSteps();
  return dim >= 0 && operand().shape[dim] % StepsTogether(axes_) != 0;
}

IndexMap OperandPanels::Layout() const {
  IndexMap map;
  for (int i = 0; i < operand().dims(); ++i) {
    map.inputs.push_back(Var("d" + std::to_string(i)));
  }
  Expr column = map.inputs.back();
  const int64_t columns = info_.axes[axes_.column].extent;
  if (HoldsOtherColumns(info_, axes_, operand())) {
    map.outputs.push_back(FloorDiv(column, Int(columns)));
    column = FloorMod(column, Int(columns));
  }
  const Expr panel = Int(ColumnsOfVector() * std::max(1, choice_.vectors));
  map.outputs.push_back(FloorDiv(column, panel));
  const int grouped = DimOfSteps();
  const Expr steps = Int(StepsTogether(axes_));
  for (const bool is_summed : {false, true}) {
    for (int i = 0; i + 1 < operand().dims(); ++i) {
      if (IsSummed(i) != is_summed) continue;
      map.outputs.push_back(i == grouped ? FloorDiv(map.inputs[i], steps)
                                         : map.inputs[i]);
    }
  }
  map.outputs.push_back(FloorMod(column, panel));
  if (grouped >= 0) {
    map.outputs.push_back(FloorMod(map.inputs[grouped], steps));
  }
  return map;
}

absl::Status OperandPanels::Pack(Schedule* sch, Rv block) {
  const Function& f = FunctionOf(*sch, context_);
  const auto maker = MakerOf(f, info_, operand());
  if (maker && !choice_.near && DimOfSteps() < 0) {
    KILN_ASSIGN_OR_RETURN(maker_, sch->GetBlock(*maker, f.name));
  } else {
    const std::vector<Rv> alone = {block};
    KILN_ASSIGN_OR_RETURN(
        copy_, sch->CacheRead(
                   block, operand().index, "global",
                   IsShared(f, info_, operand()) ? alone : std::vector<Rv>()));
  }
  KILN_RETURN_IF_ERROR(sch->TransformLayout(
      maker_ ? *maker_ : *copy_, Schedule::Side::kWrite, 0, Layout(), 0.0));
  return copy_ ? InlineTranspose(sch) : absl::OkStatus();
}

// A transpose of the operand for this block alone is done where panels are
// made.
absl::Status OperandPanels::InlineTranspose(Schedule* sch) {
  const Function& f = FunctionOf(*sch, context_);
  const std::optional<Path> copy = FindBlock(f, sch->Value(*copy_));
  const auto transpose = TransposeBefore(f, copy->realize()->block->name);
  if (!transpose) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const Rv block, sch->GetBlock(*transpose, f.name));
  const absl::Status inlined = sch->ComputeInline(block);
  context_.WentOn("a transpose done where panels are made", inlined);
  transposes_ = inlined.ok();
  return absl::OkStatus();
}

absl::Status OperandPanels::ComputeAt(Schedule* sch, Rv loop) const {
  return sch->ComputeAt(*copy_, loop, choice_.near_together);
}

absl::Status OperandPanels::Mark(Schedule* sch) const {
  if (maker_) return MarkMaker(sch);
  if (operand().layout_free) {
    KILN_RETURN_IF_ERROR(sch->Annotate(*copy_, kLayoutPreparation, true));
  }
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch->GetLoops(*copy_));
  if (transposes_ && DimOfSteps() < 0) return MarkTransposed(sch, loops);
  KILN_ASSIGN_OR_RETURN(const Rv vectors, VectorizeColumns(sch, &loops));
  if (choice_.near) return sch->Unroll(vectors);
  KILN_ASSIGN_OR_RETURN(const Rv outermost, Order(sch, loops));
  return Parallel(sch, outermost, context_);
}

// A few rows of what the maker reads into all panels, then the next rows.
absl::Status OperandPanels::MarkMaker(Schedule* sch) const {
  const Function& f = FunctionOf(*sch, context_);
  const std::optional<Path> path = FindBlock(f, sch->Value(*maker_));
  const auto maker = DescribeBlock(f, path->realize()->block->name);
  if (!maker) return absl::FailedPreconditionError("loops are no axes");
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Rv> outer,
      OrderChoices(sch, *maker_, maker->axes, kRowsPacked, ColumnsOfVector()));
  if (outer.empty()) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const Rv fused, sch->Fuse(outer));
  return Parallel(sch, fused, context_);
}

// The loop over steps side by side, which it takes off `loops`. These are over
// the dimensions of the panels, or still over those of the operand.
absl::StatusOr<Rv> OperandPanels::TakeSteps(Schedule* sch,
                                            std::vector<Rv>* loops) const {
  const bool are_of_panels =
      loops->size() > static_cast<size_t>(operand().dims());
  if (are_of_panels) {
    const Rv steps = loops->back();
    loops->pop_back();
    return steps;
  }
  Rv& steps = (*loops)[DimOfSteps()];
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                        sch->Split(steps, {Arg(), StepsTogether(axes_)}));
  steps = parts[0];
  return parts[1];
}

// Takes the loops of the columns off `loops`; gives the one over vectors.
absl::StatusOr<Rv> OperandPanels::VectorizeColumns(
    Schedule* sch, std::vector<Rv>* loops) const {
  std::optional<Rv> steps;
  if (DimOfSteps() >= 0) {
    KILN_ASSIGN_OR_RETURN(steps, TakeSteps(sch, loops));
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                        sch->Split(loops->back(), {Arg(), ColumnsOfVector()}));
  loops->pop_back();
  Rv lane = parts[1];
  if (steps) {
    KILN_RETURN_IF_ERROR(sch->Reorder({parts[0], lane, *steps}));
    KILN_ASSIGN_OR_RETURN(lane, sch->Fuse({lane, *steps}));
  }
  KILN_RETURN_IF_ERROR(sch->Vectorize(lane));
  return parts[0];
}

// Some columns of a panel at a time, as squares of them that are transposed
// in registers.
absl::Status OperandPanels::MarkTransposed(Schedule* sch,
                                           const std::vector<Rv>& loops) const {
  const size_t first = loops.size() - 2;
  const int64_t lanes = ColumnsOfVector();
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> rows,
                        sch->Split(loops[first], {Arg(), lanes}));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> columns,
                        sch->Split(loops[first + 1], {Arg(), lanes}));
  KILN_RETURN_IF_ERROR(
      sch->Reorder({columns[0], rows[0], rows[1], columns[1]}));
  KILN_RETURN_IF_ERROR(sch->Unroll(rows[1]));
  KILN_RETURN_IF_ERROR(sch->Vectorize(columns[1]));
  KILN_RETURN_IF_ERROR(sch->Annotate(*copy_, kTransposedCopy, true));
  if (choice_.near) return absl::OkStatus();
  std::vector<Rv> outer(loops.begin(), loops.end() - 2);
  outer.push_back(columns[0]);
  KILN_ASSIGN_OR_RETURN(const Rv fused, sch->Fuse(outer));
  return Parallel(sch, fused, context_);
}

// Reads the operand nearly as it lies: a few rows into all panels, then the
// next rows. Gives the loop over these. Where the last steps are padded, rows
// are a serial loop, which gets them as a part of its own, and panels are
// parallel.
absl::StatusOr<Rv> OperandPanels::Order(Schedule* sch,
                                        const std::vector<Rv>& loops) const {
  if (loops.size() < 2 || PadsSteps()) return loops.front();
  const int last = operand().dims() - 2;
  const int64_t rows_of_step = last == DimOfSteps() ? StepsTogether(axes_) : 1;
  const int64_t together =
      std::gcd(operand().shape[last] / rows_of_step, kRowsPacked);
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> rows,
                        sch->Split(loops.back(), {Arg(), together}));
  std::vector<Rv> outer(loops.begin() + 1, loops.end() - 1);
  outer.push_back(rows[0]);
  std::vector<Rv> all = outer;
  all.push_back(loops.front());
  all.push_back(rows[1]);
  KILN_RETURN_IF_ERROR(sch->Reorder(all));
  return sch->Fuse(outer);
}

}  // namespace kiln
