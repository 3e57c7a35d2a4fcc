#include "kiln/search/strategy/model_scorer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"

namespace kiln {
namespace {

// Scores by the estimate, higher with each lesson; counts what it is asked.
class CountingModel : public CostModel {
 public:
  std::string_view name() const override { return "counting"; }
  std::vector<double> Predict(
      absl::Span<const Features* const> programs) const override {
    asked += static_cast<int>(programs.size());
    std::vector<double> scores;
    for (const Features* f : programs) {
      scores.push_back((1 + lessons) / f->estimate.seconds);
    }
    return scores;
  }
  absl::Status Update(const std::string&,
                      absl::Span<const MeasuredProgram> measured) override {
    ++lessons;
    learned += static_cast<int>(measured.size());
    return absl::OkStatus();
  }
  absl::Status Save(const std::string&) const override {
    return absl::OkStatus();
  }
  absl::Status Load(const std::string&) override { return absl::OkStatus(); }

  mutable int asked = 0;
  int lessons = 0;
  int learned = 0;
};

Candidate Program(const std::string& workload) {
  Candidate candidate;
  candidate.scheduled = MakeWorkload(workload)->functions[0];
  candidate.program_hash = workload;
  return candidate;
}

class ModelScorerTest : public testing::Test {
 protected:
  ModelScorer MakeScorer() { return {&model_, "w", Machine(), 1, &pool_}; }

  std::vector<const Candidate*> Pointers() const {
    std::vector<const Candidate*> pointers;
    for (const Candidate& c : candidates_) pointers.push_back(&c);
    return pointers;
  }

  CountingModel model_;
  ThreadPool pool_ = ThreadPool({.num_threads = 2});
  std::vector<Candidate> candidates_ = {
      Program("gmm:16,16,16"), Program("gmm:64,64,64"), Program("gmm:16,16,16"),
      Program("gmm:32,16,64")};
};

TEST_F(ModelScorerTest, FasterProgramsScoreHigher) {
  ModelScorer scorer = MakeScorer();
  const std::vector<double> scores = scorer.Score(Pointers());
  EXPECT_GT(scores[0], scores[3]);
  EXPECT_GT(scores[3], scores[1]);
  EXPECT_EQ(scores[0], scores[2]);
}

TEST_F(ModelScorerTest, AProgramIsAskedAboutOnceForEachLesson) {
  ModelScorer scorer = MakeScorer();
  const std::vector<double> before = scorer.Score(Pointers());
  EXPECT_EQ(model_.asked, 3);
  EXPECT_EQ(scorer.Score(Pointers()), before);
  EXPECT_EQ(model_.asked, 3);
  KILN_EXPECT_OK(scorer.Learn(Pointers(), {1, 2, 1, 3}));
  EXPECT_EQ(model_.learned, 4);
  const std::vector<double> after = scorer.Score(Pointers());
  EXPECT_EQ(model_.asked, 10);  // about the measured ones too
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i] / before[i], 2, 1e-9);
  }
}

TEST_F(ModelScorerTest, WhatAnAlternativeTakesBeyondTheModelsWordIsRemembered) {
  ModelScorer scorer = MakeScorer();
  candidates_[1].point.alternative = 1;
  candidates_[3].point.alternative = 1;
  const std::vector<double> before = scorer.Score(Pointers());
  // The model is right of alternative 0, and alternative 1 takes ten times
  // what it says.
  const std::vector<const Candidate*> measured = {&candidates_[0],
                                                  &candidates_[1]};
  KILN_EXPECT_OK(scorer.Learn(
      measured, std::vector<double>{1 / before[0], 10 / before[1]}));
  const std::vector<double> after = scorer.Score(Pointers());
  const double unseen = (after[3] / after[0]) / (before[3] / before[0]);
  EXPECT_LT(unseen, 0.3);
  EXPECT_GT(unseen, 0.1) << "one time is not all";
}

TEST_F(ModelScorerTest, NothingIsScoredForNoCandidates) {
  ModelScorer scorer = MakeScorer();
  EXPECT_TRUE(scorer.Score({}).empty());
}

}  // namespace
}  // namespace kiln
