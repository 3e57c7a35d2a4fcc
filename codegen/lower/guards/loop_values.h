// What index expressions can be in a part of a loop nest. Internal to
// codegen/lower.
#ifndef KILN_CODEGEN_LOWER_GUARDS_LOOP_VALUES_H_
#define KILN_CODEGEN_LOWER_GUARDS_LOOP_VALUES_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

using LoopStack = std::vector<const ForNode*>;

// Whether a loop of `s` goes round in the code: one that is neither unrolled
// nor vectorized.
bool GoesRound(const Stmt& s);

// From the first to the last, both included.
struct Values {
  int64_t first, last;
};

// Variables that have fewer values in a part of the iterations than their
// loops.
using FewerValues = std::unordered_map<const VarNode*, Values>;

// The values of a loop variable; nullopt when they are not constant.
std::optional<Values> ValuesOf(const ForNode& loop,
                               const FewerValues& fewer = {});

// The values of an index expression over `loops`; nullopt when they are not
// known.
std::optional<Values> ValuesIn(const Expr& e, const LoopStack& loops,
                               const FewerValues& fewer = {});

// The least (sign 1) or greatest (sign -1) value of `form` over the loops from
// `from` on, as a form of the other variables; nullopt when it has no such
// form. Over all loops (from 0), divisions of their variables are bounded too.
std::optional<Linear> Extreme(const Linear& form, const LoopStack& loops,
                              size_t from, int sign, const FewerValues& fewer);

struct AtomValues {
  Expr atom;
  Values values;
};

// The atoms of `form` that have fewer values where form >= 0 than in all
// iterations of `loops`: with j in range(11), 3*j - 30 leaves 10 to j.
std::vector<AtomValues> ValuesWhere(const Linear& form, const LoopStack& loops,
                                    const FewerValues& fewer = {});

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_LOOP_VALUES_H_
