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
// arguments out in another way, since each layout is a copy of the weights.
#include "kiln/search/database/by_size.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/transform/dispatch_by_size.h"
#include "kiln/search/database/workload.h"

namespace kiln {
namespace {

constexpr int64_t kMostPrograms = 1024;
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

// Programs and their times. Programs are numbered by first appearance.
class Table {
 public:
  explicit Table(std::vector<TimedPrograms> timed) : timed_(std::move(timed)) {
    for (size_t s = 0; s < timed_.size(); ++s) {
      for (const BestProgram& one : timed_[s].programs) {
        Row& row = rows_[Place(one)];
        if (row.at_size.empty()) row.at_size.resize(timed_.size(), nullptr);
        if (!row.at_size[s]) row.at_size[s] = &one;
      }
    }
  }

  // The programs of the least way; empty where none leads through all sizes.
  std::vector<size_t> Best() const {
    std::vector<std::vector<Step>> steps(timed_.size());
    for (size_t s = 0; s < timed_.size(); ++s) {
      for (size_t p = 0; p < rows_.size(); ++p) {
        steps[s].push_back(s == 0 ? Step{0, p} : Cheapest(steps[s - 1], p));
        steps[s].back().cost += Cost(p, s);
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

  const BestProgram& At(size_t program, size_t size) const {
    return *rows_[program].at_size[size];
  }
  const std::vector<TimedPrograms>& timed() const { return timed_; }

 private:
  // A program, with its times at the sizes at which it has one.
  struct Row {
    std::string preparation;
    std::vector<const BestProgram*> at_size;
  };
  struct Step {
    double cost = 0;
    size_t from = 0;
  };

  size_t Place(const BestProgram& program) {
    const auto [place, is_new] =
        places_.emplace(program.record.trace, rows_.size());
    if (is_new) rows_.push_back({PreparationText(program.scheduled), {}});
    return place->second;
  }

  double Cost(size_t program, size_t size) const {
    const BestProgram* timed = rows_[program].at_size[size];
    return timed ? std::log(timed->record.rank())
                 : std::numeric_limits<double>::infinity();
  }

  Step Cheapest(const std::vector<Step>& before, size_t program) const {
    Step best = {before[program].cost, program};
    for (size_t q = 0; q < before.size(); ++q) {
      if (rows_[q].preparation != rows_[program].preparation) continue;
      const double cost = before[q].cost + kChange;
      if (cost < best.cost) best = {cost, q};
    }
    return best;
  }

  const std::vector<TimedPrograms> timed_;
  std::map<std::string, size_t> places_;  // by trace
  std::vector<Row> rows_;
};

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

// The way as one program.
absl::StatusOr<BestProgram> Merged(const Table& table,
                                   const std::vector<size_t>& way,
                                   const Function& f) {
  std::vector<SizeVariant> variants;
  std::string traces;
  for (size_t s = 0; s < way.size(); ++s) {
    const bool is_last = s + 1 == way.size();
    if (!is_last && way[s + 1] == way[s]) continue;
    const BestProgram& chosen = table.At(way[s], s);
    SizeVariant& variant = variants.emplace_back();
    variant.scheduled = chosen.scheduled;
    if (!is_last) {
      variant.at_most =
          Between(table.timed()[s].size, table.timed()[s + 1].size);
      absl::StrAppend(&traces, "# ", DimsText(f), " <= ", variant.at_most,
                      "\n");
    } else if (variants.size() > 1) {
      absl::StrAppend(&traces, "# more\n");
    }
    absl::StrAppend(&traces, chosen.record.trace, is_last ? "" : "\n");
  }
  BestProgram best = table.At(way.back(), way.size() - 1);
  KILN_ASSIGN_OR_RETURN(best.scheduled, DispatchBySize(variants));
  best.record.trace = std::move(traces);
  return best;
}

}  // namespace

absl::StatusOr<std::vector<TimedPrograms>> FindTimed(Database& database,
                                                     const Function& function,
                                                     const std::string& target,
                                                     int64_t most) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Workload> all,
                        database.WorkloadsLike(WorkloadKey(function)));
  std::vector<TimedPrograms> found;
  for (const Workload& workload : all) {
    const std::optional<DimSize> size = SizeOf(workload);
    if (!size) continue;
    Function timed = function;
    SetTimedSize(&timed, *size);
    KILN_ASSIGN_OR_RETURN(std::vector<BestProgram> programs,
                          FindBestAndFirst(database, timed, target, most));
    if (programs.empty()) continue;
    for (BestProgram& one : programs) SetTimedSize(&one.scheduled, {});
    found.push_back({*size, std::move(programs)});
  }
  std::sort(found.begin(), found.end(),
            [](const TimedPrograms& a, const TimedPrograms& b) {
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
  KILN_ASSIGN_OR_RETURN(std::vector<TimedPrograms> timed,
                        FindTimed(database, function, target, kMostPrograms));
  if (timed.empty()) return FindBest(database, function, target);
  const Table table(std::move(timed));
  const std::vector<size_t> way = table.Best();
  if (way.empty()) {
    return absl::NotFoundError(
        absl::StrCat(database.path(), " has no program of ", function.name,
                     " that was timed at each of ", table.timed().size(),
                     " sizes; tune once more with the same --bind"));
  }
  return Merged(table, way, function);
}

}  // namespace kiln
