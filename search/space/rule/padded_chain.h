// Products with a chain of rows between them, of open extents.
#ifndef KILN_SEARCH_SPACE_RULE_PADDED_CHAIN_H_
#define KILN_SEARCH_SPACE_RULE_PADDED_CHAIN_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/chained_products.h"
#include "kiln/search/space/rule/rule_context.h"

namespace kiln {

// Some rows go through all of it at a time, where products compute whole tiles:
// rows and columns that are not there, too, of which nothing is stored. So no
// tile asks what is inside. Refused where there is nothing to pad, at sizes
// that tiles divide. `way`: of tiling the products (FewRowChoice).
absl::StatusOr<Schedule> FusePaddedChain(const Schedule& sch,
                                         const ChainedProducts& products,
                                         size_t way,
                                         const RuleContext& context);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_PADDED_CHAIN_H_
