// Charts as SVG, to stand inside a page whose style sheet colours them.
#ifndef KILN_TOOLS_REPORTING_CHART_H_
#define KILN_TOOLS_REPORTING_CHART_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::report {

enum class Scale { kLinear, kLog };

struct Axis {
  std::string label;  // with the unit: "time of a call (µs)"
  Scale scale = Scale::kLinear;
  double low = 0, high = 1;

  // Covers the values with some room; those of a log axis are positive.
  static Axis Over(std::string label, Scale scale,
                   const std::vector<double>& values);
  // Values worth a line: 2 to 8 of them.
  std::vector<double> Ticks() const;
  // 0 at `low`, 1 at `high`; what lies outside is moved to the border.
  double Place(double value) const;
};

// `style` names a class of the style sheet in all that follows; texts are
// plain, not HTML.
class Chart {
 public:
  // `title` is for those who cannot see the chart. `with_levels` leaves room
  // for the names of levels.
  Chart(std::string title, Axis x, Axis y, bool with_levels = false);

  void Dot(double x, double y, std::string_view style, std::string_view hint);
  void Line(const std::vector<std::pair<double, double>>& points,
            std::string_view style);
  // From the left border to the right one, with its name at the right.
  void Level(double y, std::string_view style, std::string_view name);
  // A name next to a point.
  void Name(double x, double y, std::string_view name);

  std::string ToSvg() const;

 private:
  struct Label {
    double at;  // y, in pixels
    std::string text, style;
  };

  double X(double value) const;
  double Y(double value) const;
  std::string Grid() const;
  std::string Labels() const;

  std::string title_;
  Axis x_, y_;
  double right_;  // of the frame, in pixels
  std::string marks_;
  std::vector<Label> levels_;
};

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_CHART_H_
