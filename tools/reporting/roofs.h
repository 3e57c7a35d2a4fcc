// What a machine allows, as a chart.
#ifndef KILN_TOOLS_REPORTING_ROOFS_H_
#define KILN_TOOLS_REPORTING_ROOFS_H_

#include <vector>

#include "kiln/base/machine.h"
#include "kiln/tools/reporting/chart.h"

namespace kiln::report {

// GFLOP/s over operations for a byte, with the roofs of the levels of memory
// for so many threads, which reach `peak` GFLOP/s. Covers what is to be marked
// in it: `intensities` (FLOP/B) and `rates` (GFLOP/s), positive numbers.
Chart RoofChart(const Machine& machine, int threads, double peak,
                const std::vector<double>& intensities,
                std::vector<double> rates);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_ROOFS_H_
