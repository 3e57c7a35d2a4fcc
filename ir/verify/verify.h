// Whether a program is well formed. What passes here, every later stage may
// rely on.
//
// At both levels: variables and buffers are used only where they are defined;
// operands have the types that their operators want; indices are int64, one
// for each dimension, and only the last may be a vector; conditions are bool;
// thread tags are known; the bytes of a buffer fit an int64.
//
// Also at both levels: no instance that is known to be reached has an index
// outside of its buffer, or an iterator outside of its domain (bounds.h). What
// data or the extents of a call decide passes here; UnprovenAccesses lists it.
//
// Of regions: what a block, without its inner blocks, loads is held by one of
// its reads, what it and its init store by one of its writes, and what inner
// blocks state likewise. (A block with an init may leave out of its reads what
// is among its writes.) Held means proved, for all instances in which the
// conditions around the access hold: steps that move blocks rely on it. So
//
// - a region may be wider than the accesses, and reach beyond the buffer;
// - an index that comes from data is held by the whole of its dimension, or by
//   bounds that follow from its form, such as X[i] % 8;
// - a load that stands in a stated region itself, as X[i] in A[X[i], 0:8], is
//   read as said, if nothing in the function writes that buffer;
// - what can be neither proved nor disproved is refused, unless the region is
//   listed in explicit_read_region or explicit_write_region, which say that it
//   was told by hand;
// - an access through a match_buffer counts for its source, and one through a
//   declared view for all of the buffer whose storage it shares;
// - code that is handed an address is held to the names of buffers: what it
//   touches is what the block states.
//
// The root block is held to nothing.
//
// Of blocks: the body is the realization of a root block; every loop variable,
// iterator and allocation is defined once in the function; ids are unique,
// positive and below next_id; each iterator has one binding; the body of a
// block with iterators does not use the loops around it, those bound to threads
// apart; regions have the rank of their buffer; the attribute
// layout_free_buffers lists tensor parameters that are not written (stores
// through a match_buffer apart); the attribute numerics is "strict",
// "componentwise" or "normwise".
//
// Of lowered functions: there are no blocks. Copies of a loop (from unrolling
// or partition) may define a variable again, though not inside its own scope.
//
// An error tells the place as a path: `main / for i / block "C" / for k`.
#ifndef KILN_IR_VERIFY_VERIFY_H_
#define KILN_IR_VERIFY_VERIFY_H_

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

enum class VerifyLevel { kBlocks, kLowered };

// The level at which a function of a file has to hold: of blocks where its
// body is one.
VerifyLevel LevelOf(const Function& f);

struct VerifyOptions {
  VerifyLevel level = VerifyLevel::kBlocks;
};

absl::Status VerifyFunction(const Function& f, VerifyOptions options = {});
// All functions, and that names are unique.
absl::Status VerifyModule(const Module& m, VerifyOptions options = {});

}  // namespace kiln

#endif  // KILN_IR_VERIFY_VERIFY_H_
