// Whether an operand is packed, where, and in which order panels and rows come
// are matters of how often each element is used and of the cache that holds it.
// For a product of N rows with a K x M matrix:
//
//   M*K <= 2^18 elements       as it lies, or packed before all rows
//   more, and N < 32           as it lies (or a few rows: row_streaming.cc)
//   more, and N >= 32          panels packed where they are used
//   more, and N >= 100         packed before all rows, too
//   and N < 192, and panels    rows of the matrix streamed as they lie
//   too high for the cache
//   constant (layout_free)     panels only: packing costs nothing then
//   constant, and N = 1        four panels side by side
//
// The bounds overlap, and all choices that may win are designs of their own:
// the constants below say where one of them stops to be worth its trials.
#include "kiln/search/space/rule/tiling_choice.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "kiln/base/lowering_policy.h"

namespace kiln {
namespace {

constexpr int64_t kLeastVector = 4;  // columns worth a vector
// Elements from which on an operand had better be read once.
constexpr double kLarge = 1 << 18;
// Uses of each element that make up for packing it, in passes of its own or
// where it is used.
constexpr double kWorthPacking = 100;
constexpr double kWorthPackingNear = 32;
// The same of panels for dot products, which without panels are none: with 16
// rows, 1024 x 1024 bytes take 560 us as they lie.
constexpr double kWorthPackingDots = 4;
// Uses up to which rows of a matrix may be as well read as they lie, and panels
// are worth less than what uses them.
constexpr double kWorthStreaming = 192;
// Panels of a large matrix have at least so many vectors, where they can:
// narrower ones take more rows of the other operand.
constexpr int kLeastLargeWidth = 3;
// Of 12 ways, or 8, those that rows asked for may take of a set.
constexpr int64_t kMostInOneSet = 4;
// Of what may wait in the second-level cache, the part that a panel over
// several reductions may take; one over a single reduction may take all.
constexpr int64_t kTapsPart = 2;
// Where so many panels find room beside each other, they leave some for rows.
constexpr int64_t kPanelsNear = 4;
// One in use, and the next that is asked for meanwhile.
constexpr int64_t kPanelsInTurn = 2;
constexpr int64_t kElementBytes = 4;

// A core reads memory fastest as a few streams of whole lines. A matrix of
// 154 MB times a vector on a Zen 3, in GB/s on one and on two threads: one
// stream 21 and 39, two 25 and 45, four 25 and 47; eight of half a line 24 and
// 34.
constexpr int kStreams = 4;
constexpr int kLineBytes = 64;

// Whether operands that are near to each other along the columns stand still,
// so that steps along `axis` share them.
bool SharesOperand(const BlockInfo& info, int column, int axis) {
  return std::any_of(
      info.reads.begin(), info.reads.end(), [&](const ReadInfo& read) {
        const auto& step = read.strides[column];
        return step && *step >= 1 && *step <= kMostLaneStep && !read.Uses(axis);
      });
}

// The axes over rows, those that share an operand first, then those nearer to
// the columns.
std::vector<int> RowAxes(const BlockInfo& info, int column) {
  std::vector<int> rows;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    const AxisInfo& axis = info.axes[i];
    if (axis.reduce || i == column || axis.write_dim < 0) continue;
    if (axis.extent > 1 && MovesEvenly(info, i)) rows.push_back(i);
  }
  std::sort(rows.begin(), rows.end(), [&](int a, int b) {
    const bool shares_a = SharesOperand(info, column, a);
    if (shares_a != SharesOperand(info, column, b)) return shares_a;
    return info.axes[a].write_dim > info.axes[b].write_dim;
  });
  return rows;
}

// The operand that all rows share and that is contiguous along the columns.
std::optional<ReadInfo> SharedOperand(const BlockInfo& info,
                                      const TileAxes& axes) {
  for (const ReadInfo& read : info.reads) {
    const bool contiguous = read.strides[axes.column] == 1.0;
    if (contiguous && axes.row >= 0 && !read.Uses(axes.row)) return read;
  }
  return std::nullopt;
}

// Whether the shared operand is so much larger than the others that each part
// of it had better be used for all rows before the next.
bool SharedIsLarge(const BlockInfo& info, const ReadInfo& shared) {
  return shared.elements > kLarge &&
         std::all_of(info.reads.begin(), info.reads.end(),
                     [&](const ReadInfo& read) {
                       return read.index == shared.index ||
                              read.elements < shared.elements;
                     });
}

// How often the block uses each element of an operand.
double Uses(const BlockInfo& info, const ReadInfo& operand) {
  return static_cast<double>(info.SpatialSize()) *
         static_cast<double>(info.ReduceSize()) / operand.elements;
}

// How many reductions take more than one step.
int64_t LongReductions(const BlockInfo& info) {
  return std::count_if(
      info.axes.begin(), info.axes.end(),
      [](const AxisInfo& axis) { return axis.reduce && axis.extent > 1; });
}

// Whether each lane has operands of its own, as the channels of a depthwise
// convolution.
bool IsLanewise(const BlockInfo& info, const TileAxes& axes) {
  return absl::c_all_of(info.reads, [&](const ReadInfo& read) {
    return read.strides[axes.column] == 1.0;
  });
}

int64_t PanelBytes(const BlockInfo& info, int vectors, int lanes) {
  return info.ReduceSize() * vectors * lanes * kElementBytes;
}

// Of what is read beside the operand.
int64_t BytesOfOthers(const BlockInfo& info, const ReadInfo& operand) {
  double elements = 0;
  for (const ReadInfo& read : info.reads) {
    if (read.index != operand.index) elements += read.elements;
  }
  return static_cast<int64_t>(elements) * kElementBytes;
}

// Whether rows that a panel is for, or it itself, are gone from the cache when
// they come again, since both take a good part of it: more than panels of many
// uses may take. A product of 48 rows of 4096 with panels of 48 columns takes
// 3.1 ms in whole panels and 2.3 in blocks of their rows, with 2 MiB of second
// level; one of 384 rows with panels of 64 columns 22.4 and 18.5.
bool CrowdsOut(const BlockInfo& info, const ReadInfo& shared, int64_t panel,
               int64_t near_bytes) {
  const int64_t panels =
      Uses(info, shared) < kWorthStreaming ? kPanelsNear : kPanelsInTurn;
  return panels * panel > near_bytes &&
         BytesOfOthers(info, shared) + panel > near_bytes;
}

// Whether whole panels are worth trying where they crowd out what they are for.
bool MayBeWhole(const BlockInfo& info, const ReadInfo& shared, int64_t panel,
                int64_t near_bytes) {
  const bool has_many_uses = Uses(info, shared) >= kWorthStreaming;
  return has_many_uses ? 4 * panel <= 3 * near_bytes
                       : kPanelsInTurn * panel <= near_bytes;
}

// Rows of the blocks of a panel of many uses: as many as leave room for the
// next block, in equal parts of the last reduction. Of few uses the sums are
// near, and blocks had better be: a product of 16 rows of 4096 takes 0.86 ms in
// blocks of 128 rows and 1.03 in such of 2048.
int64_t TallestBlock(const BlockInfo& info, const TileAxes& axes, int vectors,
                     int lanes, int64_t near_bytes) {
  const int64_t rows = info.axes[axes.unroll].extent;
  const int64_t most = std::max<int64_t>(
      1, near_bytes / (kPanelsInTurn * vectors * lanes * kElementBytes));
  const int64_t parts = (rows + most - 1) / most;
  const int64_t each = (rows + parts - 1) / parts;
  return (each + kMaxTileSteps - 1) / kMaxTileSteps * kMaxTileSteps;
}

// A constant operand lies in panels as wide as the tile, one for each width.
// While one panel is used for all rows the next can be asked for. A panel with
// several taps may be too high for that, as may one that crowds out the rows
// that it is for, and is where it takes most of the cache: blocks of its rows
// are for all rows in turn. Of 1 MiB, a Zen 4 takes 5.3 ms for 128 rows of 768
// with whole panels of 147 KiB and 5.6 in blocks.
std::vector<TilingChoice> ChoicesAhead(const std::vector<int>& widths,
                                       const ReadInfo& shared,
                                       const BlockInfo& info, bool large,
                                       int lanes, int64_t near_bytes) {
  const bool has_taps = LongReductions(info) > 1;
  std::vector<TilingChoice> choices;
  for (int vectors : widths) {
    const int64_t panel = PanelBytes(info, vectors, lanes);
    const bool crowds =
        large && !has_taps && CrowdsOut(info, shared, panel, near_bytes);
    if (!crowds || MayBeWhole(info, shared, panel, near_bytes)) {
      choices.push_back({shared, true, std::nullopt, vectors});
    }
    if (!large) choices.push_back({shared, false, std::nullopt, vectors});
    if (large && (has_taps || crowds)) {
      choices.push_back({shared, true, shared, vectors});
    }
  }
  return choices;
}

// All panels are packed before the first is used, then read as constant ones.
std::vector<TilingChoice> ChoicesBefore(const std::vector<int>& widths,
                                        const ReadInfo& shared,
                                        const BlockInfo& info, bool large,
                                        int lanes, int64_t near_bytes) {
  std::vector<TilingChoice> choices;
  for (int vectors : widths) {
    choices.push_back({shared, large, std::nullopt, vectors});
    const int64_t panel = PanelBytes(info, vectors, lanes);
    if (large && LongReductions(info) == 1 &&
        CrowdsOut(info, shared, panel, near_bytes)) {
      choices.push_back({shared, true, shared, vectors});
    }
  }
  return choices;
}

// Whether a panel is too high to wait in the second-level cache.
bool IsHigh(const BlockInfo& info, int vectors, int lanes, int64_t near_bytes) {
  return PanelBytes(info, vectors, lanes) > near_bytes;
}

// Of the rows that a tile has asked for at a time, those that fall into one set
// of a first-level cache where each way is a page.
int64_t RowsInOneSet(int64_t row_bytes) {
  constexpr int64_t kPage = 4096, kRows = 16;
  std::array<int64_t, kPage / kLineBytes> rows = {};
  for (int64_t i = 0; i < kRows; ++i) {
    ++rows[i * row_bytes % kPage / kLineBytes];
  }
  return *absl::c_max_element(rows);
}

// Whether the rows of a panel find room side by side in the near caches where
// they lie. Rows a large power of two of bytes apart share few sets of the
// second level: of those 2 KiB apart it holds an eighth of those 256 bytes
// apart. Rows about a page apart share those of the first.
bool WaitsInPlace(const BlockInfo& info, const ReadInfo& shared,
                  const TileAxes& axes, int64_t near_bytes) {
  const double row = shared.strides[axes.unroll].value_or(0) * kElementBytes;
  const auto bytes = static_cast<int64_t>(row);
  if (bytes < kLineBytes || static_cast<double>(bytes) != row) return false;
  const int64_t apart = std::max<int64_t>(kLineBytes, bytes & -bytes);
  return info.ReduceSize() <= near_bytes / apart &&
         RowsInOneSet(bytes) <= kMostInOneSet;
}

// Whether the operand may be packed where it is used. Taps that stay in the
// second-level cache had better be read where they lie, as had those of which
// each phase of a transposed convolution uses some.
bool MayPackNear(const BlockInfo& info, const ReadInfo& shared,
                 const TileAxes& axes, const std::vector<int>& widths,
                 int lanes, int64_t near_bytes) {
  const double worth =
      axes.dot_steps > 1 ? kWorthPackingDots : kWorthPackingNear;
  if (widths.empty() || shared.elements <= kLarge ||
      Uses(info, shared) < worth) {
    return false;
  }
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    if (!MovesEvenly(info, i)) return false;
  }
  return LongReductions(info) == 1 ||
         !WaitsInPlace(info, shared, axes, near_bytes) ||
         PanelBytes(info, widths[0], lanes) > near_bytes / kTapsPart;
}

// Panels packed where they are used: nothing waits for them, and what is read
// for one stays near until the next. Those too high for that in blocks; either
// way where it is the rows they are made of that find no room.
std::vector<TilingChoice> ChoicesNear(const std::vector<int>& widths,
                                      const ReadInfo& shared,
                                      const BlockInfo& info,
                                      const TileAxes& axes, int lanes,
                                      int64_t near_bytes) {
  const bool has_taps = LongReductions(info) > 1;
  const bool crowds = Uses(info, shared) < kWorthStreaming &&
                      !WaitsInPlace(info, shared, axes, near_bytes);
  std::vector<TilingChoice> choices;
  for (int vectors : widths) {
    const bool blocks = has_taps || IsHigh(info, vectors, lanes, near_bytes);
    if (!blocks) {
      choices.push_back({shared, true, std::nullopt, vectors, /*near=*/true});
    }
    if (blocks || crowds) {
      choices.push_back({shared, true, shared, vectors, /*near=*/true});
    }
  }
  return choices;
}

// Widths of panels of which each holds columns of one group.
std::vector<int> WidthsThatDivide(const TileSpace& space,
                                  const VectorRegisters& file) {
  const auto divides = [&](int vectors) {
    return space.columns % (int64_t{vectors} * file.Floats()) == 0;
  };
  std::vector<int> widths = PanelWidths(space, file);
  std::erase_if(widths, std::not_fn(divides));
  if (!widths.empty()) return widths;
  for (int vectors = file.ForTiles() / 2; vectors > 0; --vectors) {
    const bool fits = !ChoosePanelTiles(space, file, vectors, 1).empty();
    if (fits && divides(vectors)) return {vectors};
  }
  return {};
}

// Rows of a group's columns lie far apart, in pages of their own and few sets
// of the caches: they are packed for the rows that use them, which are those of
// the group alone. With vectors of 32 bytes a Xeon takes 0.6 ms for 7 x 7
// pixels of 512 channels in 4 groups, 3 x 3 taps, where the panels of an
// iteration are packed together, and 1.4 where each is packed by itself.
std::vector<TilingChoice> ChoicesOfGroups(const std::vector<int>& widths,
                                          const ReadInfo& shared,
                                          const BlockInfo& info) {
  const bool ahead = shared.layout_free;
  std::vector<TilingChoice> choices;
  if (!ahead || widths.empty()) choices.push_back({});
  if (!ahead && Uses(info, shared) < kWorthPackingNear) return choices;
  for (int vectors : widths) {
    TilingChoice panels{shared, true, std::nullopt, vectors};
    panels.near = panels.near_together = !ahead;
    choices.push_back(panels);
  }
  return choices;
}

// The right operand of a product of matrices, too large to wait in a near
// cache.
bool IsLargeMatrix(const BlockInfo& info, const ReadInfo& shared) {
  return shared.elements > kLarge && LongReductions(info) == 1;
}

// Widths of panels that are worth trying, the best first.
std::vector<int> WidthsFor(const TileSpace& space, const VectorRegisters& file,
                           bool large_matrix) {
  std::vector<int> widths = PanelWidths(space, file);
  const auto narrow = [](int vectors) { return vectors < kLeastLargeWidth; };
  if (large_matrix && !absl::c_all_of(widths, narrow)) {
    std::erase_if(widths, narrow);
  }
  return widths;
}

// Panels of whole lines, of which a tile reads a few.
TilingChoice ChoiceOfOneRow(const ReadInfo& matrix, const TileSpace& space,
                            const VectorRegisters& file) {
  TilingChoice streams{.packed = matrix};
  streams.vectors = std::max(1, kLineBytes / file.bytes);
  const int64_t vectors =
      std::min<int64_t>(space.columns / file.Floats(), file.ForTiles() - 2);
  streams.panels = static_cast<int>(
      std::clamp<int64_t>(vectors / streams.vectors, 1, kStreams));
  return streams;
}

}  // namespace

std::optional<ReadInfo> ConstantUsedOnce(const BlockInfo& info,
                                         const TileAxes& axes) {
  if (info.reads.size() < 2 || IsLanewise(info, axes)) return std::nullopt;
  for (const ReadInfo& read : info.reads) {
    if (read.layout_free && read.elements > kLarge &&
        read.strides[axes.column] == 1.0 && Uses(info, read) == 1) {
      return read;
    }
  }
  return std::nullopt;
}

bool FillsLines(const BlockInfo& info, const TileAxes& axes) {
  return info.axes[axes.column].extent * kElementBytes >= kLineBytes;
}

bool HoldsOtherColumns(const BlockInfo& info, const TileAxes& axes,
                       const ReadInfo& operand) {
  const auto columns = static_cast<double>(info.axes[axes.column].extent);
  return absl::c_any_of(operand.strides, [&](const auto& stride) {
    return stride == columns &&
           columns < static_cast<double>(operand.shape.back());
  });
}

double StepOf(const ReadInfo& operand, int dim) {
  double step = 1;
  for (int i = dim + 1; i < operand.dims(); ++i) {
    step *= static_cast<double>(operand.shape[i]);
  }
  return step;
}

int DimAlong(const ReadInfo& operand, int axis) {
  for (int i = 0; axis >= 0 && i < operand.dims(); ++i) {
    if (operand.strides[axis] == StepOf(operand, i)) return i;
  }
  return -1;
}

bool MovesEvenly(const BlockInfo& info, int axis) {
  return std::all_of(
      info.reads.begin(), info.reads.end(),
      [&](const ReadInfo& read) { return read.strides[axis].has_value(); });
}

// The contiguous axis, or where that is a single column, the innermost longer
// one if all that the block reads lies along it: of an image of one channel its
// rows.
int ColumnAxis(const BlockInfo& info) {
  const int contiguous = info.ContiguousAxis();
  if (contiguous < 0 || info.axes[contiguous].extent > 1) return contiguous;
  int longer = -1;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    const AxisInfo& axis = info.axes[i];
    if (axis.reduce || axis.extent == 1) continue;
    if (longer < 0 || axis.write_dim > info.axes[longer].write_dim) longer = i;
  }
  const bool lies_along =
      longer >= 0 && absl::c_all_of(info.reads, [&](const ReadInfo& read) {
        return read.strides[longer] == 1.0 || read.strides[longer] == 0.0;
      });
  return lies_along ? longer : contiguous;
}

std::optional<TileAxes> ChooseTileAxes(const BlockInfo& info) {
  TileAxes axes;
  axes.column = ColumnAxis(info);
  for (size_t i = 0; i < info.axes.size(); ++i) {
    if (info.axes[i].reduce) axes.unroll = static_cast<int>(i);
  }
  if (axes.column < 0 || axes.unroll < 0) return std::nullopt;
  if (info.axes[axes.column].extent < kLeastVector) return std::nullopt;
  const std::vector<int> rows = RowAxes(info, axes.column);
  if (!rows.empty()) axes.row = rows[0];
  if (rows.size() > 1 && SharesOperand(info, axes.column, rows[1])) {
    axes.outer_row = rows[1];
  }
  return axes;
}

int64_t LanesFor(int64_t columns, const VectorRegisters& file) {
  int64_t lanes = file.Floats();
  if (file.masked) return std::min(columns, lanes);
  while (lanes > columns) lanes /= 2;
  return lanes;
}

int64_t LanesOf(const BlockInfo& info, const TileAxes& axes,
                const VectorRegisters& file) {
  return LanesFor(TileSpaceOf(info, axes).columns, file);
}

TileSpace TileSpaceOf(const BlockInfo& info, const TileAxes& axes) {
  const auto extent = [&](int axis) {
    return axis < 0 ? 1 : info.axes[axis].extent;
  };
  return {extent(axes.outer_row), extent(axes.row),
          extent(axes.column) * LanesOfColumn(axes),
          IsLanewise(info, axes) ? info.ReduceSize() : 0};
}

VectorRegisters FileFor(const TileSpace& space, VectorRegisters file) {
  constexpr int kFloatBytes = 4;
  file.bytes = kFloatBytes * static_cast<int>(LanesFor(space.columns, file));
  return file;
}

namespace {

// What each lane uses alone is read as it lies, row by row or some columns of
// all rows. A large operand of few uses takes about as long to pack as to use;
// one of many is not read as it lies, row after row with large steps between
// them.
std::vector<TilingChoice> OpenChoices(const BlockInfo& info,
                                      const TileAxes& axes,
                                      const VectorRegisters& registers,
                                      int64_t near_bytes) {
  const TileSpace space = TileSpaceOf(info, axes);
  const VectorRegisters file = FileFor(space, registers);
  if (const auto matrix = ConstantUsedOnce(info, axes)) {
    return {ChoiceOfOneRow(*matrix, space, file)};
  }
  const std::optional<ReadInfo> shared = SharedOperand(info, axes);
  if (!shared) return {{}};
  if (IsLanewise(info, axes)) {
    return {{}, {std::nullopt, /*columns_first=*/true}};
  }
  if (HoldsOtherColumns(info, axes, *shared)) {
    if (!FillsLines(info, axes)) return {{}};
    return ChoicesOfGroups(WidthsThatDivide(space, file), *shared, info);
  }
  const bool large = SharedIsLarge(info, *shared);
  const bool large_matrix = IsLargeMatrix(info, *shared);
  const std::vector<int> widths = WidthsFor(space, file, large_matrix);
  if (shared->layout_free) {
    return ChoicesAhead(widths, *shared, info, large, file.Floats(),
                        near_bytes);
  }
  const double uses = Uses(info, *shared);
  const bool near =
      MayPackNear(info, *shared, axes, widths, file.Floats(), near_bytes);
  std::vector<TilingChoice> choices;
  if (!near || !large_matrix ||
      (uses < kWorthStreaming &&
       WaitsInPlace(info, *shared, axes, near_bytes))) {
    choices.push_back({std::nullopt, large});
  }
  if (!large || uses >= kWorthPacking) {
    absl::c_move(
        ChoicesBefore(widths, *shared, info, large, file.Floats(), near_bytes),
        std::back_inserter(choices));
  }
  if (near) {
    absl::c_move(
        ChoicesNear(widths, *shared, info, axes, file.Floats(), near_bytes),
        std::back_inserter(choices));
  }
  const bool is_high =
      near && IsHigh(info, widths[0], file.Floats(), near_bytes);
  const bool streams = large_matrix ? is_high && uses < kWorthStreaming
                                    : uses < kWorthPackingNear;
  if (large && streams) choices.push_back({std::nullopt, true, shared});
  return choices;
}

}  // namespace

std::vector<TilingChoice> TilingChoices(const BlockInfo& info,
                                        const TileAxes& axes,
                                        const VectorRegisters& registers,
                                        int64_t near_bytes) {
  std::vector<TilingChoice> choices =
      OpenChoices(info, axes, registers, near_bytes);
  const int lanes = FileFor(TileSpaceOf(info, axes), registers).Floats();
  for (TilingChoice& choice : choices) {
    if (!choice.streamed || choice.vectors == 0 || axes.unroll < 0 ||
        Uses(info, *choice.streamed) < kWorthStreaming) {
      continue;
    }
    choice.tallest =
        TallestBlock(info, axes, choice.vectors, lanes, near_bytes);
  }
  return choices;
}

}  // namespace kiln
