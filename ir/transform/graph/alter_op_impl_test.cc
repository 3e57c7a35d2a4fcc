// Programs that add two tensors of one dimension, by a function that has them
// in rows of four. What is computed has to stay, by the graph interpreter:
//
//   q = R.call_tir(cls.add, (e, p), ...)    cls.add_rows, on (4, 4) or padded
#include "kiln/ir/transform/graph/alter_op_impl.h"

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// out = a + b over one dimension of `extent`; `main` calls it twice.
std::string Program(const std::string& extent) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(a: T.Buffer((EXTENT,), "float32"), b: T.Buffer((EXTENT,), "float32"), out: T.Buffer((EXTENT,), "float32")):
        T.func_attr({"operator_name": "op.add"})
        for i in range(EXTENT):
            with T.block("add"):
                vi = T.axis.spatial(EXTENT, i)
                out[vi] = a[vi] + b[vi]

    @R.function
    def main(x: R.Tensor((EXTENT,), "float32"), y: R.Tensor((EXTENT,), "float32")):
        cls = Module
        with R.dataflow():
            p = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((EXTENT,), dtype="float32"))
            e = R.exp(p)
            q = R.call_tir(cls.add, (e, p), out_sinfo=R.Tensor((EXTENT,), dtype="float32"))
            R.output(q)
        return q
)";
  return absl::StrReplaceAll(kText, {{"EXTENT", extent}});
}

// The same sum over four columns.
Function InRows(int64_t rows) {
  constexpr char kText[] = R"(
@T.prim_func
def add_rows(a: T.Buffer((ROWS, 4), "float32"), b: T.Buffer((ROWS, 4), "float32"), out: T.Buffer((ROWS, 4), "float32")):
    T.func_attr({"operator_name": "op.add"})
    for i, j in T.grid(ROWS, 4):
        with T.block("add"):
            vi, vj = T.axis.remap("SS", [i, j])
            out[vi, vj] = a[vi, vj] + b[vi, vj]
)";
  return ReadModule(
             absl::StrReplaceAll(kText, {{"ROWS", std::to_string(rows)}}))
      .functions[0];
}

LayoutMap Rows() {
  const Var i("i");
  return {{i}, {FloorDiv(i, Int(4)), FloorMod(i, Int(4))}};
}

absl::StatusOr<std::string> Altered(const std::string& text,
                                    const OpImplementation& made) {
  absl::StatusOr<Module> before = InferModule(ReadModule(text));
  if (!before.ok()) return before.status();
  const auto after = AlterOpImplementations(*before, {{"op.add", made}});
  if (!after.ok()) return after.status();
  const absl::Status same = SameResults(*before, *after, 1);
  EXPECT_TRUE(same.ok()) << same << PrintModule(*after);
  return PrintModule(*after);
}

TEST(AlterOpImplTest, TensorsAreBroughtToTheLayoutAndBack) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      Altered(Program("16"), {InRows(4), {Rows(), Rows(), Rows()}}));
  EXPECT_THAT(text, HasSubstr("R.layout_transform(x, index_map="));
  EXPECT_THAT(text, HasSubstr("R.call_tir(cls.add_rows, (lv, lv_1)"));
  EXPECT_THAT(text, Not(HasSubstr("cls.add,")));
  EXPECT_THAT(text, Not(HasSubstr("remove_pad")));
}

TEST(AlterOpImplTest, EachCallHasIndicesOfItsOwn) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            InferModule(ReadModule(Program("16"))));
  const OpImplementation made{InRows(4), {Rows(), Rows(), Rows()}};
  KILN_ASSERT_OK_AND_ASSIGN(const Module after,
                            AlterOpImplementations(module, {{"op.add", made}}));
  const Module again = ReadModule(PrintModule(after));
  EXPECT_EQ(FirstDifference(again, after).value_or(""), "");
}

TEST(AlterOpImplTest, PaddingOfAResultIsCutOff) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      Altered(Program("14"), {InRows(4), {Rows(), Rows(), Rows()}}));
  EXPECT_THAT(text, HasSubstr("R.call_tir(cls.remove_pad, ("));
}

TEST(AlterOpImplTest, WithoutLayoutsOnlyTheFunctionIsAnotherOne) {
  Function other = ReadModule(Program("16")).functions[0];
  other.name = "other";
  other.attrs["note"] = Attr(std::string("faster"));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string text,
                            Altered(Program("16"), {other, {}}));
  EXPECT_THAT(text, HasSubstr("R.call_tir(cls.other, (x, y)"));
  EXPECT_THAT(text, Not(HasSubstr("layout_transform")));
}

TEST(AlterOpImplTest, OpsThatAreNotNamedStay) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            InferModule(ReadModule(Program("16"))));
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module after,
      AlterOpImplementations(module, {{"op.other", {InRows(4), {}}}}));
  EXPECT_EQ(PrintModule(after), PrintModule(module));
}

TEST(AlterOpImplTest, EachResultOfSeveralComesBack) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def two(a: T.Buffer((8,), "float32"), s: T.Buffer((8,), "float32"), d: T.Buffer((8,), "float32")):
        T.func_attr({"operator_name": "op.add"})
        for i in range(8):
            with T.block("two"):
                vi = T.axis.spatial(8, i)
                s[vi] = a[vi] + a[vi]
                d[vi] = a[vi] * a[vi]

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        t = R.call_tir(cls.two, (x,), out_sinfo=[R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")])
        return t
)";
  constexpr char kRows[] = R"(
@T.prim_func
def two_rows(a: T.Buffer((8,), "float32"), s: T.Buffer((2, 4), "float32"), d: T.Buffer((8,), "float32")):
    T.func_attr({"operator_name": "op.add"})
    for i in range(8):
        with T.block("two"):
            vi = T.axis.spatial(8, i)
            s[vi // 4, vi % 4] = a[vi] + a[vi]
            d[vi] = a[vi] * a[vi]
)";
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      Altered(kText, {ReadModule(kRows).functions[0], {{}, Rows(), {}}}));
  EXPECT_THAT(text, HasSubstr("(lv_2, lv_3)"));
}

TEST(AlterOpImplTest, LayoutsHaveToFitTheCall) {
  EXPECT_THAT(Altered(Program("16"), {InRows(4), {Rows()}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("layouts of 1 tensors, and the call is over "
                                 "3; give one for each, or none")));
  const Var i("i"), j("j");
  const LayoutMap square{{i, j}, {j, i}};
  EXPECT_THAT(Altered(Program("16"), {InRows(4), {square, square, square}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("layout 0 is of 2 dimensions")));
}

TEST(AlterOpImplTest, AResultNeedsAnInverse) {
  const Var i("i");
  const LayoutMap lost{{i}, {FloorDiv(i, Int(4)), Int(0)}};
  EXPECT_THAT(Altered(Program("16"), {InRows(4), {Rows(), Rows(), lost}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no bijection of indices")));
}

TEST(AlterOpImplTest, ExtentsOfAResultAreNumbers) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(a: T.handle, out: T.handle):
        T.func_attr({"operator_name": "op.add"})
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        O = T.match_buffer(out, (n,), "float32")
        for i in range(n):
            with T.block("add"):
                vi = T.axis.spatial(n, i)
                O[vi] = A[vi] + A[vi]

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.add, (x,), out_sinfo=R.Tensor((n,), dtype="float32"))
        return y
)";
  EXPECT_THAT(Altered(kText, {InRows(4), {Rows(), Rows()}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("alter_op_impl: main: the layout of a result "
                                 "is inverted for extents that are numbers")));
}

}  // namespace
}  // namespace kiln
