// What a copy between a tensor and its cache moves, and blocks that use the
// cache instead of the tensor.
#ifndef KILN_SCHEDULE_REWRITE_CACHE_COPY_H_
#define KILN_SCHEDULE_REWRITE_CACHE_COPY_H_

#include <string>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/analysis/predicate_bounds.h"
#include "kiln/schedule/analysis/property.h"

namespace kiln {

// What a copy moves: a box of the tensor, and the buffer for it.
struct CacheCopy {
  std::vector<Range> box;  // of the tensor
  Buffer cache;
  bool is_whole = true;  // the cache has the tensor's shape and indices
  Expr writer_runs = Bool(true);  // as far as loops around the copy decide it
  std::vector<PredicateBound>
      cuts;  // what they leave out of the box is not copied
  // Conditions for the loops of the writer to run at all, where loops around
  // the copy decide that.
  std::vector<Expr> loops_run;
};

// Whether the box lies within the tensor in each instance of the block around.
// A single index does where the block cannot but use it.
bool IsWithinTensor(const BlockNode& scope, const Buffer& tensor,
                    const std::vector<Range>& box);

// Why the box lies elsewhere when the copy runs than when the cache is used: a
// bound of it loads from a buffer that is written in between, as `is_written`
// says.
Reason WhyBoxMoves(const std::vector<Range>& box,
                   FunctionRef<bool(const Buffer&)> is_written);

// Like `buffer`, in other memory.
Buffer MakeCacheBuffer(const Buffer& buffer, const std::string& scope,
                       std::vector<Expr> shape);

// for ax0...: with block: cache[v] = tensor[v], or the other way round.
// `around` tells what is known where the copy stands; it is asked only where
// the iterators may leave their domains. Takes ids of `f`; `*copy_id` is the
// block's.
Stmt MakeCopy(const Buffer& tensor, const CacheCopy& copy, bool into_cache,
              FunctionRef<Analyzer()> around, Function* f, BlockId* copy_id);

// `body` with the accesses of the tensor in the named blocks redirected to the
// cache: loads and read regions, and with `writes` also stores and written
// regions. Blocks without accesses stay shared.
Stmt RedirectBlocks(const Stmt& body, const std::vector<BlockId>& blocks,
                    const Buffer& tensor, const CacheCopy& copy, bool writes);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_CACHE_COPY_H_
