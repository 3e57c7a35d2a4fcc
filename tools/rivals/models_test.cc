#include "kiln/tools/rivals/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/work/work.h"

namespace kiln::bench {
namespace {

using ::testing::HasSubstr;

// Multiply-adds of all layers of each model, in millions.
std::map<std::string, double> MegaMacs() {
  const auto layers = ReadModels(kModelTable);
  KILN_EXPECT_OK(layers.status());
  std::map<std::string, double> macs;
  std::map<std::string, double> of_spec;
  for (const ModelLayer& layer : *layers) {
    if (!of_spec.count(layer.spec)) {
      const auto module = MakeWorkload(layer.spec);
      EXPECT_TRUE(module.ok()) << module.status();
      of_spec[layer.spec] = CountWork(module->functions[0])->flop.value / 2e6;
    }
    macs[layer.model] += layer.count * of_spec[layer.spec];
  }
  return macs;
}

// As the papers give them; elementwise layers are not in their counts.
TEST(ModelsTest, LayersComeToThePublishedNumbersOfOperations) {
  std::map<std::string, double> macs = MegaMacs();
  const std::map<std::string, double> published = {
      {"resnet50", 4100},       {"mobilenet-v2", 300}, {"mobilenet-v3", 219},
      {"efficientnet-b0", 390}, {"vgg16", 15500},      {"bert-base", 11200},
      {"vit-b16", 17560}};
  for (const auto& [model, expected] : published) {
    EXPECT_NEAR(macs[model] / expected, 1, 0.06) << model;
  }
}

TEST(ModelsTest, HalvesAreApartAndMakeUpTheSuite) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto both, ModelSuite("", Half::kBoth));
  KILN_ASSERT_OK_AND_ASSIGN(const auto seen, ModelSuite("", Half::kSeen));
  KILN_ASSERT_OK_AND_ASSIGN(const auto held, ModelSuite("", Half::kHeldOut));
  EXPECT_GT(both.size(), 200u);
  EXPECT_EQ(seen.size() + held.size(), both.size());
  EXPECT_NEAR(static_cast<double>(seen.size()) / both.size(), 0.5, 0.1);
}

TEST(ModelsTest, ModelsOperatorsAndSingleLayersCanBeChosen) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto dlrm, ModelSuite("dlrm", Half::kBoth));
  EXPECT_EQ(dlrm.size(), 5u);
  KILN_ASSERT_OK_AND_ASSIGN(const auto norms, ModelSuite("lnm", Half::kBoth));
  for (const SuiteCase& one : norms) EXPECT_EQ(one.workload, "lnm");
  KILN_ASSERT_OK_AND_ASSIGN(const auto one,
                            ModelSuite("add:49,2048", Half::kSeen));
  EXPECT_EQ(one.size(), 1u);
  EXPECT_THAT(
      ModelSuite("alexnet", Half::kBoth).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("resnet50")));
  EXPECT_THAT(
      ParseHalf("third").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("held-out")));
}

TEST(ModelsTest, LinesThatAreNoLayersAreNamed) {
  for (const char* table :
       {"add:1,2 3 x", "model m\nadd:1,2", "model m\nadd:1,2 0 x",
        "model m\nadd:1,2 many x"}) {
    EXPECT_THAT(
        ReadModels(table).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("add:1,2")))
        << table;
  }
}

TEST(ModelsTest, TotalsCountLayersAsOftenAsTheyOccur) {
  CaseScores one{"add", "49,2048"};  // 3 times in resnet50
  one.scores = {{"oneDNN", Role::kLibrary, false, 30},
                {"Kiln, not tuned", Role::kUntuned, false, 5},
                {"Kiln", Role::kKiln, false, 20},
                {"Kiln, packed ahead", Role::kKiln, true, 10}};
  CaseScores nobody{"add", "196,1024"};
  nobody.scores = {{"Kiln", Role::kKiln, false, 20}};
  const auto totals = TotalsOf({one, nobody});
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0].model, "resnet50");
  EXPECT_EQ(totals[0].measured, 3);
  EXPECT_EQ(totals[0].kiln_us, 60);
  EXPECT_EQ(totals[0].library_us, 90);
  EXPECT_EQ(totals[0].kiln_packed_us, 30);
  EXPECT_THAT(TotalLines(totals), HasSubstr("(1.500)"));
  EXPECT_THAT(JsonTotals(totals), HasSubstr("\"library_us\":90"));
}

}  // namespace
}  // namespace kiln::bench
