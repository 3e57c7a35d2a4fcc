// A page is templates (text/*.html) with holes, and this file fills them: one
// line for each hole, with what panels.h draws or with a short text of its own.
//
//   {"signature", Escape(task.signature)},
//   {"curve", CurvePanel(task, peers)},
//
// Whatever comes from a program, a database or a command line is escaped where
// it enters; panels give HTML and are not. To add a panel, draw it in
// panels.cc, give the template a hole, and fill it in TaskSection.
#include "kiln/tools/reporting/page.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/search/cost/quality.h"
#include "kiln/search/space/rule/rule_log.h"
#include "kiln/tools/reporting/compare_runs.h"
#include "kiln/tools/reporting/document.h"
#include "kiln/tools/reporting/html.h"
#include "kiln/tools/reporting/insight.h"
#include "kiln/tools/reporting/panels.h"

namespace kiln::report {
namespace {

std::vector<PeerTime> PeersOf(const TaskData& task,
                              const std::vector<PeerTime>& all) {
  std::vector<PeerTime> peers;
  for (const PeerTime& peer : all) {
    if (peer.workload == task.name && peer.threads == task.threads) {
      peers.push_back(peer);
    }
  }
  return peers;
}

std::string Id(size_t index) { return absl::StrCat("task-", index + 1); }

// "1.24 times oneDNN", coloured by who is faster.
std::string AgainstPeers(const TaskData& task,
                         const std::vector<PeerTime>& peers) {
  if (peers.empty() || !task.best()) return "–";
  const PeerTime& best = *std::min_element(
      peers.begin(), peers.end(), [](const PeerTime& a, const PeerTime& b) {
        return a.seconds < b.seconds;
      });
  const double ratio = best.seconds * 1e9 / task.best()->latency_min_ns;
  return absl::StrFormat("<span class=\"%s\">%s ×</span> %s",
                         ratio >= 1 ? "faster" : "slower", Short(ratio),
                         Escape(best.contender));
}

// What the figures of a task leave out, below its name.
std::string NotesIn(const TaskData& task) {
  const std::string notes = WorkNotes(task);
  return notes.empty() ? ""
                       : absl::StrCat("<br><span class=\"quiet\">",
                                      Escape(notes), "</span>");
}

std::string SummaryRow(const TaskData& task, size_t index,
                       const PageOptions& options) {
  const TuningRecord* best = task.best();
  const double best_ns = task.best_us() * 1e3;
  const double gflops = task.Gflops(best_ns);
  const double share = gflops / PeakOf(task, options.machine);
  return absl::StrCat(
      "<tr><td><a href=\"#", Id(index), "\">", Escape(task.name), "</a>",
      NotesIn(task), "</td><td class=\"number\">", task.threads,
      "</td><td class=\"number\">", task.trials.size(),
      "</td><td class=\"number\">", task.failed(), "</td><td class=\"number\">",
      best ? Duration(best->latency_min_ns * 1e-9) : "none",
      "</td><td class=\"number\">", best && gflops > 0 ? Short(gflops) : "–",
      "</td><td class=\"number\">",
      best && task.bytes > 0 ? Short(task.Gbs(best_ns)) : "–",
      "</td><td class=\"number\">",
      best && gflops > 0 ? absl::StrFormat("%.1f %%", 100 * share) : "–",
      "</td><td>", AgainstPeers(task, PeersOf(task, options.peers)),
      "</td></tr>\n");
}

std::string CurveText(const TaskData& task) {
  const TuningRecord* best = task.best();
  if (!best) return "";
  size_t at = best - task.trials.data() + 1;
  return absl::StrCat(Duration(best->latency_min_ns * 1e-9), " at trial ", at,
                      " of ", task.trials.size(),
                      ". Each dot is a program, the line the best of them.");
}

std::string RooflineText(const TaskData& task) {
  if (task.flop <= 0) return "";
  return absl::StrCat(Short(task.flop * 1e-6), " MFLOP that are needed on ",
                      Short(task.bytes * 1e-6),
                      " MB of parameters; roofs for where they may lie.");
}

std::string PredictionText(const std::vector<Prediction>& predictions) {
  if (predictions.size() < 2) return "";
  std::vector<double> scores, seconds;
  for (const Prediction& p : predictions) {
    scores.push_back(1 / p.predicted);
    seconds.push_back(p.measured);
  }
  return absl::StrFormat(
      "The analytic model, before anything runs: rank correlation %.2f, "
      "%.0f %% of pairs in the right order.",
      RankCorrelation(scores, seconds),
      100 * PairwiseAccuracy(scores, seconds));
}

std::string RejectionText(const TaskData& task) {
  return absl::StrCat(task.failed(), " of ", task.trials.size(),
                      " programs failed; ", task.refused.size(),
                      task.refused.size() == 1 ? " schedule" : " schedules",
                      " more did not apply.");
}

std::string RulesHtml(const TaskData& task, const PageOptions& options) {
  RuleLog refused;
  const std::vector<RuleVariant> variants =
      RuleVariants(task, options.rules_for, &refused);
  return RulesPanel(variants) + RefusalList(refused.refusals());
}

std::string TaskSection(const TaskData& task, size_t index,
                        const PageOptions& options) {
  const std::vector<PeerTime> peers = PeersOf(task, options.peers);
  const std::vector<Prediction> predictions =
      Predictions(task, options.machine);
  return Fill(
      Template("task"),
      {{"id", Id(index)},
       {"name", Escape(task.name)},
       {"threads", ThreadsText(task.threads)},
       {"signature", Escape(task.signature)},
       {"target", Escape(task.target)},
       {"cpu", Escape(CpuOf(task.target))},
       {"curve_text", CurveText(task)},
       {"curve", CurvePanel(task, peers)},
       {"roofline_text", RooflineText(task)},
       {"roofline", RooflinePanel(task, options.machine, peers)},
       {"prediction_text", PredictionText(predictions)},
       {"prediction", PredictionPanel(predictions)},
       {"rejection_text", RejectionText(task)},
       {"rejections", RejectionPanel(Rejections(task))},
       {"rules_text",
        "The ways in which a rule dealt with a block, and the times of all "
        "programs in which it did so: a line for each, a bold one for the "
        "median. The best tenth are the fastest of all trials."},
       {"rules", RulesHtml(task, options)},
       {"schedule", SchedulePanel(task)}});
}

}  // namespace

std::string RenderPage(const std::vector<TaskData>& tasks,
                       const PageOptions& options) {
  std::string rows, sections;
  for (size_t i = 0; i < tasks.size(); ++i) {
    rows += SummaryRow(tasks[i], i, options);
    sections += TaskSection(tasks[i], i, options);
  }
  const std::string summary =
      Fill(Template("tasks"),
           {{"rows", rows},
            {"nothing", tasks.empty() ? "<p>The database holds no task "
                                        "yet.</p>\n"
                                      : ""}});
  const std::string against =
      options.against ? ComparisonHtml(*options.against, options.against_name)
                      : "";
  return Document(options.title, MachineText(options.machine),
                  absl::StrCat(summary, against, sections));
}

}  // namespace kiln::report
