#include "kiln/ir/compare/compare.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

// Lines that are shown before and after the one that differs.
constexpr size_t kBefore = 3;
constexpr size_t kAfter = 2;

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n');
}

std::string Excerpt(const std::vector<std::string>& lines, size_t at) {
  std::string text;
  const size_t first = at > kBefore ? at - kBefore : 0;
  for (size_t i = first; i <= at + kAfter && i < lines.size(); ++i) {
    absl::StrAppend(&text, i == at ? "> " : "  ", lines[i], "\n");
  }
  if (at >= lines.size()) absl::StrAppend(&text, "> (the program ends here)\n");
  return text;
}

std::string Describe(const Function& a, const Function& b) {
  PrintOptions options;
  options.header = false;
  const std::vector<std::string> left = Lines(PrintFunction(a, options));
  const std::vector<std::string> right = Lines(PrintFunction(b, options));
  size_t at = 0;
  while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
  if (at == left.size() && at == right.size()) {
    return "they print alike, but constants or buffers differ in type, scope "
           "or alignment\n";
  }
  return absl::StrCat("line ", at + 1, " of the first:\n", Excerpt(left, at),
                      "and of the second:\n", Excerpt(right, at));
}

bool SameNames(const Module& a, const Module& b) {
  std::set<std::string> left, right;
  for (const Function& f : a.functions) left.insert(f.name);
  for (const Function& f : b.functions) right.insert(f.name);
  return left == right;
}

std::string NameList(const Module& m) {
  std::string text;
  for (const Function& f : m.functions) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", f.name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::optional<std::string> FirstDifference(const Function& a,
                                           const Function& b) {
  Function left = Normalize(a);
  Function right = Normalize(b);
  if (StructurallyEqual(left, right)) return std::nullopt;
  left.name = right.name = a.name;
  return absl::StrCat("function ", a.name, " differs, with names by position: ",
                      Describe(left, right));
}

std::optional<std::string> FirstDifference(const Module& a, const Module& b) {
  if (a.functions.size() != b.functions.size()) {
    return absl::StrCat("one module has the functions ", NameList(a),
                        ", the other ", NameList(b), "\n");
  }
  const bool by_name = SameNames(a, b);
  for (size_t i = 0; i < a.functions.size(); ++i) {
    const Function& f = a.functions[i];
    const Function& g = by_name ? *b.Find(f.name) : b.functions[i];
    if (auto difference = FirstDifference(f, g)) return difference;
  }
  return std::nullopt;
}

}  // namespace kiln
