// Sums of products for outputs too narrow for vectors.
#ifndef KILN_SEARCH_SPACE_RULE_SKINNY_DOT_H_
#define KILN_SEARCH_SPACE_RULE_SKINNY_DOT_H_

#include "kiln/search/space/rule/block_info.h"

namespace kiln {

// Whether the last reduction of `info` fills vectors of `lanes` and its output
// does not, and operands lie along that reduction or are small enough to be
// laid out so.
bool SuitsSkinnyDot(const BlockInfo& info, int lanes);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_SKINNY_DOT_H_
