#include "kiln/tests/mutation/mutate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "kiln/base/status_matchers.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/tests/mutation/campaign.h"

namespace kiln::mutation {
namespace {

Function Lowered(const std::string& spec) {
  const absl::StatusOr<Module> module = MakeWorkload(spec);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Function> lowered =
      LowerForTarget(module->functions[0], HostTarget());
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  return *lowered;
}

// After calls on several inputs: what a rectifier cuts off, another may show.
std::vector<Tensor> OutputsOf(const Function& original, const Function& f) {
  std::vector<Tensor> all;
  for (uint64_t seed : {3, 4, 5, 6}) {
    std::vector<Tensor> tensors = RandomInputs(original, seed);
    for (Tensor& tensor : tensors) tensor.shape = {tensor.size()};
    if (!Interpret(f, tensors).ok()) return {};
    all.insert(all.end(), tensors.begin(), tensors.end());
  }
  return all;
}

bool Differ(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return true;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].bytes != b[i].bytes) return true;
  }
  return false;
}

TEST(MutateTest, EveryKindHasAPlaceAndChangesWhatIsComputed) {
  std::set<FaultKind> seen;
  for (const char* spec : {"gmm:16,32,9", "cbr:5,5,4,32,3,1,1", "sfm:4,40"}) {
    const Function original = MakeWorkload(spec)->functions[0];
    const Function lowered = Lowered(spec);
    const std::vector<Tensor> expected = OutputsOf(original, lowered);
    ASSERT_FALSE(expected.empty());
    for (FaultKind kind : AllFaultKinds()) {
      if (kind == FaultKind::kRace) continue;
      const int64_t places = CountPlaces(lowered, kind, 1);
      int different = 0;
      for (int64_t place = 0; place < places; ++place) {
        const std::optional<Mutant> mutant = PutIn(lowered, kind, place, 1);
        if (!mutant) continue;
        EXPECT_FALSE(mutant->place.empty());
        different += Differ(expected, OutputsOf(original, mutant->function));
      }
      if (different > 0) seen.insert(kind);
      EXPECT_GE(different * 10, places * 7)
          << spec << ": " << FaultName(kind) << " changes nothing in "
          << places - different << " of " << places << " places";
    }
  }
  for (FaultKind kind : AllFaultKinds()) {
    EXPECT_TRUE(kind == FaultKind::kRace || seen.count(kind))
        << FaultName(kind);
  }
}

TEST(MutateTest, AKindHasOneFaultForAPlaceAndASeed) {
  const Function lowered = Lowered("gmm:24,48,32");
  const auto one = PutIn(lowered, FaultKind::kOneTerm, 0, 5);
  const auto two = PutIn(lowered, FaultKind::kOneTerm, 0, 5);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->place, two->place);
  EXPECT_FALSE(PutIn(lowered, FaultKind::kOneTerm, 0, 6)->place == one->place);
}

class AttackTest : public ::testing::TestWithParam<const char*> {};

TEST_P(AttackTest, NoFaultIsMissed) {
  KILN_ASSERT_OK_AND_ASSIGN(std::unique_ptr<LocalRunner> runner,
                            LocalRunner::Create());
  CampaignOptions options;
  options.faults = 11;
  int caught = 0;
  KILN_ASSERT_OK(Attack(GetParam(), *runner, options, [&](const Row& row) {
    // Whether a race shows depends on who comes first.
    if (row.kind == FaultKind::kRace) return;
    EXPECT_NE(row.outcome, Outcome::kMissed)
        << FaultName(row.kind) << " in " << row.place << ": " << row.verdict;
    caught += row.outcome == Outcome::kCaught;
  }));
  EXPECT_GE(caught, 6);
}

INSTANTIATE_TEST_SUITE_P(Workloads, AttackTest,
                         ::testing::Values("gmm:128,128,128",
                                           "c2d:14,14,32,32,3,1,1",
                                           "dep:14,14,64,3,2,1",
                                           "t2d:4,4,32,32,4,2,1", "sfm:64,64",
                                           "nrm:256,256"));

}  // namespace
}  // namespace kiln::mutation
