#include "kiln/examples/models/model_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/tools/support/flags.h"

namespace kiln::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Flags are the test's own process's, so each test sets what it looks at.
std::string Parse(std::vector<const char*> args) {
  args.insert(args.begin(), "test");
  const auto request = ParseFlags(static_cast<int>(args.size()),
                                  const_cast<char**>(args.data()));
  return request.ok() ? "" : std::string(request.status().message());
}

TEST(ModelFlagsTest, HelpHasTheFlagsOfExamples) {
  EXPECT_THAT(HelpText(""), AllOf(HasSubstr("--tokens"), HasSubstr("--seed")));
}

TEST(ModelFlagsTest, FlagsSayWhichModel) {
  EXPECT_EQ(Parse({"--batch", "n=3", "--seed", "9", "--attention", "op"}), "");
  KILN_ASSERT_OK_AND_ASSIGN(const ModelOfFlags model,
                            ReadModelFlags({"minilm6"}));
  EXPECT_EQ(model.net.nodes()[0].shape[0], 3);
  EXPECT_EQ(model.options.open.count("n"), 1u);
  EXPECT_EQ(model.options.attention, AttentionForm::kOp);
  EXPECT_EQ(model.seed, 9u);
}

TEST(ModelFlagsTest, RefusalsTellTheWayOut) {
  EXPECT_EQ(Parse({"--attention", "fast"}), "");
  EXPECT_THAT(ReadModelFlags({"minilm6"}).status().message(),
              HasSubstr("there are products and op"));
  EXPECT_THAT(ReadModelFlags({}).status().message(),
              AllOf(HasSubstr("one model"), HasSubstr("gpt2")));
  EXPECT_THAT(ReadModelFlags({"unet", "gpt2"}).status().message(),
              HasSubstr("not 2"));
  EXPECT_THAT(Parse({"--attentoin", "op"}),
              HasSubstr("did you mean --attention?"));
}

}  // namespace
}  // namespace kiln::models
