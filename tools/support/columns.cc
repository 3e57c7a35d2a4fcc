#include "kiln/tools/support/columns.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

// Bytes of UTF-8 that begin a character.
bool Begins(char byte) { return (static_cast<unsigned char>(byte) >> 6) != 2; }

// Where character `index` begins.
size_t PlaceOf(std::string_view text, size_t index) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    if (Begins(text[at]) && seen++ == index) break;
  }
  return at;
}

}  // namespace

size_t ColumnsOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), Begins));
}

std::string FitColumns(std::string_view text, size_t width) {
  const size_t columns = ColumnsOf(text);
  if (columns <= width) {
    return absl::StrCat(std::string(text), std::string(width - columns, ' '));
  }
  const size_t kept = width - 3, head = (kept + 1) / 2, tail = kept - head;
  return absl::StrCat(std::string(text.substr(0, PlaceOf(text, head))), "...",
                      std::string(text.substr(PlaceOf(text, columns - tail))));
}

}  // namespace kiln
