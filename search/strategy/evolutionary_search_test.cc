#include "kiln/search/strategy/evolutionary_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

// The points (x, y) of a grid; some are refused.
class Grid : public Space {
 public:
  explicit Grid(int64_t size) : size_(size) {}

  absl::StatusOr<Candidate> Sample(uint64_t seed,
                                   uint64_t index) const override {
    Random random(seed, index);
    return AtXY(random.Below(size_), random.Below(size_));
  }
  absl::StatusOr<Candidate> At(const Point& p) const override {
    return AtXY(p.decisions[0][0], p.decisions[1][0]);
  }
  absl::StatusOr<Candidate> Mutate(const Point& p,
                                   uint64_t seed) const override {
    Random random(seed);
    Decisions d = p.decisions;
    d[random.Below(2)] = {static_cast<int64_t>(random.Below(size_))};
    return AtXY(d[0][0], d[1][0]);
  }
  absl::StatusOr<Candidate> Cross(const Point& a, const Point& b,
                                  uint64_t) const override {
    return AtXY(a.decisions[0][0], b.decisions[1][0]);
  }
  std::string TraceText(const Point&) const override { return ""; }
  std::string DecisionText(const Point&) const override { return ""; }
  std::optional<Point> Locate(const std::string&) const override {
    return std::nullopt;
  }

 private:
  absl::StatusOr<Candidate> AtXY(int64_t x, int64_t y) const {
    if (size_ > 10 && (x + y) % 7 == 3) {
      return absl::FailedPreconditionError("refused");
    }
    Candidate c;
    c.program_hash = absl::StrCat(x, ",", y);
    c.point.decisions = {{x}, {y}};
    return c;
  }

  int64_t size_;
};

// What a call takes: the farther from (700, 300), the more.
double Seconds(const Candidate& c) {
  const double x = c.point.decisions[0][0], y = c.point.decisions[1][0];
  return 1 + std::abs(x - 700) + std::abs(y - 300);
}

// Knows the order of programs, or nothing at all.
class FixedScorer : public Scorer {
 public:
  explicit FixedScorer(bool knows) : knows_(knows) {}
  std::vector<double> Score(
      absl::Span<const Candidate* const> candidates) override {
    std::vector<double> scores;
    for (const Candidate* c : candidates) {
      scores.push_back(knows_ ? 1 / Seconds(*c) : 0.5);
    }
    return scores;
  }
  absl::Status Learn(absl::Span<const Candidate* const> candidates,
                     absl::Span<const double>) override {
    learned += static_cast<int>(candidates.size());
    return absl::OkStatus();
  }
  int learned = 0;

 private:
  bool knows_;
};

// The fastest of `rounds` batches of 16.
double BestOf(Strategy& search, int rounds,
              std::vector<std::string>* order = nullptr) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    SearchBatch batch = search.Next(16);
    std::vector<double> seconds;
    for (const Candidate& c : batch.candidates) {
      seconds.push_back(Seconds(c));
      best = std::min(best, seconds.back());
      if (order) order->push_back(c.program_hash);
    }
    KILN_EXPECT_OK(search.Observe(batch.candidates, seconds));
  }
  return best;
}

TEST(EvolutionarySearchTest, AGoodScorerLeadsFarBeyondRandomDraws) {
  Grid grid(1000);
  ThreadPool pool;
  FixedScorer scorer(true);
  EvolutionarySearch search(&grid, &scorer, 1, &pool);
  RandomSearch random(&grid, 1, &pool);
  const double evolved = BestOf(search, 4), drawn = BestOf(random, 4);
  EXPECT_LT(evolved, 8);
  EXPECT_GT(drawn, 20);
  EXPECT_EQ(scorer.learned, 64);
}

TEST(EvolutionarySearchTest, WhatIsSuggestedComesFirstAndOnce) {
  Grid grid(1000);
  ThreadPool pool(ThreadPool::Options{.num_threads = 2});
  FixedScorer scorer(true);
  EvolutionarySearch search(&grid, &scorer, 1, &pool);
  const Candidate wanted = *grid.Sample(77, 5);
  const Candidate excluded = *grid.Sample(78, 6);
  ASSERT_NE(wanted.program_hash, excluded.program_hash);
  search.Exclude(excluded.program_hash);
  search.Suggest(excluded);
  search.Suggest(wanted);
  std::set<std::string> seen;
  for (int batch = 0; batch < 3; ++batch) {
    const SearchBatch next = search.Next(8);
    ASSERT_EQ(next.candidates.size(), 8u);
    if (batch == 0) {
      EXPECT_EQ(next.candidates[0].program_hash, wanted.program_hash);
    }
    for (const Candidate& c : next.candidates) {
      EXPECT_TRUE(seen.insert(c.program_hash).second);
      EXPECT_NE(c.program_hash, excluded.program_hash);
    }
  }
}

TEST(EvolutionarySearchTest, AnIgnorantScorerStillGivesProgramsOnce) {
  Grid grid(1000);
  ThreadPool pool;
  FixedScorer scorer(false);
  EvolutionarySearch search(&grid, &scorer, 1, &pool);
  std::vector<std::string> order;
  BestOf(search, 6, &order);
  EXPECT_EQ(order.size(), 96u);
  EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), 96u);
}

TEST(EvolutionarySearchTest, TheSeedAloneDecides) {
  Grid grid(1000);
  ThreadPool one(ThreadPool::Options{.num_threads = 1});
  ThreadPool two(ThreadPool::Options{.num_threads = 2});
  FixedScorer scorer(true);
  std::vector<std::string> a, b, c;
  EvolutionarySearch first(&grid, &scorer, 5, &one);
  EvolutionarySearch second(&grid, &scorer, 5, &two);
  EvolutionarySearch third(&grid, &scorer, 6, &two);
  BestOf(first, 3, &a);
  BestOf(second, 3, &b);
  BestOf(third, 3, &c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

// Points of several alternatives, each a number.
class Alternatives : public Space {
 public:
  explicit Alternatives(size_t size) : size_(size) {}
  size_t size() const override { return size_; }
  absl::StatusOr<Candidate> Sample(uint64_t seed,
                                   uint64_t index) const override {
    Random random(seed, index);
    return AtNumber(index % size_, random.Below(1000));
  }
  absl::StatusOr<Candidate> At(const Point& p) const override {
    return AtNumber(p.alternative, p.decisions[0][0]);
  }
  absl::StatusOr<Candidate> Mutate(const Point& p,
                                   uint64_t seed) const override {
    return AtNumber(p.alternative, Random(seed).Below(1000));
  }
  absl::StatusOr<Candidate> Cross(const Point& a, const Point&,
                                  uint64_t seed) const override {
    return Mutate(a, seed);
  }
  std::string TraceText(const Point&) const override { return ""; }
  std::string DecisionText(const Point&) const override { return ""; }
  std::optional<Point> Locate(const std::string&) const override {
    return std::nullopt;
  }

 private:
  static Candidate AtNumber(size_t alternative, uint64_t number) {
    Candidate c;
    c.program_hash = absl::StrCat(alternative, ":", number);
    c.point = {alternative, {{static_cast<int64_t>(number)}}};
    return c;
  }

  size_t size_;
};

// Takes every alternative for slower than those before it; the last one is out
// of the question.
class RankingScorer : public FixedScorer {
 public:
  explicit RankingScorer(size_t last) : FixedScorer(true), last_(last) {}
  std::vector<double> Score(
      absl::Span<const Candidate* const> candidates) override {
    std::vector<double> scores;
    for (const Candidate* c : candidates) {
      const double base = c->point.alternative == last_
                              ? 1
                              : 1000 - 100.0 * c->point.alternative;
      scores.push_back(base + 1e-3 * c->point.decisions[0][0]);
    }
    return scores;
  }

 private:
  size_t last_;
};

std::map<size_t, int> CountAlternatives(const SearchBatch& batch) {
  std::map<size_t, int> counts;
  for (const Candidate& c : batch.candidates) ++counts[c.point.alternative];
  return counts;
}

TEST(EvolutionarySearchTest, BeforeThereAreTimesAlternativesTakeTurns) {
  Alternatives space(4);
  ThreadPool pool;
  RankingScorer scorer(3);
  EvolutionarySearch search(&space, &scorer, 1, &pool);
  const SearchBatch batch = search.Next(6);
  EXPECT_EQ(CountAlternatives(batch),
            (std::map<size_t, int>{{0, 2}, {1, 2}, {2, 2}}));
  EXPECT_EQ(batch.candidates[0].point.alternative, 0u);
  EXPECT_EQ(batch.candidates[1].point.alternative, 1u);
}

TEST(EvolutionarySearchTest, AFewTimesDoNotLeaveABatchToOneAlternative) {
  Alternatives space(4);
  ThreadPool pool;
  RankingScorer scorer(3);
  EvolutionarySearch search(&space, &scorer, 1, &pool);
  const SearchBatch first = search.Next(5);
  KILN_EXPECT_OK(search.Observe(first.candidates, {1, 1, 1, 1, 1}));
  EXPECT_EQ(CountAlternatives(search.Next(5)),
            (std::map<size_t, int>{{0, 3}, {1, 2}}));
}

TEST(EvolutionarySearchTest, ASmallSpaceIsUsedUpToTheLastProgram) {
  Grid grid(6);
  ThreadPool pool;
  FixedScorer scorer(false);
  EvolutionarySearch search(&grid, &scorer, 1, &pool);
  search.Exclude("3,3");
  std::set<std::string> seen;
  for (int round = 0; round < 10; ++round) {
    SearchBatch batch = search.Next(8);
    for (const Candidate& c : batch.candidates) {
      EXPECT_TRUE(seen.insert(c.program_hash).second);
    }
    if (batch.exhausted) break;
  }
  EXPECT_EQ(seen.size(), 35u);
  EXPECT_EQ(seen.count("3,3"), 0u);
}

}  // namespace
}  // namespace kiln
