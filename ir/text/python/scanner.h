// Cuts Python text into tokens, with the layout made explicit.
//
// Newlines inside brackets and after a backslash do not end a line; blank and
// comment lines leave no trace. Indentation becomes kIndent and kDedent, where
// a tab reaches to the next multiple of `tab_width`. The first line sets the
// outermost level, so that a fragment cut out of a longer text can be read as
// it stands; a later line left of that level moves the level to the left.
#ifndef KILN_IR_TEXT_PYTHON_SCANNER_H_
#define KILN_IR_TEXT_PYTHON_SCANNER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/python/token.h"

namespace kiln::python {

// The tokens of `source`, which must outlive them; the last one is kEnd.
// Errors: a character that Python does not know, an unterminated string, an
// unbalanced bracket, an indentation that matches no outer level.
absl::StatusOr<std::vector<Token>> Scan(const Source& source,
                                        int tab_width = 8);

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_SCANNER_H_
