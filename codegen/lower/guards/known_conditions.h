// Conditions of a part of a loop nest: how often they hold, and what becomes of
// the part where they are known. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_GUARDS_KNOWN_CONDITIONS_H_
#define KILN_CODEGEN_LOWER_GUARDS_KNOWN_CONDITIONS_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "kiln/codegen/lower/guards/condition_sites.h"
#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// The values of conjuncts, by node.
using Known = std::unordered_map<const ExprNode*, bool>;

// The share of the iterations of `loops` in which form >= 0; 1 when unknown.
// The values of a form lie as far apart as its coefficients have in common, and
// count as equally frequent: 1 - 16*j of j in 2 has the values 1 and -15.
double Coverage(const Linear& form, const LoopStack& loops,
                const FewerValues& fewer);

// Whether the conjunct holds in all iterations of the loops around it, or in
// none; nullopt: in some, or not known.
std::optional<bool> CertainAt(const Site& site, const FewerValues& fewer);

// Conjuncts in `body`, which stands in `loops`, that hold in all iterations at
// all their sites, or in none.
Known CertainIn(const Stmt& body, const LoopStack& loops,
                const FewerValues& fewer);

Stmt ResolveKnown(const Stmt& body, const Known& known);

// With the first of its values for each atom, which has no other.
Stmt ResolvePins(const Stmt& body, const std::vector<AtomValues>& pins);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_KNOWN_CONDITIONS_H_
