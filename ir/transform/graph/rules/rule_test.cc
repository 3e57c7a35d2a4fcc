// What is a rule, and what is none and why: each kind of mistake has a message
// of its own, which names the function and the parameter or value.
//
//   Refusal(R"(... def pattern(...) ... def replacement(...) ...)")
#include "kiln/ir/transform/graph/rules/rule.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// The message of a text that is no rule.
std::string Refusal(const std::string& text) {
  return std::string(ReadRules("r.py", text).status().message());
}

// A rule of one parameter, of these bodies.
std::string OfOne(const std::string& pattern, const std::string& replacement) {
  return absl::StrCat(
      "@R.function\ndef pattern(x: R.Tensor((\"n\", 4), \"float32\")):\n",
      pattern,
      "\n@R.function\n"
      "def replacement(y: R.Tensor((\"m\", 4), \"float32\")):\n",
      replacement, "\n");
}

TEST(RuleTest, TwoFunctionsAreARule) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Rule rule,
      ReadRule("r.py", OfOne("    return R.exp(R.log(x))", "    return y")));
  EXPECT_EQ(rule.name, "r.py");
  EXPECT_EQ(BodyOf(*rule.pattern).bindings.size(), 2u);
  EXPECT_EQ(BodyOf(*rule.replacement).results[0].get(),
            rule.replacement->params[0].get());
}

TEST(RuleTest, ATextMayHaveSeveral) {
  const std::string both = absl::StrCat(
      "@R.function\ndef pattern_twice(x: R.Tensor):\n"
      "    return R.negative(R.negative(x))\n"
      "@R.function\ndef replacement_twice(x: R.Tensor):\n    return x\n",
      OfOne("    return R.exp(R.log(x))", "    return y"));
  KILN_ASSERT_OK_AND_ASSIGN(const auto rules, ReadRules("r.py", both));
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].name, "twice");
  EXPECT_EQ(rules[1].name, "r.py");
  EXPECT_THAT(ReadRule("r.py", both).status().message(),
              HasSubstr("r.py has 2 rules, not one"));
}

TEST(RuleTest, NamesSayWhatAFunctionIs) {
  const std::string f =
      "@R.function\ndef NAME(x: R.Tensor):\n"
      "    return R.exp(x)\n";
  const auto named = [&](const std::string& name) {
    return Refusal(std::string(f).replace(f.find("NAME"), 4, name));
  };
  EXPECT_THAT(named("pattern"), HasSubstr("there is pattern and no "
                                          "replacement"));
  EXPECT_THAT(named("pattern_a"), HasSubstr("rule a: there is pattern_a and no "
                                            "replacement_a"));
  EXPECT_THAT(named("replacement_a"),
              HasSubstr("there is replacement_a and no pattern_a"));
  EXPECT_THAT(named("main"), HasSubstr("main is no part of a rule"));
  EXPECT_THAT(named("patterns"), HasSubstr("patterns is no part of a rule"));
}

TEST(RuleTest, ParametersAndResultsAreTheSame) {
  EXPECT_THAT(Refusal(R"(
@R.function
def pattern(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
    return R.add(x, y)

@R.function
def replacement(x: R.Tensor(("n",), "float32")):
    return R.add(x, x)
)"),
              HasSubstr("pattern takes 2 parameters, and replacement 1"));
  // One dimension here, two there.
  EXPECT_THAT(Refusal(R"(
@R.function
def pattern(x: R.Tensor(("n", "m"), "float32")):
    return R.exp(x)

@R.function
def replacement(x: R.Tensor(("n", "n"), "float32")):
    return R.exp(x)
)"),
              HasSubstr("parameter 1 is R.Tensor((n, m), dtype=\"float32\") in "
                        "pattern and R.Tensor((n, n)"));
  EXPECT_THAT(Refusal(R"(
@R.function
def pattern(x: R.Tensor(("n",), "float32")):
    return R.exp(x)

@R.function
def replacement(x: R.Tensor(("n",), "float16")):
    return R.astype(R.exp(x), "float32")
)"),
              HasSubstr("parameter 1 is"));
  EXPECT_THAT(Refusal(OfOne("    return R.sum(x, axis=[1])",
                            "    return R.sum(y, axis=[0])")),
              HasSubstr("pattern gives R.Tensor((n,)"));
  EXPECT_THAT(Refusal(OfOne("    return R.exp(x)",
                            "    return R.astype(y, \"float16\")")),
              HasSubstr("and replacement R.Tensor((n, 4), dtype=\"float16\")"));
  EXPECT_THAT(
      Refusal(OfOne("    return (R.exp(x), R.sin(x))", "    return R.exp(y)")),
      HasSubstr("pattern gives R.Tuple("));
}

TEST(RuleTest, AMatchSaysAllThatTheReplacementUses) {
  EXPECT_THAT(Refusal(R"(
@R.function
def pattern(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
    return R.exp(x)

@R.function
def replacement(x: R.Tensor(("n",), "float32"), z: R.Tensor(("n",), "float32")):
    return R.add(x, z)
)"),
              HasSubstr("replacement uses parameter 2 (z), and pattern does "
                        "not"));
  EXPECT_THAT(Refusal(R"(
@R.function
def pattern(x: R.Tensor((2,), "float32"), y: R.Tensor(("n",), "float32")):
    return R.exp(x)

@R.function
def replacement(x: R.Tensor((2,), "float32"), y: R.Tensor(("n",), "float32")):
    n = T.int64()
    return R.multiply(R.exp(x), R.full(R.shape([2]), R.const(1.0, "float32"), "float32"))
)"),
              "");
  EXPECT_THAT(Refusal(R"(
@R.function
def pattern(x: R.Tensor((2,), "float32"), y: R.Tensor(("n",), "float32")):
    return R.zeros(R.shape([2]), "float32")

@R.function
def replacement(x: R.Tensor((2,), "float32"), y: R.Tensor(("n",), "float32")):
    n = T.int64()
    return R.strided_slice(R.zeros(R.shape([n + 2]), "float32"), [0], [0], [2])
)"),
              HasSubstr("replacement speaks of n, which the pattern does not "
                        "tell"));
}

TEST(RuleTest, APatternIsNeededForItsResults) {
  EXPECT_THAT(Refusal(OfOne("    return x", "    return y")),
              HasSubstr("result x of pattern is no call"));
  EXPECT_THAT(
      Refusal(OfOne("    return (R.exp(x), x)", "    return (R.exp(y), y)")),
      HasSubstr("result x of pattern is no call"));
  EXPECT_THAT(Refusal(OfOne("    a = R.exp(x)\n    return (a, a)",
                            "    a = R.exp(y)\n    return (a, a)")),
              HasSubstr("pattern gives a twice"));
  EXPECT_THAT(Refusal(OfOne("    a = R.sin(x)\n    return R.exp(x)",
                            "    return R.exp(y)")),
              HasSubstr("no result of pattern needs a"));
}

TEST(RuleTest, ValuesHaveNoEffects) {
  EXPECT_THAT(Refusal(R"(
@R.function(pure=False)
def pattern(x: R.Tensor(("n",), "float32")):
    return R.call_packed("f", x, sinfo_args=(R.Tensor(("n",), "float32"),))

@R.function
def replacement(x: R.Tensor(("n",), "float32")):
    return R.exp(x)
)"),
              HasSubstr("may have an effect"));
  EXPECT_THAT(Refusal(R"(
@R.function
def pattern(x: R.Tensor(ndim=1, dtype="float32")):
    n = T.int64()
    a = R.match_cast(x, R.Tensor((n,), "float32"))
    return R.exp(a)

@R.function
def replacement(x: R.Tensor(ndim=1, dtype="float32")):
    return R.exp(x)
)"),
              HasSubstr("pattern: a is a cast, a branch or a function"));
  EXPECT_THAT(Refusal(R"(
@I.ir_module
class M:
    @R.function(private=True)
    def pattern_of(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.exp(x)

    @R.function
    def replacement_of(x: R.Tensor((2,), "float32")):
        return M.pattern_of(x)
)"),
              HasSubstr("calls the graph function pattern_of"));
  EXPECT_THAT(Refusal(R"(
@R.function
def pattern(f: R.Callable, x: R.Tensor((2,), "float32")):
    return R.exp(x)

@R.function
def replacement(f: R.Callable, x: R.Tensor((2,), "float32")):
    return R.exp(x)
)"),
              HasSubstr("a rule takes tensors, shapes, numbers and tuples"));
}

TEST(RuleTest, PatternsAreOfSomeSize) {
  const auto chain = [](const std::string& from, int length) {
    std::string body = absl::StrCat("    a = R.exp(", from, ")\n");
    for (int i = 0; i < length; ++i) body += "    a = R.exp(a)\n";
    return body + "    return a";
  };
  EXPECT_EQ(Refusal(OfOne(chain("x", 300), chain("y", 1))), "");
  EXPECT_THAT(Refusal(OfOne(chain("x", 400), chain("y", 1))),
              HasSubstr("calls and operands, and may have 1000"));
}

TEST(RuleTest, WhatCannotBeReadSaysWhere) {
  EXPECT_THAT(Refusal("@R.function\ndef pattern(x: R.Tensor:\n"),
              HasSubstr("r.py"));
  EXPECT_THAT(Refusal("A = 1\n"), HasSubstr("r.py"));
  EXPECT_THAT(Refusal(OfOne("    return R.matmul(x, x, x)", "    return y")),
              HasSubstr("r.py"));
}

}  // namespace
}  // namespace kiln
