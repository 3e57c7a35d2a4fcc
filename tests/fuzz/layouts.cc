// A parameter's new layout is a permutation of its elements into a larger
// array. It is followed element by element, by evaluating the index map of each
// transform_layout: slow, but by other code than the one under test. Of A[2, 3]
// with (i, j) → (j, i),
//
//   element   (0,0) (0,1) (0,2) (1,0) (1,1) (1,2)
//   place       0     2     4     1     3     5
//
// Several steps compose: the places of one step are mapped by the next. Places
// to which nothing goes hold the pad value of the step, or -77 where it has
// none.
#include "kiln/tests/fuzz/layouts.h"

#include <functional>
#include <numeric>
#include <unordered_map>

#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/rewrite/index_map.h"

namespace kiln {
namespace {

using Shape = std::vector<int64_t>;

int64_t SizeOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<int64_t>());
}

using Values = std::unordered_map<const ExprNode*, int64_t>;

// The value of an index or extent where variables have these values.
int64_t Evaluate(const Expr& e, const Values& values) {
  if (const int64_t* value = AsInt(e)) return *value;
  const auto found = values.find(e.get());
  if (found != values.end()) return found->second;
  const auto* op = e.As<BinaryNode>();
  KILN_CHECK(op) << "an index map of an unforeseen kind";
  int64_t result = 0;
  KILN_CHECK(FoldInt(op->kind, Evaluate(op->a, values), Evaluate(op->b, values),
                     &result));
  return result;
}

// The values that the shapes of `args` give to symbolic extents.
Values ExtentsOf(const Function& f, const std::vector<Tensor>& args) {
  Values values;
  for (size_t p = 0; p < args.size(); ++p) {
    if (!f.params[p].buffer) continue;
    const std::vector<Expr>& shape = f.params[p].buffer->shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!AsInt(shape[d])) values[shape[d].get()] = args[p].shape[d];
    }
  }
  return values;
}

Shape ShapeOf(const Function& f, size_t param, const Values& extents) {
  Shape shape;
  for (const Expr& e : f.params[param].buffer->shape) {
    shape.push_back(Evaluate(e, extents));
  }
  return shape;
}

Shape Unravel(int64_t i, const Shape& shape) {
  Shape at(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) at[d] = i % shape[d];
  return at;
}

// The place in `to` of element i of `from`.
int64_t Map(const IndexMap& map, int64_t i, const Shape& from,
            const Shape& to) {
  const Shape at = Unravel(i, from);
  Values values;
  for (size_t d = 0; d < at.size(); ++d) values[map.inputs[d].get()] = at[d];
  int64_t place = 0;
  for (size_t d = 0; d < to.size(); ++d) {
    place = place * to[d] + Evaluate(map.outputs[d], values);
  }
  return place;
}

double PadValue(const Arg& arg) {
  if (arg.integer()) return static_cast<double>(*arg.integer());
  return arg.real() ? *arg.real() : -77;
}

void Follow(const Instruction& step, const Shape& to, size_t param,
            ArgumentLayout* layout) {
  const IndexMap& map = step.args[2].index_map()->map;
  for (int64_t& place : layout->position[param]) {
    place = Map(map, place, layout->shape[param], to);
  }
  std::vector<double> padding(SizeOf(to), PadValue(step.args[3]));
  for (size_t i = 0; i < layout->padding[param].size(); ++i) {
    padding[Map(map, i, layout->shape[param], to)] = layout->padding[param][i];
  }
  layout->padding[param] = std::move(padding);
  layout->shape[param] = to;
}

}  // namespace

absl::StatusOr<ArgumentLayout> FollowLayouts(const State& start,
                                             const Trace& trace,
                                             const std::vector<Tensor>& args) {
  const Values extents = ExtentsOf(*start.functions[0], args);
  ArgumentLayout layout;
  for (size_t p = 0; p < args.size(); ++p) {
    layout.shape.push_back(args[p].shape);
    layout.position.emplace_back(SizeOf(layout.shape.back()));
    layout.padding.emplace_back(layout.position[p].size());
    std::iota(layout.position[p].begin(), layout.position[p].end(), 0);
  }
  State state = start;
  const Decisions decisions = GetDecisions(trace);
  for (size_t i = 0; i < trace.instructions.size(); ++i) {
    const auto before = state.functions[0];
    KILN_RETURN_IF_ERROR(Replay(trace, i, i + 1, decisions, 0, &state));
    const Instruction& step = trace.instructions[i];
    if (step.kind->name != "transform_layout") continue;
    for (size_t p = 0; p < before->params.size(); ++p) {
      if (before->params[p].buffer == state.functions[0]->params[p].buffer) {
        continue;
      }
      Follow(step, ShapeOf(*state.functions[0], p, extents), p, &layout);
    }
  }
  return layout;
}

std::vector<Tensor> ToNewLayout(const ArgumentLayout& layout,
                                const std::vector<Tensor>& args) {
  std::vector<Tensor> result;
  for (size_t p = 0; p < args.size(); ++p) {
    Tensor& t = result.emplace_back(args[p].dtype, layout.shape[p]);
    for (int64_t i = 0; i < t.size(); ++i) t.Set(i, layout.padding[p][i]);
    for (int64_t i = 0; i < args[p].size(); ++i) {
      t.Set(layout.position[p][i], args[p].GetReal(i));
    }
  }
  return result;
}

std::vector<Tensor> FromNewLayout(const ArgumentLayout& layout,
                                  const std::vector<Tensor>& args,
                                  const std::vector<Tensor>& like) {
  std::vector<Tensor> result = like;
  for (size_t p = 0; p < args.size(); ++p) {
    for (int64_t i = 0; i < result[p].size(); ++i) {
      result[p].Set(i, args[p].GetReal(layout.position[p][i]));
    }
  }
  return result;
}

}  // namespace kiln
