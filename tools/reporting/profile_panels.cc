// Bars are elements of HTML, not a picture, so that names stay readable where
// the window is narrow. Their lengths are shares of the longest one:
//
//   dense   ######----------   30 us, 60 %     # is what the machine allows
//   relu    ####--             10 us, 20 %
//   others  ----               10 us, 20 %     not known
//
// With an earlier profile each has the bar of its time before above it.
#include "kiln/tools/reporting/profile_panels.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/tools/reporting/chart.h"
#include "kiln/tools/reporting/html.h"
#include "kiln/tools/reporting/roofs.h"
#include "kiln/tools/support/columns.h"

namespace kiln::report {
namespace {

constexpr size_t kMostBars = 20;

struct Bar {
  std::string name;
  double seconds = 0;
  double before_s = 0;  // 0: not known
  double least_s = 0;   // 0: not known
};

// Times before of ops all of whose calls have a partner, by name.
std::map<std::string, double> TimesBefore(const ProfileData& data,
                                          const ProfileComparison* against) {
  std::map<std::string, double> times;
  if (!against) return times;
  for (const OpChange& change : against->ops) {
    for (const OpData& op : data.ops) {
      if (op.name == change.name && op.calls == change.calls) {
        times[op.name] = change.before_s;
      }
    }
  }
  return times;
}

std::vector<Bar> BarsOf(const ProfileData& data,
                        const ProfileComparison* against) {
  const std::map<std::string, double> before = TimesBefore(data, against);
  std::vector<Bar> bars;
  Bar others;
  // A line for one op alone would be no shorter than the op.
  const size_t shown =
      data.ops.size() > kMostBars + 1 ? kMostBars : data.ops.size();
  for (size_t i = 0; i < data.ops.size(); ++i) {
    const OpData& op = data.ops[i];
    if (i >= shown) {
      others.seconds += op.seconds;
      continue;
    }
    const auto then = before.find(op.name);
    bars.push_back({op.name, op.seconds,
                    then == before.end() ? 0 : then->second,
                    op.least_s.value_or(0)});
  }
  if (shown == data.ops.size()) return bars;
  others.name = absl::StrCat(data.ops.size() - shown, " other ops");
  bars.push_back(others);
  return bars;
}

std::string BarHtml(const char* style, double seconds, double longest,
                    double least_s) {
  const double inner = seconds > 0 ? std::min(least_s / seconds, 1.0) : 0;
  return absl::StrFormat(
      "<span class=\"%s\" style=\"width:%.2f%%\"><span class=\"least\" "
      "style=\"width:%.1f%%\"></span></span>",
      style, longest > 0 ? 100 * seconds / longest : 0, 100 * inner);
}

std::string Percent(double share) {
  return absl::StrFormat("%.1f %%", 100 * share);
}

std::string Row(const Bar& bar, double longest, double total) {
  const double share = total > 0 ? bar.seconds / total : 0;
  return absl::StrCat(
      "<span class=\"name mono\" title=\"", Escape(bar.name), "\">",
      Escape(bar.name), "</span><span class=\"track\">",
      bar.before_s > 0 ? BarHtml("time before", bar.before_s, longest, 0) : "",
      BarHtml("time", bar.seconds, longest, bar.least_s),
      "</span><span class=\"value\">",
      bar.before_s > 0 ? Duration(bar.before_s) + " → " : "",
      Duration(bar.seconds), ", ", Percent(share), "</span>\n");
}

// "–" where it is 0 or not known; "≤" for an upper bound.
std::string Rate(double rate, bool is_bound) {
  if (rate <= 0) return "–";
  return absl::StrCat(is_bound ? "≤ " : "", Short(rate));
}

std::string ShareText(double share, bool is_bound) {
  if (share <= 0) return "–";
  return absl::StrCat(is_bound ? "≤ " : "", Percent(share));
}

std::string OpRow(const OpData& op, double total) {
  return absl::StrCat(
      "<tr>", NameCell(op.name), NumberCell(absl::StrCat(op.calls)),
      NumberCell(Duration(op.seconds)),
      NumberCell(Percent(total > 0 ? op.seconds / total : 0)),
      NumberCell(Rate(op.Gflops(), op.flop_is_bound)),
      NumberCell(Rate(op.Gbs(), false)),
      NumberCell(ShareText(op.RooflineShare(), op.flop_is_bound)), "<td>",
      op.by.empty() ? "–" : op.by, "</td></tr>\n");
}

std::string TotalRow(const ProfileData& data) {
  return absl::StrCat("<tr class=\"total\"><td>all</td>",
                      NumberCell(absl::StrCat(data.calls.size())),
                      NumberCell(Duration(data.seconds)), NumberCell("100 %"),
                      NumberCell(""), NumberCell(""),
                      NumberCell(ShareText(data.RooflineShare(), false)),
                      "<td></td></tr>\n");
}

std::string CallRow(const CallData& call) {
  return absl::StrCat(
      "<tr>", NameCell(call.callee), NameCell(call.variable),
      NumberCell(Duration(call.seconds)),
      NumberCell(Rate(call.flop.value_or(0) * 1e-6, call.flop_is_bound)),
      NumberCell(Rate(call.bytes() * 1e-6, false)),
      NumberCell(ShareText(call.RooflineShare(), call.flop_is_bound)), "<td>",
      call.roofline ? call.roofline->by() : "–", "</td></tr>\n");
}

// For a place that has no room for more.
std::string Shortened(const std::string& name) {
  constexpr size_t kMost = 24;
  return ColumnsOf(name) > kMost ? FitColumns(name, kMost) : name;
}

}  // namespace

std::string TimeBars(const ProfileData& data,
                     const ProfileComparison* against) {
  const std::vector<Bar> bars = BarsOf(data, against);
  double longest = 0;
  for (const Bar& bar : bars) {
    longest = std::max({longest, bar.seconds, bar.before_s});
  }
  std::string html = "<div class=\"bars\">\n";
  for (const Bar& bar : bars) html += Row(bar, longest, data.seconds);
  return html + "</div>\n";
}

std::string OpTable(const ProfileData& data) {
  std::string rows;
  for (const OpData& op : data.ops) rows += OpRow(op, data.seconds);
  return absl::StrCat("<table class=\"summary\"><thead><tr><th>op</th>",
                      NumberHead("calls"), NumberHead("time"),
                      NumberHead("share"), NumberHead("GFLOP/s"),
                      NumberHead("GB/s"), NumberHead("of roofline"),
                      "<th>limit</th></tr></thead><tbody>\n", rows,
                      TotalRow(data), "</tbody></table>\n");
}

std::string ProfileRoofline(const ProfileData& data) {
  std::vector<const OpData*> known;
  std::vector<double> intensities, rates;
  for (const OpData& op : data.ops) {
    if (op.Gflops() <= 0 || op.Gbs() <= 0) continue;
    known.push_back(&op);
    intensities.push_back(*op.flop / op.bytes);
    rates.push_back(op.Gflops());
  }
  if (known.empty()) {
    return "<p class=\"quiet\">No op has both operations and bytes that are "
           "known.</p>\n";
  }
  Chart chart = RoofChart(data.machine, data.threads(), data.peak_gflops,
                          intensities, rates);
  for (size_t i = known.size(); i-- > 0;) {
    chart.Dot(intensities[i], rates[i], i == 0 ? "best" : "other",
              absl::StrCat(known[i]->name, ": ", Short(rates[i]), " GFLOP/s, ",
                           Duration(known[i]->seconds)));
  }
  chart.Name(intensities[0], rates[0], Shortened(known[0]->name));
  return chart.ToSvg();
}

std::string CallTable(const ProfileData& data) {
  std::string rows;
  for (const CallData& call : data.calls) rows += CallRow(call);
  return absl::StrCat(
      "<details><summary>All ", data.calls.size(),
      " calls in order</summary>\n<table><thead><tr><th>op</th><th>variable"
      "</th>",
      NumberHead("time"), NumberHead("MFLOP"), NumberHead("MB"),
      NumberHead("of roofline"), "<th>limit</th></tr></thead><tbody>\n", rows,
      "</tbody></table>\n</details>\n");
}

}  // namespace kiln::report
