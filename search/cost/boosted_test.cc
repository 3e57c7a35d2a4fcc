#include "kiln/search/cost/boosted.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/search/cost/quality.h"
#include "kiln/search/cost/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using testing::MadeUpPrograms;

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

TEST(BoostedTest, IsTheEstimateBeforeThereIsData) {
  const MadeUpPrograms programs(1, 10);
  const BoostedModel model;
  const std::vector<double> scores = model.Predict(programs.Pointers());
  for (size_t i = 0; i < scores.size(); ++i) {
    EXPECT_NEAR(scores[i] * programs.features[i].estimate.seconds, 1, 1e-9);
  }
}

TEST(BoostedTest, LearnsWhatTheEstimateMisses) {
  const MadeUpPrograms train(1, 400), test(2, 200);
  BoostedModel model;
  const double before =
      RankCorrelation(model.Predict(test.Pointers()), test.seconds);
  KILN_ASSERT_OK(model.Update("w", train.Measured()));
  const double after =
      RankCorrelation(model.Predict(test.Pointers()), test.seconds);
  EXPECT_LT(before, 0.75);
  EXPECT_GT(after, before + 0.1);
  EXPECT_GT(after, 0.78);
  EXPECT_EQ(model.size(), 400);
}

TEST(BoostedTest, LearnsRoundByRound) {
  const MadeUpPrograms test(2, 200);
  BoostedModel model;
  double last = 0;
  for (int round = 0; round < 8; ++round) {
    KILN_ASSERT_OK(
        model.Update("w", MadeUpPrograms(10 + round, 48).Measured()));
    last = RankCorrelation(model.Predict(test.Pointers()), test.seconds);
  }
  EXPECT_GT(last, 0.78);
  EXPECT_EQ(model.size(), 8 * 48);
}

TEST(BoostedTest, KeepsWorkloadsOfDifferentSpeedApart) {
  // The second workload is the same but for a factor, which no feature tells.
  const MadeUpPrograms test(2, 200);
  MadeUpPrograms slow(3, 200);
  for (double& seconds : slow.seconds) seconds *= 1000;
  BoostedModel model;
  KILN_ASSERT_OK(model.Update("fast", MadeUpPrograms(1, 200).Measured()));
  KILN_ASSERT_OK(model.Update("slow", slow.Measured()));
  EXPECT_GT(RankCorrelation(model.Predict(test.Pointers()), test.seconds),
            0.78);
}

TEST(BoostedTest, TheSameUpdatesGiveTheSameScores) {
  const MadeUpPrograms test(2, 50);
  BoostedModel a, b;
  for (BoostedModel* model : {&a, &b}) {
    for (int round = 0; round < 4; ++round) {
      KILN_ASSERT_OK(model->Update("w", MadeUpPrograms(round, 40).Measured()));
    }
  }
  EXPECT_EQ(a.Predict(test.Pointers()), b.Predict(test.Pointers()));
}

TEST(BoostedTest, ScoresDependNeitherOnCompanyNorOnThreads) {
  const MadeUpPrograms test(2, 64);
  BoostedModel model;
  KILN_ASSERT_OK(model.Update("w", MadeUpPrograms(1, 100).Measured()));
  const std::vector<double> together = model.Predict(test.Pointers());
  std::vector<double> apart(64);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < 64; i += 2) {
        apart[i] = model.Predict({&test.features[i]})[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, apart);
}

TEST(BoostedTest, PassesOverWhatFailed) {
  MadeUpPrograms programs(1, 30);
  for (double& seconds : programs.seconds) seconds = 0;
  BoostedModel model;
  KILN_ASSERT_OK(model.Update("w", programs.Measured()));
  KILN_ASSERT_OK(model.Update("w", {}));
  EXPECT_EQ(model.size(), 0);
  EXPECT_TRUE(model.Predict({}).empty());
}

TEST(BoostedTest, GoesOnFromAFile) {
  const std::string path = TempPath("boosted.model");
  const MadeUpPrograms test(2, 50), more(3, 20);
  BoostedModel a, b;
  KILN_ASSERT_OK(a.Update("w", MadeUpPrograms(1, 100).Measured()));
  KILN_ASSERT_OK(a.Save(path));
  KILN_ASSERT_OK(b.Load(path));
  EXPECT_EQ(b.size(), 100);
  EXPECT_EQ(a.Predict(test.Pointers()), b.Predict(test.Pointers()));
  KILN_ASSERT_OK(a.Update("w", more.Measured()));
  KILN_ASSERT_OK(b.Update("w", more.Measured()));
  EXPECT_EQ(a.Predict(test.Pointers()), b.Predict(test.Pointers()));
}

TEST(BoostedTest, AnEmptyModelIsSavedToo) {
  const std::string path = TempPath("empty.model");
  BoostedModel a, b;
  KILN_ASSERT_OK(a.Save(path));
  KILN_ASSERT_OK(b.Load(path));
  EXPECT_EQ(b.size(), 0);
}

TEST(BoostedTest, RefusesFilesThatItDidNotWrite) {
  const std::string path = TempPath("bad.model");
  BoostedModel model;
  EXPECT_THAT(model.Load(TempPath("missing.model")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("missing")));
  KILN_ASSERT_OK(WriteFileAtomically(path, "no model at all"));
  EXPECT_THAT(model.Load(path),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("bad.model")));
  KILN_ASSERT_OK(WriteFileAtomically(path, ""));
  EXPECT_THAT(model.Load(path), StatusIs(absl::StatusCode::kFailedPrecondition,
                                         HasSubstr("version 0")));
}

TEST(BoostedTest, KnowsADamagedFileWhereverTheDamageIs) {
  const std::string path = TempPath("damaged.model");
  const MadeUpPrograms test(2, 10);
  BoostedModel good, other;
  KILN_ASSERT_OK(good.Update("w", MadeUpPrograms(1, 40).Measured()));
  KILN_ASSERT_OK(good.Save(path));
  KILN_ASSERT_OK(other.Update("w", MadeUpPrograms(5, 40).Measured()));
  const std::vector<double> before = other.Predict(test.Pointers());
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  for (size_t at = 150; at < bytes.size(); at += bytes.size() / 23) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    KILN_ASSERT_OK(WriteFileAtomically(path, changed));
    EXPECT_FALSE(other.Load(path).ok()) << at;
    KILN_ASSERT_OK(WriteFileAtomically(path, bytes.substr(0, at)));
    EXPECT_FALSE(other.Load(path).ok()) << at;
  }
  EXPECT_EQ(other.Predict(test.Pointers()), before);
}

}  // namespace
}  // namespace kiln
