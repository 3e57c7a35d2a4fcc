// Quotients and remainders, by constants, of what a loop counts.
#ifndef KILN_CODEGEN_LOWER_VECTOR_LANE_DIVISIONS_H_
#define KILN_CODEGEN_LOWER_VECTOR_LANE_DIVISIONS_H_

#include <cstdint>
#include <optional>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// `period` iterations on, an index is `increment` greater in each lane.
struct Turn {
  int64_t period = 1;
  int64_t increment = 0;
};

// Of an index over the loop of `var`: {7, 16} for ramp(var*16, 1, 16) // 7.
// nullopt where it has products or divisions by other than constants, or where
// the period is above 2^20.
std::optional<Turn> TurnOf(const Expr& index, const VarNode* var);

// The divisor of a vector of quotients or remainders by a positive constant;
// else 0.
int64_t LaneDivisor(const Expr& e);

// After how many iterations of the loop of `var` all divisions of vectors in
// `s` are where they were; 1 where none moves with it.
int64_t LanePeriod(const Stmt& s, const VarNode* var);

// Lane `lane` of an index where `var` has that value; nullopt where others
// matter.
std::optional<int64_t> ValueAt(const Expr& index, int lane, const VarNode* var,
                               int64_t value);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_VECTOR_LANE_DIVISIONS_H_
