#include "kiln/base/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A program is a text here, and a pass adds a letter.
struct Options {
  std::string fail_at;
};

template <char letter>
absl::StatusOr<std::string> Append(std::string text, const Options& options) {
  if (options.fail_at == std::string(1, letter)) {
    return absl::UnimplementedError("it cannot");
  }
  return text + letter;
}

using TextPass = Pass<std::string, Options>;
constexpr PassKind kOptional = PassKind::kOptional;
constexpr TextPass kPasses[] = {{"one", "a", Append<'a'>},
                                {"one", "b", Append<'b'>, kOptional},
                                {"two", "c", Append<'c'>},
                                {"two", "d", Append<'d'>, PassKind::kAuto},
                                {"end", "e", Append<'e'>, kOptional}};

absl::StatusOr<std::string> RunText(
    const PassControl<std::string>& control = {}, const Options& options = {}) {
  return RunPasses(absl::Span<const TextPass>(kPasses), std::string("x"),
                   options, control);
}

std::string Bisect(const std::string& bad) {
  const absl::StatusOr<std::string> found = BisectPasses<std::string, Options>(
      kPasses, "x", {}, [&](const std::string& result) {
        return result.find_first_of(bad) == result.npos;
      });
  return found.ok() ? *found : std::string(found.status().message());
}

TEST(PassTest, PassesRunInOrder) { EXPECT_EQ(*RunText(), "xabcde"); }

TEST(PassTest, ThoseThatAreNotRequiredRunUpToANumber) {
  EXPECT_EQ(*RunText({.num_optional = 0}), "xac");
  EXPECT_EQ(*RunText({.num_optional = 1}), "xabc");
  EXPECT_EQ(*RunText({.num_optional = 2}), "xabcd");
}

TEST(PassTest, ThoseThatDecideUnaskedMayBeLeftOut) {
  EXPECT_EQ(*RunText({.is_auto = false}), "xabce");
}

TEST(PassTest, StagesAreNamedOnce) {
  EXPECT_THAT((StagesOf<std::string, Options>(kPasses)),
              ElementsAre("one", "two", "end"));
}

TEST(PassTest, EndsAfterThePassOrStageOfAName) {
  EXPECT_EQ(*RunText({.stop_after = "c"}), "xabc");
  EXPECT_EQ(*RunText({.num_optional = 0, .stop_after = "b"}), "xa");
  EXPECT_EQ(*RunText({.stop_after = "one"}), "xab");
  EXPECT_EQ(*RunText({.stop_after = "two"}), "xabcd");
  EXPECT_THAT(RunText({.stop_after = "z"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no pass or stage is called z")));
}

TEST(PassTest, ObserversSeeEachResult) {
  std::vector<std::string> seen;
  PassControl<std::string> control;
  control.observe = [&](std::string_view pass, const std::string& after,
                        double seconds) {
    seen.push_back(std::string(pass) + ":" + after);
    EXPECT_GE(seconds, 0);
  };
  KILN_EXPECT_OK(RunText(control).status());
  EXPECT_THAT(seen,
              ElementsAre("a:xa", "b:xab", "c:xabc", "d:xabcd", "e:xabcde"));
}

TEST(PassTest, VerifiersSeeBothSidesAndEndTheRun) {
  std::vector<std::string> seen;
  PassControl<std::string> control;
  control.verify = [&](std::string_view pass, const std::string& before,
                       const std::string& after) {
    seen.push_back(before + "-" + after);
    return pass == "c" ? absl::InternalError("differs") : absl::OkStatus();
  };
  EXPECT_THAT(RunText(control),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("c: differs")));
  EXPECT_THAT(seen, ElementsAre("x-xa", "xa-xab", "xab-xabc"));
}

TEST(PassTest, ErrorsNameThePass) {
  EXPECT_THAT(
      RunText({}, {.fail_at = "d"}),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("d: it cannot")));
}

TEST(PassTest, BisectionFindsThePassThatBreaksAProgram) {
  EXPECT_EQ(Bisect("b"), "b");
  EXPECT_EQ(Bisect("d"), "d");
  EXPECT_EQ(Bisect("e"), "e");
  EXPECT_EQ(Bisect("de"), "d");
  EXPECT_EQ(Bisect("z"), "");
  EXPECT_THAT(Bisect("c"), HasSubstr("required"));
}

}  // namespace
}  // namespace kiln
