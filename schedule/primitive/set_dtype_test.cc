#include "kiln/schedule/primitive/set_dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;
constexpr auto kBad = absl::StatusCode::kInvalidArgument;

// A chain over a tensor of type `dtype`; `store` and `load` stand around what
// is stored and loaded.
std::string Chain(const std::string& dtype, const std::string& store,
                  const std::string& load) {
  return R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), ")" +
         dtype + R"(")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = )" +
         store + R"(A[vi] * 2)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = )" +
         load + R"(B[vi]) + A[vi]
)";
}

absl::StatusOr<Function> Set(const Function& f, const std::string& block,
                             const std::string& dtype) {
  return UnsafeSetDtype(f, BlockNamed(f, block), 0, dtype);
}

TEST(SetDtype, CastsWhatIsStoredAndLoaded) {
  const Function f = ParseProgram(Chain("int32", "(", "("));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Set(f, "B", "int64"));
  const Function expected =
      ParseProgram(Chain("int64", "T.Cast(\"int64\", ", "T.Cast(\"int32\", "));
  EXPECT_EQ(FirstDifference(g, expected), std::nullopt);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  EXPECT_EQ(f.root().alloc_buffers[0]->dtype, DType::Int(32));
}

TEST(SetDtype, ToTheSameTypeChangesNothing) {
  const Function f = ParseProgram(Chain("int32", "(", "("));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Set(f, "B", "int32"));
  EXPECT_EQ(g.body.get(), f.body.get());
}

TEST(SetDtype, ReductionsLoadAndStoreThroughCasts) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    S = T.alloc_buffer((4,))
    for i, k in T.grid(4, 8):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + A[vi, vk]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = S[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Set(f, "S", "float64"));
  KILN_EXPECT_OK(VerifyFunction(g));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(SetDtype, IndicesThatItHoldsAreCastBack) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    P = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("P"):
            vi = T.axis.spatial(8, i)
            P[vi] = T.Cast("int32", 7 - vi)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(P[0:8], A[0:8])
            T.writes(C[vi])
            C[vi] = A[P[P[vi]]]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Set(f, "P", "int8"));
  KILN_EXPECT_OK(VerifyFunction(g));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(SetDtype, RefusesWhatIsNotTheFunctionsToChoose) {
  Function f = ParseProgram(Chain("int32", "(", "("));
  EXPECT_THAT(Set(f, "C", "int8"),
              StatusIs(kRefused, HasSubstr("`C` is not allocated")));
  EXPECT_THAT(UnsafeSetDtype(f, BlockNamed(f, "B"), 1, "int8"),
              StatusIs(kRefused, HasSubstr("none with index 1")));
  EXPECT_THAT(UnsafeSetDtype(f, BlockNamed(f, "B"), -1, "int8"),
              StatusIs(kRefused, HasSubstr("none with index -1")));
  EXPECT_THAT(UnsafeSetDtype(f, 999, 0, "int8"),
              StatusIs(kRefused, HasSubstr("no block 999")));
  for (const char* dtype : {"", "float31", "handle", "int8x4", "void"}) {
    EXPECT_THAT(Set(f, "B", dtype),
                StatusIs(kBad, HasSubstr("is no type of one number")));
  }
  MakeStrict(&f);
  EXPECT_THAT(Set(f, "B", "int64"),
              StatusIs(kRefused, HasSubstr("strict numerics")));
}

TEST(SetDtype, RefusesTensorsWhoseTypeAViewOrAnAddressSays) {
  const Function view = ParseProgram(R"(
@T.prim_func
def main(C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            S = T.match_buffer(B[vi], (), offset_factor=1)
            S[()] = T.float32(1)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi]
)");
  EXPECT_THAT(Set(view, "B", "float16"),
              StatusIs(kRefused, HasSubstr("a view or an address of `B`")));
  const Function address = ParseProgram(R"(
@T.prim_func
def main(C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    with T.block("B"):
        T.reads()
        T.writes(B[0:8])
        T.evaluate(T.call_extern("int32", "fill", B.data))
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi]
)");
  EXPECT_THAT(Set(address, "B", "float16"),
              StatusIs(kRefused, HasSubstr("a view or an address of `B`")));
}

// `load` is made of elements of B, of int8, and stored as float32.
std::string Widened(const std::string& dtype, const std::string& store,
                    const std::string& load) {
  return R"(
@T.prim_func
def main(A: T.Buffer((8,), "int8"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), ")" +
         dtype + R"(")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = )" +
         store + R"(
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = )" +
         load + "\n";
}

TEST(HoistCast, TheCastMovesToTheWriter) {
  const Function f = ParseProgram(
      Widened("int8", "A[vi] * T.int8(3)", R"(T.Cast("float32", B[vi]))"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            HoistCast(f, BlockNamed(f, "B"), 0));
  const Function expected = ParseProgram(
      Widened("float32", R"(T.Cast("float32", A[vi] * T.int8(3)))", "B[vi]"));
  EXPECT_EQ(FirstDifference(g, expected), std::nullopt);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(HoistCast, OutOfChoices) {
  const Function f = ParseProgram(Widened(
      "int8", "A[vi]",
      R"(T.Cast("float32", T.if_then_else(vi < 5, B[vi + 2], T.int8(7))))"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            HoistCast(f, BlockNamed(f, "B"), 0));
  const Function expected =
      ParseProgram(Widened("float32", R"(T.Cast("float32", A[vi]))",
                           "T.if_then_else(vi < 5, B[vi + 2], T.float32(7))"));
  EXPECT_EQ(FirstDifference(g, expected), std::nullopt);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(HoistCast, RefusesWhatReadersDoNotCastAlike) {
  const auto hoist = [](const std::string& load) {
    const Function f = ParseProgram(Widened("int8", "A[vi]", load));
    return HoistCast(f, BlockNamed(f, "B"), 0).status();
  };
  const auto not_all = StatusIs(kRefused, HasSubstr("not all readers of `B`"));
  EXPECT_THAT(hoist(R"(T.Cast("float32", A[vi]))"),
              StatusIs(kRefused, HasSubstr("no reader casts")));
  EXPECT_THAT(hoist(R"(T.Cast("float32", B[vi] + A[vi]))"), not_all);
  EXPECT_THAT(hoist(R"(T.Cast("float32", B[T.Cast("int32", B[vi]) % 8]))"),
              not_all);
  EXPECT_THAT(hoist(R"(T.Cast("float32", B[vi]) * T.Cast("float32", -B[vi]))"),
              not_all);
}

TEST(HoistCast, RefusesParametersAndWrongIndices) {
  const Function f =
      ParseProgram(Widened("int8", "A[vi]", R"(T.Cast("float32", B[vi]))"));
  EXPECT_THAT(HoistCast(f, BlockNamed(f, "C"), 0),
              StatusIs(kRefused, HasSubstr("not allocated by a block")));
  EXPECT_THAT(HoistCast(f, BlockNamed(f, "B"), 1),
              StatusIs(kRefused, HasSubstr("none with index 1")));
}

}  // namespace
}  // namespace kiln
