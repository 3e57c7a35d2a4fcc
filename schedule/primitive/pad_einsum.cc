#include "kiln/schedule/primitive/pad_einsum.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/element_access.h"
#include "kiln/schedule/rewrite/grown_nest.h"
#include "kiln/schedule/rewrite/private_nest.h"

namespace kiln {
namespace {

constexpr char kName[] = "pad_einsum";

// A tensor with room for padding.
struct Padded {
  ElementAccess access;
  bool is_write = false;
  Buffer buffer;             // the one with padding
  std::vector<bool> by_dim;  // whether the dimension grows
};

struct Plan {
  PrivateNest target;
  GrownDomain domain;  // of the iterators, afterwards
  std::vector<Padded> tensors;
};

bool UsesGrowing(const Plan& plan, const Expr& e) {
  return plan.domain.IsUsedIn(plan.target.block(), e);
}

absl::Status AddTensor(const Function& f, ElementAccess access, bool is_write,
                       Plan* plan) {
  const BlockNode& block = plan->target.block();
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> shape,
                        GrownShape(block, plan->domain, access, kName));
  if (is_write) {
    KILN_RETURN_IF_ERROR(
        CheckIndexesOutput(block, plan->domain, access, kName));
  }
  Padded tensor{std::move(access), is_write, nullptr, {}};
  const Buffer& buffer = tensor.access.buffer;
  bool padded = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    tensor.by_dim.push_back(shape[d] != buffer->shape[d]);
    padded |= tensor.by_dim.back();
  }
  if (!padded) return absl::OkStatus();
  // The copies are of the whole tensor, which a block around may not touch.
  const bool nested = plan->target.path.ScopeIndex() > 0;
  if ((is_write || nested || !IsArgument(f, buffer)) &&
      !TouchesAll(tensor.access, is_write)) {
    return Refusal(kName,
                   absl::StrCat(Describe(block), " touches only a part of `",
                                buffer->name, "`"));
  }
  tensor.buffer = StagingBuffer(buffer, buffer->name + "_pad", std::move(shape),
                                buffer->scope);
  plan->tensors.push_back(std::move(tensor));
  return absl::OkStatus();
}

// The regions that the block will state speak of its iterators alone.
absl::Status CheckNoVariables(const BlockNode& block,
                              const std::vector<Expr>& indices) {
  Reason reason;
  Visit(block.body, [&](const Stmt& s) {
    const auto* let = s.As<LetStmtNode>();
    for (const Expr& index : let ? indices : std::vector<Expr>()) {
      if (!UsesVar(index, let->var)) continue;
      reason = absl::StrCat("an index in ", Describe(block), " is of `",
                            let->var.name(), "`, which its body defines");
    }
    return !reason;
  });
  return reason ? Refusal(kName, *reason) : absl::OkStatus();
}

// Indices that are one iterator by its old domain only, as co // 3 is 0, would
// become others.
absl::Status CheckIndices(const Plan& plan) {
  const BlockNode& block = plan.target.block();
  bool alone = true;
  VisitExprs(block.body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    for (const Expr& index : load ? load->indices : std::vector<Expr>()) {
      alone &= index.As<VarNode>() || !UsesGrowing(plan, index);
    }
    return true;
  });
  if (alone) return absl::OkStatus();
  return Refusal(kName,
                 absl::StrCat("an index in ", Describe(block),
                              " uses an iterator that grows, and others"));
}

absl::Status PlanTensors(const Function& f, Plan* plan) {
  const BlockNode& block = plan->target.block();
  for (bool is_write : {false, true}) {
    const auto& regions = is_write ? block.writes : block.reads;
    for (size_t i = 0; i < regions.size(); ++i) {
      if (!is_write && WritesBuffer(block, regions[i].buffer)) continue;
      KILN_ASSIGN_OR_RETURN(
          ElementAccess access,
          FindElementAccess(f, block.id, static_cast<int>(i), is_write, kName));
      KILN_RETURN_IF_ERROR(CheckNoVariables(block, access.indices));
      KILN_RETURN_IF_ERROR(AddTensor(f, std::move(access), is_write, plan));
    }
  }
  return absl::OkStatus();
}

// Whether `e` is 0 where `iter` is in the padding, whatever the rest holds.
bool Vanishes(const Plan& plan, const Var& iter, const Expr& e) {
  if (const auto* load = e.As<LoadNode>()) {
    for (const Padded& tensor : plan.tensors) {
      if (tensor.access.buffer != load->buffer || tensor.is_write) continue;
      return std::count(load->indices.begin(), load->indices.end(), iter) > 0;
    }
    return false;
  }
  if (const auto* cast = e.As<CastNode>()) {
    return Vanishes(plan, iter, cast->value);
  }
  if (const auto* number = e.As<FloatImmNode>()) return number->value == 0;
  if (IsZero(e)) return true;
  if (const auto* call = e.As<CallNode>()) {
    return call->op == Intrinsic::kIfThenElse &&
           Vanishes(plan, iter, call->args[1]) &&
           Vanishes(plan, iter, call->args[2]);
  }
  const auto* node = e.As<BinaryNode>();
  if (!node) return false;
  const bool a = Vanishes(plan, iter, node->a);
  const bool b = Vanishes(plan, iter, node->b);
  // An infinite factor makes 0 times it no 0.
  if (node->kind == ExprKind::kMul && !e.dtype().is_float()) return a || b;
  return (node->kind == ExprKind::kMul || node->kind == ExprKind::kAdd ||
          node->kind == ExprKind::kSub) &&
         a && b;
}

absl::Status CheckSums(const Plan& plan) {
  const BlockNode& block = plan.target.block();
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!plan.domain.grows[i] || block.iters[i].type == IterType::kSpatial)
      continue;
    auto reducer = MatchReducer(block);
    if (!reducer.ok()) {
      return Refusal(kName, std::string(reducer.status().message()));
    }
    for (size_t t = 0; t < reducer->operands.size(); ++t) {
      const auto* sum = reducer->combined[t].As<BinaryNode>();
      const bool adds_nothing =
          sum && sum->kind == ExprKind::kAdd &&
          Vanishes(plan, block.iters[i].var, reducer->operands[t]);
      if (adds_nothing) continue;
      return Refusal(
          kName, absl::StrCat("padding along `", block.iters[i].var.name(),
                              "` may change what ", Describe(block), " sums"));
    }
  }
  return absl::OkStatus();
}

// What is done for its effect is not done on padding: an assumption need not
// hold there.
absl::Status CheckEffects(const BlockNode& block) {
  bool stores_only = true;
  Visit(block.body, [&](const Stmt& s) {
    stores_only &= !s.As<EvaluateNode>();
    return stores_only;
  });
  return stores_only
             ? absl::OkStatus()
             : Refusal(kName, absl::StrCat(Describe(block),
                                           " does more than to store values"));
}

// The tensor with zeros around it.
Stmt PadNest(const Padded& tensor, Function* f) {
  const Buffer& from = tensor.access.buffer;
  const std::vector<IterVar> iters = ItersOver(tensor.buffer->shape);
  Block copy = CopyBlock(f->NewId(), tensor.buffer->name, iters, from,
                         VarsOf(iters), tensor.buffer, VarsOf(iters));
  BlockFields fields = copy->fields();
  Expr inside;
  for (size_t d = 0; d < tensor.by_dim.size(); ++d) {
    if (!tensor.by_dim[d]) continue;
    const Expr within = LT(fields.iters[d].var, from->shape[d]);
    inside = inside ? And(inside, within) : within;
  }
  const auto* store = fields.body.As<StoreNode>();
  fields.body =
      MakeStore(store->buffer,
                Call(from->dtype, Intrinsic::kIfThenElse,
                     {inside, store->value, Constant(0, from->dtype)}),
                store->indices);
  return LoopsOverDomains(MakeBlock(std::move(fields)), f);
}

// The block's nest with longer loops.
Stmt MainNest(const Plan& plan) {
  const PrivateNest& target = plan.target;
  BlockFields fields = target.block().fields();
  for (const Padded& tensor : plan.tensors) {
    ElementAccess access = tensor.access;
    access.block =
        Path(WithBlock(target.realize(), MakeBlock(std::move(fields))));
    fields = Redirect(access, tensor.buffer, access.indices)->fields();
  }
  return GrownNest(target, plan.domain, std::move(fields));
}

Function Apply(Function f, const Plan& plan) {
  std::vector<Stmt> before, after;
  std::vector<Buffer> buffers;
  for (const Padded& tensor : plan.tensors) {
    buffers.push_back(tensor.buffer);
    if (tensor.is_write) {
      after.push_back(CopyBackNest(tensor.buffer, tensor.access.buffer, &f));
    } else {
      before.push_back(PadNest(tensor, &f));
    }
  }
  before.push_back(MainNest(plan));
  before.insert(before.end(), after.begin(), after.end());
  return ReplaceNest(std::move(f), plan.target, std::move(before), buffers);
}

}  // namespace

absl::StatusOr<Function> PadEinsum(const Function& f, BlockId block,
                                   const std::vector<int64_t>& padding) {
  Plan plan;
  KILN_ASSIGN_OR_RETURN(plan.target, FindPrivateNest(f, block, kName));
  const Scope scope(*plan.target.path.scope()->block);
  if (Reason reason = WhyNotCompleteOrReduction(scope, scope.IndexOf(block))) {
    return Refusal(
        kName, absl::StrCat(Describe(plan.target.block()),
                            " is neither complete nor a reduction: ", *reason));
  }
  KILN_RETURN_IF_ERROR(CheckPrivateNest(plan.target, kName));
  KILN_ASSIGN_OR_RETURN(plan.domain,
                        RoundUpDomain(plan.target, padding, kName));
  KILN_RETURN_IF_ERROR(PlanTensors(f, &plan));
  KILN_RETURN_IF_ERROR(CheckIndices(plan));
  KILN_RETURN_IF_ERROR(CheckSums(plan));
  KILN_RETURN_IF_ERROR(
      CheckNoNewTerms(f, plan.target.block(), plan.domain, kName));
  KILN_RETURN_IF_ERROR(CheckDivisions(plan.target.block(), kName));
  if (!plan.domain.Changes()) return f;
  KILN_RETURN_IF_ERROR(CheckEffects(plan.target.block()));
  return Apply(f, plan);
}

}  // namespace kiln
