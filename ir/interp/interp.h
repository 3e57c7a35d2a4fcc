// The reference interpreter: what a tensor function means, at any level.
//
// Runs functions of blocks (init, predicates, match_buffer, alloc_buffers) and
// lowered ones (flat loops, allocations, vectors). Arithmetic is exact for its
// type: each float operation rounds once to its width, integers wrap, and
// overflow of an index computation (int64 values that do not come from memory)
// is an error. Parallel, vectorized and unrolled loops run in order.
//
// Threads: where a loop bound to threadIdx holds barriers (tvm_storage_sync),
// all threads of the block run interleaved from barrier to barrier, with
// storage of a shared scope in common; without barriers thread loops run in
// order like any others.
//
// An error names the function, the block or loops with the values of their
// variables, the buffer and the indices. These are errors: an access outside a
// buffer, a read of memory that was never written, an integer division by
// zero, a block iterator outside its domain, shapes that do not match, a
// barrier that only some threads reach, an unknown external function, and more
// steps than the budget.
#ifndef KILN_IR_INTERP_INTERP_H_
#define KILN_IR_INTERP_INTERP_H_

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/interp/options.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// An argument: a tensor that is read and written in place, or a scalar.
using Argument = std::variant<Tensor*, int64_t, double>;

// A function made ready to run many times. Runs may not overlap.
class Interpreter {
 public:
  // Refuses variables and buffers that are used where they are not defined.
  static absl::StatusOr<Interpreter> Create(const Function& f);
  Interpreter(Interpreter&&) noexcept;
  Interpreter& operator=(Interpreter&&) noexcept;
  ~Interpreter();

  // One argument for each parameter, of its type. Symbolic dimensions are
  // bound from the shapes of the tensors.
  absl::Status Run(absl::Span<const Argument> args,
                   const InterpOptions& options = {}) const;

 private:
  struct Impl;
  explicit Interpreter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Creates and runs once, on one tensor for each parameter.
absl::Status Interpret(const Function& f, std::vector<Tensor>& args,
                       const InterpOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_INTERP_INTERP_H_
