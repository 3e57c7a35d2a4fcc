// Comparisons that hold in every case of a minimum or maximum.
#ifndef KILN_IR_ARITH_CASES_H_
#define KILN_IR_ARITH_CASES_H_

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {

// Whether a <= b for sure: as Analyzer::CanProveLessEqual, and where that
// cannot tell, by the operands of up to four min and max that are summands of
// either side: min(i, 31) <= i, i <= max(j, i + 1).
bool CanProveLessEqualByCases(const Expr& a, const Expr& b, Analyzer* analyzer);

// The same with another proof of a <= b for each case.
bool HoldsByCases(const Expr& a, const Expr& b,
                  FunctionRef<bool(const Expr& a, const Expr& b)> proves);

}  // namespace kiln

#endif  // KILN_IR_ARITH_CASES_H_
