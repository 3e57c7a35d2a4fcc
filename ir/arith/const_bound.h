// Constant bounds of an integer.
#ifndef KILN_IR_ARITH_CONST_BOUND_H_
#define KILN_IR_ARITH_CONST_BOUND_H_

#include <cstdint>
#include <limits>

namespace kiln {

// The integers from min to max, both included. The sentinels stand for
// "unbounded" and stay put under arithmetic.
struct ConstBound {
  static constexpr int64_t kNegInf = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kPosInf = std::numeric_limits<int64_t>::max();
  int64_t min = kNegInf;
  int64_t max = kPosInf;
};

}  // namespace kiln

#endif  // KILN_IR_ARITH_CONST_BOUND_H_
