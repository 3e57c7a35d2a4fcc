// Arithmetic on intervals of integers. A result that does not fit int64 is
// unbounded on that side.
#ifndef KILN_IR_ARITH_INTERVAL_H_
#define KILN_IR_ARITH_INTERVAL_H_

#include <cstdint>

#include "kiln/ir/arith/const_bound.h"

namespace kiln {

inline ConstBound Point(int64_t value) { return {value, value}; }
inline bool IsFinite(const ConstBound& b) {
  return b.min != ConstBound::kNegInf && b.max != ConstBound::kPosInf;
}

int64_t FloorQuotient(int64_t a, int64_t positive);
int64_t FloorRemainder(int64_t a, int64_t positive);

ConstBound Plus(const ConstBound& a, const ConstBound& b);
ConstBound Times(const ConstBound& a, const ConstBound& b);
ConstBound Scale(const ConstBound& a, int64_t factor);
ConstBound Intersect(const ConstBound& a, const ConstBound& b);
ConstBound Hull(const ConstBound& a, const ConstBound& b);
// Rounding towards minus infinity; `divisor` is positive.
ConstBound FloorDivBy(const ConstBound& a, int64_t divisor);
ConstBound FloorModBy(const ConstBound& a, int64_t divisor);

// The one value of a // divisor over the interval, if there is only one.
bool SingleQuotient(const ConstBound& a, int64_t divisor, int64_t* quotient);

}  // namespace kiln

#endif  // KILN_IR_ARITH_INTERVAL_H_
