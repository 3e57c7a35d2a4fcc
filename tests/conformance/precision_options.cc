#include "kiln/tests/conformance/precision_options.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/mixed_precision.h"

namespace kiln {
namespace {

bool IsHalf(const graph::StructInfo& info) {
  const auto* tensor = info.As<graph::TensorInfo>();
  return tensor && tensor->dtype == DType::Float(16);
}

MixedPrecisionOptions OptionsIn(const Module& before, const Module& after) {
  MixedPrecisionOptions options;
  for (const graph::GraphFunction& f : after.graph_functions) {
    const graph::FunctionNode* old = before.FindGraph(f->name);
    const size_t count = old ? old->params.size() : 0;
    for (size_t i = 0; i < std::min(count, f->params.size()); ++i) {
      if (IsHalf(f->params[i]->info) && !IsHalf(old->params[i]->info)) {
        options.half_params.insert(old->params[i]->name);
      }
    }
    graph::Visit(f, [&](const graph::Expr& e) {
      const auto* call = e.As<graph::CallNode>();
      if (!call) return true;
      const auto found = call->attrs.find("out_dtype");
      if (found != call->attrs.end() && found->second.string() &&
          *found->second.string() == "float16") {
        options.sums = DType::Float(16);
      }
      return true;
    });
  }
  return options;
}

Module WithoutResults(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    graph::FunctionFields fields = f->fields();
    fields.result = {};
    f = graph::GraphFunction(std::move(fields));
  }
  return out;
}

}  // namespace

absl::StatusOr<Module> MixPrecisionAsIn(const Module& before,
                                        const Module& after) {
  absl::StatusOr<Module> inferred = InferModule(before);
  if (!inferred.ok()) inferred = InferModule(WithoutResults(before));
  KILN_RETURN_IF_ERROR(inferred.status());
  return ToMixedPrecision(*inferred, OptionsIn(before, after));
}

}  // namespace kiln
