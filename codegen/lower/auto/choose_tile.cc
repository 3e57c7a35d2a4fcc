// Counts cycles of one step of the tile on a core that does two vector
// operations and two loads a cycle, with four cycles from one addition to the
// next. For a matmul with a tile of 6 x 64 floats in 24 registers, a step has
// 24 operations, 4 + 6 loads: 12 cycles. With 1 x 32 in 2 registers it has 2
// operations, but takes 4 cycles, for the second step waits for the first.
#include "kiln/codegen/lower/auto/choose_tile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "kiln/base/lowering_policy.h"

namespace kiln::lower {
namespace {

constexpr double kLatency = 5;  // a little more than that of one addition
constexpr double kLoad = 0.6;
constexpr double kLoopCycles = 8;     // around the innermost reductions
constexpr double kAccumulator = 1.5;  // to load and to store it
constexpr int64_t kPageBytes = 4 << 10;
// Rows that begin in so few sets of the first cache push each other out: each
// line of them waits so much longer. On a Zen 3, 2 cycles in 4 or 8 sets, 7 in
// one; in 16 and more none, however many pages they lie in.
constexpr double kCrowdedCycles = 2;
// Streams that a core follows into what the second cache does not hold; each
// further one costs each vector so much. A Zen 4 reads a constant matrix of 9
// MB for one row at 77 GB/s in 4 streams, at 70 in 8, at 55 in 16 and at 27 in
// 24.
constexpr int64_t kMostStreams = 8;
constexpr double kStreamCycles = 0.25;
constexpr int64_t kLeastRows = 4, kMostRows = 14;
constexpr double kNever = std::numeric_limits<double>::infinity();
// A nest stays as it is unless the best tile needs less of its time than this.
constexpr double kWorthwhile = 0.8;

// Whether some rows of `extent` make a tile of usual size.
bool HasGoodDivisor(int64_t extent) {
  if (extent <= kMostRows) return true;
  for (int64_t rows = kLeastRows; rows <= kMostRows; ++rows) {
    if (extent % rows == 0) return true;
  }
  return false;
}

class Chooser {
 public:
  Chooser(const Nest& nest, const Machine& machine)
      : nest_(nest), machine_(machine) {}
  std::optional<RegisterTile> Run();
  double Estimate();
  int64_t ChainSize();

 private:
  bool FindChain();
  bool Continues(const NestLoop& loop, size_t index, int64_t stride) const;
  void TryVectors();
  void TryVector(int64_t lanes);
  void TryRows(RegisterTile tile, int at, bool has_rest);
  void TryOrders(RegisterTile tile);
  std::vector<int> KeptLoops(const RegisterTile& tile) const;
  int CountInner(const std::vector<int>& order) const;
  double Cost(const RegisterTile& tile) const;
  double StepCycles(const RegisterTile& tile) const;
  double FarCycles(const NestAccess& load, const RegisterTile& tile) const;
  bool IsCrowded(const NestAccess& load, const RegisterTile& tile) const;
  bool IsFar(const NestAccess& load) const;
  int64_t Streams(const NestAccess& load, const RegisterTile& tile) const;
  int64_t Footprint(const NestAccess& load, const RegisterTile& tile) const;
  int64_t Registers(const RegisterTile& tile) const;
  int64_t Vectors(const RegisterTile& tile) const {
    return (tile.lanes + width_ - 1) / width_;
  }
  int64_t Rows(const RegisterTile& tile) const;
  bool VariesOverLanes(const NestAccess& load, const RegisterTile& tile) const;
  int64_t Copies(const NestAccess& load, const RegisterTile& tile) const;
  std::optional<RegisterTile> Current() const;
  bool IsConsecutive(int loop) const {
    return std::find(chain_.begin(), chain_.end(), loop) != chain_.end();
  }
  bool InChain(const RegisterTile& tile, int loop) const {
    return std::find(tile.chain.begin(), tile.chain.end(), loop) !=
           tile.chain.end();
  }

  const Nest& nest_;
  const Machine& machine_;
  std::vector<int> chain_;  // all loops with consecutive elements
  int64_t width_ = 1;       // elements of a vector register
  RegisterTile best_;
  double best_cost_ = kNever;
};

// Whether all accesses go on in `loop`, `index` of the nest, where a vector
// over `stride` elements ends.
bool Chooser::Continues(const NestLoop& loop, size_t index,
                        int64_t stride) const {
  if (loop.stride != stride || !loop.is_plain || loop.extent == 1) return false;
  return std::all_of(
      nest_.loads.begin(), nest_.loads.end(), [&](const NestAccess& load) {
        if (load.uses[index] && load.strides[index] != stride) return false;
        return chain_.empty() || load.uses[index] == load.uses[chain_[0]];
      });
}

bool Chooser::FindChain() {
  int64_t stride = 1;
  int64_t bytes = nest_.element_bytes();
  for (bool found = true; found;) {
    found = false;
    for (size_t i = 0; i < nest_.loops.size() && !found; ++i) {
      if (!Continues(nest_.loops[i], i, stride)) continue;
      found = true;
      stride *= nest_.loops[i].extent;
      chain_.push_back(static_cast<int>(i));
    }
  }
  for (size_t i = 0; i < nest_.loops.size(); ++i) {
    const bool is_vector =
        nest_.loops[i].loop->for_kind == ForKind::kVectorized;
    const bool is_first = !chain_.empty() && chain_[0] == static_cast<int>(i);
    if (is_vector && !is_first && nest_.loops[i].extent > 1) return false;
  }
  if (chain_.empty()) return false;
  for (const NestAccess& load : nest_.loads) {
    if (!load.uses[chain_[0]]) continue;
    if (load.load->buffer->dtype.is_bool()) return false;
    bytes = std::max(bytes, load.load->buffer->dtype.bytes());
  }
  width_ = machine_.vectors.Lanes(bytes);
  return true;
}

int64_t Chooser::Rows(const RegisterTile& tile) const {
  int64_t rows = 1;
  for (size_t i = 0; i < tile.factors.size(); ++i) {
    if (!InChain(tile, static_cast<int>(i))) rows *= tile.factors[i];
  }
  return rows;
}

int64_t Chooser::Registers(const RegisterTile& tile) const {
  return Rows(tile) * Vectors(tile);
}

bool Chooser::VariesOverLanes(const NestAccess& load,
                              const RegisterTile& tile) const {
  return !tile.chain.empty() && load.uses[tile.chain[0]];
}

// How many different elements or vectors of `load` one step needs.
int64_t Chooser::Copies(const NestAccess& load,
                        const RegisterTile& tile) const {
  int64_t copies = VariesOverLanes(load, tile) ? Vectors(tile) : 1;
  for (size_t i = 0; i < tile.factors.size(); ++i) {
    if (load.uses[i] && !InChain(tile, static_cast<int>(i))) {
      copies *= tile.factors[i];
    }
  }
  return copies;
}

// Bytes, in whole vectors, that `load` touches while the tile is in registers.
int64_t Chooser::Footprint(const NestAccess& load,
                           const RegisterTile& tile) const {
  int64_t count = Copies(load, tile), line = machine_.vectors.bytes;
  const size_t first = tile.order.size() - tile.inner_reductions;
  for (size_t i = first; i < tile.order.size(); ++i) {
    if (!load.uses[tile.order[i]]) continue;
    count *= nest_.loops[tile.order[i]].extent;
    if (load.strides[tile.order[i]] == 1 && !VariesOverLanes(load, tile)) {
      line = load.load->buffer->dtype.bytes();
    }
  }
  return count * line;
}

// What loads from beyond the first cache add to a step.
double Chooser::FarCycles(const NestAccess& load,
                          const RegisterTile& tile) const {
  const int64_t bytes = load.load->buffer->dtype.bytes();
  const double copies = static_cast<double>(Copies(load, tile));
  if (!VariesOverLanes(load, tile)) {
    // Rows that compete for the same few places of the cache.
    for (size_t i = 0; i < tile.factors.size(); ++i) {
      const int64_t stride = load.strides[i] * bytes;
      if (tile.factors[i] > machine_.l1_ways && stride != 0 &&
          stride % kPageBytes == 0) {
        return copies / 2;
      }
    }
    return 0;
  }
  const int64_t l1_bytes = UsableBytes(machine_, MemoryLevelId::kL1);
  double cycles = Footprint(load, tile) > l1_bytes ? copies / 2 : 0;
  if (IsFar(load)) {
    const int64_t further = Streams(load, tile) - kMostStreams;
    cycles += copies * kStreamCycles *
              static_cast<double>(std::max<int64_t>(further, 0));
  }
  return IsCrowded(load, tile) ? cycles + kCrowdedCycles * copies : cycles;
}

// Whether the second cache does not hold the buffer, which is flat.
bool Chooser::IsFar(const NestAccess& load) const {
  const Buffer& buffer = load.load->buffer;
  const int64_t* size =
      buffer->shape.size() == 1 ? AsInt(buffer->shape[0]) : nullptr;
  const int64_t held = machine_.level(MemoryLevelId::kL2).bytes;
  return size && *size > held / buffer->dtype.bytes();
}

// Places from which the innermost reductions go on to the next line.
int64_t Chooser::Streams(const NestAccess& load,
                         const RegisterTile& tile) const {
  const int64_t bytes = load.load->buffer->dtype.bytes();
  const size_t first = tile.order.size() - tile.inner_reductions;
  const bool goes_on =
      std::any_of(tile.order.begin() + static_cast<std::ptrdiff_t>(first),
                  tile.order.end(), [&](int loop) {
                    return load.strides[loop] != 0 &&
                           load.strides[loop] * bytes <= machine_.vectors.bytes;
                  });
  if (!goes_on) return 1;
  int64_t streams = 1;
  for (size_t i = 0; i < tile.factors.size(); ++i) {
    if (load.strides[i] * bytes >= kPageBytes) streams *= tile.factors[i];
  }
  return streams;
}

// Whether the rows that the innermost reductions read share few sets of the
// first cache, and are more than these hold.
bool Chooser::IsCrowded(const NestAccess& load,
                        const RegisterTile& tile) const {
  int64_t rows = 1, apart = 0;
  for (int i = 0; i < tile.inner_reductions; ++i) {
    const int loop = tile.order[tile.order.size() - 1 - i];
    if (load.strides[loop] == 0) continue;
    rows *= nest_.loops[loop].extent;
    apart =
        std::gcd(apart, load.strides[loop] * load.load->buffer->dtype.bytes());
  }
  const int64_t places = NearPlacesOfRows(machine_, apart);
  return rows > 1 && places <= kFewPlaces && rows > places * machine_.l1_ways;
}

double Chooser::StepCycles(const RegisterTile& tile) const {
  const double operations = static_cast<double>(Registers(tile));
  double loads = 0, far = 0;
  for (const NestAccess& load : nest_.loads) {
    loads += static_cast<double>(Copies(load, tile));
    far += FarCycles(load, tile);
  }
  const double issue = (operations + loads + 3) / 6;
  const double wait = nest_.is_update ? kLatency : operations;
  return std::max({operations / 2, loads * kLoad, issue, wait}) + far;
}

// Cycles for each element and step.
double Chooser::Cost(const RegisterTile& tile) const {
  double steps = 1;
  for (int i = 0; i < tile.inner_reductions; ++i) {
    const int loop = tile.order[tile.order.size() - 1 - i];
    steps *= static_cast<double>(nest_.loops[loop].extent);
  }
  const double work =
      steps * static_cast<double>(Rows(tile)) * static_cast<double>(tile.lanes);
  double cycles = StepCycles(tile) * steps + kLoopCycles;
  if (nest_.is_update) {
    cycles += kAccumulator * static_cast<double>(Registers(tile));
  }
  for (size_t i = 0; i < tile.factors.size(); ++i) {
    const int64_t rest = nest_.loops[i].extent % tile.factors[i];
    if (rest > 0) {
      cycles *= 1.05 + 0.5 * static_cast<double>(rest) /
                           static_cast<double>(nest_.loops[i].extent);
    }
  }
  return cycles / work;
}

std::vector<int> Chooser::KeptLoops(const RegisterTile& tile) const {
  std::vector<int> order;
  for (size_t i = 0; i < nest_.loops.size(); ++i) {
    if (nest_.loops[i].extent != tile.factors[i]) {
      order.push_back(static_cast<int>(i));
    }
  }
  return order;
}

int Chooser::CountInner(const std::vector<int>& order) const {
  auto is_spatial = [&](int loop) { return nest_.loops[loop].is_spatial(); };
  return static_cast<int>(
      std::find_if(order.rbegin(), order.rend(), is_spatial) - order.rbegin());
}

// The schedule's own order first, then with more and more reductions inside of
// all other loops, as long as what they touch stays near.
void Chooser::TryOrders(RegisterTile tile) {
  tile.order = KeptLoops(tile);
  for (bool moved = true; moved;) {
    tile.inner_reductions = CountInner(tile.order);
    const double cost = Cost(tile);
    if (cost < 0.99 * best_cost_) {
      best_cost_ = cost;
      best_ = tile;
    }
    const auto inner = tile.order.end() - tile.inner_reductions;
    auto at = inner;
    while (at != tile.order.begin() && nest_.loops[*(at - 1)].is_spatial()) {
      --at;
    }
    moved = nest_.is_update && at != tile.order.begin();
    if (!moved) break;
    std::rotate(at - 1, at, inner);
    tile.inner_reductions = CountInner(tile.order);
    int64_t bytes = 0;
    for (const NestAccess& load : nest_.loads) bytes += Footprint(load, tile);
    moved = bytes <= UsableBytes(machine_, MemoryLevelId::kL2);
  }
}

// Factors for loop `at` and those around it.
void Chooser::TryRows(RegisterTile tile, int at, bool has_rest) {
  if (!TileFits(Registers(tile), Vectors(tile), machine_.vectors)) return;
  if (at < 0) return TryOrders(std::move(tile));
  const NestLoop& loop = nest_.loops[at];
  const bool is_fixed = !loop.is_spatial() || IsConsecutive(at);
  if (is_fixed || !nest_.is_update) {
    return TryRows(std::move(tile), at - 1, has_rest);
  }
  const int64_t most =
      std::min<int64_t>(loop.extent, machine_.vectors.ForTiles());
  const bool may_leave = !has_rest && !HasGoodDivisor(loop.extent);
  for (int64_t factor = 1; factor <= most; ++factor) {
    const bool leaves = loop.extent % factor != 0;
    if (leaves && (!may_leave || factor < kLeastRows)) continue;
    tile.factors[at] = factor;
    TryRows(tile, at - 1, has_rest || leaves);
  }
}

// A vector of `lanes` of the chain, where its loops can be cut so.
void Chooser::TryVector(int64_t lanes) {
  RegisterTile tile;
  tile.factors.assign(nest_.loops.size(), 1);
  tile.lanes = lanes;
  for (int loop : chain_) {
    const int64_t extent = nest_.loops[loop].extent;
    tile.chain.push_back(loop);
    if (extent >= lanes) {
      if (extent % lanes != 0) return;
      tile.factors[loop] = lanes;
      return TryRows(std::move(tile), static_cast<int>(nest_.loops.size()) - 1,
                     false);
    }
    if (lanes % extent != 0) return;
    tile.factors[loop] = extent;
    lanes /= extent;
    if (lanes == 1) {
      return TryRows(std::move(tile), static_cast<int>(nest_.loops.size()) - 1,
                     false);
    }
  }
}

void Chooser::TryVectors() {
  // LLVM takes vectors of other lengths apart, lane by lane at worst.
  for (int64_t vectors = kMaxVectorsAtOnce; vectors > 0; vectors /= 2) {
    TryVector(vectors * width_);
  }
  int64_t all = 1;
  for (int loop : chain_) {
    all *= nest_.loops[loop].extent;
    if (all > kMaxVectorsAtOnce * width_) break;
    if (all % width_ != 0) TryVector(all);
  }
  for (int64_t lanes = width_ / 2; lanes >= kMinLanes; lanes /= 2)
    TryVector(lanes);
}

// How the nest would be compiled as it stands.
std::optional<RegisterTile> Chooser::Current() const {
  const NestLoop& vector = nest_.loops[chain_[0]];
  if (vector.loop->for_kind != ForKind::kVectorized) return std::nullopt;
  RegisterTile tile;
  tile.factors.assign(nest_.loops.size(), 1);
  tile.chain = {chain_[0]};
  tile.lanes = tile.factors[chain_[0]] = vector.extent;
  for (int i = static_cast<int>(nest_.loops.size()) - 1; i >= 0; --i) {
    const NestLoop& loop = nest_.loops[i];
    if (i == chain_[0]) continue;
    if (loop.extent > 1 && !loop.is_spatial()) break;
    tile.factors[i] = loop.extent;
  }
  tile.order = KeptLoops(tile);
  tile.inner_reductions = CountInner(tile.order);
  if (Registers(tile) + Vectors(tile) > machine_.vectors.ForTiles()) {
    tile.inner_reductions = 0;
  }
  return tile;
}

std::optional<RegisterTile> Chooser::Run() {
  if (!FindChain()) return std::nullopt;
  const std::optional<RegisterTile> current = Current();
  if (!nest_.is_update) {
    const bool is_narrow =
        nest_.loops[chain_[0]].extent < width_ && chain_.size() > 1;
    if (!is_narrow) return std::nullopt;
  }
  const double bound = current ? kWorthwhile * Cost(*current) : best_cost_;
  if (bound < 0.5 / static_cast<double>(width_)) return std::nullopt;
  TryVectors();
  if (best_.factors.empty() || best_cost_ > bound) return std::nullopt;
  return best_;
}

double Chooser::Estimate() {
  if (!FindChain()) return kNever;
  const std::optional<RegisterTile> current = Current();
  TryVectors();
  return current ? std::min(best_cost_, Cost(*current)) : best_cost_;
}

int64_t Chooser::ChainSize() {
  if (!FindChain()) return 1;
  int64_t size = 1;
  for (int loop : chain_) size *= nest_.loops[loop].extent;
  return size;
}

}  // namespace

double EstimateCycles(const Nest& nest, const Machine& machine) {
  return Chooser(nest, machine).Estimate();
}

int64_t ConsecutiveElements(const Nest& nest) {
  return Chooser(nest, Machine()).ChainSize();
}

std::optional<RegisterTile> ChooseTile(const Nest& nest,
                                       const Machine& machine) {
  return Chooser(nest, machine).Run();
}

}  // namespace kiln::lower
