#include "kiln/tests/fuzz/pair.h"

#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/testing/random_nests.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/tests/fuzz/check.h"
#include "kiln/tests/fuzz/sandbox.h"
#include "kiln/tests/fuzz/shrink.h"

namespace kiln {
namespace {

// "compiled" of "compiled: C element ...".
std::string Kind(const absl::Status& status) {
  const std::string message(status.message());
  return message.substr(0, message.find(':'));
}

using Check = std::function<absl::Status(const Trace&)>;

absl::Status Explain(uint64_t seed, const Case& c, const Trace& trace,
                     const Check& check, const absl::Status& status) {
  const std::string kind = Kind(status);
  const Trace shortest = Shrink(trace, c.start, [&](const Trace& t) {
    const absl::Status s = check(t);
    return !s.ok() && Kind(s) == kind;
  });
  std::string text =
      absl::StrCat("pair ", seed, " (--pairs 1 --seed ", seed,
                   "): ", std::string(check(shortest).message()), "\n",
                   PrintFunction(*c.start.functions[0], {.header = false}),
                   ToText(shortest));
  absl::StatusOr<State> end = Replay(shortest, c.start);
  if (end.ok()) {
    absl::StrAppend(&text, "# scheduled\n",
                    PrintFunction(*end->functions[0], {.header = false}));
  }
  return absl::InternalError(text);
}

std::vector<Check> AllChecks(const Case& c, uint64_t seed, FuzzCounts* counts) {
  const auto order = static_cast<LoopOrder>(seed % 3);
  const auto results = [&c, seed, order, counts](const Trace& t) {
    Checked checked{};
    KILN_RETURN_IF_ERROR(CheckCompiled(c, t, order, &checked));
    const bool compiled = checked == Checked::kCompiled;
    ++(compiled ? counts->compiled : counts->not_for_cpu);
    return CheckInterpreted(c, t, /*reverse=*/seed % 2 == 0);
  };
  return {results, [&c](const Trace& t) { return CheckReplays(c, t); },
          [&c](const Trace& t) { return CheckRoundTrips(c, t); }};
}

// Formulas for even seeds, nests for odd ones.
NestProgram ProgramOf(uint64_t seed, const RandomProgramOptions& options) {
  if (seed % 2 == 1) return RandomNests(seed);
  RandomProgramOptions sized = options;
  if (seed % 64 == 2) {
    // Sizes at which loops are blocked and prefetched.
    sized = {.max_stages = 2, .max_extent = 160, .max_work = 1 << 18};
  }
  Function f = RandomProgram(seed, sized);
  std::vector<Tensor> inputs = RandomInputs(f, seed);
  return {"", std::move(f), std::move(inputs)};
}

}  // namespace

absl::Status CheckPair(uint64_t seed, const PairOptions& options,
                       FuzzCounts* counts) {
  SetCurrentTask(seed);
  ++counts->pairs;
  const NestProgram program = ProgramOf(seed, options.program);
  const Function& f = program.function;
  absl::StatusOr<Schedule> schedule =
      RandomSchedule(f, seed, &counts->steps, options.trace);
  if (!schedule.ok()) {
    return absl::InternalError(absl::StrCat(
        "pair ", seed, ": not a refusal: ", schedule.status().ToString()));
  }
  const Trace& trace = schedule->trace();
  counts->instructions += std::ssize(trace.instructions);
  Case c{schedule->start(), program.inputs, {}};
  c.expected = c.inputs;
  KILN_RETURN_IF_ERROR(Interpret(f, c.expected));
  const absl::Status by_default =
      CheckDefault(c, seed, static_cast<LoopOrder>(seed / 2 % 3));
  if (!by_default.ok()) {
    return absl::InternalError(
        absl::StrCat("pair ", seed, " (--pairs 1 --seed ", seed,
                     "): ", std::string(by_default.message()), "\n",
                     PrintFunction(f, {.header = false})));
  }
  for (const Check& check : AllChecks(c, seed, counts)) {
    const absl::Status status = check(trace);
    const FuzzCounts before = *counts;
    if (status.ok()) continue;
    const absl::Status explained = Explain(seed, c, trace, check, status);
    *counts = before;  // shrinking does not count
    return explained;
  }
  return absl::OkStatus();
}

void Merge(const FuzzCounts& from, FuzzCounts* to) {
  Merge(from.steps, &to->steps);
  to->pairs += from.pairs;
  to->compiled += from.compiled;
  to->not_for_cpu += from.not_for_cpu;
  to->instructions += from.instructions;
}

std::string ToTable(const FuzzCounts& counts) {
  return absl::StrFormat(
      "%s%d pairs, %.1f instructions each; %d agreed through LLVM, %d are not "
      "for a CPU\n",
      ToTable(counts.steps), counts.pairs,
      counts.pairs ? double(counts.instructions) / counts.pairs : 0,
      counts.compiled, counts.not_for_cpu);
}

}  // namespace kiln
