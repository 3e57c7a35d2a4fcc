// Tables for people, in the 80 columns of a terminal.
#ifndef KILN_TOOLS_SUPPORT_COLUMNS_H_
#define KILN_TOOLS_SUPPORT_COLUMNS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln {

inline constexpr size_t kTerminalColumns = 80;

// Characters of a text in UTF-8, each taken to be one column wide.
size_t ColumnsOf(std::string_view text);

// The text in exactly `width` columns, 5 or more: with spaces behind it, or
// without its middle: both ends of a workload's name tell it from others.
std::string FitColumns(std::string_view text, size_t width);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_COLUMNS_H_
