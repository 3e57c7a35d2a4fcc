#include "kiln/tools/graph/measure_profile.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/clock.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/machine/observed_call.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

// Runs of one machine before those of the other. The first does not count: it
// finds the caches full of the other's tensors.
constexpr size_t kInARow = 4;
constexpr size_t kLeastRuns = 5, kMostRuns = 100;
constexpr double kSeconds = 0.3;

struct Run {
  double start_s = 0, observed_s = 0;
  double seconds = 0;  // of the same without an observer
  std::vector<ProfiledCall> calls;
};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void AddCall(const vm::ObservedCall& seen, Run* run) {
  ProfiledCall& call = run->calls.emplace_back();
  call.callee = std::string(seen.callee);
  call.variable = std::string(seen.label);
  call.bytes_read = seen.bytes_read;
  call.bytes_written = seen.bytes_written;
  call.flop = seen.flop;
  call.flop_is_bound = seen.flop_is_bound;
  call.start_s = MonotonicSeconds() - seen.seconds - run->start_s;
  call.typical_s = seen.seconds;
}

bool CallTheSame(const Run& a, const Run& b) {
  return std::equal(a.calls.begin(), a.calls.end(), b.calls.begin(),
                    b.calls.end(), [](const auto& x, const auto& y) {
                      return x.callee == y.callee && x.variable == y.variable;
                    });
}

absl::Status CheckSameCalls(const std::vector<Run>& runs,
                            const std::string& function) {
  const Run &first = runs.front(), &last = runs.back();
  if (CallTheSame(first, last)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "run ", runs.size(), " of ", function, " called ", last.calls.size(),
      " functions and the first one others, ", first.calls.size(),
      ", for the same arguments: such runs have no common "
      "profile"));
}

// Some runs in a row observed and, for the time of the whole, as many not, in
// turns. `now` gets what the first machine observes.
absl::StatusOr<std::vector<Run>> TakeRuns(vm::Machine& observed, Run* now,
                                          vm::Machine& plain,
                                          const std::string& function,
                                          const std::vector<vm::Value>& args) {
  std::vector<Run> runs;
  double spent = 0;
  while (runs.size() < kLeastRuns ||
         (runs.size() < kMostRuns && spent < kSeconds)) {
    const size_t before = runs.size();
    for (size_t i = 0; i < kInARow; ++i) {
      *now = {MonotonicSeconds()};
      KILN_RETURN_IF_ERROR(observed.Call(function, args).status());
      now->observed_s = MonotonicSeconds() - now->start_s;
      spent += now->observed_s;
      if (i == 0) continue;
      runs.push_back(*now);
      KILN_RETURN_IF_ERROR(CheckSameCalls(runs, function));
    }
    for (size_t i = 0; i < kInARow; ++i) {
      const double start = MonotonicSeconds();
      KILN_RETURN_IF_ERROR(plain.Call(function, args).status());
      const double seconds = MonotonicSeconds() - start;
      spent += seconds;
      if (i > 0) runs[before + i - 1].seconds = seconds;
    }
  }
  return runs;
}

double MedianOf(const std::vector<Run>& runs, double Run::* time) {
  std::vector<double> times;
  for (const Run& run : runs) times.push_back(run.*time);
  return Median(std::move(times));
}

std::vector<ProfiledCall> MedianCalls(const std::vector<Run>& runs) {
  const double length = MedianOf(runs, &Run::observed_s);
  const Run& typical =
      *std::find_if(runs.begin(), runs.end(),
                    [&](const Run& run) { return run.observed_s == length; });
  std::vector<ProfiledCall> calls = typical.calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    std::vector<double> times;
    for (const Run& run : runs) times.push_back(run.calls[i].typical_s);
    calls[i].seconds = Median(std::move(times));
  }
  return calls;
}

}  // namespace

absl::StatusOr<Profile> MeasureProfile(
    const std::shared_ptr<const vm::LoadedExecutable>& loaded,
    const vm::FunctionTable& functions, const KernelHost& host,
    const std::string& function, const std::vector<vm::Value>& args) {
  Run now;
  vm::MachineOptions options;
  options.observe = [&now](const vm::ObservedCall& call) {
    AddCall(call, &now);
  };
  KILN_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Machine> observed,
                        vm::Machine::Create(loaded, functions, &host, options));
  KILN_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Machine> plain,
                        vm::Machine::Create(loaded, functions, &host));
  KILN_ASSIGN_OR_RETURN(const std::vector<Run> runs,
                        TakeRuns(*observed, &now, *plain, function, args));
  Profile profile;
  profile.function = function;
  profile.target = loaded->executable().target;
  profile.cpu = DescribeMachine().cpu;
  profile.threads = host.num_threads();
  profile.runs = static_cast<int>(runs.size());
  profile.run_s = MedianOf(runs, &Run::seconds);
  profile.calls = MedianCalls(runs);
  return profile;
}

}  // namespace kiln
