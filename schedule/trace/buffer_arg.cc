#include "kiln/schedule/trace/buffer_arg.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

int IndexOfName(const std::vector<BufferRegion>& regions,
                const std::string& name) {
  for (size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].buffer->name == name) return static_cast<int>(i);
  }
  return -1;
}

absl::StatusOr<int> ToIndex(int64_t value, std::string_view primitive) {
  if (value < -1000 || value > 1000) {
    return BadArgument(primitive,
                       absl::StrCat("there is no buffer index ", value));
  }
  return static_cast<int>(value);
}

absl::Status NoSuchBuffer(const BlockNode& block, const std::string& name,
                          std::string_view verb, std::string_view primitive) {
  return Refusal(primitive,
                 absl::StrCat(Describe(block), " ", std::string(verb),
                              " no buffer called `", name, "`"));
}

}  // namespace

absl::StatusOr<int> BufferIndex(const Function& f, BlockId id, const Arg& arg,
                                BufferSide side, std::string_view primitive) {
  if (arg.integer()) return ToIndex(*arg.integer(), primitive);
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, id, primitive));
  const BlockNode& block = *path.realize()->block;
  const bool reads = side == BufferSide::kRead;
  const int index =
      IndexOfName(reads ? block.reads : block.writes, *arg.string());
  if (index >= 0) return index;
  return NoSuchBuffer(block, *arg.string(), reads ? "reads" : "writes",
                      primitive);
}

absl::StatusOr<BufferPosition> FindBuffer(const Function& f, BlockId id,
                                          const Arg& arg,
                                          std::string_view primitive) {
  if (arg.list()) {
    const auto side = *(*arg.list())[0].string() == "read" ? BufferSide::kRead
                                                           : BufferSide::kWrite;
    KILN_ASSIGN_OR_RETURN(const int index,
                          ToIndex(*(*arg.list())[1].integer(), primitive));
    return BufferPosition{side, index};
  }
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, id, primitive));
  const BlockNode& block = *path.realize()->block;
  const std::string& name = *arg.string();
  int index = IndexOfName(block.writes, name);
  if (index >= 0) return BufferPosition{BufferSide::kWrite, index};
  index = IndexOfName(block.reads, name);
  if (index >= 0) return BufferPosition{BufferSide::kRead, index};
  return NoSuchBuffer(block, name, "reads or writes", primitive);
}

}  // namespace kiln
