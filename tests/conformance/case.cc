// A case passes through gates, and the first that it does not pass decides:
//
//   every primitive exists in Kiln            or: skipped
//   `before` is read, all steps carried out   or: refused, or different
//   the result is well-formed                 or: wrong
//   the result equals `after`                 or: different
//   with --execute: both compute the same     or: wrong
//
// A refusal is as recorded only if the step that refuses is the last one: of
//
//   def f(sch):                     line 1
//       b = sch.get_block("C")      line 2: refused here, the case is different
//       sch.compute_inline(b)       line 3: refused here, it is as recorded
//
// Otherwise a missing feature in an early step would pass for a check.
#include "kiln/tests/conformance/case.h"

#include <google/protobuf/struct.pb.h>
#include <re2/re2.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/json.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/trace/instruction.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/tests/conformance/same_meaning.h"
#include "kiln/tools/support/replay.h"

namespace kiln {
namespace {

using google::protobuf::Struct;

// Calls that choose what to work on and change nothing.
bool IsLookup(const std::string& name) {
  return name.rfind("get_", 0) == 0 || name == "enter_postproc";
}

std::set<std::string> CalledMethods(const std::string& steps) {
  static const RE2* const call = new RE2(R"(\bsch\.(\w+)\()");
  std::set<std::string> names;
  re2::StringPiece rest(steps);
  std::string name;
  while (RE2::FindAndConsume(&rest, *call, &name)) names.insert(name);
  return names;
}

absl::StatusOr<std::string> Text(const Struct& object, const char* key,
                                 bool required) {
  const auto found = object.fields().find(key);
  if (found != object.fields().end() && found->second.has_string_value()) {
    return found->second.string_value();
  }
  if (!required) return std::string();
  return absl::InvalidArgumentError(
      absl::StrCat("the case has no text \"", key, "\""));
}

absl::StatusOr<ScheduleCase> ToCase(const Struct& object) {
  ScheduleCase c;
  KILN_ASSIGN_OR_RETURN(c.id, Text(object, "id", true));
  KILN_ASSIGN_OR_RETURN(c.source, Text(object, "source", false));
  KILN_ASSIGN_OR_RETURN(c.before, Text(object, "before", true));
  KILN_ASSIGN_OR_RETURN(c.steps, Text(object, "steps", true));
  KILN_ASSIGN_OR_RETURN(std::string outcome, Text(object, "outcome", true));
  if (outcome != "same" && outcome != "refuse") {
    return absl::InvalidArgumentError(
        absl::StrCat("outcome \"", outcome, "\" is neither same nor refuse"));
  }
  c.refuses = outcome == "refuse";
  KILN_ASSIGN_OR_RETURN(c.after, Text(object, "after", !c.refuses));
  for (const std::string& name : CalledMethods(c.steps)) {
    if (!IsLookup(name)) c.primitives.insert(name);
  }
  const auto peer = object.fields().find("peer_us");
  if (peer != object.fields().end()) c.peer_us = peer->second.number_value();
  return c;
}

absl::StatusOr<ScheduleCase> ParseCase(std::string_view line) {
  Struct object;
  const absl::Status status = FromJson(line, &object);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a JSON object: ", status.message()));
  }
  return ToCase(object);
}

std::string MissingPrimitive(const ScheduleCase& c) {
  for (const std::string& name : CalledMethods(c.steps)) {
    if (!FindInstruction(name)) return name;
  }
  return "";
}

absl::StatusOr<Module> ReplayOn(const Module& before, const ScheduleCase& c) {
  return ApplyTraceText(before, absl::StrCat(c.id, ".steps"), c.steps, 0);
}

void Execute(const Module& before, const Module& after,
             const CaseOptions& options, CaseResult* result) {
  const Agreement agreement = CompareMeaning(before, after, options.seed);
  result->execution = agreement.detail;
  result->executed = agreement.executed;
  if (!agreement.agrees) {
    result->verdict = CaseVerdict::kWrong;
    result->detail = agreement.detail;
  }
}

CaseResult Judge(const ScheduleCase& c, const Module& got) {
  if (c.refuses) {
    return {CaseVerdict::kDifferent,
            "every step was accepted, but the last one "
            "should be refused\n"};
  }
  absl::StatusOr<Module> expected = ParseModule(c.id + ".after", c.after);
  if (!expected.ok()) {
    return {CaseVerdict::kDifferent, std::string(expected.status().message())};
  }
  const absl::Status valid = VerifyModule(got);
  // What is malformed before may be so afterwards.
  const absl::StatusOr<Module> before = ParseModule(c.id, c.before);
  if (!valid.ok() && before.ok() && VerifyModule(*before).ok()) {
    return {CaseVerdict::kWrong,
            absl::StrCat("malformed: ", std::string(valid.message()))};
  }
  const auto difference = FirstDifference(got, *expected);
  if (difference) return {CaseVerdict::kDifferent, *difference};
  return {CaseVerdict::kSame, ""};
}

}  // namespace

absl::StatusOr<std::vector<ScheduleCase>> ParseCases(std::string_view text) {
  std::vector<ScheduleCase> cases;
  int line_number = 0;
  const absl::string_view all(text.data(), text.size());
  for (absl::string_view line : absl::StrSplit(all, '\n')) {
    ++line_number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    absl::StatusOr<ScheduleCase> c = ParseCase({line.data(), line.size()});
    if (!c.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number, ": ", c.status().message()));
    }
    cases.push_back(*std::move(c));
  }
  return cases;
}

absl::StatusOr<Module> ReplayCase(const ScheduleCase& c) {
  KILN_ASSIGN_OR_RETURN(Module before, ParseModule(c.id, c.before));
  return ReplayOn(before, c);
}

namespace {

// The line of the last call of the schedule in the text.
int LastStepLine(const std::string& steps) {
  int line = 0, last = 0;
  for (absl::string_view text : absl::StrSplit(steps, '\n')) {
    ++line;
    const std::string one(text.data(), text.size());
    if (!CalledMethods(one).empty()) last = line;
  }
  return last;
}

// What became of a case whose steps were not all carried out.
CaseResult JudgeFailure(const ScheduleCase& c, const absl::Status& status) {
  const std::string message = absl::StrCat(status.message(), "\n");
  if (!c.refuses) return {CaseVerdict::kDifferent, message};
  const std::optional<int> line = RefusedLine(status);
  if (!line) {
    return {CaseVerdict::kDifferent,
            absl::StrCat("no step refuses, but there is an error: ", message)};
  }
  if (*line != LastStepLine(c.steps)) {
    return {CaseVerdict::kDifferent,
            absl::StrCat("refused before the last step: ", message)};
  }
  return {CaseVerdict::kRefused, message};
}

}  // namespace

CaseResult RunCase(const ScheduleCase& c, const CaseOptions& options) {
  const std::string missing = MissingPrimitive(c);
  if (!missing.empty()) return {CaseVerdict::kSkipped, missing};
  absl::StatusOr<Module> before = ParseModule(c.id, c.before);
  if (!before.ok()) return JudgeFailure(c, before.status());
  absl::StatusOr<Module> got = ReplayOn(*before, c);
  if (!got.ok()) return JudgeFailure(c, got.status());
  CaseResult result = Judge(c, *got);
  if (options.execute) Execute(*before, *got, options, &result);
  return result;
}

}  // namespace kiln
