// Softmax, for one, where the sums are done in vectors (vector_reduction.h):
//
//   parallel i0:
//     i1:                          the row i
//       highest[i] = max A[i, :]
//       E[i, :] = exp(A[i, :] - highest[i])
//       total[i] = sum E[i, :]
//       B[i, :] = E[i, :] / total[i]
//
// so that what is computed for a row stays in the nearest cache.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/row_chain.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// Of fewer rows, only short ones: parts of a long one may run in parallel.
constexpr int64_t kLeastRows = 8;
constexpr int64_t kShortRow = 2048;
constexpr int64_t kMostRows = 64;   // of one parallel iteration
constexpr size_t kLoopsAround = 2;  // the blocks of a chain

int64_t RowsOf(const BlockInfo& info, size_t rows) {
  int64_t count = 1;
  for (size_t i = 0; i < rows; ++i) count *= info.axes[i].extent;
  return count;
}

// Whether rows may be in the lanes of register tiles: those of sums of which
// loads reach the next row, and those of several sums, one of which may do.
bool SuitsTiles(const BlockInfo& info) {
  return info.CountReduce() > 1 ||
         (info.CountReduce() == 1 && info.axes.back().reduce &&
          info.axes.back().extent <= kMostLaneStep);
}

// Whether the blocks that follow belong to the chain, too. Where one of them
// does not, what the others are the end of does not hold this one.
bool GoesOn(const Function& f, const RowChain& chain) {
  const BlockInfo& last = chain.blocks[0];
  const auto follows = [&](const std::string& next) {
    const auto info = DescribeBlock(f, next);
    return info && IsRowwise(*info, last, chain.rows);
  };
  return !last.consumers.empty() && absl::c_all_of(last.consumers, follows);
}

// The chain that ends with the block called `name`; nullopt where there is
// none, or where the blocks that follow belong to it too.
std::optional<RowChain> FindChain(const Function& f, const std::string& name) {
  const auto last = DescribeBlock(f, name);
  if (!last || last->axes.empty()) return std::nullopt;
  const auto sums = static_cast<size_t>(std::max(last->CountReduce(), 1));
  for (const size_t rows : {last->axes.size() - sums, last->axes.size()}) {
    const auto chain = RowChainTo(f, *last, rows);
    if (!chain) continue;
    if (GoesOn(f, *chain)) return std::nullopt;
    const bool is_worth =
        RowsOf(*last, rows) >= kLeastRows || chain->RowLength() < kShortRow;
    if (is_worth && chain->HasReduction()) return chain;
  }
  return std::nullopt;
}

// Whether `part` rows that follow one another in the first `axes` of the block
// are a box of them: a part of the last axis, or some of them whole.
bool IsBox(const BlockInfo& info, size_t axes, int64_t part) {
  while (axes > 1 && part % info.axes[axes - 1].extent == 0) {
    part /= info.axes[--axes].extent;
  }
  return info.axes[axes - 1].extent % part == 0;
}

// How many rows of several axes one parallel iteration may take.
std::vector<int64_t> PartsOfRows(const BlockInfo& info, size_t axes) {
  std::vector<int64_t> parts;
  for (int64_t part = 1; part <= kMostRows; ++part) {
    if (IsBox(info, axes, part)) parts.push_back(part);
  }
  return parts;
}

class RowFusion {
 public:
  RowFusion(Schedule sch, const RowChain& chain, const RuleContext& context)
      : sch_(std::move(sch)), chain_(chain), context_(context) {}

  absl::StatusOr<Schedule> Run() {
    KILN_RETURN_IF_ERROR(FindBlocks());
    KILN_ASSIGN_OR_RETURN(const Rv row, SplitRows());
    for (size_t i = 1; i < blocks_.size(); ++i) {
      KILN_RETURN_IF_ERROR(sch_.ComputeAt(blocks_[i], row, true));
    }
    KILN_ASSIGN_OR_RETURN(const Rv width, SampleRowWidth(&sch_, context_));
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!infos_[i]) continue;  // a copy of sums
      KILN_RETURN_IF_ERROR(VectorizeRow(&sch_, blocks_[i], *infos_[i],
                                        chain_.rows, kLoopsAround, width,
                                        context_));
    }
    return sch_;
  }

 private:
  // The blocks of the chain. A sum at its end is made into a copy of the sum.
  absl::Status FindBlocks() {
    const std::string& function = FunctionOf(sch_, context_).name;
    for (const BlockInfo& info : chain_.blocks) {
      KILN_ASSIGN_OR_RETURN(const Rv block, sch_.GetBlock(info.name, function));
      if (blocks_.empty() && ReducesRows(info, chain_.rows)) {
        KILN_ASSIGN_OR_RETURN(const Rv copy,
                              sch_.CacheWrite(block, 0, "local"));
        blocks_.push_back(copy);
        infos_.push_back(nullptr);
      }
      blocks_.push_back(block);
      infos_.push_back(&info);
    }
    return absl::OkStatus();
  }

  // The loop over rows of one parallel iteration.
  absl::StatusOr<Rv> SplitRows() {
    KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch_.GetLoops(blocks_[0]));
    loops.resize(chain_.rows);
    KILN_ASSIGN_OR_RETURN(
        const std::vector<Rv> parts,
        loops.size() > 1 ? SplitAxes(loops) : SplitAxis(loops[0]));
    KILN_RETURN_IF_ERROR(Parallel(&sch_, parts[0], context_));
    return parts[1];
  }

  absl::StatusOr<std::vector<Rv>> SplitAxis(Rv rows) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> factors,
                          sch_.SamplePerfectTile(rows, 2, kMostRows));
    return sch_.Split(rows, {factors[0], factors[1]});
  }

  absl::StatusOr<std::vector<Rv>> SplitAxes(const std::vector<Rv>& loops) {
    KILN_ASSIGN_OR_RETURN(const Rv rows, sch_.Fuse(loops));
    const std::vector<int64_t> parts =
        PartsOfRows(chain_.blocks[0], chain_.rows);
    KILN_ASSIGN_OR_RETURN(
        const Rv part,
        sch_.SampleCategorical(
            parts, std::vector<double>(parts.size(), 1.0 / parts.size())));
    return sch_.Split(rows, {Arg(), part});
  }

  Schedule sch_;
  const RowChain& chain_;
  const RuleContext& context_;
  std::vector<Rv> blocks_;
  std::vector<const BlockInfo*> infos_;  // of blocks_
};

}  // namespace

std::vector<Schedule> RowReductions(const Schedule& sch,
                                    const std::string& block,
                                    const RuleContext& context) {
  const std::optional<RowChain> chain =
      FindChain(FunctionOf(sch, context), block);
  if (!chain) return {};
  std::vector<Schedule> made =
      OnlyWay(RowFusion(sch, *chain, context).Run(), context);
  const bool have_tiles = absl::c_any_of(chain->blocks, SuitsTiles);
  if (!made.empty() && have_tiles) made.push_back(sch);
  return made;
}

}  // namespace kiln
