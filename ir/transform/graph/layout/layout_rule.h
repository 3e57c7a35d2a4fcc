// What layouts do to calls of ops.
//
// A rule looks at a call of the program, and at the layouts in which its
// tensors stand; it says in which layouts the op wants them, what layouts its
// results then have, and how the call reads with them:
//
//   R.sum(x, axis=[2, 3])     x is 0 2 3 1 (NHWC)
//     ->  R.sum(x, axis=[1, 2])   a result that is 0 1
#ifndef KILN_IR_TRANSFORM_GRAPH_LAYOUT_LAYOUT_RULE_H_
#define KILN_IR_TRANSFORM_GRAPH_LAYOUT_LAYOUT_RULE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/transform/graph/layout/tensor_layout.h"

namespace kiln {

// By op ("relax.nn.conv2d"): the layouts of data, of the kernel, and of the
// result where it is not that of the data.
using DesiredLayouts = std::map<std::string, std::vector<std::string>>;

struct LayoutCall {
  const OpCall& call;
  const DesiredLayouts& desired;
  // Of the tensors among the arguments, fields of tuples one by one.
  std::vector<const graph::TensorInfo*> tensors;
  std::vector<TensorLayout> layouts;
  // Of the result, or of its fields.
  std::vector<const graph::TensorInfo*> results;

  Analyzer& analyzer() const { return call.analyzer(); }
  const AttrMap& attrs() const { return call.node().attrs; }
};

struct LayoutPlan {
  std::vector<TensorLayout> args;
  std::vector<TensorLayout> results;
  AttrMap attrs;
  // Arguments that are no tensors and change.
  std::map<size_t, graph::Expr> replaced;
};

// Nullopt: the op knows nothing of the layouts at hand; it wants its tensors as
// the program has them.
using LayoutRule = std::optional<LayoutPlan> (*)(const LayoutCall& call);

struct LayoutRow {
  std::string_view op;
  LayoutRule rule;
};

// Null for an op without a rule.
LayoutRule FindLayoutRule(std::string_view op);

// --- The families, for the table.
absl::Span<const LayoutRow> ElementRules();
absl::Span<const LayoutRow> AxisRules();
absl::Span<const LayoutRow> ReductionRules();
absl::Span<const LayoutRow> ShapeRules();
absl::Span<const LayoutRow> WindowRules();

// --- What rules share.

// All tensors and results as the first tensor stands, the attributes as given.
LayoutPlan FollowFirst(const LayoutCall& call, AttrMap attrs);

// Axes of the first tensor, from the front, of an attribute that names one or
// several; nullopt where it is None.
std::optional<std::vector<int>> AxesNamed(const LayoutCall& call,
                                          const std::string& attr);

// The attribute with each axis at its place in `layout`, one as one and several
// as several; nullopt where it is None or an axis has parts.
std::optional<Attr> MovedAxes(const LayoutCall& call, const std::string& attr,
                              const TensorLayout& layout);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_LAYOUT_LAYOUT_RULE_H_
