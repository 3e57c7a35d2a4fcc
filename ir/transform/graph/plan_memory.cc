// Each sequence is planned for itself: in order of evaluation an allocation
// takes a storage from the pool, and gives it back behind the last use of its
// tensor (memory_lives.h). Of
//
//   a = alloc_tensor([8])   cls.exp(x, a)      takes s, of 32 bytes
//   b = alloc_tensor([8])   cls.exp(a, b)      takes t; s comes back behind it
//   c = alloc_tensor([9])   cls.pad(b, c)      takes s, which is of 36 bytes
//   now d = alloc_tensor([9])   cls.exp(c, d)      is what the function gives
//
// the tensors a, b and c need two storages, and d stays as it is. Where
// storages are joined, a and c are at byte 0 of one of 128 bytes, b behind
// them. A tensor that its call may write in place of one that it reads last
// (memory_lives.h) gets the memory of that one.
#include "kiln/ir/transform/graph/plan_memory.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/memory_call.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/arena.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/memory_lives.h"
#include "kiln/ir/transform/graph/memory_size.h"
#include "kiln/ir/transform/graph/storage_pool.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;

constexpr char kPlansResults[] = "relax.memory_plan_dynamic_func_output";

// Where the arguments of R.builtin.alloc_tensor stand.
enum AllocationArgument { kShape, kType, kDevice, kScope, kNumArguments };

bool IsConstant(const std::vector<Expr>& extents) {
  for (const Expr& extent : extents) {
    if (!AsInt(extent)) return false;
  }
  return true;
}

// A tensor of known extents that is allocated.
struct Wanted {
  const graph::CallNode* call;
  const graph::ShapeNode* shape;
  const graph::DataTypeNode* type;
};

class SeqPlanner {
 public:
  SeqPlanner(const Module& module, const DimBounds& bounds,
             const PlanMemoryOptions& options, bool plans_results)
      : module_(module),
        bounds_(bounds),
        options_(options),
        plans_results_(plans_results) {}

  graph::Expr Run(const graph::SeqNode& seq) {
    lives_ = LivesOf(seq, module_);
    Plan(seq);
    std::vector<BindingBlock> blocks;
    size_t at = 0;
    for (const BindingBlock& block : seq.blocks) {
      BindingBlock planned{block.is_dataflow, {}};
      for (const Binding& binding : block.bindings) {
        const auto taken = taken_.find(at++);
        if (taken == taken_.end()) {
          planned.bindings.push_back(binding);
        } else {
          Emit(binding, taken->second, planned.bindings);
        }
      }
      blocks.push_back(std::move(planned));
    }
    return graph::Seq(std::move(blocks), seq.result);
  }

 private:
  struct Part {
    size_t storage = 0;
    int64_t offset = 0;
  };
  // Allocations that are parts of one storage, each with the number of its
  // life, which several have one after the other where they are in place.
  struct Joined {
    std::map<size_t, size_t> places;
    std::vector<MemoryLife> lives;
  };
  // Storages that a binding uses last, by the position of the operand.
  using Ends = std::multimap<size_t, size_t>;

  // Chooses the storage of each allocation.
  void Plan(const graph::SeqNode& seq) {
    std::map<size_t, Ends> ends;  // by the last use
    size_t at = 0;
    for (const BindingBlock& block : seq.blocks) {
      for (const Binding& binding : block.bindings) {
        if (const auto wanted = WantedBy(binding.value)) {
          PlanOne(*wanted, at, ends);
        }
        for (const auto& [position, storage] : ends[at]) {
          pool_.GiveBack(storage);
        }
        ++at;
      }
    }
    for (const auto& [kind, joined] : joined_) PlanJoined(kind, joined);
  }

  static std::optional<Wanted> WantedBy(const graph::Expr& value) {
    if (!IsTensorAllocation(value)) return std::nullopt;
    const auto* call = value.As<graph::CallNode>();
    const bool is_whole = call->args.size() >= kNumArguments;
    const auto* shape =
        is_whole ? call->args[kShape].As<graph::ShapeNode>() : nullptr;
    const auto* type =
        is_whole ? call->args[kType].As<graph::DataTypeNode>() : nullptr;
    if (!shape || !type) return std::nullopt;
    return Wanted{call, shape, type};
  }

  void PlanOne(const Wanted& wanted, size_t at, std::map<size_t, Ends>& ends) {
    const AllocatedLife& life = lives_[at];
    if (life.is_captured) return;
    const std::vector<Expr>& extents = wanted.shape->values;
    const Expr bytes =
        LargestBytes(extents, wanted.type->dtype, bounds_, analyzer_);
    const auto& args = wanted.call->args;
    if (life.is_result) {
      const bool is_planned = plans_results_ && !IsConstant(extents);
      if (is_planned) taken_[at] = {pool_.Add(bytes, KindOf(args))};
      return;
    }
    const int64_t* known = AsInt(bytes);
    if (known && *known < options_.least_bytes) return;
    if (known && options_.joins_storages) {
      Joined& joined = joined_[PrintGraphExpr(
          graph::TupleOf({args[kDevice], args[kScope]}))];
      Join(at, life, *known, joined);
      return;
    }
    const auto before = InPlace(life, taken_);
    const size_t storage =
        before ? taken_[*before].storage : pool_.Take(bytes, KindOf(args));
    if (before) {
      std::erase_if(ends[lives_[*before].last_use],
                    [&](const auto& end) { return end.second == storage; });
    }
    taken_[at] = {storage};
    ends[life.last_use].emplace(life.position, storage);
  }

  // The tensor in place of which one of this life is, if that is in `planned`.
  template <typename Planned>
  static std::optional<size_t> InPlace(const AllocatedLife& life,
                                       const Planned& planned) {
    const auto& before = life.in_place_of;
    return before && planned.count(*before) > 0 ? before : std::nullopt;
  }

  static void Join(size_t at, const AllocatedLife& life, int64_t bytes,
                   Joined& joined) {
    if (const auto before = InPlace(life, joined.places)) {
      const size_t number = joined.places[*before];
      MemoryLife& whole = joined.lives[number];
      if (whole.bytes == bytes) {
        whole.last = life.last_use;
        joined.places[at] = number;
        return;
      }
    }
    joined.places[at] = joined.lives.size();
    joined.lives.push_back({at, life.last_use, bytes});
  }

  static std::string KindOf(const std::vector<graph::Expr>& args) {
    return PrintGraphExpr(
        graph::TupleOf({args[kType], args[kDevice], args[kScope]}));
  }

  void PlanJoined(const std::string& kind, const Joined& joined) {
    const Arena arena = PlaceInArena(joined.lives);
    const size_t storage = pool_.Add(Int(arena.bytes), kind);
    for (const auto& [place, number] : joined.places) {
      taken_[place] = {storage, arena.offsets[number]};
    }
  }

  // The tensor out of its storage, which comes ahead of the first one.
  void Emit(const Binding& binding, const Part& part,
            std::vector<Binding>& out) {
    const auto& args = binding.value.As<graph::CallNode>()->args;
    graph::Var& var = vars_[part.storage];
    if (!var) {
      var = graph::Var("storage", graph::Object());
      out.push_back(
          {var, graph::CallOp("memory.alloc_storage",
                              {graph::ShapeOf({pool_[part.storage].bytes}),
                               args[kDevice], args[kScope], args[kType]})});
    }
    out.push_back(
        {binding.var,
         graph::CallOp("memory.alloc_tensor",
                       {var, graph::Number(Int(part.offset)), args[kShape],
                        args[kType], graph::Number(Int(0))})});
  }

  const Module& module_;
  const DimBounds& bounds_;
  const PlanMemoryOptions& options_;
  const bool plans_results_;
  Analyzer analyzer_;
  StoragePool pool_{&analyzer_};
  std::map<size_t, AllocatedLife> lives_;
  std::map<size_t, Part> taken_;  // by the place of the allocation
  std::map<std::string, Joined> joined_;
  std::map<size_t, graph::Var> vars_;
};

class FunctionPlanner {
 public:
  FunctionPlanner(const Module& module, const DimBounds& bounds,
                  const PlanMemoryOptions& options)
      : module_(module), bounds_(bounds), options_(options) {}

  // `plans_results`: of the sequence that `e` is, if it is one.
  graph::Expr Run(const graph::Expr& e, bool plans_results) {
    const graph::Expr below =
        graph::MapOperands(e, [&](const graph::Expr& operand) {
          return Run(operand, /*plans_results=*/false);
        });
    const auto* seq = below.As<graph::SeqNode>();
    if (!seq) return below;
    return SeqPlanner(module_, bounds_, options_, plans_results).Run(*seq);
  }

 private:
  const Module& module_;
  const DimBounds& bounds_;
  const PlanMemoryOptions& options_;
};

absl::StatusOr<graph::GraphFunction> Planned(const graph::FunctionNode& f,
                                             const Module& module,
                                             const PlanMemoryOptions& options) {
  KILN_ASSIGN_OR_RETURN(const DimBounds bounds, DimBounds::Create(f));
  graph::FunctionFields fields = f.fields();
  const bool plans_results = IntAttr(f.attrs, kPlansResults, 0) != 0;
  fields.attrs.erase(kPlansResults);
  fields.body =
      FunctionPlanner(module, bounds, options).Run(f.body, plans_results);
  return graph::GraphFunction(std::move(fields));
}

}  // namespace

absl::StatusOr<Module> PlanMemory(const Module& module,
                                  const PlanMemoryOptions& options) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (!f->body) continue;
    absl::StatusOr<graph::GraphFunction> planned = Planned(*f, module, options);
    if (!planned.ok()) {
      return absl::Status(
          planned.status().code(),
          absl::StrCat(f->name, ": ", planned.status().message()));
    }
    f = *std::move(planned);
  }
  return out;
}

}  // namespace kiln
