// The elements in another order, by an index map:
//
//   R.layout_transform(x, lambda i, j: (i, j // 4, j % 4))
//                                   y[i, k, l] = x[i, k * 4 + l]
//
// Extents are rounded up to whole parts: of 30 columns come 8 groups of 4. What
// is in no column is pad_value, or 0 where there is none.
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

struct Map {
  std::vector<Var> inputs;
  std::vector<Expr> outputs;
};

absl::StatusOr<Map> MapOf(const OpCall& call) {
  const AttrMap* attr = call.attr("index_map").map();
  const auto inputs = attr ? attr->find("inputs") : AttrMap::const_iterator();
  const auto outputs = attr ? attr->find("outputs") : AttrMap::const_iterator();
  Map map;
  if (!attr || inputs == attr->end() || outputs == attr->end() ||
      !inputs->second.list() || !outputs->second.list()) {
    return call.Error("`index_map` has to be a map of indices");
  }
  for (const Attr& input : *inputs->second.list()) {
    const auto* var = input.expr() ? input.expr()->As<VarNode>() : nullptr;
    if (!var) return call.Error("an input of `index_map` is no variable");
    map.inputs.emplace_back(var);
  }
  for (const Attr& output : *outputs->second.list()) {
    if (!output.expr()) return call.Error("an output is no expression");
    map.outputs.push_back(*output.expr());
  }
  return map;
}

// The parts that the map cuts `var` into are multiples of each other's extents;
// all of them are whole where its extent is a multiple of this.
int64_t WholePart(const Map& map, const Var& var) {
  int64_t part = 1;
  for (const Expr& output : map.outputs) {
    Visit(output, [&](const Expr& e) {
      const bool cuts =
          e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod;
      const auto* binary = e.As<BinaryNode>();
      const int64_t* by = cuts ? AsInt(binary->b) : nullptr;
      if (by && *by > 0 && *by < INT64_MAX / part && UsesVar(binary->a, var)) {
        part = std::lcm(part, *by);
      }
      return true;
    });
  }
  return part;
}

Expr RoundedUp(const Expr& extent, int64_t part) {
  if (part == 1) return extent;
  return Mul(FloorDiv(Plus(extent, part - 1), Int(part)), Int(part));
}

std::vector<LoopRange> WholeRanges(const Map& map, const Extents& extents) {
  std::vector<LoopRange> ranges;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t part = WholePart(map, map.inputs[d]);
    ranges.push_back({map.inputs[d], {Int(0), RoundedUp(extents[d], part)}});
  }
  return ranges;
}

// One more than the largest value of `output`; null where it is not known.
Expr ExtentOf(const Expr& output, const Map& map, const Extents& extents,
              Analyzer& analyzer) {
  const auto* cut = output.As<BinaryNode>();
  const Expr& source = cut && cut->kind == ExprKind::kFloorDiv && AsInt(cut->b)
                           ? cut->a
                           : output;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (source.get() != map.inputs[d].get()) continue;
    if (source.get() == output.get()) return extents[d];
    const int64_t by = *AsInt(cut->b);
    if (by > 0) return FloorDiv(Plus(extents[d], by - 1), Int(by));
  }
  const ConstBound bound = analyzer.Bound(output);
  return bound.min >= 0 && bound.max < INT64_MAX / 2 ? Int(bound.max + 1)
                                                     : Expr();
}

std::optional<Extents> Transformed(const Map& map, const Extents& extents) {
  Analyzer analyzer;
  for (const LoopRange& loop : WholeRanges(map, extents)) {
    analyzer.Bind(loop.var, loop.range);
  }
  Extents shape;
  for (const Expr& output : map.outputs) {
    shape.push_back(ExtentOf(output, map, extents, analyzer));
    if (!shape.back()) return std::nullopt;
  }
  return shape;
}

absl::StatusOr<StructInfo> InferTransform(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const Map map, MapOf(call));
  KILN_RETURN_IF_ERROR(
      CheckRank(call, 0, *x, static_cast<int>(map.inputs.size())));
  const int rank = static_cast<int>(map.outputs.size());
  const Extents* extents = KnownExtents(*x);
  if (!extents) return Like(*x, rank);
  std::optional<Extents> shape = Transformed(map, *extents);
  return shape ? Like(*x, *std::move(shape)) : Like(*x, rank);
}

absl::StatusOr<Expr> PadValue(const OpCall& call, DType dtype) {
  if (call.IsNone("pad_value")) return Constant(0, dtype);
  KILN_ASSIGN_OR_RETURN(const double value, call.Real("pad_value"));
  return Constant(value, dtype);
}

absl::StatusOr<Lowered> LowerTransform(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Map map, MapOf(call));
  const Extents& extents = in[0].shape();
  const std::optional<Extents> shape = Transformed(map, extents);
  KILN_ASSIGN_OR_RETURN(const Expr pad, PadValue(call, in[0].dtype()));
  const std::vector<LoopRange> loops = WholeRanges(map, extents);
  std::vector<Var> points;
  for (size_t d = 0; d < map.outputs.size(); ++d) {
    points.emplace_back(absl::StrCat("p", d));
  }
  const auto source =
      InvertIterMap(map.outputs, loops, {points.begin(), points.end()});
  if (!shape || !source) {
    return absl::UnimplementedError("the index map is not inverted");
  }
  return Lowered(te::Compute(
      *shape,
      [&](const Extents& i) -> te::Value {
        VarMap at;
        for (size_t d = 0; d < i.size(); ++d) at[points[d].get()] = i[d];
        Extents index;
        Expr is_inside;
        for (size_t d = 0; d < extents.size(); ++d) {
          index.push_back(Substitute((*source)[d], at));
          if (call.analyzer().CanProveEqual(loops[d].range.extent,
                                            extents[d])) {
            continue;
          }
          const Expr fits = LT(index[d], extents[d]);
          is_inside = is_inside ? And(is_inside, fits) : fits;
        }
        const Expr element = in[0](index);
        if (!is_inside) return element;
        return IfThenElse(is_inside, element, pad);
      },
      "layout_transform"));
}

constexpr OpRow kRows[] = {
    {"layout_transform", InferTransform, LowerTransform},
};

}  // namespace

absl::Span<const OpRow> LayoutOps() { return kRows; }

}  // namespace kiln
