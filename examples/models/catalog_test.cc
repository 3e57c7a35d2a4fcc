#include "kiln/examples/models/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/examples/models/graph_module.h"
#include "kiln/examples/models/networks.h"
#include "kiln/examples/models/weights.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::models {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Refusal(const ModelRequest& request) {
  const absl::StatusOr<RequestedModel> model = MakeModel(request);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(model.status().message());
}

// From the publications: multiply-adds, times two, and parameters.
TEST(CatalogTest, SizesAreThePublishedOnes) {
  const auto make = [](const char* name) {
    return MakeModel({.name = name})->net;
  };
  const auto million = [](const Network& net) {
    return static_cast<double>(net.NumParameters()) * 1e-6;
  };
  EXPECT_NEAR(make("resnet50").Flop(), 8.18e9, 0.03e9);
  // Parameters, and the moments of batch norms.
  EXPECT_NEAR(million(make("resnet50")), 25.56 + 0.053, 0.01);
  EXPECT_NEAR(make("mobilenet-v2").Flop(), 0.60e9, 0.01e9);
  EXPECT_NEAR(million(make("mobilenet-v2")), 3.50 + 0.034, 0.01);
  EXPECT_NEAR(make("bert-base").Flop(), 22.35e9, 0.05e9);
  EXPECT_NEAR(million(make("bert-base")), 108.9, 0.1);
  EXPECT_NEAR(million(make("minilm6")), 22.6, 0.1);
  EXPECT_NEAR(million(make("gpt2")), 124.4, 0.1);
}

TEST(CatalogTest, ExtentsAreNumbersOrOpen) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const RequestedModel model,
      MakeModel({.name = "bert-base", .batch = "2", .tokens = "t=17"}));
  EXPECT_THAT(model.open, ElementsAre("t"));
  EXPECT_THAT(model.net.nodes()[0].shape, ElementsAre(2, 17));
  KILN_ASSERT_OK_AND_ASSIGN(const RequestedModel open,
                            MakeModel({.name = "resnet50", .batch = "n"}));
  EXPECT_THAT(open.open, ElementsAre("n"));
  EXPECT_EQ(open.net.nodes()[0].shape[0], 1);
}

TEST(CatalogTest, RefusalsTellTheWayOut) {
  EXPECT_THAT(Refusal({.name = "resnet"}),
              AllOf(HasSubstr("\"resnet\""), HasSubstr("mobilenet-v2")));
  for (const char* batch : {"", "0", "-1", "n=", "n=0", "nn", "m", "5000"}) {
    EXPECT_THAT(Refusal({.name = "unet", .batch = batch}),
                HasSubstr("from 1 to 4096"))
        << batch;
  }
  EXPECT_THAT(Refusal({.name = "bert-base", .tokens = "513"}),
              HasSubstr("from 1 to 512"));
  EXPECT_THAT(Refusal({.name = "gpt2", .length = "1024"}),
              HasSubstr("from 1 to 1023"));
  EXPECT_THAT(Refusal({.name = "unet", .tokens = "64"}),
              HasSubstr("nothing that unet has"));
}

// What tools read: weights by name, open extents, the form of attention.
TEST(CatalogTest, ModulesAreWhatOptionsAskFor) {
  const Network net = Encoder({.tokens = 6,
                               .layers = 1,
                               .hidden = 8,
                               .heads = 2,
                               .inner = 16,
                               .vocabulary = 11,
                               .positions = 7});
  Weights weights(3);
  ModuleOptions options{.open = {"t"}, .weights_are_params = true};
  KILN_ASSERT_OK_AND_ASSIGN(const Module products,
                            ToModule(net, weights, options));
  const std::string text = PrintModule(products);
  EXPECT_THAT(text,
              AllOf(HasSubstr("ids: R.Tensor((1, \"t\"), dtype=\"int64\")"),
                    HasSubstr("layer0_inner_weight: R.Tensor((16, 8)"),
                    HasSubstr("R.nn.softmax")));
  options.attention = AttentionForm::kOp;
  KILN_ASSERT_OK_AND_ASSIGN(const Module op, ToModule(net, weights, options));
  EXPECT_THAT(PrintModule(op), HasSubstr("R.nn.attention"));
  options.open = {"l"};
  EXPECT_THAT(ToModule(net, weights, options).status().message(),
              HasSubstr("no extent called \"l\""));
}

}  // namespace
}  // namespace kiln::models
