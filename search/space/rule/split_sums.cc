// A matrix of which each core reads a part in every call stays in the second
// caches of all cores together, if these hold it. A core that reads some of the
// columns reads a piece of each row: pieces lie a row apart, so that they fall
// on some of the cache's sets only where a row is a power of two long, and the
// core, which asks ahead for what follows, asks for the columns of others. So
// the sum is split between the cores, each of which reads whole rows:
//
//   parallel p in 2:
//     C_rf[p, 0:1024] = sum over k in 512: A[p*512 + k] * B[p*512 + k, 0:1024]
//   C = C_rf[0] + C_rf[1]
//
// Two cores of a Xeon with 2 MiB each take 36 us for 1 x 1024 x 1024, and 76
// with half of the columns each; 64 and 138 for five rows. Rules for what is
// made of few rows and a matrix (row_streaming.cc) go on with the parts.
//
// So are sums of columns, each element of which is read once: the average of
// 56 x 56 pixels of 144 channels, which are nine vectors, has too few columns
// for two cores to share them evenly.
#include <algorithm>
#include <cstdint>
#include <optional>
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

// Of a matrix a little larger, a good part stays.
constexpr double kMostOfCaches = 1.25;
// Of eight rows of 1024 x 1024 the sums take about as long as the matrix.
constexpr int64_t kMostRows = 8;
constexpr int64_t kLeastColumns = 256;   // of which each core reads a piece
constexpr int64_t kLeastSteps = 32;      // of a part of the sum
constexpr int64_t kMostOfCore = 8;       // parts
constexpr double kLeastBytes = 1 << 20;  // beside which the last sum is little
// Of columns that are summed up: more are shared out between the cores, fewer
// bytes take one core no longer than to wake another.
constexpr int64_t kMostSums = 512;
constexpr double kLeastSummed = 1 << 18;

// The operand that has a row for each step of the sum, used by all of the few
// rows of the output.
const ReadInfo* FindMatrix(const BlockInfo& info, int column, int reduce) {
  const auto at = absl::c_find_if(info.reads, [&](const ReadInfo& read) {
    const auto& step = read.strides[reduce];
    return read.strides[column] == 1.0 && step &&
           *step >= static_cast<double>(info.axes[column].extent);
  });
  return at == info.reads.end() ? nullptr : &*at;
}

bool WaitsInAllCores(const ReadInfo& matrix, const BlockNode& block,
                     const RuleContext& context) {
  const double bytes =
      matrix.elements * block.reads[matrix.index].buffer->dtype.bytes();
  return bytes >= kLeastBytes &&
         bytes <= kMostOfCaches *
                      static_cast<double>(context.cores * context.l2_bytes);
}

// Parts of a sum of `extent` times `inner` steps: as many as there are cores,
// or, where these do not divide the extent, a few more, with which the longest
// share is shortest. One core of two takes 7 of 13 parts of 1027 steps. 0: none
// of more than a few steps.
int64_t PartsOf(int64_t extent, int64_t inner, int64_t cores) {
  int64_t best = 0;
  const auto share = [&](int64_t parts) {
    return static_cast<double>((parts + cores - 1) / cores) /
           static_cast<double>(parts);
  };
  for (int64_t parts = cores; parts <= kMostOfCore * cores; ++parts) {
    if (extent % parts != 0 || extent / parts * inner < kLeastSteps) continue;
    if (best == 0 || share(parts) < share(best)) best = parts;
  }
  return best;
}

// Whether the block multiplies a few rows with a matrix that such a split keeps
// in the caches.
bool IsOfFewRows(const BlockInfo& info, const BlockNode& block,
                 const RuleContext& context) {
  const int column = info.ContiguousAxis();
  if (info.CountReduce() != 1 || info.axes[column].extent < kLeastColumns ||
      info.SpatialSize() > kMostRows * info.axes[column].extent) {
    return false;
  }
  const int reduce = static_cast<int>(info.axes.size()) - 1;
  const ReadInfo* matrix = FindMatrix(info, column, reduce);
  return matrix && WaitsInAllCores(*matrix, block, context);
}

// Whether it adds up columns of an operand of which it reads each element once,
// of too few rows (parts of other sums, for one) for each core to take some.
bool SumsColumns(const BlockInfo& info, const BlockNode& block,
                 const RuleContext& context) {
  const int64_t columns = info.axes[info.ContiguousAxis()].extent;
  if (info.SpatialSize() > kMostSums ||
      info.SpatialSize() >= context.cores * columns) {
    return false;
  }
  const double steps = static_cast<double>(info.SpatialSize()) *
                       static_cast<double>(info.ReduceSize());
  return absl::c_any_of(info.reads, [&](const ReadInfo& read) {
    return read.strides[info.ContiguousAxis()] == 1.0 &&
           read.elements >= steps &&
           steps * block.reads[read.index].buffer->dtype.bytes() >=
               kLeastSummed;
  });
}

struct SumSplit {
  int axis;  // the outermost reduction
  int64_t parts;
};

// How to split the reductions of a block that such a split helps.
std::optional<SumSplit> FindSplit(const BlockInfo& info, const BlockNode& block,
                                  const RuleContext& context) {
  if (!info.has_init || info.ContiguousAxis() < 0 || info.CountReduce() == 0) {
    return std::nullopt;
  }
  const int axis =
      static_cast<int>(info.axes.size()) - static_cast<int>(info.CountReduce());
  for (size_t i = axis; i < info.axes.size(); ++i) {
    if (!info.axes[i].reduce) return std::nullopt;
  }
  if (!IsOfFewRows(info, block, context) &&
      !SumsColumns(info, block, context)) {
    return std::nullopt;
  }
  const int64_t extent = info.axes[axis].extent;
  const int64_t parts =
      PartsOf(extent, info.ReduceSize() / extent, context.cores);
  if (parts == 0) return std::nullopt;
  return SumSplit{axis, parts};
}

absl::StatusOr<Schedule> Split(Schedule sch, const BlockInfo& info,
                               const SumSplit& split,
                               const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv block,
                        sch.GetBlock(info.name, FunctionOf(sch, context).name));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch.GetLoops(block));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                        sch.Split(loops[split.axis], {split.parts, Arg()}));
  KILN_ASSIGN_OR_RETURN(const Rv sums, sch.Rfactor(parts[0], 0));
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> order, sch.GetLoops(sums));
  const auto part = order.begin() + split.axis;
  std::rotate(order.begin(), part, part + 1);
  KILN_RETURN_IF_ERROR(sch.Reorder(order));
  return sch;
}

}  // namespace

std::vector<Schedule> SplitSums(const Schedule& sch, const std::string& block,
                                const RuleContext& context) {
  if (context.cores < 2 || !RunsInParallel(context)) return {};
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info) return {};
  const auto axes = ChooseTileAxes(*info);
  if (axes && ConstantUsedOnce(*info, *axes)) return {};
  const auto split = FindSplit(*info, NodeOf(f, block), context);
  if (!split) return {};
  auto made = OnlyWay(Split(sch, *info, *split, context), context);
  if (!made.empty()) made.push_back(sch);  // for parts of the columns
  return made;
}

}  // namespace kiln
