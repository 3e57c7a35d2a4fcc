// Text into HTML.
#ifndef KILN_TOOLS_REPORTING_HTML_H_
#define KILN_TOOLS_REPORTING_HTML_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::report {

// The text as it is to be read, in element content and in quoted attributes;
// control characters that HTML forbids become U+FFFD.
std::string Escape(std::string_view text);

// The template with each {{name}} replaced by its value, which is HTML already
// and is not looked into again. A name without a value is a bug.
std::string Fill(
    std::string_view html,
    const std::vector<std::pair<std::string_view, std::string>>& values);

// A cell of a table, and one at its head, for a number; the text is HTML.
std::string NumberCell(std::string_view html);
std::string NumberHead(std::string_view html);

// A cell for a name of the program's, which is plain text.
std::string NameCell(std::string_view name);

// "1.23 ms": three digits and the unit that suits, for people.
std::string Duration(double seconds);
// "12.3", "0.012": three digits.
std::string Short(double value);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_HTML_H_
