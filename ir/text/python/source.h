// A piece of text with a name, and messages that point into it.
//
// Every reader of text forms reports through this class, so that a message
// always looks the same:
//
//   mm.py:12:11: `vx` is not defined; did you mean `vi`?
//           Y[vx, vj] = T.float32(0)
//             ^
#ifndef KILN_IR_TEXT_PYTHON_SOURCE_H_
#define KILN_IR_TEXT_PYTHON_SOURCE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace kiln::python {

// A place in a text. Lines and columns count from 1; a column counts code
// points of UTF-8, not bytes. Line 0 means "nowhere in particular".
struct Position {
  int line = 0;
  int column = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

class Source {
 public:
  // `name` is what messages call the text: a file name, or "<string>".
  Source(std::string name, std::string text);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

  int line_count() const { return static_cast<int>(line_starts_.size()); }

  // The given line without its end; empty where there is no such line.
  std::string_view Line(int line) const;

  // The lines first..last, inclusive, with their ends.
  std::string_view Lines(int first, int last) const;

  // The position of the byte at `offset` (the end of the text is allowed).
  Position PositionAt(size_t offset) const;

  // An InvalidArgument error: name, line and column, the message, the line,
  // and a caret below the column. A very long line is shown in part.
  absl::Status Error(Position position, std::string_view message) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<size_t> line_starts_;
};

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_SOURCE_H_
