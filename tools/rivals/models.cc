// The table is read line by line; a total is a sum over the layers of a model,
// each as often as it occurs:
//
//   model resnet50                          us by Kiln, by the best library
//   c2d:56,56,64,64,3,1,1 3 conv2           90, 100   → 270, 300
//   c2d:56,56,64,256,1,1,0 4 conv2          40, 38    → 160, 152
//                                           resnet50:   430, 452    1.051
//
// Layers that no library has do not count on either side.
#include "kiln/tools/rivals/models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/rivals/bench_rows.pb.h"
#include "kiln/tools/support/json_line.h"

namespace kiln::bench {
namespace {

const std::vector<ModelLayer>& AllLayers() {
  static const auto* const layers = [] {
    absl::StatusOr<std::vector<ModelLayer>> read = ReadModels(kModelTable);
    KILN_CHECK(read.ok());
    return new std::vector<ModelLayer>(*std::move(read));
  }();
  return *layers;
}

std::string OperatorOf(const std::string& spec) {
  return spec.substr(0, spec.find(':'));
}

// What --only may name: models and their operators.
std::set<std::string> KnownNames() {
  std::set<std::string> names;
  for (const ModelLayer& layer : AllLayers()) {
    names.insert(layer.model);
    names.insert(OperatorOf(layer.spec));
  }
  return names;
}

absl::StatusOr<std::set<std::string>> WantedNames(const std::string& only) {
  const std::set<std::string> known = KnownNames();
  if (only.empty()) return known;
  std::set<std::string> wanted;
  for (const auto part : absl::StrSplit(only, ',')) {
    if (!known.count(std::string(part))) {
      return absl::InvalidArgumentError(
          absl::StrCat("--only: there is no model and no operator \"", part,
                       "\"; there are ", absl::StrJoin(known, ",")));
    }
    wanted.insert(std::string(part));
  }
  return wanted;
}

double BestKilnUs(const CaseScores& found, bool packs_ahead) {
  double best = std::numeric_limits<double>::infinity();
  for (const Score& score : found.scores) {
    if (score.role == Role::kKiln && (packs_ahead || !score.packs_ahead)) {
      best = std::min(best, score.us);
    }
  }
  return best;
}

void AddTo(ModelTotal* total, const CaseScores& found, int count) {
  const double kiln = BestKilnUs(found, false);
  const double library = BestLibraryUs(found, false);
  if (!std::isfinite(kiln) || !std::isfinite(library)) return;
  total->measured += count;
  total->kiln_us += count * kiln;
  total->library_us += count * library;
  total->kiln_packed_us += count * BestKilnUs(found, true);
  total->library_packed_us += count * BestLibraryUs(found, true);
}

}  // namespace

absl::StatusOr<Half> ParseHalf(const std::string& text) {
  if (text == "both") return Half::kBoth;
  if (text == "seen") return Half::kSeen;
  if (text == "held-out") return Half::kHeldOut;
  return absl::InvalidArgumentError(absl::StrCat(
      "--half ", text, " is not known; there are both, seen and held-out"));
}

// FNV-1a, whose values are the same everywhere and for ever.
Half HalfOf(const std::string& spec) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : spec) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return (hash >> 32) % 2 == 0 ? Half::kSeen : Half::kHeldOut;
}

absl::StatusOr<std::vector<ModelLayer>> ReadModels(const std::string& table) {
  std::vector<ModelLayer> layers;
  std::string model;
  for (const auto line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    int count = 0;
    if (words.size() == 2 && words[0] == "model") {
      model = words[1];
    } else if (!model.empty() && words.size() > 2 &&
               absl::SimpleAtoi(words[1], &count) && count > 0) {
      layers.push_back({model, words[0], count});
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", line, "\" is neither a model nor a layer with its count"));
    }
  }
  return layers;
}

absl::StatusOr<std::vector<SuiteCase>> ModelSuite(const std::string& only,
                                                  Half half) {
  if (only.find(':') != std::string::npos) return AnsorSuite(only);
  KILN_ASSIGN_OR_RETURN(const std::set<std::string> wanted, WantedNames(only));
  std::vector<std::string> specs;
  for (const ModelLayer& layer : AllLayers()) {
    const bool is_wanted =
        wanted.count(layer.model) || wanted.count(OperatorOf(layer.spec));
    const bool is_in_half = half == Half::kBoth || half == HalfOf(layer.spec);
    if (is_wanted && is_in_half && !absl::c_linear_search(specs, layer.spec)) {
      specs.push_back(layer.spec);
    }
  }
  if (specs.empty()) return std::vector<SuiteCase>();
  return AnsorSuite(absl::StrJoin(specs, ";"));
}

std::vector<ModelTotal> TotalsOf(const std::vector<CaseScores>& all) {
  std::map<std::string, int> in_model;
  std::set<int> threads;
  for (const ModelLayer& layer : AllLayers()) {
    in_model[layer.model] += layer.count;
  }
  for (const CaseScores& found : all) threads.insert(found.threads);
  std::vector<ModelTotal> totals;
  for (const int count : threads) {
    std::map<std::string, ModelTotal> of;
    for (const ModelLayer& layer : AllLayers()) {
      for (const CaseScores& found : all) {
        if (found.threads == count &&
            absl::StrCat(found.workload, ":", found.shape) == layer.spec) {
          AddTo(&of[layer.model], found, layer.count);
        }
      }
    }
    for (auto& [model, total] : of) {
      if (total.measured == 0) continue;
      total.model = model;
      total.threads = count;
      total.layers = in_model[model];
      totals.push_back(total);
    }
  }
  return totals;
}

std::string TotalLines(const std::vector<ModelTotal>& totals) {
  std::string lines;
  for (const ModelTotal& t : totals) {
    absl::StrAppendFormat(
        &lines,
        "%-16s %d threads, %3d of %3d layers: Kiln %10.1f us, libraries %10.1f "
        "us (%.3f); packed ahead %10.1f us, %10.1f us (%.3f)\n",
        t.model, t.threads, t.measured, t.layers, t.kiln_us, t.library_us,
        t.library_us / t.kiln_us, t.kiln_packed_us, t.library_packed_us,
        t.library_packed_us / t.kiln_packed_us);
  }
  return lines;
}

std::string JsonTotals(const std::vector<ModelTotal>& totals) {
  std::string lines;
  for (const ModelTotal& t : totals) {
    rows::Total row;
    row.set_model(t.model);
    row.set_threads(t.threads);
    row.set_layers(t.layers);
    row.set_measured(t.measured);
    row.set_kiln_us(Rounded(t.kiln_us, 2));
    row.set_library_us(Rounded(t.library_us, 2));
    row.set_kiln_packed_us(Rounded(t.kiln_packed_us, 2));
    row.set_library_packed_us(Rounded(t.library_packed_us, 2));
    lines += JsonLine(row);
  }
  return lines;
}

}  // namespace kiln::bench
