// All summaries are ratios of two times of one case, above 1 where the first of
// the two is faster, and kRatios is the list of them. Ratios are averaged by
// their geometric mean, in which twice as fast and half as fast cancel:
//
//   gmm   library 10 us, Kiln 8 us    1.25
//   sfm   library 8 us, Kiln 10 us    0.8   geomean 1.000, worst 0.800 (sfm:..)
//
// A case without one of the two times does not count, and the number of cases
// is told beside the mean. Tables and JSON are made from the same ratios; a new
// one is a row of kRatios (the last row counts its largest value as the worst).
#include "kiln/tools/rivals/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/search/task/task_work.h"
#include "kiln/tools/rivals/bench_rows.pb.h"
#include "kiln/tools/support/json_line.h"

namespace kiln::bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// A ratio, or a dash for none.
std::string RatioText(double value) {
  return std::isfinite(value) ? absl::StrFormat("%.4f", value) : "-";
}

double Gflops(const CaseScores& found, const Score& score) {
  return found.flop / score.us * 1e-3;
}

double Gbs(const CaseScores& found, const Score& score) {
  return found.bytes / score.us * 1e-3;
}

double RooflineShare(const CaseScores& found, const Score& score) {
  return found.roofline.seconds * 1e6 / score.us;
}

double OverLibrary(const CaseScores& found, const Score& score) {
  return BestLibraryUs(found, score.packs_ahead) / score.us;
}

rows::Case RowOf(const CaseScores& found, const Score& score) {
  rows::Case row;
  row.set_workload(found.workload);
  row.set_shape(found.shape);
  row.set_threads(found.threads);
  row.set_contender(score.contender);
  row.set_packs_ahead(score.packs_ahead);
  row.set_normwise(score.role == Role::kNormwise);
  row.set_us(Rounded(score.us, 3));
  row.set_median_us(Rounded(score.median_us, 3));
  row.set_worst_us(Rounded(score.worst_us, 3));
  row.set_repetitions(score.repetitions);
  row.set_flop(found.flop);
  row.set_flop_as_written(found.flop_as_written);
  row.set_bytes(found.bytes);
  row.set_gflops(Rounded(Gflops(found, score), 2));
  row.set_gbs(Rounded(Gbs(found, score), 2));
  row.set_peak_gflops(Rounded(found.peak_gflops, 2));
  row.set_peak_share(Rounded(Gflops(found, score) / found.peak_gflops, 4));
  row.set_roofline_share(Rounded(RooflineShare(found, score), 4));
  row.set_roofline_by(found.roofline.by());
  const double ratio = OverLibrary(found, score);
  if (std::isfinite(ratio)) {
    row.set_speedup_over_best_library(Rounded(ratio, 4));
  }
  return row;
}

// The best time of scores with a property; infinite where there is none.
template <typename Wanted>
double BestUs(const CaseScores& found, Wanted wanted) {
  double best = kNone;
  for (const Score& score : found.scores) {
    if (wanted(score)) best = std::min(best, score.us);
  }
  return best;
}

double KilnUs(const CaseScores& found, bool packs_ahead,
              Role role = Role::kKiln) {
  return BestUs(found, [&](const Score& s) {
    return s.role == role && s.packs_ahead == packs_ahead;
  });
}

double UsOf(const CaseScores& found, const std::string& contender) {
  return BestUs(found,
                [&](const Score& s) { return s.contender == contender; });
}

struct Ratio {
  const char* what;
  // Above 1: the first of the two is faster. Not finite: there is none.
  double (*of)(const CaseScores& found);
};

constexpr Ratio kRatios[] = {
    {"Kiln over the best library",
     [](const CaseScores& f) {
       return BestLibraryUs(f, false) / KilnUs(f, false);
     }},
    {"Kiln over the best library, packed ahead both",
     [](const CaseScores& f) {
       return BestLibraryUs(f, true) / KilnUs(f, true);
     }},
    {"Kiln over the best library that may pack ahead",
     [](const CaseScores& f) {
       return BestLibraryUs(f, true) / KilnUs(f, false);
     }},
    {"Kiln, normwise, over the best library",
     [](const CaseScores& f) {
       return BestLibraryUs(f, false) / KilnUs(f, false, Role::kNormwise);
     }},
    {"Kiln, normwise, over the best, packed ahead both",
     [](const CaseScores& f) {
       return BestLibraryUs(f, true) / KilnUs(f, true, Role::kNormwise);
     }},
    {"Kiln over the naive program",
     [](const CaseScores& f) { return UsOf(f, "naive") / KilnUs(f, false); }},
    {"Kiln tuned over Kiln not tuned",
     [](const CaseScores& f) {
       return UsOf(f, "Kiln, not tuned") / KilnUs(f, false);
     }},
};

// Of `worst`: the least ratio, but for untuned schedules the largest.
Mean MeanOf(const Ratio& ratio, bool largest, int threads,
            const std::vector<CaseScores>& all) {
  Mean mean{ratio.what, threads};
  double logs = 0;
  for (const CaseScores& found : all) {
    const double value = ratio.of(found);
    if (found.threads != threads || !std::isfinite(value) || value <= 0) {
      continue;
    }
    logs += std::log(value);
    const bool worse = largest ? value > mean.worst : value < mean.worst;
    if (++mean.cases == 1 || worse) {
      mean.worst = value;
      mean.worst_case = absl::StrCat(found.workload, ":", found.shape);
    }
  }
  mean.geomean = mean.cases > 0 ? std::exp(logs / mean.cases) : 0;
  return mean;
}

}  // namespace

double BestLibraryUs(const CaseScores& found, bool packs_ahead) {
  return BestUs(found, [&](const Score& s) {
    return s.role == Role::kLibrary && (packs_ahead || !s.packs_ahead);
  });
}

std::string TableHeader() {
  return absl::StrFormat(
      "%-28s %7s  %-28s %11s %11s %11s %9s %8s %8s %14s %9s\n", "case",
      "threads", "contender", "us", "median us", "worst us", "GFLOP/s", "GB/s",
      "of peak", "of roofline", "x library");
}

std::string TableRows(const CaseScores& found) {
  std::string rows;
  for (const Score& score : found.scores) {
    absl::StrAppendFormat(
        &rows,
        "%-28s %7d  %-28s %11.2f %11.2f %11.2f %9.2f %8.2f %8.4f %7.4f %-6s "
        "%9s\n",
        absl::StrCat(found.workload, ":", found.shape), found.threads,
        score.contender, score.us, score.median_us, score.worst_us,
        Gflops(found, score), Gbs(found, score),
        Gflops(found, score) / found.peak_gflops, RooflineShare(found, score),
        found.roofline.by(), RatioText(OverLibrary(found, score)));
  }
  const std::string notes =
      WorkNotes({.flop = found.flop, .flop_as_written = found.flop_as_written});
  if (!notes.empty()) absl::StrAppend(&rows, "(", notes, ")\n");
  return rows;
}

std::string JsonRows(const CaseScores& found) {
  std::string lines;
  for (const Score& score : found.scores)
    lines += JsonLine(RowOf(found, score));
  return lines;
}

std::vector<Mean> Means(const std::vector<CaseScores>& all) {
  std::set<int> threads;
  for (const CaseScores& found : all) threads.insert(found.threads);
  std::vector<Mean> means;
  for (int count : threads) {
    for (const Ratio& ratio : kRatios) {
      const bool largest = &ratio == std::end(kRatios) - 1;
      Mean mean = MeanOf(ratio, largest, count, all);
      if (mean.cases > 0) means.push_back(std::move(mean));
    }
  }
  return means;
}

std::string MeanLines(const std::vector<Mean>& means) {
  std::string lines;
  for (const Mean& m : means) {
    absl::StrAppendFormat(
        &lines, "%-48s %d threads, %2d cases: geomean %.3f, worst %.3f (%s)\n",
        m.what, m.threads, m.cases, m.geomean, m.worst, m.worst_case);
  }
  return lines;
}

std::string JsonMeans(const std::vector<Mean>& means) {
  std::string lines;
  for (const Mean& m : means) {
    rows::Mean row;
    row.set_mean(m.what);
    row.set_threads(m.threads);
    row.set_cases(m.cases);
    row.set_geomean(Rounded(m.geomean, 4));
    row.set_worst(Rounded(m.worst, 4));
    row.set_worst_case(m.worst_case);
    lines += JsonLine(row);
  }
  return lines;
}

}  // namespace kiln::bench
