#include "kiln/ir/transform/graph/layout/channels_last.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/transform/graph/layout/convert_layout.h"

namespace kiln {
namespace {

const DesiredLayouts& ChannelsLast() {
  static const auto& layouts = *new DesiredLayouts{
      {"relax.nn.conv1d", {"NWC", "WIO"}},
      {"relax.nn.conv2d", {"NHWC", "HWIO"}},
      {"relax.nn.conv3d", {"NDHWC", "DHWIO"}},
      {"relax.nn.conv1d_transpose", {"NWC", "WIO"}},
      {"relax.nn.conv2d_transpose", {"NHWC", "HWIO"}},
      {"relax.nn.conv3d_transpose", {"NDHWC", "DHWIO"}},
  };
  return layouts;
}

// Whether it is known that the extent of every spatial axis is 1.
bool HasPointWindows(const graph::TensorInfo& kernel,
                     const std::string& names) {
  if (!kernel.extents()) return false;
  for (size_t d = 0; d < names.size(); ++d) {
    const bool is_channel = names[d] == 'O' || names[d] == 'I';
    if (!is_channel && !IsOne((*kernel.extents())[d])) return false;
  }
  return true;
}

bool IsOfEachChannel(const graph::TensorInfo& kernel,
                     const std::string& names) {
  const size_t place = names.find('I');
  return kernel.extents() && place < names.size() &&
         IsOne((*kernel.extents())[place]);
}

// Whether windows begin at any element of a row, or leave elements out.
bool WantsChannelsLast(const graph::CallNode& node) {
  Analyzer analyzer;
  const OpContext context{nullptr, &analyzer};
  const OpCall call(node, context);
  const auto data = call.String("data_layout");
  const auto names = call.String("kernel_layout");
  const auto kernel = call.Tensor(1);
  const auto strides = call.Ints("strides");
  const bool is_known = data.ok() && names.ok() && kernel.ok() && strides.ok();
  if (!is_known || data->empty() || data->back() == 'C') return false;
  const auto is_one = [](int64_t stride) { return stride == 1; };
  if (!std::all_of(strides->begin(), strides->end(), is_one)) return true;
  return !HasPointWindows(**kernel, *names) &&
         !IsOfEachChannel(**kernel, *names);
}

}  // namespace

absl::StatusOr<Module> ToChannelsLast(const Module& module) {
  bool is_wanted = false;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(graph::Expr(f.get()), [&](const graph::Expr& e) {
      const auto* call = e.As<graph::CallNode>();
      const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
      const bool is_convolution =
          op && ChannelsLast().count("relax." + op->name) > 0;
      is_wanted = is_wanted || (is_convolution && WantsChannelsLast(*call));
      return true;
    });
  }
  if (!is_wanted) return module;
  return ConvertLayout(module, ChannelsLast());
}

}  // namespace kiln
