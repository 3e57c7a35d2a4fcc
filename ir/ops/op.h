// The table of ops: what each gives, and how it is computed.
//
// What its arguments and attributes are called stands in ir/graph/signature.h.
// docs/adding_an_op.md is the checklist for a new one.
#ifndef KILN_IR_OPS_OP_H_
#define KILN_IR_OPS_OP_H_

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A computation on tensors: formulas over the inputs, or a function whose
// parameters are the inputs, the scalars that it needs besides (variables of
// the call's struct info, by identity), and the outputs.
struct Lowered {
  Lowered() = default;
  Lowered(te::Tensor output) : outputs({std::move(output)}) {}  // NOLINT
  Lowered(std::vector<te::Tensor> outputs)                      // NOLINT
      : outputs(std::move(outputs)) {}
  Lowered(Function function) : function(std::move(function)) {}  // NOLINT
  std::vector<te::Tensor> outputs;
  std::optional<Function> function;
  // Whether inputs that no formula reads are handed over all the same.
  bool keeps_unread = false;
};

// What the call gives. Says as much as the arguments tell: ranks and extents
// may be unknown. Refuses a call that is ill-typed whatever is unknown.
using InferFn = absl::StatusOr<graph::StructInfo> (*)(const OpCall& call);

// The computation. `inputs` has a placeholder for each tensor argument, tuples
// field by field; their extents are known (maybe symbolic), and inference has
// accepted the call. Unimplemented: this call stays as it is.
using LowerFn = absl::StatusOr<Lowered> (*)(
    const OpCall& call, const std::vector<te::Tensor>& inputs);

// Another expression that means the same, over the same arguments: a call of a
// packed function or of other ops, or a sequence of bindings of such calls,
// without struct info. For ops that are no computation on tensors.
using ExpandFn = absl::StatusOr<graph::Expr> (*)(const OpCall& call);

struct OpRow {
  std::string_view name;
  InferFn infer;
  LowerFn lower = nullptr;    // null: not by a tensor function
  ExpandFn expand = nullptr;  // null: not by other calls
  bool is_pure = true;
};

// The row, or nullptr for an op that Kiln does not know.
const OpRow* FindOp(std::string_view name);

// All of them, by name.
const std::vector<const OpRow*>& Ops();

// --- The families (ir/ops/<family>), for the table.
absl::Span<const OpRow> ElementwiseOps();
absl::Span<const OpRow> ActivationOps();
absl::Span<const OpRow> ChoiceOps();
absl::Span<const OpRow> ReductionOps();
absl::Span<const OpRow> SearchOps();
absl::Span<const OpRow> ScanOps();
absl::Span<const OpRow> ShapeOps();
absl::Span<const OpRow> ReshapeOps();
absl::Span<const OpRow> StretchOps();
absl::Span<const OpRow> RepeatOps();
absl::Span<const OpRow> JoinOps();
absl::Span<const OpRow> SliceOps();
absl::Span<const OpRow> DynamicSliceOps();
absl::Span<const OpRow> LayoutOps();
absl::Span<const OpRow> GatherOps();
absl::Span<const OpRow> ScatterOps();
absl::Span<const OpRow> CreationOps();
absl::Span<const OpRow> DiagonalOps();
absl::Span<const OpRow> OrderOps();
absl::Span<const OpRow> DistinctOps();
absl::Span<const OpRow> BinOps();
absl::Span<const OpRow> ProductOps();
absl::Span<const OpRow> ProgramOps();
absl::Span<const OpRow> ConvolutionOps();
absl::Span<const OpRow> PoolingOps();
absl::Span<const OpRow> NetworkOps();
absl::Span<const OpRow> ImageOps();
absl::Span<const OpRow> VisionOps();

// The rows of the parts of a family.
inline std::vector<OpRow> JoinRows(
    std::initializer_list<absl::Span<const OpRow>> parts) {
  std::vector<OpRow> rows;
  for (const auto& part : parts) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace kiln

#endif  // KILN_IR_OPS_OP_H_
