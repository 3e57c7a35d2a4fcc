#include "kiln/ir/graph/expr.h"

#include <algorithm>
#include <iterator>

namespace kiln::graph {

StructInfo Object() { return StructInfo(new ObjectInfo()); }

StructInfo Prim(DType dtype, Scalar value) {
  return StructInfo(new PrimInfo(dtype, std::move(value)));
}

StructInfo Shape(std::vector<Scalar> values) {
  return StructInfo(new ShapeInfo(std::move(values)));
}

StructInfo ShapeOfRank(int rank) { return StructInfo(new ShapeInfo(rank)); }

StructInfo Tensor(std::vector<Scalar> extents, DType dtype,
                  std::string device) {
  const int rank = static_cast<int>(extents.size());
  return StructInfo(new TensorInfo(ShapeOf(std::move(extents)), rank, dtype,
                                   std::move(device)));
}

StructInfo TensorOfRank(int rank, DType dtype, std::string device) {
  return StructInfo(new TensorInfo({}, rank, dtype, std::move(device)));
}

StructInfo TensorOfShape(Var shape, DType dtype, std::string device) {
  const auto* info = shape->info.As<ShapeInfo>();
  const int rank = info ? info->rank : kUnknownRank;
  return StructInfo(
      new TensorInfo(std::move(shape), rank, dtype, std::move(device)));
}

StructInfo Tuple(std::vector<StructInfo> fields) {
  return StructInfo(new TupleInfo(std::move(fields)));
}

StructInfo Callable(std::optional<std::vector<StructInfo>> params,
                    StructInfo result, bool is_pure) {
  return StructInfo(
      new FunctionInfo(std::move(params), std::move(result), is_pure));
}

Expr Op(std::string name) { return Expr(new OpNode(std::move(name))); }

Expr Global(std::string name) {
  return Expr(new GlobalVarNode(std::move(name)));
}

Expr Extern(std::string name) { return Expr(new ExternNode(std::move(name))); }

Expr Number(Scalar value) { return Expr(new PrimNode(std::move(value))); }

Expr Text(std::string value) { return Expr(new StringNode(std::move(value))); }

Expr ShapeOf(std::vector<Scalar> values) {
  return Expr(new ShapeNode(std::move(values)));
}

Expr TupleOf(std::vector<Expr> fields) {
  return Expr(new TupleNode(std::move(fields)));
}

Expr Item(Expr tuple, int index) {
  return Expr(new TupleItemNode(std::move(tuple), index));
}

Expr CallOp(std::string name, std::vector<Expr> args, AttrMap attrs,
            std::vector<StructInfo> infos) {
  return Expr(new CallNode(Op(std::move(name)), std::move(args),
                           std::move(attrs), std::move(infos)));
}

Expr Seq(std::vector<BindingBlock> blocks, Expr result) {
  std::vector<BindingBlock> joined;
  for (BindingBlock& block : blocks) {
    if (block.bindings.empty()) continue;
    if (block.is_dataflow || joined.empty() || joined.back().is_dataflow) {
      joined.push_back(std::move(block));
      continue;
    }
    std::vector<Binding>& bindings = joined.back().bindings;
    std::move(block.bindings.begin(), block.bindings.end(),
              std::back_inserter(bindings));
  }
  return Expr(new SeqNode(std::move(joined), std::move(result)));
}

}  // namespace kiln::graph
