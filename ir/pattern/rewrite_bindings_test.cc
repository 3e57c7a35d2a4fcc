// Contexts with what stands for a match, on programs as text: what is written
// anew, what stays, and that all of it ends.
//
//   Rewritten(body, context, rule)  the body of the function after it
#include "kiln/ir/pattern/rewrite_bindings.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Emitter;
using ::testing::HasSubstr;

constexpr char kHead[] = R"(
@R.function
def main(x: R.Tensor((4, 4), "float32"), v: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32"), c: R.Tensor((), "bool")):
)";

absl::StatusOr<graph::GraphFunction> Infer(const graph::GraphFunction& f) {
  return InferFunction(*f, Module());
}

BindingsOptions Options() {
  BindingsOptions options;
  options.infer = Infer;
  return options;
}

absl::StatusOr<graph::GraphFunction> Read(const std::string& body) {
  absl::StatusOr<Module> parsed =
      ParseModule("t.py", absl::StrCat(kHead, body));
  if (!parsed.ok()) return parsed.status();
  return Infer(parsed->graph_functions[0]);
}

// The lines of the body, without annotations; or an error.
std::string Rewritten(const std::string& body, const PatternContext& context,
                      BindingsRule rule,
                      const BindingsOptions& options = Options()) {
  const absl::StatusOr<graph::GraphFunction> f = Read(body);
  if (!f.ok()) return f.status().ToString();
  const auto after = RewriteBindings(*f, context, rule, options);
  if (!after.ok()) return std::string(after.status().message());
  const std::string text = PrintGraphFunction(**after);
  std::string lines;
  size_t begin = text.find("def main");
  begin = text.find('\n', begin) + 1;
  for (size_t end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    const size_t colon = line.find(": R."), equals = line.find(" = ");
    if (colon != std::string::npos && equals != std::string::npos) {
      line.erase(colon, equals - colon);
    }
    const size_t word = line.find_first_not_of(' ');
    if (word != std::string::npos) lines += line.substr(word) + "\n";
  }
  return lines;
}

// Products of one input, as one product.
struct Combine {
  Pattern x = Wildcard(), a = Wildcard(), b = Wildcard(), c = Wildcard();
  Pattern q = IsOp("matmul", {x, a}), k = IsOp("matmul", {x, b}),
          v = IsOp("matmul", {x, c});
  PatternContext context;

  Combine() {
    for (const Pattern& product : {q, k, v}) context.Add(product);
  }
  Replacements operator()(const Match& match, Emitter& emit) const {
    const graph::Expr weights = emit.Emit(CallOp(
        "concat", {graph::TupleOf({match.at(a), match.at(b), match.at(c)})},
        {{"axis", Int(1)}}));
    const graph::Expr product = emit.Emit(
        CallOp("matmul", {match.at(x), weights}, {{"out_dtype", Attr()}}));
    const graph::Expr parts =
        emit.Emit(CallOp("split", {product},
                         {{"indices_or_sections", Int(3)}, {"axis", Int(1)}}));
    return {{match.at(q), graph::Item(parts, 0)},
            {match.at(k), graph::Item(parts, 1)},
            {match.at(v), graph::Item(parts, 2)}};
  }
};

TEST(RewriteBindingsTest, ThreeProductsOfOneInputBecomeOne) {
  const Combine combine;
  EXPECT_EQ(Rewritten(R"(
    with R.dataflow():
        q = R.matmul(x, v)
        k = R.matmul(x, w)
        r = R.exp(w)
        u = R.matmul(x, r)
        gv = R.add(R.add(q, k), u)
        R.output(gv)
    return gv
)",
                      combine.context, combine),
            R"(with R.dataflow():
r = R.exp(w)
lv = R.concat((v, w, r), axis=1)
lv_1 = R.matmul(x, lv, out_dtype=None)
lv_2 = R.split(lv_1, indices_or_sections=3, axis=1)
q = lv_2[0]
k = lv_2[1]
u = lv_2[2]
lv_3 = R.add(q, k)
gv = R.add(lv_3, u)
R.output(gv)
return gv
)");
}

// The third weight is made of the first product.
TEST(RewriteBindingsTest, AMatchThatWouldNeedItselfIsLeft) {
  const Combine combine;
  const std::string after = Rewritten(R"(
    with R.dataflow():
        q = R.matmul(x, v)
        k = R.matmul(x, w)
        u = R.matmul(x, q)
        gv = R.add(k, u)
        R.output(gv)
    return gv
)",
                                      combine.context, combine);
  EXPECT_THAT(after, HasSubstr("u = R.matmul(x, q"));
  EXPECT_THAT(after, ::testing::Not(HasSubstr("concat")));
}

TEST(RewriteBindingsTest, BlocksAreMatchedOneByOne) {
  const Combine combine;
  EXPECT_THAT(Rewritten(R"(
    with R.dataflow():
        q = R.matmul(x, v)
        k = R.matmul(x, w)
        R.output(q, k)
    with R.dataflow():
        u = R.matmul(x, x)
        gv = R.add(R.add(q, k), u)
        R.output(gv)
    return gv
)",
                        combine.context, combine),
              ::testing::Not(HasSubstr("concat")));
}

// Of relu(x @ w + b): the sum, where nothing else needs the product.
struct Fuse {
  Pattern x = Wildcard(), w = Wildcard(), b = Wildcard();
  Pattern product = IsOp("matmul", {x, w}), sum = IsOp("add", {product, b}),
          relu = IsOp("nn.relu", {sum});
  PatternContext context;

  Fuse() {
    context.OnlyUsedBy(product, sum);
    context.OnlyUsedBy(sum, relu);
  }
  Replacements operator()(const Match& match, Emitter&) const {
    return {{match.at(relu),
             CallOp("call_dps_packed",
                    {graph::Extern("fused"),
                     graph::TupleOf({match.at(x), match.at(w), match.at(b)})},
                    {}, {graph::InfoOf(match.at(relu))})}};
  }
};

TEST(RewriteBindingsTest, WhatOnlyTheOldValueNeededGoes) {
  const Fuse fuse;
  EXPECT_EQ(Rewritten(R"(
    with R.dataflow():
        unused = R.exp(x)
        wt = R.permute_dims(w)
        p = R.matmul(x, wt)
        s = R.add(p, v)
        gv = R.nn.relu(s)
        R.output(gv)
    return gv
)",
                      fuse.context, fuse),
            R"(with R.dataflow():
unused = R.exp(x)
wt = R.permute_dims(w, axes=None)
gv = R.call_dps_packed("fused", (x, wt, v), out_sinfo=R.Tensor((4, 4), dtype="float32"))
R.output(gv)
return gv
)");
}

TEST(RewriteBindingsTest, AnOutputThatIsMatchedInsideIsAnotherUse) {
  const Fuse fuse;
  const std::string body = R"(
    with R.dataflow():
        p = R.matmul(x, w)
        s = R.add(p, v)
        gv = R.nn.relu(s)
        R.output(gv, s)
    return (gv, s)
)";
  EXPECT_THAT(Rewritten(body, fuse.context, fuse),
              ::testing::Not(HasSubstr("fused")));
  // Without the edges, it is written anew, and the sum stays.
  PatternContext loose;
  loose.Add(fuse.relu);
  EXPECT_EQ(Rewritten(body, loose, fuse), R"(with R.dataflow():
p = R.matmul(x, w, out_dtype=None)
s = R.add(p, v)
gv = R.call_dps_packed("fused", (x, w, v), out_sinfo=R.Tensor((4, 4), dtype="float32"))
R.output(s, gv)
return (gv, s)
)");
}

struct Twice {
  Pattern x = Wildcard();
  Pattern outer = IsOp("negative", {IsOp("negative", {x})});
  PatternContext context;
  Twice() { context.Add(outer); }
  Replacements operator()(const Match& match, Emitter&) const {
    return {{match.at(outer), match.at(x)}};
  }
};

TEST(RewriteBindingsTest, RewritesUntilNothingMatches) {
  const Twice twice;
  std::string body = "    with R.dataflow():\n        v0 = R.exp(x)\n";
  for (int i = 0; i < 101; ++i) {
    absl::StrAppend(&body, "        v", i + 1, " = R.negative(v", i, ")\n");
  }
  body += "        gv = R.sin(v101)\n        R.output(gv)\n    return gv\n";
  EXPECT_EQ(Rewritten(body, twice.context, twice), R"(with R.dataflow():
v0 = R.exp(x)
v101 = R.negative(v0)
gv = R.sin(v101)
R.output(gv)
return gv
)");
}

TEST(RewriteBindingsTest, AnOutputKeepsItsName) {
  const Twice twice;
  EXPECT_EQ(Rewritten(R"(
    with R.dataflow():
        a = R.negative(x)
        gv = R.negative(a)
        R.output(gv)
    return gv
)",
                      twice.context, twice),
            R"(with R.dataflow():
gv = x
R.output(gv)
return gv
)");
}

TEST(RewriteBindingsTest, BranchesAreLookedInto) {
  const Twice twice;
  const std::string body = R"(
    if c:
        with R.dataflow():
            a = R.negative(x)
            b = R.negative(a)
            e = R.exp(b)
            R.output(e)
        r = e
    else:
        r = x
    return r
)";
  EXPECT_THAT(Rewritten(body, twice.context, twice), HasSubstr("R.exp(x)"));
}

TEST(RewriteBindingsTest, OutsideOfDataflowBlocksOnlyWherePure) {
  const Twice twice;
  const std::string body = R"(
    a = R.negative(x)
    b = R.negative(a)
    e = R.exp(b)
    return e
)";
  EXPECT_THAT(Rewritten(body, twice.context, twice), HasSubstr("R.exp(b)"));
  BindingsOptions options = Options();
  options.is_pure = [](const graph::Expr&) { return true; };
  const std::string after = Rewritten(body, twice.context, twice, options);
  EXPECT_THAT(after, HasSubstr("b = x\ne = R.exp(b)"));
  EXPECT_THAT(after, ::testing::Not(HasSubstr("negative")));
  options.is_pure = [](const graph::Expr& e) {
    const auto* call = e.As<graph::CallNode>();
    return !call || !call->IsOp("exp");
  };
  EXPECT_THAT(Rewritten(body, twice.context, twice, options),
              HasSubstr("b = x"));
}

TEST(RewriteBindingsTest, ARuleWithoutAnEndIsRefused) {
  const Pattern x = Wildcard(), y = Wildcard();
  const Pattern sum = IsOp("add", {x, y});
  PatternContext context;
  context.Add(sum);
  const auto swap = [&](const Match& match, Emitter&) {
    return Replacements{
        {match.at(sum), CallOp("add", {match.at(y), match.at(x)})}};
  };
  const std::string body = R"(
    with R.dataflow():
        gv = R.add(x, v)
        R.output(gv)
    return gv
)";
  EXPECT_THAT(Rewritten(body, context, swap),
              HasSubstr("matched 1016 times in main and still does"));
  const auto grow = [&](const Match& match, Emitter& emit) {
    const graph::Expr inner =
        emit.Emit(CallOp("add", {match.at(x), match.at(y)}));
    return Replacements{{match.at(sum), CallOp("add", {inner, match.at(y)})}};
  };
  EXPECT_THAT(Rewritten(body, context, grow), HasSubstr("and still does"));
}

TEST(RewriteBindingsTest, ReplacementsAreOfWhatTheBlockBinds) {
  const Twice twice;
  const std::string body = R"(
    with R.dataflow():
        a = R.negative(x)
        gv = R.negative(a)
        R.output(gv)
    return gv
)";
  const auto parameter = [&](const Match& match, Emitter&) {
    return Replacements{{match.at(twice.x), match.at(twice.outer)}};
  };
  EXPECT_THAT(Rewritten(body, twice.context, parameter),
              HasSubstr("does not bind"));
  const auto itself = [&](const Match& match, Emitter&) {
    return Replacements{
        {match.at(twice.outer), CallOp("exp", {match.at(twice.outer)})}};
  };
  EXPECT_THAT(Rewritten(body, twice.context, itself),
              HasSubstr("what the rule gives for gv uses it"));
  const auto nothing = [&](const Match&, Emitter&) { return Replacements(); };
  EXPECT_THAT(Rewritten(body, twice.context, nothing),
              HasSubstr("a = R.negative(x)"));
}

}  // namespace
}  // namespace kiln
