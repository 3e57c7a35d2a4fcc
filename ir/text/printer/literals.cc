#include "kiln/ir/text/printer/literals.h"

#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kiln::script {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 32 || byte == 127) {
      absl::StrAppendFormat(&out, "\\x%02x", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string FloatText(double value, bool point) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  if (value == 0 && std::signbit(value)) return "-0.0";
  if (point && value == std::trunc(value)) {
    return absl::StrFormat("%.1f", value);
  }
  return absl::StrFormat("%.17g", value);
}

std::string FloatConstant(double value, DType dtype, bool point) {
  return absl::StrCat("T.", dtype.ToString(), "(", FloatText(value, point),
                      ")");
}

}  // namespace kiln::script
