// Contexts on blocks as text: all their matches, by the names of variables, in
// the order in which they are found.
//
//   sin used by add, on   a = exp(x); b = sin(a); gv = add(b, a)   "b gv"
#include "kiln/ir/pattern/pattern_context.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kiln/base/random.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// The names of what the patterns match, match after match: "q k; k q".
std::string Matches(const std::string& body, const PatternContext& context,
                    const std::vector<Pattern>& patterns) {
  const std::string text = absl::StrCat(R"(
@R.function
def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32"), z: R.Tensor((2, 4), "float32")):
    with R.dataflow():
)",
                                        body);
  const absl::StatusOr<Module> parsed = ParseModule("t.py", text);
  if (!parsed.ok()) return parsed.status().ToString();
  const absl::StatusOr<Module> module = InferModule(*parsed);
  if (!module.ok()) return module.status().ToString();
  const graph::GraphFunction& f = module->graph_functions[0];
  std::vector<std::string> matches;
  const auto found = context.Find(
      f->body.As<graph::SeqNode>()->blocks[0].bindings, Uses(f->body),
      [&](const Match& match) {
        std::vector<std::string> names;
        for (const Pattern& pattern : patterns) {
          names.push_back(match.at(pattern).As<graph::VarNode>()->name);
        }
        matches.push_back(absl::StrJoin(names, " "));
        return false;
      });
  return found.ok() ? absl::StrJoin(matches, "; ") : found.status().ToString();
}

TEST(PatternContextTest, PatternsMatchDifferentVariables) {
  const Pattern x = Wildcard(), w1 = Wildcard(), w2 = Wildcard();
  const Pattern q = IsOp("matmul", {x, w1}), k = IsOp("matmul", {x, w2});
  PatternContext context;
  context.Add(q);
  context.Add(k);
  const std::string body = R"(
        a = R.matmul(x, y)
        b = R.matmul(y, x)
        c = R.matmul(x, x)
        d = c
        gv = R.add(a, R.add(b, d))
        R.output(gv)
    return gv
)";
  EXPECT_EQ(Matches(body, context, {q, k}), "a c; c a");
}

constexpr char kDiamond[] = R"(
        a = R.exp(x)
        b = R.sin(a)
        c = R.cos(a)
        gv = R.add(b, c)
        R.output(gv)
    return gv
)";

TEST(PatternContextTest, UsedByTakesOtherUsesToo) {
  const Pattern a = IsOp("exp", {}), b = IsOp("sin", {}), c = IsOp("cos", {});
  PatternContext used, only, both;
  used.UsedBy(a, b);
  EXPECT_EQ(Matches(kDiamond, used, {a, b}), "a b");
  only.OnlyUsedBy(a, b);
  EXPECT_EQ(Matches(kDiamond, only, {a, b}), "") << "cos uses it, too";
  both.OnlyUsedBy(a, b);
  both.OnlyUsedBy(a, c);
  EXPECT_EQ(Matches(kDiamond, both, {a, b, c}), "a b c");
  // The edge may be one of the two.
  PatternContext mixed;
  mixed.OnlyUsedBy(a, b);
  mixed.UsedBy(a, c);
  EXPECT_EQ(Matches(kDiamond, mixed, {a, b, c}), "a b c");
  // No edge leads there.
  PatternContext wrong;
  wrong.UsedBy(b, c);
  EXPECT_EQ(Matches(kDiamond, wrong, {b, c}), "");
}

TEST(PatternContextTest, ArgumentsAreCountedFromZero) {
  const Pattern b = IsOp("sin", {}), sum = IsOp("add", {});
  for (int argument : {kAnyArgument, 0, 1, 2}) {
    PatternContext context;
    context.UsedBy(b, sum, argument);
    EXPECT_EQ(Matches(kDiamond, context, {b, sum}), argument <= 0 ? "b gv" : "")
        << argument;
  }
}

TEST(PatternContextTest, AResultIsAUse) {
  const Pattern a = IsOp("exp", {}), b = IsOp("sin", {});
  const std::string given_back = R"(
        gv = R.exp(x)
        gv1 = R.sin(gv)
        R.output(gv, gv1)
    return (gv, gv1)
)";
  PatternContext used, only;
  used.UsedBy(a, b);
  only.OnlyUsedBy(a, b);
  EXPECT_EQ(Matches(given_back, used, {a, b}), "gv gv1");
  EXPECT_EQ(Matches(given_back, only, {a, b}), "");
  // An output that nobody needs outside is no use.
  const std::string inside = R"(
        gv = R.exp(x)
        gv1 = R.sin(gv)
        R.output(gv, gv1)
    return gv1
)";
  EXPECT_EQ(Matches(inside, only, {a, b}), "gv gv1");
}

TEST(PatternContextTest, AnotherNameIsTheSameValue) {
  const Pattern a = IsOp("exp", {}), b = IsOp("sin", {});
  PatternContext only;
  only.OnlyUsedBy(a, b);
  EXPECT_EQ(Matches(R"(
        a = R.exp(x)
        n = a
        b = R.sin(n)
        R.output(b)
    return b
)",
                    only, {a, b}),
            "a b");
  EXPECT_EQ(Matches(R"(
        a = R.exp(x)
        n = a
        b = R.sin(n)
        gv = R.add(b, n)
        R.output(gv)
    return gv
)",
                    only, {a, b}),
            "");
}

TEST(PatternContextTest, ParametersAreUsedByTheBlock) {
  const Pattern x = IsVar("x"), b = IsOp("exp", {});
  PatternContext used, only;
  used.UsedBy(x, b);
  only.OnlyUsedBy(x, b);
  EXPECT_EQ(Matches(kDiamond, used, {x, b}), "x a");
  EXPECT_EQ(Matches(kDiamond, only, {x, b}), "x a");
}

TEST(PatternContextTest, ShapesMayHaveToBeOne) {
  const Pattern a = Wildcard().HasRank(2), b = IsOp("exp", {});
  PatternContext context;
  context.SameShape({a, b});
  const std::string body = R"(
        e = R.exp(z)
        f = R.exp(x)
        g = R.sin(z)
        R.output(e, f, g)
    return (e, f, g)
)";
  EXPECT_EQ(Matches(body, context, {a, b}), "g e; z e; x f");
}

TEST(PatternContextTest, TensorsOfCallsAreTheirArguments) {
  const Pattern a = IsOp("exp", {});
  const Pattern packed = IsOp("call_dps_packed", {IsExtern("f")});
  const std::string body = R"(
        a = R.exp(x)
        b = R.call_dps_packed("f", (y, a), R.Tensor((4, 4), "float32"))
        c = R.call_dps_packed("g", (a, y), R.Tensor((4, 4), "float32"))
        t = (b, c)
        gv = t[1]
        R.output(gv)
    return gv
)";
  for (int argument : {kAnyArgument, 0, 1, 2}) {
    PatternContext context;
    context.UsedBy(a, packed, argument);
    const bool is_there = argument == kAnyArgument || argument == 1;
    EXPECT_EQ(Matches(body, context, {a, packed}), is_there ? "a b" : "")
        << argument;
  }
  // Through a tuple that has a name, and a field of it.
  const Pattern tuple = IsTuple({packed, Wildcard()});
  const Pattern field = IsItem(Wildcard());
  PatternContext chain;
  chain.OnlyUsedBy(packed, tuple);
  chain.OnlyUsedBy(tuple, field);
  EXPECT_EQ(Matches(body, chain, {packed, tuple, field}), "b t gv");
}

// A block of calls of one and two arguments, and who uses whom.
struct RandomBlock {
  explicit RandomBlock(uint64_t seed) {
    Random random(seed);
    static constexpr const char* kOps[] = {"sin", "cos", "add"};
    for (size_t i = 0; i < 10; ++i) {
      const size_t op = random.Below(3);
      ops.emplace_back(kOps[op]);
      args.emplace_back();
      std::vector<std::string> names;
      for (size_t k = 0; k < (op == 2 ? 2 : 1); ++k) {
        const size_t arg = random.Below(i + 1);
        names.push_back(arg == i ? "x" : absl::StrCat("v", arg));
        args[i].push_back(arg == i ? kNone : arg);
      }
      absl::StrAppend(&text, "        v", i, " = R.", kOps[op], "(",
                      absl::StrJoin(names, ", "), ")\n");
    }
    absl::StrAppend(&text, "        R.output(v9)\n    return v9\n");
  }

  bool Uses(size_t user, size_t value) const {
    return std::count(args[user].begin(), args[user].end(), value) > 0;
  }

  static constexpr size_t kNone = 99;
  std::string text;
  std::vector<std::string> ops;
  std::vector<std::vector<size_t>> args;
};

// Whether v`i`, a sin, is used by the cos v`k` and is the second argument of
// the add v`l`; and by nothing else.
bool IsMatch(const RandomBlock& block, size_t i, size_t k, size_t l,
             bool is_only) {
  const bool is_used = block.ops[i] == "sin" && block.ops[k] == "cos" &&
                       block.ops[l] == "add" && block.Uses(k, i) &&
                       block.args[l][1] == i;
  if (!is_used || !is_only) return is_used;
  for (size_t other = 0; other < 10; ++other) {
    if (other != k && other != l && block.Uses(other, i)) return false;
  }
  return i != 9;  // which is given back
}

std::string MatchesByTryingAll(const RandomBlock& block, bool is_only) {
  std::vector<std::string> matches;
  for (size_t n = 0; n < 1000; ++n) {
    const size_t i = n / 100, k = n / 10 % 10, l = n % 10;
    if (!IsMatch(block, i, k, l, is_only)) continue;
    matches.push_back(absl::StrCat("v", i, " v", k, " v", l));
  }
  return absl::StrJoin(matches, "; ");
}

TEST(PatternContextTest, FindsWhatTryingAllFinds) {
  int found = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const RandomBlock block(seed);
    const Pattern a = IsOp("sin", {}), b = IsOp("cos", {}), c = IsOp("add", {});
    const bool is_only = seed % 2 == 1;
    PatternContext context;
    context.UsedBy(a, b);
    if (is_only) context.OnlyUsedBy(a, c, 1);
    if (!is_only) context.UsedBy(a, c, 1);
    const std::string wanted = MatchesByTryingAll(block, is_only);
    found += !wanted.empty();
    EXPECT_EQ(Matches(block.text, context, {a, b, c}), wanted)
        << "seed " << seed << "\n"
        << block.text;
  }
  EXPECT_GT(found, 50);
}

// Patterns of which nothing is known have too many ways to match.
TEST(PatternContextTest, ASearchEnds) {
  PatternContext context;
  for (int i = 0; i < 11; ++i) context.Add(Wildcard());
  context.Add(IsVar("nothing"));
  std::string body, names;
  for (int i = 0; i < 14; ++i) {
    absl::StrAppend(&body, "        v", i, " = R.exp(x)\n");
    absl::StrAppend(&names, i > 0 ? ", " : "", "v", i);
  }
  absl::StrAppend(&body, "        R.output(", names, ")\n    return (", names,
                  ")\n");
  const std::string matches = Matches(body, context, {});
  EXPECT_NE(matches.find("12 patterns in 14 bindings ended after"),
            std::string::npos)
      << matches.substr(0, 200);
}

}  // namespace
}  // namespace kiln
