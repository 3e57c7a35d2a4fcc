// The layers of published models.
#ifndef KILN_TOOLS_RIVALS_MODELS_H_
#define KILN_TOOLS_RIVALS_MODELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/tools/rivals/scores.h"
#include "kiln/tools/rivals/suite.h"

namespace kiln::bench {

// model_table.cc tells its form.
extern const char kModelTable[];

// Half of all layers are looked at while Kiln is made faster; the other half is
// held out, to tell whether it became faster for these layers alone.
enum class Half { kBoth, kSeen, kHeldOut };
// "both", "seen" or "held-out".
absl::StatusOr<Half> ParseHalf(const std::string& text);
// Which half a layer belongs to, by a hash of its specification.
Half HalfOf(const std::string& spec);

struct ModelLayer {
  std::string model;  // "resnet50"
  std::string spec;   // "c2d:56,56,64,64,1,1,0"
  int count = 0;      // in one run of the model
};
// Of a table such as kModelTable. The error names the line.
absl::StatusOr<std::vector<ModelLayer>> ReadModels(const std::string& table);

// The distinct layers of one half, in the order of the table; of the models and
// operators that `only` names ("resnet50,dlrm", "dep"), or single layers as in
// AnsorSuite.
absl::StatusOr<std::vector<SuiteCase>> ModelSuite(const std::string& only,
                                                  Half half);

// The time of all layers of a model that were measured, one after another.
struct ModelTotal {
  std::string model;
  int threads = 1;
  int layers = 0, measured = 0;  // occurrences in the model, and of those found
  // Of layers that some library has; `library_us` by the best for each.
  double kiln_us = 0, library_us = 0;
  double kiln_packed_us = 0, library_packed_us = 0;
};
std::vector<ModelTotal> TotalsOf(const std::vector<CaseScores>& all);
std::string TotalLines(const std::vector<ModelTotal>& totals);
std::string JsonTotals(const std::vector<ModelTotal>& totals);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_MODELS_H_
