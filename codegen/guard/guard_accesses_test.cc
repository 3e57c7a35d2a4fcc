#include "kiln/codegen/guard/guard_accesses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<std::optional<GuardedFunction>> Guarded(
    const std::string& text) {
  KILN_ASSIGN_OR_RETURN(const Function f, ParseFunction("test", text));
  return GuardAccesses(f);
}

// Runs a function of idx: int32[4], E: float32[10, 3] and O: float32[4, 3]
// whose accesses are guarded.
absl::Status RunWith(const std::string& body, std::vector<int64_t> indices) {
  KILN_ASSIGN_OR_RETURN(const auto guarded, Guarded(R"(
@T.prim_func
def main(idx: T.Buffer((4,), "int32"), E: T.Buffer((10, 3), "float32"),
         O: T.Buffer((4, 3), "float32")):
)" + body));
  if (!guarded) return absl::InternalError("nothing is guarded");
  std::vector<Tensor> args = {Tensor(DType::Int(32), {4}),
                              Tensor(DType::Float(32), {10, 3}),
                              Tensor(DType::Float(32), {4, 3}),
                              Tensor(DType::Int(64), {kGuardReportSize})};
  for (int i = 0; i < 4; ++i) args[0].SetInt(i, indices[i]);
  KILN_RETURN_IF_ERROR(Interpret(guarded->function, args));
  return ReadGuardReport(
      *guarded, {args[3].GetInt(0), args[3].GetInt(1), args[3].GetInt(2)});
}

constexpr char kEmbedding[] = R"(
    for i, j in T.grid(4, 3):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = E[idx[vi], vj]
)";

TEST(GuardAccessesTest, WhatIsInBoundsRuns) {
  KILN_EXPECT_OK(RunWith(kEmbedding, {0, 9, 5, 5}));
}

TEST(GuardAccessesTest, TheFirstViolationIsTold) {
  EXPECT_THAT(
      RunWith(kEmbedding, {0, 9, 10, -1}),
      StatusIs(
          absl::StatusCode::kOutOfRange,
          AllOf(HasSubstr("read outside of buffer E"),
                HasSubstr("index 10 in dimension 0, whose extent is 10"))));
  EXPECT_THAT(RunWith(kEmbedding, {-7, 0, 0, 0}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("index -7")));
}

TEST(GuardAccessesTest, ARowEndInsideTheBufferIsAnEnd) {
  constexpr char kColumns[] = R"(
    for i, j in T.grid(4, 3):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = E[vi, vj + idx[vi]]
)";
  KILN_EXPECT_OK(RunWith(kColumns, {0, 0, 0, 0}));
  EXPECT_THAT(RunWith(kColumns, {0, 1, 0, 0}),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("index 3 in dimension 1, whose extent is 3")));
}

TEST(GuardAccessesTest, StoresAreGuarded) {
  constexpr char kScatter[] = R"(
    for i, j in T.grid(4, 3):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.writes(E[0:10, 0:3])
            E[idx[vi], vj] = O[vi, vj]
)";
  KILN_EXPECT_OK(RunWith(kScatter, {3, 3, 0, 9}));
  EXPECT_THAT(RunWith(kScatter, {3, 3, 0, 12}),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("written outside of buffer E: index 12")));
}

TEST(GuardAccessesTest, IndicesOfIndicesAreGuardedFirst) {
  constexpr char kTwice[] = R"(
    for i, j in T.grid(4, 3):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = E[idx[idx[vi]], vj]
)";
  KILN_EXPECT_OK(RunWith(kTwice, {3, 2, 1, 0}));
  EXPECT_THAT(RunWith(kTwice, {3, 2, 4, 0}),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("outside of buffer idx: index 4")));
}

TEST(GuardAccessesTest, WhatAConditionKeepsOutIsNoViolation) {
  constexpr char kPadded[] = R"(
    for i, j in T.grid(4, 3):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = T.if_then_else(idx[vi] * idx[vi] < 100, E[idx[vi], vj], T.float32(0))
)";
  KILN_EXPECT_OK(RunWith(kPadded, {0, -11, 10, 9}));
  EXPECT_THAT(RunWith(kPadded, {0, -11, 10, -9}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("index -9")));
}

TEST(GuardAccessesTest, NothingIsGuardedThatIsKnown) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto guarded, Guarded(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 8), "float32")
    B = T.match_buffer(b, (n, 8), "float32")
    for i, j in T.grid(n, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, 7 - vj]
)"));
  EXPECT_FALSE(guarded.has_value());
}

TEST(GuardAccessesTest, WorkloadsNeedNoGuard) {
  for (const WorkloadInfo& workload : Workloads()) {
    for (const std::vector<int64_t>& shape : workload.shapes) {
      const std::string spec =
          absl::StrCat(workload.name, ":", absl::StrJoin(shape, ","));
      KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(spec));
      KILN_ASSERT_OK_AND_ASSIGN(const auto guarded,
                                GuardAccesses(module.functions[0]));
      EXPECT_FALSE(guarded) << spec << ": " << guarded->accesses[0].access;
    }
  }
}

TEST(GuardAccessesTest, ExtentsThatDisagreeAreFound) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto guarded, Guarded(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (m,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]
)"));
  ASSERT_TRUE(guarded.has_value());
  for (int64_t m : {4, 5, 6}) {
    std::vector<Tensor> args = {Tensor(DType::Float(32), {m}),
                                Tensor(DType::Float(32), {5}),
                                Tensor(DType::Int(64), {kGuardReportSize})};
    KILN_ASSERT_OK(Interpret(guarded->function, args));
    EXPECT_EQ(args[2].GetInt(0) != 0, m < 5) << m;
  }
}

}  // namespace
}  // namespace kiln
