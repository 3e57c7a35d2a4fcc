// The choice: a convolution takes as long as its multiplications and the
// kernel that it reads; by tiles, also as long as the transforms, which read
// and write (m + 2)^2 numbers for m^2 elements. Of 56x56 by 64 to 64 channels,
// in millions of multiplications:
//
//   the sums: 115.6 + 0.4;   F(4, 3): 28.9 products + 1.6 kernel + 9.2
//
// while 4x4 by 512 to 512 read too much kernel: 37.7 + 25.5 against 9.4 + 102
// by F(4, 3) and 16.8 + 45.3 by F(2, 3).
#include "kiln/ir/transform/graph/winograd/winograd.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/ops/window.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/transform/graph/winograd/matrices.h"

namespace kiln {
namespace {

// Multiplications in the time of a byte, on two cores with AVX2: of a kernel,
// which comes from the last cache or memory, and of what transforms read and
// write, which mostly stays in caches (Zen 3: 95 G multiplications a second, 35
// and 54 GB/s).
constexpr double kPerKernelByte = 2.7;
constexpr double kPerTransformByte = 1.77;
// What the estimate has to promise.
constexpr double kMostOfSums = 0.85;
// What stands for a symbolic extent.
constexpr int64_t kLargeExtent = 56;

double NumberOf(const Expr& extent, int64_t otherwise) {
  const int64_t* value = AsInt(extent);
  return static_cast<double>(value ? *value : otherwise);
}

// In multiplications.
double KernelTime(const TiledConvolution& conv, int64_t taps) {
  const auto elements =
      static_cast<double>(taps * conv.in_channels * conv.out_channels);
  return elements * sizeof(float) * kPerKernelByte;
}

double TimeOfSums(const TiledConvolution& conv) {
  const int64_t taps = kWinogradTaps * kWinogradTaps;
  const double results = NumberOf(conv.batch, 1) *
                         NumberOf(conv.out_height, kLargeExtent) *
                         NumberOf(conv.out_width, kLargeExtent);
  return results *
             static_cast<double>(taps * conv.in_channels * conv.out_channels) +
         KernelTime(conv, taps);
}

double TimeOfTiles(TiledConvolution conv, int tile) {
  conv.tile = tile;
  const int64_t size = tile + kWinogradTaps - 1, points = size * size;
  const double tiles = NumberOf(conv.batch, 1) *
                       NumberOf(conv.tile_rows(), kLargeExtent / tile) *
                       NumberOf(conv.tile_columns(), kLargeExtent / tile);
  const auto channels =
      static_cast<double>(conv.in_channels + conv.out_channels);
  const auto moved = static_cast<double>(points + tile * tile);
  return tiles * static_cast<double>(points * conv.in_channels *
                                     conv.out_channels) +
         KernelTime(conv, points) +
         tiles * moved * channels * sizeof(float) * kPerTransformByte;
}

// Of a tensor of four known extents and float32, else nullptr.
const std::vector<Expr>* ImageExtents(const graph::StructInfo& info) {
  const auto* tensor = info.As<graph::TensorInfo>();
  const bool is_image = tensor && tensor->extents() && tensor->rank == 4 &&
                        tensor->dtype == DType::Float(32);
  return is_image ? tensor->extents() : nullptr;
}

bool IsNamed(const OpCall& call, std::string_view attr, std::string_view layout,
             bool is_default = false) {
  const absl::StatusOr<std::string> name = call.String(attr);
  if (!name.ok()) return is_default && call.IsNone(attr);
  return *name == layout || (is_default && name->empty());
}

// The windows, where they move in steps of one over all channels.
std::optional<Windows> DenseWindows(const OpCall& call) {
  const std::vector<int64_t> ones = {1, 1};
  const absl::StatusOr<Windows> windows = WindowsOf(call, 2);
  const absl::StatusOr<int64_t> groups = call.Int("groups");
  const bool is_dense = windows.ok() && groups.ok() && *groups == 1 &&
                        windows->strides == ones && windows->dilation == ones;
  return is_dense ? std::optional<Windows>(*windows) : std::nullopt;
}

// The kernel, where it is a constant of 3 by 3 taps.
const graph::ConstantNode* KnownTaps(const graph::CallNode& call) {
  const auto* taps = call.args[1].As<graph::ConstantNode>();
  const bool is_kernel =
      taps && taps->is_known() && taps->dtype == DType::Float(32) &&
      taps->shape.size() == 4 && taps->shape[0] == kWinogradTaps &&
      taps->shape[1] == kWinogradTaps;
  return is_kernel ? taps : nullptr;
}

// The convolution, where it is one that tiles can compute.
std::optional<TiledConvolution> Tileable(const graph::Binding& binding) {
  const auto* call = binding.value.As<graph::CallNode>();
  if (!call || !call->IsOp("nn.conv2d")) return std::nullopt;
  const graph::ConstantNode* taps = KnownTaps(*call);
  const graph::StructInfo data = graph::InfoOf(call->args[0]);
  const std::vector<Expr>* in = ImageExtents(data);
  const std::vector<Expr>* out = ImageExtents(binding.var->info);
  if (!taps || !in || !out) return std::nullopt;
  Analyzer analyzer;
  const OpCall op(*call, {nullptr, &analyzer});
  const std::optional<Windows> windows = DenseWindows(op);
  if (!windows || !IsNamed(op, "data_layout", "NHWC") ||
      !IsNamed(op, "kernel_layout", "HWIO") ||
      !IsNamed(op, "out_layout", "NHWC", /*is_default=*/true)) {
    return std::nullopt;
  }
  TiledConvolution tiled;
  tiled.batch = (*in)[0];
  tiled.height = (*in)[1];
  tiled.width = (*in)[2];
  tiled.above = windows->before[0];
  tiled.left = windows->before[1];
  tiled.out_height = (*out)[1];
  tiled.out_width = (*out)[2];
  tiled.in_channels = taps->shape[2];
  tiled.out_channels = taps->shape[3];
  return tiled;
}

absl::StatusOr<graph::Expr> Tiled(const TiledConvolution& conv,
                                  const graph::CallNode& call,
                                  graph::Emitter& emit, Module& module) {
  KILN_ASSIGN_OR_RETURN(const graph::Expr kernel,
                        TransformedKernel(conv, *KnownTaps(call)));
  KILN_ASSIGN_OR_RETURN(const graph::Expr input,
                        CallInputTransform(conv, call.args[0], module));
  KILN_ASSIGN_OR_RETURN(const graph::Expr products,
                        CallProducts(conv, emit.Emit(input), kernel, module));
  return CallOutputTransform(conv, emit.Emit(products), module);
}

}  // namespace

int FastestTile(const TiledConvolution& conv) {
  int fastest = 0;
  double least = kMostOfSums * TimeOfSums(conv);
  for (const int tile : {2, 4}) {
    const double time = TimeOfTiles(conv, tile);
    if (time < least) {
      fastest = tile;
      least = time;
    }
  }
  return fastest;
}

absl::StatusOr<Module> UseWinograd(const Module& module,
                                   const WinogradOptions& options) {
  Module out = module;
  absl::Status status;
  const auto rule = [&](const graph::Binding& binding, graph::Emitter& emit) {
    std::optional<TiledConvolution> conv = Tileable(binding);
    if (!conv || !status.ok()) return false;
    conv->tile = options.tile > 0 ? options.tile : FastestTile(*conv);
    if (conv->tile == 0) return false;
    absl::StatusOr<graph::Expr> result =
        Tiled(*conv, *binding.value.As<graph::CallNode>(), emit, out);
    status = result.status();
    if (result.ok()) emit.Emit(binding.var, *std::move(result));
    return result.ok();
  };
  bool is_used = false;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (!AllowsNormwise(f->attrs)) continue;
    const graph::Expr e = graph::RewriteBindings(f, rule);
    is_used = is_used || e.get() != f.get();
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  KILN_RETURN_IF_ERROR(status);
  if (!is_used) return module;
  return InferModule(out);
}

}  // namespace kiln
