#include "kiln/ir/text/python/source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::python {
namespace {

constexpr size_t kShownBefore = 60;
constexpr size_t kShownInAll = 100;

bool IsContinuationByte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The byte offset within `line` of the code point with this column.
size_t ByteOfColumn(std::string_view line, int column) {
  size_t byte = 0;
  for (int at = 1; at < column && byte < line.size(); ++at) {
    ++byte;
    while (byte < line.size() && IsContinuationByte(line[byte])) ++byte;
  }
  return byte;
}

// Blanks as wide as `text`: tabs stay tabs, other code points become spaces.
std::string BlanksLike(std::string_view text) {
  std::string blanks;
  for (char c : text) {
    if (!IsContinuationByte(c)) blanks.push_back(c == '\t' ? '\t' : ' ');
  }
  return blanks;
}

// The line and a caret below its column, cut to a window when it is long.
std::string Excerpt(std::string_view line, int column) {
  size_t caret = ByteOfColumn(line, column);
  size_t begin = 0;
  std::string_view lead, tail;
  if (line.size() > kShownInAll && caret > kShownBefore) {
    begin = caret - kShownBefore;
    while (begin > 0 && IsContinuationByte(line[begin])) --begin;
    lead = "...";
  }
  size_t end = std::min(line.size(), begin + kShownInAll);
  while (end < line.size() && IsContinuationByte(line[end])) ++end;
  if (end < line.size()) tail = "...";
  auto piece = [](std::string_view s) { return std::string(s); };
  return absl::StrCat(piece(lead), piece(line.substr(begin, end - begin)),
                      piece(tail), "\n", BlanksLike(lead),
                      BlanksLike(line.substr(begin, caret - begin)), "^");
}

}  // namespace

Source::Source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

std::string_view Source::Line(int line) const {
  std::string_view found = Lines(line, line);
  while (!found.empty() && (found.back() == '\n' || found.back() == '\r')) {
    found.remove_suffix(1);
  }
  return found;
}

std::string_view Source::Lines(int first, int last) const {
  first = std::max(first, 1);
  last = std::min(last, line_count());
  if (first > last) return {};
  size_t begin = line_starts_[first - 1];
  size_t end = last < line_count() ? line_starts_[last] : text_.size();
  return std::string_view(text_).substr(begin, end - begin);
}

Position Source::PositionAt(size_t offset) const {
  auto after =
      std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  size_t begin = *(after - 1);
  Position position;
  position.line = static_cast<int>(after - line_starts_.begin());
  position.column = 1;
  for (size_t i = begin; i < offset && i < text_.size(); ++i) {
    if (i == begin || !IsContinuationByte(text_[i])) ++position.column;
  }
  return position;
}

absl::Status Source::Error(Position position, std::string_view message) const {
  std::string text =
      position.line < 1
          ? absl::StrCat(name_, ": ", std::string(message))
          : absl::StrCat(name_, ":", position.line, ":", position.column, ": ",
                         std::string(message), "\n",
                         Excerpt(Line(position.line), position.column));
  return absl::InvalidArgumentError(text);
}

}  // namespace kiln::python
