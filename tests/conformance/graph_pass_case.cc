#include "kiln/tests/conformance/graph_pass_case.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/passes.h"

namespace kiln {
namespace {

// What the recorded passes are called here.
struct PassNames {
  std::string_view recorded;
  std::string_view kiln;
};
constexpr PassNames kPasses[] = {
    {"LegalizeOps", "legalize"},
    {"AnnotateTIROpPattern", "annotate_patterns"},
    {"FuseOps", "fuse_ops"},
    {"FuseTIR", "fuse_tir"},
    {"Normalize", "normalize"},
    {"CanonicalizeBindings", "canonicalize_bindings"},
    {"DeadCodeElimination", "dce"},
    {"EliminateCommonSubexpr", "cse"},
    {"LambdaLift", "lambda_lift"},
    {"TopologicalSort", "topological_sort"},
    {"TopologicalSort", "topological_sort_breadth_first"},
    {"FoldConstant", "fold_constants"},
    {"RemoveUnusedParameters", "remove_unused_parameters"},
    {"RemoveUnusedOutputs", "remove_unused_outputs"},
    {"ExpandTupleArguments", "expand_tuple_arguments"},
    {"ComputePrimValue", "compute_prim_values"},
    {"RewriteDataflowReshape", "rewrite_dataflow_reshape"},
    {"CombineParallelMatmul", "combine_parallel_matmul"},
    {"ExpandMatmulOfSum", "expand_matmul_of_sum"},
    {"ReorderTakeAfterMatmul", "reorder_take_after_matmul"},
    {"ReorderPermuteDimsAfterConcat", "reorder_permute_dims_after_concat"},
    {"FoldBatchnormToConv2D", "fold_batchnorm_into_conv2d"},
    {"DecomposeOps", "decompose_for_inference"},
    {"LiftTransformParams", "lift_transform_params"},
    {"StaticPlanBlockMemory", "plan_memory"},
    {"ToMixedPrecision", "mixed_precision"},
};

// Several where the cases do not record what the pass was asked for.
std::vector<std::string> KilnNames(const std::string& recorded) {
  std::vector<std::string> found;
  for (const PassNames& names : kPasses) {
    if (names.recorded != recorded) continue;
    for (const std::string& known : GraphPassNames()) {
      if (known == names.kiln) found.push_back(known);
    }
  }
  return found;
}

// With all struct info; as it stands where that cannot be.
Module Inferred(const Module& module) {
  absl::StatusOr<Module> inferred = InferModule(module);
  return inferred.ok() ? *std::move(inferred) : module;
}

// Private tensor functions called by the order in which graph functions name
// them: what they are called is nobody's business.
Module WithNamesByUse(Module module) {
  std::map<std::string, std::string> names;
  for (graph::GraphFunction& f : module.graph_functions) {
    const graph::Expr renamed = graph::Rewrite(f, [&](const graph::Expr& e) {
      const auto* global = e.As<graph::GlobalVarNode>();
      const Function* callee = global ? module.Find(global->name) : nullptr;
      if (!callee || !callee->is_private) return graph::Expr();
      const auto [entry, is_new] =
          names.emplace(global->name, absl::StrCat("f", names.size()));
      return graph::Global(entry->second);
    });
    f = graph::GraphFunction(renamed.As<graph::FunctionNode>());
  }
  for (Function& f : module.functions) {
    const auto found = names.find(f.name);
    if (found != names.end()) f.name = found->second;
  }
  return module;
}

GraphResult Compare(const Module& wanted, const Module& found) {
  const auto difference =
      FirstDifference(WithNamesByUse(wanted), WithNamesByUse(found));
  if (!difference) return {};
  return {GraphVerdict::kDifferent,
          *difference + "\n--- found\n" + PrintModule(found)};
}

}  // namespace

GraphResult RunGraphPassCase(const GraphCase& c, const Module& before,
                             const Module& after) {
  GraphResult result = {GraphVerdict::kNotApplicable, "no pass of this kind"};
  for (const std::string& name : KilnNames(c.name)) {
    const absl::StatusOr<Module> found = RunGraphPasses(before, {name});
    if (!found.ok()) {
      result = {GraphVerdict::kFailed, std::string(found.status().message())};
      continue;
    }
    result = Compare(Inferred(after), Inferred(*found));
    if (result.verdict == GraphVerdict::kSame) break;
  }
  return result;
}

}  // namespace kiln
