// A convolution becomes the product of its windows with its weights:
//
//   for h, w, f, r, s, c in (14, 14, 48, 3, 3, 64):
//     Y[h, w, f] += X[h + r, w + s, c] * W[r, s, c, f]
//
//   →   rows[m, k] = X[m // 14 + k // 192, m % 14 + k % 192 // 64, k % 64]
//       columns[n, k] = W[k // 192, k % 192 // 64, k % 64, n]
//       for m, n, k in (196, 48, 576):
//         sums[m, n] += rows[m, k] * columns[n, k]
//       Y[m // 14, m % 14, n] = sums[m, n]
//
// with zeros in rows and columns for what is beyond them.
#include "kiln/search/space/rule/matrix_form.h"

#include <algorithm>
#include <string>

#include "kiln/base/status_macros.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {
namespace {

// Of axes that become one each.
std::vector<const std::vector<int>*> GroupsOf(const MatrixAxes& axes) {
  std::vector<const std::vector<int>*> groups = {&axes.rows, &axes.columns};
  if (!axes.outer_steps.empty()) groups.push_back(&axes.outer_steps);
  groups.push_back(&axes.steps);
  return groups;
}

IndexMap FusedMap(const BlockInfo& info, const MatrixAxes& axes) {
  IndexMap map;
  for (size_t i = 0; i < info.axes.size(); ++i) {
    map.inputs.push_back(Var("i" + std::to_string(i)));
  }
  for (const int axis : axes.batch) map.outputs.push_back(map.inputs[axis]);
  for (const auto* group : GroupsOf(axes)) {
    Expr fused = Int(0);
    for (const int axis : *group) {
      fused = Add(Mul(fused, Int(info.axes[axis].extent)), map.inputs[axis]);
    }
    map.outputs.push_back(fused);
  }
  return map;
}

// Whether the axes are those of matrices already.
bool AreMatrices(const BlockInfo& info, const MatrixAxes& axes) {
  std::vector<int> order = axes.batch;
  const auto groups = GroupsOf(axes);
  for (const auto* group : groups) {
    order.insert(order.end(), group->begin(), group->end());
  }
  return std::is_sorted(order.begin(), order.end()) &&
         std::all_of(groups.begin(), groups.end(),
                     [](const auto* group) { return group->size() == 1; }) &&
         order.size() == info.axes.size();
}

// The copy that the product reads: what pads `copy`, which becomes part of it,
// or `copy` itself.
absl::StatusOr<Rv> WithPadding(Schedule* sch, Rv copy, Rv product) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> users, sch->GetConsumers(copy));
  if (users.size() != 1) {
    return absl::FailedPreconditionError("the operand has other users");
  }
  if (sch->Value(users[0]) == sch->Value(product)) return copy;
  KILN_RETURN_IF_ERROR(sch->ComputeInline(copy));
  return users[0];
}

// Of the sums, where they go without their padding.
absl::StatusOr<Rv> WithoutPadding(Schedule* sch, Rv copy, Rv product) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> users,
                        sch->GetConsumers(product));
  if (users.size() != 1) {
    return absl::FailedPreconditionError("the sums have other users");
  }
  if (sch->Value(users[0]) != sch->Value(copy)) {
    KILN_RETURN_IF_ERROR(sch->ReverseComputeInline(copy));
  }
  return users[0];
}

bool Pads(const BlockInfo& info, const std::vector<int>& axes, int64_t to) {
  return ExtentOf(info, axes) % to != 0;
}

}  // namespace

int64_t ExtentOf(const BlockInfo& info, const std::vector<int>& axes) {
  int64_t extent = 1;
  for (const int axis : axes) extent *= info.axes[axis].extent;
  return extent;
}

std::optional<MatrixAxes> MatrixAxesOf(const BlockInfo& info) {
  const int contiguous = info.ContiguousAxis();
  if (info.reads.size() != 2 || contiguous < 0) return std::nullopt;
  const int columns = info.reads[0].Uses(contiguous) ? 0 : 1;
  MatrixAxes axes;
  axes.row_operand = info.reads[1 - columns];
  axes.column_operand = info.reads[columns];
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    const bool is_one = info.axes[i].extent == 1;
    const bool moves_rows = axes.row_operand.Uses(i) || is_one;
    const bool moves_columns =
        axes.column_operand.Uses(i) && !(is_one && i != contiguous);
    const bool moves_both = moves_rows && moves_columns;
    if (info.axes[i].reduce && !moves_both && !is_one) return std::nullopt;
    if (!moves_rows && !moves_columns) return std::nullopt;
    (info.axes[i].reduce ? axes.steps
     : !moves_columns    ? axes.rows
     : !moves_rows       ? axes.columns
                         : axes.batch)
        .push_back(i);
  }
  const bool is_product = !axes.rows.empty() && !axes.columns.empty() &&
                          !axes.steps.empty() &&
                          axes.columns.back() == contiguous;
  return is_product ? std::optional(axes) : std::nullopt;
}

std::vector<int> ContiguousSteps(const BlockInfo& info,
                                 const MatrixAxes& axes) {
  std::vector<int> inner;
  double stride = 1;
  for (auto axis = axes.steps.rbegin(); axis != axes.steps.rend(); ++axis) {
    const int64_t extent = info.axes[*axis].extent;
    if (extent > 1 && axes.row_operand.strides[*axis] != stride) break;
    inner.insert(inner.begin(), *axis);
    stride *= static_cast<double>(extent);
  }
  return inner;
}

MatrixAxes WithOuterSteps(MatrixAxes axes, size_t inner) {
  const auto first = axes.steps.end() - static_cast<ptrdiff_t>(inner);
  axes.outer_steps.assign(axes.steps.begin(), first);
  axes.steps.erase(axes.steps.begin(), first);
  return axes;
}

absl::StatusOr<MatrixForm> ToMatrixForm(Schedule* sch, Rv block,
                                        const BlockInfo& info,
                                        const MatrixAxes& axes,
                                        const MatrixPadding& padding,
                                        const RuleContext& context) {
  if (!AreMatrices(info, axes)) {
    KILN_RETURN_IF_ERROR(
        sch->TransformBlockLayout(block, FusedMap(info, axes)));
  }
  MatrixForm form{.product = block};
  KILN_ASSIGN_OR_RETURN(form.rows, sch->Reindex(block, Schedule::Side::kRead,
                                                axes.row_operand.index));
  KILN_ASSIGN_OR_RETURN(form.columns, sch->Reindex(block, Schedule::Side::kRead,
                                                   axes.column_operand.index));
  KILN_ASSIGN_OR_RETURN(form.result,
                        sch->Reindex(block, Schedule::Side::kWrite, 0));
  if (Pads(info, axes.rows, padding.rows) ||
      Pads(info, axes.columns, padding.columns) ||
      Pads(info, axes.steps, padding.steps)) {
    std::vector<int64_t> multiples(axes.batch.size(), 1);
    multiples.insert(multiples.end(), {padding.rows, padding.columns});
    if (!axes.outer_steps.empty()) multiples.push_back(1);
    multiples.push_back(padding.steps);
    KILN_RETURN_IF_ERROR(sch->PadEinsum(block, multiples));
  }
  KILN_ASSIGN_OR_RETURN(form.rows, WithPadding(sch, form.rows, block));
  KILN_ASSIGN_OR_RETURN(form.columns, WithPadding(sch, form.columns, block));
  KILN_ASSIGN_OR_RETURN(form.result, WithoutPadding(sch, form.result, block));
  KILN_RETURN_IF_ERROR(FinishInCopy(sch, form.result, context));
  return form;
}

}  // namespace kiln
