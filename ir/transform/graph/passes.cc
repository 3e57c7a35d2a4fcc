// A row for each pass: the name that tools know it by, the name that its errors
// begin with, and the function. Most look at struct info, so Inferred<Pass>
// infers the module first.
#include "kiln/ir/transform/graph/passes.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/pass.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/legalize.h"
#include "kiln/ir/transform/graph/annotate_patterns.h"
#include "kiln/ir/transform/graph/canonicalize_bindings.h"
#include "kiln/ir/transform/graph/combine_attention.h"
#include "kiln/ir/transform/graph/combine_parallel_matmul.h"
#include "kiln/ir/transform/graph/common_subexpressions.h"
#include "kiln/ir/transform/graph/compute_prim_values.h"
#include "kiln/ir/transform/graph/convert_to_dataflow.h"
#include "kiln/ir/transform/graph/dataflow_reshape.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/decompose.h"
#include "kiln/ir/transform/graph/expand_attention.h"
#include "kiln/ir/transform/graph/fold_batch_norm.h"
#include "kiln/ir/transform/graph/fold_constants.h"
#include "kiln/ir/transform/graph/fuse_ops.h"
#include "kiln/ir/transform/graph/fuse_tir.h"
#include "kiln/ir/transform/graph/gradient/gradient.h"
#include "kiln/ir/transform/graph/inline_functions.h"
#include "kiln/ir/transform/graph/lambda_lift.h"
#include "kiln/ir/transform/graph/layout/channels_last.h"
#include "kiln/ir/transform/graph/layout/convert_layout.h"
#include "kiln/ir/transform/graph/lift_transform_params.h"
#include "kiln/ir/transform/graph/lower_call_tir.h"
#include "kiln/ir/transform/graph/merge_composite_functions.h"
#include "kiln/ir/transform/graph/mixed_precision.h"
#include "kiln/ir/transform/graph/name_extents.h"
#include "kiln/ir/transform/graph/normalize.h"
#include "kiln/ir/transform/graph/plan_memory.h"
#include "kiln/ir/transform/graph/rearrange_matmul.h"
#include "kiln/ir/transform/graph/round_late.h"
#include "kiln/ir/transform/graph/rules/apply_rules.h"
#include "kiln/ir/transform/graph/signatures.h"
#include "kiln/ir/transform/graph/topological_sort.h"
#include "kiln/ir/transform/graph/view_reshapes.h"
#include "kiln/ir/transform/graph/winograd/winograd.h"

namespace kiln {
namespace {

absl::StatusOr<Module> Infer(Module module, const GraphPassOptions&) {
  return InferModule(module);
}

// What a pass looks at has struct info, and is in normal form.
template <auto run>
absl::StatusOr<Module> Inferred(Module module, const GraphPassOptions&) {
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  return run(inferred);
}

absl::StatusOr<Module> FuseOpsByDefault(const Module& module) {
  return FuseOps(module);
}

absl::StatusOr<Module> PlanAll(const Module& module) {
  return PlanMemory(module);
}

absl::StatusOr<Module> CombineAll(const Module& module) {
  return CombineParallelMatmul(module);
}

absl::StatusOr<Module> FoldByDefault(const Module& module) {
  return FoldConstants(module);
}

absl::StatusOr<Module> FoldAllNorms(const Module& module) {
  return FoldBatchNorm(module);
}

absl::StatusOr<Module> FoldFixedNorms(const Module& module) {
  return FoldBatchNorm(module, FoldedNorms::kFixed);
}

absl::StatusOr<Module> GradientOfMain(const Module& module) {
  return Gradient(module);
}

absl::StatusOr<Module> MixPrecision(const Module& module) {
  return ToMixedPrecision(module);
}

absl::StatusOr<Module> MixBFloat16(const Module& module) {
  return ToMixedPrecision(module, {.half = DType::BFloat16()});
}

absl::StatusOr<Module> UseFastestWinograd(const Module& module) {
  return UseWinograd(module);
}

template <LiftInto into>
absl::StatusOr<Module> Lift(const Module& module) {
  return LiftTransformParams(module, into);
}

template <SortOrder order>
absl::StatusOr<Module> Sort(const Module& module) {
  return TopologicalSort(module, order);
}

absl::StatusOr<Module> RewriteByRules(Module module,
                                      const GraphPassOptions& options) {
  if (options.rules.empty()) {
    return absl::InvalidArgumentError(
        "there are no rules; --rules FILE.py names a file of them");
  }
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  return ApplyRules(inferred, options.rules);
}

constexpr Pass<Module, GraphPassOptions> kPasses[] = {
    {"infer", "infer", Infer},
    {"normalize", "normalize", Inferred<NormalizeGraph>},
    {"canonicalize_bindings", "canonicalize_bindings",
     Inferred<CanonicalizeBindings>},
    {"convert_to_dataflow", "convert_to_dataflow", Inferred<ConvertToDataflow>},
    {"name_extents", "name_extents", Inferred<NameExtents>},
    {"dce", "dce", Inferred<EliminateDeadCode>},
    {"compute_prim_values", "compute_prim_values", Inferred<ComputePrimValues>},
    {"inline_prim_values", "inline_prim_values", Inferred<InlinePrimValues>},
    {"cse", "cse", Inferred<EliminateCommonSubexpressions>},
    {"lambda_lift", "lambda_lift", Inferred<LambdaLift>},
    {"fold_constants", "fold_constants", Inferred<FoldByDefault>},
    {"fold_batchnorm_into_conv2d", "fold_batchnorm_into_conv2d",
     Inferred<FoldAllNorms>},
    {"fold_fixed_batchnorm_into_conv2d", "fold_fixed_batchnorm_into_conv2d",
     Inferred<FoldFixedNorms>},
    {"decompose_for_inference", "decompose_for_inference",
     Inferred<DecomposeForInference>},
    {"decompose_for_training", "decompose_for_training",
     Inferred<DecomposeForTraining>},
    {"gradient", "gradient", Inferred<GradientOfMain>},
    {"inline_functions", "inline_functions", Inferred<InlineFunctions>},
    {"lift_transform_params", "lift_transform_params",
     Inferred<Lift<LiftInto::kOneEach>>},
    {"lift_shared_transform_params", "lift_shared_transform_params",
     Inferred<Lift<LiftInto::kOneForAll>>},
    {"mixed_precision", "mixed_precision", Inferred<MixPrecision>},
    {"mixed_precision_bfloat16", "mixed_precision_bfloat16",
     Inferred<MixBFloat16>},
    {"round_late", "round_late", Inferred<RoundLate>},
    {"remove_unused_parameters", "remove_unused_parameters",
     Inferred<RemoveUnusedParameters>},
    {"remove_unused_outputs", "remove_unused_outputs",
     Inferred<RemoveUnusedOutputs>},
    {"expand_tuple_arguments", "expand_tuple_arguments",
     Inferred<ExpandTupleArguments>},
    {"rewrite_dataflow_reshape", "rewrite_dataflow_reshape",
     Inferred<RewriteDataflowReshape>},
    {"view_reshapes", "view_reshapes", Inferred<ViewReshapes>},
    {"topological_sort", "topological_sort",
     Inferred<Sort<SortOrder::kDepthFirst>>},
    {"topological_sort_breadth_first", "topological_sort_breadth_first",
     Inferred<Sort<SortOrder::kBreadthFirst>>},
    {"topological_sort_from_outputs", "topological_sort_from_outputs",
     Inferred<Sort<SortOrder::kDepthFirstFromOutputs>>},
    {"topological_sort_breadth_first_from_outputs",
     "topological_sort_breadth_first_from_outputs",
     Inferred<Sort<SortOrder::kBreadthFirstFromOutputs>>},
    {"combine_parallel_matmul", "combine_parallel_matmul",
     Inferred<CombineAll>},
    {"combine_attention", "combine_attention", Inferred<CombineAttention>},
    {"expand_attention", "expand_attention", Inferred<ExpandAttention>},
    {"expand_matmul_of_sum", "expand_matmul_of_sum",
     Inferred<ExpandMatmulOfSum>},
    {"reorder_take_after_matmul", "reorder_take_after_matmul",
     Inferred<ReorderTakeAfterMatmul>},
    {"compose_permute_dims", "compose_permute_dims",
     Inferred<ComposePermuteDims>},
    {"reorder_permute_dims_after_concat", "reorder_permute_dims_after_concat",
     Inferred<ReorderPermuteDimsAfterConcat>},
    {"rewrite_by_rules", "rewrite_by_rules", RewriteByRules},
    {"convert_layout", "convert_layout", Inferred<ConvertLayoutToNhwc>},
    {"channels_last", "channels_last", Inferred<ToChannelsLast>},
    {"winograd", "winograd", Inferred<UseFastestWinograd>},
    {"legalize", "legalize", Inferred<LegalizeOps>},
    {"annotate_patterns", "annotate_patterns", Inferred<AnnotatePatterns>},
    {"fuse_ops", "fuse_ops", Inferred<FuseOpsByDefault>},
    {"fuse_tir", "fuse_tir", Inferred<FuseTensorFunctions>},
    {"merge_composite_functions", "merge_composite_functions",
     Inferred<MergeCompositeFunctions>},
    {"lower_call_tir", "lower_call_tir", Inferred<LowerCallTir>},
    {"plan_memory", "plan_memory", Inferred<PlanAll>},
};

const Pass<Module, GraphPassOptions>* FindPass(const std::string& name) {
  for (const auto& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> GraphPassNames() {
  std::vector<std::string> names;
  for (const auto& pass : kPasses) names.emplace_back(pass.name);
  return names;
}

absl::StatusOr<Module> RunGraphPasses(Module module,
                                      const std::vector<std::string>& names,
                                      const GraphPassOptions& options) {
  std::vector<Pass<Module, GraphPassOptions>> passes;
  for (const std::string& name : names) {
    const auto* pass = FindPass(name);
    if (!pass) {
      return absl::InvalidArgumentError(
          absl::StrCat("no pass is called ", name, "; passes are ",
                       absl::StrJoin(GraphPassNames(), ", ")));
    }
    passes.push_back(*pass);
  }
  return RunPasses(absl::Span<const Pass<Module, GraphPassOptions>>(passes),
                   std::move(module), options);
}

}  // namespace kiln
