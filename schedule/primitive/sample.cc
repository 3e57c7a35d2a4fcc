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
#include "kiln/schedule/rewrite/perfect_tilings.h"

namespace kiln {
namespace {

constexpr char kTile[] = "sample_perfect_tile";
constexpr char kCategorical[] = "sample_categorical";
constexpr char kLocation[] = "sample_compute_location";
constexpr int64_t kMaxTiles = 64;

constexpr char kPartitioned[] = "sample_partitioned_tile";

absl::StatusOr<int64_t> ConstantExtent(const Function& f, LoopId id, int64_t n,
                                       std::string_view primitive) {
  if (n < 1 || n > kMaxTiles) {
    return BadArgument(primitive,
                       absl::StrCat("n is ", n, ", not 1 to ", kMaxTiles));
  }
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, id, primitive));
  const int64_t* extent = AsInt(path.loop()->extent);
  if (!extent || *extent < 1) {
    return Refusal(primitive, "the extent of " + Describe(*path.loop()) +
                                  " is not a positive constant");
  }
  return *extent;
}

absl::StatusOr<int64_t> TiledExtent(const Function& f, LoopId id, int64_t n,
                                    int64_t max_innermost) {
  if (max_innermost < 1) {
    return BadArgument(kTile, "max_innermost_factor is not positive");
  }
  return ConstantExtent(f, id, n, kTile);
}

// Whether the extent of the loop is only known at run time.
absl::StatusOr<bool> IsSymbolic(const Function& f, LoopId id, int64_t n) {
  if (n < 1 || n > kMaxTiles) return false;
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, id, kTile));
  return !AsInt(path.loop()->extent);
}

// One outer loop over all iterations.
std::vector<int64_t> Untiled(int64_t n) {
  std::vector<int64_t> tiles(n, 1);
  tiles[0] = -1;
  return tiles;
}

// Whether the outermost of `n` factors is open and the others are numbers.
bool IsOpenTiling(const std::vector<int64_t>& tiles, int64_t n,
                  int64_t max_innermost) {
  return static_cast<int64_t>(tiles.size()) == n && tiles[0] == -1 &&
         std::all_of(tiles.begin() + 1, tiles.end(),
                     [](int64_t factor) { return factor >= 1; }) &&
         (n == 1 || tiles.back() <= max_innermost);
}

absl::StatusOr<int64_t> PartitionedExtent(const Function& f, LoopId id,
                                          const PartitionedTile& tile) {
  KILN_ASSIGN_OR_RETURN(const int64_t extent,
                        ConstantExtent(f, id, tile.n, kPartitioned));
  if (tile.partition_pos < 0 || tile.partition_pos > tile.n) {
    return BadArgument(
        kPartitioned,
        absl::StrCat("partition_pos is ", tile.partition_pos, ", not 0 to n"));
  }
  if (tile.inner_factor < 1) {
    return BadArgument(kPartitioned, "innerpart_factor is not positive");
  }
  const bool has_inner = tile.partition_pos < tile.n || tile.inner_factor == 1;
  if (has_inner && extent % tile.inner_factor == 0) return extent;
  return Refusal(kPartitioned,
                 absl::StrCat("no inner part of ", extent, " is a multiple of ",
                              tile.inner_factor));
}

// How many of `exponent` prime factors go to the inner part, at least `least`;
// as likely as there are ways to spread both parts.
absl::StatusOr<int64_t> SampleInnerExponent(const PartitionedTile& tile,
                                            const PrimePower& power,
                                            int64_t least, Random* random) {
  const int64_t outer = tile.partition_pos, inner = tile.n - outer;
  // Ways to put `count` equal things into `places`.
  const auto ways = [](int64_t count, int64_t places) {
    if (places == 0) return count == 0 ? 1.0 : 0.0;
    double product = 1;
    for (int64_t i = 1; i <= count; ++i) {
      product = product * static_cast<double>(places - 1 + i) /
                static_cast<double>(i);
    }
    return product;
  };
  std::vector<double> weights;
  for (int64_t s = least; s <= power.exponent; ++s) {
    weights.push_back(ways(s, inner) * ways(power.exponent - s, outer));
  }
  KILN_ASSIGN_OR_RETURN(const int64_t choice,
                        SampleCategorical(weights, random));
  return least + choice;
}

// Appends `n` factors of `product`.
void AppendTiling(int64_t product, int64_t n, Random* random,
                  std::vector<int64_t>* tiles) {
  if (n == 0) return;
  auto part = SampleTiling(product, static_cast<int>(n), product, random);
  if (!part) {  // more than can be counted
    part.emplace(n, 1);
    part->back() = product;
  }
  tiles->insert(tiles->end(), part->begin(), part->end());
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
  KILN_ASSIGN_OR_RETURN(const bool symbolic, IsSymbolic(f, loop, n));
  if (symbolic) return Untiled(n);
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
  KILN_ASSIGN_OR_RETURN(const bool symbolic, IsSymbolic(f, loop, n));
  if (symbolic && (decision == Untiled(n) ||
                   IsOpenTiling(decision, n, max_innermost_factor))) {
    return absl::OkStatus();
  }
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

absl::StatusOr<std::vector<int64_t>> SamplePartitionedTile(
    const Function& f, LoopId loop, const PartitionedTile& tile,
    Random* random) {
  KILN_ASSIGN_OR_RETURN(const int64_t extent, PartitionedExtent(f, loop, tile));
  int64_t inner = 1, factor = tile.inner_factor;
  for (const PrimePower& power : Factorize(extent)) {
    int64_t least = 0;
    for (; factor % power.prime == 0; factor /= power.prime) ++least;
    KILN_ASSIGN_OR_RETURN(int64_t exponent,
                          SampleInnerExponent(tile, power, least, random));
    for (; exponent > 0; --exponent) inner *= power.prime;
  }
  std::vector<int64_t> tiles;
  AppendTiling(extent / inner, tile.partition_pos, random, &tiles);
  AppendTiling(inner, tile.n - tile.partition_pos, random, &tiles);
  return tiles;
}

absl::Status CheckPartitionedTile(const Function& f, LoopId loop,
                                  const PartitionedTile& tile,
                                  const std::vector<int64_t>& decision) {
  KILN_ASSIGN_OR_RETURN(const int64_t extent, PartitionedExtent(f, loop, tile));
  if (IsTiling(decision, extent, static_cast<int>(tile.n), extent)) {
    int64_t inner = 1;
    for (int64_t i = tile.partition_pos; i < tile.n; ++i) inner *= decision[i];
    if (inner % tile.inner_factor == 0) return absl::OkStatus();
  }
  return Refusal(
      kPartitioned,
      absl::StrCat("decision [", absl::StrJoin(decision, ", "), "] is not ",
                   tile.n, " factors of ", extent,
                   " of which those from number ", tile.partition_pos,
                   " on make a multiple of ", tile.inner_factor));
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
