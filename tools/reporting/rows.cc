#include "kiln/tools/reporting/rows.h"

#include "absl/strings/str_cat.h"
#include "kiln/tools/reporting/report_rows.pb.h"
#include "kiln/tools/support/json_line.h"

namespace kiln::report {
namespace {

rows::Task RowOf(const TaskData& task) {
  const double best_ns = task.best_us() * 1e3;
  rows::Task row;
  row.set_row("task");
  row.set_task(task.name);
  row.set_signature(task.signature);
  row.set_target(task.target);
  row.set_machine(task.machine);
  row.set_threads(task.threads);
  row.set_weight(task.weight);
  row.set_trials(static_cast<int>(task.trials.size()));
  row.set_failed(static_cast<int>(task.failed()));
  row.set_best_us(task.best_us());
  row.set_flop(task.flop);
  row.set_flop_as_written(task.flop_as_written);
  row.set_bytes(task.bytes);
  row.set_gflops(task.Gflops(best_ns));
  row.set_gb_per_s(task.Gbs(best_ns));
  if (task.peak_gflops > 0) {
    row.set_peak_share(task.Gflops(best_ns) / task.peak_gflops);
  }
  row.set_normwise(task.normwise);
  return row;
}

}  // namespace

std::string TaskRows(const std::vector<TaskData>& tasks) {
  std::string lines;
  for (const TaskData& task : tasks) lines += JsonLine(RowOf(task));
  return lines;
}

std::string ComparisonRows(const RunComparison& comparison) {
  std::string lines;
  for (const TaskPair& pair : comparison.pairs) {
    rows::Pair row;
    row.set_row("pair");
    row.set_task(pair.any().name);
    row.set_threads(pair.any().threads);
    row.set_weight(pair.any().weight);
    row.set_state(pair.state());
    if (pair.before) row.set_before_us(pair.before->best_us());
    if (pair.after) row.set_after_us(pair.after->best_us());
    row.set_speedup(pair.Speedup());
    lines += JsonLine(row);
  }
  rows::Total total;
  total.set_row("total");
  total.set_pairs(comparison.compared);
  total.set_before_us(comparison.before_us);
  total.set_after_us(comparison.after_us);
  total.set_speedup(comparison.Speedup());
  total.set_geomean(comparison.geomean);
  total.set_new_tasks(comparison.new_tasks);
  total.set_missing_tasks(comparison.missing_tasks);
  for (const std::string& warning : comparison.warnings) {
    total.add_warnings(warning);
  }
  return lines + JsonLine(total);
}

}  // namespace kiln::report
