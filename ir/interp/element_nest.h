// The statements of a function that write one buffer, which run for those
// iterations only that may reach a wanted element. Internal to ir/interp.
#ifndef KILN_IR_INTERP_ELEMENT_NEST_H_
#define KILN_IR_INTERP_ELEMENT_NEST_H_

#include <cstdint>
#include <memory>

#include "kiln/ir/interp/scope.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::interp_internal {

// One run: the element that is wanted.
struct WantedElement {
  const int64_t* indices;
};

class ElementNest {
 public:
  virtual ~ElementNest() = default;
  // Runs, in the order of the program, every store into the element.
  virtual void Run(Frame& frame, const WantedElement& wanted) = 0;
};

// The stores below `body` into `buffer`; null where there is none. The buffers
// are defined in `scope`.
std::unique_ptr<ElementNest> MakeElementNest(const Stmt& body,
                                             const Buffer& buffer,
                                             Scope& scope);

}  // namespace kiln::interp_internal

#endif  // KILN_IR_INTERP_ELEMENT_NEST_H_
