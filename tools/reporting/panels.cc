// A panel is one function from what is known of a task to HTML, and says in a
// sentence why there is nothing where there is nothing to show. Charts are
// drawn by chart.h; tables are rows put together here.
//
//   RooflinePanel: intensity 10 FLOP/B, memory 20 GB/s, peak 150 GFLOP/s
//     the roof of memory rises to 150 at 7.5 FLOP/B and is flat from there on;
//     a program of 90 GFLOP/s is a dot at (10, 90) below it
//
// Strips of rules share one axis of times for all rules, so that they can be
// compared by eye.
#include "kiln/tools/reporting/panels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/tools/reporting/chart.h"
#include "kiln/tools/reporting/diff.h"
#include "kiln/tools/reporting/html.h"
#include "kiln/tools/reporting/roofs.h"

namespace kiln::report {
namespace {

std::string Nothing(std::string_view why) {
  return absl::StrCat("<p class=\"quiet\">", Escape(why), "</p>\n");
}

std::string StripOf(const std::vector<double>& seconds, const Axis& axis) {
  std::string svg =
      "<svg class=\"strip\" viewBox=\"0 0 260 22\" aria-hidden=\"true\">"
      "<line x1=\"0\" y1=\"11\" x2=\"260\" y2=\"11\" class=\"base\"/>";
  const auto mark = [&](double at, double y1, double y2, const char* style) {
    const double x = 2 + 256 * axis.Place(at);
    absl::StrAppendFormat(
        &svg,
        "<line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\" "
        "class=\"%s\"/>",
        x, y1, x, y2, style);
  };
  for (double at : seconds) mark(at, 4, 18, "tick");
  if (!seconds.empty()) mark(seconds[seconds.size() / 2], 1, 21, "middle");
  return svg + "</svg>";
}

std::string VariantRow(const RuleVariant& v, bool first, int best_tenth,
                       const Axis& axis) {
  const auto time = [&](size_t i) {
    return v.seconds.empty() ? "–" : Duration(v.seconds[i]);
  };
  return absl::StrCat(
      first ? "<tr class=\"first\"><td>" : "<tr><td>",
      first ? Escape(v.rule.empty() ? "schedules from files" : v.rule) : "",
      "</td><td class=\"mono\">", first ? Escape(v.block) : "",
      "</td><td class=\"steps mono\">", Escape(v.steps),
      "</td><td class=\"number\">", v.seconds.size() + v.failed,
      "</td><td class=\"number\">", v.failed, "</td><td class=\"number\">",
      time(0), "</td><td class=\"number\">", time(v.seconds.size() / 2),
      "</td><td class=\"number\">", v.among_best, " of ", best_tenth,
      "</td><td>", StripOf(v.seconds, axis), "</td></tr>\n");
}

// Programs of the best tenth: those that the variants of one place count.
int BestTenth(const std::vector<RuleVariant>& variants, size_t first) {
  int count = 0;
  for (size_t i = first; i < variants.size(); ++i) {
    if (variants[i].rule != variants[first].rule ||
        variants[i].block != variants[first].block) {
      break;
    }
    count += variants[i].among_best;
  }
  return count;
}

std::string DiffHtml(const std::vector<DiffLine>& lines) {
  std::string html = "<pre>";
  for (const DiffLine& line : lines) {
    const auto [style, sign] =
        line.change == Change::kAdded     ? std::pair("added", "+ ")
        : line.change == Change::kRemoved ? std::pair("removed", "- ")
                                          : std::pair("same", "  ");
    absl::StrAppend(&html, "<span class=\"", style, "\">", sign,
                    Escape(line.text), "</span>");
  }
  return html + "</pre>";
}

std::string Details(const std::string& summary, const std::string& body,
                    bool open) {
  return absl::StrCat("<details", open ? " open" : "", "><summary>",
                      Escape(summary), "</summary>\n", body, "</details>\n");
}

}  // namespace

double PeakOf(const TaskData& task, const Machine& machine) {
  if (task.peak_gflops > 0) return task.peak_gflops;
  return task.threads > 1 ? machine.all_gflops : machine.gflops;
}

std::string CurvePanel(const TaskData& task,
                       const std::vector<PeerTime>& peers) {
  if (!task.best()) return Nothing("No trial has succeeded so far.");
  std::vector<double> times;
  for (const TuningRecord& r : task.trials) {
    if (r.verdict == Verdict::kOk) times.push_back(r.latency_min_ns * 1e-3);
  }
  for (const PeerTime& peer : peers) times.push_back(peer.seconds * 1e6);
  const double count = static_cast<double>(task.trials.size());
  Chart chart("Best time so far over trials",
              {"trial", Scale::kLinear, 0, std::max(1.0, count)},
              Axis::Over("time of a call (µs)", Scale::kLog, times),
              !peers.empty());
  for (const PeerTime& peer : peers) {
    chart.Level(peer.seconds * 1e6, "other", peer.contender);
  }
  std::vector<std::pair<double, double>> best;
  for (size_t i = 0; i < task.trials.size(); ++i) {
    const TuningRecord& r = task.trials[i];
    if (r.verdict != Verdict::kOk) continue;
    const double x = static_cast<double>(i + 1), us = r.latency_min_ns * 1e-3;
    chart.Dot(x, us, "trial",
              absl::StrCat("trial ", i + 1, ": ", Duration(us * 1e-6), "\n",
                           r.decisions));
    if (!best.empty()) best.emplace_back(x, best.back().second);
    if (best.empty() || us < best.back().second) best.emplace_back(x, us);
  }
  best.emplace_back(count, best.back().second);
  chart.Line(best, "best");
  return chart.ToSvg();
}

std::string RooflinePanel(const TaskData& task, const Machine& machine,
                          const std::vector<PeerTime>& peers) {
  if (!task.best()) return Nothing("No trial has succeeded so far.");
  if (task.flop <= 0 || task.bytes <= 0) {
    return Nothing("The operations of this function cannot be counted.");
  }
  const double peak = PeakOf(task, machine);
  const double intensity = task.flop / task.bytes;
  const auto gflops = [&](double seconds) {
    return task.flop / seconds * 1e-9;
  };
  std::vector<double> rates;
  for (const TuningRecord& r : task.trials) {
    if (r.verdict == Verdict::kOk) {
      rates.push_back(gflops(r.latency_min_ns * 1e-9));
    }
  }
  for (const PeerTime& peer : peers) rates.push_back(gflops(peer.seconds));
  Chart chart = RoofChart(machine, task.threads, peak, {intensity}, rates);
  for (size_t i = 0; i + peers.size() < rates.size(); ++i) {
    chart.Dot(intensity, rates[i], "trial", absl::StrCat(Short(rates[i])));
  }
  for (const PeerTime& peer : peers) {
    chart.Dot(intensity, gflops(peer.seconds), "other",
              absl::StrCat(peer.contender, ": ", Short(gflops(peer.seconds)),
                           " GFLOP/s"));
  }
  const double best = gflops(task.best()->latency_min_ns * 1e-9);
  chart.Dot(intensity, best, "best",
            absl::StrCat("best: ", Short(best), " GFLOP/s"));
  chart.Name(intensity, best, absl::StrCat("best ", Short(best)));
  return chart.ToSvg();
}

std::string PredictionPanel(const std::vector<Prediction>& predictions) {
  if (predictions.size() < 2) {
    return Nothing("Fewer than two trials can be compared.");
  }
  std::vector<double> all;
  for (const Prediction& p : predictions) {
    all.push_back(p.measured * 1e6);
    all.push_back(p.predicted * 1e6);
  }
  const Axis x = Axis::Over("measured (µs)", Scale::kLog, all);
  Axis y = x;
  y.label = "predicted (µs)";
  Chart chart("Predicted against measured times", x, y);
  chart.Line({{x.low, y.low}, {x.high, y.high}}, "equal");
  for (const Prediction& p : predictions) {
    chart.Dot(p.measured * 1e6, p.predicted * 1e6, "trial",
              absl::StrCat("trial ", p.trial, ": ", Duration(p.measured),
                           " measured, ", Duration(p.predicted), " predicted"));
  }
  return chart.ToSvg();
}

std::string RejectionPanel(const std::vector<Rejection>& rejections) {
  if (rejections.empty()) return Nothing("Nothing was rejected.");
  std::string rows;
  const double most = rejections[0].count;
  for (const Rejection& r : rejections) {
    absl::StrAppend(&rows, "<tr><td class=\"number\">", r.count,
                    "</td><td class=\"mono\">", Escape(r.verdict),
                    absl::StrFormat("</td><td><span class=\"bar\" "
                                    "style=\"width:%.0fpx\"></span>",
                                    80 * r.count / most),
                    "</td><td class=\"steps\" title=\"", Escape(r.example),
                    "\">", Escape(r.cause), "</td></tr>\n");
  }
  return absl::StrCat(
      "<table><thead><tr><th class=\"number\">trials</th><th>verdict</th>"
      "<th></th><th>cause (# stands for numbers)</th></tr></thead><tbody>\n",
      rows, "</tbody></table>\n");
}

std::string RulesPanel(const std::vector<RuleVariant>& variants) {
  std::vector<double> all;
  for (const RuleVariant& v : variants) {
    all.insert(all.end(), v.seconds.begin(), v.seconds.end());
  }
  if (all.empty()) return Nothing("No trial has succeeded so far.");
  const Axis axis = Axis::Over("", Scale::kLog, all);
  std::string rows;
  int best_tenth = 0;
  for (size_t i = 0; i < variants.size(); ++i) {
    const bool first = i == 0 || variants[i].rule != variants[i - 1].rule ||
                       variants[i].block != variants[i - 1].block;
    if (first) best_tenth = BestTenth(variants, i);
    rows += VariantRow(variants[i], first, best_tenth, axis);
  }
  return absl::StrCat(
      "<table><thead><tr><th>rule</th><th>block</th><th>what it did</th>"
      "<th class=\"number\">trials</th><th class=\"number\">failed</th>"
      "<th class=\"number\">best</th><th class=\"number\">median</th>"
      "<th class=\"number\">best tenth</th><th>times, log scale (",
      Duration(axis.low), " to ", Duration(axis.high),
      ")</th></tr></thead><tbody>\n", rows, "</tbody></table>\n");
}

std::string RefusalList(const std::vector<RuleRefusal>& refusals) {
  if (refusals.empty()) return "";
  std::string items;
  for (const RuleRefusal& refusal : refusals) {
    absl::StrAppend(&items, "<li title=\"", Escape(refusal.reason), "\">",
                    Escape(ToLine(refusal)), "</li>\n");
  }
  return Details("Steps that were refused to rules",
                 absl::StrCat("<ul>\n", items, "</ul>"), false);
}

std::string SchedulePanel(const TaskData& task) {
  const TuningRecord* best = task.best();
  if (!best) return Nothing("No trial has succeeded so far.");
  const Function& naive = task.module.functions[task.function];
  std::string html = Details(
      "The trace", absl::StrCat("<pre>", Escape(best->trace), "</pre>"), false);
  const absl::StatusOr<Function> scheduled =
      ReplayTrace(task.module, task.function, best->trace);
  if (!scheduled.ok()) {
    return html +
           Nothing(absl::StrCat("The trace does not apply any more: ",
                                std::string(scheduled.status().message())));
  }
  const std::string before = PrintFunction(naive);
  const std::string after = PrintFunction(*scheduled);
  return absl::StrCat(
      html,
      Details("What the program became",
              absl::StrCat("<pre>", Escape(after), "</pre>"), false),
      Details("How it differs from the program as written",
              DiffHtml(DiffLines(before, after)), true));
}

}  // namespace kiln::report
