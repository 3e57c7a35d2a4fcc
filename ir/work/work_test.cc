#include "kiln/ir/work/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/work/counting_interpreter.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Work WorkOf(const std::string& spec) {
  const absl::StatusOr<Module> module = MakeWorkload(spec);
  EXPECT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Work> work = CountWork(module->functions[0]);
  EXPECT_TRUE(work.ok()) << work.status();
  return *work;
}

void ExpectExact(const Work& work) {
  EXPECT_TRUE(work.flop.exact);
  EXPECT_TRUE(work.needed_flop.exact);
  EXPECT_TRUE(work.bytes_read.exact);
  EXPECT_TRUE(work.bytes_written.exact);
}

void ExpectWhatRunningCounts(const Function& f, const std::string& what) {
  SCOPED_TRACE(what);
  KILN_ASSERT_OK_AND_ASSIGN(const Work work, CountWork(f));
  const Work truth = CountByRunning(f);
  EXPECT_EQ(work.flop.value, truth.flop.value);
  EXPECT_EQ(work.needed_flop.value, truth.needed_flop.value);
  EXPECT_EQ(work.bytes_read.value, truth.bytes_read.value);
  EXPECT_EQ(work.bytes_written.value, truth.bytes_written.value);
  ExpectExact(work);
}

Function Parsed(const std::string& body) {
  absl::StatusOr<Module> module = ParseModule("m.py", body);
  EXPECT_TRUE(module.ok()) << module.status();
  return module->functions[0];
}

TEST(WorkTest, OfNamedWorkloadsIsWhatRunningThemCounts) {
  for (const char* spec : {"gmm:3,4,5",
                           "gmm:2,3,4,5",
                           "c1d:9,3,4,3,2,1",
                           "c1d:7,2,3,5,1,2",
                           "c1d:8,2,3,1,2,0",
                           "c2d:7,5,2,3,3,1,1",
                           "c2d:8,9,2,3,3,2,1",
                           "c2d:5,6,2,2,4,3,2",
                           "c2d:6,6,3,2,1,1,0",
                           "c3d:3,4,5,2,2,3,1,1",
                           "c3d:4,4,3,1,2,2,2,1",
                           "dep:7,6,3,3,2,1",
                           "dep:5,5,2,5,1,2",
                           "dil:9,8,2,2,3,1,2,2",
                           "dil:7,7,1,2,3,2,3,3",
                           "grp:6,5,4,6,3,1,1,2",
                           "grp:5,5,3,3,3,2,1,3",
                           "t2d:4,4,3,2,4,2,1",
                           "t2d:3,5,2,2,3,1,1",
                           "t2d:4,3,2,2,3,3,0",
                           "t2d:3,3,1,2,5,2,2",
                           "cap:4,5,2,2,3,2,1",
                           "cap:3,3,1,2,3,1,1",
                           "nrm:5,7",
                           "sfm:4,9",
                           "cbr:5,6,2,3,3,2,1",
                           "cbr:4,4,2,2,1,2,0",
                           "tbg:4,2,3"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(spec));
    ExpectWhatRunningCounts(module.functions[0], spec);
  }
}

TEST(WorkTest, EveryNamedShapeIsCountedExactly) {
  for (const WorkloadInfo& info : Workloads()) {
    for (const auto& shape : info.shapes) {
      std::string spec = info.name;
      for (size_t i = 0; i < shape.size(); ++i) {
        absl::StrAppend(&spec, i ? "," : ":", shape[i]);
      }
      SCOPED_TRACE(spec);
      ExpectExact(WorkOf(spec));
    }
  }
}

TEST(WorkTest, AProductCountsTwoForAMultiplyAddAndEachElementOnce) {
  const Work work = WorkOf("gmm:512,256,128");
  EXPECT_EQ(work.flop.value, 2.0 * 512 * 256 * 128);
  EXPECT_EQ(work.needed_flop.value, work.flop.value);
  EXPECT_EQ(work.bytes_read.value, 4.0 * (512 * 128 + 128 * 256));
  EXPECT_EQ(work.bytes_written.value, 4.0 * 512 * 256);
}

TEST(WorkTest, InsertedZerosNeedNoWork) {
  const Work work = WorkOf("t2d:4,4,512,256,4,2,1");
  EXPECT_EQ(work.flop.value, 2.0 * 8 * 8 * 16 * 512 * 256);
  // In each direction, 14 pairs of an output and a tap meet an input.
  EXPECT_EQ(work.needed_flop.value, 2.0 * 14 * 14 * 512 * 256);
}

constexpr char kAttention[] = R"(
@T.prim_func
def main(Q: T.Buffer((5, 4), "float32"), K: T.Buffer((5, 4), "float32"), V: T.Buffer((5, 4), "float32"), O: T.Buffer((5, 4), "float32")):
    S = T.alloc_buffer((5, 5), "float32")
    M = T.alloc_buffer((5,), "float32")
    E = T.alloc_buffer((5, 5), "float32")
    for i, j, k in T.grid(5, 5, 4):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.where(j <= i)
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + Q[vi, vk] * K[vj, vk]
    for i, j in T.grid(5, 5):
        with T.block("M"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.where(j <= i)
            with T.init():
                M[vi] = T.float32(-1e30)
            M[vi] = T.max(M[vi], S[vi, vj] * T.float32(0.5))
    for i, j in T.grid(5, 5):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = T.if_then_else(vj <= vi, T.exp(S[vi, vj] - M[vi]), T.float32(0))
    for i, d, j in T.grid(5, 4, 5):
        with T.block("O"):
            vi, vd, vj = T.axis.remap("SSR", [i, d, j])
            with T.init():
                O[vi, vd] = T.float32(0)
            O[vi, vd] = O[vi, vd] + E[vi, vj] * V[vj, vd]
)";

constexpr char kLayerNorm[] = R"(
@T.prim_func
def main(X: T.Buffer((3, 8), "float32"), G: T.Buffer((8,), "float32"), Y: T.Buffer((3, 8), "float32")):
    S = T.alloc_buffer((3,), "float32")
    Q = T.alloc_buffer((3,), "float32")
    for i, j in T.grid(3, 8):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = T.float32(0)
                Q[vi] = T.float32(0)
            S[vi] = S[vi] + X[vi, vj]
            Q[vi] = Q[vi] + X[vi, vj] * X[vi, vj]
    for i, j in T.grid(3, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = (X[vi, vj] - S[vi] * T.float32(0.125)) * T.rsqrt(Q[vi]) * G[vj]
)";

constexpr char kInt8Product[] = R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "int8"), B: T.Buffer((8, 3), "int8"), C: T.Buffer((4, 3), "int32")):
    for i, j, k in T.grid(4, 3, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
)";

constexpr char kConditional[] = R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
    P = T.alloc_buffer((9,), "float32")
    for i in range(9):
        if i % 3 == 1:
            P[i] = A[i] + T.float32(1)
        else:
            P[i] = T.float32(0)
    for i in range(9):
        B[i] = P[i] * A[8 - i] + P[8 - i]
)";

constexpr char kStencil[] = R"(
@T.prim_func
def main(A: T.Buffer((9, 9), "float32"), B: T.Buffer((9, 9), "float32")):
    for i, j in T.grid(7, 7):
        B[i, j] = A[i + 1, j] + A[i, j + 1] + A[i + 1, j + 2]
)";

constexpr char kTriangle[] = R"(
@T.prim_func
def main(A: T.Buffer((6, 6), "float32"), X: T.Buffer((6,), "float32"), Y: T.Buffer((6,), "float32")):
    for i in range(6):
        for j in range(i + 1):
            Y[i] = Y[i] + A[i, j] * X[j]
)";

TEST(WorkTest, OfWrittenProgramsIsWhatRunningThemCounts) {
  for (const char* text : {kAttention, kLayerNorm, kInt8Product, kConditional,
                           kStencil, kTriangle}) {
    ExpectWhatRunningCounts(Parsed(text), text);
  }
}

TEST(WorkTest, ConditionsAndIndicesFromDataAreBoundsAndSaySo) {
  const Function f = Parsed(R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), I: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        if I[i] > 0:
            B[i] = A[I[i]] * T.float32(2)
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Work work, CountWork(f));
  EXPECT_EQ(work.flop.value, 4);
  EXPECT_FALSE(work.flop.exact);
  EXPECT_FALSE(work.bytes_read.exact);
  EXPECT_FALSE(work.bytes_written.exact);
  EXPECT_LE(work.bytes_read.value, 9 * 4 + 4 * 4);
}

// The last value is 2^60 multiplications long where all are put in.
TEST(WorkTest, ValuesOfValuesCountOnce) {
  for (const char* dtype : {"float32", "int64"}) {
    const std::string type = dtype;
    std::string body = "            x0: T." + type + " = vi\n";
    if (type == "float32") {
      body = "            x0: T.float32 = T.Cast(\"float32\", vi)\n";
    }
    for (int i = 1; i <= 60; ++i) {
      const std::string last = absl::StrCat("x", i - 1);
      absl::StrAppend(&body, "            x", i, ": T.", type, " = ", last,
                      " * ", last, "\n");
    }
    const auto f =
        ParseFunction("test", absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4,), ")",
                                           dtype, R"(")):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
)",
                                           body, "            A[vi] = x60\n"));
    ASSERT_TRUE(f.ok()) << f.status();
    const absl::StatusOr<Work> work = CountWork(*f);
    ASSERT_TRUE(work.ok()) << work.status();
    EXPECT_EQ(work->flop.value, type == "float32" ? 4 * 60 : 0);
  }
}

TEST(WorkTest, TensOfThousandsOfLoadsInOneStatementReadTheirElements) {
  std::string sum = "(A[vi] + A[vi + 1])";
  for (int i = 0; i < 14; ++i) sum = absl::StrCat("(", sum, " + ", sum, ")");
  const auto f = ParseFunction("test", absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((5,), "float32"), O: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            O[vi] = )",
                                                    sum, "\n"));
  ASSERT_TRUE(f.ok()) << f.status();
  KILN_ASSERT_OK_AND_ASSIGN(const Work work, CountWork(*f));
  EXPECT_EQ(work.bytes_read.value, 5 * 4);
  EXPECT_TRUE(work.bytes_read.exact);
}

TEST(WorkTest, ASymbolicExtentCannotBeCounted) {
  const Function f = Parsed(R"(
@T.prim_func
def main(a: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        A[i] = A[i] + T.float32(1)
)");
  EXPECT_THAT(CountWork(f).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("loop i has no constant bound")));
}

}  // namespace
}  // namespace kiln
