#include "kiln/ir/graph/rewrite.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::graph {
namespace {

GraphFunction Read(const std::string& body) {
  absl::StatusOr<Module> m =
      ParseModule("g.py",
                  "@R.function\ndef f(x: R.Tensor((\"n\", 4), \"float32\")):\n"
                  "    n = T.int64()\n" +
                      body);
  EXPECT_TRUE(m.ok()) << m.status().message();
  return m.ok() ? m->graph_functions[0] : GraphFunction();
}

void ExpectSame(const Expr& got, const GraphFunction& wanted) {
  const auto form = [](const FunctionNode& f) {
    Module m;
    m.graph_functions.emplace_back(&f);
    return CanonicalForm(m);
  };
  const auto* f = got.As<FunctionNode>();
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(form(*f), form(*wanted)) << PrintGraphFunction(*f);
}

TEST(RewriteTest, WhatChangesNothingGivesTheSameNode) {
  const GraphFunction f = Read("    y = R.add(x, (x, x)[0])\n    return y\n");
  const Expr same = Rewrite(f, [](const Expr&) { return Expr(); });
  EXPECT_EQ(same.get(), f.get());
}

TEST(RewriteTest, OneBindingBecomesSeveral) {
  const GraphFunction f = Read(
      "    with R.dataflow():\n"
      "        y = R.sigmoid(x)\n"
      "        z = R.add(y, y)\n"
      "        R.output(z)\n"
      "    return z\n");
  const Expr out = RewriteBindings(f, [](const Binding& b, Emitter& emit) {
    const auto* call = b.value.As<CallNode>();
    if (!call || !call->IsOp("sigmoid")) return false;
    const Var minus = emit.Emit(CallOp("negative", {call->args[0]}));
    emit.Emit(b.var, CallOp("exp", {minus}));
    return true;
  });
  ExpectSame(out, Read("    with R.dataflow():\n"
                       "        lv = R.negative(x)\n"
                       "        y = R.exp(lv)\n"
                       "        z = R.add(y, y)\n"
                       "        R.output(z)\n"
                       "    return z\n"));
}

TEST(RewriteTest, LaterUsesReadTheReplacement) {
  const GraphFunction f =
      Read("    y = R.relu(x)\n    z = y\n    w = R.add(z, y)\n    return w\n");
  const Expr out = RewriteBindings(f, [](const Binding& b, Emitter& emit) {
    if (b.value.kind() != GraphKind::kVar) return false;
    emit.Replace(b.var, b.value);
    return true;
  });
  ExpectSame(out,
             Read("    y = R.relu(x)\n    w = R.add(y, y)\n    return w\n"));
}

TEST(RewriteTest, DimensionsAreReplacedInStructInfoAndVariablesFollow) {
  const GraphFunction f = Read(
      "    y: R.Tensor((n * 2, 4), \"float32\") = R.mine.op(x, R.shape([n]))\n"
      "    z = R.add(y, y)\n    return z\n");
  Substitution s;
  const auto* extent =
      (*f->params[0]->info.As<TensorInfo>()->extents())[0].As<kiln::VarNode>();
  s.scalars[extent] = Int(3);
  const Expr out = Substitute(f, s);
  const auto* g = out.As<FunctionNode>();
  ASSERT_NE(g, nullptr);
  EXPECT_EQ(PrintStructInfo(g->params[0]->info),
            "R.Tensor((3, 4), dtype=\"float32\")");
  EXPECT_THAT(PrintGraphFunction(*g),
              ::testing::HasSubstr("y: R.Tensor((6, 4), dtype=\"float32\") = "
                                   "R.mine.op(x, R.shape([3]))"));
  EXPECT_THAT(PrintGraphFunction(*g), ::testing::HasSubstr("R.add(y, y)"));
}

TEST(RewriteTest, ACopyBindsVariablesOfItsOwn) {
  const GraphFunction f = Read("    y = R.relu(x)\n    return y\n");
  const Expr copy = WithFreshVars(f);
  ExpectSame(copy, f);
  const auto* g = copy.As<FunctionNode>();
  EXPECT_NE(g->params[0].get(), f->params[0].get());
  EXPECT_NE(g->body.As<SeqNode>()->blocks[0].bindings[0].var.get(),
            f->body.As<SeqNode>()->blocks[0].bindings[0].var.get());
}

}  // namespace
}  // namespace kiln::graph
