// Measures what estimates of running times refer to, once per machine.
#ifndef KILN_VM_PROFILE_MACHINE_CONSTANTS_H_
#define KILN_VM_PROFILE_MACHINE_CONSTANTS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/base/thread_pool.h"
#include "kiln/vm/profile/machine_peak.h"

namespace kiln {

// What the system tells without measuring: name, instruction set, cores that
// the process may use, vectors, caches. Rates are those of Machine's defaults.
Machine DescribeMachine();

// All of it. `cores` are the threads of the pool, which had better be tied to
// CPUs (ThreadPool::OneForEachCpu). Takes a few seconds.
Machine MeasureMachine(ThreadPool& pool, const PeakOptions& options = {});

// One JSON object, as machine.proto tells, and back. An unknown version or
// field, or a number that cannot be, is kInvalidArgument.
std::string MachineToJson(const Machine& machine);
absl::StatusOr<Machine> MachineFromJson(std::string_view json);

// Where the constants are kept: $KILN_MACHINE, or a file in kiln/ below
// $XDG_CACHE_HOME or $HOME/.cache, with a name that is of this processor and
// number of cores alone. Empty where none of them is set.
std::string DefaultMachinePath();

// Reads the constants from a file. kNotFound where there is none,
// kFailedPrecondition where it tells of another machine than this one (another
// CPU, instruction set, number of cores or size of a cache).
absl::StatusOr<Machine> LoadMachine(const std::string& path);
absl::Status SaveMachine(const Machine& machine, const std::string& path);

// The stored constants, or, where they are missing, damaged or of another
// machine, new ones, which are then stored. An empty path stores nothing. Says
// on stderr what was wrong with a damaged file, or why none could be written:
// the constants are measured anew the next time.
Machine LoadOrMeasureMachine(const std::string& path);

// GFLOP/s of float32 on so many threads, which shares of the peak refer to in
// every tool: what is measured now, in 60 ms, or what the machine's constants
// tell, where that is more. Other guests of a host may take half of it away for
// a while.
double PeakGflops(const Machine& machine, int threads);

// A table to read.
std::string MachineTable(const Machine& machine);

}  // namespace kiln

#endif  // KILN_VM_PROFILE_MACHINE_CONSTANTS_H_
