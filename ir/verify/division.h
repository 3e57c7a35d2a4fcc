// Proofs about quotients and remainders that an analyzer does not find.
// Internal to ir/verify.
#ifndef KILN_IR_VERIFY_DIVISION_H_
#define KILN_IR_VERIFY_DIVISION_H_

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/expr.h"

namespace kiln::verify_internal {

// Whether low <= high, by one of
//
//   a // c <= b // c + k    where k * c + b - a >= 0, for a constant c > 0
//   0 <= x // d + k         where x >= 0, d >= 0 and k >= 0
//   x // d <= k             where x < (k + 1) * d, for d >= 0 and k >= 0
//   x % d <= k              where 0 <= x <= k and d >= 0
//
// in every case of a min or max. By 0, a quotient is 0 and a remainder is 0 or
// the dividend. False also means "cannot tell".
bool ProvesByDivision(const Expr& low, const Expr& high, Analyzer* analyzer);

}  // namespace kiln::verify_internal

#endif  // KILN_IR_VERIFY_DIVISION_H_
