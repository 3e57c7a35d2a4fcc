// What a benchmark found, and how it is shown.
#ifndef KILN_TOOLS_RIVALS_SCORES_H_
#define KILN_TOOLS_RIVALS_SCORES_H_

#include <string>
#include <vector>

#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/op_case.h"

namespace kiln::bench {

struct Score {
  std::string contender;
  Role role = Role::kLibrary;
  bool packs_ahead = false;
  double us = 0;  // of one call, in the best repetition
  double median_us = 0, worst_us = 0;
  int repetitions = 0;
};

// One case on one number of threads.
struct CaseScores {
  std::string workload, shape;
  int threads = 1;
  double flop = 0, bytes = 0;  // that one call needs (ir/work)
  double peak_gflops = 0;
  Roofline roofline;
  std::vector<Score> scores;
  double flop_as_written = 0;  // with operations on inserted zeros
};

// The time that a score is to be measured by: that of the best library;
// infinite where none has the operator. A library that packs ahead is no
// measure for who packs in the time.
double BestLibraryUs(const CaseScores& found, bool packs_ahead);

// Table or JSON, one object a line. Absent ratios are "-" and null.
std::string TableHeader();
std::string TableRows(const CaseScores& found);
std::string JsonRows(const CaseScores& found);

// Geometric means over the cases, for each number of threads: of Kiln over the
// best library, with and without what is packed ahead, normwise errors apart;
// of Kiln over the naive program; of tuned over untuned. With the worst case of
// each.
struct Mean {
  std::string what;
  int threads = 1;
  int cases = 0;
  double geomean = 0;
  double worst = 0;
  std::string worst_case;
};
std::vector<Mean> Means(const std::vector<CaseScores>& all);
std::string MeanLines(const std::vector<Mean>& means);
std::string JsonMeans(const std::vector<Mean>& means);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_SCORES_H_
