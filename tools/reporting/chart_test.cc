#include "kiln/tools/reporting/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace kiln::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AxisTest, LinearTicksAreRound) {
  EXPECT_THAT((Axis{"x", Scale::kLinear, 0, 64}).Ticks(),
              ElementsAre(0, 20, 40, 60));
  EXPECT_THAT((Axis{"x", Scale::kLinear, 0, 1}).Ticks().size(), 6);
}

TEST(AxisTest, ZeroHasNoSign) {
  EXPECT_FALSE(std::signbit((Axis{"x", Scale::kLinear, 0, 48}).Ticks()[0]));
}

TEST(AxisTest, LogTicksAreRoundToo) {
  EXPECT_THAT((Axis{"x", Scale::kLog, 8, 60}).Ticks(), ElementsAre(10, 20, 50));
  EXPECT_THAT((Axis{"x", Scale::kLog, 0.5, 2000}).Ticks(),
              ElementsAre(1, 10, 100, 1000));
}

TEST(AxisTest, AnyRangeHasAFewTicksInside) {
  for (Scale scale : {Scale::kLinear, Scale::kLog}) {
    for (double low : {1e-3, 0.7, 3.0, 99.0, 1e5}) {
      for (double factor : {1.02, 1.3, 2.0, 9.0, 150.0, 1e6, 1e9}) {
        const Axis axis = Axis::Over("x", scale, {low, low * factor});
        const std::vector<double> ticks = axis.Ticks();
        EXPECT_GE(ticks.size(), 2u) << low << " " << factor;
        EXPECT_LE(ticks.size(), 10u) << low << " " << factor;
        for (double tick : ticks) {
          EXPECT_GE(tick, axis.low * (1 - 1e-6));
          EXPECT_LE(tick, axis.high * (1 + 1e-6));
        }
      }
    }
  }
}

TEST(AxisTest, CoversOneValueAndNone) {
  for (Scale scale : {Scale::kLinear, Scale::kLog}) {
    const Axis one = Axis::Over("x", scale, {5});
    EXPECT_LT(one.low, 5);
    EXPECT_GT(one.high, 5);
    const Axis none = Axis::Over("x", scale, {});
    EXPECT_LT(none.low, none.high);
    EXPECT_GE(none.Ticks().size(), 2u);
  }
}

TEST(AxisTest, PlacesValuesAlongItAndThoseOutsideAtItsEnds) {
  const Axis axis{"x", Scale::kLog, 1, 100};
  EXPECT_NEAR(axis.Place(10), 0.5, 1e-9);
  EXPECT_EQ(axis.Place(0), 0);
  EXPECT_EQ(axis.Place(1e9), 1);
}

TEST(ChartTest, SaysWhatItsAxesAre) {
  const Chart chart("A <chart>", {"trial", Scale::kLinear, 0, 10},
                    {"time (µs)", Scale::kLog, 1, 100});
  const std::string svg = chart.ToSvg();
  EXPECT_THAT(svg, HasSubstr(">trial</text>"));
  EXPECT_THAT(svg, HasSubstr(">time (µs)</text>"));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"A &lt;chart&gt;\""));
}

TEST(ChartTest, NamesAndHintsAreEscaped) {
  Chart chart("c", {"x"}, {"y"});
  chart.Dot(0.5, 0.5, "trial", "<b>\"1\"");
  chart.Level(0.5, "other", "A&B");
  chart.Name(0.2, 0.2, "<i>");
  const std::string svg = chart.ToSvg();
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;&quot;1&quot;"));
  EXPECT_THAT(svg, HasSubstr("A&amp;B"));
  EXPECT_THAT(svg, HasSubstr("&lt;i&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
}

// The heights of the names of levels in a chart.
std::vector<double> NameHeights(const std::string& svg) {
  std::vector<double> heights;
  size_t at = 0;
  while ((at = svg.find("class=\"level-name", at)) != svg.npos) {
    const size_t y = svg.rfind("y=\"", at);
    heights.push_back(std::stod(svg.substr(y + 3)));
    ++at;
  }
  return heights;
}

TEST(ChartTest, NamesOfLevelsDoNotCoverEachOther) {
  for (double value : {0.0, 0.4, 1.0}) {
    Chart chart("c", {"x"}, {"y"}, true);
    for (int i = 0; i < 6; ++i) chart.Level(value + i * 1e-3, "other", "L");
    const std::vector<double> heights = NameHeights(chart.ToSvg());
    ASSERT_EQ(heights.size(), 6u);
    for (size_t i = 1; i < heights.size(); ++i) {
      EXPECT_GE(std::abs(heights[i] - heights[i - 1]), 14);
    }
  }
}

}  // namespace
}  // namespace kiln::report
