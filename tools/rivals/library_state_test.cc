#include "kiln/tools/rivals/library_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LibraryState State(const char* core) {
  return {"OpenBLAS", "0.3", core, LevelOfOpenBlasCore(core), 2};
}

TEST(LibraryStateTest, ALibraryBelowTheProcessorIsRefused) {
  EXPECT_THAT(CheckRunsAt(IsaLevel::kAvx512, State("Haswell")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("OpenBLAS 0.3"), HasSubstr("Haswell"),
                             HasSubstr("AVX2"), HasSubstr("AVX-512"))));
  EXPECT_FALSE(CheckRunsAt(IsaLevel::kAvx2, State("Prescott")).ok());
  EXPECT_FALSE(CheckRunsAt(IsaLevel::kAvx2, State("Sandybridge")).ok());
  KILN_EXPECT_OK(CheckRunsAt(IsaLevel::kAvx, State("unheard of")));
}

TEST(LibraryStateTest, ALibraryAtTheProcessorsLevelIsCompared) {
  KILN_EXPECT_OK(CheckRunsAt(IsaLevel::kAvx512, State("SkylakeX")));
  KILN_EXPECT_OK(CheckRunsAt(IsaLevel::kAvx512, State("sapphirerapids")));
  KILN_EXPECT_OK(CheckRunsAt(IsaLevel::kAvx2, State("Zen")));
  KILN_EXPECT_OK(CheckRunsAt(IsaLevel::kBaseline, State("Prescott")));
}

// Of this process: the libraries tell what they are.
TEST(LibraryStateTest, LibrariesTellTheirVersionAndKernels) {
  for (const LibraryState& state : {OpenBlasState(), OneDnnState()}) {
    EXPECT_THAT(state.version, testing::ContainsRegex("[0-9]+\\.[0-9]+"));
    EXPECT_FALSE(state.core.empty()) << state.name;
    EXPECT_GE(state.threads, 1);
  }
}

TEST(LibraryStateTest, TheSetupNamesWhoIsNotCompared) {
  Machine machine;
  machine.cpu = "A \"B\"";
  const std::string json = JsonSetup(machine, IsaLevel::kAvx512,
                                     {State("SkylakeX"), State("Prescott")});
  EXPECT_THAT(json, HasSubstr("\"cpu\":\"A \\\"B\\\"\""));
  EXPECT_THAT(json, HasSubstr("\"core\":\"SkylakeX\",\"isa\":\"AVX-512\","
                              "\"threads\":2,\"compared\":true"));
  EXPECT_THAT(json, HasSubstr("\"core\":\"Prescott\",\"isa\":\"no AVX\","
                              "\"threads\":2,\"compared\":false"));
  EXPECT_THAT(SetupLines(machine, IsaLevel::kAvx512, {State("SkylakeX")}),
              HasSubstr("OpenBLAS 0.3: kernels for SkylakeX (AVX-512)"));
}

TEST(LibraryStateTest, NamesTheCoreThatOpenBlasShouldHaveChosen) {
  const LibraryState zen = {"OpenBLAS", "0.3.21", "Zen",
                            LevelOfOpenBlasCore("Zen"), 1};
  EXPECT_EQ(BetterOpenBlasCore(IsaLevel::kAvx512, zen), "SKYLAKEX");
  EXPECT_EQ(BetterOpenBlasCore(IsaLevel::kAvx2, zen), "");
  EXPECT_EQ(LevelOfOpenBlasCore("SKYLAKEX"), IsaLevel::kAvx512);
  EXPECT_EQ(LevelOfOpenBlasCore("prescott"), IsaLevel::kBaseline);
  const LibraryState later = State("Zen9");
  EXPECT_EQ(later.level, IsaLevel::kUnknown);
  KILN_EXPECT_OK(CheckRunsAt(IsaLevel::kAvx512, later));
  EXPECT_EQ(BetterOpenBlasCore(IsaLevel::kAvx512, later), "");
  EXPECT_EQ(LevelOfOpenBlasCore("HASWELL"), IsaLevel::kAvx2);
}

TEST(LibraryStateTest, ATargetLimitsTheLibraries) {
  EXPECT_EQ(IsaOf(kAvxRegisters, /*fma=*/true), IsaLevel::kAvx2);
  EXPECT_EQ(IsaOf(kAvxRegisters, /*fma=*/false), IsaLevel::kAvx);
  EXPECT_THAT(LimitedTo(IsaOf(kSseRegisters, /*fma=*/false)),
              testing::ElementsAre("OPENBLAS_CORETYPE=NEHALEM",
                                   "ONEDNN_MAX_CPU_ISA=SSE41"));
  KILN_EXPECT_OK(CheckIsLimitedTo(IsaLevel::kAvx2, State("Haswell")));
  EXPECT_THAT(CheckIsLimitedTo(IsaLevel::kAvx2, State("SkylakeX")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not the target's (AVX2)")));
}

}  // namespace
}  // namespace kiln::bench
