// Each pass gives a program that is well formed (once its blocks are gone) and
// means what the one before it means: verified, and interpreted on the same
// numbers, on the registers of several kinds of processors, as passes tile and
// vectorize by them.
//
//   KILN_SEED=7 KILN_COUNT=1000 bazel test //codegen/lower:each_pass_test
//
// tries other random programs; a failure names its seed and its pass.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/verify.h"

namespace kiln {
namespace {

struct Registers {
  const char* name;
  VectorRegisters vectors;
};
constexpr Registers kRegisters[] = {{"AVX-512", kAvx512Registers},
                                    {"AVX2", kAvxRegisters},
                                    {"SSE", kSseRegisters},
                                    {"NEON", kNeonRegisters}};

// Numbers for the parameters of `f`, the same whatever shape they have there.
std::vector<Tensor> Arguments(const Function& original, const Function& f,
                              uint64_t seed) {
  std::vector<Tensor> tensors = RandomInputs(original, seed);
  for (size_t i = 0; i < f.params.size(); ++i) {
    if (!f.params[i].buffer) continue;
    Tensor& tensor = tensors[i];
    const size_t rank = f.params[i].buffer->shape.size();
    if (rank != tensor.shape.size()) tensor.shape = {tensor.size()};
  }
  return tensors;
}

// Lowers `f` and judges each pass.
class Judge {
 public:
  Judge(const Function& f, const Registers& registers, uint64_t seed)
      : f_(f), registers_(registers), seed_(seed) {}

  absl::Status Run() {
    LowerOptions options;
    options.machine.vectors = registers_.vectors;
    options.verify = [this](std::string_view, const Function& before,
                            const Function& after) {
      return Compare(before, after);
    };
    const absl::Status status = Lower(f_, options).status();
    if (status.ok()) return status;
    return absl::Status(status.code(),
                        absl::StrCat(registers_.name, ", seed ", seed_, ": ",
                                     std::string(status.message())));
  }

 private:
  absl::Status Compare(const Function& before, const Function& after) {
    // Before blocks go, their regions do not hold what their inits did.
    absl::Status status;
    if (LevelOf(after) == VerifyLevel::kLowered) {
      status = VerifyFunction(after, {.level = VerifyLevel::kLowered});
    }
    if (!status.ok()) return status;
    std::vector<Tensor> expected = Arguments(f_, before, seed_);
    std::vector<Tensor> actual = Arguments(f_, after, seed_);
    status = Interpret(before, expected);
    if (status.ok()) status = Interpret(after, actual);
    if (!status.ok()) return status;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].bytes == actual[i].bytes) continue;
      return absl::InternalError(absl::StrCat(
          "tensor ", i, " differs; the program was\n", PrintFunction(before),
          "and is\n", PrintFunction(after)));
    }
    return status;
  }

  const Function& f_;
  const Registers& registers_;
  const uint64_t seed_;
};

void Check(const Function& f, uint64_t seed) {
  for (const Registers& registers : kRegisters) {
    KILN_EXPECT_OK(Judge(f, registers, seed).Run());
  }
}

TEST(EachPassTest, KeepsTiledMatmuls) {
  Check(lower::TiledMatmul({}), 1);
  Check(lower::TiledMatmul({.m = 13, .n = 70, .k = 5, .rows = 4}), 2);
  Check(lower::TiledMatmul({.decompose = false, .local_accumulator = false}),
        3);
  Check(lower::TiledMatmul({.n = 96, .vectors = 3, .lanes = 8, .k_inner = 2}),
        4);
}

TEST(EachPassTest, KeepsPaddedConvolutions) {
  Check(lower::PaddedConv(9, 20, 3, 1, 3, 8), 1);
  Check(lower::PaddedConv(7, 33, 5, 2, 7, 16), 2);
}

// Unscheduled, so that what lowering does unasked is at work.
TEST(EachPassTest, KeepsNamedWorkloads) {
  for (const char* spec :
       {"gmm:8,24,12", "c1d:16,4,20,3,2,1", "c2d:6,6,3,20,3,2,1",
        "dep:6,6,20,3,1,1", "dil:8,8,3,8,3,1,1,2", "t2d:4,4,8,6,4,2,1",
        "tbg:4,2,6"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(spec));
    SCOPED_TRACE(spec);
    Check(module.functions[0], 5);
  }
}

TEST(EachPassTest, KeepsRandomPrograms) {
  const char* given = getenv("KILN_SEED");
  const uint64_t first =
      given ? strtoull(given, nullptr, 10) : std::random_device{}();
  const char* count = getenv("KILN_COUNT");
  const int rounds = count ? atoi(count) : 60;
  RandomProgramOptions options;
  options.max_work = 1 << 9;
  for (int round = 0; round < rounds; ++round) {
    Check(RandomProgram(first + round, options), first + round);
  }
}

}  // namespace
}  // namespace kiln
