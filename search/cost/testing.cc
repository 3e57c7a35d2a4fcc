#include "kiln/search/cost/testing.h"

#include <cmath>

#include "kiln/base/random.h"

namespace kiln::testing {
namespace {

Features MadeUp(Random* random, double* correction) {
  Features out;
  out.stores.rows = static_cast<int>(random->Between(1, 3));
  *correction = 0;
  for (int i = 0; i < out.stores.rows; ++i) {
    for (int c = 0; c < kNumStoreFeatures; ++c) {
      out.stores.values.push_back(static_cast<float>(random->Below(16)));
    }
    const float* row = out.stores.row(i);
    *correction += 0.2 * row[3] - 0.1 * row[7] + (row[11] > 8 ? 1.5 : 0);
    StoreEstimate estimate;
    estimate.seconds = std::exp2(-20 + 4 * random->Unit());
    estimate.arithmetic = estimate.seconds;
    out.estimate.seconds += estimate.seconds;
    out.estimate.stores.push_back(estimate);
  }
  return out;
}

}  // namespace

MadeUpPrograms::MadeUpPrograms(uint64_t seed, int count) {
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    double correction = 0;
    features.push_back(MadeUp(&random, &correction));
    seconds.push_back(features.back().estimate.seconds * std::exp(correction));
  }
}

std::vector<const Features*> MadeUpPrograms::Pointers() const {
  std::vector<const Features*> pointers;
  for (const Features& f : features) pointers.push_back(&f);
  return pointers;
}

std::vector<MeasuredProgram> MadeUpPrograms::Measured() const {
  std::vector<MeasuredProgram> measured;
  for (size_t i = 0; i < features.size(); ++i) {
    measured.push_back({&features[i], seconds[i]});
  }
  return measured;
}

}  // namespace kiln::testing
