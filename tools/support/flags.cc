// Abseil keeps the flags and their types; the command line is read here, for
// names with dashes, and for errors that tell the way out.
//
//   --work-dir out      as --work_dir=out
//   --noauto            false for a boolean flag
//   --trace --stage     refused: --trace has no value (--trace=--stage has one)
//   --modul m.py        refused: did you mean --module?
//
// Flags of libraries that happen to be linked work, but --help lists only those
// that are defined below tools/ or examples/.
#include "kiln/tools/support/flags.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/reflection.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/reader/scope.h"

namespace kiln {
namespace {

constexpr size_t kColumns = 80;

std::string WithDashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// The parts of "--name" or "--name=value".
struct Argument {
  std::string name;  // with underscores
  std::optional<std::string> value;
};

// nullopt for what is no flag, "-" included.
std::optional<Argument> Split(std::string_view arg) {
  if (arg.size() < 2 || arg[0] != '-') return std::nullopt;
  arg.remove_prefix(arg[1] == '-' ? 2 : 1);
  Argument split;
  const size_t equals = arg.find('=');
  split.name = std::string(arg.substr(0, equals));
  std::replace(split.name.begin(), split.name.end(), '-', '_');
  if (equals != arg.npos) split.value = std::string(arg.substr(equals + 1));
  return split;
}

absl::CommandLineFlag* FindFlag(std::string_view arg) {
  const std::optional<Argument> split = Split(arg);
  if (!split || split->name.empty()) return nullptr;
  return absl::FindCommandLineFlag(split->name);
}

// All of this tool, without those of libraries.
std::map<std::string, const absl::CommandLineFlag*> ToolFlags() {
  std::map<std::string, const absl::CommandLineFlag*> flags;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    const std::string file = flag->Filename();
    if (!absl::StrContains(file, "tools/") &&
        !absl::StrContains(file, "examples/")) {
      continue;
    }
    flags[WithDashes(std::string(name))] = flag;
  }
  return flags;
}

// "; did you mean --work-dir?" for what is nearly a flag, or "".
std::string Suggestion(const std::string& name) {
  const auto flags = ToolFlags();
  std::vector<std::string_view> names;
  for (const auto& [known, flag] : flags) names.push_back(known);
  const std::string closest = script::ClosestName(WithDashes(name), names);
  return closest.empty() ? "" : absl::StrCat("; did you mean --", closest, "?");
}

// What a flag of numbers or of yes and no takes, or "".
std::string Wanted(const absl::CommandLineFlag& flag) {
  if (flag.IsOfType<bool>()) return ", which takes true or false";
  if (flag.IsOfType<uint64_t>())
    return ", which takes a whole number from 0 on";
  if (flag.IsOfType<double>()) return ", which takes a number";
  const bool whole = flag.IsOfType<int>() || flag.IsOfType<int64_t>() ||
                     flag.IsOfType<absl::optional<int64_t>>();
  return whole ? ", which takes a whole number" : "";
}

absl::Status Set(absl::CommandLineFlag& flag, const std::string& value) {
  std::string error;
  if (flag.ParseFrom(value, &error)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--", WithDashes(std::string(flag.Name())), ": \"", value,
      "\" is no value of this flag", Wanted(flag), "; --help tells more"));
}

// Whether it is --noname; the boolean flag is cleared then.
bool Clear(const Argument& arg) {
  if (arg.value || !absl::StartsWith(arg.name, "no")) return false;
  absl::CommandLineFlag* flag = absl::FindCommandLineFlag(arg.name.substr(2));
  std::string error;
  return flag && flag->IsOfType<bool>() && flag->ParseFrom("false", &error);
}

// Sets one flag, whose value may be `next` (null: the end). True where it is.
absl::StatusOr<bool> Take(const std::string& text, const Argument& arg,
                          const char* next) {
  absl::CommandLineFlag* flag = FindFlag(text);
  if (!flag) {
    if (Clear(arg)) return false;
    return absl::InvalidArgumentError(
        absl::StrCat("--", WithDashes(arg.name), " is no flag of this tool",
                     Suggestion(arg.name), "; --help lists them"));
  }
  if (arg.value) {
    KILN_RETURN_IF_ERROR(Set(*flag, *arg.value));
    return false;
  }
  if (flag->IsOfType<bool>()) {
    KILN_RETURN_IF_ERROR(Set(*flag, "true"));
    return false;
  }
  if (!next) {
    return absl::InvalidArgumentError(absl::StrCat(text, " has no value"));
  }
  if (FindFlag(next)) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, " has no value: ", next,
                     " is the next flag; a value of that name is given by ",
                     text, "=", next));
  }
  KILN_RETURN_IF_ERROR(Set(*flag, next));
  return true;
}

// Appends the words, each line indented, up to the width of a terminal.
void AppendWrapped(const std::string& words, std::string* text) {
  size_t column = kColumns;
  for (absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    if (column + 1 + word.size() > kColumns) {
      absl::StrAppend(text, "\n     ");
      column = 5;
    }
    absl::StrAppend(text, " ", word);
    column += 1 + word.size();
  }
  absl::StrAppend(text, "\n");
}

}  // namespace

absl::StatusOr<CommandLineRequest> ParseFlags(
    int argc, char** argv, std::vector<std::string>* positional) {
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::optional<Argument> arg = Split(text);
    if (!arg && positional && text != "-") {
      positional->push_back(text);
      continue;
    }
    if (!arg) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text,
                       "\" is no flag; flags begin with two dashes, and "
                       "--help lists them"));
    }
    if (arg->name == "help" || arg->name == "h") {
      return CommandLineRequest::kHelp;
    }
    if (arg->name == "version") return CommandLineRequest::kVersion;
    KILN_ASSIGN_OR_RETURN(
        const bool took_next,
        Take(text, *arg, i + 1 < argc ? argv[i + 1] : nullptr));
    i += took_next;
  }
  return CommandLineRequest::kRun;
}

std::string FirstGiven(absl::Span<const char* const> names) {
  for (const char* name : names) {
    const absl::CommandLineFlag* flag = FindFlag(absl::StrCat("--", name));
    if (flag && flag->CurrentValue() != flag->DefaultValue()) return name;
  }
  return "";
}

std::string HelpText(const std::string& usage) {
  std::string text = absl::StrCat(usage, "\n\nFlags, with their defaults:\n");
  for (const auto& [name, flag] : ToolFlags()) {
    const std::string value = flag->DefaultValue();
    absl::StrAppend(&text, "  --", name, value.empty() ? "" : "=", value);
    AppendWrapped(flag->Help(), &text);
  }
  absl::StrAppend(&text, "  --help\n      this text\n");
  absl::StrAppend(&text, "  --version\n      the versions of Kiln and LLVM\n");
  return text;
}

}  // namespace kiln
