#include "kiln/search/database/lookup.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {
namespace {

constexpr int64_t kTries = 8;  // programs whose trace may not apply

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool IsDType(const std::string& word) {
  for (const char* kind : {"float", "int", "uint", "bfloat", "bool"}) {
    const std::string prefix = kind;
    if (word.compare(0, prefix.size(), prefix) != 0) continue;
    return word.find_first_not_of("0123456789", prefix.size()) == word.npos;
  }
  return false;
}

bool IsNumber(const std::string& word) {
  return word.find_first_not_of("0123456789") == word.npos;
}

// The normalized function as text, numbers as "#" and types as "?".
std::string Outline(const Function& f, bool no_numbers, bool no_types) {
  Module module;
  module.functions.push_back(Normalize(f));
  module.functions[0].name = "f";
  module.functions[0].attrs = AttrMap();
  const std::string text = PrintModule(module);
  std::string outline, word;
  const auto end_word = [&] {
    if (no_numbers && !word.empty() && IsNumber(word)) word = "#";
    if (no_types && IsDType(word)) word = "?";
    outline += std::exchange(word, "");
  };
  for (char c : text) {
    if (IsWordCharacter(c)) {
      word += c;
    } else {
      end_word();
      outline += c;
    }
  }
  end_word();
  return outline;
}

// "float32[512, 512], float32[512, 32]": what tells near functions apart.
std::string Shapes(const Function& f) {
  std::string shapes;
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    absl::StrAppend(&shapes, shapes.empty() ? "" : ", ",
                    param.buffer->dtype.ToString(), "[");
    for (size_t i = 0; i < param.buffer->shape.size(); ++i) {
      absl::StrAppend(&shapes, i == 0 ? "" : ", ",
                      PrintExpr(param.buffer->shape[i]));
    }
    absl::StrAppend(&shapes, "]");
  }
  return shapes;
}

// A stored workload, read.
struct Stored {
  Workload workload;
  Module module;
  int function = 0;

  const Function& get() const { return module.functions[function]; }
};

absl::StatusOr<Stored> ReadStored(const Workload& workload) {
  Stored stored;
  stored.workload = workload;
  KILN_ASSIGN_OR_RETURN(stored.module,
                        ParseModule("<workload>", workload.text));
  for (size_t i = 0; i < stored.module.functions.size(); ++i) {
    if (stored.module.functions[i].name != workload.func_name) continue;
    stored.function = static_cast<int>(i);
    return stored;
  }
  return absl::NotFoundError(workload.func_name);
}

// The best of the workload whose trace applies; nullopt where there is none.
absl::StatusOr<std::optional<BestProgram>> BestOf(Database& database,
                                                  const Stored& stored,
                                                  const std::string& target) {
  KILN_ASSIGN_OR_RETURN(std::vector<TuningRecord> records,
                        database.TopK(stored.workload.key, target, kTries));
  for (TuningRecord& record : records) {
    absl::StatusOr<Function> scheduled =
        ReplayTrace(stored.module, stored.function, record.trace);
    if (!scheduled.ok()) continue;
    return BestProgram{*std::move(scheduled), std::move(record),
                       stored.workload};
  }
  return std::nullopt;
}

// Without the list of CPU features, which nobody reads.
std::string ShortTarget(const std::string& target) {
  std::vector<std::string> words = absl::StrSplit(target, ' ');
  for (std::string& word : words) {
    if (word.find(',') != word.npos) word = "(features)";
  }
  return absl::StrJoin(words, " ");
}

// Lines that say what is known of a workload that would have done.
absl::Status ExplainSame(Database& database, const Stored& stored,
                         const std::string& target, std::string* lines) {
  struct OfTarget {
    int64_t trials = 0;
    double best_ns = 0;
  };
  std::map<std::string, OfTarget> targets;
  RecordFilter filter;
  filter.workload_key = stored.workload.key;
  KILN_RETURN_IF_ERROR(
      database.ForEachRecord(filter, [&](const TuningRecord& record) {
        OfTarget& t = targets[record.target];
        ++t.trials;
        const double ns = record.rank();
        if (record.verdict == Verdict::kOk &&
            (t.best_ns == 0 || ns < t.best_ns)) {
          t.best_ns = ns;
        }
        return absl::OkStatus();
      }));
  for (const auto& [name, t] : targets) {
    absl::StrAppend(
        lines, "\n  this function ",
        name == target ? "on this target: " : "on another target, ",
        name == target ? "" : ShortTarget(name) + ": ", t.trials, " trials, ",
        t.best_ns > 0 ? absl::StrFormat("best %.3f us", t.best_ns * 1e-3)
                      : "none succeeded");
  }
  return absl::OkStatus();
}

std::string ExplainNear(const Function& function, const Stored& stored) {
  const Function& other = stored.get();
  if (Outline(function, true, true) != Outline(other, true, true)) return "";
  const bool same_types =
      Outline(function, true, false) == Outline(other, true, false);
  const bool same_shape =
      Outline(function, false, true) == Outline(other, false, true);
  const char* what = same_types   ? "other shapes"
                     : same_shape ? "another type"
                                  : "other shapes and another type";
  return absl::StrCat("\n  the same computation on ", what, ": ",
                      Shapes(other));
}

}  // namespace

absl::StatusOr<BestProgram> FindBest(Database& database,
                                     const Function& function,
                                     const std::string& target) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Workload> workloads,
                        database.AllWorkloads());
  std::optional<BestProgram> best;
  std::string same, near;
  for (const Workload& workload : workloads) {
    const absl::StatusOr<Stored> stored = ReadStored(workload);
    if (!stored.ok()) continue;  // of another version of Kiln
    if (!StructurallyEqual(stored->get(), function)) {
      absl::StrAppend(&near, ExplainNear(function, *stored));
      continue;
    }
    std::optional<BestProgram> found;
    KILN_ASSIGN_OR_RETURN(found, BestOf(database, *stored, target));
    if (!found) {
      KILN_RETURN_IF_ERROR(ExplainSame(database, *stored, target, &same));
    } else if (!best || found->record.rank() < best->record.rank()) {
      best = std::move(found);
    }
  }
  if (best) {
    best->scheduled.name = function.name;
    best->scheduled.attrs = function.attrs;
    return *std::move(best);
  }
  const std::string misses = absl::StrCat(same, near);
  return absl::NotFoundError(absl::StrCat(
      database.path(), " has no program of ", function.name, "(",
      Shapes(function), ") for ", ShortTarget(target),
      misses.empty() ? "; nothing like it was tuned" : "; near it are",
      misses));
}

}  // namespace kiln
