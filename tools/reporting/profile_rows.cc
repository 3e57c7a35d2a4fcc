#include "kiln/tools/reporting/profile_rows.h"

#include "kiln/tools/reporting/report_rows.pb.h"
#include "kiln/tools/support/json_line.h"

namespace kiln::report {
namespace {

rows::Op RowOf(const OpData& op, double total_s) {
  rows::Op row;
  row.set_row("op");
  row.set_op(op.name);
  row.set_calls(op.calls);
  row.set_us(op.seconds * 1e6);
  if (total_s > 0) row.set_share(op.seconds / total_s);
  if (op.flop) row.set_flop(*op.flop);
  row.set_flop_is_bound(op.flop_is_bound);
  row.set_bytes(op.bytes);
  row.set_gflops(op.Gflops());
  row.set_gb_per_s(op.Gbs());
  if (op.least_s) row.set_least_us(*op.least_s * 1e6);
  row.set_roofline_share(op.RooflineShare());
  row.set_roofline_by(op.by);
  return row;
}

rows::Profile RowOf(const ProfileData& data) {
  const Profile& profile = data.profile;
  rows::Profile row;
  row.set_row("profile");
  row.set_function(profile.function);
  row.set_target(profile.target);
  row.set_cpu(profile.cpu);
  row.set_threads(profile.threads);
  row.set_runs(profile.runs);
  row.set_calls(static_cast<int>(data.calls.size()));
  row.set_run_us(profile.run_s * 1e6);
  row.set_us(data.seconds * 1e6);
  row.set_peak_gflops(data.peak_gflops);
  row.set_roofline_share(data.RooflineShare());
  row.set_known_share(data.KnownShare());
  for (const std::string& warning : data.warnings) row.add_warnings(warning);
  return row;
}

rows::OpPair RowOf(const OpChange& op) {
  rows::OpPair row;
  row.set_row("op_pair");
  row.set_op(op.name);
  row.set_calls(op.calls);
  row.set_before_us(op.before_s * 1e6);
  row.set_after_us(op.after_s * 1e6);
  row.set_speedup(op.Speedup());
  return row;
}

rows::LoneCall RowOf(const LoneCall& lone) {
  rows::LoneCall row;
  row.set_row("lone_call");
  row.set_op(lone.call.callee);
  row.set_variable(lone.call.variable);
  row.set_state(lone.state());
  row.set_us(lone.call.seconds * 1e6);
  return row;
}

rows::ProfileTotal TotalOf(const ProfileComparison& c) {
  rows::ProfileTotal row;
  row.set_row("profile_total");
  row.set_calls(c.matched.calls);
  row.set_before_us(c.matched.before_s * 1e6);
  row.set_after_us(c.matched.after_s * 1e6);
  row.set_speedup(c.matched.Speedup());
  row.set_all_before_us(c.all.before_s * 1e6);
  row.set_all_after_us(c.all.after_s * 1e6);
  row.set_all_speedup(c.all.Speedup());
  row.set_run_before_us(c.run.before_s * 1e6);
  row.set_run_after_us(c.run.after_s * 1e6);
  row.set_run_speedup(c.run.Speedup());
  for (const LoneCall& lone : c.alone) {
    if (lone.is_new) {
      row.set_new_calls(row.new_calls() + 1);
    } else {
      row.set_missing_calls(row.missing_calls() + 1);
    }
  }
  for (const std::string& warning : c.warnings) row.add_warnings(warning);
  return row;
}

}  // namespace

std::string ProfileRows(const ProfileData& data) {
  std::string lines;
  for (const OpData& op : data.ops) lines += JsonLine(RowOf(op, data.seconds));
  return lines + JsonLine(RowOf(data));
}

std::string ComparisonRows(const ProfileComparison& comparison) {
  std::string lines;
  for (const OpChange& op : comparison.ops) lines += JsonLine(RowOf(op));
  for (const LoneCall& lone : comparison.alone) lines += JsonLine(RowOf(lone));
  return lines + JsonLine(TotalOf(comparison));
}

}  // namespace kiln::report
