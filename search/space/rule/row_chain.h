// Blocks that compute rows, one from the other, as the largest element, the
// exponentials, their sum and the quotients of softmax.
#ifndef KILN_SEARCH_SPACE_RULE_ROW_CHAIN_H_
#define KILN_SEARCH_SPACE_RULE_ROW_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule_context.h"

namespace kiln {

// Whether the first `rows` axes of `info` have the extents of those of `last`,
// and are the first dimensions of what it writes.
bool HasRows(const BlockInfo& info, const BlockInfo& last, size_t rows);

// Whether the block reduces each row of contiguous elements to one.
bool ReducesRows(const BlockInfo& info, size_t rows);

// Whether the block is computed row by row, with nothing done twice.
bool IsRowwise(const BlockInfo& info, const BlockInfo& last, size_t rows);

// The first `rows` axes of each block are the same.
struct RowChain {
  std::vector<BlockInfo> blocks;  // consumers first
  size_t rows = 0;

  bool Holds(const std::string& name) const;
  bool HasReduction() const;
  // The elements of a row, where it has most.
  int64_t RowLength() const;
};

// The chain that ends with `last`, with all producers whose rows only the chain
// uses; nullopt where `last` does not compute rows.
std::optional<RowChain> RowChainTo(const Function& f, const BlockInfo& last,
                                   size_t rows);

// How many elements a vector of a row has.
absl::StatusOr<Rv> SampleRowWidth(Schedule* sch, const RuleContext& context);

// Vectorizes what the block computes of a row. There are other blocks in its
// `around` outermost loops.
absl::Status VectorizeRow(Schedule* sch, Rv block, const BlockInfo& info,
                          size_t rows, size_t around, Rv width,
                          const RuleContext& context);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_ROW_CHAIN_H_
