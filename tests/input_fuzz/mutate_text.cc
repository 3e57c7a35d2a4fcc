// A text is cut into words (names and numbers with their dots, and any other
// character alone) or into lines, some of which are then exchanged:
//
//   v1 = R.add(p0, p1)        v1 = R.add(p0, 1e400)
#include <cctype>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/tests/input_fuzz/mutate.h"

namespace kiln {
namespace {

using Words = std::vector<std::string>;

const char* const kWords[] = {"0",
                              "-1",
                              "1",
                              "9223372036854775807",
                              "-9223372036854775808",
                              "1e400",
                              "99999999999999999999",
                              "nan",
                              "n",
                              "x",
                              "main",
                              "Module",
                              "cls",
                              "R.add",
                              "R.call_tir",
                              "R.Tensor",
                              "R.Shape",
                              "R.Tuple",
                              "R.Object",
                              "R.Callable",
                              "R.match_cast",
                              "R.output",
                              "R.dataflow",
                              "R.prim_value",
                              "R.reshape",
                              "R.concat",
                              "T.int64()",
                              "T.grid",
                              "T.block",
                              "T.axis.remap",
                              "T.Buffer",
                              "T.match_buffer",
                              "T.init",
                              "\"float32\"",
                              "\"int8\"",
                              "\"float33\"",
                              "\"\"",
                              "None",
                              "True",
                              "(",
                              ")",
                              "[",
                              "]",
                              "{",
                              "}",
                              ",",
                              ":",
                              "=",
                              "->",
                              "if",
                              "else:",
                              "return",
                              "with",
                              "for",
                              "def",
                              "@",
                              "*",
                              "//",
                              "%",
                              "\n",
                              "    ",
                              "#",
                              "'",
                              "\\",
                              "\t",
                              "\x80"};

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

Words WordsOf(const std::string& text) {
  Words words;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    while (end < text.size() && IsWordCharacter(text[begin]) &&
           IsWordCharacter(text[end])) {
      ++end;
    }
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

void Change(Words& words, const Words& replacements, Random& random) {
  if (words.empty()) return;
  const size_t at = random.Below(words.size());
  const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random.Below(5)) {
    case 0:
      words.erase(place);
      return;
    case 1:
      words.insert(place, words[random.Below(words.size())]);
      return;
    case 2:
      std::swap(words[at], words[random.Below(words.size())]);
      return;
    case 3:
      words[at] = replacements[random.Below(replacements.size())];
      return;
    default:
      words[at] = words[random.Below(words.size())];
  }
}

std::string MutateLines(const std::string& text, Random& random) {
  Words lines = absl::StrSplit(text, '\n');
  Change(lines, lines, random);
  return absl::StrJoin(lines, "\n");
}

std::string MutateWords(const std::string& text, Random& random) {
  static const auto& replacements =
      *new Words(std::begin(kWords), std::end(kWords));
  Words words = WordsOf(text);
  Change(words, replacements, random);
  return absl::StrJoin(words, "");
}

}  // namespace

std::string MutateText(std::string text, Random& random) {
  for (uint64_t i = 1 + random.Below(4); i > 0; --i) {
    const uint64_t kind = random.Below(8);
    if (kind == 0) {
      text = MutateBytes(std::move(text), random);
    } else if (kind == 1) {
      text = MutateLines(text, random);
    } else {
      text = MutateWords(text, random);
    }
  }
  return text;
}

std::string MutateBytes(std::string bytes, Random& random) {
  if (bytes.empty()) return bytes;
  const size_t at = random.Below(bytes.size());
  switch (random.Below(4)) {
    case 0:
      bytes.erase(at, 1 + random.Below(16));
      return bytes;
    case 1:
      bytes.insert(
          at, bytes.substr(random.Below(bytes.size()), 1 + random.Below(16)));
      return bytes;
    default:
      for (uint64_t flips = 1 + random.Below(3); flips > 0; --flips) {
        bytes[random.Below(bytes.size())] ^=
            static_cast<char>(1 << random.Below(8));
      }
      return bytes;
  }
}

}  // namespace kiln
