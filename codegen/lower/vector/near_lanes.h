#ifndef KILN_CODEGEN_LOWER_VECTOR_NEAR_LANES_H_
#define KILN_CODEGEN_LOWER_VECTOR_NEAR_LANES_H_

#include <cstdint>

#include "kiln/base/lowering_policy.h"
#include "kiln/ir/expr/expr.h"

namespace kiln::lower {

// Whether the lanes of an index go a few elements on from one to the next
// (kMostLaneStep), or back by one: a load of them reads whole vectors, and may
// leave lanes out.
inline bool IsNearRamp(const Expr& index) {
  const auto* ramp = index.As<RampNode>();
  const int64_t* step = ramp ? AsInt(ramp->stride) : nullptr;
  return step && (*step == -1 || (*step >= 1 && *step <= kMostLaneStep));
}

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_VECTOR_NEAR_LANES_H_
