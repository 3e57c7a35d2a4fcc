#include "kiln/tests/fuzz/layouts.h"

#include <functional>
#include <numeric>

#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/primitive/index_map.h"

namespace kiln {
namespace {

using Shape = std::vector<int64_t>;

Shape ShapeOf(const Function& f, size_t param) {
  Shape shape;
  for (const Expr& e : f.params[param].buffer->shape)
    shape.push_back(*AsInt(e));
  return shape;
}

int64_t SizeOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<int64_t>());
}

// The value of an index expression of an index map.
int64_t Evaluate(const Expr& e, const IndexMap& map, const Shape& at) {
  if (const int64_t* value = AsInt(e)) return *value;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    if (map.inputs[i].get() == e.get()) return at[i];
  }
  const auto* op = e.As<BinaryNode>();
  KILN_CHECK(op) << "an index map of an unforeseen kind";
  int64_t result = 0;
  KILN_CHECK(FoldInt(op->kind, Evaluate(op->a, map, at),
                     Evaluate(op->b, map, at), &result));
  return result;
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
  int64_t place = 0;
  for (size_t d = 0; d < to.size(); ++d) {
    place = place * to[d] + Evaluate(map.outputs[d], map, at);
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
                                             const Trace& trace) {
  ArgumentLayout layout;
  for (size_t p = 0; p < start.functions[0]->params.size(); ++p) {
    layout.shape.push_back(ShapeOf(*start.functions[0], p));
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
      Follow(step, ShapeOf(*state.functions[0], p), p, &layout);
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
