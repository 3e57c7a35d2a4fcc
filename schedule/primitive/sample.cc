#include "kiln/schedule/primitive/sample.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/primitive/tiling.h"

namespace kiln {
namespace {

constexpr char kTile[] = "sample_perfect_tile";
constexpr char kCategorical[] = "sample_categorical";
constexpr char kLocation[] = "sample_compute_location";
constexpr int64_t kMaxTiles = 64;

absl::StatusOr<int64_t> TiledExtent(const Function& f, LoopId id, int64_t n,
                                    int64_t max_innermost) {
  if (n < 1 || n > kMaxTiles) {
    return BadArgument(kTile,
                       absl::StrCat("n is ", n, ", not 1 to ", kMaxTiles));
  }
  if (max_innermost < 1) {
    return BadArgument(kTile, "max_innermost_factor is not positive");
  }
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, id, kTile));
  const int64_t* extent = AsInt(path.loop()->extent);
  if (!extent || *extent < 1) {
    return Refusal(kTile, "the extent of " + Describe(*path.loop()) +
                              " is not a positive constant");
  }
  return *extent;
}

// The loops that stand above all consumers, from the scope down.
std::vector<const ForNode*> SharedLoops(const Scope& scope,
                                        const std::vector<int>& consumers) {
  std::vector<const ForNode*> shared = scope.blocks[consumers[0]].loops;
  for (int consumer : consumers) {
    const auto& loops = scope.blocks[consumer].loops;
    const auto [end, unused] =
        std::mismatch(shared.begin(), shared.end(), loops.begin(), loops.end());
    shared.erase(end, shared.end());
  }
  return shared;
}

bool MovesReduce(const ForNode& loop, const ScopeBlock& block) {
  const BlockRealizeNode& realize = *block.realize;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (realize.block->iters[i].type != IterType::kSpatial &&
        UsesVar(realize.values[i], loop.var)) {
      return true;
    }
  }
  return false;
}

bool LooksInlinable(const Scope& scope, int index) {
  const BlockNode& block = scope.blocks[index].block();
  const auto* store = block.body.As<StoreNode>();
  return store && !block.init && block.writes.size() == 1 &&
         !WhyNotComplete(scope, index) &&
         std::all_of(store->indices.begin(), store->indices.end(),
                     [](const Expr& e) { return e.As<VarNode>(); });
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> SamplePerfectTile(
    const Function& f, LoopId loop, int64_t n, int64_t max_innermost_factor,
    Random* random) {
  KILN_ASSIGN_OR_RETURN(const int64_t extent,
                        TiledExtent(f, loop, n, max_innermost_factor));
  auto tiles =
      SampleTiling(extent, static_cast<int>(n), max_innermost_factor, random);
  if (tiles) return *std::move(tiles);
  return Refusal(kTile, absl::StrCat("there is no way, or there are too many, "
                                     "to split ",
                                     extent, " into ", n,
                                     " factors of which "
                                     "the last is at most ",
                                     max_innermost_factor));
}

absl::Status CheckPerfectTile(const Function& f, LoopId loop, int64_t n,
                              int64_t max_innermost_factor,
                              const std::vector<int64_t>& decision) {
  KILN_ASSIGN_OR_RETURN(const int64_t extent,
                        TiledExtent(f, loop, n, max_innermost_factor));
  if (IsTiling(decision, extent, static_cast<int>(n), max_innermost_factor)) {
    return absl::OkStatus();
  }
  return Refusal(
      kTile,
      absl::StrCat("decision [", absl::StrJoin(decision, ", "), "] is not ", n,
                   " factors of ", extent, " of which the last is at most ",
                   max_innermost_factor));
}

absl::StatusOr<int64_t> SampleCategorical(const std::vector<double>& probs,
                                          Random* random) {
  double total = 0;
  for (double weight : probs) {
    if (!(weight >= 0))
      return BadArgument(kCategorical, "a weight is negative");
    total += weight;
  }
  if (total == std::numeric_limits<double>::infinity()) {
    return BadArgument(kCategorical, "the weights have no finite sum");
  }
  if (!(total > 0)) return BadArgument(kCategorical, "no weight is positive");
  double draw = random->Unit() * total;
  int64_t last = 0;
  for (size_t i = 0; i < probs.size(); ++i) {
    if (probs[i] <= 0) continue;
    last = static_cast<int64_t>(i);
    if (draw < probs[i]) break;
    draw -= probs[i];
  }
  return last;
}

absl::StatusOr<std::vector<int64_t>> ComputeLocations(const Function& f,
                                                      BlockId block) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, kLocation));
  std::vector<int64_t> locations = {kRootLocation};
  if (path.size() == 1) return locations;
  const Scope scope(*path.scope()->block);
  const int index = scope.IndexOf(block);
  const std::vector<int> consumers = scope.Consumers(index);
  if (consumers.empty() || scope.IsOutput(index)) return locations;
  if (LooksInlinable(scope, index)) locations.push_back(kInlineLocation);
  const auto shared = SharedLoops(scope, consumers);
  bool below_reduce = false;
  for (size_t i = 0; i < shared.size(); ++i) {
    const bool reduces = MovesReduce(*shared[i], scope.blocks[consumers[0]]);
    if (IsOne(shared[i]->extent)) continue;
    if (below_reduce && !reduces) break;
    below_reduce |= reduces;
    locations.push_back(static_cast<int64_t>(i));
  }
  return locations;
}

absl::StatusOr<LoopId> ComputeLocation(const Function& f, BlockId block,
                                       int64_t decision) {
  if (decision == kRootLocation || decision == kInlineLocation) return decision;
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, kLocation));
  if (path.size() > 1 && decision >= 0) {
    const Scope scope(*path.scope()->block);
    const std::vector<int> consumers = scope.Consumers(scope.IndexOf(block));
    if (!consumers.empty()) {
      const auto shared = SharedLoops(scope, consumers);
      if (decision < static_cast<int64_t>(shared.size())) {
        return shared[decision]->id;
      }
    }
  }
  return Refusal(kLocation,
                 absl::StrCat("decision ", decision,
                              " names no loop that the "
                              "consumers of ",
                              Describe(*path.realize()->block), " share"));
}

}  // namespace kiln
