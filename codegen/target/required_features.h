// What code for a target needs of the processor that runs it.
#ifndef KILN_CODEGEN_TARGET_REQUIRED_FEATURES_H_
#define KILN_CODEGEN_TARGET_REQUIRED_FEATURES_H_

#include <string>
#include <vector>

#include "kiln/codegen/target/target.h"

namespace kiln {

// The instruction sets that it may use, of those in base/cpu_features.h, which
// whoever runs it looks for without a compiler. Empty for other architectures
// than x86.
std::vector<std::string> RequiredFeatures(const Target& target);

}  // namespace kiln

#endif  // KILN_CODEGEN_TARGET_REQUIRED_FEATURES_H_
