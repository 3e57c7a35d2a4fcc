#include "kiln/tools/reporting/diff.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_split.h"

namespace kiln::report {
namespace {

using Lines = std::vector<std::string>;

// Cells of the table that is filled in: some ten megabytes.
constexpr size_t kMaxCells = size_t{1} << 22;

Lines Split(std::string_view text) {
  const absl::string_view whole(text.data(), text.size());
  Lines lines = absl::StrSplit(whole, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// The part of two texts between what they have in common at both ends.
class Differ {
 public:
  Differ(const Lines& before, const Lines& after, size_t first, size_t last_b,
         size_t last_a)
      : before_(before),
        after_(after),
        first_(first),
        rows_(last_b - first),
        columns_(last_a - first) {}

  void AppendTo(std::vector<DiffLine>* out) {
    if (rows_ * columns_ > kMaxCells) return AppendAll(out);
    FillTable();
    size_t i = 0, j = 0;
    while (i < rows_ || j < columns_) {
      if (i < rows_ && j < columns_ && Same(i, j)) {
        out->push_back({Change::kSame, before_[first_ + i++]});
        ++j;
      } else if (j == columns_ || (i < rows_ && At(i + 1, j) >= At(i, j + 1))) {
        out->push_back({Change::kRemoved, before_[first_ + i++]});
      } else {
        out->push_back({Change::kAdded, after_[first_ + j++]});
      }
    }
  }

 private:
  bool Same(size_t i, size_t j) const {
    return before_[first_ + i] == after_[first_ + j];
  }
  uint32_t& At(size_t i, size_t j) { return table_[i * (columns_ + 1) + j]; }

  void AppendAll(std::vector<DiffLine>* out) const {
    for (size_t i = 0; i < rows_; ++i) {
      out->push_back({Change::kRemoved, before_[first_ + i]});
    }
    for (size_t j = 0; j < columns_; ++j) {
      out->push_back({Change::kAdded, after_[first_ + j]});
    }
  }

  // Entry (i, j): lines in common of what follows both.
  void FillTable() {
    table_.assign((rows_ + 1) * (columns_ + 1), 0);
    for (size_t i = rows_; i-- > 0;) {
      for (size_t j = columns_; j-- > 0;) {
        At(i, j) = Same(i, j) ? At(i + 1, j + 1) + 1
                              : std::max(At(i + 1, j), At(i, j + 1));
      }
    }
  }

  const Lines& before_;
  const Lines& after_;
  const size_t first_, rows_, columns_;
  std::vector<uint32_t> table_;
};

}  // namespace

std::vector<DiffLine> DiffLines(std::string_view before,
                                std::string_view after) {
  const Lines a = Split(before), b = Split(after);
  const size_t shorter = std::min(a.size(), b.size());
  size_t head = 0, tail = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<DiffLine> lines;
  for (size_t i = 0; i < head; ++i) lines.push_back({Change::kSame, a[i]});
  Differ(a, b, head, a.size() - tail, b.size() - tail).AppendTo(&lines);
  for (size_t i = a.size() - tail; i < a.size(); ++i) {
    lines.push_back({Change::kSame, a[i]});
  }
  return lines;
}

}  // namespace kiln::report
