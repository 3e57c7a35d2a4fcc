// Modules that texts state, compared as people mean it.
#ifndef KILN_TOOLS_SUPPORT_STATED_DIFFERENCE_H_
#define KILN_TOOLS_SUPPORT_STATED_DIFFERENCE_H_

#include <optional>
#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// FirstDifference (ir/compare/compare.h), where what a text may leave out of
// graph functions is none:
//
// - struct info that inference finds: lv = R.exp(x) is
//   lv: R.Tensor((2,), "float32") = R.exp(x), and f(g(x)) is y = g(x) and f(y);
// - the bytes of a constant: metadata["relax.expr.Constant"][0] is the constant
//   that the other module has in its place, the same one wherever the index is.
//
// A module that cannot be inferred is compared as it is.
std::optional<std::string> StatedDifference(const Module& a, const Module& b);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_STATED_DIFFERENCE_H_
