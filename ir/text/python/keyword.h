// The reserved words of Python.
#ifndef KILN_IR_TEXT_PYTHON_KEYWORD_H_
#define KILN_IR_TEXT_PYTHON_KEYWORD_H_

#include <string_view>

namespace kiln::python {

// True for a word that cannot be a name.
bool IsKeyword(std::string_view word);

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_KEYWORD_H_
