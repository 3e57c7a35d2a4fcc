// Chosen elements of what a function computes, without the rest: from an
// element back to the instances that write it, what these read, and so on.
//
// Expressions and stores are the interpreter's own, so that an element is what
// a run of interp.h would leave there, at the cost of what it depends on: one
// element of a 1024^3 matmul takes 1024 multiplications.
//
//   KILN_ASSIGN_OR_RETURN(auto elements, ElementInterpreter::Create(f));
//   elements.Start({a, b, c}, /*max_steps=*/1'000'000);
//   elements.Get(/*param=*/2, {1023, 0});   // C[1023, 0]
#ifndef KILN_IR_INTERP_ELEMENTS_H_
#define KILN_IR_INTERP_ELEMENTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

class ElementInterpreter {
 public:
  // Unimplemented, with the reason, where an element cannot be had alone: a
  // buffer that is read before its last write (updates in place from
  // neighbours, time steps), storage that exists once for each iteration,
  // views, vectors, GPU threads, opaque calls, scalar parameters or symbolic
  // shapes. Any number of writers, data-dependent reads and scatters are fine.
  static absl::StatusOr<ElementInterpreter> Create(const Function& f);
  ElementInterpreter(ElementInterpreter&&) noexcept;
  ElementInterpreter& operator=(ElementInterpreter&&) noexcept;
  ~ElementInterpreter();

  // Begins with new arguments: the contents of each parameter before the call,
  // which must outlive the evaluations and stay as they are. May take
  // `max_steps` loop iterations in all.
  absl::Status Start(absl::Span<const void* const> args, int64_t max_steps);
  // The bytes of element `index` of a parameter after the call. What is
  // computed on the way is kept for later elements. ResourceExhausted where the
  // steps are used up; after an error there are no more elements until Start.
  absl::StatusOr<std::vector<uint8_t>> Get(size_t param,
                                           absl::Span<const int64_t> index);
  // Steps that were taken since Start.
  int64_t steps() const;

 private:
  struct Impl;
  explicit ElementInterpreter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln

#endif  // KILN_IR_INTERP_ELEMENTS_H_
