// A product of a few rows with a matrix takes as long as the matrix takes to be
// read, and memory is fastest where a few rows of it are read from one end to
// the other. A register tile over all of the sum reads some columns of all
// rows, which lie far apart. Here each thread reads its part of a few rows,
// then of the next. Register tiles sum up the few rows, and are added to the
// output, which is small. For 4 x 4096 x 4096 in two parts, eight rows at a
// time:
//
//   parallel p in 2:
//     C[0:4, p*2048 : +2048] = 0
//     for k0 in 512, j in 128:
//       T[0:4, 0:16] = 0                                 in registers
//       for k1 in 8, i in 4, v in 2 (unrolled), 8 lanes:
//         T[i, v*8 ..] += A[i, k0*8 + k1] * B[k0*8 + k1, p*2048 + j*16 + v*8
//         ..]
//       C[0:4, p*2048 + j*16 : +16] += T
//
// A Zen 3 takes 1.1 ms for 8 x 4096 x 1024 where the tiles go over all of the
// sum in 2.7 ms. Rows of A and C of a tile of eight, and from nine rows on,
// push each other out of the sets of the first cache, where they are a power of
// two apart: what a tile reads of A, and its sums, are put next to each other.
// More rows than 32 are worth packing the matrix, and a constant matrix of one
// row is better laid out in the order in which a register tile reads it
// (tiling_choice.h).
//
// A convolution of a few pixels is such a product, with a matrix for each tap.
// So is each phase of a transposed one (polyphase.cc), which has taps of its
// own: one of 4 x 4 pixels and 4 x 4 taps from 512 to 256 channels takes 0.7 ms
// in vectors of 32 bytes, where tiles of each row of pixels took 2.2.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/dot_steps.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

// Elements from which on reading the matrix is what takes the time.
constexpr double kLarge = 1 << 18;
constexpr int64_t kMostRows = 32;
constexpr int64_t kMostTileRows = 7;
// Rows of each of several matrices. One row and 3 MB of each of two take two
// cores of a Xeon 16 us where each reads whole rows, and 114 in register tiles.
constexpr int64_t kMostAlone = 8;
constexpr int64_t kFewerRows = 1;     // of a tile, so that all are of one size
constexpr int64_t kLeastVectors = 8;  // of a row of the matrix
constexpr int64_t kMostTogether = 4;  // vectors of a row, one after the other
constexpr int64_t kMostParts = 16;
// Registers that a tile leaves, of more than a few. With 32 of 64 bytes 12 rows
// take 1.04 to 1.2 times as long on a Xeon in tiles of 6 x 4 vectors as in 6 x
// 3; of 16 registers 6 x 2 are best.
constexpr int64_t kFewRegisters = 16;
constexpr int64_t kBeside = 5;
// The other shape, for more than a few registers: more rows of two vectors, so
// that each part of the matrix is loaded less often, and fewer operations lie
// between two requests for it. A Zen 4 takes 2.1 ms for 8 x 2048 x 5632 in
// tiles of 8 x 2 and 2.8 in those of 4 x 4. Where such tiles leave some of the
// columns, sums stay apart: 12 x 2048 x 4100 takes 4.2 ms instead of 3.1.
constexpr int64_t kMostTallRows = 12;
constexpr int64_t kTallVectors = 2;
constexpr int64_t kUnrolled = 4;  // rows of the matrix in a step of the tile
// Rows of the matrix that are read at a time. A core follows about 16, but has
// places in its first cache for no more than 8 where they are 4 KiB apart.
constexpr int64_t kHeight = 8;
constexpr int64_t kMostHeight = 12;
constexpr int64_t kMostApart = 8;  // rows that are left where they are

// The axes of a product of few rows with a large matrix.
struct Streams {
  int column = -1, reduce = -1;
  std::vector<int> rows;   // spatial, share the matrix; the longest is the last
  std::vector<int> outer;  // the other spatial ones
  std::vector<int> taps;   // the other reductions
  int64_t row_count = 1;
};

std::optional<ReadInfo> LargeMatrix(const BlockInfo& info, int column,
                                    int reduce) {
  for (const ReadInfo& read : info.reads) {
    const auto& step = read.strides[reduce];
    if (read.elements > kLarge && read.strides[column] == 1.0 && step &&
        *step >= static_cast<double>(info.axes[column].extent)) {
      return read;
    }
  }
  return std::nullopt;
}

std::optional<Streams> FindStreams(const BlockInfo& info, int lanes) {
  Streams streams;
  streams.column = info.ContiguousAxis();
  for (size_t i = 0; i < info.axes.size(); ++i) {
    if (info.axes[i].reduce) streams.reduce = static_cast<int>(i);
  }
  const bool spatial_first = absl::c_is_partitioned(
      info.axes, [](const AxisInfo& axis) { return !axis.reduce; });
  if (!info.has_init || !spatial_first || streams.column < 0 ||
      streams.reduce < 0 ||
      info.axes[streams.column].extent < kLeastVectors * lanes) {
    return std::nullopt;
  }
  const auto matrix = LargeMatrix(info, streams.column, streams.reduce);
  if (!matrix) return std::nullopt;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    if (i == streams.reduce || i == streams.column) continue;
    if (info.axes[i].reduce) {
      streams.taps.push_back(i);
      continue;
    }
    const bool is_outer = matrix->Uses(i) || !MovesEvenly(info, i);
    (is_outer ? streams.outer : streams.rows).push_back(i);
    if (!is_outer) streams.row_count *= info.axes[i].extent;
  }
  if (streams.row_count > kMostRows) return std::nullopt;
  absl::c_stable_sort(streams.rows, [&](int a, int b) {
    return info.axes[a].extent < info.axes[b].extent;
  });
  return streams;
}

int64_t LargestDivisor(int64_t extent, int64_t most) {
  int64_t divisor = std::min(extent, most);
  while (extent % divisor != 0) --divisor;
  return divisor;
}

// A height that divides the sum, or else leaves a shorter last step.
int64_t HeightOf(int64_t extent) {
  if (extent % kHeight == 0) return kHeight;
  const int64_t divisor = LargestDivisor(extent, kMostHeight);
  return 2 * divisor > kHeight ? divisor : kHeight;
}

// As few tiles as there can be of at most so many rows, which divide them or
// leave a smaller last one: 11 rows are 6 and 5.
int64_t TileRows(int64_t rows, int64_t most) {
  const int64_t tiles = (rows + most - 1) / most;
  const int64_t even = (rows + tiles - 1) / tiles;
  const int64_t divisor = LargestDivisor(rows, most);
  return divisor + kFewerRows >= even ? divisor : even;
}

// Of a register tile, in rows of the output and vectors of each.
struct TileShape {
  int64_t rows = 1, vectors = 1;

  friend bool operator==(const TileShape&, const TileShape&) = default;
};

// Vectors of each of `rows`, at most so many, for which there are registers,
// with their sums; tiles of so many divide the columns, if they can.
int64_t VectorsBeside(int64_t rows, int64_t most, int64_t columns,
                      const VectorRegisters& registers) {
  const int64_t all = registers.ForTiles();
  const int64_t beside = all > kFewRegisters ? kBeside : 1;
  const int64_t fit = std::clamp<int64_t>((all - beside) / (rows + 1), 1, most);
  for (int64_t vectors = fit; 2 * vectors > fit; --vectors) {
    if (columns % (vectors * registers.Floats()) == 0) return vectors;
  }
  return fit;
}

std::vector<TileShape> TileShapesOf(const BlockInfo& info,
                                    const Streams& streams,
                                    const VectorRegisters& registers) {
  const int64_t rows =
      streams.rows.empty() ? 1 : info.axes[streams.rows.back()].extent;
  const int64_t columns = info.axes[streams.column].extent;
  const auto shape = [&](int64_t most_rows, int64_t most_vectors) {
    const int64_t tile_rows = TileRows(rows, most_rows);
    return TileShape{
        tile_rows, VectorsBeside(tile_rows, most_vectors, columns, registers)};
  };
  const TileShape wide = shape(kMostTileRows, kMostTogether);
  const TileShape tall = shape(kMostTallRows, kTallVectors);
  const bool few_registers = registers.ForTiles() <= kFewRegisters;
  const bool divides = columns % (tall.vectors * registers.Floats()) == 0;
  if (rows == 1 || few_registers || !divides || tall == wide) return {wide};
  if (tall.rows == rows && wide.rows < rows) return {tall};
  // Choices of phases, which have taps, multiply.
  if (!streams.taps.empty()) return {wide};
  return {wide, tall};
}

class Streaming {
 public:
  Streaming(Schedule sch, const BlockInfo& info, const Streams& streams,
            const TileShape& tile, const RuleContext& context)
      : sch_(std::move(sch)),
        info_(info),
        streams_(streams),
        context_(context),
        tile_(tile),
        height_(HeightOf(info.axes[streams.reduce].extent)) {}

  absl::StatusOr<Schedule> Run() {
    KILN_ASSIGN_OR_RETURN(
        block_, sch_.GetBlock(info_.name, FunctionOf(sch_, context_).name));
    if (AreFarApart()) KILN_RETURN_IF_ERROR(PackRows());
    KILN_RETURN_IF_ERROR(SplitSteps());
    KILN_RETURN_IF_ERROR(SplitColumns());
    KILN_RETURN_IF_ERROR(SplitRows());
    KILN_RETURN_IF_ERROR(Order());
    KILN_RETURN_IF_ERROR(TileSums());
    const bool fused_consumer = FuseConsumer(part_);
    if (AreFarApart()) KILN_RETURN_IF_ERROR(PackSums(fused_consumer));
    KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(outer_));
    KILN_RETURN_IF_ERROR(Parallel(&sch_, fused, context_));
    KILN_RETURN_IF_ERROR(sch_.Vectorize(lane_));
    for (const Rv loop : inner_) KILN_RETURN_IF_ERROR(sch_.Unroll(loop));
    KILN_RETURN_IF_ERROR(sch_.DecomposeReduction(block_, steps_).status());
    KILN_RETURN_IF_ERROR(sch_.DecomposeReduction(sums_, first_).status());
    return sch_;
  }

 private:
  int64_t Lanes() const { return context_.registers.Floats(); }

  bool AreFarApart() const {
    return streams_.row_count > kMostApart || tile_.rows > kMostTileRows;
  }

  int64_t Columns() const { return info_.axes[streams_.column].extent; }

  int64_t TileColumns() const { return tile_.vectors * Lanes(); }

  // [.., n] -> [n / size, .., n % size]
  static IndexMap Blocked(int dims, int64_t size) {
    IndexMap map;
    for (int i = 0; i < dims; ++i) {
      map.inputs.push_back(Var("d" + std::to_string(i)));
    }
    const Expr last = map.inputs.back();
    map.outputs.push_back(FloorDiv(last, Int(size)));
    for (int i = 0; i + 1 < dims; ++i) map.outputs.push_back(map.inputs[i]);
    map.outputs.push_back(FloorMod(last, Int(size)));
    return map;
  }

  // What a tile reads of the rows, next to each other.
  absl::Status PackRows() {
    if (height_ == 1) return absl::OkStatus();
    for (const ReadInfo& read : info_.reads) {
      const bool is_rows =
          read.strides[streams_.reduce] == 1.0 && !read.Uses(streams_.column);
      if (!is_rows) continue;
      KILN_ASSIGN_OR_RETURN(const Rv copy,
                            sch_.CacheRead(block_, read.index, "global"));
      KILN_RETURN_IF_ERROR(sch_.TransformLayout(
          copy, Schedule::Side::kWrite, 0, Blocked(read.dims(), height_), 0.0));
      KILN_RETURN_IF_ERROR(Vectorize(&sch_, copy, height_));
      KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch_.GetLoops(copy));
      loops.resize(loops.size() - 2);
      if (loops.empty()) continue;
      KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(loops));
      KILN_RETURN_IF_ERROR(Parallel(&sch_, fused, context_));
    }
    return absl::OkStatus();
  }

  // The sums of a part, tile by tile, until they are complete. Where tiles do
  // not divide the columns these are no power of two apart.
  absl::Status PackSums(bool has_consumer) {
    if (Columns() % TileColumns() != 0) return absl::OkStatus();
    Rv copy;
    if (!has_consumer) {
      KILN_ASSIGN_OR_RETURN(copy, sch_.CacheWrite(block_, 0, "global"));
      KILN_RETURN_IF_ERROR(sch_.ReverseComputeAt(copy, part_, true));
    }
    KILN_RETURN_IF_ERROR(
        sch_.TransformLayout(block_, Schedule::Side::kWrite, 0,
                             Blocked(info_.write_dims, TileColumns()), 0.0));
    return has_consumer ? absl::OkStatus() : Vectorize(&sch_, copy, Lanes());
  }

  // Some rows of the matrix at a time, summed up by a block of their own.
  absl::Status SplitSteps() {
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch_.GetLoops(block_));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> steps,
                          sch_.Split(loops[streams_.reduce], {Arg(), height_}));
    KILN_ASSIGN_OR_RETURN(sums_, sch_.Rfactor(steps[0], 0));
    KILN_ASSIGN_OR_RETURN(loops_, sch_.GetLoops(block_));
    steps_ = loops_.back();
    return absl::OkStatus();
  }

  absl::Status SplitColumns() {
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> lanes,
        sch_.Split(loops_[streams_.column], {Arg(), Lanes()}));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> vectors,
                          sch_.Split(lanes[0], {Arg(), tile_.vectors}));
    std::vector<int64_t> parts;
    const int64_t steps = Columns() / Lanes();
    for (int64_t p = 1; p <= kMostParts && p * kLeastVectors <= steps; p *= 2) {
      parts.push_back(p);
    }
    KILN_ASSIGN_OR_RETURN(
        const Rv part,
        sch_.SampleCategorical(
            parts, std::vector<double>(parts.size(), 1.0 / parts.size())));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> columns,
                          sch_.Split(vectors[0], {part, Arg()}));
    part_ = columns[0];
    column_ = columns[1];
    inner_ = {vectors[1]};
    lane_ = lanes[1];
    return absl::OkStatus();
  }

  absl::Status SplitRows() {
    for (const int axis : streams_.rows) rows_.push_back(loops_[axis]);
    if (rows_.empty()) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> rows,
                          sch_.Split(rows_.back(), {Arg(), tile_.rows}));
    rows_.back() = rows[0];
    inner_.insert(inner_.begin(), rows[1]);
    return absl::OkStatus();
  }

  absl::Status Order() {
    for (const int axis : streams_.outer) outer_.push_back(loops_[axis]);
    outer_.push_back(part_);
    std::vector<Rv> all = outer_;
    all.push_back(steps_);
    all.push_back(column_);
    absl::c_copy(rows_, std::back_inserter(all));
    absl::c_copy(inner_, std::back_inserter(all));
    all.push_back(lane_);
    return sch_.Reorder(all);
  }

  // The sums of a few rows of the matrix, in registers.
  absl::Status TileSums() {
    KILN_RETURN_IF_ERROR(
        sch_.ComputeAt(sums_, rows_.empty() ? column_ : rows_.back(), true));
    KILN_RETURN_IF_ERROR(sch_.SetScope(sums_, 0, "local"));
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch_.GetLoops(sums_));
    // Of the loops of its own the first is that of steps.
    loops.erase(loops.begin(),
                loops.end() - static_cast<std::ptrdiff_t>(info_.axes.size()));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> lanes,
                          sch_.Split(loops[streams_.column], {Arg(), Lanes()}));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> steps,
                          sch_.Split(loops.back(), {Arg(), kUnrolled}));
    std::vector<Rv> unrolled = {steps[1]};
    if (!streams_.rows.empty()) unrolled.push_back(loops[streams_.rows.back()]);
    unrolled.push_back(lanes[0]);
    std::vector<Rv> all;
    for (const int axis : streams_.taps) all.push_back(loops[axis]);
    all.push_back(steps[0]);
    absl::c_copy(unrolled, std::back_inserter(all));
    all.push_back(lanes[1]);
    KILN_RETURN_IF_ERROR(sch_.Reorder(all));
    for (const Rv loop : unrolled) KILN_RETURN_IF_ERROR(sch_.Unroll(loop));
    first_ = all[0];
    return sch_.Vectorize(lanes[1]);
  }

  // The only consumer is done on a part when its sums are complete, if it can.
  bool FuseConsumer(Rv loop) {
    if (!info_.is_for_tiles) return false;
    Schedule trial = sch_;
    const absl::Status moved = MoveConsumer(&trial, loop);
    if (moved.ok()) {
      sch_ = std::move(trial);
    } else {
      context_.WentOn("the consumer done on each part", moved);
    }
    return moved.ok();
  }

  absl::Status MoveConsumer(Schedule* sch, Rv loop) const {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> consumers,
                          sch->GetConsumers(block_));
    if (consumers.size() != 1) {
      return absl::FailedPreconditionError("not one consumer");
    }
    KILN_RETURN_IF_ERROR(sch->ReverseComputeAt(consumers[0], loop, true));
    return Vectorize(sch, consumers[0], Lanes());
  }

  static absl::Status Vectorize(Schedule* sch, Rv block, int64_t lanes) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch->GetLoops(block));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                          sch->Split(loops.back(), {Arg(), lanes}));
    return sch->Vectorize(parts[1]);
  }

  Schedule sch_;
  const BlockInfo& info_;
  const Streams& streams_;
  const RuleContext& context_;
  const TileShape tile_;
  const int64_t height_;
  Rv block_, steps_, part_, column_, lane_;
  Rv sums_, first_;        // their block, and its loop over rows of the matrix
  std::vector<Rv> loops_;  // of the block; one for each axis
  std::vector<Rv> outer_, rows_, inner_;
};

}  // namespace

std::vector<Schedule> RowStreaming(const Schedule& sch,
                                   const std::string& block,
                                   const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || info->ReducesContiguously()) return {};
  const auto axes = ChooseTileAxes(*info);
  if (axes && ConstantUsedOnce(*info, *axes)) return {};
  const auto streams = FindStreams(*info, context.registers.Floats());
  if (!streams) return {};
  std::vector<Schedule> made;
  for (const TileShape& tile :
       TileShapesOf(*info, *streams, context.registers)) {
    absl::c_move(
        OnlyWay(Streaming(sch, *info, *streams, tile, context).Run(), context),
        std::back_inserter(made));
  }
  // Of a few rows and a matrix of their own, register tiles are never ahead but
  // by dot products.
  const bool has_dots =
      axes && DotSteps(*info, NodeOf(f, block), *axes, context.registers) > 1;
  const bool is_alone = !has_dots && streams->taps.empty() &&
                        !streams->outer.empty() &&
                        streams->row_count <= kMostAlone;
  if (!made.empty() && !is_alone) made.push_back(sch);  // for a register tile
  return made;
}

}  // namespace kiln
