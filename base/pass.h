// Passes over a program, and what is done with all of them: timing, dumping,
// checking each against the one before it, ending early, leaving some out, and
// finding the one that breaks a program.
//
//   constexpr Pass<Function, LowerOptions> kPasses[] = {
//       {"loops", "flatten_buffers", FlattenBuffers},
//       {"loops", "hoist", Hoist, PassKind::kOptional}, ...};
//   PassControl<Function> control;
//   control.stop_after = "loops";
//   control.observe = [](std::string_view pass, const Function& f, double s) {
//     std::cerr << "after " << pass << "\n" << Print(f);
//   };
//   absl::StatusOr<Function> g = RunPasses(kPasses, f, options, control);
//
// A program is any value that copies: a function, a module, a graph.
#ifndef KILN_BASE_PASS_H_
#define KILN_BASE_PASS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kiln/base/clock.h"

namespace kiln {

enum class PassKind : uint8_t {
  kRequired,  // what follows relies on it
  kOptional,  // only makes programs faster
  // Decides what the author of a program left open. Optional, too.
  kAuto,
};

// Gives a new program that means the same.
template <typename Program, typename Options>
struct Pass {
  std::string_view stage;  // passes of one stage follow each other
  std::string_view name;
  absl::StatusOr<Program> (*run)(Program, const Options&);
  PassKind kind = PassKind::kRequired;
};

template <typename Program>
struct PassControl {
  // How many of the passes that are not required may run: the first so many.
  size_t num_optional = std::numeric_limits<size_t>::max();
  // Whether those that are not required, and are kAuto, may run.
  bool is_auto = true;
  // The pass, or the stage, to end with; empty: the last. An unknown name is an
  // error.
  std::string stop_after;
  // Called with the name, the result and the duration of each pass.
  std::function<void(std::string_view pass, const Program& after,
                     double seconds)>
      observe;
  // Asked about each pass; an error ends the run. Costs a copy of the program
  // a pass.
  std::function<absl::Status(std::string_view pass, const Program& before,
                             const Program& after)>
      verify;
};

namespace pass_internal {

// The error of a pass, under its name.
inline absl::Status Annotate(std::string_view pass,
                             const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat(std::string(pass), ": ", std::string(status.message())));
}

template <typename Program, typename Options>
absl::StatusOr<Program> RunOne(const Pass<Program, Options>& pass,
                               Program program, const Options& options,
                               const PassControl<Program>& control) {
  const Program before = control.verify ? program : Program();
  const double start = control.observe ? MonotonicSeconds() : 0;
  absl::StatusOr<Program> after = pass.run(std::move(program), options);
  if (!after.ok()) return Annotate(pass.name, after.status());
  if (control.observe)
    control.observe(pass.name, *after, MonotonicSeconds() - start);
  if (!control.verify) return after;
  const absl::Status status = control.verify(pass.name, before, *after);
  if (!status.ok()) return Annotate(pass.name, status);
  return after;
}

}  // namespace pass_internal

// The names of the stages, in order.
template <typename Program, typename Options>
std::vector<std::string> StagesOf(
    absl::Span<const Pass<Program, Options>> passes) {
  std::vector<std::string> stages;
  for (const auto& pass : passes) {
    if (stages.empty() || stages.back() != pass.stage) {
      stages.emplace_back(pass.stage);
    }
  }
  return stages;
}

// Runs the passes in order. Errors are prefixed with the name of the pass.
template <typename Program, typename Options>
absl::StatusOr<Program> RunPasses(
    absl::Span<const Pass<Program, Options>> passes, Program program,
    const Options& options, const PassControl<Program>& control = {}) {
  const std::string& end = control.stop_after;
  size_t last = 0;  // how many there are up to that one
  for (size_t i = 0; i < passes.size(); ++i) {
    const bool ends =
        end.empty() || end == passes[i].name || end == passes[i].stage;
    if (ends) last = i + 1;
  }
  if (last == 0 && !end.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no pass or stage is called ", end));
  }
  size_t optional = 0;
  for (const auto& pass : passes.subspan(0, last)) {
    const bool required = pass.kind == PassKind::kRequired;
    if (!required && optional++ >= control.num_optional) continue;
    if (pass.kind == PassKind::kAuto && !control.is_auto) continue;
    absl::StatusOr<Program> after =
        pass_internal::RunOne(pass, std::move(program), options, control);
    if (!after.ok()) return after.status();
    program = *std::move(after);
  }
  return program;
}

// The pass that breaks a program, by halving: the first of those that are not
// required with which the result is not `is_good` any more, where it is without
// it and all that are not required after it. Empty where the result is good
// with all of them; kFailedPrecondition where it is not good with none. A run
// that fails counts as not good.
template <typename Program, typename Options>
absl::StatusOr<std::string> BisectPasses(
    absl::Span<const Pass<Program, Options>> passes, const Program& program,
    const Options& options,
    const std::function<bool(const Program& result)>& is_good) {
  const auto is_good_with = [&](size_t count) {
    PassControl<Program> control;
    control.num_optional = count;
    absl::StatusOr<Program> result =
        RunPasses(passes, program, options, control);
    return result.ok() && is_good(*result);
  };
  size_t good = 0, bad = 0;
  for (const auto& pass : passes) bad += pass.kind != PassKind::kRequired;
  if (is_good_with(bad)) return std::string();
  if (!is_good_with(good)) {
    return absl::FailedPreconditionError(
        "the program is broken by the passes that are required, too");
  }
  while (bad - good > 1) {
    const size_t middle = good + (bad - good) / 2;
    (is_good_with(middle) ? good : bad) = middle;
  }
  size_t optional = 0;
  for (const auto& pass : passes) {
    if (pass.kind == PassKind::kRequired || ++optional != bad) continue;
    return std::string(pass.name);
  }
  return std::string();
}

}  // namespace kiln

#endif  // KILN_BASE_PASS_H_
