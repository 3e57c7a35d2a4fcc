#include "kiln/ir/transform/graph/precision_policy.h"

#include <set>
#include <string>

namespace kiln {
namespace {

// They have an attribute `out_dtype`.
const std::set<std::string>& AlwaysOps() {
  static const auto* const ops = new std::set<std::string>{
      "matmul",
      "nn.conv1d",
      "nn.conv1d_transpose",
      "nn.conv2d",
      "nn.conv2d_transpose",
      "nn.conv3d",
      "nn.conv3d_transpose",
  };
  return *ops;
}

// Results are no larger than a few operands together.
const std::set<std::string>& FollowOps() {
  static const auto* const ops = new std::set<std::string>{
      "abs",
      "add",
      "broadcast_to",
      "ceil",
      "clip",
      "concat",
      "cos",
      "divide",
      "erf",
      "expand_dims",
      "flatten",
      "flip",
      "floor",
      "maximum",
      "minimum",
      "multiply",
      "negative",
      "nn.adaptive_avg_pool1d",
      "nn.adaptive_avg_pool2d",
      "nn.adaptive_avg_pool3d",
      "nn.avg_pool1d",
      "nn.avg_pool2d",
      "nn.avg_pool3d",
      "nn.batch_flatten",
      "nn.gelu",
      "nn.gelu_tanh",
      "nn.leakyrelu",
      "nn.max_pool1d",
      "nn.max_pool2d",
      "nn.max_pool3d",
      "nn.pad",
      "nn.pixel_shuffle",
      "nn.relu",
      "nn.relu6",
      "nn.silu",
      "permute_dims",
      "repeat",
      "reshape",
      "round",
      "sigmoid",
      "sign",
      "sin",
      "split",
      "squeeze",
      "stack",
      "strided_slice",
      "subtract",
      "take",
      "tanh",
      "tile",
      "tril",
      "triu",
      "trunc",
      "where",
  };
  return *ops;
}

}  // namespace

PrecisionPolicy PolicyOf(const graph::Expr& value) {
  const auto* call = value.As<graph::CallNode>();
  const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
  if (op && AlwaysOps().count(op->name) > 0) return PrecisionPolicy::kAlways;
  if (op && FollowOps().count(op->name) > 0) return PrecisionPolicy::kFollow;
  return PrecisionPolicy::kNever;
}

}  // namespace kiln
