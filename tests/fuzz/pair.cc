// A seed decides everything, so that a failure is a number: the program
// (formulas for even seeds, loop nests for odd ones, large formulas for one in
// 64), schedule, inputs, and the order in which parallel loops run. --pairs 1
// --seed 4711 is pair 4711 of any run.
//
// A failing pair is made small in three steps, each of which keeps the kind of
// the failure, the part of its message before the colon:
//
//   steps go that the failure does not need
//   the program shrinks under the steps that stay
//   steps go that the smaller program does not need
//
// The program shrinks only if it fails on inputs drawn for itself, as smaller
// programs have no inputs from before.
#include "kiln/tests/fuzz/pair.h"

#include <functional>
#include <iostream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/testing/random_nests.h"
#include "kiln/ir/testing/scalar_args.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/tests/fuzz/check.h"
#include "kiln/tests/fuzz/inputs.h"
#include "kiln/tests/fuzz/sandbox.h"
#include "kiln/tests/fuzz/shrink.h"
#include "kiln/tests/fuzz/shrink_program.h"

namespace kiln {
namespace {

constexpr int64_t kSymbol = 7;

// "compiled" of "compiled: C element ..."; of default schedules, the trace does
// not matter.
std::string Kind(const absl::Status& status) {
  const std::string message(status.message());
  if (absl::StartsWith(message, "default schedule")) return "default schedule";
  return message.substr(0, message.find(':'));
}

using Check = std::function<absl::Status(const Case&, const Trace&)>;

absl::StatusOr<Case> MakeCase(const Function& f, std::vector<Tensor> inputs) {
  Module module;
  module.functions.push_back(f);
  Case c{State(module), std::move(inputs), {}};
  c.expected = c.inputs;
  KILN_RETURN_IF_ERROR(InterpretWithScalars(f, c.expected));
  return c;
}

// A failing pair on its way to a small one.
class Explanation {
 public:
  Explanation(uint64_t seed, int64_t symbol, Case c, Trace trace, Check check)
      : seed_(seed),
        symbol_(symbol),
        case_(std::move(c)),
        trace_(std::move(trace)),
        check_(std::move(check)),
        kind_(Kind(check_(case_, trace_))) {}

  absl::Status Shortest() {
    ShortenTrace();
    // The program is run on inputs of its own, on which it has to fail too.
    const Function& f = *case_.start.functions[0];
    if (Fails(f)) {
      const Function small = ShrinkProgram(
          f, [this](const Function& smaller) { return Fails(smaller); });
      case_ = *CaseOf(small);
      ShortenTrace();
    }
    return Report();
  }

 private:
  absl::StatusOr<Case> CaseOf(const Function& f) const {
    KILN_ASSIGN_OR_RETURN(std::vector<Tensor> inputs,
                          DrawInputs(f, seed_, symbol_));
    return MakeCase(f, std::move(inputs));
  }

  bool IsSame(const Case& c, const Trace& trace) const {
    if (!Replay(trace, c.start).ok()) return false;
    const absl::Status status = check_(c, trace);
    return !status.ok() && Kind(status) == kind_;
  }

  bool Fails(const Function& f) const {
    const absl::StatusOr<Case> c = CaseOf(f);
    return c.ok() && IsSame(*c, trace_);
  }

  void ShortenTrace() {
    trace_ = Shrink(trace_, case_.start,
                    [this](const Trace& t) { return IsSame(case_, t); });
  }

  absl::Status Report() const {
    const Function& f = *case_.start.functions[0];
    std::string text =
        absl::StrCat("pair ", seed_, " (--pairs 1 --seed ", seed_,
                     "): ", std::string(check_(case_, trace_).message()), "\n",
                     PrintFunction(f, {.header = false}), ToText(trace_));
    absl::StatusOr<State> end = Replay(trace_, case_.start);
    if (end.ok() && !trace_.instructions.empty()) {
      absl::StrAppend(&text, "# scheduled\n",
                      PrintFunction(*end->functions[0], {.header = false}));
    }
    return absl::InternalError(text);
  }

  const uint64_t seed_;
  const int64_t symbol_;
  Case case_;
  Trace trace_;
  const Check check_;
  const std::string kind_;
};

std::vector<Check> AllChecks(uint64_t seed, FuzzCounts* counts) {
  const auto order = static_cast<LoopOrder>(seed % 3);
  const auto results = [seed, order, counts](const Case& c, const Trace& t) {
    Checked checked{};
    KILN_RETURN_IF_ERROR(CheckCompiled(c, t, order, &checked));
    const bool compiled = checked == Checked::kCompiled;
    ++(compiled ? counts->compiled : counts->not_for_cpu);
    return CheckInterpreted(c, t, /*reverse=*/seed % 2 == 0);
  };
  return {results, CheckReplays, CheckRoundTrips};
}

// Formulas for even seeds, nests for odd ones.
absl::StatusOr<NestProgram> ProgramOf(uint64_t seed,
                                      const PairOptions& options) {
  if (options.given) {
    NestProgram program{"", *options.given, {}};
    KILN_ASSIGN_OR_RETURN(program.inputs,
                          DrawInputs(program.function, seed, kSymbol));
    return program;
  }
  if (seed % 2 == 1) return RandomNests(seed);
  RandomProgramOptions sized = options.program;
  if (seed % 64 == 2) {
    // Sizes at which loops are blocked and prefetched.
    sized = {.max_stages = 2, .max_extent = 160, .max_work = 1 << 18};
  }
  Function f = RandomProgram(seed, sized);
  std::vector<Tensor> inputs = RandomInputs(f, seed);
  return NestProgram{"", std::move(f), std::move(inputs)};
}

// The value of the symbolic extent, if there is one.
int64_t SymbolOf(const NestProgram& program) {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Buffer& buffer = program.function.params[i].buffer;
    for (size_t d = 0; buffer && d < buffer->shape.size(); ++d) {
      if (!AsInt(buffer->shape[d])) return program.inputs[i].shape[d];
    }
  }
  return kSymbol;
}

}  // namespace

absl::Status CheckPair(uint64_t seed, const PairOptions& options,
                       FuzzCounts* counts) {
  SetCurrentTask(seed);
  ++counts->pairs;
  KILN_ASSIGN_OR_RETURN(const NestProgram program, ProgramOf(seed, options));
  const Function& f = program.function;
  absl::StatusOr<Schedule> schedule =
      RandomSchedule(f, seed, &counts->steps, options.trace);
  if (!schedule.ok()) {
    return absl::InternalError(absl::StrCat(
        "pair ", seed, ": not a refusal: ", schedule.status().ToString()));
  }
  const Trace& trace = schedule->trace();
  if (options.print) {
    std::cout << PrintFunction(f, {.header = false}) << ToText(trace)
              << std::flush;
  }
  counts->instructions += std::ssize(trace.instructions);
  KILN_ASSIGN_OR_RETURN(const Case c, MakeCase(f, program.inputs));
  const auto by_default = [seed](const Case& at, const Trace&) {
    return CheckDefault(at, seed, static_cast<LoopOrder>(seed / 2 % 3));
  };
  const auto explain = [&](const Trace& of, const Check& check) {
    const FuzzCounts before = *counts;
    const absl::Status explained =
        Explanation(seed, SymbolOf(program), c, of, check).Shortest();
    *counts = before;  // shrinking does not count
    return explained;
  };
  if (!by_default(c, Trace()).ok()) return explain(Trace(), by_default);
  for (const Check& check : AllChecks(seed, counts)) {
    if (!check(c, trace).ok()) return explain(trace, check);
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
