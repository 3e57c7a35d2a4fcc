// Whether a program is well formed. What passes here, every later stage may
// rely on.
//
// At both levels: variables and buffers are used only where they are defined;
// operands have the types that their operators want; indices are int64, one
// for each dimension, and only the last may be a vector; conditions are bool;
// thread tags are known; the bytes of a buffer fit an int64.
//
// Of blocks: the body is the realization of a root block; every loop variable,
// iterator and allocation is defined once in the function; ids are unique,
// positive and below next_id; each iterator has one binding; regions have the
// rank of their buffer; the attribute layout_free_buffers lists tensor
// parameters that are not written (stores through a match_buffer apart); the
// attribute numerics is "termwise" or "normwise".
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
  // Whether a block has to name every buffer that it loads from or stores to
  // among its reads or writes.
  bool check_regions = false;
};

absl::Status VerifyFunction(const Function& f, VerifyOptions options = {});
// All functions, and that names are unique.
absl::Status VerifyModule(const Module& m, VerifyOptions options = {});

}  // namespace kiln

#endif  // KILN_IR_VERIFY_VERIFY_H_
