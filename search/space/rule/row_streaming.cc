// A vector times a matrix takes as long as the matrix takes to be read, and
// memory is fastest where it is read in order. A register tile reads some
// columns of all rows, which lie far apart; here each thread reads its part of
// a few rows from one end to the other, then the next rows. The sums wait in
// the output, which is small. For 1 x 4096 x 4096 in two parts:
//
//   parallel p in 2:
//     C[p*2048 : +2048] = 0
//     for k0 in 1024, j in 32:        four rows, side by side
//       for k1 in 4, v in 4 (unrolled), 16 lanes:
//         C[p*2048 + j*64 + v*16 ..] += A[k0*4 + k1] * B[k0*4 + k1, ..]
//
// Up to 16 rows of A share what is read of B; more are worth a register tile
// over all of the sum. A constant matrix of one row is better laid out in the
// order in which a register tile reads it (tiling_choice.h).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {
namespace {

// Elements from which on reading the matrix is what takes the time.
constexpr double kLarge = 1 << 18;
constexpr int64_t kMostRows = 16;
constexpr int64_t kLeastVectors = 8;  // of a row of the matrix
constexpr int64_t kMostTogether = 4;  // vectors of a row, one after the other

// The axes of a product of few rows with a large matrix.
struct Streams {
  int column = -1, reduce = -1;
  std::vector<int> rows, outer;  // spatial ones that share the matrix, or not
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
  if (!info.has_init || streams.column < 0 || streams.reduce < 0 ||
      info.axes[streams.column].extent < kLeastVectors * lanes) {
    return std::nullopt;
  }
  const auto matrix = LargeMatrix(info, streams.column, streams.reduce);
  if (!matrix) return std::nullopt;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    if (info.axes[i].reduce || i == streams.column) continue;
    (matrix->Uses(i) ? streams.outer : streams.rows).push_back(i);
    if (!matrix->Uses(i)) streams.row_count *= info.axes[i].extent;
  }
  if (streams.row_count > kMostRows) return std::nullopt;
  return streams;
}

class Streaming {
 public:
  Streaming(Schedule sch, const BlockInfo& info, const Streams& streams,
            const RuleContext& context)
      : sch_(std::move(sch)),
        info_(info),
        streams_(streams),
        context_(context) {}

  absl::StatusOr<Schedule> Run() {
    KILN_ASSIGN_OR_RETURN(
        block_, sch_.GetBlock(info_.name, FunctionOf(sch_, context_).name));
    KILN_ASSIGN_OR_RETURN(loops_, sch_.GetLoops(block_));
    KILN_RETURN_IF_ERROR(SplitColumns());
    KILN_RETURN_IF_ERROR(SplitSteps());
    KILN_RETURN_IF_ERROR(Order());
    FuseConsumer(part_);
    KILN_ASSIGN_OR_RETURN(const Rv fused, sch_.Fuse(outer_));
    KILN_RETURN_IF_ERROR(Parallel(&sch_, fused, context_));
    KILN_RETURN_IF_ERROR(sch_.Vectorize(lane_));
    for (const Rv loop : inner_) KILN_RETURN_IF_ERROR(sch_.Unroll(loop));
    KILN_RETURN_IF_ERROR(sch_.DecomposeReduction(block_, reduce_[0]).status());
    return sch_;
  }

 private:
  int64_t Lanes() const { return context_.registers.Floats(); }

  // Vectors of each row for which there are registers, with their sums.
  int64_t Together() const {
    const int64_t fit =
        (context_.registers.ForTiles() - 1) / (streams_.row_count + 1);
    return std::clamp<int64_t>(fit, 1, kMostTogether);
  }

  absl::Status SplitColumns() {
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> lanes,
        sch_.Split(loops_[streams_.column], {Arg(), Lanes()}));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> vectors,
                          sch_.Split(lanes[0], {Arg(), Together()}));
    std::vector<int64_t> parts;
    const int64_t steps = info_.axes[streams_.column].extent / Lanes();
    for (int64_t p = 1; p <= 16 && p * kLeastVectors <= steps; p *= 2) {
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
    vectors_ = vectors[1];
    lane_ = lanes[1];
    return absl::OkStatus();
  }

  // Some rows of the matrix at a time.
  absl::Status SplitSteps() {
    const int64_t extent = info_.axes[streams_.reduce].extent;
    std::vector<int64_t> steps;
    for (const int64_t s : {8, 4, 2}) {
      if (extent % s == 0) steps.push_back(s);
    }
    if (steps.empty()) steps.push_back(1);
    KILN_ASSIGN_OR_RETURN(
        const Rv step,
        sch_.SampleCategorical(
            steps, std::vector<double>(steps.size(), 1.0 / steps.size())));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> split,
                          sch_.Split(loops_[streams_.reduce], {Arg(), step}));
    loops_[streams_.reduce] = split[0];
    inner_.push_back(split[1]);
    return absl::OkStatus();
  }

  absl::Status Order() {
    for (const int axis : streams_.outer) outer_.push_back(loops_[axis]);
    outer_.push_back(part_);
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (info_.axes[i].reduce) reduce_.push_back(loops_[i]);
    }
    for (const int axis : streams_.rows) inner_.push_back(loops_[axis]);
    inner_.push_back(vectors_);
    std::vector<Rv> all = outer_;
    absl::c_copy(reduce_, std::back_inserter(all));
    all.push_back(column_);
    absl::c_copy(inner_, std::back_inserter(all));
    all.push_back(lane_);
    return sch_.Reorder(all);
  }

  // The only consumer is done on a part when its sums are complete, if it can.
  void FuseConsumer(Rv loop) {
    if (info_.consumers.size() != 1 || info_.is_output) return;
    Schedule trial = sch_;
    const absl::Status moved = MoveConsumer(&trial, loop);
    if (moved.ok()) {
      sch_ = std::move(trial);
    } else {
      context_.WentOn("the consumer done on each part", moved);
    }
  }

  absl::Status MoveConsumer(Schedule* sch, Rv loop) const {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> consumers,
                          sch->GetConsumers(block_));
    if (consumers.size() != 1) {
      return absl::FailedPreconditionError("not one consumer");
    }
    KILN_RETURN_IF_ERROR(sch->ReverseComputeAt(consumers[0], loop, true));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops,
                          sch->GetLoops(consumers[0]));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> lanes,
                          sch->Split(loops.back(), {Arg(), Lanes()}));
    return sch->Vectorize(lanes[1]);
  }

  Schedule sch_;
  const BlockInfo& info_;
  const Streams& streams_;
  const RuleContext& context_;
  Rv block_, part_, column_, vectors_, lane_;
  std::vector<Rv> loops_;  // one for each axis
  std::vector<Rv> outer_, reduce_, inner_;
};

}  // namespace

std::vector<Schedule> RowStreaming(const Schedule& sch,
                                   const std::string& block,
                                   const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || info->ReducesContiguously()) return {};
  const auto axes = ChooseTileAxes(*info);
  if (axes && ConstantUsedOnce(*info, *axes)) return {};
  const auto streams = FindStreams(*info, context.registers.Floats());
  if (!streams) return {};
  std::vector<Schedule> made =
      OnlyWay(Streaming(sch, *info, *streams, context).Run(), context);
  if (!made.empty()) made.push_back(sch);  // for a register tile
  return made;
}

}  // namespace kiln
