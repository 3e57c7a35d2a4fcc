// Every rule against differences: the loss is the sum of sin(y) over an op's
// result y, in double precision, and the adjoint of each element of each input
// is compared with
//
//   (loss(x + h) - loss(x - h)) / 2 h
//
// by the interpreter. An op of the table without a case here fails.
#include <cmath>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/graph_interp/value.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/gradient/gradient.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

constexpr double kStep = 1e-5;

struct RuleCase {
  const char* params;         // "x: 2, 3; w: 3", or "i: 4 int64" for indices
  const char* body;           // lines that bind y
  double low = -1, high = 1;  // of inputs
  bool is_stopped = false;    // the adjoint is zero, whatever differences say
};

constexpr char kLabels[] = "R.const([1, 0], \"int64\")";

const std::vector<RuleCase>& Cases() {
  static const auto* const cases = new std::vector<RuleCase>{
      {"x: 2, 3", "y = R.abs(x)", 0.1, 1},
      {"x: 2, 3", "y = R.abs(x)", -1, -0.1},
      {"x: 2, 3", "y = R.acos(x)", -0.9, 0.9},
      {"x: 2, 3", "y = R.acosh(x)", 1.2, 3},
      {"x: 2, 3", "y = R.asin(x)", -0.9, 0.9},
      {"x: 2, 3", "y = R.asinh(x)"},
      {"x: 2, 3", "a = R.astype(x, dtype=\"float64\")\ny = R.multiply(a, a)"},
      {"x: 2, 3", "y = R.atan(x)"},
      {"x: 2, 3", "y = R.atanh(x)", -0.9, 0.9},
      {"x: 2, 3", "y = R.ceil(x)", 0.1, 0.9},
      {"x: 4, 4", "y = R.clip(x, -0.5, 0.5)"},
      {"x: 2, 3", "y = R.cos(x)"},
      {"x: 2, 3", "y = R.cosh(x)"},
      {"x: 2, 3", "y = R.erf(x)"},
      {"x: 2, 3", "y = R.exp(x)"},
      {"x: 2, 3", "y = R.floor(x)", 0.1, 0.9},
      {"x: 2, 3", "a = R.grad.no_grad(x)\ny = R.exp(a)", -1, 1, true},
      {"x: 2, 3", "y = R.log(x)", 0.5, 2},
      {"x: 2, 3", "y = R.negative(x)"},
      {"x: 2, 3", "a = R.ones_like(x)\ny = R.multiply(a, x)"},
      {"x: 2, 3", "y = R.round(x)", 0.1, 0.4},
      {"x: 2, 3", "y = R.rsqrt(x)", 0.5, 2},
      {"x: 2, 3", "y = R.sigmoid(x)"},
      {"x: 2, 3", "y = R.sign(x)", 0.1, 1},
      {"x: 2, 3", "y = R.sin(x)"},
      {"x: 2, 3", "y = R.sinh(x)"},
      {"x: 2, 3", "y = R.sqrt(x)", 0.5, 2},
      {"x: 2, 3", "y = R.square(x)"},
      {"x: 2, 3", "y = R.tan(x)"},
      {"x: 2, 3", "y = R.tanh(x)"},
      {"x: 2, 3", "y = R.trunc(x)", 0.1, 0.9},
      {"x: 2, 3", "a = R.zeros_like(x)\ny = R.add(a, x)"},
      // Activations.
      {"x: 4, 4", "y = R.nn.gelu(x)", -2, 2},
      {"x: 4, 4", "y = R.nn.gelu_tanh(x)", -2, 2},
      {"x: 4, 4", "y = R.nn.leakyrelu(x, alpha=0.2)"},
      {"x: 2, 3, 2; a: 3", "y = R.nn.prelu(x, a, axis=1)"},
      {"x: 2, 3; a: 3", "y = R.nn.prelu(x, a, axis=-1)"},
      {"x: 4, 4", "y = R.nn.relu(x)"},
      {"x: 4, 4", "y = R.nn.relu6(x)", -3, 9},
      {"x: 4, 4", "y = R.nn.selu(x)"},
      {"x: 4, 4", "y = R.nn.silu(x)", -2, 2},
      {"x: 4, 4", "y = R.nn.softplus(x, beta=2.0, threshold=1.0)", -2, 2},
      // Of several.
      {"a: 2, 3; b: 3", "y = R.add(a, b)"},
      {"a: 2, 1; b: 1, 3", "y = R.subtract(a, b)"},
      {"a: 2, 3; b: 4, 2, 1", "y = R.multiply(a, b)"},
      {"a: 2, 3", "y = R.multiply(a, a)"},
      {"a: 2, 3", "y = R.multiply(a, R.const(2.5, \"float64\"))"},
      {"a: 2, 3; b: 3", "y = R.divide(a, b)", 0.5, 2},
      {"a: 2, 3; b: 3", "y = R.power(a, b)", 0.5, 2},
      {"a: 2, 3; b: 3", "y = R.maximum(a, b)"},
      {"a: 2, 3; b: 2, 1", "y = R.minimum(a, b)"},
      {"a: 2, 3; b: 3", "y = R.atan2(a, b)", 0.5, 2},
      {"a: 2, 3; b: 3", "y = R.log_add_exp(a, b)"},
      {"a: 2, 3; b: 3", "y = R.floor_mod(a, b)", 1, 3},
      {"a: 2, 3; b: 2, 3; c: 2, 3", "y = R.ewise_fma(a, b, c)"},
      {"a: 2, 3; b: 3",
       "c = R.greater(a, R.const(0.0, \"float64\"))\ny = R.where(c, a, b)"},
      // Reductions.
      {"x: 2, 3", "y = R.sum(x)"},
      {"x: 2, 3, 4", "y = R.sum(x, axis=[0, -1])"},
      {"x: 2, 3", "y = R.sum(x, axis=1, keepdims=True)"},
      {"x: 2, 3", "y = R.mean(x)"},
      {"x: 2, 3", "y = R.mean(x, axis=[-1])"},
      {"x: 2, 3", "y = R.max(x, axis=[1])"},
      {"x: 2, 3", "y = R.max(x)"},
      {"x: 2, 3", "y = R.min(x, axis=[0], keepdims=True)"},
      {"x: 2, 3", "y = R.cumsum(x, axis=1)"},
      {"x: 2, 3", "y = R.cumsum(x, axis=-2, exclusive=True)"},
      {"x: 2, 3", "y = R.cumsum(x)"},
      {"x: 2, 3", "y = R.prod(x)", 0.5, 2},
      {"x: 2, 3, 2; z: 2, 1, 1",
       "a = R.multiply(x, R.const([[[0.0], [1.0], [2.0]]], \"float64\"))\n"
       "p = R.prod(a, axis=[0, -2])\ny = R.multiply(p, z)"},
      {"x: 2, 3", "y = R.prod(x, axis=1, keepdims=True)"},
      {"x: 2, 3", "y = R.variance(x)"},
      {"x: 2, 3, 2", "y = R.variance(x, axis=[0, -1])"},
      {"x: 2, 3", "y = R.std(x, axis=[1], keepdims=True)"},
      {"x: 2, 3", "y = R.std(x)"},
      {"x: 2, 4", "y = R.cumprod(x, axis=1)"},
      {"x: 3, 2", "y = R.cumprod(x, axis=-2, exclusive=True)"},
      {"x: 2, 3", "y = R.cumprod(x)"},
      {"x: 2, 4",
       "a = R.multiply(x, R.const([1.0, 0.0, 2.0, 0.0], \"float64\"))\n"
       "y = R.cumprod(a, axis=1)"},
      // Shapes.
      {"x: 3", "y = R.broadcast_to(x, R.shape([2, 3]))"},
      {"x: 2, 3", "y = R.collapse_sum_to(x, R.shape([3]))"},
      {"x: 2, 3; z: 2, 1", "y = R.collapse_sum_like(x, z)"},
      {"a: 2, 3; b: 1, 3", "y = R.concat((a, b, a), axis=0)"},
      {"a: 2, 3", "y = R.concat((a,), axis=-1)"},
      {"x: 2, 3", "y = R.expand_dims(x, axis=[0, 2])"},
      {"x: 2, 3", "y = R.flatten(x)"},
      {"x: 2, 3",
       "a = R.flip(x, axis=1)\ny = R.multiply(a, R.const([1., 2., 3.], "
       "\"float64\"))"},
      {"x: 2, 3, 2", "y = R.nn.batch_flatten(x)"},
      {"x: 2, 3", "y = R.nn.pad(x, pad_width=[1, 0, 2, 1])"},
      {"x: 2, 3, 4; w: 4, 2, 3",
       "a = R.permute_dims(x, axes=[2, 0, -2])\ny = R.multiply(a, w)"},
      {"x: 2, 3; w: 3, 2", "a = R.permute_dims(x)\ny = R.multiply(a, w)"},
      {"x: 2, 3; w: 2, 6", "a = R.repeat(x, 2, axis=1)\ny = R.multiply(a, w)"},
      {"x: 2, 3; w: 12", "a = R.repeat(x, 2)\ny = R.multiply(a, w)"},
      {"x: 2, 3; w: 6", "a = R.reshape(x, R.shape([6]))\ny = R.multiply(a, w)"},
      {"x: 5, 2",
       "t = R.split(x, [1, 3], axis=0)\na = t[0]\nb = t[2]\ny = R.multiply(a, "
       "b)"},
      {"x: 2, 1, 3", "y = R.squeeze(x, axis=[1])"},
      {"a: 2, 3; b: 2, 3; w: 2, 2, 3",
       "s = R.stack((a, b), axis=1)\ny = R.multiply(s, w)"},
      {"x: 2, 3; w: 2, 2, 9", "a = R.tile(x, (2, 1, 3))\ny = R.multiply(a, w)"},
      {"x: 2, 3, 2; w: 2, 3, 4", "a = R.tile(x, 2)\ny = R.multiply(a, w)"},
      {"x: 3, 3", "y = R.tril(x, 1)"},
      {"x: 3, 3", "y = R.triu(x, 0)"},
      // Indices.
      {"x: 3, 4; i: 5 int64", "y = R.take(x, i, axis=1)"},
      {"x: 3, 4; i: 2, 2 int64", "y = R.take(x, i, axis=0)"},
      {"x: 4; i: 3 int64", "y = R.take(x, i, axis=0)"},
      {"x: 4; i: 3 int64", "y = R.take(x, i, axis=0, mode=\"wrap\")"},
      {"x: 3, 4; i: 3, 2 int64", "y = R.gather_elements(x, i, axis=1)"},
      {"x: 3, 5",
       "y = R.strided_slice(x, axes=[1, 0], begin=[1, -2], end=[4, 9])"},
      {"x: 7",
       "y = R.strided_slice(x, axes=[0], begin=[1], end=[7], "
       "strides=[2])"},
      {"x: 5, 6",
       "y = R.strided_slice(x, axes=[1, 0], begin=[5, 1], end=[0, 4], "
       "strides=[-2, 1])"},
      {"x: 5, 6",
       "y = R.strided_slice(x, axes=[0, -1], begin=[-1, 4], end=[-6, -7], "
       "strides=[-1, -3])"},
      {"x: 4",
       "y = R.strided_slice(x, axes=[0], begin=[3], end=[3], "
       "strides=[2])"},
      {"x: 4, 3; i: 2, 2 int64", "y = R.gather_nd(x, i)"},
      {"x: 4, 3; i: 3, 1 int64", "y = R.gather_nd(x, i)"},
      {"x: 4, 3; i: 2, 3 int64; u: 2, 3",
       "y = R.scatter_elements(x, i, u, axis=0)"},
      {"x: 3, 4; i: 3, 5 int64; u: 3, 5",
       "y = R.scatter_elements(x, i, u, axis=1)"},
      {"x: 3, 4; i: 3, 2 int64; u: 3, 2",
       "y = R.scatter_elements(x, i, u, axis=-1, reduction=\"add\")"},
      {"x: 4, 3; i: 5, 1 int64; u: 5, 3", "y = R.scatter_nd(x, i, u)"},
      {"x: 4, 3; i: 5, 2 int64; u: 5",
       "y = R.scatter_nd(x, i, u, reduction=\"add\")"},
      {"x: 3, 4; w: 3, 4", "a = R.sort(x, axis=1)\ny = R.multiply(a, w)"},
      {"x: 3, 4; w: 3, 4",
       "a = R.sort(x, axis=0, descending=True)\ny = R.multiply(a, w)"},
      // Products.
      {"a: 2, 3; b: 3, 4", "y = R.matmul(a, b)"},
      {"a: 5, 2, 3; b: 3, 4", "y = R.matmul(a, b)"},
      {"a: 2, 1, 2, 3; b: 3, 3, 2", "y = R.matmul(a, b)"},
      {"a: 3; b: 3", "y = R.matmul(a, b)"},
      {"a: 3; b: 3, 4", "y = R.matmul(a, b)"},
      {"a: 3; b: 2, 3, 4", "y = R.matmul(a, b)"},
      {"a: 2, 4, 3; b: 3", "y = R.matmul(a, b)"},
      {"a: 2; b: 3", "y = R.outer(a, b)"},
      {"a: 2, 2, 3; b: 3, 4", "y = R.einsum((a, b), \"bij,jk->bik\")"},
      {"a: 2, 3; b: 3, 2; c: 2", "y = R.einsum((a, b, c), \"ij,ji,i->\")"},
      {"a: 2, 3; b: 4", "y = R.einsum((a, b), \"ij,k->ki\")"},
      {"a: 2, 3; b: 3, 4", "y = R.einsum((a, b), \"ij, jk\")"},
      {"a: 2, 3", "y = R.einsum((a,), \"ij->ji\")"},
      {"q: 1, 3, 2, 4; k: 1, 5, 2, 4; v: 1, 5, 2, 3",
       "y = R.nn.attention(q, k, v)"},
      {"q: 2, 3, 1, 2; k: 2, 3, 1, 2; v: 2, 3, 1, 2",
       "y = R.nn.attention(q, k, v, scale=0.7, causal_mask=\"TopLeft\")"},
      {"q: 2, 2, 2, 2; k: 2, 3, 2, 2; v: 2, 3, 2, 1; b: 1, 2, 2, 3",
       "y = R.nn.attention_bias(q, k, v, b, causal_mask=\"BottomRight\")"},
      // Networks.
      {"x: 2, 3", "y = R.nn.softmax(x, axis=0)"},
      {"x: 2, 3", "y = R.nn.softmax(x)"},
      {"x: 2, 3", "y = R.nn.log_softmax(x)"},
      {"x: 2, 3", "t = R.nn.dropout(x, rate=0.5)\ny = t[0]"},
      {"x: 1, 8, 2, 3; w: 1, 2, 4, 6",
       "a = R.nn.pixel_shuffle(x, upscale_factor=2)\ny = R.multiply(a, w)"},
      {"x: 2, 3; l: 2, 3", "y = R.nn.cross_entropy_with_logits(x, l)"},
      {"x: 3; l: 3", "y = R.nn.cross_entropy_with_logits(x, l)"},
      {"x: 2, 3",
       "w = R.const([0.5, 1.0, 2.0], \"float64\")\ny = R.nn.nll_loss(x, $, w)"},
      {"x: 2, 3", "y = R.nn.nll_loss(x, $, reduction=\"none\")"},
      {"x: 2, 3", "y = R.nn.nll_loss(x, $, reduction=\"sum\")"},
      {"x: 2, 3, 4; g: 4; b: 4", "y = R.nn.layer_norm(x, g, b, axes=-1)"},
      {"x: 2, 3, 4; g: 3, 4; b: 3, 4",
       "y = R.nn.layer_norm(x, g, b, axes=[-2, -1])"},
      {"x: 2, 3; g: 3", "y = R.nn.rms_norm(x, g, axes=-1)"},
      {"x: 2, 4, 3; g: 4; b: 4",
       "y = R.nn.group_norm(x, g, b, num_groups=2, channel_axis=1, "
       "axes=[2])"},
      {"x: 2, 3, 6; g: 6; b: 6",
       "y = R.nn.group_norm(x, g, b, num_groups=3, channel_axis=-1, "
       "axes=[1], scale=False)"},
      {"x: 2, 3, 4; g: 3; b: 3",
       "y = R.nn.instance_norm(x, g, b, channel_axis=1, axes=[2])"},
      {"x: 3, 4, 2; g: 2; b: 2",
       "y = R.nn.instance_norm(x, g, b, channel_axis=-1, axes=[1], "
       "center=False, epsilon=0.01)"},
      {"x: 2, 3, 4; g: 3; b: 3; m: 3; v: 3",
       "t = R.nn.batch_norm(x, g, b, m, v, axis=1, epsilon=0.1)\ny = t[0]"},
      {"x: 4, 3; g: 3; b: 3; m: 3; v: 3",
       "t = R.nn.batch_norm(x, g, b, m, v, axis=-1, momentum=0.3)\n"
       "c = t[0]\nd = t[1]\ne = t[2]\nf = R.multiply(d, e)\n"
       "y = R.add(c, f)"},
      {"x: 2, 3, 4; g: 3; b: 3; m: 3; v: 3",
       "t = R.nn.batch_norm(x, g, b, m, v, axis=1, training=False)\n"
       "c = t[0]\nd = t[1]\ne = t[2]\nf = R.multiply(d, e)\n"
       "h = R.expand_dims(f, axis=[0, 2])\ny = R.add(c, h)",
       0.3, 1},
      // Windows.
      {"x: 1, 2, 5, 4; w: 3, 2, 3, 2", "y = R.nn.conv2d(x, w)"},
      {"x: 2, 2, 6, 5; w: 2, 2, 3, 2",
       "y = R.nn.conv2d(x, w, strides=(2, 3), padding=(1, 0, 0, 1))"},
      {"x: 1, 2, 6, 6; w: 2, 2, 2, 2",
       "y = R.nn.conv2d(x, w, strides=2, dilation=2, padding=1)"},
      {"x: 2, 4, 4, 3; w: 6, 2, 2, 2", "y = R.nn.conv2d(x, w, groups=2)"},
      {"x: 1, 4, 4, 2; w: 3, 2, 2, 3",
       "y = R.nn.conv2d(x, w, data_layout=\"NHWC\", kernel_layout=\"HWIO\", "
       "out_layout=\"NHWC\")"},
      {"x: 1, 2, 7; w: 3, 2, 3", "y = R.nn.conv1d(x, w, strides=2)"},
      {"x: 1, 1, 3, 3, 3; w: 2, 1, 2, 2, 2", "y = R.nn.conv3d(x, w)"},
      {"x: 1, 2, 3, 4; w: 2, 3, 3, 2", "y = R.nn.conv2d_transpose(x, w)"},
      {"x: 2, 2, 3, 3; w: 2, 2, 3, 2",
       "y = R.nn.conv2d_transpose(x, w, strides=(2, 3), padding=(1, 0, 0, 1), "
       "output_padding=(1, 2))"},
      {"x: 1, 4, 3, 3; w: 4, 1, 2, 2",
       "y = R.nn.conv2d_transpose(x, w, groups=2, dilation=2, strides=2)"},
      {"x: 1, 3, 3, 2; w: 2, 2, 2, 3",
       "y = R.nn.conv2d_transpose(x, w, data_layout=\"NHWC\", "
       "kernel_layout=\"HWIO\", out_layout=\"NCHW\")"},
      {"x: 1, 2, 4; w: 2, 3, 3",
       "y = R.nn.conv1d_transpose(x, w, strides=2, padding=1)"},
      {"x: 1, 1, 2, 2, 2; w: 1, 2, 2, 2, 2", "y = R.nn.conv3d_transpose(x, w)"},
      {"x: 1, 2, 4, 4",
       "y = R.nn.max_pool2d(x, pool_size=[2, 2], strides=[2, 2])"},
      {"x: 1, 2, 5, 4",
       "y = R.nn.avg_pool2d(x, pool_size=[3, 2], strides=[2, 1], padding=[1, "
       "1], count_include_pad=True)"},
  };
  return *cases;
}

struct Param {
  std::string name;
  std::vector<int64_t> shape;
  bool is_index = false;
};

std::vector<Param> ParamsOf(const RuleCase& c) {
  std::vector<Param> params;
  for (absl::string_view text : absl::StrSplit(c.params, "; ")) {
    const std::vector<std::string> parts = absl::StrSplit(text, ": ");
    Param param{parts[0], {}, absl::EndsWith(parts[1], " int64")};
    for (absl::string_view extent : absl::StrSplit(parts[1], ", ")) {
      param.shape.push_back(std::stoi(std::string(extent)));
    }
    params.push_back(std::move(param));
  }
  return params;
}

// The module, with a line for each of the body.
std::string TextOf(const RuleCase& c) {
  std::string text = "@R.function\ndef main(";
  for (const Param& param : ParamsOf(c)) {
    absl::StrAppend(&text, param.name, ": R.Tensor((");
    for (const int64_t extent : param.shape)
      absl::StrAppend(&text, extent, ",");
    absl::StrAppend(&text, "), \"", param.is_index ? "int64" : "float64",
                    "\"), ");
  }
  absl::StrAppend(&text, "):\n    with R.dataflow():\n");
  for (absl::string_view line : absl::StrSplit(c.body, '\n')) {
    absl::StrAppend(&text, "        ", line, "\n");
  }
  absl::StrAppend(&text,
                  "        z = R.sin(y)\n        loss = R.sum(z)\n"
                  "        R.output(loss)\n    return loss\n");
  const size_t labels = text.find('$');
  if (labels != std::string::npos) text.replace(labels, 1, kLabels);
  return text;
}

std::vector<Tensor> InputsOf(const RuleCase& c) {
  std::vector<Tensor> inputs;
  Random random(3);
  for (const Param& param : ParamsOf(c)) {
    Tensor tensor(param.is_index ? DType::Int(64) : DType::Float(64),
                  param.shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const double share = random.Unit();
      if (param.is_index) {
        tensor.SetInt(i, static_cast<int64_t>(share * 3));
      } else {
        tensor.Set(i, c.low + (c.high - c.low) * share);
      }
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

absl::StatusOr<graph::Value> Run(const Module& module, const std::string& name,
                                 const std::vector<Tensor>& inputs) {
  std::vector<graph::Value> values;
  for (const Tensor& input : inputs) values.push_back(graph::TensorOf(input));
  return graph::InterpretGraph(module, name, values);
}

const std::vector<graph::Value>& FieldsOf(const graph::Value& value) {
  return std::get<std::shared_ptr<const graph::TupleValue>>(value)->fields;
}

absl::StatusOr<double> Loss(const Module& module,
                            const std::vector<Tensor>& inputs) {
  KILN_ASSIGN_OR_RETURN(const graph::Value loss, Run(module, "main", inputs));
  return std::get<graph::TensorValue>(loss)->GetReal(0);
}

absl::StatusOr<double> Difference(const Module& module,
                                  std::vector<Tensor> inputs, size_t input,
                                  int64_t i) {
  const double x = inputs[input].GetReal(i);
  inputs[input].Set(i, x + kStep);
  KILN_ASSIGN_OR_RETURN(const double above, Loss(module, inputs));
  inputs[input].Set(i, x - kStep);
  KILN_ASSIGN_OR_RETURN(const double below, Loss(module, inputs));
  return (above - below) / (2 * kStep);
}

// Names of the inputs that have adjoints.
std::vector<std::string> Variables(const RuleCase& c) {
  std::vector<std::string> names;
  for (const Param& param : ParamsOf(c)) {
    if (!param.is_index) names.push_back(param.name);
  }
  return names;
}

absl::StatusOr<Module> WithAdjoint(const RuleCase& c) {
  KILN_ASSIGN_OR_RETURN(const Module read, ParseModule("case", TextOf(c)));
  KILN_ASSIGN_OR_RETURN(const Module module, InferModule(read));
  GradientOptions options;
  options.variables = Variables(c);
  return Gradient(module, options);
}

absl::Status Check(const RuleCase& c) {
  KILN_ASSIGN_OR_RETURN(const Module module, WithAdjoint(c));
  const std::vector<Tensor> inputs = InputsOf(c);
  KILN_ASSIGN_OR_RETURN(const graph::Value result,
                        Run(module, "main_adjoint", inputs));
  const auto& adjoints = FieldsOf(FieldsOf(result)[1]);
  size_t next = 0;
  const std::vector<Param> params = ParamsOf(c);
  for (size_t p = 0; p < params.size(); ++p) {
    if (params[p].is_index) continue;
    const Tensor& adjoint = *std::get<graph::TensorValue>(adjoints[next++]);
    if (adjoint.shape != inputs[p].shape) {
      return absl::InternalError("the adjoint has another shape");
    }
    for (int64_t i = 0; i < adjoint.size(); ++i) {
      double wanted = 0;
      if (!c.is_stopped) {
        KILN_ASSIGN_OR_RETURN(wanted, Difference(module, inputs, p, i));
      }
      const double found = adjoint.GetReal(i);
      if (std::abs(found - wanted) <= 1e-6 * (1 + std::abs(wanted))) continue;
      return absl::InternalError(absl::StrCat(params[p].name, "[", i, "] is ",
                                              found, ", not ", wanted));
    }
  }
  return absl::OkStatus();
}

TEST(GradientRulesTest, AdjointsAreDifferences) {
  for (const RuleCase& c : Cases()) {
    const absl::Status status = Check(c);
    EXPECT_TRUE(status.ok()) << c.body << ": " << status.message();
  }
}

TEST(GradientRulesTest, EveryRuleHasACase) {
  for (const GradientRow& row : GradientRows()) {
    bool is_there = false;
    for (const RuleCase& c : Cases()) {
      const std::string call = absl::StrCat("R.", std::string(row.op), "(");
      is_there = is_there || absl::StrContains(c.body, call);
    }
    EXPECT_TRUE(is_there) << row.op;
  }
}

}  // namespace
}  // namespace kiln
