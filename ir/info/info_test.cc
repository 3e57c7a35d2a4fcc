#include "kiln/ir/info/info.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::graph {
namespace {

using ::testing::HasSubstr;

// The struct info of parameters `a`, `b`, ... of one function, which share
// their dimensions.
std::vector<StructInfo> Infos(const std::string& params) {
  absl::StatusOr<Module> m = ParseModule(
      "i.py", "@R.function\ndef f(" + params + "):\n    return a\n");
  EXPECT_TRUE(m.ok()) << m.status().message();
  std::vector<StructInfo> infos;
  if (!m.ok()) return infos;
  for (const Var& param : m->graph_functions[0]->params) {
    infos.push_back(param->info);
  }
  return infos;
}

TEST(InfoTest, ValuesFitWhatIsWantedAlwaysPerhapsOrNever) {
  const struct {
    const char* value;
    const char* wanted;
    Fit fit;
  } kCases[] = {
      {"R.Tensor((2, 3), \"float32\")", "R.Tensor(ndim=2)", Fit::kAlways},
      {"R.Tensor((2, 3), \"float32\")", "R.Tensor(ndim=3)", Fit::kNever},
      {"R.Tensor((2, 3), \"float32\")", "R.Tensor((2, 3))", Fit::kAlways},
      {"R.Tensor((2, 3))", "R.Tensor((2, 3), \"int8\")", Fit::kPerhaps},
      {"R.Tensor((2,), \"int8\")", "R.Tensor((2,), \"int32\")", Fit::kNever},
      {"R.Tensor((\"n\", 3))", "R.Tensor((2, 3))", Fit::kPerhaps},
      {"R.Tensor((\"n\", 3))", "R.Tensor((2, 4))", Fit::kNever},
      {"R.Tensor((\"n\",))", "R.Tensor((\"n + 1\",))", Fit::kNever},
      {"R.Tensor((\"n * 2\",))", "R.Tensor((\"n + n\",))", Fit::kAlways},
      {"R.Object", "R.Tensor", Fit::kPerhaps},
      {"R.Shape([2, 3])", "R.Object", Fit::kAlways},
      {"R.Shape([2, 3])", "R.Tensor", Fit::kNever},
      {"R.Shape(ndim=2)", "R.Shape([2, 3])", Fit::kPerhaps},
      {"R.Prim(\"int64\")", "R.Prim(\"float32\")", Fit::kNever},
      {"R.Tuple(R.Tensor((2,)), R.Object)", "R.Tuple(R.Tensor, R.Object)",
       Fit::kAlways},
      {"R.Tuple(R.Tensor)", "R.Tuple(R.Tensor, R.Tensor)", Fit::kNever},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(std::string(c.value) + " as " + c.wanted);
    const std::vector<StructInfo> infos = Infos(
        "a: R.Shape([\"n\"]), b: " + std::string(c.value) + ", c: " + c.wanted);
    ASSERT_EQ(infos.size(), 3u);
    Analyzer analyzer;
    EXPECT_EQ(Fits(infos[1], infos[2], analyzer), c.fit);
  }
}

TEST(InfoTest, JoinKeepsWhatHoldsOfBoth) {
  const struct {
    const char* a;
    const char* b;
    const char* joined;
  } kCases[] = {
      {"R.Tensor((2, 3), \"float32\")", "R.Tensor((2, 4), \"float32\")",
       "R.Tensor(dtype=\"float32\", ndim=2)"},
      {"R.Tensor((2, 3), \"float32\")", "R.Tensor((2, 3), \"int8\")",
       "R.Tensor((2, 3))"},
      {"R.Shape([1, 2])", "R.Shape([1])", "R.Shape(ndim=-1)"},
      {"R.Shape([1, 2])", "R.Tensor", "R.Object"},
      {"R.Tuple(R.Tensor((2,)), R.Tensor((3,)))",
       "R.Tuple(R.Tensor((2,)), R.Tensor((4,)))",
       "R.Tuple(R.Tensor((2,)), R.Tensor(ndim=1))"},
  };
  for (const auto& c : kCases) {
    const std::vector<StructInfo> infos =
        Infos("a: " + std::string(c.a) + ", b: " + c.b + ", c: " + c.joined);
    ASSERT_EQ(infos.size(), 3u);
    Analyzer analyzer;
    for (const StructInfo& joined : {Join(infos[0], infos[1], analyzer),
                                     Join(infos[1], infos[0], analyzer)}) {
      EXPECT_TRUE(SameInfo(joined, infos[2], analyzer))
          << PrintStructInfo(joined) << " is not " << c.joined;
    }
  }
}

FunctionInfo Rows(const std::vector<StructInfo>& infos) {
  return FunctionInfo(std::vector<StructInfo>{infos[0]}, infos[1], true);
}

TEST(InfoTest, ACallTellsTheDimensionsOfTheResult) {
  const std::vector<StructInfo> f =
      Infos("a: R.Tensor((\"n\", 4)), b: R.Tensor((\"n * 2\",))");
  const std::vector<StructInfo> args =
      Infos("a: R.Tensor((3, 4)), b: R.Tensor(ndim=2), c: R.Tensor((3, 5))");
  Analyzer analyzer;
  KILN_ASSERT_OK_AND_ASSIGN(const StructInfo told,
                            ResultOf(Rows(f), {args[0]}, analyzer));
  EXPECT_TRUE(SameInfo(told, Tensor({Int(6)}, DType::Void()), analyzer));
  KILN_ASSERT_OK_AND_ASSIGN(const StructInfo untold,
                            ResultOf(Rows(f), {args[1]}, analyzer));
  EXPECT_TRUE(SameInfo(untold, TensorOfRank(1, DType::Void()), analyzer));
  EXPECT_THAT(ResultOf(Rows(f), {args[2]}, analyzer),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("argument 1 is R.Tensor((3, 5))")));
  EXPECT_THAT(ResultOf(Rows(f), {}, analyzer),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("takes 1 arguments and 0 are given")));
}

TEST(InfoTest, WhatSpeaksOfForgottenVariablesIsUnknown) {
  const std::vector<StructInfo> infos =
      Infos("a: R.Tuple(R.Tensor((\"n\", 4)), R.Shape([2]))");
  const StructInfo known =
      Forget(infos[0], {[](const kiln::VarNode*) { return false; },
                        [](const VarNode*) { return true; }});
  Analyzer analyzer;
  EXPECT_TRUE(SameInfo(known,
                       Tuple({TensorOfRank(2, DType::Void()), Shape({Int(2)})}),
                       analyzer))
      << PrintStructInfo(known);
}

TEST(InfoTest, ParametersThatTellDimensionsComeFirst) {
  const kiln::Var n("n"), m("m"), k("k");
  const DType f32 = DType::Float(32);
  const std::vector<Var> params = {
      Var("a", Tensor({Mul(n, Int(2))}, f32)), Var("b", Tensor({m}, f32)),
      Var("c", Shape({n})), Var("d", Tensor({Add(k, Int(1))}, f32))};
  std::string names;
  for (const Var& param : InOrderOfDims(params)) names += param->name;
  EXPECT_EQ(names, "bcad");
}

}  // namespace
}  // namespace kiln::graph
