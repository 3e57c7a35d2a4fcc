// Whether what a program accesses exists.
#ifndef KILN_IR_VERIFY_BOUNDS_H_
#define KILN_IR_VERIFY_BOUNDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A load or store whose index of one dimension is not known to be in
// [0, extent): it comes from data, or from extents that the call decides. Of a
// view that is not known to end within its storage, every dimension of every
// access is one.
struct UnprovenAccess {
  Buffer buffer;
  std::vector<Expr> indices;  // as they stand in the program
  int dimension = 0;
  bool is_store = false;
  std::string place;  // "main / for i / block "C""
};

// All of them, in the order in which they run, one for each dimension. Empty
// where no run of `f`, whatever its arguments hold, reaches outside of its
// buffers (code behind addresses apart). At both levels; `f` is well formed.
// Takes in the order of 10 us for each access that is easy to prove, and up to
// some milliseconds for one that is not.
std::vector<UnprovenAccess> UnprovenAccesses(const Function& f);

// Refuses a function with an instance that is known to be reached and in which
// an index is outside of [0, extent), an iterator outside of its domain, a
// matched region outside of its buffer, or the end of a view behind that of its
// storage; and a loop with fewer than 0 iterations whatever its variables are.
// Names the instance.
absl::Status CheckBounds(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_VERIFY_BOUNDS_H_
