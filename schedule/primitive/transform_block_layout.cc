#include "kiln/schedule/primitive/transform_block_layout.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/analysis/separation.h"
#include "kiln/schedule/rewrite/private_nest.h"

namespace kiln {
namespace {

constexpr char kName[] = "transform_block_layout";

// The type of a new iterator: that of the iterators in it.
absl::StatusOr<IterType> TypeOf(const PrivateNest& target, const IndexMap& map,
                                const Expr& output) {
  bool spatial = false, reduce = false;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    const IterVar& iter = target.block().iters[i];
    if (IsOne(iter.domain.extent) || !UsesVar(output, map.inputs[i])) continue;
    (iter.type == IterType::kSpatial ? spatial : reduce) = true;
  }
  if (spatial && reduce) {
    return Refusal(kName,
                   "an output of the map mixes spatial and reduce iterators");
  }
  return reduce ? IterType::kReduce : IterType::kSpatial;
}

// Unit iterators alone in an output keep their type.
IterType UnitType(const PrivateNest& target, const IndexMap& map,
                  const Expr& output, IterType type) {
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    if (output == map.inputs[i]) return target.block().iters[i].type;
  }
  return type;
}

// The new iterators, and the old ones in terms of them.
struct Plan {
  std::vector<IterVar> iters;
  VarMap old_iters;
};

absl::StatusOr<Plan> MakePlan(const PrivateNest& target, const IndexMap& map) {
  const std::vector<IterVar>& old = target.block().iters;
  if (map.inputs.size() != old.size()) {
    return BadArgument(
        kName,
        absl::StrCat("the map takes ", map.inputs.size(), " iterators, but ",
                     Describe(target.block()), " has ", old.size()));
  }
  std::vector<Expr> shape;
  for (const IterVar& iter : old) shape.push_back(iter.domain.extent);
  for (const Expr& output : map.outputs) {
    if (output.dtype() == DType::Index()) continue;
    return BadArgument(kName, "the map gives something else than integers");
  }
  auto extents = MapShape(map, shape);
  if (!extents.ok()) {
    return Refusal(kName, std::string(extents.status().message()));
  }
  Plan plan;
  std::vector<Var> points;
  for (size_t i = 0; i < map.outputs.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(IterType type, TypeOf(target, map, map.outputs[i]));
    type = UnitType(target, map, map.outputs[i], type);
    points.emplace_back(absl::StrCat("v", i));
    plan.iters.push_back({points.back(), {Int(0), (*extents)[i]}, type});
  }
  auto inverse = InvertIndexMap(map, shape, points);
  if (!inverse.ok()) {
    return Refusal(kName, std::string(inverse.status().message()));
  }
  if (!IsZero(inverse->is_padding)) {
    return Refusal(kName, "the map leaves gaps between the new iterations",
                   "pad first, or use factors that divide");
  }
  for (size_t i = 0; i < old.size(); ++i) {
    plan.old_iters[old[i].var.get()] = inverse->inputs[i];
  }
  return plan;
}

// Numbers the iterations of those of `iters` that are wanted, in their order.
Expr NumberOf(const std::vector<IterVar>& iters,
              const std::vector<bool>& wanted) {
  Expr number = Int(0);
  for (size_t i = 0; i < iters.size(); ++i) {
    if (!wanted[i]) continue;
    number = Add(Mul(number, iters[i].domain.extent), iters[i].var);
  }
  return number;
}

// Instances that touch the same element keep their order, unless they only say
// in which order values are combined.
absl::Status CheckOrder(const PrivateNest& target, const Plan& plan) {
  const BlockNode& block = target.block();
  std::vector<IterVar> old;  // in the order of the loops
  std::vector<bool> ordered;
  bool reduces = true;
  for (const ForNode* loop : target.loops) {
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (target.LoopOf(i) != loop) continue;
      const bool spatial = block.iters[i].type == IterType::kSpatial;
      old.push_back(block.iters[i]);
      ordered.push_back(!IsOne(block.iters[i].domain.extent) &&
                        !(spatial && SeparatesInstances(block, i)));
      if (ordered.back() && spatial) reduces = false;
    }
  }
  if (std::count(ordered.begin(), ordered.end(), true) == 0 ||
      (reduces && CombinesAtWill(block))) {
    return absl::OkStatus();
  }
  const Expr before = Substitute(NumberOf(old, ordered), plan.old_iters);
  std::vector<bool> moves;
  Analyzer analyzer;
  for (const IterVar& iter : plan.iters) {
    analyzer.Bind(iter.var, iter.domain);
    moves.push_back(UsesVar(before, iter.var));
  }
  if (analyzer.CanProveEqual(before, NumberOf(plan.iters, moves))) {
    return absl::OkStatus();
  }
  return Refusal(kName,
                 absl::StrCat("instances of ", Describe(block),
                              " touch the same elements, so that their order "
                              "counts, and the map changes it"),
                 absl::StrCat("keep their order, or mark the block with "
                              "T.block_attr({\"",
                              kDisjointWrites,
                              "\": True}) if they do not touch the same"));
}

// `s` with the indices of its stores and loads simplified.
Stmt SimplifyIndices(const Stmt& s, Analyzer* analyzer) {
  const auto simple = [&](std::vector<Expr> indices) {
    for (Expr& e : indices) e = analyzer->Simplify(e);
    return indices;
  };
  std::function<Expr(const Expr&)> loads = [&](const Expr& e) -> Expr {
    const Expr below = MapOperands(e, loads);
    const auto* load = below.As<LoadNode>();
    return load ? Load(load->buffer, simple(load->indices)) : below;
  };
  const Stmt own = MapExprs(s, loads);
  if (const auto* store = own.As<StoreNode>()) {
    return MakeStore(store->buffer, store->value, simple(store->indices));
  }
  return MapChildren(
      own, [&](const Stmt& t) { return SimplifyIndices(t, analyzer); });
}

// The block with the new iterators; regions and indices come back simplified.
Block NewBlock(const PrivateNest& target, const Plan& plan) {
  Analyzer analyzer;
  for (const IterVar& iter : plan.iters) analyzer.Bind(iter.var, iter.domain);
  const auto map = [&](const Expr& e) { return Substitute(e, plan.old_iters); };
  const auto region = [&](const BufferRegion& r) {
    return MapRegion(r,
                     [&](const Expr& e) { return analyzer.Simplify(map(e)); });
  };
  BlockFields fields = target.block().fields();
  fields.iters = plan.iters;
  for (BufferRegion& r : fields.reads) r = region(r);
  for (BufferRegion& r : fields.writes) r = region(r);
  for (MatchBufferRegion& match : fields.match_buffers) {
    match.source = region(match.source);
  }
  const auto body = [&](const Stmt& s) {
    return SimplifyIndices(Substitute(s, plan.old_iters), &analyzer);
  };
  if (fields.init) fields.init = body(fields.init);
  fields.body = body(fields.body);
  return MakeBlock(std::move(fields));
}

// The condition under which the block runs, in terms of the new `loops`.
Expr NewCondition(const PrivateNest& target, const Plan& plan,
                  const std::vector<Var>& loops) {
  VarMap new_values, old_loops;
  for (size_t i = 0; i < loops.size(); ++i) {
    new_values[plan.iters[i].var.get()] = loops[i];
  }
  for (const ForNode* loop : target.loops) old_loops[loop->var.get()] = Int(0);
  const std::vector<IterVar>& old = target.block().iters;
  for (size_t i = 0; i < old.size(); ++i) {
    const ForNode* loop = target.LoopOf(i);
    if (!loop) continue;
    old_loops[loop->var.get()] =
        Substitute(plan.old_iters.at(old[i].var.get()), new_values);
  }
  return Substitute(target.realize().predicate, old_loops);
}

}  // namespace

absl::StatusOr<Function> TransformBlockLayout(const Function& f, BlockId block,
                                              const IndexMap& map) {
  KILN_ASSIGN_OR_RETURN(const PrivateNest target,
                        FindPrivateNest(f, block, kName));
  const Scope scope(*target.path.scope()->block);
  if (Reason reason = WhyNotCompleteOrReduction(scope, scope.IndexOf(block))) {
    return Refusal(
        kName, absl::StrCat(Describe(target.block()),
                            " is neither complete nor a reduction: ", *reason));
  }
  KILN_RETURN_IF_ERROR(CheckLoopsAreIters(target, kName));
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(target, map));
  KILN_RETURN_IF_ERROR(CheckOrder(target, plan));
  Function result = f;
  std::vector<Expr> values;
  std::vector<Var> loops;
  std::vector<LoopId> ids;
  for (size_t i = 0; i < plan.iters.size(); ++i) {
    loops.emplace_back(absl::StrCat("ax", i));
    values.push_back(loops.back());
    ids.push_back(result.NewId());
  }
  Stmt nest = MakeRealize(std::move(values), NewCondition(target, plan, loops),
                          NewBlock(target, plan));
  for (size_t i = loops.size(); i-- > 0;) {
    nest =
        MakeFor(ids[i], loops[i], plan.iters[i].domain.extent, std::move(nest));
  }
  return ReplaceAt(std::move(result), target.path.Prefix(target.top + 1),
                   std::move(nest));
}

}  // namespace kiln
