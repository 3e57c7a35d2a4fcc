// a is (a + 128) - 128, and so a sum of a * b one of (a + 128) * b less one of
// 128 * b, which does not depend on what a alone moves with. The product is
// matched first, then the tensors and the four nests are made: of the operand,
// of the sums of b, of those of products, and of the result.
#include "kiln/schedule/primitive/offset_operand.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/dot_product.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/element_access.h"
#include "kiln/schedule/rewrite/private_nest.h"

namespace kiln {
namespace {

constexpr char kName[] = "offset_operand";
constexpr int64_t kOffset = 128;

struct Plan {
  PrivateNest target;
  Buffer operand, result;
  Expr factor;  // of the operand, before it is made wider
  Expr other;   // factor, as wide as the sum
  // Of `factor` with the offset, the type and the sign of the offset.
  DType dtype;
  int64_t offset = kOffset;
  // Positions of spatial iterators that `other` moves with.
  std::vector<size_t> moving;
  Buffer with_offset;  // the operand
  Buffer sums;         // of products with the offset
  Buffer offsets;      // sums of `other`

  const std::vector<IterVar>& iters() const { return target.block().iters; }
};

bool Loads(const Expr& e, const Buffer& buffer) {
  bool loads = false;
  Visit(e, [&](const Expr& x) {
    const auto* load = x.As<LoadNode>();
    return !(loads = loads || (load && load->buffer == buffer));
  });
  return loads;
}

// Whether it is an element of the buffer, or a choice of one or a constant.
bool IsElement(const Expr& e, const Buffer& buffer) {
  if (const auto* load = e.As<LoadNode>()) return load->buffer == buffer;
  const auto* call = e.As<CallNode>();
  return call && call->op == Intrinsic::kIfThenElse &&
         !Loads(call->args[0], buffer) && AsInt(call->args[2]) &&
         IsElement(call->args[1], buffer);
}

// Fills in the factors; gives the initial value of the sums.
absl::StatusOr<Expr> MatchProduct(Plan* plan) {
  const BlockNode& block = plan->target.block();
  const auto reducer = MatchReducer(block);
  if (!reducer.ok()) {
    return Refusal(kName, std::string(reducer.status().message()));
  }
  const auto product = reducer->buffers.size() == 1 &&
                               reducer->combined[0].kind() == ExprKind::kAdd
                           ? NarrowProductOf(reducer->operands[0])
                           : std::nullopt;
  if (!product) {
    return Refusal(kName,
                   absl::StrCat(Describe(block),
                                " is not a sum of products of integers of 8 "
                                "bits that are made int32"));
  }
  plan->result = reducer->buffers[0];
  const bool is_first = Loads(product->a, plan->operand);
  plan->factor = is_first ? product->a : product->b;
  const auto* both = reducer->operands[0].As<BinaryNode>();
  plan->other = is_first ? both->b : both->a;
  if (plan->factor.dtype().bits() != 8 ||
      !IsElement(plan->factor, plan->operand) ||
      Loads(plan->other, plan->operand)) {
    return Refusal(kName, absl::StrCat("`", plan->operand->name,
                                       "` is not one of two factors in ",
                                       Describe(block), ", of 8 bits"));
  }
  return reducer->initial[0];
}

absl::Status PlanIterators(Plan* plan) {
  const auto* store = plan->target.block().body.As<StoreNode>();
  for (size_t i = 0; i < plan->iters().size(); ++i) {
    const IterVar& iter = plan->iters()[i];
    if (iter.type != IterType::kSpatial) continue;
    if (UsesVar(plan->other, iter.var)) plan->moving.push_back(i);
    const bool chooses = std::any_of(
        store->indices.begin(), store->indices.end(),
        [&](const Expr& index) { return UsesVar(index, iter.var); });
    if (chooses || IsOne(iter.domain.extent)) continue;
    return Refusal(kName,
                   absl::StrCat("`", iter.var.name(), "` is no index of `",
                                plan->result->name, "`"));
  }
  return absl::OkStatus();
}

// All of the operand is copied, and so has to be written before.
absl::Status CheckWhole(const Function& f, const Scope& scope,
                        const Plan& plan) {
  if (IsArgument(f, plan.operand)) return absl::OkStatus();
  for (const int writer : scope.Writers(plan.operand)) {
    const BlockNode& block = scope.blocks[writer].block();
    for (size_t i = 0; i < block.writes.size(); ++i) {
      const auto access = FindElementAccess(f, block.id, static_cast<int>(i),
                                            /*is_write=*/true, kName);
      if (access.ok() && access->buffer == plan.operand &&
          TouchesAll(*access, /*is_write=*/true)) {
        return absl::OkStatus();
      }
    }
  }
  return Refusal(
      kName, absl::StrCat("no block writes all of `", plan.operand->name, "`"));
}

void PlanBuffers(const Function& f, Plan* plan) {
  const bool has_sign = plan->factor.dtype().is_int();
  plan->dtype = has_sign ? DType::UInt(8) : DType::Int(8);
  plan->offset = has_sign ? kOffset : -kOffset;
  const Buffer& a = plan->operand;
  plan->with_offset = MakeBuffer(UnusedBlockName(f, a->name + "_offset"),
                                 plan->dtype, a->shape, a->scope);
  const Buffer& c = plan->result;
  plan->sums =
      MakeBuffer(c->name + "_with_offset", c->dtype, c->shape, c->scope);
  std::vector<Expr> shape;
  for (const size_t i : plan->moving) {
    shape.push_back(plan->iters()[i].domain.extent);
  }
  if (shape.empty()) shape.push_back(Int(1));
  plan->offsets = MakeBuffer(UnusedBlockName(f, c->name + "_offset"), c->dtype,
                             std::move(shape), c->scope);
}

// The integers of `e` with the offset, in the type for it.
Expr WithOffset(const Plan& plan, const Expr& e) {
  const DType wide = plan.result->dtype;
  return Cast(plan.dtype, Add(Cast(wide, e), Int(plan.offset, wide)));
}

Stmt OperandNest(const Plan& plan, Function* f) {
  BlockFields fields;
  fields.id = f->NewId();
  fields.name = plan.with_offset->name;
  std::vector<Expr> at;
  for (const Expr& extent : plan.operand->shape) {
    const Var var(absl::StrCat("v", at.size()));
    fields.iters.push_back({var, {Int(0), extent}, IterType::kSpatial});
    at.push_back(var);
  }
  fields.body =
      MakeStore(plan.with_offset, WithOffset(plan, Load(plan.operand, at)), at);
  fields.reads = {{plan.operand, PointRegion(at)}};
  fields.writes = {{plan.with_offset, PointRegion(at)}};
  return LoopsOverDomains(MakeBlock(std::move(fields)), f);
}

// The block's iterators at `positions` anew, with what stands for the old ones.
std::vector<IterVar> FreshIters(const Plan& plan,
                                const std::vector<size_t>& positions,
                                VarMap* fresh) {
  std::vector<IterVar> iters;
  for (const size_t i : positions) {
    IterVar iter = plan.iters()[i];
    const Var var(iter.var.name());
    (*fresh)[iter.var.get()] = var;
    iter.var = var;
    iters.push_back(std::move(iter));
  }
  return iters;
}

// Of what `other` moves with, or those given that stand for these.
std::vector<Expr> IndexOfOffsets(const Plan& plan, const VarMap& fresh) {
  std::vector<Expr> index;
  for (const size_t i : plan.moving) {
    index.push_back(Substitute(plan.iters()[i].var, fresh));
  }
  if (index.empty()) index.push_back(Int(0));
  return index;
}

Stmt OffsetsNest(const Plan& plan, Function* f) {
  BlockFields fields;
  fields.id = f->NewId();
  fields.name = plan.offsets->name;
  std::vector<size_t> positions = plan.moving;
  for (size_t i = 0; i < plan.iters().size(); ++i) {
    if (plan.iters()[i].type == IterType::kReduce) positions.push_back(i);
  }
  VarMap fresh;
  fields.iters = FreshIters(plan, positions, &fresh);
  const std::vector<Expr> to = IndexOfOffsets(plan, fresh);
  const Buffer& offsets = plan.offsets;
  fields.body = MakeStore(
      offsets, Add(Load(offsets, to), Substitute(plan.other, fresh)), to);
  fields.init = MakeStore(offsets, Constant(0, offsets->dtype), to);
  for (const BufferRegion& read : plan.target.block().reads) {
    if (Loads(plan.other, read.buffer)) {
      fields.reads.push_back(
          MapRegion(read, [&](const Expr& e) { return Substitute(e, fresh); }));
    }
  }
  fields.writes = {{offsets, PointRegion(to)}};
  return LoopsOverDomains(MakeBlock(std::move(fields)), f);
}

// `factor` of the operand with the offset.
Expr FactorWithOffset(const Plan& plan, const Expr& factor) {
  if (const auto* load = factor.As<LoadNode>()) {
    return Load(plan.with_offset, load->indices);
  }
  const auto* choice = factor.As<CallNode>();
  const int64_t constant = *AsInt(choice->args[2]) + plan.offset;
  return Call(plan.dtype, Intrinsic::kIfThenElse,
              {choice->args[0], FactorWithOffset(plan, choice->args[1]),
               Int(constant, plan.dtype)});
}

// The block, over the operand with the offset.
Stmt SumsNest(const Plan& plan, const Expr& initial) {
  BlockFields fields = plan.target.block().fields();
  const std::vector<Expr> to = fields.body.As<StoreNode>()->indices;
  const Expr factor =
      Cast(plan.sums->dtype, FactorWithOffset(plan, plan.factor));
  fields.body = MakeStore(
      plan.sums, Add(Load(plan.sums, to), Mul(factor, plan.other)), to);
  fields.init = MakeStore(plan.sums, initial, to);
  for (BufferRegion& read : fields.reads) {
    if (read.buffer == plan.operand) read.buffer = plan.with_offset;
  }
  fields.writes = {{plan.sums, PointRegion(to)}};
  const BlockRealizeNode& realize = plan.target.realize();
  Stmt nest = MakeRealize(realize.values, realize.predicate,
                          MakeBlock(std::move(fields)));
  return LoopsAround(plan.target, std::move(nest),
                     std::vector<Expr>(realize.values.size()));
}

// The result, without what the offset has added.
Stmt ResultNest(const Plan& plan, Function* f) {
  BlockFields fields;
  fields.id = f->NewId();
  fields.name = UnusedBlockName(*f, plan.result->name + "_less_offset");
  std::vector<size_t> positions;
  for (size_t i = 0; i < plan.iters().size(); ++i) {
    if (plan.iters()[i].type == IterType::kSpatial) positions.push_back(i);
  }
  VarMap fresh;
  fields.iters = FreshIters(plan, positions, &fresh);
  std::vector<Expr> to;
  for (const Expr& e : plan.target.block().body.As<StoreNode>()->indices) {
    to.push_back(Substitute(e, fresh));
  }
  const std::vector<Expr> from = IndexOfOffsets(plan, fresh);
  const Expr added =
      Mul(Load(plan.offsets, from), Int(plan.offset, plan.offsets->dtype));
  fields.body = MakeStore(plan.result, Sub(Load(plan.sums, to), added), to);
  fields.reads = {{plan.sums, PointRegion(to)},
                  {plan.offsets, PointRegion(from)}};
  fields.writes = {{plan.result, PointRegion(to)}};
  return LoopsOverDomains(MakeBlock(std::move(fields)), f);
}

}  // namespace

absl::StatusOr<Function> OffsetOperand(const Function& f, BlockId block,
                                       int64_t read_index) {
  Plan plan;
  KILN_ASSIGN_OR_RETURN(plan.target, FindPrivateNest(f, block, kName));
  const BlockNode& node = plan.target.block();
  const Scope scope(*plan.target.path.scope()->block);
  if (Reason reason = WhyNotReduction(scope, scope.IndexOf(block))) {
    return Refusal(kName,
                   absl::StrCat(Describe(node), " is no reduction: ", *reason));
  }
  KILN_RETURN_IF_ERROR(CheckPrivateNest(plan.target, kName));
  if (read_index < 0 || read_index >= std::ssize(node.reads)) {
    return Refusal(
        kName, absl::StrCat(Describe(node), " reads ", node.reads.size(),
                            " regions; there is none with index ", read_index));
  }
  plan.operand = node.reads[read_index].buffer;
  KILN_ASSIGN_OR_RETURN(const Expr initial, MatchProduct(&plan));
  KILN_RETURN_IF_ERROR(PlanIterators(&plan));
  KILN_RETURN_IF_ERROR(CheckWhole(f, scope, plan));
  Function g = f;
  PlanBuffers(g, &plan);
  std::vector<Stmt> nests = {OperandNest(plan, &g), OffsetsNest(plan, &g),
                             SumsNest(plan, initial), ResultNest(plan, &g)};
  return ReplaceNest(std::move(g), plan.target, std::move(nests),
                     {plan.with_offset, plan.offsets, plan.sums});
}

}  // namespace kiln
