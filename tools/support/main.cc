#include "kiln/tools/support/main.h"

#include <unistd.h>

#include <cstdio>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/interrupt.h"

namespace kiln {
namespace {

// The part of `arg` after "--name" or "-name"; null when it is another flag.
const char* AfterFlagName(const char* arg, std::string_view name) {
  std::string_view rest = arg;
  if (rest.empty() || rest[0] != '-') return nullptr;
  const size_t dashes = rest.substr(0, 2) == "--" ? 2 : 1;
  if (rest.substr(dashes, name.size()) != name) return nullptr;
  const char* after = arg + dashes + name.size();
  return *after == '\0' || *after == '=' ? after : nullptr;
}

// absl flags have underscores in their names; users may type dashes.
void SpellFlagsWithUnderscores(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).substr(0, 2) != "--") continue;
    for (char* c = argv[i] + 2; *c != '\0' && *c != '='; ++c) {
      if (*c == '-') *c = '_';
    }
  }
}

// The flag that "--name", "-name" or "--name=value" sets; null for all else.
absl::CommandLineFlag* FindFlag(std::string_view arg) {
  if (arg.size() < 2 || arg[0] != '-') return nullptr;
  arg.remove_prefix(arg[1] == '-' ? 2 : 1);
  const std::string name(arg.substr(0, arg.find('=')));
  return name.empty() ? nullptr : absl::FindCommandLineFlag(name);
}

// Whether the value of the flag `arg`, a string, is the next argument.
bool AwaitsText(std::string_view arg) {
  absl::CommandLineFlag* flag = FindFlag(arg);
  return flag && flag->IsOfType<std::string>() &&
         arg.find('=') == std::string_view::npos;
}

// "--module=-" for "--module -", since absl warns of values with a dash.
absl::StatusOr<std::vector<std::string>> JoinDashValues(int argc, char** argv) {
  std::vector<std::string> joined;
  bool awaits_value = false;
  for (int i = 0; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (awaits_value && FindFlag(arg)) {
      return absl::InvalidArgumentError(
          absl::StrCat(joined.back(), " has no value: ", argv[i],
                       " is the next flag; a value of that name is given by ",
                       joined.back(), "=", argv[i]));
    }
    if (awaits_value && arg.substr(0, 1) == "-") {
      joined.back() += "=" + std::string(arg);
      awaits_value = false;
      continue;
    }
    joined.emplace_back(arg);
    awaits_value = !awaits_value && i > 0 && AwaitsText(arg);
  }
  return joined;
}

std::string BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

// Messages quote what they are about: a byte 0 or an escape in it neither ends
// the message nor reaches the terminal.
std::string Printable(std::string_view message) {
  std::string text(message);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < ' ' && c != '\n' && c != '\t') || byte == 0x7f) c = '?';
  }
  return text;
}

int Fail(const char* program, std::string_view message) {
  std::fprintf(stderr, "%s: %s\n", BaseName(program).c_str(),
               Printable(message).c_str());
  return kExitError;
}

}  // namespace

std::vector<std::string> TakeRepeatedFlag(int* argc, char** argv,
                                          std::string_view name) {
  std::vector<std::string> values;
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const char* after = AfterFlagName(argv[i], name);
    if (!after) {
      argv[kept++] = argv[i];
    } else if (*after == '=') {
      values.push_back(after + 1);
    } else if (i + 1 < *argc) {
      values.push_back(argv[++i]);
    } else {
      argv[kept++] = argv[i];
    }
  }
  *argc = kept;
  argv[kept] = nullptr;
  return values;
}

void FinishOnInterrupt(std::string_view tool, std::string_view what) {
  // A terminal shows progress, or ^C, on the line.
  const std::string_view line_end = isatty(STDERR_FILENO) ? "\n" : "";
  InstallInterruptHandler(absl::StrCat(
      std::string(line_end), std::string(tool), ": interrupted, ",
      std::string(what), "; a second interrupt ends it at once\n"));
}

int RunTool(int argc, char** argv, const std::string& usage,
            absl::StatusOr<int> (*body)()) {
  SpellFlagsWithUnderscores(argc, argv);
  absl::StatusOr<std::vector<std::string>> joined = JoinDashValues(argc, argv);
  if (!joined.ok()) {
    return Fail(argv[0], std::string(joined.status().message()));
  }
  std::vector<char*> pointers;
  for (std::string& arg : *joined) pointers.push_back(arg.data());
  pointers.push_back(nullptr);
  argc = static_cast<int>(joined->size());
  argv = pointers.data();
  absl::SetProgramUsageMessage(usage);
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    return Fail(argv[0], absl::StrCat("\"", rest[1],
                                      "\" is no flag; flags begin with two "
                                      "dashes, and --help lists them"));
  }
  absl::StatusOr<int> result = body();
  const int status =
      result.ok() ? *result
                  : Fail(argv[0], std::string(result.status().message()));
  return InterruptSignal() == 0 ? status : kExitSignal + InterruptSignal();
}

}  // namespace kiln
