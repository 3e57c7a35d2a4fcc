#include "kiln/search/cost/nest.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/ir/expr/tile_nest.h"

namespace kiln {
namespace {

constexpr int64_t kPageBytes = 4096;

// A place among the loops: in a fused one, what goes on more often is inside.
struct LoopPlace {
  int depth = -1;
  double stays = 0;  // iterations before it goes on

  bool IsInside(const LoopPlace& other) const {
    return depth > other.depth || (depth == other.depth && stays < other.stays);
  }
};

class NestMaker {
 public:
  NestMaker(const ProgramSummary& program, const StoreSummary& store,
            const Machine& machine, int threads)
      : program_(program), store_(store), machine_(machine) {
    nest_.threads = threads;
  }

  Nest Make() {
    SetExtents();
    for (const AccessSummary& access : store_.accesses) AddAccess(access);
    FindLanes();
    FindDots();
    FindTile();
    FindTileProduct();
    nest_.reads_tile_once = store_.transposes;
    for (NestAccess& access : nest_.accesses) {
      SetRuns(&access);
      SetFootprints(&access);
    }
    return std::move(nest_);
  }

 private:
  const LoopSummary& loop(int position) const {
    return program_.loops[store_.loops[position]];
  }
  int OwnedDepth(const BufferSummary& buffer) const {
    return buffer.owner_loop < 0 ? 0
                                 : program_.loops[buffer.owner_loop].depth + 1;
  }
  void SetExtents();
  void AddAccess(const AccessSummary& access);
  void SetRounds(NestAccess* access) const;
  void FindLanes();
  bool CanBeLanes(int position) const;
  int64_t LaneBytes(int position) const;
  void SetLanes(int position, double lanes);
  void FindDots();
  void FindTile();
  void FindTileProduct();
  ProductLoop ProductLoopOf(int position) const;
  LoopPlace PlaceOf(const ApproximateTerm& term) const;
  bool IsWalked(const ApproximateTerm& term) const;
  int RowDim(const NestAccess& access) const;
  void SetRuns(NestAccess* access) const;
  void SetFootprints(NestAccess* access) const;
  Footprint FootprintOf(const NestAccess& access,
                        absl::InlinedVector<double, 6> spans,
                        absl::InlinedVector<double, 6> points) const;

  const ProgramSummary& program_;
  const StoreSummary& store_;
  const Machine& machine_;
  Nest nest_;
};

// The first parallel loop is shared out in equal parts of whole iterations.
void NestMaker::SetExtents() {
  bool parallel = false;
  double launches = 1;
  for (size_t i = 0; i < store_.loops.size(); ++i) {
    double extent = static_cast<double>(loop(i).extent);
    if (!parallel && loop(i).kind == ForKind::kParallel && extent > 1) {
      parallel = true;
      const double share = std::ceil(extent / nest_.threads);
      nest_.busy_threads = extent / share;
      nest_.launches = launches;
      nest_.parallel_loop = store_.loops[i];
      nest_.parallel = static_cast<int>(i);
      extent = share;
    }
    launches *= extent;
    nest_.extents.push_back(extent);
  }
  if (!parallel) nest_.threads = 1;
}

// A loop that has `places` different places in the dimensions together, and
// stays `run` iterations in each, goes over all of them again and again: of f
// in 64, f // 8 has 8 places and stays in each for 8 iterations, f % 8 has as
// many for one each.
void NestMaker::SetRounds(NestAccess* access) const {
  absl::InlinedVector<double, 12> places(nest_.extents.size(), 1);
  absl::InlinedVector<double, 12>& run = access->stays;
  run = places;
  for (const ApproximateDim& dim : access->access->dims) {
    for (const ApproximateTerm& term : dim.terms) {
      const int depth = program_.loops[term.loop].depth;
      const double each = std::abs(term.coefficient);
      const double step = std::max(term.step, each);
      const bool is_first = places[depth] == 1;
      places[depth] *= term.reach / step + 1;
      run[depth] = is_first ? step / each : std::min(run[depth], step / each);
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    access->rounds.push_back(
        std::max(1.0, nest_.extents[i] / (places[i] * run[i])));
  }
}

void NestMaker::AddAccess(const AccessSummary& access) {
  NestAccess out;
  out.access = &access;
  out.buffer = &program_.buffers[access.buffer];
  out.strides.assign(store_.loops.size(), 0);
  SetRounds(&out);
  out.owned_depth = OwnedDepth(*out.buffer);
  double row = out.buffer->element_bytes;
  for (size_t i = access.dims.size(); i-- > 0;) {
    for (const ApproximateTerm& term : access.dims[i].terms) {
      const int depth = program_.loops[term.loop].depth;
      // Of f // 8 beside f % 8, one step goes on as the remainder does.
      const bool carries =
          out.strides[depth] != 0 && term.step > std::abs(term.coefficient);
      if (depth >= out.owned_depth && !carries) {
        out.strides[depth] += term.coefficient * row;
      }
    }
    if (i < out.buffer->extents.size()) {
      row *= static_cast<double>(out.buffer->extents[i]);
    }
  }
  nest_.accesses.push_back(std::move(out));
}

// Whether code generation can run the loop in lanes though nobody said so.
bool NestMaker::CanBeLanes(int position) const {
  if (nest_.extents[position] < kMinLanes ||
      store_.roles[position] != LoopRole::kSpatial ||
      (loop(position).kind != ForKind::kSerial &&
       loop(position).kind != ForKind::kUnrolled)) {
    return false;
  }
  for (const NestAccess& access : nest_.accesses) {
    const double stride = std::abs(access.strides[position]);
    const bool unknown =
        std::any_of(access.access->dims.begin(), access.access->dims.end(),
                    [](const ApproximateDim& dim) { return dim.unknown; });
    if (unknown) return false;
    if (stride == access.buffer->element_bytes) continue;
    if (stride != 0 || access.access->writes) return false;
  }
  return true;
}

void NestMaker::SetLanes(int position, double lanes) {
  const double bytes = nest_.accesses[0].buffer->element_bytes;
  nest_.lane_loop = position;
  nest_.vectors = std::ceil(lanes * bytes / machine_.vectors.bytes);
  nest_.lane_use = lanes * bytes / (nest_.vectors * machine_.vectors.bytes);
}

void NestMaker::FindLanes() {
  for (int i = nest_.depth() - 1; i >= 0; --i) {
    if (loop(i).kind == ForKind::kVectorized) {
      return SetLanes(i, nest_.extents[i]);
    }
  }
  if (!program_.is_auto) return;
  ChosenLanes best;
  int position = -1;
  for (int i = nest_.depth() - 1; i >= 0; --i) {
    if (!CanBeLanes(i)) continue;
    const ChosenLanes chosen =
        ChooseLanes(loop(i).extent, LaneBytes(i), machine_.vectors);
    if (chosen.filling <= best.filling) continue;
    best = chosen;
    position = i;
  }
  if (position < 0) return;
  const double lanes = static_cast<double>(best.lanes);
  nest_.lane_repeats = std::ceil(nest_.extents[position] / lanes);
  SetLanes(position, nest_.extents[position] / nest_.lane_repeats);
}

// Of the widest elements that lie in a row along the loop.
int64_t NestMaker::LaneBytes(int position) const {
  double bytes = 1;
  for (const NestAccess& access : nest_.accesses) {
    if (access.strides[position] != 0) {
      bytes = std::max(bytes, access.buffer->element_bytes * 1.0);
    }
  }
  return static_cast<int64_t>(bytes);
}

// Unrolled steps inside of lanes, as lowering looks for them.
void NestMaker::FindDots() {
  const int last = nest_.depth() - 1;
  if (last < 1 || nest_.lane_loop != last - 1 || !store_.product) return;
  if (loop(last).kind == ForKind::kUnrolled &&
      IsDotProduct(*store_.product, loop(last).extent, machine_.vectors.dots)) {
    nest_.dot_loop = last;
  }
}

void NestMaker::FindTile() {
  nest_.tile = nest_.depth();
  const int64_t unasked = program_.is_auto ? kImplicitSteps : 0;
  for (int i = nest_.depth() - 1; i >= 0; --i) {
    const double steps = i == nest_.lane_loop  ? nest_.lane_repeats
                         : i == nest_.dot_loop ? 1
                                               : nest_.extents[i];
    const double limit =
        loop(i).kind == ForKind::kUnrolled || i == nest_.lane_loop
            ? static_cast<double>(kMaxUnrolledStatements)
            : std::max(static_cast<double>(unasked),
                       static_cast<double>(loop(i).unroll_steps));
    const bool stays =
        loop(i).kind == ForKind::kParallel ||
        (nest_.tile_steps * steps > limit && (program_.is_auto || steps > 1));
    if (stays && i != nest_.lane_loop) break;
    nest_.tile_steps *= steps;
    nest_.tile = i;
  }
}

// With the sums first, then the operand that no column moves.
ProductLoop NestMaker::ProductLoopOf(int position) const {
  const auto stride = [&](const NestAccess& access) {
    return static_cast<int64_t>(access.strides[position]) /
           access.buffer->element_bytes;
  };
  const NestAccess& a = nest_.accesses[1];
  const NestAccess& b = nest_.accesses[2];
  const bool moves_a = a.strides[nest_.lane_loop] != 0;
  return {.extent = loop(position).extent,
          .sums = stride(nest_.accesses[0]),
          .rows = stride(moves_a ? b : a),
          .columns = stride(moves_a ? a : b)};
}

void NestMaker::FindTileProduct() {
  const auto marked =
      std::find_if(store_.loops.begin(), store_.loops.end(),
                   [&](int i) { return program_.loops[i].is_tile_product; });
  const int last = nest_.depth() - 1;
  if (marked == store_.loops.end() || nest_.accesses.size() != 3 ||
      !store_.product || store_.predicated || nest_.lane_loop != last) {
    return;
  }
  const int outermost = static_cast<int>(marked - store_.loops.begin());
  std::vector<ProductLoop> loops;
  for (int i = last; i >= outermost; --i) loops.push_back(ProductLoopOf(i));
  const auto nest = TileNestOf(
      loops, StepsOfTileGroup(*store_.product, machine_.vectors.tiles));
  if (!nest || nest->loops != loops.size() || loops.back().sums != 0) return;
  nest_.tile = outermost + 1;
  nest_.tile_products = static_cast<double>(nest->tiles());
  nest_.tile_loads =
      static_cast<double>(nest->down.extent + nest->across.extent);
}

LoopPlace NestMaker::PlaceOf(const ApproximateTerm& term) const {
  const double each = std::abs(term.coefficient);
  return {program_.loops[term.loop].depth, std::max(term.step, each) / each};
}

// Loops that are unrolled or run in lanes come to all of a few lines at once.
bool NestMaker::IsWalked(const ApproximateTerm& term) const {
  const LoopSummary& loop = program_.loops[term.loop];
  return nest_.extents[loop.depth] > 1 && loop.depth != nest_.lane_loop &&
         (loop.kind == ForKind::kSerial || loop.kind == ForKind::kParallel);
}

// The first of the last dimensions that make a row: one of them, or more where
// it is less than a line.
int NestMaker::RowDim(const NestAccess& access) const {
  const auto& extents = access.buffer->extents;
  int dim = static_cast<int>(access.access->dims.size()) - 1;
  double bytes = access.buffer->element_bytes;
  for (; dim > 0; --dim) {
    bytes *= static_cast<double>(extents[dim]);
    if (bytes >= machine_.line_bytes) break;
  }
  return dim;
}

// Of the innermost loop that leaves the row, which loops along the row stand
// around it.
void NestMaker::SetRuns(NestAccess* access) const {
  const auto& dims = access->access->dims;
  if (dims.empty() || dims.size() != access->buffer->extents.size()) return;
  const int row = RowDim(*access);
  LoopPlace across;
  for (int i = 0; i < row; ++i) {
    for (const ApproximateTerm& term : dims[i].terms) {
      const LoopPlace place = PlaceOf(term);
      if (IsWalked(term) && place.IsInside(across)) across = place;
    }
  }
  double inside = access->buffer->element_bytes;  // of that loop
  // Loops around it, and the bytes that they reach.
  absl::InlinedVector<std::pair<LoopPlace, double>, 4> around;
  double apart = inside;
  for (int i = static_cast<int>(dims.size()) - 1; i >= row; --i) {
    for (const ApproximateTerm& term : dims[i].terms) {
      const LoopPlace place = PlaceOf(term);
      if (IsWalked(term) && across.IsInside(place)) {
        around.push_back({place, term.reach * apart});
      } else {
        inside += term.reach * apart;
      }
    }
    apart *= static_cast<double>(access->buffer->extents[i]);
  }
  std::sort(around.begin(), around.end(), [](const auto& a, const auto& b) {
    return a.first.IsInside(b.first);
  });
  for (const auto& [place, reach] : around) {
    access->runs.push_back({inside, place.depth, place.stays});
    inside += reach;
  }
}

double Places(double stride, double way) {
  return static_cast<double>(
      PlacesOfRows(static_cast<int64_t>(stride), static_cast<int64_t>(way)));
}

// Lines that a row of `run` bytes touches, on average over rows `stride` bytes
// apart, the first of which begins with a line.
double LinesOfRow(double run, double stride, double line) {
  const auto step = static_cast<int64_t>(stride);
  const auto apart = static_cast<double>(
      std::gcd(std::max<int64_t>(step, 1), static_cast<int64_t>(line)));
  return std::max(1.0, (std::ceil(run / apart) * apart + line - apart) / line);
}

// Bytes that `lines` in rows of `row_lines`, `stride` apart, take of a cache
// whose ways have `way` bytes: lines beyond one a set push each other out.
double CacheBytes(double lines, double rows, double row_lines, double stride,
                  double way, double line) {
  const double bytes = lines * line;
  if (rows <= 1 || stride < line) return bytes;
  const double places = std::min(rows, Places(stride, way));
  const double sets = std::min(way / line, places * row_lines);
  const double deep = lines / std::max(sets, 1.0);
  return deep > 1 ? std::max(bytes, deep * way) : bytes;
}

// Elements next to each other form rows: the last dimension, and those before
// it as long as the later ones are touched in full.
Footprint NestMaker::FootprintOf(const NestAccess& access,
                                 absl::InlinedVector<double, 6> spans,
                                 absl::InlinedVector<double, 6> points) const {
  const double line = machine_.line_bytes;
  double run = access.buffer->element_bytes, rows = 1, row_stride = 0;
  double touched = 1, pitch = run;
  bool open = true;
  for (size_t i = spans.size(); i-- > 0;) {
    const double size = i < access.buffer->extents.size()
                            ? static_cast<double>(access.buffer->extents[i])
                            : 1;
    if (open) {
      run *= spans[i];
      touched *= points[i];
      open = spans[i] >= size;
    } else {
      if (rows == 1 && points[i] > 1) row_stride = pitch;
      rows *= points[i];
    }
    pitch *= size;
  }
  const double row_lines =
      std::min(touched, rows > 1 ? LinesOfRow(run, row_stride, line)
                                 : std::ceil(run / line));
  Footprint out;
  out.lines = rows * row_lines;
  out.row_lines = row_lines;
  const double row_pages = std::ceil(run / kPageBytes);
  out.pages =
      rows * row_pages *
      std::min(1.0, std::max(row_stride / kPageBytes, 1 / std::max(rows, 1.0)));
  const double l1 =
      static_cast<double>(machine_.level(MemoryLevelId::kL1).bytes);
  const double l2 =
      static_cast<double>(machine_.level(MemoryLevelId::kL2).bytes);
  out.row_sets = Places(row_stride, l1 / machine_.l1_ways);
  out.l1_bytes = CacheBytes(out.lines, rows, row_lines, row_stride,
                            l1 / machine_.l1_ways, line);
  out.l2_bytes = CacheBytes(out.lines, rows, row_lines, row_stride,
                            l2 / machine_.l2_ways, line);
  return out;
}

void NestMaker::SetFootprints(NestAccess* access) const {
  const auto& dims = access->access->dims;
  absl::InlinedVector<double, 6> limits, spans, points;
  for (size_t i = 0; i < dims.size(); ++i) {
    const double size = i < access->buffer->extents.size()
                            ? static_cast<double>(access->buffer->extents[i])
                            : 1;
    limits.push_back(size);
    spans.push_back(dims[i].unknown ? size : std::min(dims[i].width, size));
    points.push_back(spans[i]);
  }
  access->footprints.resize(nest_.depth() + 1);
  absl::InlinedVector<double, 6> reach = spans, count = points;
  access->footprints[nest_.depth()] = FootprintOf(*access, spans, points);
  for (int d = nest_.depth() - 1; d >= 0; --d) {
    bool moved = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      for (const ApproximateTerm& term : dims[i].terms) {
        if (program_.loops[term.loop].depth != d || d < access->owned_depth)
          continue;
        const double far = std::min(
            term.reach, std::abs(term.coefficient) * (nest_.extents[d] - 1));
        reach[i] += far;
        count[i] *= std::min(nest_.extents[d], 1 + far);
        spans[i] = std::min(limits[i], std::floor(reach[i] + 1e-6));
        points[i] = std::min(count[i], spans[i]);
        moved = true;
      }
    }
    access->footprints[d] =
        moved ? FootprintOf(*access, spans, points) : access->footprints[d + 1];
  }
}

}  // namespace

double Nest::Iterations(int first, int last) const {
  double product = 1;
  for (int i = first; i < last; ++i) product *= extents[i];
  return product;
}

int Nest::RegisterDepth(const NestAccess& sums) const {
  int depth = tile;
  while (depth > 0 && sums.strides[depth - 1] == 0) --depth;
  return depth;
}

Nest MakeNest(const ProgramSummary& program, const StoreSummary& store,
              const Machine& machine, int threads) {
  return NestMaker(program, store, machine, threads).Make();
}

}  // namespace kiln
