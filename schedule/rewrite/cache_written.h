// What of a tensor is written before a copy reads it: all of the copy's box, or
// what the copy has to leave out.
#ifndef KILN_SCHEDULE_REWRITE_CACHE_WRITTEN_H_
#define KILN_SCHEDULE_REWRITE_CACHE_WRITTEN_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/cache_copy.h"

namespace kiln {

// The block that writes a tensor, and where the copy stands: within the `depth`
// outer ones of the writer's loops. Keeps nothing alive.
struct CacheWriter {
  const Scope& scope;
  int index;  // among the scope's blocks
  const Buffer& tensor;
  size_t depth;
  std::string_view primitive;  // refuses
  const ScopeBlock& block() const { return scope.blocks[index]; }
};

// Knows the iterators of the enclosing block and the loops of block `index`
// (-1: none).
Analyzer BindLoops(const Scope& scope, int index);

// The box that the writer touches while the copy's place stands still; all of a
// dimension where that cannot be told.
std::vector<Range> WrittenBox(const CacheWriter& writer);

// An error unless the writer, but for its predicate, writes every element of
// `box`, its WrittenBox: every other row, say, leaves gaps.
absl::Status CheckNoGaps(const CacheWriter& writer,
                         const std::vector<Range>& box);

// Leaves out of the copy, whose box is the WrittenBox, what the predicate and
// the extents of the writer's loops keep it from writing. An error where no
// copy can tell.
absl::Status LimitToWritten(const CacheWriter& writer, CacheCopy* copy);

// An error unless the box of `tensor` that the block at `path` declares to read
// has a value when it starts: a copy of it reads all, its consumers maybe some.
absl::Status CheckHeld(const Function& f, const Path& path,
                       const Buffer& tensor, std::string_view primitive);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_CACHE_WRITTEN_H_
