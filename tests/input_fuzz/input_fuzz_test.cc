// Damaged inputs of each kind; `input_fuzz --inputs 1 --seed S --kind K` tries
// one again.
#include <gtest/gtest.h>

#include "kiln/tests/fuzz/sandbox.h"
#include "kiln/tests/input_fuzz/try_input.h"

namespace kiln {
namespace {

constexpr uint64_t kInputs = 8000;

TEST(InputFuzzTest, DamagedInputsAreRefusedOrAccepted) {
  InstallCrashReport(60);
  const InputFuzzer fuzzer(20);
  int texts = 0, messages = 0, executables = 0, models = 0;
  for (uint64_t seed = 1; seed <= kInputs; ++seed) {
    SetCurrentTask(seed);
    texts += fuzzer.TryText(seed);
    messages += fuzzer.TryMessage(seed);
    executables += fuzzer.TryExecutable(seed);
    models += fuzzer.TryModel(seed);
  }
  // Both happen, or the damage is none or too much.
  EXPECT_GT(texts, kInputs / 50);
  EXPECT_GT(messages, kInputs / 50);
  EXPECT_GT(executables, kInputs / 50);
  EXPECT_GT(models, kInputs / 50);
  EXPECT_LT(texts + messages + executables + models, 3 * kInputs);
}

}  // namespace
}  // namespace kiln
