// A pass is run on the module before it, and what it makes is compared with the
// module after it, as recorded: names of private tensor functions, names that
// stand for others, and rounding of constants that were folded do not count.
// What a pass was asked for is not recorded; where several ways to ask have
// names here ("topological_sort", "topological_sort_breadth_first"), one that
// gives the recorded module is enough.
#include "kiln/tests/conformance/graph_pass_case.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/combine_parallel_matmul.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/tests/conformance/bound_values.h"
#include "kiln/tests/conformance/desired_layouts.h"
#include "kiln/tests/conformance/gradient_options.h"
#include "kiln/tests/conformance/known_constants.h"
#include "kiln/tests/conformance/op_implementations.h"
#include "kiln/tests/conformance/precision_options.h"
#include "kiln/tests/conformance/recorded_patterns.h"

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
    {"TopologicalSort", "topological_sort_from_outputs"},
    {"TopologicalSort", "topological_sort_breadth_first_from_outputs"},
    {"ConvertToDataflow", "convert_to_dataflow"},
    {"InlinePrivateFunctions", "inline_functions"},
    {"FoldConstant", "fold_constants"},
    {"RemoveUnusedParameters", "remove_unused_parameters"},
    {"RemoveUnusedOutputs", "remove_unused_outputs"},
    {"ExpandTupleArguments", "expand_tuple_arguments"},
    {"ComputePrimValue", "compute_prim_values"},
    {"RewriteDataflowReshape", "rewrite_dataflow_reshape"},
    {"ExpandMatmulOfSum", "expand_matmul_of_sum"},
    {"ReorderTakeAfterMatmul", "reorder_take_after_matmul"},
    {"ReorderPermuteDimsAfterConcat", "reorder_permute_dims_after_concat"},
    {"FoldBatchnormToConv2D", "fold_batchnorm_into_conv2d"},
    {"DecomposeOps", "decompose_for_inference"},
    {"DecomposeOps", "decompose_for_training"},
    {"LiftTransformParams", "lift_transform_params"},
    {"LiftTransformParams", "lift_shared_transform_params"},
    {"StaticPlanBlockMemory", "plan_memory"},
    {"MergeCompositeFunctions", "merge_composite_functions"},
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

// The last name of a branch is printed as another one, which is none.
graph::Expr WithoutLastNames(const graph::Expr& e) {
  const graph::Expr below = graph::MapOperands(
      e, [](const graph::Expr& operand) { return WithoutLastNames(operand); });
  const auto* seq = below.As<graph::SeqNode>();
  if (!seq || seq->blocks.empty()) return below;
  std::vector<graph::BindingBlock> blocks = seq->blocks;
  auto& last = blocks.back().bindings;
  const bool is_name = !last.empty() && !blocks.back().is_dataflow &&
                       last.back().var.get() == seq->result.get() &&
                       last.back().value.As<graph::VarNode>();
  if (!is_name) return below;
  const graph::Expr result = last.back().value;
  last.pop_back();
  if (last.empty()) blocks.pop_back();
  return graph::Seq(std::move(blocks), result);
}

// Extents are written in many ways: 8 * n, n * 8.
graph::Expr WithSimpleShapes(const graph::Expr& e) {
  Analyzer analyzer;
  return graph::Rewrite(e, [&](const graph::Expr& below) {
    const auto* shape = below.As<graph::ShapeNode>();
    if (!shape) return graph::Expr();
    std::vector<graph::Scalar> values;
    for (const graph::Scalar& value : shape->values) {
      values.push_back(analyzer.Simplify(value));
    }
    return graph::ShapeOf(std::move(values));
  });
}

// What local functions are called is nobody's business.
graph::Expr WithoutLocalNames(const graph::Expr& e) {
  const graph::Expr below = graph::MapOperands(
      e, [](const graph::Expr& operand) { return WithoutLocalNames(operand); });
  const auto* local = below.As<graph::FunctionNode>();
  if (!local) return below;
  graph::FunctionFields fields = local->fields();
  fields.name = "local";
  return graph::GraphFunction(std::move(fields));
}

// A comparison of extents ahead of a call, whose result nobody reads:
// legalization states what a kernel relies on, which others leave to the
// caller.
bool IsCheckOfExtents(const graph::Binding& binding) {
  constexpr std::string_view kName = "_extents";
  const auto* cast = binding.value.As<graph::MatchCastNode>();
  const std::string& name = binding.var->name;
  return cast && cast->value.As<graph::ShapeNode>() &&
         name.size() > kName.size() &&
         name.compare(name.size() - kName.size(), kName.size(), kName) == 0;
}

graph::Expr WithoutChecks(const graph::Expr& e) {
  return graph::RewriteBindings(
      e, [](const graph::Binding& binding, graph::Emitter&) {
        return IsCheckOfExtents(binding);
      });
}

// A number that is called by its own name, which no shape uses, is any number.
graph::Expr WithoutOwnNames(const graph::Expr& f) {
  std::map<const VarNode*, int> mentions;
  graph::VisitScalars(f, [&](const graph::Scalar& e) {
    for (const Var& var : FreeVars(e)) ++mentions[var.get()];
  });
  return graph::RewriteBindings(
      f, [&](const graph::Binding& binding, graph::Emitter& emit) {
        const auto* number = binding.var->info.As<graph::PrimInfo>();
        const auto* own = number ? number->value.As<VarNode>() : nullptr;
        if (!own || own->name != binding.var->name || mentions[own] != 1) {
          return false;
        }
        const graph::Var var(binding.var->name, graph::Prim(number->dtype),
                             binding.var->is_dataflow);
        emit.Emit(var, binding.value);
        emit.Replace(binding.var, var);
        return true;
      });
}

// With all struct info; as it stands where that cannot be.
Module Inferred(Module module) {
  for (graph::GraphFunction& f : module.graph_functions) {
    const graph::Expr e = WithoutOwnNames(f);
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  absl::StatusOr<Module> inferred = InferModule(module);
  Module out = inferred.ok() ? *std::move(inferred) : module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e = WithSimpleShapes(WithoutLastNames(WithoutChecks(f)));
    const auto& whole = *e.As<graph::FunctionNode>();
    f = graph::WithBody(whole, WithoutLocalNames(whole.body));
  }
  return out;
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
  if (!FirstDifference(wanted, found)) return {};
  const auto difference =
      FirstDifference(WithNamesByUse(wanted), WithNamesByUse(found));
  if (!difference) return {};
  return {GraphVerdict::kDifferent,
          *difference + "\n--- found\n" + PrintModule(found)};
}

GraphResult Judge(const absl::StatusOr<Module>& found, const Module& after) {
  if (found.ok()) {
    const Module wanted = Inferred(after);
    return Compare(wanted, WithConstantsOf(wanted, Inferred(*found)));
  }
  return {GraphVerdict::kFailed, std::string(found.status().message())};
}

// The fewest products that were combined are not recorded.
GraphResult Combined(const Module& before, const Module& after) {
  const absl::StatusOr<Module> inferred = InferModule(before);
  if (!inferred.ok()) return Judge(inferred, after);
  GraphResult result;
  for (size_t fewest = 2; fewest < 6; ++fewest) {
    const auto accepts = [&](const ParallelMatmuls& matmuls) {
      return matmuls.weights.size() >= fewest;
    };
    result = Judge(CombineParallelMatmul(*inferred, accepts), after);
    if (result.verdict == GraphVerdict::kSame) break;
  }
  return result;
}

}  // namespace

GraphResult RunGraphPassCase(const GraphCase& c, const Module& before,
                             const Module& after) {
  if (c.name == "BindParams") {
    return Judge(BindAsIn(before, after, true), after);
  }
  if (c.name == "relax.BindSymbolicVars") {
    return Judge(BindAsIn(before, after, false), after);
  }
  if (c.name == "AlterOpImpl") {
    return Judge(AlterOpImplAsIn(before, after), after);
  }
  if (c.name == "CombineParallelMatmul") return Combined(before, after);
  if (c.name == "ConvertLayout") {
    return Judge(ConvertLayoutAsIn(before, after), after);
  }
  if (c.name == "Gradient") {
    return Judge(DifferentiateAsIn(before, after), after);
  }
  if (c.name == "ToMixedPrecision") {
    return Judge(MixPrecisionAsIn(before, after), after);
  }
  if (c.name == "FuseOpsByPattern") {
    return Judge(FuseAsIn(before, after), after);
  }
  GraphResult result = {GraphVerdict::kNotApplicable, "no pass of this kind"};
  for (const std::string& name : KilnNames(c.name)) {
    result = Judge(RunGraphPasses(before, {name}), after);
    if (result.verdict == GraphVerdict::kSame) break;
  }
  return result;
}

}  // namespace kiln
