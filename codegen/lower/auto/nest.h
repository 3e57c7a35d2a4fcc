// Perfect nests of constant loops around one store: what register tiling works
// on.
#ifndef KILN_CODEGEN_LOWER_AUTO_NEST_H_
#define KILN_CODEGEN_LOWER_AUTO_NEST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

struct NestLoop {
  const ForNode* loop = nullptr;
  int64_t extent = 1;
  // By how many elements one iteration moves the store; 0: a reduction.
  int64_t stride = 0;
  // The variable occurs only in indices, as an affine part.
  bool is_plain = true;

  bool is_spatial() const { return stride != 0; }
};

// A load of something other than the element that is stored.
struct NestAccess {
  const LoadNode* load = nullptr;
  std::vector<int64_t> strides;  // for each loop; 0 where not affine
  std::vector<bool> uses;        // for each loop: whether the index varies
};

// for l0: for l1: ...: buffer[index] = value
struct Nest {
  std::vector<NestLoop> loops;  // outermost first
  const StoreNode* store = nullptr;
  std::vector<NestAccess> loads;
  bool is_update = false;  // the value reads the element that is stored

  int64_t element_bytes() const { return store->buffer->dtype.bytes(); }
};

// The nest that begins with `s`; nullopt unless
//  - its loops are serial, unrolled or vectorized, and go from 0 to constants;
//  - different iterations of the loops that the stored index varies with store
//    different elements, and nothing else reads what is stored;
//  - the value calls nothing with effects.
// In such a nest, loops with a stride may stand anywhere: as long as those
// without keep their order, each element sees the same steps.
std::optional<Nest> FindNest(const Stmt& s);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_NEST_H_
