// The instruction sets of the processor at hand, by the names that LLVM has for
// them: "avx2", "avx512vl".
#ifndef KILN_BASE_CPU_FEATURES_H_
#define KILN_BASE_CPU_FEATURES_H_

#include <string>
#include <vector>

namespace kiln {

// Those that compiled arithmetic may use and not every 64-bit x86 processor
// has, in a fixed order. Empty on other processors.
std::vector<std::string> KnownCpuFeatures();

// Those of `wanted` that this processor or its operating system lacks. What is
// not among KnownCpuFeatures counts as lacking.
std::vector<std::string> MissingCpuFeatures(
    const std::vector<std::string>& wanted);

}  // namespace kiln

#endif  // KILN_BASE_CPU_FEATURES_H_
