// A comparison is worth what the other side could do. OpenBLAS chooses kernels
// by a table of processors that it knew when it was built, and takes old ones
// for a processor of later:
//
//   OpenBLAS 0.3.21 on Zen 4: core "Zen", AVX2, on a machine with AVX-512
//
// so what each library says of itself is set beside what the machine has.
#include "kiln/tools/rivals/library_state.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/tools/rivals/bench_rows.pb.h"
#include "kiln/tools/support/json_line.h"

namespace kiln::bench {
namespace {

struct Core {
  const char* name;
  IsaLevel level;
};

// The targets of OpenBLAS for x86-64 (TargetList.txt).
constexpr Core kCores[] = {
    {"Sandybridge", IsaLevel::kAvx},   {"Bulldozer", IsaLevel::kAvx},
    {"Piledriver", IsaLevel::kAvx},    {"Steamroller", IsaLevel::kAvx},
    {"Excavator", IsaLevel::kAvx2},    {"Haswell", IsaLevel::kAvx2},
    {"Zen", IsaLevel::kAvx2},          {"SkylakeX", IsaLevel::kAvx512},
    {"Cooperlake", IsaLevel::kAvx512}, {"SapphireRapids", IsaLevel::kAvx512},
};

// Those whose kernels use no AVX.
constexpr const char* kOldCores[] = {
    "Generic", "Katmai",       "Coppermine", "Northwood",  "Prescott", "Banias",
    "Atom",    "Core2",        "Penryn",     "Dunnington", "Nehalem",  "Athlon",
    "Opteron", "Opteron_SSE3", "Barcelona",  "Bobcat",     "Nano",     "VIAC3",
};

}  // namespace

const char* ToString(IsaLevel level) {
  switch (level) {
    case IsaLevel::kBaseline:
      return "no AVX";
    case IsaLevel::kAvx:
      return "AVX";
    case IsaLevel::kAvx2:
      return "AVX2";
    case IsaLevel::kAvx512:
      return "AVX-512";
    case IsaLevel::kUnknown:
      return "of an unknown instruction set";
  }
  return "";
}

IsaLevel HostIsa() {
  const bool avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) return IsaLevel::kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return IsaLevel::kAvx2;
  }
  return __builtin_cpu_supports("avx") ? IsaLevel::kAvx : IsaLevel::kBaseline;
}

IsaLevel LevelOfOpenBlasCore(const std::string& core) {
  for (const Core& known : kCores) {
    if (absl::EqualsIgnoreCase(known.name, core)) return known.level;
  }
  for (const char* old : kOldCores) {
    if (absl::EqualsIgnoreCase(old, core)) return IsaLevel::kBaseline;
  }
  return IsaLevel::kUnknown;
}

IsaLevel IsaOf(const VectorRegisters& registers, bool fma) {
  if (registers == kAvx512Registers) return IsaLevel::kAvx512;
  if (registers == kSseRegisters) return IsaLevel::kBaseline;
  return fma ? IsaLevel::kAvx2 : IsaLevel::kAvx;
}

namespace {

// The names of an instruction set for OpenBLAS and oneDNN.
struct IsaNames {
  const char *core, *max_isa;
};
IsaNames NamesOf(IsaLevel isa) {
  switch (isa) {
    case IsaLevel::kBaseline:
      return {"NEHALEM", "SSE41"};
    case IsaLevel::kAvx:
      return {"SANDYBRIDGE", "AVX"};
    case IsaLevel::kAvx2:
      return {"HASWELL", "AVX2"};
    case IsaLevel::kAvx512:
      return {"SKYLAKEX", "AVX512_CORE"};
    case IsaLevel::kUnknown:  // No processor's.
      return {"", ""};
  }
  return {"", ""};
}

}  // namespace

std::string BetterOpenBlasCore(IsaLevel host, const LibraryState& state) {
  return state.level >= host ? "" : NamesOf(host).core;
}

std::vector<std::string> LimitedTo(IsaLevel isa) {
  const IsaNames names = NamesOf(isa);
  return {absl::StrCat("OPENBLAS_CORETYPE=", names.core),
          absl::StrCat("ONEDNN_MAX_CPU_ISA=", names.max_isa)};
}

absl::Status CheckIsLimitedTo(IsaLevel isa, const LibraryState& state) {
  if (state.level <= isa) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      state.name, " ", state.version, " is left out: it runs its kernels for ",
      state.core, " (", ToString(state.level), "), not the target's (",
      ToString(isa), ")"));
}

absl::Status CheckRunsAt(IsaLevel host, const LibraryState& state) {
  if (state.level >= host) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      state.name, " ", state.version, " is left out: it runs its kernels for ",
      state.core, " (", ToString(state.level), ") on a processor with ",
      ToString(host),
      "; a comparison would flatter Kiln. Install a version that knows this "
      "processor"));
}

std::string SetupLines(const Machine& machine, IsaLevel host,
                       const std::vector<LibraryState>& states) {
  std::string lines =
      absl::StrFormat("processor: %s, %d cores, %s\n", machine.cpu,
                      machine.cores, ToString(host));
  for (const LibraryState& state : states) {
    absl::StrAppendFormat(
        &lines, "%s %s: kernels for %s (%s), %d threads when not told\n",
        state.name, state.version, state.core, ToString(state.level),
        state.threads);
  }
  return lines + "\n";
}

std::string JsonSetup(const Machine& machine, IsaLevel host,
                      const std::vector<LibraryState>& states) {
  rows::Setup row;
  row.mutable_setup()->set_cpu(machine.cpu);
  row.mutable_setup()->set_cores(machine.cores);
  row.mutable_setup()->set_isa(ToString(host));
  for (const LibraryState& state : states) {
    rows::Library& library = *row.mutable_setup()->add_libraries();
    library.set_name(state.name);
    library.set_version(state.version);
    library.set_core(state.core);
    library.set_isa(ToString(state.level));
    library.set_threads(state.threads);
    library.set_compared(CheckRunsAt(host, state).ok());
  }
  return JsonLine(row);
}

}  // namespace kiln::bench
