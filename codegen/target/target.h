// What code is generated for.
#ifndef KILN_CODEGEN_TARGET_TARGET_H_
#define KILN_CODEGEN_TARGET_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/machine.h"

namespace kiln {

// How code for a target is made.
enum class TargetKind : uint8_t {
  kLlvmCpu,  // a CPU reached through LLVM
};

struct Target {
  TargetKind kind = TargetKind::kLlvmCpu;
  std::string triple;    // "x86_64-pc-linux-gnu"
  std::string cpu;       // "znver4"
  std::string features;  // "+avx2,+fma,...": LLVM's list; empty: the CPU's own
  std::string attributes;  // those of them that -mattr gives
  int num_cores = 1;       // threads that a parallel loop may use
  // The vector registers are the target's, also where this machine has wider
  // ones. Caches are this machine's, and a common machine's where code for the
  // target cannot run on this machine's architecture. Rates are not measured
  // here.
  Machine machine = {.vectors = kSseRegisters};
  bool fma = false;   // whether a * b + c can be rounded once
  bool bf16 = false;  // whether an instruction rounds to bfloat16

  // "llvm -mcpu=znver4 -num-cores=2", with -mtriple and -mattr where they
  // matter; ParseTarget makes the same of it on this machine.
  std::string ToString() const;
  // What a measurement depends on, but for the number of cores in use:
  // triple, CPU, features and the caches that tiles are made for.
  std::string Fingerprint() const;
};

// This machine with all its features and all its cores.
Target HostTarget();

// Reads "llvm", "llvm -mcpu=NAME -num-cores=N", "llvm --num-cores=N",
// "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1". Options not given are
// the host's where the triple is its own; a CPU other than the host's comes
// with its own features (-mattr=+a,-b adds to them). Of another architecture
// the default CPU is the least one. Refuses unknown kinds, options, triples,
// CPUs and features, and says which are known.
absl::StatusOr<Target> ParseTarget(std::string_view text);

// Whether the target's instructions are of this machine's architecture.
bool IsOfThisArchitecture(const Target& target);

// Whether this machine can run what is compiled for `target`. Code can be
// compiled for any CPU; FAILED_PRECONDITION names the features that generated
// code may use and this machine lacks.
absl::Status CheckRunsHere(const Target& target);

}  // namespace kiln

#endif  // KILN_CODEGEN_TARGET_TARGET_H_
