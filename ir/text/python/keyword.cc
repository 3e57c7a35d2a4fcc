#include "kiln/ir/text/python/keyword.h"

#include <algorithm>
#include <iterator>

namespace kiln::python {

bool IsKeyword(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "False",  "None",   "True",    "and",      "as",       "assert", "async",
      "await",  "break",  "class",   "continue", "def",      "del",    "elif",
      "else",   "except", "finally", "for",      "from",     "global", "if",
      "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
      "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};
  return std::find(std::begin(kWords), std::end(kWords), word) !=
         std::end(kWords);
}

}  // namespace kiln::python
