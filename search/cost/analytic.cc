#include "kiln/search/cost/analytic.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/ir/expr/tile_nest.h"
#include "kiln/search/cost/between_cores.h"
#include "kiln/search/cost/hopeless.h"
#include "kiln/search/cost/nest.h"
#include "kiln/search/cost/transfer.h"

namespace kiln {
namespace {

// Everything below counts in slots: the time of one vector multiply-add at
// full rate. Half a cycle where a core has two units for them.

// From one multiply-add to the next that adds to the same sum: 8 by the
// processors' manuals, and a little more, as each waits to be issued. Of 103
// GFLOP/s of a Zen 3 tiles of 4 x 2 sums reach 102 where all comes from the
// first cache and 75 to 95 elsewhere, those of 4 x 3 and 5 x 2 more than 92.
constexpr double kLatencySlots = 8.5;
constexpr double kIssuePerSlot = 3;  // instructions
constexpr double kLoopSlots = 1;     // of one iteration of a loop
// A number for all lanes, loaded: at least a slot, and longer where those of
// one step have the same place in their lines, and so lie in one bank of the
// first cache. A Zen 3 loads 1.4 of them in a cycle of two slots.
constexpr double kOneBankSlots = 1.4;
// What a vector that lies in two lines takes more, in loads: of tiles over rows
// of 79 or 99 columns a Xeon with AVX-512 takes up to 1.3 times as long where
// the rows are read as they lie as over panels.
constexpr double kSecondLine = 2;
constexpr double kDivideSlots = 10;
constexpr double kMathSlots = 24;  // exp and the like, as polynomials
// What a polynomial takes longer where its steps have only those of the next
// round to overlap with.
constexpr double kMathAlone = 0.35;
// Products of pairs that are added to sums by instructions of their own.
constexpr double kPairSlots = 1.5;
constexpr double kSpillSlots = 4;  // a register stored and loaded again
constexpr double kCallSeconds = 2e-8;
constexpr double kLaunchSeconds = 1.5e-6;
constexpr double kPageMissSeconds = 5e-9;
// Of registers for tiles: what they hold is told, and they are released.
constexpr double kTileSetupSeconds = 1.5e-7;
constexpr double kPagesHeld = 1024;  // whose addresses are at hand
// Of the times that should overlap with the longest one, the share that does
// not: of arithmetic and the nearest level, and of those beyond.
constexpr double kBadOverlap[kNumMemoryLevels] = {0.05, 0.1, 0.4, 0.5};
constexpr double kBadOverlapSteady = 0.1;  // of reads that come all the time
constexpr double kCodeBytes = 32 << 10;
constexpr double kInstructionBytes = 7;

bool IsMath(OpClass op) {
  return op == OpClass::kFloatMath || op == OpClass::kIntMath;
}

double SlotsOf(OpClass op) {
  const bool divides = op == OpClass::kFloatDivMod || op == OpClass::kIntDivMod;
  return divides ? kDivideSlots : IsMath(op) ? kMathSlots : 1;
}

// Of `seconds` for what comes from a level, or of arithmetic, the share that
// does not overlap with the rest, where `steady` of them come all the time.
double BadOverlap(int level, double steady, double seconds) {
  const double share = seconds > 0 ? steady / seconds : 0;
  return share * std::min(kBadOverlapSteady, kBadOverlap[level]) +
         (1 - share) * kBadOverlap[level];
}

class StoreEstimator {
 public:
  StoreEstimator(const ProgramSummary& program, const StoreSummary& store,
                 const Machine& machine, int threads)
      : program_(program),
        store_(store),
        machine_(machine),
        nest_(MakeNest(program, store, machine, threads)) {}

  // Without the launches of its parallel loop, which another store may count.
  StoreEstimate Run() {
    slot_ = 2.0 * machine_.vectors.bytes / 4 / (machine_.gflops * 1e9);
    SetRounds();
    FindRegisters();
    out_.busy_threads = nest_.busy_threads;
    out_.lane_use = nest_.lane_use;
    CountTile();
    for (int i = 1; i < kNumMemoryLevels; ++i) {
      const Transfer transfer =
          TransferOf(nest_, machine_, static_cast<MemoryLevelId>(i));
      out_.transfer[i] = transfer.seconds;
      steady_[i] = transfer.steady;
    }
    // Additions that are left out load nothing; from further away comes all
    // that others need anyway.
    out_.transfer[1] *= store_.added;
    SetOverhead();
    SetSeconds();
    AddColdReads();
    return out_;
  }

  const Nest& nest() const { return nest_; }
  double tile_instructions() const { return instructions_; }

 private:
  void SetRounds();
  void FindRegisters();
  // Whether all lanes use the same element.
  bool IsShared(const NestAccess& access) const {
    return nest_.lane_loop >= 0 && access.strides[nest_.lane_loop] == 0;
  }
  // Along one dimension: rows of a tile, of all tiles but the last one, and
  // those that there are.
  struct TileRows {
    double tile = 1, before = 0, all = 1;
  };
  TileRows RowsOf(const NestAccess& access, size_t dim) const;
  double ShareOfTiles() const;
  double LoadsFor(const NestAccess& access) const;
  double LastRowsTimes() const;
  double ShareInTwoLines(const NestAccess& access) const;
  // Seconds for one number for all lanes, where a vector takes `vector`.
  double SharedLoad(const NestAccess& access, double vector) const;
  double TileVisits(const ApproximateDim& dim) const;
  static double LongestStep(const NestAccess& access);
  double InterleavedRows(const NestAccess& access) const;
  double TileCount(const NestAccess& access) const;
  double Lives(const NestAccess& access) const;
  double LiveRegisters(const NestAccess& access) const;
  double PartsOfTile(double each) const;
  bool PassesThroughRegisters(const NestAccess& access) const;
  // Of an instruction.
  double DotSteps() const {
    return nest_.dot_loop < 0 ? 1 : nest_.extents[nest_.dot_loop];
  }
  double SlotsFor(OpClass op) const;
  double Widenings(const NestAccess& access) const;
  void CountTileProducts();
  void CountTile();
  double PageMisses() const;
  void SetOverhead();
  void SetSeconds();
  void AddColdReads();

  const ProgramSummary& program_;
  const StoreSummary& store_;
  const Machine& machine_;
  Nest nest_;
  StoreEstimate out_;
  double steady_[kNumMemoryLevels] = {};  // of the transfers
  double slot_ = 0;
  double rounds_ = 1;  // of the tile
  double spilled_ = 0;
  // For the accumulators of the round before.
  bool waits_ = false;
  double instructions_ = 0;
};

// Initializations inside the loops of their reduction run once for each.
// Iterations that a predicate cuts short cost as much as others; those that add
// nothing are left out, and so are tiles without a row.
void StoreEstimator::SetRounds() {
  rounds_ = store_.added * ShareOfTiles();
  for (int i = 0; i < nest_.tile; ++i) {
    const bool once = store_.is_init && nest_.accesses[0].strides[i] == 0;
    if (!once) rounds_ *= nest_.extents[i];
  }
}

// How often one round of the tile comes to each place along a dimension, lanes
// as one: of x + r, 7 pixels with 3 taps come to 9 places in 21 steps.
double StoreEstimator::TileVisits(const ApproximateDim& dim) const {
  double steps = 1, reach = 0;
  int64_t apart = 0;  // divides the distance of any two places
  for (const ApproximateTerm& term : dim.terms) {
    const int loop = program_.loops[term.loop].depth;
    if (loop < nest_.tile || loop == nest_.lane_loop) continue;
    const double each = std::abs(term.coefficient);
    if (each != std::floor(each)) return 1;
    steps *= nest_.extents[loop];
    reach += each * (nest_.extents[loop] - 1);
    apart = std::gcd(apart, static_cast<int64_t>(each));
  }
  if (apart == 0) return 1;
  return std::max(1.0, steps / (reach / static_cast<double>(apart) + 1));
}

// Bytes from lane to lane up to which they are moved together.
double StoreEstimator::LongestStep(const NestAccess& access) {
  const auto bytes = static_cast<double>(access.buffer->element_bytes);
  return access.access->writes ? bytes : bytes * kMostLaneStep;
}

// Of bytes and the like that come from several rows in turns, as panels for dot
// products do from B[k * 4 + v % 4, v // 4], the rows, of which each is loaded
// as a part of a vector; 1 for others.
double StoreEstimator::InterleavedRows(const NestAccess& access) const {
  constexpr int kNarrow = 4;  // bytes
  if (access.access->writes || access.access->dims.empty() ||
      access.buffer->element_bytes >= kNarrow) {
    return 1;
  }
  for (const ApproximateTerm& term : access.access->dims.back().terms) {
    if (program_.loops[term.loop].depth != nest_.lane_loop) continue;
    const double each = std::abs(term.coefficient);
    const double stays = std::max(term.step, each) / each;
    if (stays <= kMostLaneStep) return stays;
  }
  return 1;
}

// Vectors (or scalars) that an access moves in one round of the tile, each
// counted once.
double StoreEstimator::TileCount(const NestAccess& access) const {
  double count = access.access->count;
  if (access.access->writes && access.access->reads) count /= 2;
  for (int i = nest_.tile; i < nest_.depth(); ++i) {
    if (access.strides[i] == 0 || i == nest_.dot_loop) continue;
    const double stride = std::abs(access.strides[i]);
    if (i != nest_.lane_loop) {
      count *= nest_.extents[i];
    } else if (stride <= LongestStep(access)) {
      count *= nest_.vectors * nest_.lane_repeats;
    } else if (const double rows = InterleavedRows(access); rows > 1) {
      count *= nest_.vectors * rows;
    } else {
      count *= nest_.extents[i];  // lane by lane
    }
  }
  for (const ApproximateDim& dim : access.access->dims) {
    count /= TileVisits(dim);
  }
  return count;
}

// How many buffers one after the other an access goes to in one round of the
// tile: one that is allocated within its loops is another one each time.
double StoreEstimator::Lives(const NestAccess& access) const {
  return nest_.Iterations(nest_.tile, std::max(nest_.tile, access.owned_depth));
}

// Registers that hold an operand from its first use to its last: those of the
// loops inside the outermost tile loop that uses the same ones again. One that
// all lanes share is read from memory by the operation itself.
double StoreEstimator::LiveRegisters(const NestAccess& access) const {
  if (IsShared(access) || access.access->writes) return 0;
  double live = 1;
  bool reused = false;
  for (int i = nest_.tile; i < nest_.depth(); ++i) {
    const bool reduce = store_.roles[i] == LoopRole::kReduce;
    if (access.strides[i] == 0) {
      reused |= !reduce && nest_.extents[i] > 1 && i != nest_.lane_loop;
    } else if (reused && !reduce) {
      live *= i == nest_.lane_loop ? nest_.vectors : nest_.extents[i];
    }
  }
  return live;
}

void StoreEstimator::FindRegisters() {
  NestAccess& target = nest_.accesses[0];
  if (nest_.tile_products > 0) {
    target.in_registers = true;
    return;
  }
  const int around = nest_.tile - 1;
  const bool loops_on = around >= target.owned_depth &&
                        target.strides[around] == 0 &&
                        nest_.extents[around] > 1;
  const bool is_own =
      target.buffer->is_local && nest_.tile <= target.owned_depth;
  target.in_registers = store_.is_reduction && (loops_on || is_own);
  target.waits_in_memory = target.in_registers && !is_own;
  waits_ = loops_on;
  for (const NestAccess& access : nest_.accesses) {
    out_.registers +=
        access.in_registers ? TileCount(access) : LiveRegisters(access);
  }
  spilled_ = std::max(0.0, out_.registers - machine_.vectors.count);
}

// Parts of each sum of the tile, to which the loop around it adds `each` terms
// in an iteration (codegen/lower/vector/part_sums.h).
double StoreEstimator::PartsOfTile(double each) const {
  const NestAccess& sums = nest_.accesses[0];
  if (!sums.buffer->node->dtype.is_float() || !program_.is_auto ||
      program_.is_strict) {
    return 1;
  }
  const double all = each * nest_.extents[nest_.tile - 1];
  const double parts = static_cast<double>(
      PartsOfSums(static_cast<int64_t>(std::ceil(TileCount(sums)))));
  return std::clamp(all / kLeastTermsOfPart, 1.0, parts);
}

// How many times as long the sums take because the last tile has fewer rows,
// and so few sums that each waits for itself: 14 rows of two vectors in tiles
// of 6 leave 2, whose 4 sums take as long as 10. Where additions are left out,
// those beyond the last row are among them; elsewhere they count as if they
// were done.
double StoreEstimator::LastRowsTimes() const {
  const NestAccess& sums = nest_.accesses[0];
  if (!sums.in_registers || store_.added >= 1 || store_.share >= 1) return 1;
  double times = 1;
  for (size_t d = 0; d < sums.access->dims.size(); ++d) {
    const TileRows rows = RowsOf(sums, d);
    const double last = rows.all - rows.before;
    const double each = TileCount(sums) / rows.tile;
    if (last <= 0 || last >= rows.tile) continue;
    times *= 1 + std::max(0.0, kLatencySlots - last * each) / (rows.all * each);
  }
  return times;
}

StoreEstimator::TileRows StoreEstimator::RowsOf(const NestAccess& access,
                                                size_t dim) const {
  TileRows rows;
  for (const ApproximateTerm& term : access.access->dims[dim].terms) {
    const int i = program_.loops[term.loop].depth;
    (i < nest_.tile ? rows.before : rows.tile) += term.reach;
  }
  const Expr& extent = access.buffer->node->shape[dim];
  const int64_t* all = AsInt(extent);
  rows.all = all ? static_cast<double>(*all) : rows.before + rows.tile;
  return rows;
}

// Of the tiles of the loops, the share that has any rows: of one row in 3 tiles
// of 6, one does.
double StoreEstimator::ShareOfTiles() const {
  if (store_.share >= 1 || store_.added < 1) return 1;
  double share = 1;
  const NestAccess& target = nest_.accesses[0];
  for (size_t d = 0; d < target.access->dims.size(); ++d) {
    const TileRows rows = RowsOf(target, d);
    const double tiles = rows.before / rows.tile + 1;
    share *= std::min(1.0, std::ceil(rows.all / rows.tile) / tiles);
  }
  return share;
}

// Of the vectors of the access, the share that lies in two lines, where they
// begin anywhere: of those of 32 bytes, 4 bytes apart, 28 of 64.
double StoreEstimator::ShareInTwoLines(const NestAccess& access) const {
  if (nest_.lane_loop < 0 || IsShared(access)) return 0;
  const int64_t bytes = access.buffer->element_bytes;
  if (std::abs(access.strides[nest_.lane_loop]) != static_cast<double>(bytes)) {
    return 0;
  }
  int64_t apart = machine_.vectors.bytes;  // the least distance of two of them
  for (int i = 0; i < nest_.depth(); ++i) {
    if (i == nest_.lane_loop || nest_.extents[i] <= 1) continue;
    const double beyond =
        std::fmod(std::abs(access.strides[i]), static_cast<double>(apart));
    apart = std::gcd(apart, static_cast<int64_t>(beyond));
  }
  return static_cast<double>(machine_.vectors.bytes - apart) /
         machine_.line_bytes;
}

// Loads for a vector: of whole ones where its lanes are near to each other, and
// else one for each lane of a sum. Copies transpose squares in registers.
double StoreEstimator::LoadsFor(const NestAccess& access) const {
  if (nest_.lane_loop < 0 || access.access->writes) return 1;
  const int64_t bytes = access.buffer->element_bytes;
  const double apart = std::abs(access.strides[nest_.lane_loop]) /
                       (static_cast<double>(bytes) * DotSteps());
  if (apart <= kMostLaneStep) return std::max(apart, 1.0);
  const bool sums = absl::c_linear_search(store_.roles, LoopRole::kReduce);
  return sums ? machine_.vectors.Lanes(bytes) : 1;
}

double StoreEstimator::SharedLoad(const NestAccess& access,
                                  double vector) const {
  bool is_one_bank = false;
  for (int i = nest_.tile; i < nest_.depth(); ++i) {
    const double stride = std::abs(access.strides[i]);
    if (stride == 0 || nest_.extents[i] <= 1) continue;
    if (store_.roles[i] == LoopRole::kReduce) continue;
    is_one_bank = std::fmod(stride, machine_.line_bytes) == 0;
    if (!is_one_bank) break;
  }
  return is_one_bank ? kOneBankSlots * slot_ : std::min(vector, slot_);
}

// Whether one statement of the tile leaves it for another in registers.
bool StoreEstimator::PassesThroughRegisters(const NestAccess& access) const {
  return access.buffer->holds_lanes && nest_.tile <= access.owned_depth &&
         access.footprints[nest_.tile].l1_bytes <=
             static_cast<double>(machine_.vectors.count) *
                 machine_.vectors.bytes;
}

// Dot products take narrow numbers as they come; where they are products and
// sums of their own, both are for the same units.
double StoreEstimator::SlotsFor(OpClass op) const {
  if (nest_.dot_loop < 0) return SlotsOf(op);
  if (op == OpClass::kIntOther || op == OpClass::kFloatOther) return 0;
  const bool is_apart = machine_.vectors.dots.integers < 4;
  return op == OpClass::kIntMad && is_apart ? kPairSlots : SlotsOf(op);
}

// Shuffles that make 16 bits of the 8 of each factor for products of pairs; of
// one for all lanes, two.
double StoreEstimator::Widenings(const NestAccess& access) const {
  const bool is_widened = nest_.dot_loop >= 0 && DotSteps() == 2 &&
                          access.buffer->element_bytes == 1;
  return !is_widened ? 0 : IsShared(access) ? 2 : 1;
}

// Products of tiles: 16 cycles each, of two multiply-adds of vectors; a load
// moves 16 vectors, and sums come and go once.
void StoreEstimator::CountTileProducts() {
  constexpr double kProductSlots = 32;
  const MemoryLevel& l1 = machine_.level(MemoryLevelId::kL1);
  const double load = machine_.vectors.bytes / (l1.read_gbs * 1e9);
  const double store = machine_.vectors.bytes / (l1.write_gbs * 1e9);
  instructions_ = nest_.tile_products + nest_.tile_loads;
  out_.arithmetic = rounds_ * nest_.tile_products * kProductSlots * slot_;
  const double sums = nest_.tile_products * (load + store) /
                      nest_.Iterations(nest_.tile - 1, nest_.tile);
  out_.transfer[0] = rounds_ * kTileRows * (nest_.tile_loads * load + sums);
}

void StoreEstimator::CountTile() {
  if (nest_.tile_products > 0) return CountTileProducts();
  const double steps =
      nest_.tile_steps * (nest_.lane_loop >= nest_.tile ? nest_.vectors : 1);
  double arithmetic = 0, instructions = 0;
  for (int i = 0; i < kNumOpClasses; ++i) {
    const auto op = static_cast<OpClass>(i);
    const double count = store_.ops[i] * steps;
    arithmetic +=
        count * SlotsFor(op) * (IsMath(op) ? 1 + kMathAlone / steps : 1);
    instructions += SlotsFor(op) > 0 ? count : 0;
  }
  const MemoryLevel& l1 = machine_.level(MemoryLevelId::kL1);
  const double load = machine_.vectors.bytes / (l1.read_gbs * 1e9);
  const double store = machine_.vectors.bytes / (l1.write_gbs * 1e9);
  double near = 0;
  for (const NestAccess& access : nest_.accesses) {
    if (access.waits_in_memory) {
      near += TileCount(access) * (load + store) /
              nest_.Iterations(nest_.RegisterDepth(access), nest_.tile);
    }
    if (access.in_registers || PassesThroughRegisters(access)) continue;
    const double count = TileCount(access) * Lives(access);
    instructions += count;
    if (IsShared(access) &&
        !machine_.vectors.Broadcasts(access.buffer->element_bytes)) {
      arithmetic += count;  // shuffles, by the units of arithmetic
      instructions += count;
    }
    arithmetic += count * Widenings(access);
    instructions += count * Widenings(access);
    const double loads = LoadsFor(access);
    arithmetic += count * (loads - 1);  // shuffles, one for each further load
    instructions += 2 * count * (loads - 1);
    const double lines = loads + kSecondLine * ShareInTwoLines(access);
    if (access.access->reads) {
      near +=
          count * (IsShared(access) ? SharedLoad(access, load) : lines * load);
    }
    if (access.access->writes) near += count * lines * store;
  }
  double chain = 0;
  if (nest_.accesses[0].in_registers) {
    const double each = steps / TileCount(nest_.accesses[0]);
    if (waits_) chain = kLatencySlots * each / PartsOfTile(each);
    arithmetic +=
        spilled_ * kSpillSlots * (steps / TileCount(nest_.accesses[0]));
  }
  instructions_ = instructions;
  double issue = instructions / kIssuePerSlot;
  if (instructions * kInstructionBytes > kCodeBytes) issue *= 2;
  arithmetic = std::max({arithmetic, chain, issue}) * LastRowsTimes();
  out_.arithmetic = rounds_ * arithmetic * slot_;
  out_.transfer[0] = rounds_ * near;
}

// Addresses to look up anew, as lines that miss a cache of a few pages.
double StoreEstimator::PageMisses() const {
  int depth = 0;
  const auto total = [&](int d) {
    double pages = 0;
    for (const NestAccess& access : nest_.accesses) {
      pages += access.footprints[d].pages;
    }
    return pages;
  };
  while (depth < nest_.depth() && total(depth) > kPagesHeld) ++depth;
  if (depth == 0) return 0;
  return total(depth) * nest_.Iterations(0, depth);
}

void StoreEstimator::SetOverhead() {
  double iterations = 0;
  for (int i = 0; i < nest_.tile; ++i) {
    iterations += nest_.Iterations(0, i + 1);
  }
  out_.overhead =
      iterations * kLoopSlots * slot_ + PageMisses() * kPageMissSeconds;
  if (nest_.tile_products > 0) {
    out_.overhead += std::max(1.0, nest_.launches) * kTileSetupSeconds;
  }
}

void StoreEstimator::SetSeconds() {
  int longest = -1;  // arithmetic, or a level
  const auto seconds = [&](int i) {
    return i < 0 ? out_.arithmetic : out_.transfer[i];
  };
  for (int i = 0; i < kNumMemoryLevels; ++i) {
    if (seconds(i) > seconds(longest)) longest = i;
  }
  out_.seconds = out_.overhead;
  for (int i = -1; i < kNumMemoryLevels; ++i) {
    // Arithmetic overlaps with a level as badly as the level with arithmetic.
    const int level = i >= 0 ? i : std::max(longest, 0);
    out_.seconds += (i == longest ? 1
                                  : BadOverlap(level, steady_[level],
                                               out_.transfer[level])) *
                    seconds(i);
  }
}

// Constants come from memory while the loops go over them for the first time.
void StoreEstimator::AddColdReads() {
  const ColdReads cold = ColdReadsOf(nest_, machine_);
  const double meanwhile = out_.seconds * cold.share;
  out_.cold = std::max(0.0, cold.seconds - meanwhile) +
              BadOverlap(kNumMemoryLevels - 1, cold.steady, cold.seconds) *
                  std::min(cold.seconds, meanwhile);
  out_.seconds += out_.cold;
}

void AddOverhead(double seconds, StoreEstimate* store) {
  store->overhead += seconds;
  store->seconds += seconds;
}

}  // namespace

TimeEstimate EstimateTime(const ProgramSummary& program, const Machine& machine,
                          int threads) {
  TimeEstimate estimate;
  estimate.seconds = kCallSeconds;
  std::vector<double> instructions;
  absl::flat_hash_set<int> launched;
  BetweenCores between(machine, threads);
  for (const StoreSummary& store : program.stores) {
    StoreEstimator estimator(program, store, machine, threads);
    estimate.stores.push_back(estimator.Run());
    if (launched.insert(estimator.nest().parallel_loop).second) {
      AddOverhead(estimator.nest().launches * kLaunchSeconds,
                  &estimate.stores.back());
    }
    AddOverhead(between.Pass(estimator.nest()), &estimate.stores.back());
    estimate.seconds += estimate.stores.back().seconds;
    instructions.push_back(estimator.tile_instructions());
  }
  estimate.hopeless = WhyHopeless(estimate, instructions, machine);
  return estimate;
}

}  // namespace kiln
