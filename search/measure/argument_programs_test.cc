// Programs whose accesses depend on data, and programs that update their
// arguments, from the trusted run to the timing of a candidate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/reference_task.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ArgumentProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(runner_, LocalRunner::Create());
  }

  static absl::StatusOr<Function> Parse(const std::string& params,
                                        const std::string& body) {
    return ParseFunction("test", absl::StrCat(R"(
@T.prim_func
def main()",
                                              params, "):\n", body));
  }

  // What becomes of the second program where the first one is the reference.
  absl::StatusOr<MeasureResult> Measure(const std::string& params,
                                        const std::string& reference,
                                        const std::string& candidate) {
    KILN_ASSIGN_OR_RETURN(const Function f, Parse(params, reference));
    KILN_ASSIGN_OR_RETURN(const Function g, Parse(params, candidate));
    KILN_ASSIGN_OR_RETURN(const auto task,
                          MakeReferenceTask(f, builder_, *runner_));
    KILN_ASSIGN_OR_RETURN(const BuildResult build, builder_.Build(g));
    return runner_->Measure(*task, build, {});
  }

  void ExpectMeasures(const std::string& params, const std::string& body) {
    const auto result = Measure(params, body, body);
    KILN_ASSERT_OK(result);
    EXPECT_EQ(VerdictName(result->verdict), "ok") << result->reason;
    EXPECT_GT(result->min_ns, 0);
  }

  absl::Status Reference(const std::string& params, const std::string& body) {
    KILN_ASSIGN_OR_RETURN(const Function f, Parse(params, body));
    return MakeReferenceTask(f, builder_, *runner_).status();
  }

  LlvmBuilder builder_{HostTarget()};
  std::unique_ptr<LocalRunner> runner_;
};

constexpr char kTable[] =
    R"(idx: T.Buffer((64,), "int32"), E: T.Buffer((1000, 16), "float32"), O: T.Buffer((64, 16), "float32"))";

constexpr char kEmbedding[] = R"(
    for i, j in T.grid(64, 16):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = E[idx[vi], vj]
)";

TEST_F(ArgumentProgramsTest, AnEmbedding) {
  ExpectMeasures(kTable, kEmbedding);
}

TEST_F(ArgumentProgramsTest, AnIndexPastTheLastRowIsToldByName) {
  EXPECT_THAT(
      Reference(kTable, R"(
    for i, j in T.grid(64, 16):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = E[idx[vi] + 1000, vj] + E[idx[vi], vj]
)"),
      StatusIs(absl::StatusCode::kOutOfRange,
               AllOf(HasSubstr("buffer E"), HasSubstr("dimension 0"),
                     HasSubstr("extent is 1000"), HasSubstr("--input"))));
}

TEST_F(ArgumentProgramsTest, GivenContentsAreUsed) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, Parse(kTable, kEmbedding));
  for (int32_t last : {999, 1000}) {
    ReferenceOptions options;
    CallContents& contents = options.contents.emplace();
    KILN_ASSERT_OK_AND_ASSIGN(NDArray idx,
                              NDArray::Zeros({64}, DType::Int(32)));
    idx.data_as<int32_t>()[63] = last;
    KILN_ASSERT_OK_AND_ASSIGN(NDArray e,
                              NDArray::Zeros({1000, 16}, DType::Float(32)));
    contents.buffers = {idx, e, std::nullopt};
    const auto task = MakeReferenceTask(f, builder_, *runner_, options);
    if (last < 1000) {
      KILN_EXPECT_OK(task);
    } else {
      EXPECT_THAT(task.status(), StatusIs(absl::StatusCode::kOutOfRange,
                                          HasSubstr("index 1000")));
    }
  }
}

TEST_F(ArgumentProgramsTest, AScatter) {
  ExpectMeasures(kTable, R"(
    for i, j in T.grid(64, 16):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.writes(E[0:1000, 0:16])
            E[idx[vi], vj] = O[vi, vj]
)");
}

TEST_F(ArgumentProgramsTest, AHistogram) {
  for (const char* dtype : {"int32", "uint8", "int16", "float32"}) {
    ExpectMeasures(
        absl::StrCat(R"(idx: T.Buffer((512,), "uint8"), H: T.Buffer((100,), ")",
                     dtype, "\")"),
        absl::StrCat(R"(
    for i in range(512):
        with T.block("H"):
            vi = T.axis.opaque(512, i)
            T.writes(H[0:100])
            H[idx[vi]] = H[idx[vi]] + T.)",
                     dtype, "(1)\n"));
  }
}

constexpr char kProduct[] =
    R"(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32"))";

TEST_F(ArgumentProgramsTest, ASumIntoAnArgument) {
  ExpectMeasures(kProduct, R"(
    for i, j, k in T.grid(16, 16, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
}

// Twice itself in every call would be infinite after some hundred.
TEST_F(ArgumentProgramsTest, RepeatedCallsBeginAnew) {
  ExpectMeasures(R"(X: T.Buffer((64,), "float32"))", R"(
    for i in range(64):
        with T.block("X"):
            vi = T.axis.spatial(64, i)
            X[vi] = X[vi] * X[vi] * T.float32(100)
)");
}

constexpr char kLine[] = R"(X: T.Buffer((64,), "float32"))";
constexpr char kRelu[] = R"(
    for i in range(64):
        with T.block("X"):
            vi = T.axis.spatial(64, i)
            X[vi] = T.max(X[vi], T.float32(0))
)";

TEST_F(ArgumentProgramsTest, ReluInPlace) {
  ExpectMeasures(kLine, kRelu);
  KILN_ASSERT_OK_AND_ASSIGN(const MeasureResult wrong, Measure(kLine, kRelu, R"(
    for i in range(64):
        with T.block("X"):
            vi = T.axis.spatial(64, i)
            X[vi] = T.max(X[vi], T.float32(0.5))
)"));
  EXPECT_EQ(VerdictName(wrong.verdict), "wrong_result");
}

constexpr char kTwoLines[] =
    R"(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"))";
constexpr char kInterior[] = R"(
    for i in range(62):
        with T.block("B"):
            vi = T.axis.spatial(62, i)
            B[vi + 1] = A[vi] + A[vi + 1] + A[vi + 2]
)";

TEST_F(ArgumentProgramsTest, AnInteriorLeavesTheBorder) {
  ExpectMeasures(kTwoLines, kInterior);
  KILN_ASSERT_OK_AND_ASSIGN(
      const MeasureResult wrong,
      Measure(kTwoLines, kInterior, absl::StrCat(kInterior, R"(
    for i in range(1):
        with T.block("border"):
            vi = T.axis.spatial(1, i)
            B[vi] = A[vi]
)")));
  EXPECT_EQ(VerdictName(wrong.verdict), "wrong_result");
  EXPECT_THAT(wrong.reason, HasSubstr("B[0]"));
}

TEST_F(ArgumentProgramsTest, WritesUnderAConditionLeaveTheRest) {
  ExpectMeasures(kTwoLines, R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            T.where(i < 37)
            B[vi] = A[vi]
)");
  ExpectMeasures(kTwoLines, R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            if A[vi] > T.float32(0):
                B[vi] = A[vi]
)");
}

TEST_F(ArgumentProgramsTest, TwoOutputsOneOfThemInPlace) {
  ExpectMeasures(kTwoLines, R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(64):
        with T.block("A"):
            vi = T.axis.spatial(64, i)
            A[vi] = A[vi] + B[vi]
)");
}

TEST_F(ArgumentProgramsTest, LoopsOfNoIterations) {
  ExpectMeasures(kTwoLines, R"(
    for i in range(0):
        with T.block("B"):
            vi = T.axis.spatial(0, i)
            B[vi] = A[vi]
)");
}

}  // namespace
}  // namespace kiln
