// Passes on programs as text.
#ifndef KILN_IR_TRANSFORM_GRAPH_PASS_TESTING_H_
#define KILN_IR_TRANSFORM_GRAPH_PASS_TESTING_H_

#include <string>
#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// The module that `text` states; fails the test where it states none.
Module ReadModule(const std::string& text);

// Where the module after the passes, struct info inferred, differs from the one
// that `wanted` states; "" where it does not. The error of a pass.
std::string DifferenceAfter(const std::vector<std::string>& passes,
                            const std::string& text, const std::string& wanted);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_PASS_TESTING_H_
