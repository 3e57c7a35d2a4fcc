#include "kiln/tools/reporting/html.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/check.h"

namespace kiln::report {
namespace {

std::string_view EscapeOf(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      break;
  }
  const unsigned char u = static_cast<unsigned char>(c);
  const bool forbidden = u == 0x7f || (u < 32 && c != '\n' && c != '\t');
  return forbidden ? "\xEF\xBF\xBD" : "";
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (char c : text) {
    const std::string_view escape = EscapeOf(c);
    if (escape.empty()) {
      html += c;
    } else {
      html += escape;
    }
  }
  return html;
}

std::string Fill(
    std::string_view html,
    const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string filled;
  while (true) {
    const size_t open = html.find("{{");
    filled += html.substr(0, open);
    if (open == html.npos) return filled;
    const size_t close = html.find("}}", open);
    KILN_CHECK(close != html.npos) << "a template has {{ without }}";
    const std::string_view name = html.substr(open + 2, close - open - 2);
    const auto value =
        std::find_if(values.begin(), values.end(),
                     [&](const auto& pair) { return pair.first == name; });
    KILN_CHECK(value != values.end())
        << "a template asks for " << std::string(name);
    filled += value->second;
    html.remove_prefix(close + 2);
  }
}

std::string NumberCell(std::string_view html) {
  return absl::StrCat("<td class=\"number\">", std::string(html), "</td>");
}

std::string NumberHead(std::string_view html) {
  return absl::StrCat("<th class=\"number\">", std::string(html), "</th>");
}

std::string NameCell(std::string_view name) {
  return absl::StrCat("<td class=\"name mono\">", Escape(name), "</td>");
}

std::string Short(double value) {
  if (value == 0 || !std::isfinite(value)) return value == 0 ? "0" : "?";
  const double size = std::abs(value);
  if (size >= 1e5 || size < 1e-3) return absl::StrFormat("%.3g", value);
  const int digits =
      std::max(0, 2 - static_cast<int>(std::floor(std::log10(size) + 1e-9)));
  return absl::StrFormat("%.*f", digits, value);
}

std::string Duration(double seconds) {
  if (seconds >= 1) return absl::StrCat(Short(seconds), " s");
  if (seconds >= 1e-3) return absl::StrCat(Short(seconds * 1e3), " ms");
  if (seconds >= 1e-6) return absl::StrCat(Short(seconds * 1e6), " µs");
  return absl::StrCat(Short(seconds * 1e9), " ns");
}

}  // namespace kiln::report
