#include "kiln/tools/reporting/roofs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/tools/reporting/html.h"
#include "kiln/vm/profile/roofline.h"

namespace kiln::report {
namespace {

// What the threads read, all together.
double ReadRate(const Machine& machine, MemoryLevelId id, int threads) {
  const MemoryLevel& level = machine.level(id);
  return threads > 1 ? level.all_read_gbs : level.read_gbs;
}

// The roof of a level: slanted up to the peak, then flat.
void AddRoof(const char* name, double gbs, double peak, const Axis& x,
             const Axis& y, Chart* chart) {
  const double ridge = peak / gbs;
  const double start = std::max(x.low, y.low / gbs);
  if (start >= x.high) return;
  chart->Line({{start, std::min(peak, start * gbs)},
               {std::clamp(ridge, start, x.high),
                std::min(peak, std::clamp(ridge, start, x.high) * gbs)},
               {x.high, std::min(peak, x.high * gbs)}},
              "roof");
  if (ridge > start * 1.3) chart->Name(start, start * gbs, name);
}

}  // namespace

Chart RoofChart(const Machine& machine, int threads, double peak,
                const std::vector<double>& intensities,
                std::vector<double> rates) {
  const auto gbs = [&](MemoryLevelId id) {
    return ReadRate(machine, id, threads);
  };
  std::vector<double> across = {peak / gbs(MemoryLevelId::kL1) / 2,
                                peak / gbs(MemoryLevelId::kL3) * 1.5};
  for (double intensity : intensities) {
    across.push_back(intensity / 4);
    across.push_back(intensity * 4);
  }
  rates.push_back(peak);
  const Axis x = Axis::Over("operations for a byte of the parameters (FLOP/B)",
                            Scale::kLog, across);
  const Axis y = Axis::Over("speed (GFLOP/s)", Scale::kLog, rates);
  Chart chart("Roofline", x, y, true);
  for (int i = 0; i < kNumMemoryLevels; ++i) {
    const auto id = static_cast<MemoryLevelId>(i);
    AddRoof(LevelName(id), gbs(id), peak, x, y, &chart);
  }
  chart.Level(peak, "peak", absl::StrCat("peak ", Short(peak)));
  return chart;
}

}  // namespace kiln::report
