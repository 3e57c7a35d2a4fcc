// How the libraries in this process run: version, instruction set, threads.
#ifndef KILN_TOOLS_RIVALS_LIBRARY_STATE_H_
#define KILN_TOOLS_RIVALS_LIBRARY_STATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/machine.h"

namespace kiln::bench {

// What the kernels of a library need, from the least on. Kernels of which it is
// not known, such as those of a later version, count as good enough for any
// processor: they are compared, and the table says so.
enum class IsaLevel { kBaseline, kAvx, kAvx2, kAvx512, kUnknown };
const char* ToString(IsaLevel level);

struct LibraryState {
  std::string name;
  std::string version;  // as the library tells
  std::string core;     // its name for the kernels: "SkylakeX", "avx512_core"
  IsaLevel level = IsaLevel::kBaseline;
  int threads = 1;  // that it takes when not told
};

// What the processor has: AVX2 with FMA; AVX-512 with F, CD, BW, DQ and VL.
IsaLevel HostIsa();

// By the names of openblas_get_corename(); other ones are kUnknown.
IsaLevel LevelOfOpenBlasCore(const std::string& core);

// Of the libraries that this program runs.
LibraryState OpenBlasState();
LibraryState OneDnnState();

// What code for a CPU with these registers, and fused multiply-adds or not, may
// use.
IsaLevel IsaOf(const VectorRegisters& registers, bool fma);

// The OPENBLAS_CORETYPE with kernels for what the processor has; empty where
// OpenBLAS already runs such.
std::string BetterOpenBlasCore(IsaLevel host, const LibraryState& state);

// The environment, "NAME=VALUE" each, in which oneDNN and OpenBLAS use no more
// than `isa`.
std::vector<std::string> LimitedTo(IsaLevel isa);

// kFailedPrecondition where the library runs above it.
absl::Status CheckIsLimitedTo(IsaLevel isa, const LibraryState& state);

// kFailedPrecondition where the library runs below what the processor has.
absl::Status CheckRunsAt(IsaLevel host, const LibraryState& state);

// The processor and each library; as lines to read, or one JSON object.
std::string SetupLines(const Machine& machine, IsaLevel host,
                       const std::vector<LibraryState>& states);
std::string JsonSetup(const Machine& machine, IsaLevel host,
                      const std::vector<LibraryState>& states);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_LIBRARY_STATE_H_
