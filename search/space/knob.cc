// A knob is a step of a trace that samples, with the list of what it may
// choose. The list depends on the program before the step, so that the walk
// replays the trace step by step and asks each sampling step about its
// arguments there:
//
//   v0, v1 = sch.sample_perfect_tile(i, n=2, max_innermost_factor=4)   i of 8
//     "8 as 2 factors, the last at most 4": [2, 4], [4, 2], [8, 1]
//
// Where the wanted choice is none of the list, the first stands in for it, and
// the walk goes on; a refused step ends it, and what was met so far is kept.
#include "kiln/search/space/knob.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/primitive/sample.h"
#include "kiln/schedule/rewrite/perfect_tilings.h"
#include "kiln/schedule/trace/instruction.h"
#include "kiln/schedule/trace/tuple.h"

namespace kiln {
namespace {

// All ordered products of `n` factors, the last at most `max_innermost`.
void AddTilings(int64_t extent, int64_t n, int64_t max_innermost,
                Decision* begun, std::vector<Decision>* all) {
  if (all->size() >= kMaxKnobChoices) return;
  if (n == 1) {
    if (extent > max_innermost) return;
    begun->push_back(extent);
    all->push_back(*begun);
    begun->pop_back();
    return;
  }
  for (int64_t factor : Divisors(Factorize(extent))) {
    begun->push_back(factor);
    AddTilings(extent / factor, n - 1, max_innermost, begun, all);
    begun->pop_back();
  }
}

// What stands before the step, to ask about its arguments.
class Before {
 public:
  Before(const Instruction& instruction, const State& state)
      : state_(state), context_(instruction, &state_, {}, 0, 0) {}
  ApplyContext* operator->() { return &context_; }

 private:
  State state_;
  ApplyContext context_;
};

absl::Status FillTiles(const Instruction& instruction, const State& before,
                       const Decision& sampled, Knob* knob) {
  Before at(instruction, before);
  KILN_ASSIGN_OR_RETURN(const int64_t n, at->integer(1));
  KILN_ASSIGN_OR_RETURN(const int64_t innermost, at->integer(2));
  int64_t extent = 1;
  for (int64_t factor : sampled) extent *= factor;
  if (extent < 0) {  // known at run time
    knob->choices = {sampled};
    knob->what = "a loop of symbolic extent, whole";
    return absl::OkStatus();
  }
  Decision begun;
  AddTilings(extent, n, innermost, &begun, &knob->choices);
  knob->what =
      absl::StrCat(extent, " as ", n, " factors, the last at most ", innermost);
  return absl::OkStatus();
}

absl::Status FillCategories(const Instruction& instruction, const State& before,
                            Knob* knob) {
  Before at(instruction, before);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> values, at->integers(0));
  for (size_t i = 0; i < values.size(); ++i) {
    knob->choices.push_back({static_cast<int64_t>(i)});
  }
  knob->what = absl::StrCat("one of ", absl::StrJoin(values, ", "));
  return absl::OkStatus();
}

void FillTuples(const Instruction& instruction, Knob* knob) {
  std::vector<std::string> tuples;
  for (const Arg& tuple : *instruction.args[0].list()) {
    knob->choices.push_back(ValuesOfTuple(tuple));
    tuples.push_back(
        absl::StrCat("(", absl::StrJoin(knob->choices.back(), ", "), ")"));
  }
  knob->what = absl::StrCat("one of ", absl::StrJoin(tuples, ", "));
}

absl::Status FillLocations(const Instruction& instruction, const State& before,
                           Knob* knob) {
  Before at(instruction, before);
  const BlockId block = at->block(0);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> locations,
                        ComputeLocations(at->function(), block));
  for (int64_t location : locations) knob->choices.push_back({location});
  knob->what = "a place for the block";
  return absl::OkStatus();
}

// `sampled` is some decision of the step.
absl::Status Fill(const Instruction& instruction, const State& before,
                  const Decision& sampled, Knob* knob) {
  const std::string_view kind = instruction.kind->name;
  if (kind == "sample_perfect_tile") {
    return FillTiles(instruction, before, sampled, knob);
  }
  if (kind == "sample_categorical") {
    return FillCategories(instruction, before, knob);
  }
  if (kind == "sample_tuple") {
    FillTuples(instruction, knob);
    return absl::OkStatus();
  }
  if (kind == "sample_compute_location") {
    return FillLocations(instruction, before, knob);
  }
  knob->choices = {sampled};
  return absl::OkStatus();
}

// The step's knob, with the wanted choice chosen.
absl::StatusOr<Knob> KnobAt(const Trace& trace, size_t step,
                            const State& before, const Decision& wanted) {
  State scratch = before;
  Decisions made(trace.instructions.size());
  KILN_RETURN_IF_ERROR(Replay(trace, step, step + 1,
                              Decisions(trace.instructions.size()), 0, &scratch,
                              &made));
  Knob knob;
  knob.step = step;
  KILN_RETURN_IF_ERROR(
      Fill(trace.instructions[step], before, made[step], &knob));
  const auto at = std::find(knob.choices.begin(), knob.choices.end(), wanted);
  if (at != knob.choices.end()) knob.chosen = at - knob.choices.begin();
  return knob;
}

}  // namespace

KnobWalk WalkKnobs(const Trace& trace, const Decisions& open,
                   const State& start, const Decisions& wanted) {
  KnobWalk walk;
  const size_t count = trace.instructions.size();
  walk.made.assign(count, {});
  Decisions decisions = open;
  State state = start;
  for (size_t i = 0; i < count && walk.refusal.ok(); ++i) {
    if (trace.instructions[i].kind->samples && open[i].empty()) {
      absl::StatusOr<Knob> knob =
          KnobAt(trace, i, state, i < wanted.size() ? wanted[i] : Decision());
      if (!knob.ok()) {
        walk.refusal = knob.status();
        break;
      }
      if (knob->choices.empty()) {
        walk.refusal = absl::FailedPreconditionError("there is no choice");
        break;
      }
      knob->name = absl::StrCat("knob", walk.knobs.size());
      decisions[i] = knob->choices[knob->chosen];
      walk.knobs.push_back(*std::move(knob));
    }
    walk.refusal = Replay(trace, i, i + 1, decisions, 0, &state, &walk.made);
  }
  return walk;
}

}  // namespace kiln
