// The nest, for an output with axes [n, h, w, c] and reduction axes [y, x, k]:
//
//   parallel n, h, w outer, c outer:
//     c block, w block:
//       y, x, k, k unrolled:
//         rows of w (unrolled), vectors of c (unrolled), lanes:  sum
//           (of dot products, some steps of k that an instruction takes)
//       store the tile, or what the consumer makes of it
#include "kiln/search/space/rule/register_nest.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/search/space/rule/operand_panels.h"
#include "kiln/search/space/rule/register_tiles.h"
#include "kiln/search/space/rule/sampled_tile.h"

namespace kiln {
namespace {

constexpr int kTiles = 8;             // to choose from
constexpr int kPanelTiles = 3;        // over panels of one width
constexpr double kLeastOfBest = 0.6;  // of the weight of the best tile
constexpr int64_t kMaxBlock = 64;     // tiles along one axis of a cache block
constexpr int64_t kFewSteps = 16;     // of all reductions, unrolled altogether
constexpr int64_t kWindowSteps = 8;   // of the innermost reduction alone

class Tiling {
 public:
  Tiling(Schedule sch, const BlockInfo& info, const TileAxes& axes,
         const TilingChoice& choice, std::optional<Joining> joining,
         size_t around, const RuleContext& context)
      : sch_(std::move(sch)),
        around_(around),
        info_(info),
        axes_(axes),
        choice_(choice),
        joining_(std::move(joining)),
        context_(context),
        panels_(info_, axes_, choice_, context_) {}

  absl::StatusOr<RegisterNest> Run() {
    KILN_ASSIGN_OR_RETURN(block_, sch_.GetBlock(info_.name, FunctionName()));
    if (choice_.packed) KILN_RETURN_IF_ERROR(panels_.Pack(&sch_, block_));
    KILN_ASSIGN_OR_RETURN(loops_, sch_.GetLoops(block_));
    loops_.erase(loops_.begin(),
                 loops_.begin() + static_cast<std::ptrdiff_t>(around_));
    if (HasDots()) KILN_RETURN_IF_ERROR(SplitDots());
    KILN_RETURN_IF_ERROR(SplitColumns());
    KILN_RETURN_IF_ERROR(SplitRows());
    if (choice_.streamed) {
      KILN_RETURN_IF_ERROR(OrderStream(*choice_.streamed));
      KILN_RETURN_IF_ERROR(StoreChunk());
    } else {
      KILN_RETURN_IF_ERROR(Order());
      KILN_RETURN_IF_ERROR(StoreTile());
      if (joining_) KILN_RETURN_IF_ERROR(Join());
    }
    if (choice_.near) {
      KILN_RETURN_IF_ERROR(panels_.ComputeAt(
          &sch_, choice_.near_together ? outer_.back() : blocks_[0]));
    }
    KILN_RETURN_IF_ERROR(Mark());
    return RegisterNest{sch_, block_, reduce_[0]};
  }

 private:
  const std::string& FunctionName() const {
    return FunctionOf(sch_, context_).name;
  }

  int64_t LaneCount() const {
    return LanesOf(info_, axes_, context_.registers);
  }
  int64_t ColumnsOfVector() const { return LaneCount() / LanesOfColumn(axes_); }
  bool IsPaired() const { return axes_.pair >= 0; }
  bool HasDots() const { return axes_.dot_steps > 1; }

  // Of the output, where tiles are stored.
  int64_t ColumnsStored() const {
    const bool are_whole = choice_.vectors % LanesOfColumn(axes_) == 0;
    return are_whole ? LaneCount() : ColumnsOfVector();
  }

  // Those to choose from.
  std::vector<RegisterTile> Tiles() const {
    const TileSpace space = TileSpaceOf(info_, axes_);
    const VectorRegisters file = FileFor(space, context_.registers);
    if (choice_.panels > 1) {
      return {{1, 1, choice_.vectors * choice_.panels, /*weight=*/1}};
    }
    return Fitting(choice_.vectors == 0
                       ? ChooseRegisterTiles(space, file, kTiles)
                       : ChoosePanelTiles(space, file, choice_.vectors,
                                          around_ == 0 ? kPanelTiles : kTiles));
  }

  // Where loops around give rows, those of a tile divide them: conditions on
  // both would not be known to leave out the end of the output alone. Of tiles
  // that share operands, those that do are not much worse than the best.
  std::vector<RegisterTile> Fitting(std::vector<RegisterTile> tiles) const {
    if (around_ == 0 || axes_.row < 0) return tiles;
    const auto extent = [&](int axis) {
      return axis < 0 ? 1 : info_.axes[axis].extent;
    };
    std::erase_if(tiles, [&](const RegisterTile& tile) {
      return extent(axes_.outer_row) % tile.outer_rows != 0 ||
             extent(axes_.row) % tile.rows != 0;
    });
    if (tiles.empty()) return {{1, 1, std::max(1, choice_.vectors), 1}};
    const double least = kLeastOfBest * tiles[0].weight;
    std::erase_if(
        tiles, [&](const RegisterTile& tile) { return tile.weight < least; });
    return tiles;
  }

  // The steps of an instruction are a loop inside of the lanes.
  absl::Status SplitDots() {
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> steps,
        sch_.Split(loops_[axes_.unroll], {Arg(), axes_.dot_steps}));
    loops_[axes_.unroll] = steps[0];
    dot_ = steps[1];
    return absl::OkStatus();
  }

  absl::Status SplitColumns() {
    KILN_ASSIGN_OR_RETURN(tile_, SampleTile(&sch_, Tiles()));
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> lanes,
        sch_.Split(loops_[axes_.column], {Arg(), ColumnsOfVector()}));
    lane_ = lanes[1];
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> vectors,
                          sch_.Split(lanes[0], {Arg(), tile_.vectors}));
    inner_.push_back(vectors[1]);
    return SplitBlock(vectors[0], axes_.column);
  }

  absl::Status SplitRows() {
    if (axes_.row < 0) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> rows,
                          sch_.Split(loops_[axes_.row], {Arg(), tile_.rows}));
    inner_.insert(inner_.begin(), rows[1]);
    KILN_RETURN_IF_ERROR(SplitBlock(rows[0], axes_.row));
    if (axes_.outer_row < 0) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> outer,
        sch_.Split(loops_[axes_.outer_row], {Arg(), tile_.outer_rows}));
    inner_.insert(inner_.begin(), outer[1]);
    loops_[axes_.outer_row] = outer[0];
    return absl::OkStatus();
  }

  absl::Status SplitBlock(Rv tiles, int axis) {
    const bool is_one = choice_.unblocked && axis == axes_.column;
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> factors,
        sch_.SamplePerfectTile(tiles, 2, is_one ? 1 : kMaxBlock));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                          sch_.Split(tiles, {factors[0], factors[1]}));
    loops_[axis] = parts[0];
    blocks_.push_back(parts[1]);
    return absl::OkStatus();
  }

  // Whether all of axis `i` comes between two panels that are packed where they
  // are used: rows that share the panel, but those that tiles are made of.
  bool SharesNearPanel(int i) const {
    return choice_.near && i != axes_.column && i != axes_.row &&
           !choice_.packed->Uses(i);
  }

  // Whether no operand stands still along axis `i`, as along batches or groups,
  // and no two of its steps share lines of the output.
  bool IsBatch(int i) const {
    return i != axes_.column && FillsLines(info_, axes_) &&
           absl::c_all_of(info_.reads,
                          [&](const ReadInfo& read) { return read.Uses(i); });
  }

  // Sorts the loops of the axes into outer and reduction loops, the last of
  // which are unrolled.
  absl::Status Order() {
    std::vector<Rv> batches, parts, rows;
    for (int i = 0; i < static_cast<int>(loops_.size()); ++i) {
      if (i == axes_.pair) continue;
      const bool is_part =
          joining_ && absl::c_linear_search(joining_->parts, i);
      (info_.axes[i].reduce ? reduce_
       : is_part            ? parts
       : SharesNearPanel(i) ? rows
       : IsBatch(i)         ? batches
                            : outer_)
          .push_back(loops_[i]);
    }
    if (choice_.columns_first) {
      const Rv columns = loops_[axes_.column];
      outer_.erase(std::find(outer_.begin(), outer_.end(), columns));
      outer_.insert(outer_.begin(), columns);
    }
    outer_.insert(outer_.begin(), batches.begin(), batches.end());
    KILN_RETURN_IF_ERROR(UnrollSteps());
    std::vector<Rv> columns(blocks_.begin(), blocks_.begin() + 1);
    rows.insert(rows.end(), blocks_.begin() + 1, blocks_.end());
    std::vector<Rv> all = outer_;
    for (const auto* loops : {&parts, &columns, &rows, &reduce_, &inner_}) {
      all.insert(all.end(), loops->begin(), loops->end());
    }
    all.push_back(lane_);
    if (IsPaired()) all.push_back(loops_[axes_.pair]);
    if (HasDots()) all.push_back(dot_);
    return sch_.Reorder(all);
  }

  int64_t InnermostSteps() const {
    const auto last =
        std::find_if(info_.axes.rbegin(), info_.axes.rend(),
                     [](const auto& axis) { return axis.reduce; });
    return (last->extent + axes_.dot_steps - 1) / axes_.dot_steps;
  }

  // Few steps are unrolled altogether, and so is the row of a window, of which
  // each step knows then where it is inside; of many steps some of the
  // innermost. Where the last dot product is short the innermost stay a loop,
  // which gets it as a part of its own.
  absl::Status UnrollSteps() {
    const bool is_short =
        HasDots() && info_.axes[axes_.unroll].extent % axes_.dot_steps != 0 &&
        InnermostSteps() > 1;
    const bool are_few = info_.ReduceSize() / axes_.dot_steps <= kFewSteps;
    if (is_short || are_few) {
      const std::ptrdiff_t unrolled = std::ssize(reduce_) - is_short;
      for (std::ptrdiff_t i = 0; are_few && i < unrolled; ++i) {
        KILN_RETURN_IF_ERROR(sch_.Unroll(reduce_[i]));
      }
      return absl::OkStatus();
    }
    if (InnermostSteps() <= kWindowSteps) return sch_.Unroll(reduce_.back());
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> factors,
        sch_.SamplePerfectTile(reduce_.back(), 2, kMaxTileSteps));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> steps,
                          sch_.Split(reduce_.back(), {factors[0], factors[1]}));
    reduce_.back() = steps[0];
    inner_.insert(inner_.begin(), steps[1]);
    return absl::OkStatus();
  }

  // outer loops that the operand moves with, reductions, blocks of rows of it:
  //   panels of columns, all rows of the output, the rows of the block
  absl::Status OrderStream(const ReadInfo& operand) {
    std::vector<Rv> rows;
    outer_.push_back(loops_[axes_.column]);
    for (int i = 0; i < static_cast<int>(loops_.size()); ++i) {
      if (i == axes_.column) continue;
      const bool moves = operand.Uses(i) || !MovesEvenly(info_, i);
      (info_.axes[i].reduce ? reduce_
       : moves              ? outer_
                            : rows)
          .push_back(loops_[i]);
    }
    std::vector<int64_t> heights = {64, 128, 256};
    if (choice_.tallest > heights.back()) heights.push_back(choice_.tallest);
    const std::vector<double> evenly(heights.size(), 1.0 / heights.size());
    KILN_ASSIGN_OR_RETURN(const Rv height,
                          sch_.SampleCategorical(heights, evenly));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> blocks,
                          sch_.Split(reduce_.back(), {Arg(), height}));
    KILN_ASSIGN_OR_RETURN(const Rv steps,
                          sch_.SampleCategorical({1, 2, 4}, {0.3, 0.4, 0.3}));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> unrolled,
                          sch_.Split(blocks[1], {Arg(), steps}));
    reduce_.back() = blocks[0];
    inner_.insert(inner_.begin(), unrolled[1]);
    std::vector<Rv> all = outer_;
    all.insert(all.end(), reduce_.begin(), reduce_.end());
    all.push_back(blocks_[0]);
    all.insert(all.end(), rows.begin(), rows.end());
    all.insert(all.end(), blocks_.begin() + 1, blocks_.end());
    all.push_back(unrolled[0]);
    all.insert(all.end(), inner_.begin(), inner_.end());
    all.push_back(lane_);
    return sch_.Reorder(all);
  }

  // The consumer, if there is one, is done on what an outer iteration sums up.
  absl::Status StoreChunk() {
    const std::optional<Rv> store = FuseConsumer(block_, outer_.back());
    if (!store) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch_.GetLoops(*store));
    return VectorizeInner(loops.back(), /*unroll=*/false);
  }

  // The tile goes to its place once, by a copy or by the consumer.
  absl::Status StoreTile() {
    Rv sums = block_;
    if (IsPaired()) {
      KILN_ASSIGN_OR_RETURN(sums, AddPairs());
    }
    std::optional<Rv> store = FuseConsumer(sums, blocks_.back());
    if (!store) {
      KILN_ASSIGN_OR_RETURN(store, sch_.CacheWrite(sums, 0, "local"));
      KILN_RETURN_IF_ERROR(sch_.ReverseComputeAt(*store, blocks_.back(), true));
    }
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch_.GetLoops(*store));
    KILN_RETURN_IF_ERROR(VectorizeInner(loops.back(), /*unroll=*/true));
    return UnrollRows(loops, loops.size() - info_.write_dims + IsPaired());
  }

  // Of the loops over the dimensions of the output, from `first` on.
  absl::Status UnrollRows(const std::vector<Rv>& loops, size_t first) {
    for (const int axis : {axes_.row, axes_.outer_row}) {
      if (axis < 0) continue;
      KILN_RETURN_IF_ERROR(
          sch_.Unroll(loops[first + info_.axes[axis].write_dim]));
    }
    return absl::OkStatus();
  }

  // The two sums of each element of the tile are added up: loops over the pair,
  // and over the dimensions of the output. Gives the block that adds them.
  absl::StatusOr<Rv> AddPairs() {
    KILN_ASSIGN_OR_RETURN(const Rv whole,
                          MoveOnlyConsumer(&sch_, block_, blocks_.back()));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch_.GetLoops(whole));
    const size_t pair = loops.size() - info_.write_dims;
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> columns,
                          sch_.Split(loops.back(), {Arg(), ColumnsStored()}));
    std::vector<Rv> order(loops.begin() + static_cast<std::ptrdiff_t>(pair) + 1,
                          loops.end() - 1);
    order.insert(order.end(), {columns[0], loops[pair], columns[1]});
    KILN_RETURN_IF_ERROR(sch_.Reorder(order));
    KILN_RETURN_IF_ERROR(sch_.Vectorize(columns[1]));
    KILN_RETURN_IF_ERROR(sch_.Unroll(columns[0]));
    KILN_RETURN_IF_ERROR(sch_.Unroll(loops[pair]));
    KILN_RETURN_IF_ERROR(UnrollRows(loops, pair + 1));
    return whole;
  }

  // All parts of what an outer iteration computes are joined there.
  absl::Status Join() {
    if (outer_.empty()) return absl::FailedPreconditionError("no outer loop");
    KILN_ASSIGN_OR_RETURN(const Rv join,
                          sch_.GetBlock(joining_->block.name, FunctionName()));
    KILN_RETURN_IF_ERROR(sch_.ReverseComputeAt(join, outer_.back(), true));
    return OrderChoices(&sch_, join, joining_->block.axes, 1, LaneCount())
        .status();
  }

  // The only consumer of `sums`, if it can be done in `loop`.
  std::optional<Rv> FuseConsumer(Rv sums, Rv loop) {
    if (!info_.is_for_tiles || Scatters()) return std::nullopt;
    Schedule trial = sch_;
    const absl::StatusOr<Rv> consumer = MoveOnlyConsumer(&trial, sums, loop);
    if (!consumer.ok()) {
      context_.WentOn("the consumer done on the tile", consumer.status());
      return std::nullopt;
    }
    sch_ = std::move(trial);
    return *consumer;
  }

  // Whether the consumer writes rows along an axis of which a tile has but one
  // element: later, when all are there, it writes whole rows.
  bool Scatters() const {
    const Function& f = FunctionOf(sch_, context_);
    const auto consumer = DescribeBlock(f, info_.consumers[0]);
    const int contiguous = consumer ? consumer->ContiguousAxis() : -1;
    if (contiguous < 0 || consumer->axes[contiguous].extent == 1) return false;
    const BlockNode& block = NodeOf(f, consumer->name);
    const Var& along = block.iters[contiguous].var;
    const BufferNode* sums = NodeOf(f, info_.name).writes[0].buffer.get();
    const auto read = absl::c_find_if(block.reads, [&](const BufferRegion& r) {
      return r.buffer.get() == sums;
    });
    if (read == block.reads.end()) return false;
    bool moves = false;
    for (size_t i = 0; i < info_.axes.size(); ++i) {
      const int dim = info_.axes[i].write_dim;
      if (dim < 0 || !UsesVar(read->region[dim].min, along)) continue;
      if (IsInTile(static_cast<int>(i))) return false;
      moves = true;
    }
    return moves;
  }

  bool IsInTile(int axis) const {
    return axis == axes_.column || axis == axes_.row || axis == axes_.outer_row;
  }

  static absl::StatusOr<Rv> MoveOnlyConsumer(Schedule* sch, Rv sums, Rv loop) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> consumers,
                          sch->GetConsumers(sums));
    if (consumers.size() != 1) {
      return absl::FailedPreconditionError("not one consumer");
    }
    KILN_RETURN_IF_ERROR(sch->ReverseComputeAt(consumers[0], loop, true));
    KILN_RETURN_IF_ERROR(sch->SetScope(sums, 0, "local"));
    return consumers[0];
  }

  absl::Status VectorizeInner(Rv loop, bool unroll) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                          sch_.Split(loop, {Arg(), ColumnsStored()}));
    KILN_RETURN_IF_ERROR(sch_.Vectorize(parts[1]));
    return unroll ? sch_.Unroll(parts[0]) : absl::OkStatus();
  }

  absl::Status Mark() {
    if (around_ == 0) {
      KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(outer_));
      KILN_RETURN_IF_ERROR(Parallel(&sch_, fused, context_));
    }
    if (IsPaired()) {
      KILN_ASSIGN_OR_RETURN(lane_, sch_.Fuse({lane_, loops_[axes_.pair]}));
    }
    KILN_RETURN_IF_ERROR(sch_.Vectorize(lane_));
    if (HasDots()) KILN_RETURN_IF_ERROR(sch_.Unroll(dot_));
    for (Rv loop : inner_) KILN_RETURN_IF_ERROR(sch_.Unroll(loop));
    return choice_.packed ? panels_.Mark(&sch_) : absl::OkStatus();
  }

  Schedule sch_;
  const size_t around_;
  const BlockInfo& info_;
  const TileAxes axes_;
  const TilingChoice choice_;
  const std::optional<Joining> joining_;
  const RuleContext& context_;
  SampledTile tile_;
  OperandPanels panels_;
  Rv block_, lane_, dot_;
  std::vector<Rv> loops_;                            // one for each axis
  std::vector<Rv> outer_, blocks_, reduce_, inner_;  // of the nest
};

}  // namespace

absl::StatusOr<RegisterNest> TileInRegisters(
    Schedule sch, const BlockInfo& info, const TileAxes& axes,
    const TilingChoice& choice, const std::optional<Joining>& joining,
    size_t around, const RuleContext& context) {
  return Tiling(std::move(sch), info, axes, choice, joining, around, context)
      .Run();
}

}  // namespace kiln
