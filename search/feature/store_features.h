// Numbers about each store of a scheduled function, for a learned model.
//
// The groups are those that Ansor and MetaSchedule found to work: arithmetic,
// annotated loops, memory accesses, arithmetic intensity, allocation, the loop
// nest; 164 in all. Values are log2(1 + |x|) of what the name says, signs kept,
// but for flags, which are 0 or 1.
#ifndef KILN_SEARCH_FEATURE_STORE_FEATURES_H_
#define KILN_SEARCH_FEATURE_STORE_FEATURES_H_

#include <string>
#include <vector>

#include "kiln/search/feature/summary.h"

namespace kiln {

inline constexpr int kBuffersPerStore = 5;
inline constexpr int kIntensitySamples = 10;
inline constexpr int kNumStoreFeatures = 164;

// The names of the features, in the order of the columns.
const std::vector<std::string>& StoreFeatureNames();

// A row for each store.
struct FeatureMatrix {
  int rows = 0;
  int columns = kNumStoreFeatures;
  std::vector<float> values;  // row after row

  const float* row(int i) const {
    return values.data() + static_cast<size_t>(i) * columns;
  }
};

// All values are finite.
FeatureMatrix StoreFeatures(const ProgramSummary& program, int line_bytes = 64);

}  // namespace kiln

#endif  // KILN_SEARCH_FEATURE_STORE_FEATURES_H_
