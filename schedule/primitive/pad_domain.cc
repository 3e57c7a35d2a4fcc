// A window of 3 over 7 elements becomes one of 4 over 8. The outputs are padded
// and copied back, what is added is 0 for a step beyond the third; output 7,
// which nobody reads, is computed from whatever is there, and tested only
// where that may be beside a tensor.
#include "kiln/schedule/primitive/pad_domain.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/element_access.h"
#include "kiln/schedule/rewrite/grown_nest.h"
#include "kiln/schedule/rewrite/private_nest.h"

namespace kiln {
namespace {

constexpr char kName[] = "pad_domain";

struct Plan {
  PrivateNest target;
  GrownDomain domain;
  Reducer reducer;
  ElementAccess output;
  Buffer padded;  // in place of the output; the output where that stays
};

// Finds the reads of an expression that may be outside of their tensors over
// a domain, as far as the conditions around them tell, or of what nobody wrote:
// of an intermediate tensor another part may be read than was.
class UnsafeReads {
 public:
  UnsafeReads(const Function& f, const BlockNode& block,
              const GrownDomain& domain)
      : f_(f) {
    for (size_t i = 0; i < block.iters.size(); ++i) {
      analyzer_.Bind(block.iters[i].var, {Int(0), domain.extents[i]});
    }
  }

  std::vector<const LoadNode*> In(const Expr& e) {
    Walk(e);
    return std::move(found_);
  }

 private:
  void Walk(const Expr& e) {
    if (const auto* load = e.As<LoadNode>(); load && !IsSafe(*load)) {
      found_.push_back(load);
    }
    const auto* call = e.As<CallNode>();
    if (call && call->op == Intrinsic::kIfThenElse) {
      Walk(call->args[0]);
      WalkUnder(call->args[0], call->args[1]);
      WalkUnder(Not(call->args[0]), call->args[2]);
      return;
    }
    ForEachOperand(e, [&](const Expr& child) { Walk(child); });
  }

  void WalkUnder(const Expr& condition, const Expr& e) {
    const Analyzer::Assumption assumed = analyzer_.Assume(condition);
    Walk(e);
  }

  bool IsSafe(const LoadNode& load) {
    if (!IsArgument(f_, load.buffer)) return false;
    for (size_t d = 0; d < load.indices.size(); ++d) {
      const Expr& index = load.indices[d];
      if (!analyzer_.CanProveLessEqual(Int(0, index.dtype()), index) ||
          !analyzer_.CanProveLess(index, load.buffer->shape[d])) {
        return false;
      }
    }
    return true;
  }

  const Function& f_;
  Analyzer analyzer_;
  std::vector<const LoadNode*> found_;
};

// Whether what is added has to be tested to be inside along iterator `i`.
bool NeedsTest(const Plan& plan, size_t i,
               const std::vector<const LoadNode*>& unsafe) {
  const IterVar& iter = plan.target.block().iters[i];
  if (!plan.domain.grows[i]) return false;
  if (iter.type != IterType::kSpatial) return true;
  for (const LoadNode* load : unsafe) {
    for (const Expr& index : load->indices) {
      if (UsesVar(index, iter.var)) return true;
    }
  }
  return false;
}

// What is added, or 0 outside of the domain before.
Expr Guarded(const Function& f, const Plan& plan) {
  const BlockNode& block = plan.target.block();
  const Expr& operand = plan.reducer.operands[0];
  const std::vector<const LoadNode*> unsafe =
      UnsafeReads(f, block, plan.domain).In(operand);
  Expr inside;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!NeedsTest(plan, i, unsafe)) continue;
    const Expr within = LT(block.iters[i].var, block.iters[i].domain.extent);
    inside = inside ? And(inside, within) : within;
  }
  if (!inside) return operand;
  return Call(operand.dtype(), Intrinsic::kIfThenElse,
              {inside, operand, Constant(0, operand.dtype())});
}

absl::Status CheckIsSum(const Function& f, Plan* plan) {
  const BlockNode& block = plan->target.block();
  absl::StatusOr<Reducer> reducer = MatchReducer(block);
  if (!reducer.ok()) {
    return Refusal(kName, std::string(reducer.status().message()));
  }
  plan->reducer = *std::move(reducer);
  const bool adds = plan->reducer.operands.size() == 1 &&
                    plan->reducer.combined[0].kind() == ExprKind::kAdd &&
                    block.body.As<StoreNode>();
  if (!adds) {
    return Refusal(kName, absl::StrCat(Describe(block), " is not one sum"));
  }
  return CheckNoNewTerms(f, block, plan->domain, kName);
}

absl::Status PlanOutput(const Function& f, Plan* plan) {
  const BlockNode& block = plan->target.block();
  KILN_ASSIGN_OR_RETURN(plan->output,
                        FindElementAccess(f, block.id, 0, true, kName));
  const Buffer& buffer = plan->output.buffer;
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> shape,
                        GrownShape(block, plan->domain, plan->output, kName));
  KILN_RETURN_IF_ERROR(
      CheckIndexesOutput(block, plan->domain, plan->output, kName));
  plan->padded = buffer;
  if (shape == buffer->shape) return absl::OkStatus();
  if (!TouchesAll(plan->output, true)) {
    return Refusal(kName,
                   absl::StrCat(Describe(block), " touches only a part of `",
                                buffer->name, "`"));
  }
  plan->padded = StagingBuffer(buffer, buffer->name + "_pad", std::move(shape),
                               buffer->scope);
  return absl::OkStatus();
}

Stmt MainNest(const Function& f, const Plan& plan) {
  const PrivateNest& target = plan.target;
  BlockFields fields = target.block().fields();
  const auto* store = fields.body.As<StoreNode>();
  const Expr sum = Load(store->buffer, store->indices);
  fields.body = MakeStore(store->buffer,
                          plan.reducer.Combine({sum}, {Guarded(f, plan)})[0],
                          store->indices);
  if (plan.padded != plan.output.buffer) {
    ElementAccess access = plan.output;
    access.block = Path(WithBlock(target.realize(), std::move(fields)));
    fields = Redirect(access, plan.padded, access.indices)->fields();
  }
  return GrownNest(target, plan.domain, std::move(fields));
}

Function Apply(Function f, const Plan& plan) {
  std::vector<Stmt> nests = {MainNest(f, plan)};
  std::vector<Buffer> buffers;
  if (plan.padded != plan.output.buffer) {
    nests.push_back(CopyBackNest(plan.padded, plan.output.buffer, &f));
    buffers.push_back(plan.padded);
  }
  return ReplaceNest(std::move(f), plan.target, std::move(nests), buffers);
}

}  // namespace

absl::StatusOr<Function> PadDomain(const Function& f, BlockId block,
                                   const std::vector<int64_t>& padding) {
  Plan plan;
  KILN_ASSIGN_OR_RETURN(plan.target, FindPrivateNest(f, block, kName));
  const Scope scope(*plan.target.path.scope()->block);
  if (Reason reason = WhyNotReduction(scope, scope.IndexOf(block))) {
    return Refusal(kName, absl::StrCat(Describe(plan.target.block()),
                                       " is no reduction: ", *reason));
  }
  KILN_RETURN_IF_ERROR(CheckPrivateNest(plan.target, kName));
  KILN_ASSIGN_OR_RETURN(plan.domain,
                        RoundUpDomain(plan.target, padding, kName));
  KILN_RETURN_IF_ERROR(PlanOutput(f, &plan));
  KILN_RETURN_IF_ERROR(CheckIsSum(f, &plan));
  KILN_RETURN_IF_ERROR(CheckDivisions(plan.target.block(), kName));
  if (!plan.domain.Changes()) return f;
  return Apply(f, plan);
}

}  // namespace kiln
