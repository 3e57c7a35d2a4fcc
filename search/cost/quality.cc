#include "kiln/search/cost/quality.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kiln {
namespace {

// Ranks from 0, ties sharing their mean rank.
std::vector<double> Ranks(absl::Span<const double> values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    const double mean = 0.5 * static_cast<double>(begin + end - 1);
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = mean;
    begin = end;
  }
  return ranks;
}

// Pearson's correlation; 0 where either side does not vary.
double Correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

std::vector<double> Negated(absl::Span<const double> values) {
  std::vector<double> negated(values.begin(), values.end());
  for (double& value : negated) value = -value;
  return negated;
}

// The positions of the k largest values, largest first.
std::vector<int> Top(int k, absl::Span<const double> values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  order.resize(std::clamp<size_t>(k, 0, order.size()));
  return order;
}

}  // namespace

double RankCorrelation(absl::Span<const double> scores,
                       absl::Span<const double> seconds) {
  if (scores.size() < 2) return 0;
  return Correlation(Ranks(scores), Ranks(Negated(seconds)));
}

double RecallAt(int k, absl::Span<const double> scores,
                absl::Span<const double> seconds) {
  std::vector<int> chosen = Top(std::max(k, 0), scores);
  if (chosen.empty()) return 0;
  std::sort(chosen.begin(), chosen.end());
  int found = 0;
  for (int i : Top(k, Negated(seconds))) {
    found += std::binary_search(chosen.begin(), chosen.end(), i);
  }
  return static_cast<double>(found) / static_cast<double>(chosen.size());
}

double BestShareAt(int k, absl::Span<const double> scores,
                   absl::Span<const double> seconds) {
  const std::vector<int> chosen = Top(std::max(k, 0), scores);
  if (chosen.empty()) return 0;
  double best = seconds[chosen[0]];
  for (int i : chosen) best = std::min(best, seconds[i]);
  return *std::min_element(seconds.begin(), seconds.end()) / best;
}

double PairwiseAccuracy(absl::Span<const double> scores,
                        absl::Span<const double> seconds) {
  double right = 0;
  int64_t pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (seconds[i] == seconds[j]) continue;
      ++pairs;
      if (scores[i] == scores[j]) right += 0.5;
      right += seconds[i] < seconds[j] ? scores[i] > scores[j]
                                       : scores[i] < scores[j];
    }
  }
  return pairs ? right / static_cast<double>(pairs) : 0.5;
}

}  // namespace kiln
