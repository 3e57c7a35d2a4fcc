#include "kiln/ir/te/te.h"

#include "kiln/base/check.h"
#include "kiln/ir/te/node.h"

namespace kiln::te {

IterVar ReduceAxis(Expr min, Expr extent, std::string name) {
  return IterVar(Var(std::move(name)), {std::move(min), std::move(extent)});
}

IterVar ReduceAxis(int64_t min, int64_t extent, std::string name) {
  return ReduceAxis(Int(min), Int(extent), std::move(name));
}

Value Sum(Expr source, std::vector<IterVar> axes) {
  return {Combiner::kSum, std::move(source), std::move(axes)};
}

Value Prod(Expr source, std::vector<IterVar> axes) {
  return {Combiner::kProd, std::move(source), std::move(axes)};
}

Value Max(Expr source, std::vector<IterVar> axes) {
  return {Combiner::kMax, std::move(source), std::move(axes)};
}

Value Min(Expr source, std::vector<IterVar> axes) {
  return {Combiner::kMin, std::move(source), std::move(axes)};
}

Tensor Placeholder(std::vector<Expr> shape, DType dtype, std::string name) {
  auto* node = new TensorNode;
  node->name = std::move(name);
  node->dtype = dtype;
  node->shape = std::move(shape);
  return Tensor(Buffer(node));
}

Tensor Compute(std::vector<Expr> shape, const Formula& formula,
               std::string name, ComputeOptions options) {
  auto* node = new TensorNode;
  Tensor result{Buffer(node)};
  KILN_CHECK(options.axes.empty() || options.axes.size() == shape.size())
      << name << ": a name for each axis";
  std::vector<Expr> indices;
  for (size_t d = 0; d < shape.size(); ++d) {
    node->axes.emplace_back(options.axes.empty() ? "i" + std::to_string(d)
                                                 : options.axes[d]);
    indices.push_back(node->axes.back());
  }
  node->value = formula(indices);
  node->name = std::move(name);
  node->dtype = node->value->source.dtype();
  node->shape = std::move(shape);
  node->annotations = std::move(options.annotations);
  return result;
}

}  // namespace kiln::te
