// What records call a target.
#ifndef KILN_TOOLS_TUNING_RECORD_TARGET_H_
#define KILN_TOOLS_TUNING_RECORD_TARGET_H_

#include <string>

#include "kiln/codegen/target/target.h"

namespace kiln {

// The fingerprint, and how many threads a kernel uses: times are comparable
// where both are the same.
std::string RecordTarget(const Target& target);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_RECORD_TARGET_H_
