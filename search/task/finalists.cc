#include "kiln/search/task/finalists.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kiln {
namespace {

// So many times slower than the fastest, and a kernel is not asked again;
// those that have a place of their own get more of a chance.
constexpr double kHopeless = 1.5;
constexpr double kHopelessOwn = 2.5;
// Finalists may take so long together, for one call each.
constexpr double kMostNs = 2e8;

// For each, whether it is the fastest of its alternative, or the first.
std::vector<bool> HaveOwnPlaces(const std::vector<Finalist>& all) {
  std::set<size_t> seen;
  std::vector<bool> own;
  for (const Finalist& one : all) {
    own.push_back(seen.insert(one.alternative).second || one.is_first);
  }
  return own;
}

// A time of an earlier run may be luck that nothing else comes near.
double LeastOfThisRun(const std::vector<Finalist>& all) {
  for (const Finalist& one : all) {
    if (!one.to_build) return one.record.rank();
  }
  return all[0].record.rank();
}

}  // namespace

void Finalists::Keep(Finalist one) {
  one.is_first = std::exchange(empty_yet_, false);
  const auto slower = std::upper_bound(
      all_.begin(), all_.end(), one.record.rank(),
      [](double ns, const Finalist& f) { return ns < f.record.rank(); });
  all_.insert(slower, std::move(one));
  if (static_cast<int>(all_.size()) <= most_) return;
  const std::vector<bool> own = HaveOwnPlaces(all_);
  const auto last = std::find(own.rbegin(), own.rend(), false);
  const auto gone =
      last == own.rend() ? all_.size() - 1 : own.rend() - last - 1;
  all_.erase(all_.begin() + gone);
}

std::vector<Finalist> Finalists::Take() {
  std::vector<Finalist> all = std::exchange(all_, {});
  if (all.empty()) return all;
  const double best_ns = LeastOfThisRun(all);
  const auto most = static_cast<size_t>(std::max(2.0, kMostNs / best_ns));
  const std::vector<bool> own = HaveOwnPlaces(all);
  std::vector<Finalist> taken;
  for (size_t i = 0; i < all.size() && taken.size() < most; ++i) {
    const double limit = own[i] ? kHopelessOwn : kHopeless;
    if (all[i].record.rank() > limit * best_ns) continue;
    taken.push_back(std::move(all[i]));
  }
  return taken;
}

}  // namespace kiln
