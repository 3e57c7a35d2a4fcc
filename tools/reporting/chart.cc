// Marks become SVG at once, placed by their axes; only the names of levels
// wait, since they are moved apart when all are known: from the top downwards
// each below the one before, then from the bottom upwards those that have left
// the frame.
//
//   linear axis 0 to 50     lines at 0, 10, 20, 30, 40, 50
//   log axis 3 to 700       lines at 5, 10, 20, 50, 100, 200, 500
//
// Values outside of an axis are moved to its border, not dropped: a reader sees
// that there is something. Colours and fonts are those of the page's style
// sheet (text/), by the classes that marks name.
#include "kiln/tools/reporting/chart.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/tools/reporting/html.h"

namespace kiln::report {
namespace {

// Of the picture, in pixels: its size, and the frame of the data in it.
constexpr double kWidth = 640, kHeight = 340;
constexpr double kLeft = 66, kTop = 14, kBottom = 290;
// Of the frame: with names of levels beside it, and without.
constexpr double kRightOfNames = 470, kRightAlone = 630;
constexpr double kLabelHeight = 15;

// 1, 2 or 5 times a power of ten, about a fifth of the range.
double LinearStep(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

std::vector<double> LinearTicks(double low, double high) {
  const double step = LinearStep(high - low);
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9;
       ++i) {
    ticks.push_back(i == 0 ? 0 : i * step);  // not -0
  }
  return ticks;
}

// Powers of ten; with 2 and 5 between them where those are few.
std::vector<double> LogTicks(double low, double high) {
  const double decades = std::log10(high / low);
  const double every = std::max(1.0, std::ceil(decades / 6));
  const double first = std::floor(std::log10(low));
  std::vector<double> ticks;
  for (double power = first; power <= std::log10(high) + 1; power += every) {
    for (double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, power);
      if (factor > 1 && decades > 3.3) continue;
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks.size() < 2 ? LinearTicks(low, high) : ticks;
}

std::string TickText(double tick) {
  return std::abs(tick) < 1e6 ? absl::StrFormat("%g", tick)
                              : absl::StrFormat("%.0e", tick);
}

std::string Text(double x, double y, std::string_view style,
                 std::string_view text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n",
                         x, y, std::string(style), Escape(text));
}

std::string Segment(double x1, double y1, double x2, double y2,
                    std::string_view style) {
  return absl::StrFormat(
      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
      "class=\"%s\"/>\n",
      x1, y1, x2, y2, std::string(style));
}

}  // namespace

Axis Axis::Over(std::string label, Scale scale,
                const std::vector<double>& values) {
  Axis axis{std::move(label), scale, 0, 1};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (values.empty()) {
    if (scale == Scale::kLog) axis.low = 0.1;
    return axis;
  }
  if (scale == Scale::kLog) {
    const double room = std::max(1.15, std::pow(*most / *least, 0.06));
    axis.low = *least / room;
    axis.high = *most * room;
  } else {
    axis.low = std::min(0.0, *least);
    axis.high =
        *most > axis.low ? axis.low + (*most - axis.low) * 1.05 : axis.low + 1;
  }
  return axis;
}

std::vector<double> Axis::Ticks() const {
  return scale == Scale::kLog ? LogTicks(low, high) : LinearTicks(low, high);
}

double Axis::Place(double value) const {
  const double at =
      scale == Scale::kLog
          ? std::log(std::max(value, low) / low) / std::log(high / low)
          : (value - low) / (high - low);
  return std::clamp(at, 0.0, 1.0);
}

Chart::Chart(std::string title, Axis x, Axis y, bool with_levels)
    : title_(std::move(title)),
      x_(std::move(x)),
      y_(std::move(y)),
      right_(with_levels ? kRightOfNames : kRightAlone) {}

double Chart::X(double value) const {
  return kLeft + (right_ - kLeft) * x_.Place(value);
}

double Chart::Y(double value) const {
  return kBottom - (kBottom - kTop) * y_.Place(value);
}

void Chart::Dot(double x, double y, std::string_view style,
                std::string_view hint) {
  absl::StrAppendFormat(
      &marks_,
      "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" class=\"%s\"><title>%s</title>"
      "</circle>\n",
      X(x), Y(y), std::string(style), Escape(hint));
}

void Chart::Line(const std::vector<std::pair<double, double>>& points,
                 std::string_view style) {
  std::string path;
  for (const auto& [x, y] : points) {
    absl::StrAppendFormat(&path, "%s%.1f %.1f", path.empty() ? "M" : "L", X(x),
                          Y(y));
  }
  absl::StrAppend(&marks_, "<path d=\"", path, "\" class=\"",
                  std::string(style), "\"/>\n");
}

void Chart::Level(double y, std::string_view style, std::string_view name) {
  marks_ += Segment(kLeft, Y(y), right_, Y(y), style);
  levels_.push_back({Y(y), std::string(name), std::string(style)});
}

void Chart::Name(double x, double y, std::string_view name) {
  marks_ += Text(X(x) + 7, Y(y) - 7, "name", name);
}

std::string Chart::Grid() const {
  std::string svg;
  for (double tick : x_.Ticks()) {
    svg += Segment(X(tick), kTop, X(tick), kBottom, "grid");
    svg += Text(X(tick), kBottom + 18, "tick middle", TickText(tick));
  }
  for (double tick : y_.Ticks()) {
    svg += Segment(kLeft, Y(tick), right_, Y(tick), "grid");
    svg += Text(kLeft - 8, Y(tick) + 4, "tick end", TickText(tick));
  }
  svg += Text((kLeft + right_) / 2, kHeight - 10, "axis middle", x_.label);
  absl::StrAppendFormat(
      &svg,
      "<text class=\"axis middle\" transform=\"translate(16 %.1f) "
      "rotate(-90)\">%s</text>\n",
      (kTop + kBottom) / 2, Escape(y_.label));
  return svg;
}

// Names of levels, moved apart where they would cover each other.
std::string Chart::Labels() const {
  std::vector<Label> labels = levels_;
  std::sort(labels.begin(), labels.end(),
            [](const Label& a, const Label& b) { return a.at < b.at; });
  double free = kTop + 4;
  for (Label& label : labels) {
    label.at = std::max(label.at, free);
    free = label.at + kLabelHeight;
  }
  double limit = kBottom + kLabelHeight;
  std::string svg;
  for (size_t i = labels.size(); i-- > 0;) {
    labels[i].at = std::min(labels[i].at, limit - kLabelHeight);
    limit = labels[i].at;
    svg += Text(right_ + 7, labels[i].at + 4,
                absl::StrCat("level-name ", labels[i].style), labels[i].text);
  }
  return svg;
}

std::string Chart::ToSvg() const {
  return absl::StrCat(
      absl::StrFormat("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
                      "aria-label=\"%s\">\n",
                      kWidth, kHeight, Escape(title_)),
      Grid(), marks_, Labels(), "</svg>\n");
}

}  // namespace kiln::report
