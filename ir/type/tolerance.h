// Whether a computed number agrees with an expected one.
#ifndef KILN_IR_TYPE_TOLERANCE_H_
#define KILN_IR_TYPE_TOLERANCE_H_

#include <cmath>

namespace kiln {

// |got - expected| <= atol + rtol * |expected|. The default is exact.
struct Tolerance {
  double rtol = 0;
  double atol = 0;

  double Limit(double expected) const {
    return atol + rtol * std::abs(expected);
  }
};

// NaN agrees with NaN and an infinity with itself; any other pair with one of
// them does not agree, however wide the tolerance.
inline bool Agree(double got, double expected, Tolerance tolerance) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  return std::isfinite(got) && std::isfinite(expected) &&
         std::abs(got - expected) <= tolerance.Limit(expected);
}

}  // namespace kiln

#endif  // KILN_IR_TYPE_TOLERANCE_H_
