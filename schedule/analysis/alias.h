// Tensors that a block knows by more than one name.
#ifndef KILN_SCHEDULE_ANALYSIS_ALIAS_H_
#define KILN_SCHEDULE_ANALYSIS_ALIAS_H_

#include <optional>
#include <string>
#include <string_view>

#include "kiln/schedule/analysis/path.h"

namespace kiln {

// Why analyses that tell tensors apart by name cannot be asked about the last
// statement of `path`: within a block around it one tensor is written and
// accessed by two names, views of it or a view and its own:
//
//   V = T.match_buffer(X[vi, 1:8], (7,))
//   W = T.match_buffer(X[vi, 0:7], (7,))
//   for c in range(7):                     # its iterations meet
//     with T.block("B"):
//       vc = T.axis.spatial(7, c)
//       W[vc] = V[6 - vc]
//
// nullopt when there are no such names. Blocks outside of the one that matches
// the views see the tensor itself in its regions.
std::optional<std::string> WhyAliased(const Path& path);

// Whether a primitive of that name keeps the order in which instances run and
// the tensors that they access, so that it does not matter.
bool KeepsOrder(std::string_view primitive);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_ALIAS_H_
