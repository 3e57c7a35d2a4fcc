// Models as text with parameters and dimensions bound: what becomes constant,
// what stays open and at which sizes it is sampled, and which bindings are
// refused.
#include "kiln/tools/support/bind_flags.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/vm/ndarray/npz.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kModel[] = R"(
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), w: R.Tensor((2, 2), "float32")):
        v = R.permute_dims(w)
        y = R.matmul(x, v)
        return y
)";

Module Read(const std::string& text) {
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  KILN_EXPECT_OK(module);
  return module.ok() ? *std::move(module) : Module();
}

// A file with one array, 1 2 3 4 of the shape.
std::string FileWith(const std::string& name, std::vector<int64_t> shape) {
  absl::StatusOr<NDArray> array = NDArray::Empty(shape, DType::Float(32));
  KILN_EXPECT_OK(array);
  for (int64_t i = 0; i < array->num_elements(); ++i) {
    array->data_as<float>()[i] = static_cast<float>(i + 1);
  }
  const std::string path = testing::TempDir() + "/weights.npz";
  KILN_EXPECT_OK(WriteNpz({{name, *array}}, path));
  return path;
}

TEST(BindFlagsTest, ParametersBecomeConstantsAndDimensionsNumbers) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Module bound, Bound(Read(kModel), {FileWith("w", {2, 2}), {"n=3"}}));
  KILN_ASSERT_OK_AND_ASSIGN(bound, RunGraphPasses(bound, {"fold_constants"}));
  const Module wanted = Read(R"(
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3, 2), "float32")):
        y = R.matmul(x, R.const([[1.0, 3.0], [2.0, 4.0]], "float32"))
        return y
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Module inferred,
                            RunGraphPasses(wanted, {"infer"}));
  EXPECT_EQ(FirstDifference(bound, inferred).value_or(""), "");
}

TEST(BindFlagsTest, WhatFitsNothingIsRefused) {
  const auto error = [](const Bindings& bindings) {
    return std::string(Bound(Read(kModel), bindings).status().message());
  };
  EXPECT_THAT(error({FileWith("u", {2, 2}), {}}),
              HasSubstr("no parameter called u"));
  EXPECT_THAT(error({FileWith("w", {2, 3}), {}}),
              HasSubstr("parameter w is R.Tensor((2, 2)"));
  EXPECT_THAT(error({"/nowhere.npz", {}}), HasSubstr("/nowhere.npz"));
  EXPECT_THAT(error({"", {"m=3"}}), HasSubstr("no dimension called m"));
  EXPECT_THAT(error({"", {"n=3", "n=4"}}), HasSubstr("gives n twice"));
  for (const char* dim : {"n", "n=", "n=-1", "=3", "n=x"}) {
    EXPECT_THAT(error({"", {dim}}), HasSubstr(dim));
  }
}

constexpr char kTwoDims[] = R"(
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        y = R.exp(x)
        return y
)";

TEST(BindFlagsTest, DimensionsWithSeveralSizesStayOpen) {
  const Module module = Read(kTwoDims);
  const Bindings bindings = {.dims = {"n=1", "16", "m=4", "128"},
                             .samples = true};
  EXPECT_THAT(SampledSizes(module, bindings),
              IsOkAndHolds(ElementsAre(DimValues{{"n", 1}, {"m", 4}},
                                       DimValues{{"n", 16}, {"m", 128}})));
  KILN_ASSERT_OK_AND_ASSIGN(const Module bound, Bound(module, bindings));
  EXPECT_EQ(FirstDifference(bound, module).value_or(""), "");
  EXPECT_THAT(
      SampledSizes(module, {.dims = {"n=1", "16", "m=4"}}),
      IsOkAndHolds(ElementsAre(DimValues{{"n", 1}}, DimValues{{"n", 16}})));
  EXPECT_THAT(SampledSizes(module, {.dims = {"n=1", "m=4"}}),
              IsOkAndHolds(IsEmpty()));
}

TEST(BindFlagsTest, SeveralSizesAreRefusedWhereTheyDoNotFit) {
  const Module module = Read(kTwoDims);
  EXPECT_THAT(Bound(module, {.dims = {"n=1", "16"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("n several sizes; tune")));
  EXPECT_THAT(Bound(module, {.dims = {"k=1", "16"}, .samples = true}),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("no dimension called k")));
  EXPECT_THAT(
      SampledSizes(module, {.dims = {"n=1", "2", "m=1", "2", "3"}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("side by side")));
  EXPECT_THAT(Bound(module, {.dims = {"16", "n=1"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--bind 16 is no dimension")));
}

TEST(BindFlagsTest, TensorFunctionsAreSampledAtOneSizeToo) {
  const Module module = Read(R"(
@T.prim_func
def main(a: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        with T.block("A"):
            vi = T.axis.spatial(n, i)
            A[vi] = T.float32(0)
)");
  const Bindings bindings = {.dims = {"n=3"}, .samples = true};
  KILN_EXPECT_OK(Bound(module, bindings));
  EXPECT_THAT(SampledSizes(module, bindings),
              IsOkAndHolds(ElementsAre(DimValues{{"n", 3}})));
}

TEST(BindFlagsTest, ModulesNameTheirFunction) {
  const std::string two = R"(
@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        return x
    @R.function
    def g(x: R.Tensor(("n",), "float32")):
        return x
)";
  EXPECT_THAT(Bound(Read(two), {"", {"n=3"}}).status().message(),
              HasSubstr("the module has 2"));
}

}  // namespace
}  // namespace kiln
