#include "kiln/tests/conformance/gradient_options.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/gradient/gradient.h"

namespace kiln {
namespace {

constexpr char kAdjoint[] = "_adjoint";
constexpr char kOut[] = "_adjoint_out";

std::string Without(const std::string& name, const char* suffix) {
  return std::string(absl::StripSuffix(name, suffix));
}

const graph::FunctionNode* AdjointFunction(const Module& before,
                                           const Module& after) {
  for (const graph::GraphFunction& f : after.graph_functions) {
    const bool is_new = !before.FindGraph(f->name);
    if (is_new && absl::EndsWith(f->name, kAdjoint)) return f.get();
  }
  return nullptr;
}

std::vector<graph::Binding> BindingsOf(const graph::FunctionNode& f) {
  std::vector<graph::Binding> bindings;
  const auto* seq = f.body.As<graph::SeqNode>();
  for (size_t i = 0; seq && i < seq->blocks.size(); ++i) {
    const auto& block = seq->blocks[i].bindings;
    bindings.insert(bindings.end(), block.begin(), block.end());
  }
  return bindings;
}

// The place in the result of `f` of what the first ones are the adjoint of.
int TargetOf(const graph::FunctionNode& f, const graph::FunctionNode& adjoint) {
  std::string name;
  for (const graph::Binding& binding : BindingsOf(adjoint)) {
    const auto* call = binding.value.As<graph::CallNode>();
    const bool is_first = call && call->IsOp("ones") && name.empty();
    if (is_first) name = Without(binding.var->name, kAdjoint);
  }
  const auto* seq = f.body.As<graph::SeqNode>();
  const auto* tuple = seq ? seq->result.As<graph::TupleNode>() : nullptr;
  for (size_t i = 0; tuple && i < tuple->fields.size(); ++i) {
    const auto* var = tuple->fields[i].As<graph::VarNode>();
    if (var && var->name == name) return static_cast<int>(i);
  }
  return 0;
}

}  // namespace

absl::StatusOr<Module> DifferentiateAsIn(const Module& before,
                                         const Module& after) {
  const graph::FunctionNode* adjoint = AdjointFunction(before, after);
  if (!adjoint) return absl::InvalidArgumentError("there is no adjoint");
  GradientOptions options;
  options.function = Without(adjoint->name, kAdjoint);
  const graph::FunctionNode* f = before.FindGraph(options.function);
  if (!f) return absl::InvalidArgumentError("the adjoint is of no function");
  options.target = TargetOf(*f, *adjoint);
  options.variables.emplace();
  for (const graph::Binding& binding : BindingsOf(*adjoint)) {
    if (!absl::EndsWith(binding.var->name, kOut)) continue;
    options.variables->push_back(Without(binding.var->name, kOut));
  }
  Module given = before;
  for (const Function& other : after.functions) {
    if (!before.Find(other.name)) given.functions.push_back(other);
  }
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(given));
  return Gradient(inferred, options);
}

}  // namespace kiln
