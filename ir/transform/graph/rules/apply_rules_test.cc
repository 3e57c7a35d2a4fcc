// Rules on programs as text: the program that comes out, compared up to names
// or looked through for an op that has to be there, or to be gone.
//
//   After(rules, before)  the module, or a message; DifferenceFrom(after, text)
#include "kiln/ir/transform/graph/rules/apply_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/rules/rule.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<Module> After(const std::string& rules,
                             const std::string& text) {
  absl::StatusOr<std::vector<Rule>> read = ReadRules("r.py", rules);
  if (!read.ok()) return read.status();
  absl::StatusOr<Module> module = InferModule(ReadModule(text));
  if (!module.ok()) return module.status();
  return ApplyRules(*module, *read);
}

// "" where the rules make `wanted` of the program.
std::string Difference(const std::string& rules, const std::string& text,
                       const std::string& wanted) {
  const absl::StatusOr<Module> after = After(rules, text);
  if (!after.ok()) return std::string(after.status().message());
  const absl::StatusOr<Module> inferred = InferModule(ReadModule(wanted));
  if (!inferred.ok()) return std::string(inferred.status().message());
  return FirstDifference(*inferred, *after).value_or("");
}

std::string TextAfter(const std::string& rules, const std::string& text) {
  const absl::StatusOr<Module> after = After(rules, text);
  return after.ok() ? PrintModule(*after)
                    : std::string(after.status().message());
}

constexpr char kAttention[] = R"(
@R.function
def pattern(x: R.Tensor(("m", "k"), "float32"), q: R.Tensor(("k", "n"), "float32"), k: R.Tensor(("k", "n"), "float32"), v: R.Tensor(("k", "n"), "float32")):
    return (R.matmul(x, q), R.matmul(x, k), R.matmul(x, v))

@R.function
def replacement(x: R.Tensor(("m", "k"), "float32"), q: R.Tensor(("k", "n"), "float32"), k: R.Tensor(("k", "n"), "float32"), v: R.Tensor(("k", "n"), "float32")):
    weights = R.concat((q, k, v), axis=1)
    parts = R.split(R.matmul(x, weights), 3, axis=1)
    return (parts[0], parts[1], parts[2])
)";

TEST(ApplyRulesTest, ThreeProductsOfOneInputBecomeOne) {
  EXPECT_EQ(Difference(kAttention, R"(
@R.function
def main(x: R.Tensor((10, 64), "float32"), wq: R.Tensor((64, 32), "float32"), wk: R.Tensor((64, 32), "float32"), wv: R.Tensor((64, 32), "float32")):
    with R.dataflow():
        q = R.matmul(x, wq)
        k = R.matmul(x, wk)
        s = R.matmul(q, R.permute_dims(k))
        v = R.matmul(x, wv)
        gv = R.matmul(R.nn.softmax(s, axis=-1), v)
        R.output(gv)
    return gv
)",
                       R"(
@R.function
def main(x: R.Tensor((10, 64), "float32"), wq: R.Tensor((64, 32), "float32"), wk: R.Tensor((64, 32), "float32"), wv: R.Tensor((64, 32), "float32")):
    with R.dataflow():
        weights = R.concat((wq, wk, wv), axis=1)
        product = R.matmul(x, weights)
        parts = R.split(product, 3, axis=1)
        q = parts[0]
        k = parts[1]
        t = R.permute_dims(k)
        s = R.matmul(q, t)
        v = parts[2]
        a = R.nn.softmax(s, axis=-1)
        gv = R.matmul(a, v)
        R.output(gv)
    return gv
)"),
            "");
  // Weights of two widths are no match, nor are two products.
  EXPECT_THAT(TextAfter(kAttention, R"(
@R.function
def main(x: R.Tensor((10, 64), "float32"), a: R.Tensor((64, 32), "float32"), b: R.Tensor((64, 16), "float32")):
    with R.dataflow():
        q = R.matmul(x, a)
        k = R.matmul(x, b)
        v = R.matmul(x, a)
        R.output(q, k, v)
    return (q, k, v)
)"),
              Not(HasSubstr("concat")));
}

TEST(ApplyRulesTest, DimensionsGoIntoTheReplacement) {
  const std::string rule = R"(
@R.function
def pattern(x: R.Tensor(("n", "2 * n"), "float32")):
    n = T.int64()
    return R.reshape(R.reshape(x, R.shape([n * n * 2])), R.shape([2 * n, n]))

@R.function
def replacement(y: R.Tensor(("k", "2 * k"), "float32")):
    k = T.int64()
    return R.reshape(y, R.shape([2 * k, k]))
)";
  EXPECT_THAT(TextAfter(rule, R"(
@R.function
def main(x: R.Tensor((3, 6), "float32")):
    a = R.reshape(x, R.shape([18]))
    return R.reshape(a, R.shape([6, 3]))
)"),
              HasSubstr("R.reshape(x, R.shape([6, 3]))"));
  EXPECT_THAT(TextAfter(rule, R"(
@R.function
def main(x: R.Tensor(("m + 1", "m * 2 + 2"), "float32")):
    m = T.int64()
    a = R.reshape(x, R.shape([2 * (m + 1) * (m + 1)]))
    return R.reshape(a, R.shape([m * 2 + 2, m + 1]))
)"),
              Not(HasSubstr("R.reshape(a")));
  // Two columns are told nothing of n.
  const std::string other = TextAfter(rule, R"(
@R.function
def main(x: R.Tensor((3, 6), "float32")):
    a = R.reshape(x, R.shape([18]))
    return R.reshape(a, R.shape([3, 6]))
)");
  EXPECT_THAT(other, HasSubstr("R.shape([18])"));
}

TEST(ApplyRulesTest, TypesAttributesAndConstantsHaveToAgree) {
  const std::string rule = R"(
@R.function
def pattern(x: R.Tensor(ndim=2, dtype="float32")):
    return R.multiply(R.sum(x, axis=[1], keepdims=True), R.const(1.0, "float32"))

@R.function
def replacement(x: R.Tensor(ndim=2, dtype="float32")):
    return R.sum(x, axis=[1], keepdims=True)
)";
  const auto text = [&](const std::string& dtype, const std::string& axis,
                        const std::string& factor) {
    return TextAfter(
        rule, absl::StrCat("@R.function\ndef main(x: R.Tensor((2, 2), \"",
                           dtype, "\")):\n    a = R.sum(x, axis=[", axis,
                           "], keepdims=True)\n    return R.multiply(a, "
                           "R.const(",
                           factor, ", \"", dtype, "\"))\n"));
  };
  EXPECT_THAT(text("float32", "1", "1.0"), Not(HasSubstr("multiply")));
  EXPECT_THAT(text("float16", "1", "1.0"), HasSubstr("multiply"));
  EXPECT_THAT(text("float32", "0", "1.0"), HasSubstr("multiply"));
  EXPECT_THAT(text("float32", "1", "2.0"), HasSubstr("multiply"));
}

constexpr char kNegative[] = R"(
@R.function
def pattern(x: R.Tensor):
    return R.negative(R.negative(x))

@R.function
def replacement(x: R.Tensor):
    return x
)";

TEST(ApplyRulesTest, ValuesThatOthersNeedStay) {
  EXPECT_EQ(Difference(kNegative, R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.negative(x)
        b = R.negative(a)
        c = R.negative(b)
        gv = R.add(a, R.exp(c))
        R.output(gv)
    return gv
)",
                       R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.negative(x)
        c = R.negative(x)
        e = R.exp(c)
        gv = R.add(a, e)
        R.output(gv)
    return gv
)"),
            "");
}

// The result a is found by its other name, and is replaced for all its users.
TEST(ApplyRulesTest, ResultsAreReplacedByTheirFirstNames) {
  EXPECT_EQ(Difference(R"(
@R.function
def pattern(x: R.Tensor(("n",), "float32")):
    a = R.add(x, x)
    return (R.negative(a), a)

@R.function
def replacement(x: R.Tensor(("n",), "float32")):
    b = R.multiply(x, R.const(2.0, "float32"))
    return (R.negative(b), b)
)",
                       R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.add(x, x)
        c = a
        n = R.negative(c)
        d = R.add(a, n)
        gv = R.exp(c)
        R.output(gv, d, a)
    return (gv, d, a)
)",
                       R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.multiply(x, R.const(2.0, "float32"))
        c = a
        n = R.negative(a)
        d = R.add(a, n)
        gv = R.exp(c)
        R.output(gv, d, a)
    return (gv, d, a)
)"),
            "");
}

TEST(ApplyRulesTest, WhatHasEffectsIsPassedByNoMatch) {
  const std::string rule = R"(
@R.function
def pattern(x: R.Tensor((4,), "float32")):
    return (R.exp(x), R.sin(x))

@R.function
def replacement(x: R.Tensor((4,), "float32")):
    return (R.cos(x), R.tanh(x))
)";
  const auto text = [&](const std::string& between) {
    return TextAfter(rule, absl::StrCat(R"(
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    a = R.exp(x)
)",
                                        between, R"(
    b = R.sin(x)
    return (a, b)
)"));
  };
  EXPECT_THAT(text("    c = R.add(x, x)"), HasSubstr("a: R.Tensor((4,), "
                                                     "dtype=\"float32\") = "
                                                     "R.cos(x)"));
  EXPECT_THAT(text("    _ = R.call_packed(\"f\", x, sinfo_args=(R.Tuple,))"),
              HasSubstr("R.exp(x)"));
}

TEST(ApplyRulesTest, PrimitiveAndCompositeFunctionsAreLeftAlone) {
  for (const char* attr : {"\"Primitive\": 1", "\"Composite\": \"a.b\""}) {
    EXPECT_THAT(TextAfter(kNegative, absl::StrCat(R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    R.func_attr({)",
                                                  attr, R"(})
    return R.negative(R.negative(x))
)")),
                HasSubstr("R.negative"));
  }
}

// The module's function has another name than the rule's.
TEST(ApplyRulesTest, TensorFunctionsAreComparedByWhatTheyDo) {
  const auto function = [](const std::string& name, const std::string& value) {
    return absl::StrCat(
        R"(
    @T.prim_func(private=True)
    def )",
        name, R"((A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = )",
        value, "\n");
  };
  const std::string rule = absl::StrCat(
      "@I.ir_module\nclass M:", function("once", "A[vi] + T.float32(1)"),
      function("twice", "A[vi] + T.float32(2)"), R"(
    @R.function
    def pattern(x: R.Tensor((4,), "float32")):
        a = R.call_tir(M.once, (x,), out_sinfo=R.Tensor((4,), "float32"))
        return R.call_tir(M.once, (a,), out_sinfo=R.Tensor((4,), "float32"))

    @R.function
    def replacement(x: R.Tensor((4,), "float32")):
        return R.call_tir(M.twice, (x,), out_sinfo=R.Tensor((4,), "float32"))
)");
  const auto program = [&](const std::string& value) {
    return absl::StrCat("@I.ir_module\nclass M:", function("add", value),
                        function("twice", "A[vi] * T.float32(2)"), R"(
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.call_tir(M.add, (x,), out_sinfo=R.Tensor((4,), "float32"))
        b = R.call_tir(M.add, (a,), out_sinfo=R.Tensor((4,), "float32"))
        return R.call_tir(M.twice, (b,), out_sinfo=R.Tensor((4,), "float32"))
)");
  };
  const std::string after = TextAfter(rule, program("A[vi] + T.float32(1)"));
  EXPECT_THAT(after, HasSubstr("+ T.float32(2)"));
  EXPECT_THAT(after, HasSubstr("* T.float32(2)"));
  EXPECT_THAT(after, Not(HasSubstr("(cls.add, (a,)"))) << after;
  EXPECT_THAT(TextAfter(rule, program("A[vi] + T.float32(3)")),
              Not(HasSubstr("+ T.float32(2)")));
}

TEST(ApplyRulesTest, RulesComeToAnEnd) {
  EXPECT_THAT(TextAfter(R"(
@R.function
def pattern(x: R.Tensor, y: R.Tensor):
    return R.add(x, y)

@R.function
def replacement(x: R.Tensor, y: R.Tensor):
    return R.add(y, x)
)",
                        R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.add(x, R.exp(x))
)"),
              HasSubstr("rule r.py: a rule matched "));
  EXPECT_THAT(TextAfter(R"(
@R.function
def pattern_there(x: R.Tensor):
    return R.add(x, x)

@R.function
def replacement_there(x: R.Tensor):
    return R.subtract(x, R.negative(x))

@R.function
def pattern_back(x: R.Tensor):
    return R.subtract(x, R.negative(x))

@R.function
def replacement_back(x: R.Tensor):
    return R.add(x, x)
)",
                        R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.add(x, x)
)"),
              HasSubstr("rules back, there went over main 100 times"));
}

// What one rule makes, another one takes.
TEST(ApplyRulesTest, RulesFollowEachOther) {
  EXPECT_EQ(Difference(absl::StrCat(R"(
@R.function
def pattern_minus(x: R.Tensor, y: R.Tensor):
    return R.subtract(x, R.negative(y))

@R.function
def replacement_minus(x: R.Tensor, y: R.Tensor):
    return R.add(x, y)
)",
                                    kNegative),
                       R"(
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.subtract(x, R.negative(R.negative(R.negative(y))))
        b = R.subtract(a, R.negative(R.subtract(y, R.negative(x))))
        R.output(b)
    return b
)",
                       R"(
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.add(x, y)
        c = R.add(y, x)
        b = R.add(a, c)
        R.output(b)
    return b
)"),
            "");
}

}  // namespace
}  // namespace kiln
