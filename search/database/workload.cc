#include "kiln/search/database/workload.h"

#include <cctype>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool IsDType(const std::string& word) {
  for (const char* kind : {"float", "int", "uint", "bfloat", "bool"}) {
    const std::string prefix = kind;
    if (word.compare(0, prefix.size(), prefix) != 0) continue;
    return word.find_first_not_of("0123456789", prefix.size()) == word.npos;
  }
  return false;
}

bool IsNumber(const std::string& word) {
  return word.find_first_not_of("0123456789") == word.npos;
}

// Block names as numbers by first appearance: "0 1 2 1" has two namesakes.
std::string NamesakesOf(const Function& f) {
  std::map<std::string, size_t> numbers;
  std::string pattern;
  ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
    const auto place =
        numbers.emplace(realize.block->name, numbers.size()).first;
    absl::StrAppend(&pattern, " ", place->second);
  });
  return pattern;
}

// What a workload is found by where its key is not known: of a function that is
// timed at a size, the key of the one for all sizes.
std::string OutlineKey(const Function& f) {
  if (!TimedSize(f)) return Sha256Hex(Outline(f, true, true));
  Function at_any_size = f;
  SetTimedSize(&at_any_size, {});
  return WorkloadKey(at_any_size);
}

}  // namespace

std::string WorkloadKey(const Function& f) {
  return Sha256Hex(absl::StrCat(NamesakesOf(f), "\n", CanonicalForm(f)));
}

std::string Outline(const Function& f, bool no_numbers, bool no_types) {
  Module module;
  module.functions.push_back(Normalize(f));
  module.functions[0].name = "f";
  module.functions[0].attrs = AttrMap();
  const std::string text = PrintModule(module);
  std::string outline, word;
  const auto end_word = [&] {
    if (no_numbers && !word.empty() && IsNumber(word)) word = "#";
    if (no_types && IsDType(word)) word = "?";
    outline += std::exchange(word, "");
  };
  for (char c : text) {
    if (IsWordCharacter(c)) {
      word += c;
    } else {
      end_word();
      outline += c;
    }
  }
  end_word();
  return outline;
}

Workload WorkloadOf(const Module& module, const std::string& function) {
  Workload workload;
  workload.text = PrintModule(module);
  workload.func_name = function;
  const Function& f = *module.Find(function);
  workload.key = WorkloadKey(f);
  workload.outline = OutlineKey(f);
  return workload;
}

absl::StatusOr<StoredFunction> ReadWorkload(const Workload& workload) {
  StoredFunction stored;
  KILN_ASSIGN_OR_RETURN(stored.module,
                        ParseModule("<workload>", workload.text));
  for (size_t i = 0; i < stored.module.functions.size(); ++i) {
    if (stored.module.functions[i].name != workload.func_name) continue;
    stored.index = static_cast<int>(i);
    return stored;
  }
  return absl::NotFoundError(absl::StrCat("the module of workload ",
                                          workload.key, " has no function \"",
                                          workload.func_name, "\""));
}

Workload WithKey(Workload workload) {
  const absl::StatusOr<StoredFunction> stored = ReadWorkload(workload);
  if (!stored.ok()) return workload;
  workload.key = WorkloadKey(stored->get());
  workload.outline = OutlineKey(stored->get());
  return workload;
}

}  // namespace kiln
