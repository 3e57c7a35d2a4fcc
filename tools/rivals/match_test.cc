#include "kiln/tools/rivals/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/op_case.h"

namespace kiln::bench {
namespace {

using ::testing::HasSubstr;

constexpr RoundOptions kQuick = {.repetitions = 1, .seconds = 1e-5};

Contenders Libraries() {
  Contenders all;
  all.push_back(OneDnn(false));
  all.push_back(OneDnn(true));
  all.push_back(OpenBlas());
  all.push_back(OpenBlasNormByProduct());
  all.push_back(Naive("gmm,c1d,c2d,c3d,dep,grp,dil,t2d,cap,nrm,sfm,cbr,tbg",
                      HostTarget()));
  return all;
}

struct Small {
  const char* workload;
  std::vector<int64_t> dims;
  int libraries;  // that have the operator
};

class MatchTest : public testing::TestWithParam<Small> {};

// The libraries are called right: they compute what the program says.
TEST_P(MatchTest, LibrariesAndTheProgramAsWrittenAgree) {
  ThreadPool pool({.num_threads = 2});
  for (int threads : {1, 2}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const OpCase op,
        MakeOpCase(GetParam().workload, GetParam().dims, threads));
    KILN_ASSERT_OK_AND_ASSIGN(
        const CaseScores found,
        RunMatch(op, Libraries(), Machine{}, pool, kQuick));
    int libraries = 0;
    for (const Score& score : found.scores) {
      libraries += score.role == Role::kLibrary;
      EXPECT_GT(score.us, 0) << score.contender;
    }
    EXPECT_EQ(libraries, GetParam().libraries);
    EXPECT_GT(found.peak_gflops, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Workloads, MatchTest,
    testing::Values(Small{"gmm", {19, 37, 23}, 3},
                    Small{"gmm", {3, 19, 37, 23}, 3},
                    Small{"c1d", {21, 5, 20, 3, 2, 1}, 2},
                    Small{"c2d", {9, 11, 5, 20, 3, 1, 1}, 2},
                    Small{"c2d", {9, 11, 16, 32, 1, 1, 0}, 3},
                    Small{"c2d", {10, 10, 6, 16, 1, 2, 0}, 2},
                    Small{"c3d", {4, 5, 6, 3, 18, 3, 2, 1}, 2},
                    Small{"dep", {9, 11, 20, 3, 2, 1}, 2},
                    Small{"grp", {8, 8, 8, 40, 3, 2, 1, 2}, 2},
                    Small{"dil", {11, 11, 4, 18, 3, 2, 1, 2}, 2},
                    Small{"t2d", {4, 5, 6, 18, 4, 2, 1}, 2},
                    Small{"cap", {4, 4, 3, 18, 3, 1, 1}, 0},
                    Small{"nrm", {19, 21}, 3}, Small{"sfm", {9, 35}, 1},
                    Small{"cbr", {9, 11, 5, 20, 3, 2, 1}, 2},
                    Small{"tbg", {11, 2, 9}, 2}));

// Computes something of its own.
class Fixed : public Contender {
 public:
  Fixed(std::string name, float value)
      : name_(std::move(name)), value_(value) {}
  std::string name() const override { return name_; }
  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    return [&op, value = value_] { op.out()[0] = value; };
  }

 private:
  std::string name_;
  float value_;
};

absl::Status MatchOf(float a, float b) {
  ThreadPool pool({.num_threads = 1});
  absl::StatusOr<OpCase> op = MakeOpCase("nrm", {4, 4}, 1);
  if (!op.ok()) return op.status();
  Contenders two;
  two.push_back(std::make_unique<Fixed>("first", a));
  two.push_back(std::make_unique<Fixed>("second", b));
  return RunMatch(*op, two, Machine{}, pool, kQuick).status();
}

TEST(MatchTest, NamesWhoComputesSomethingElse) {
  KILN_EXPECT_OK(MatchOf(2.0f, 2.0f));
  EXPECT_THAT(MatchOf(2.0f, 2.1f),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("second and first compute different")));
}

TEST(MatchTest, NamesWhoLeavesTheOutputUnwritten) {
  EXPECT_THAT(MatchOf(std::numeric_limits<float>::quiet_NaN(), 1.0f),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("first leaves elements")));
}

}  // namespace
}  // namespace kiln::bench
