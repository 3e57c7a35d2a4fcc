#include "kiln/search/cost/models.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
#include "kiln/search/cost/boosted.h"

namespace kiln {
namespace {

// A model that does not learn.
class FixedModel : public CostModel {
 public:
  absl::Status Update(const std::string&,
                      absl::Span<const MeasuredProgram>) override {
    return absl::OkStatus();
  }
  absl::Status Save(const std::string&) const override {
    return absl::OkStatus();
  }
  absl::Status Load(const std::string&) override { return absl::OkStatus(); }

  std::vector<double> Predict(
      absl::Span<const Features* const> programs) const override {
    std::vector<double> scores;
    for (const Features* program : programs) scores.push_back(Score(*program));
    return scores;
  }

 private:
  virtual double Score(const Features& program) const = 0;
};

class AnalyticModel : public FixedModel {
 public:
  std::string_view name() const override { return "analytic"; }

 private:
  double Score(const Features& program) const override {
    return 1 / program.estimate.seconds;
  }
};

class RandomModel : public FixedModel {
 public:
  explicit RandomModel(uint64_t seed) : seed_(seed) {}
  std::string_view name() const override { return "random"; }

 private:
  double Score(const Features& program) const override {
    uint64_t hash = 0;
    for (float value : program.stores.values) {
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    const uint64_t bits = RandomBits(seed_, hash, 0) >> 11;
    return static_cast<double>(bits + 1) * 0x1p-53;
  }

  uint64_t seed_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CostModel>> MakeCostModel(std::string_view name,
                                                         uint64_t seed) {
  std::unique_ptr<CostModel> model;
  if (name == "random") {
    model = std::make_unique<RandomModel>(seed);
  } else if (name == "analytic") {
    model = std::make_unique<AnalyticModel>();
  } else if (name == "boosted") {
    BoostedOptions options;
    options.seed = seed;
    model = std::make_unique<BoostedModel>(options);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("no cost model is called \"", std::string(name),
                     "\"; there are random, analytic and boosted"));
  }
  return model;
}

}  // namespace kiln
