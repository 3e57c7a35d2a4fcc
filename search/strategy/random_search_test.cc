#include "kiln/search/strategy/random_search.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/status/status.h"
#include "kiln/base/random.h"

namespace kiln {
namespace {

// Ten programs; every fifth number is refused.
class TenPrograms : public Space {
 public:
  absl::StatusOr<Candidate> Sample(uint64_t seed,
                                   uint64_t index) const override {
    const uint64_t bits = RandomBits(seed, index, 0);
    if (bits % 5 == 0) return absl::FailedPreconditionError("fifth");
    Candidate candidate;
    candidate.program_hash = std::to_string(bits % 97 % 10);
    return candidate;
  }
  absl::StatusOr<Candidate> At(const Point&) const override {
    return Sample(0, 1);
  }
  absl::StatusOr<Candidate> Mutate(const Point&, uint64_t s) const override {
    return Sample(s, 0);
  }
  absl::StatusOr<Candidate> Cross(const Point&, const Point&,
                                  uint64_t s) const override {
    return Sample(s, 0);
  }
  std::string TraceText(const Point&) const override { return ""; }
  std::string DecisionText(const Point&) const override { return ""; }
  std::optional<Point> Locate(const std::string&) const override {
    return std::nullopt;
  }
};

std::vector<std::string> Hashes(const SearchBatch& batch) {
  std::vector<std::string> hashes;
  for (const Candidate& c : batch.candidates) hashes.push_back(c.program_hash);
  return hashes;
}

TEST(RandomSearchTest, GivesEachProgramOnceAndThenEnds) {
  TenPrograms space;
  ThreadPool pool;
  RandomSearch search(&space, 7, &pool);
  SearchBatch batch = search.Next(20);
  EXPECT_TRUE(batch.exhausted);
  const auto hashes = Hashes(batch);
  EXPECT_EQ(hashes.size(), 10u);
  EXPECT_EQ(std::set<std::string>(hashes.begin(), hashes.end()).size(), 10u);
  EXPECT_FALSE(batch.refused.empty());
}

TEST(RandomSearchTest, TheSeedAloneDecides) {
  TenPrograms space;
  ThreadPool one(ThreadPool::Options{.num_threads = 1});
  ThreadPool two(ThreadPool::Options{.num_threads = 2});
  RandomSearch a(&space, 3, &one), b(&space, 3, &two), c(&space, 4, &two);
  std::vector<std::string> first, second;
  for (int i = 0; i < 4; ++i) {
    for (auto& h : Hashes(a.Next(2))) first.push_back(h);
  }
  second = Hashes(b.Next(8));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, Hashes(c.Next(8)));
}

// A program for each index.
class EndlessPrograms : public TenPrograms {
 public:
  absl::StatusOr<Candidate> Sample(uint64_t, uint64_t index) const override {
    Candidate candidate;
    candidate.program_hash = std::to_string(index);
    return candidate;
  }
};

TEST(RandomSearchTest, ManyExcludedProgramsInARowAreNotTheEnd) {
  EndlessPrograms space;
  ThreadPool pool;
  RandomSearch search(&space, 7, &pool);
  const int known = 2 * RandomSearch::kMaxMisses;
  for (int i = 0; i < known; ++i) search.Exclude(std::to_string(i));
  const SearchBatch batch = search.Next(1);
  EXPECT_FALSE(batch.exhausted);
  EXPECT_EQ(Hashes(batch), std::vector<std::string>{std::to_string(known)});
}

TEST(RandomSearchTest, ExcludedProgramsDoNotComeBack) {
  TenPrograms space;
  ThreadPool pool;
  RandomSearch search(&space, 7, &pool);
  search.Exclude("3");
  for (const auto& hash : Hashes(search.Next(20))) EXPECT_NE(hash, "3");
}

}  // namespace
}  // namespace kiln
