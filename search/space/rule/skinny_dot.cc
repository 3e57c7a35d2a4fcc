// A convolution to three channels, for one: vectors run along the channels that
// are summed up, for a tile of outputs at once:
//
//   parallel n, h; w outer:
//     y, x, k outer:
//       w inner, c (unrolled), lanes:  P[w, c, lane] += A[.., k] * B[y, x, c,
//       k]
//     w inner, c (unrolled):  C[w, c] = the sum of P[w, c, :]
//
// Where both operands lie along the sum, as those of a dense layer, so may any
// number of columns be computed: the tile has some of them, and the next ones
// are a matter of the outer loops. Operands of a long sum do not stay in the
// nearest cache for the next tile; those of a part of it do, so that the parts
// may be summed up one by one, and added.
//
// Of narrow numbers each lane takes as many neighbouring steps as an
// instruction adds up: P[w, c, lane] += A[.., k*64 + lane*4 + e] * B[..,
// likewise], e in 4.
//
// The last sums are marked with kLaneSums (ir/tensor/marks.h), for code
// generation to do several at a time.
#include "kiln/search/space/rule/skinny_dot.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/dot_steps.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/sampled_tile.h"
#include "kiln/search/space/rule/vector_reduction.h"

namespace kiln {
namespace {

constexpr double kSmall = 1 << 16;  // elements of an operand to lay out anew
constexpr int64_t kFold = 4;        // lanes that are summed up one by one
constexpr size_t kLoopsAround = 2;  // the blocks of a tile
constexpr int kWideTiles = 6;       // to choose from
constexpr int kElementBytes = 4;
// Registers that a tile of few columns leaves: with one more row t2d:32,32,64,3
// takes 1.2 times as long in 16 registers of SSE, and c2d:56,56,64,3 1.1 times
// in those of AVX2 (on a Xeon).
constexpr int64_t kBesideDots = 1;
// Where the last vector of a sum is not full, and loads take no part of one: a
// share of all, and rows beyond which LLVM keeps parts of sums in memory.
constexpr int64_t kBesideRagged = 8;
constexpr int64_t kMostRaggedRows = 4;
constexpr int64_t kFewRows = 4;
// Tiles of one parallel iteration, where there are no other loops for that.
constexpr int64_t kTilesOfThread = 16;
// Of a sum over two operands, elements of each.
constexpr int64_t kLongestPart = 1024;
constexpr int64_t kLeastPart = 512;

int LastReduction(const BlockInfo& info) {
  int last = -1;
  for (size_t i = 0; i < info.axes.size(); ++i) {
    if (info.axes[i].reduce) last = static_cast<int>(i);
  }
  return last;
}

// The axis of the rows of a tile: the one next to the columns in the output
// along which operands move evenly; -1: none.
int RowAxis(const BlockInfo& info, bool wide) {
  int row = -1;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    const AxisInfo& axis = info.axes[i];
    if (axis.reduce || axis.write_dim < 0 || i == info.ContiguousAxis()) {
      continue;
    }
    const bool even = std::all_of(
        info.reads.begin(), info.reads.end(),
        [&](const ReadInfo& read) { return read.strides[i].has_value(); });
    if (!even || axis.extent < (wide ? 1 : 4)) continue;
    if (row < 0 || axis.write_dim > info.axes[row].write_dim) row = i;
  }
  return row;
}

bool WritesEachAxis(const BlockInfo& info) {
  return std::all_of(
      info.axes.begin(), info.axes.end(), [](const AxisInfo& axis) {
        return axis.reduce || axis.write_dim >= 0 || axis.extent == 1;
      });
}

// Whether the columns are enough for vectors of a quarter of the lanes.
bool HaveVectors(const BlockInfo& info, int lanes) {
  return info.axes[info.ContiguousAxis()].extent >= lanes / 4;
}

// Whether they are, but the operands lie along the sum.
bool IsWideDot(const BlockInfo& info, int lanes) {
  return info.ReducesContiguously() && HaveVectors(info, lanes);
}

class Dots {
 public:
  Dots(Schedule sch, const BlockInfo& info, const RuleContext& context)
      : sch_(std::move(sch)),
        info_(info),
        context_(context),
        column_(info.ContiguousAxis()),
        row_(RowAxis(info, IsWide())),
        last_(LastReduction(info)),
        group_(StepsOfLane()) {}

  absl::StatusOr<Schedule> Run() {
    KILN_ASSIGN_OR_RETURN(
        sums_, sch_.GetBlock(info_.name, FunctionOf(sch_, context_).name));
    KILN_RETURN_IF_ERROR(LayOut());
    KILN_RETURN_IF_ERROR(MakeCopy());
    KILN_RETURN_IF_ERROR(Factor(last_, context_.registers.Floats(), group_));
    KILN_RETURN_IF_ERROR(FactorLanes());
    KILN_ASSIGN_OR_RETURN(const Rv tile, TileCopy());
    KILN_RETURN_IF_ERROR(sch_.ComputeAt(sums_, tile, true));
    for (size_t i = partial_.size(); i-- > 0;) {
      KILN_RETURN_IF_ERROR(sch_.ComputeAt(partial_[i], tile, true));
      KILN_RETURN_IF_ERROR(sch_.SetScope(partial_[i], 0, "local"));
    }
    KILN_RETURN_IF_ERROR(Order(partial_[0], /*is_first=*/true));
    for (size_t i = 1; i < partial_.size(); ++i) {
      KILN_RETURN_IF_ERROR(Order(partial_[i], /*is_first=*/false));
    }
    KILN_RETURN_IF_ERROR(Order(sums_, /*is_first=*/false));
    KILN_RETURN_IF_ERROR(sch_.Annotate(sums_, kLaneSums, true));
    return sch_;
  }

 private:
  // Operands whose elements along the last reduction stand apart, so that they
  // do not.
  absl::Status LayOut() {
    for (const ReadInfo& read : info_.reads) {
      if (!read.Uses(last_) || read.LiesAlong(last_)) continue;
      KILN_ASSIGN_OR_RETURN(const int dim, DimOf(read));
      KILN_ASSIGN_OR_RETURN(const Rv copy,
                            sch_.CacheRead(sums_, read.index, "global"));
      IndexMap map;
      for (int i = 0; i < read.dims(); ++i) {
        map.inputs.push_back(Var("d" + std::to_string(i)));
        if (i != dim) map.outputs.push_back(map.inputs.back());
      }
      map.outputs.push_back(map.inputs[dim]);
      KILN_RETURN_IF_ERROR(
          sch_.TransformLayout(copy, Schedule::Side::kWrite, 0, map));
      if (!read.layout_free) continue;
      KILN_RETURN_IF_ERROR(sch_.Annotate(copy, kLayoutPreparation, true));
    }
    return absl::OkStatus();
  }

  // The dimension that the last reduction indexes alone.
  absl::StatusOr<int> DimOf(const ReadInfo& read) const {
    const Function& f = FunctionOf(sch_, context_);
    const std::optional<Path> path = FindBlock(f, sch_.Value(sums_));
    const BlockNode& block = *path->realize()->block;
    for (int d = 0; d < read.dims(); ++d) {
      const Expr& index = block.reads[read.index].region[d].min;
      if (index.get() == block.iters[last_].var.get()) return d;
    }
    return absl::FailedPreconditionError("no dimension to move");
  }

  // Sums go to their places by a copy, or by a consumer that can do it.
  absl::Status MakeCopy() {
    KILN_ASSIGN_OR_RETURN(copy_, sch_.CacheWrite(sums_, 0, "local"));
    if (info_.consumers.size() != 1) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> consumers,
                          sch_.GetConsumers(copy_));
    if (consumers.size() != 1) return absl::OkStatus();
    context_.WentOn("the consumer in place of a copy",
                    sch_.ReverseComputeInline(consumers[0]));
    return absl::OkStatus();
  }

  // Cuts `width` groups of neighbouring steps off the loop at position `at`,
  // which become the last dimension of partial sums.
  absl::Status Factor(int at, int64_t width, int64_t group = 1) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch_.GetLoops(sums_));
    std::vector<Arg> factors = {Arg(), width};
    if (group > 1) factors.push_back(group);
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                          sch_.Split(loops[at], factors));
    KILN_ASSIGN_OR_RETURN(const Rv made,
                          sch_.Rfactor(parts[1], info_.write_dims));
    partial_.push_back(made);
    return absl::OkStatus();
  }

  // Neighbouring steps for one instruction, where the sum has a vector of them
  // in both operands; else 1. Single steps behind the groups are for few rows:
  // more of them are better off in panels, which are padded.
  int64_t StepsOfLane() const {
    const BlockNode& block = NodeOf(FunctionOf(sch_, context_), info_.name);
    const auto product = NarrowSumOf(block);
    const bool lie_along = absl::c_all_of(
        info_.reads,
        [&](const ReadInfo& read) { return read.strides[last_] == 1.0; });
    if (!product || !lie_along) return 1;
    const int64_t extent = info_.axes[last_].extent;
    const bool has_few_rows =
        info_.SpatialSize() <= kFewRows * info_.axes[column_].extent;
    for (const int64_t steps : {kBytesOfDot, 2}) {
      if (IsDotProduct(*product, steps, context_.registers.dots) &&
          extent >= context_.registers.Floats() * steps &&
          (extent % steps == 0 || has_few_rows)) {
        return steps;
      }
    }
    return 1;
  }

  absl::Status FactorLanes() {
    const int64_t lanes = std::min<int64_t>(info_.axes[last_].extent,
                                            context_.registers.Floats());
    if (lanes <= kFold) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch_.GetLoops(sums_));
    return Factor(static_cast<int>(loops.size()) - 1, kFold);
  }

  bool IsWide() const { return IsWideDot(info_, context_.registers.Floats()); }

  // Rows and columns of a tile, each element of which is a vector of sums.
  absl::StatusOr<SampledTile> SampleWideTile() {
    VectorRegisters file = context_.registers;
    file.bytes = kElementBytes;
    const TileSpace space = {1, info_.axes[row_].extent,
                             info_.axes[column_].extent};
    return SampleTile(&sch_, ChooseRegisterTiles(space, file, kWideTiles));
  }

  // How many rows a tile may have that stays in registers. A last vector that
  // is not full takes more of them, where it is no masked one.
  std::vector<int64_t> FittingRows() const {
    const VectorRegisters& registers = context_.registers;
    const bool full = registers.masked ||  // complete_ragged_sums.h
                      info_.axes[last_].extent % registers.Floats() == 0;
    const int64_t beside =
        kBesideDots + (full ? 0 : registers.count / kBesideRagged);
    const int64_t columns = info_.axes[column_].extent;
    std::vector<int64_t> fitting;
    for (const int64_t rows : {1, 2, 3, 4, 6, 8, 16}) {
      if (rows <= info_.axes[row_].extent &&
          (full || rows <= kMostRaggedRows) &&
          TileFits(rows * columns + beside, std::min(rows, columns),
                   registers)) {
        fitting.push_back(rows);
      }
    }
    return fitting;
  }

  absl::StatusOr<Rv> SampleRows() {
    const std::vector<int64_t> rows = FittingRows();
    if (rows.empty()) return absl::FailedPreconditionError("too wide a tile");
    return sch_.SampleCategorical(
        rows, std::vector<double>(rows.size(), 1.0 / rows.size()));
  }

  // Whether a tile has more columns than rows: then vectors of the rows stay in
  // registers, and those of the columns are loaded one by one.
  bool HasMoreColumns() const {
    return !IsWide() && FittingRows().back() < info_.axes[column_].extent;
  }

  // The loop of the tile: its rows and columns are inside, unrolled.
  absl::StatusOr<Rv> TileCopy() {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch_.GetLoops(copy_));
    if (static_cast<int>(loops.size()) != info_.write_dims) {
      return absl::FailedPreconditionError("a copy of other dimensions");
    }
    const int row = info_.axes[row_].write_dim;
    const int column = info_.axes[column_].write_dim;
    std::vector<Rv> outer;
    for (int d = 0; d < info_.write_dims; ++d) {
      if (d != row && d != column) outer.push_back(loops[d]);
    }
    Rv columns = loops[column];
    Arg count;
    if (IsWide()) {
      KILN_ASSIGN_OR_RETURN(const SampledTile tile, SampleWideTile());
      KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                            sch_.Split(columns, {Arg(), tile.vectors}));
      outer.push_back(parts[0]);
      columns = parts[1];
      count = tile.rows;
    } else {
      KILN_ASSIGN_OR_RETURN(count, SampleRows());
    }
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> rows,
                          sch_.Split(loops[row], {Arg(), count}));
    if (outer.empty()) {
      KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                            sch_.Split(rows[0], {Arg(), kTilesOfThread}));
      outer.push_back(parts[0]);
      rows[0] = parts[1];
    }
    std::vector<Rv> order = outer;
    order.insert(order.end(), {rows[0], rows[1], columns});
    KILN_RETURN_IF_ERROR(sch_.Reorder(order));
    KILN_RETURN_IF_ERROR(sch_.Unroll(rows[1]));
    KILN_RETURN_IF_ERROR(sch_.Unroll(columns));
    KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(outer));
    KILN_RETURN_IF_ERROR(Parallel(&sch_, fused, context_));
    return rows[0];
  }

  // Lanes innermost. The first sums run through all reductions while a tile of
  // them is in registers; the others add up lanes, output by output.
  absl::Status Order(Rv block, bool is_first) {
    KILN_ASSIGN_OR_RETURN(
        const std::vector<IterLoop> iters,
        LoopsOfIters(&sch_, context_.function, block, kLoopsAround));
    const bool has_lanes = !(block == sums_);
    std::vector<Rv> spatial, reduce;
    for (size_t i = has_lanes ? 1 : 0; i < iters.size(); ++i) {
      if (!iters[i].loop) continue;
      (iters[i].reduce ? reduce : spatial).push_back(*iters[i].loop);
    }
    if (is_first && HasMoreColumns()) absl::c_reverse(spatial);
    std::vector<Rv> group;  // inside of the lanes
    if (is_first && group_ > 1 && !reduce.empty()) {
      group = {reduce.back()};
      reduce.pop_back();
    }
    if (reduce.empty()) return absl::FailedPreconditionError("no reduction");
    std::vector<Rv> order = is_first ? reduce : spatial;
    const std::vector<Rv>& inner = is_first ? spatial : reduce;
    order.insert(order.end(), inner.begin(), inner.end());
    if (has_lanes) {
      if (!iters[0].loop) return absl::FailedPreconditionError("no lanes");
      order.push_back(*iters[0].loop);
      order.insert(order.end(), group.begin(), group.end());
    }
    if (order.size() > 1) KILN_RETURN_IF_ERROR(sch_.Reorder(order));
    if (has_lanes) KILN_RETURN_IF_ERROR(sch_.Vectorize(*iters[0].loop));
    for (const Rv loop : group) KILN_RETURN_IF_ERROR(sch_.Unroll(loop));
    for (const Rv loop : spatial) KILN_RETURN_IF_ERROR(sch_.Unroll(loop));
    if (!is_first) {
      for (const Rv loop : reduce) KILN_RETURN_IF_ERROR(sch_.Unroll(loop));
    }
    // Where conditions stand in the way, sums start in their loops.
    context_.WentOn("a start of sums before their loops",
                    sch_.DecomposeReduction(block, reduce[0]).status());
    return absl::OkStatus();
  }

  Schedule sch_;
  const BlockInfo& info_;
  const RuleContext& context_;
  const int column_, row_, last_;
  const int64_t group_;  // steps of each lane
  Rv sums_, copy_;
  std::vector<Rv> partial_;
};

// The longest part of a long sum whose operands stay in the nearest cache while
// a tile passes over them; 0: the sum is short, or has no such part.
int64_t PartOf(int64_t sum, int lanes) {
  if (sum <= kLongestPart) return 0;
  for (int64_t part = kLongestPart / lanes * lanes; part >= kLeastPart;
       part -= lanes) {
    if (sum % part == 0) return part;
  }
  return 0;
}

// Tiles of dots over parts of the sum, which are added up afterwards.
absl::StatusOr<Schedule> DotsOfParts(Schedule sch, const BlockInfo& info,
                                     int64_t part, const RuleContext& context) {
  const std::string function = FunctionOf(sch, context).name;
  KILN_ASSIGN_OR_RETURN(const Rv block, sch.GetBlock(info.name, function));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(block));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                        sch.Split(loops[LastReduction(info)], {Arg(), part}));
  KILN_ASSIGN_OR_RETURN(const Rv sums, sch.Rfactor(parts[0], 0));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> order, sch.GetLoops(sums));
  const auto outer = order.begin() + LastReduction(info);
  std::rotate(order.begin(), outer, outer + 1);
  KILN_RETURN_IF_ERROR(sch.Reorder(order));
  const Function& f = FunctionOf(sch, context);
  const std::optional<Path> path = FindBlock(f, sch.Value(sums));
  const auto of_parts = DescribeBlock(f, path->realize()->block->name);
  if (!of_parts) return absl::FailedPreconditionError("loops that are no axes");
  return Dots(std::move(sch), *of_parts, context).Run();
}

}  // namespace

bool SuitsSkinnyDot(const BlockInfo& info, int lanes) {
  const int column = info.ContiguousAxis(), last = LastReduction(info);
  if (!info.has_init || column < 0 || last < 0) return false;
  if (info.axes[column].extent >= lanes && !IsWideDot(info, lanes)) {
    return false;
  }
  if (info.axes[last].extent < lanes &&
      info.axes[last].extent < 2 * info.axes[column].extent) {
    return false;
  }
  if (!WritesEachAxis(info)) return false;
  bool contiguous = false;
  for (const ReadInfo& read : info.reads) {
    if (read.lags[last]) continue;
    if (!read.strides[last].has_value()) return false;
    const bool along = read.strides[last] == 1.0;
    if (read.Uses(last) && !along && read.elements > kSmall) return false;
    contiguous |= along;
  }
  return contiguous;
}

std::vector<Schedule> SkinnyDot(const Schedule& sch, const std::string& block,
                                const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || !SuitsSkinnyDot(*info, context.registers.Floats())) return {};
  const bool wide = IsWideDot(*info, context.registers.Floats());
  if (RowAxis(*info, wide) < 0) return {};
  std::vector<Schedule> made =
      OnlyWay(Dots(sch, *info, context).Run(), context);
  if (made.empty()) return made;
  if (!wide) {
    if (HaveVectors(*info, context.registers.Floats())) made.push_back(sch);
    return made;
  }
  const int64_t part = PartOf(info->axes[LastReduction(*info)].extent,
                              context.registers.Floats());
  if (part > 0 &&
      info->SpatialSize() > info->axes[info->ContiguousAxis()].extent) {
    absl::StatusOr<Schedule> parts = DotsOfParts(sch, *info, part, context);
    if (parts.ok()) {
      made.push_back(*std::move(parts));
    } else {
      context.GaveUp("dots over parts of the sum", parts.status());
    }
  }
  made.push_back(sch);  // for one row after the other
  return made;
}

}  // namespace kiln
