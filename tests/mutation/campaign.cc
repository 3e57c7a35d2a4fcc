// Each workload is scheduled, lowered and measured once without a fault, which
// has to pass. Then faults are put into the lowered program, one at a time and
// kinds in turn, and the faulty kernel is measured as in tuning, by the same
// reference:
//
//   lowered program → a fault at some place → kernel → verdict
//     wrong_result, out_of_bounds, crash ..    caught
//     ok, and the interpreter sees the same    equivalent
//     ok, of the same machine code             equivalent
//     ok otherwise                             missed: the checks have a hole
//
// The interpreter's inputs are others than those of the checks: else a fault
// that the checks cannot see would seem to be none. A race is never taken for
// equivalent, as the interpreter runs in one order. Machine code stays the same
// where a first zero is left out of a sum in registers: LLVM may take any value
// there, and takes the one at hand. What LLVM refuses to compile does not
// count.
#include "kiln/tests/mutation/campaign.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/host/signature.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/work/work.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/reference_task.h"
#include "kiln/search/measure/whole_numbers.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/tools/support/default_schedule.h"

namespace kiln::mutation {
namespace {

// What all faults of one workload have in common.
struct Victim {
  std::string workload;
  Function original, lowered;
  KernelSignature signature;
  std::shared_ptr<const MeasureTask> task;
  Target target = HostTarget();
};

absl::StatusOr<Victim> MakeVictim(const std::string& workload, Runner& runner,
                                  const CampaignOptions& options) {
  KILN_ASSIGN_OR_RETURN(const Module module, MakeWorkload(workload));
  Victim victim;
  victim.workload = workload;
  victim.original = module.functions[0];
  KILN_ASSIGN_OR_RETURN(victim.signature, MakeSignature(victim.original));
  ThreadPool pool;
  DefaultScheduleOptions draws;
  draws.draws = 64;
  draws.seed = options.seed;
  KILN_ASSIGN_OR_RETURN(const DefaultSchedule schedule,
                        ScheduleByDefault(module, 0, victim.target.machine,
                                          options.num_threads, &pool, draws));
  KILN_ASSIGN_OR_RETURN(victim.lowered,
                        LowerForTarget(schedule.scheduled, victim.target));
  LlvmBuilder builder(victim.target);
  KILN_ASSIGN_OR_RETURN(victim.task,
                        MakeReferenceTask(victim.original, builder, runner));
  return victim;
}

absl::StatusOr<MeasureResult> Try(const Victim& victim, const Function& lowered,
                                  Runner& runner,
                                  const CampaignOptions& options) {
  const std::string symbol = "kiln_" + lowered.name;
  const absl::StatusOr<std::string> object =
      CompileToObject(lowered, symbol, victim.target);
  MeasureResult result;
  if (!object.ok()) {
    result.verdict = Verdict::kBuildError;
    result.reason = std::string(object.status().message());
    return result;
  }
  MeasureOptions measure;
  measure.num_threads = options.num_threads;
  measure.budget_ms = 1;
  measure.min_samples = 1;
  measure.max_samples = 2;
  measure.deadline_s = 60;
  return runner.Measure(*victim.task, {*object, symbol, victim.signature},
                        measure);
}

std::vector<Tensor> Flat(std::vector<Tensor> tensors) {
  for (Tensor& tensor : tensors) tensor.shape = {tensor.size()};
  return tensors;
}

// Of a softmax of 2048 numbers in [-1, 1], where outputs depend on how they are
// computed at all: far less than the least of the terms of its sum.
constexpr double kRounding = 0x1p-18;

double RoundingOf(const Function& f) {
  const std::vector<double> ones(f.params.size(), 1);
  const std::vector<bool> exact = ExactBuffers(f, ones);
  return std::count(exact.begin(), exact.end(), false) > 0 ? kRounding : 0;
}

// Whether the interpreter sees no difference but of rounding; false where it
// has no time.
bool AreEquivalent(const Victim& victim, const Function& faulty,
                   const CampaignOptions& options) {
  if (CountWork(victim.original).value_or(Work{{1e30}}).flop.value >
      options.max_interpreted_flop) {
    return false;
  }
  const double rounding = RoundingOf(victim.original);
  std::vector<Tensor> expected = Flat(RandomInputs(victim.original, 4711));
  std::vector<Tensor> actual = expected;
  InterpOptions interp;
  interp.reverse_parallel = true;  // races show, if only by their order
  interp.check_uninitialized = true;
  if (!Interpret(victim.lowered, expected).ok()) return false;
  if (!Interpret(faulty, actual, interp).ok()) return false;
  for (size_t i = 0; i < expected.size(); ++i) {
    for (int64_t j = 0; j < expected[i].size(); ++j) {
      const double value = expected[i].GetReal(j);
      const double error = std::abs(actual[i].GetReal(j) - value);
      if (!(error <= rounding * std::abs(value))) return false;
    }
  }
  return true;
}

// Whether LLVM makes the same kernel of both, byte for byte.
bool IsSameCode(const Victim& victim, const Function& faulty) {
  const auto code = [&](const Function& f) {
    return CompileToObject(f, "kiln_" + victim.lowered.name, victim.target);
  };
  const absl::StatusOr<std::string> sound = code(victim.lowered);
  const absl::StatusOr<std::string> other = code(faulty);
  return sound.ok() && other.ok() && *sound == *other;
}

// A fault of the kind at a place that the random numbers choose; nullopt where
// there is none.
std::optional<Mutant> Draw(const Victim& victim, FaultKind kind,
                           std::mt19937_64& random) {
  const uint64_t seed = random();
  const int64_t places = CountPlaces(victim.lowered, kind, seed);
  for (int attempt = 0; places > 0 && attempt < 8; ++attempt) {
    const auto place = static_cast<int64_t>(random() % places);
    if (auto mutant = PutIn(victim.lowered, kind, place, seed)) return mutant;
  }
  return std::nullopt;
}

absl::StatusOr<Row> Judge(const Victim& victim, const Mutant& mutant,
                          Runner& runner, const CampaignOptions& options) {
  Row row = {victim.workload, mutant.kind, mutant.place, Outcome::kCaught, ""};
  KILN_ASSIGN_OR_RETURN(const MeasureResult result,
                        Try(victim, mutant.function, runner, options));
  row.verdict = absl::StrCat(std::string(VerdictName(result.verdict)),
                             result.reason.empty() ? "" : ": ", result.reason);
  if (result.verdict == Verdict::kOk) {
    const bool same = mutant.kind != FaultKind::kRace &&
                      (IsSameCode(victim, mutant.function) ||
                       AreEquivalent(victim, mutant.witness, options));
    row.outcome = same ? Outcome::kEquivalent : Outcome::kMissed;
  }
  return row;
}

}  // namespace

absl::Status Attack(const std::string& workload, Runner& runner,
                    const CampaignOptions& options,
                    const std::function<void(const Row&)>& row) {
  KILN_ASSIGN_OR_RETURN(const Victim victim,
                        MakeVictim(workload, runner, options));
  KILN_ASSIGN_OR_RETURN(const MeasureResult sound,
                        Try(victim, victim.lowered, runner, options));
  if (sound.verdict != Verdict::kOk) {
    return absl::InternalError(absl::StrCat(
        workload, " without a fault: ", std::string(VerdictName(sound.verdict)),
        ": ", sound.reason));
  }
  std::mt19937_64 random(options.seed);
  const std::vector<FaultKind> kinds = AllFaultKinds();
  std::set<std::pair<FaultKind, std::string>> tried;
  int done = 0;
  // Small programs may have fewer places than are asked for.
  for (size_t turn = 0; done < options.faults && turn < 20 * kinds.size();
       ++turn) {
    const FaultKind kind = kinds[(options.seed + turn) % kinds.size()];
    const std::optional<Mutant> mutant = Draw(victim, kind, random);
    if (!mutant || !tried.insert({kind, mutant->place}).second) continue;
    KILN_ASSIGN_OR_RETURN(const Row judged,
                          Judge(victim, *mutant, runner, options));
    // The compiler refuses it: no kernel to check.
    if (judged.verdict.compare(0, 11, "build_error") == 0) continue;
    row(judged);
    ++done;
  }
  return absl::OkStatus();
}

}  // namespace kiln::mutation
