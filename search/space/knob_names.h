// What a schedule function calls its choices.
#ifndef KILN_SEARCH_SPACE_KNOB_NAMES_H_
#define KILN_SEARCH_SPACE_KNOB_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "kiln/ir/text/python/source.h"

namespace kiln {

// For each sample_* call of the function, in the order in which they are
// carried out, the names that its statement assigns to:
//
//   tile_y = sch.sample_perfect_tile(y, n=2)               tile_y
//   x0, x1 = sch.split(x, sch.sample_perfect_tile(x, 2))   x0,x1
//
// Calls of private functions are followed. Empty where the text is not
// understood; `function` may be empty for the only public one.
std::vector<std::string> KnobNames(const python::Source& source,
                                   std::string_view function);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_KNOB_NAMES_H_
