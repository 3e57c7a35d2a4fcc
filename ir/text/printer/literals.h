// Spells numbers, strings and attributes as Python reads them.
#ifndef KILN_IR_TEXT_PRINTER_LITERALS_H_
#define KILN_IR_TEXT_PRINTER_LITERALS_H_

#include <string>
#include <string_view>

#include "kiln/ir/type/dtype.h"

namespace kiln::script {

// "text" with what needs it escaped.
std::string Quoted(std::string_view text);

// The value with 17 significant digits, so that reading gives the same bits:
// 0.015625, 1.0000000000000001e-05. A whole number prints as 2, or as 2.0
// where `point` is set. Infinities and NaN print as strings: "inf".
std::string FloatText(double value, bool point);

// T.float32(2), or T.float32(2.0).
std::string FloatConstant(double value, DType dtype, bool point);

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_PRINTER_LITERALS_H_
