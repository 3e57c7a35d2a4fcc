// Which program serves which sizes is the shortest way through a table of
// times, in logarithms, with a small price for each change of the program:
//
//            n = 1    n = 16   n = 128
//   A          3 us     9 us     80 us
//   B          4 us     8 us     50 us      B everywhere, or A up to n = 4
//   C         20 us    25 us     49 us
//
// Programs are told apart by their traces. One that has no time at a size does
// not serve it. There is no way from a program to one that lays constant
// arguments out in another way, since each layout is a copy of the weights. A
// trace is carried out once a way leads by its program; when that tells
// something new of it, a layout or that the trace does not apply any more, the
// way is looked for again.
#include "kiln/search/database/by_size.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/transform/dispatch_by_size.h"
#include "kiln/search/database/rename_trace.h"
#include "kiln/search/database/workload.h"

namespace kiln {
namespace {

constexpr int64_t kMostRecords = 1024;
// A change of the program has to save this share of the time at one size.
constexpr double kChange = 0.02;

double Product(const DimSize& size) {
  double product = 1;
  for (int64_t extent : size) product *= static_cast<double>(extent);
  return product;
}

// The size at which a stored workload is timed; nullopt for one of another
// version of Kiln.
std::optional<DimSize> SizeOf(const Workload& workload) {
  const absl::StatusOr<StoredFunction> stored = ReadWorkload(workload);
  return stored.ok() ? TimedSize(stored->get()) : std::nullopt;
}

// A trace with its records at the sizes at which it has one.
struct Program {
  const Workload* workload = nullptr;  // in whose names it is
  std::vector<const TuningRecord*> at_size;
  // Once it was carried out:
  std::optional<std::string> preparation;
  RenamedTrace renamed;
  bool applies = true;
};

// Programs and their times at all sizes.
class Table {
 public:
  Table(const std::vector<TimedRecords>& timed, const Function& function)
      : timed_(timed) {
    asked_.module.functions.push_back(function);
    std::map<std::string, size_t> places;  // by trace
    for (size_t s = 0; s < timed.size(); ++s) {
      for (const TuningRecord& record : timed[s].records) {
        const auto [place, is_new] =
            places.emplace(record.trace, programs_.size());
        if (is_new) {
          programs_.push_back({&timed[s].workload, {}});
          programs_.back().at_size.resize(timed.size(), nullptr);
        }
        programs_[place->second].at_size[s] = &record;
      }
    }
  }

  // The program for each size; empty where no way leads through all sizes.
  std::vector<const Program*> Best() {
    while (true) {
      const std::vector<size_t> way = LeastWay();
      bool is_new = false;
      for (const size_t p : way) is_new |= CarryOut(programs_[p]);
      if (is_new) continue;
      std::vector<const Program*> best;
      for (const size_t p : way) best.push_back(&programs_[p]);
      return best;
    }
  }

 private:
  struct Step {
    double cost = 0;
    size_t from = 0;
  };

  // False where that was done before.
  bool CarryOut(Program& program) {
    if (program.preparation) return false;
    program.preparation = "";
    const absl::StatusOr<StoredFunction> stored =
        ReadWorkload(*program.workload);
    program.applies = stored.ok();
    if (!stored.ok()) return true;
    Function& function = asked_.module.functions[0];
    SetTimedSize(&function, *TimedSize(stored->get()));
    absl::StatusOr<RenamedTrace> renamed =
        RenameTrace(*stored, TraceOf(program), asked_);
    program.applies = renamed.ok();
    if (!renamed.ok()) return true;
    SetTimedSize(&renamed->scheduled, {});
    program.preparation = PreparationText(renamed->scheduled);
    program.renamed = *std::move(renamed);
    return true;
  }

  static const std::string& TraceOf(const Program& program) {
    return (*std::find_if(program.at_size.begin(), program.at_size.end(),
                          [](const TuningRecord* r) { return r != nullptr; }))
        ->trace;
  }

  std::vector<size_t> LeastWay() const {
    if (programs_.empty()) return {};
    std::vector<std::vector<Step>> steps(timed_.size());
    for (size_t s = 0; s < timed_.size(); ++s) {
      for (size_t p = 0; p < programs_.size(); ++p) {
        steps[s].push_back(s == 0 ? Step{0, p} : Cheapest(steps[s - 1], p));
        steps[s].back().cost += Cost(programs_[p], s);
      }
    }
    const auto last = std::min_element(
        steps.back().begin(), steps.back().end(),
        [](const Step& a, const Step& b) { return a.cost < b.cost; });
    if (!std::isfinite(last->cost)) return {};
    std::vector<size_t> way = {
        static_cast<size_t>(last - steps.back().begin())};
    for (size_t s = timed_.size(); s-- > 1;) {
      way.push_back(steps[s][way.back()].from);
    }
    std::reverse(way.begin(), way.end());
    return way;
  }

  static double Cost(const Program& program, size_t size) {
    const TuningRecord* record = program.at_size[size];
    return record && program.applies ? std::log(record->rank())
                                     : std::numeric_limits<double>::infinity();
  }

  Step Cheapest(const std::vector<Step>& before, size_t program) const {
    Step best = {before[program].cost, program};
    const auto& own = programs_[program].preparation;
    for (size_t q = 0; q < before.size(); ++q) {
      const auto& other = programs_[q].preparation;
      if (own && other && *own != *other) continue;
      const double cost = before[q].cost + kChange;
      if (cost < best.cost) best = {cost, q};
    }
    return best;
  }

  const std::vector<TimedRecords>& timed_;
  StoredFunction asked_;
  std::vector<Program> programs_;
};

// The sizes at which the function is to be timed and was not: those that one of
// the workloads names.
std::vector<DimSize> Missing(const std::vector<TimedRecords>& timed) {
  std::set<DimSize> missing;
  for (const TimedRecords& one : timed) {
    const absl::StatusOr<StoredFunction> stored = ReadWorkload(one.workload);
    if (!stored.ok()) continue;
    for (const DimSize& size : TimedSizes(stored->module)) missing.insert(size);
  }
  for (const TimedRecords& one : timed) missing.erase(one.size);
  return {missing.begin(), missing.end()};
}

std::string TextOf(const DimSize& size) { return absl::StrJoin(size, " x "); }

// The bound between neighbouring sizes.
int64_t Between(const DimSize& smaller, const DimSize& larger) {
  return static_cast<int64_t>(
      std::floor(std::sqrt(Product(smaller)) * std::sqrt(Product(larger))));
}

std::string DimsText(const Function& f) {
  return absl::StrJoin(
      SymbolicDims(f), " * ",
      [](std::string* out, const Var& dim) { out->append(dim.name()); });
}

// The programs for the sizes as one.
absl::StatusOr<BestProgram> Merged(const std::vector<TimedRecords>& timed,
                                   const std::vector<const Program*>& programs,
                                   const Function& f) {
  std::vector<SizeVariant> variants;
  std::string traces;
  for (size_t s = 0; s < programs.size(); ++s) {
    const bool is_last = s + 1 == programs.size();
    if (!is_last && programs[s + 1] == programs[s]) continue;
    SizeVariant& variant = variants.emplace_back();
    variant.scheduled = programs[s]->renamed.scheduled;
    if (!is_last) {
      variant.at_most = Between(timed[s].size, timed[s + 1].size);
      absl::StrAppend(&traces, "# ", DimsText(f), " <= ", variant.at_most,
                      "\n");
    } else if (variants.size() > 1) {
      absl::StrAppend(&traces, "# more\n");
    }
    absl::StrAppend(&traces, programs[s]->renamed.trace, is_last ? "" : "\n");
  }
  BestProgram best;
  best.record = *programs.back()->at_size.back();
  best.record.trace = std::move(traces);
  best.workload = timed.back().workload;
  KILN_ASSIGN_OR_RETURN(best.scheduled, DispatchBySize(variants));
  return best;
}

}  // namespace

absl::StatusOr<std::vector<TimedRecords>> FindTimed(Database& database,
                                                    const Function& function,
                                                    const std::string& target) {
  KILN_ASSIGN_OR_RETURN(std::vector<Workload> all,
                        database.WorkloadsLike(WorkloadKey(function)));
  std::vector<TimedRecords> found;
  for (Workload& workload : all) {
    const std::optional<DimSize> size = SizeOf(workload);
    if (!size) continue;
    KILN_ASSIGN_OR_RETURN(std::vector<TuningRecord> records,
                          database.TopK(workload.key, target, kMostRecords));
    if (records.empty()) continue;
    found.push_back({*size, std::move(workload), std::move(records)});
  }
  std::sort(found.begin(), found.end(),
            [](const TimedRecords& a, const TimedRecords& b) {
              return std::pair(Product(a.size), a.size) <
                     std::pair(Product(b.size), b.size);
            });
  return found;
}

absl::StatusOr<BestProgram> FindBestBySize(Database& database,
                                           const Function& function,
                                           const std::string& target) {
  if (SymbolicDims(function).empty()) {
    return FindBest(database, function, target);
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<TimedRecords> timed,
                        FindTimed(database, function, target));
  if (timed.empty()) return FindBest(database, function, target);
  if (const std::vector<DimSize> missing = Missing(timed); !missing.empty()) {
    return absl::NotFoundError(absl::StrCat(
        database.path(), " has times of ", function.name, " at some sizes of ",
        DimsText(function), ", and none yet at ", TextOf(missing[0]),
        "; the same tune goes on with it"));
  }
  Table table(timed, function);
  const std::vector<const Program*> programs = table.Best();
  if (programs.empty()) {
    return absl::NotFoundError(
        absl::StrCat(database.path(), " has no programs of ", function.name,
                     " for all of the ", timed.size(),
                     " sizes at which it was timed; tune "
                     "once more with the same --bind"));
  }
  return Merged(timed, programs, function);
}

}  // namespace kiln
