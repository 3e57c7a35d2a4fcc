// Tests that run on several kinds of registers.
#ifndef KILN_TESTS_END_TO_END_EVERY_TARGET_H_
#define KILN_TESTS_END_TO_END_EVERY_TARGET_H_

#include <cctype>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Runs `scheduled` as machine code on random inputs, and compares all buffers
// with those that `f` leaves in the interpreter.
absl::Status CheckAgainstInterpreter(const Function& f,
                                     const Function& scheduled,
                                     const Target& target);

// Registers of 16, 32 and 64 bytes.
inline constexpr const char* kX86Targets[] = {
    "llvm -mcpu=x86-64-v2", "llvm -mcpu=haswell", "llvm -mcpu=skylake-avx512"};

// Tests of a target's name. Skipped where code for it does not run.
class EveryTargetTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override;
  // CheckAgainstInterpreter for the default schedule of a text's one function.
  absl::Status CheckByDefault(const std::string& text);

  Target target_;
  ThreadPool pool_;
};

// The name of a test whose parameter is a target.
template <typename T>
std::string NameOfTarget(const testing::TestParamInfo<T>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

}  // namespace kiln

#endif  // KILN_TESTS_END_TO_END_EVERY_TARGET_H_
