// At which sizes a model calls its tensor functions of symbolic dimensions.
#ifndef KILN_TOOLS_TUNING_CALL_SIZES_H_
#define KILN_TOOLS_TUNING_CALL_SIZES_H_

#include <map>
#include <set>
#include <string>

#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/tools/support/bind_flags.h"

namespace kiln {

// By the names of tensor functions with symbolic dimensions, the sizes with
// which a run of the graph function `entry` calls them, through other graph
// functions, too, where the dimensions of `entry` have these values. Both
// branches of an `if` count. A size that depends on more (on the contents of
// tensors, say) is not there, nor one of a function with scalar parameters.
std::map<std::string, std::set<DimSize>> CallSizes(const Module& module,
                                                   const std::string& entry,
                                                   const DimValues& dims);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_CALL_SIZES_H_
