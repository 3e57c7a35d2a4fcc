// The lines that a place of a program asks for, each once. Internal to
// codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_ASKED_LINES_H_
#define KILN_CODEGEN_LOWER_AUTO_ASKED_LINES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "kiln/ir/arith/linear.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// Elements less than a line after one that was asked for are taken to lie in
// its line.
class AskedLines {
 public:
  explicit AskedLines(int64_t line_bytes) : line_bytes_(line_bytes) {}

  // False where `index` lies in one that was added before.
  bool Add(const Buffer& buffer, const Expr& index);

 private:
  int64_t line_bytes_;
  std::vector<std::pair<const BufferNode*, Linear>> lines_;
};

// index + apart, with one constant at its end.
Expr Plus(const Expr& index, int64_t apart);

// T.prefetch(T.address_of(buffer[index]), writes, locality, 1)
Stmt Prefetch(const Buffer& buffer, const Expr& index, bool writes,
              int locality);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_ASKED_LINES_H_
