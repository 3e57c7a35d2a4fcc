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

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/vector_reduction.h"

namespace kiln {
namespace {

// Of fewer rows, only short ones: parts of a long one may run in parallel.
constexpr int64_t kLeastRows = 8;
constexpr int64_t kShortRow = 2048;
constexpr int64_t kMostRows = 64;   // of one parallel iteration
constexpr size_t kLoopsAround = 2;  // the blocks of a chain

// Blocks that compute rows: the first `rows` axes of each are the same.
struct Chain {
  std::vector<BlockInfo> blocks;  // consumers first
  size_t rows = 0;
};

// Whether the first axes of `info` are those of `last`, and index its output.
bool HasRows(const BlockInfo& info, const BlockInfo& last, size_t rows) {
  if (info.axes.size() < rows) return false;
  for (size_t i = 0; i < rows; ++i) {
    if (info.axes[i].write_dim != static_cast<int>(i)) return false;
    if (info.axes[i].extent != last.axes[i].extent) return false;
  }
  return true;
}

bool ReducesRows(const BlockInfo& info, size_t rows) {
  return info.ReducesContiguously() && info.CountReduce() == 1 &&
         info.axes.back().reduce && info.axes.size() == rows + 1 &&
         info.write_dims == static_cast<int>(rows);
}

// Whether the block is computed row by row, with nothing done twice.
bool IsRowwise(const BlockInfo& info, const BlockInfo& last, size_t rows) {
  if (!HasRows(info, last, rows)) return false;
  if (ReducesRows(info, rows)) return true;
  return info.is_elementwise &&
         (info.axes.size() == rows || info.axes.size() == rows + 1);
}

// The elements of a row, where it has most.
int64_t RowLength(const Chain& chain) {
  int64_t longest = 1;
  for (const BlockInfo& block : chain.blocks) {
    if (block.axes.size() == chain.rows) continue;
    longest = std::max(longest, block.axes.back().extent);
  }
  return longest;
}

bool Holds(const Chain& chain, const std::string& name) {
  return std::any_of(chain.blocks.begin(), chain.blocks.end(),
                     [&](const BlockInfo& b) { return b.name == name; });
}

// Adds the producers whose rows only the chain uses, consumers first.
void Extend(const Function& f, Chain* chain) {
  const BlockInfo last = chain->blocks[0];
  const std::vector<std::string> names = RootBlocks(f);
  for (size_t i = names.size(); i-- > 0;) {
    const auto info = DescribeBlock(f, names[i]);
    if (!info || info->is_output || info->consumers.empty()) continue;
    const bool inside = std::all_of(
        info->consumers.begin(), info->consumers.end(),
        [&](const std::string& name) { return Holds(*chain, name); });
    if (inside && IsRowwise(*info, last, chain->rows)) {
      chain->blocks.push_back(*info);
    }
  }
}

bool HasReduction(const Chain& chain) {
  return std::any_of(
      chain.blocks.begin(), chain.blocks.end(),
      [&](const BlockInfo& b) { return ReducesRows(b, chain.rows); });
}

int64_t RowsOf(const BlockInfo& info, size_t rows) {
  int64_t count = 1;
  for (size_t i = 0; i < rows; ++i) count *= info.axes[i].extent;
  return count;
}

// The chain that ends with the block called `name`; nullopt where there is
// none, or where a block that follows belongs to it too.
std::optional<Chain> FindChain(const Function& f, const std::string& name) {
  const auto last = DescribeBlock(f, name);
  if (!last || last->axes.empty()) return std::nullopt;
  for (const size_t rows : {last->axes.size() - 1, last->axes.size()}) {
    if (rows == 0 || !IsRowwise(*last, *last, rows)) continue;
    for (const std::string& next : last->consumers) {
      const auto info = DescribeBlock(f, next);
      if (info && IsRowwise(*info, *last, rows)) return std::nullopt;
    }
    Chain chain{{*last}, rows};
    Extend(f, &chain);
    const bool is_worth =
        RowsOf(*last, rows) >= kLeastRows || RowLength(chain) < kShortRow;
    if (is_worth && HasReduction(chain)) return chain;
  }
  return std::nullopt;
}

class RowFusion {
 public:
  RowFusion(Schedule sch, const Chain& chain, const RuleContext& context)
      : sch_(std::move(sch)), chain_(chain), context_(context) {}

  absl::StatusOr<Schedule> Run() {
    KILN_RETURN_IF_ERROR(FindBlocks());
    KILN_ASSIGN_OR_RETURN(const Rv row, SplitRows());
    for (size_t i = 1; i < blocks_.size(); ++i) {
      KILN_RETURN_IF_ERROR(sch_.ComputeAt(blocks_[i], row, true));
    }
    KILN_ASSIGN_OR_RETURN(width_, SampleWidth());
    for (size_t i = 0; i < blocks_.size(); ++i) {
      KILN_RETURN_IF_ERROR(Vectorize(blocks_[i], infos_[i]));
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
    Rv rows = loops[0];
    if (loops.size() > 1) {
      KILN_ASSIGN_OR_RETURN(rows, sch_.Fuse(loops));
    }
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> factors,
                          sch_.SamplePerfectTile(rows, 2, kMostRows));
    KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                          sch_.Split(rows, {factors[0], factors[1]}));
    KILN_RETURN_IF_ERROR(Parallel(&sch_, parts[0], context_));
    return parts[1];
  }

  absl::StatusOr<Rv> SampleWidth() {
    const int64_t lanes = context_.registers.Floats();
    return sch_.SampleCategorical({lanes, 2 * lanes, 4 * lanes},
                                  {0.3, 0.4, 0.3});
  }

  // `info` is null for a copy of sums.
  absl::Status Vectorize(Rv block, const BlockInfo* info) {
    if (!info || info->axes.size() == chain_.rows) return absl::OkStatus();
    const int64_t columns = info->axes.back().extent;
    if (!ReducesRows(*info, chain_.rows)) {
      if (columns < context_.registers.Floats()) return absl::OkStatus();
      return VectorizeLastIter(&sch_, context_.function, block, kLoopsAround,
                               width_);
    }
    KILN_ASSIGN_OR_RETURN(
        const VectorReduction sum,
        VectorReduction::Make(&sch_, block, static_cast<int>(chain_.rows),
                              kLoopsAround, columns, context_));
    return sum.Vectorize(&sch_);
  }

  Schedule sch_;
  const Chain& chain_;
  const RuleContext& context_;
  std::vector<Rv> blocks_;
  std::vector<const BlockInfo*> infos_;  // of blocks_
  Rv width_;                             // of vectors
};

}  // namespace

std::vector<Schedule> RowReductions(const Schedule& sch,
                                    const std::string& block,
                                    const RuleContext& context) {
  const std::optional<Chain> chain = FindChain(FunctionOf(sch, context), block);
  if (!chain) return {};
  return OnlyWay(RowFusion(sch, *chain, context).Run(), context);
}

}  // namespace kiln
