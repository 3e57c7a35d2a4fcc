#include "kiln/tests/graph_fuzz/shrink.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace kiln {
namespace {

using Lines = std::vector<std::string>;

std::string CheckOf(const absl::Status& status) {
  const std::string message(status.message());
  return message.substr(0, message.find(':'));
}

std::string TextOf(const Lines& lines) { return absl::StrJoin(lines, "\n"); }

bool Contains(const std::string& line, const char* word) {
  return line.find(word) != std::string::npos;
}

// What the function that returns in line `at` could return in its stead.
std::vector<std::string> OtherResults(const Lines& lines, size_t at) {
  std::vector<std::string> names;
  for (size_t i = at; i > 0 && !Contains(lines[i - 1], "def "); --i) {
    const size_t equals = lines[i - 1].find(" = ");
    if (equals == std::string::npos || Contains(lines[i - 1], "T.int64()") ||
        Contains(lines[i - 1], "cls = ")) {
      continue;
    }
    const size_t begin = lines[i - 1].find_first_not_of(' ');
    names.push_back(lines[i - 1].substr(begin, equals - begin));
  }
  return names;
}

class Shrinker {
 public:
  Shrinker(Lines lines, FunctionRef<absl::Status(const std::string&)> check)
      : lines_(std::move(lines)),
        check_(check),
        failure_(CheckOf(check(TextOf(lines_)))) {}

  std::string Run() {
    while (CutResults() || CutLines()) {
    }
    return TextOf(lines_);
  }

 private:
  bool Fails(const Lines& lines) {
    const absl::Status status = check_(TextOf(lines));
    return !status.ok() && CheckOf(status) == failure_;
  }

  bool CutLines() {
    bool has_cut = false;
    for (size_t i = lines_.size(); i-- > 0;) {
      if (Contains(lines_[i], "return ")) continue;
      Lines fewer = lines_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (!Fails(fewer)) continue;
      lines_ = std::move(fewer);
      has_cut = true;
    }
    return has_cut;
  }

  bool CutResults() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const size_t at = lines_[i].find("return ");
      if (at == std::string::npos) continue;
      const std::string head = lines_[i].substr(0, at + 7);
      for (const std::string& name : OtherResults(lines_, i)) {
        Lines other = lines_;
        other[i] = head + name;
        if (other[i].size() >= lines_[i].size() || !Fails(other)) continue;
        lines_ = std::move(other);
        return true;
      }
    }
    return false;
  }

  Lines lines_;
  FunctionRef<absl::Status(const std::string&)> check_;
  const std::string failure_;
};

}  // namespace

std::string ShrinkGraphProgram(
    const std::string& text,
    FunctionRef<absl::Status(const std::string&)> check) {
  return Shrinker(absl::StrSplit(text, '\n'), check).Run();
}

}  // namespace kiln
