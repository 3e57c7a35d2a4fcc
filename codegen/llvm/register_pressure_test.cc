#include "kiln/codegen/llvm/register_pressure.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/codegen/llvm/machine_for_tests.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace kiln::codegen_internal {
namespace {

class RegisterPressureTest : public testing::Test {
 protected:
  // The entry block of a function of %a, %b and %c around `body`.
  llvm::BasicBlock& Block(const std::string& body) {
    llvm::SMDiagnostic error;
    module_ = llvm::parseAssemblyString(
        absl::StrCat("define void @f(ptr %a, ptr %b, ptr %c) {\n", body,
                     "  ret void\n}\n"),
        error, context_);
    EXPECT_TRUE(module_) << error.getMessage().str();
    return module_->getFunction("f")->getEntryBlock();
  }
  int64_t Most(const std::string& body, const std::string& cpu = "haswell") {
    llvm::BasicBlock& block = Block(body);
    const auto machine = MachineForTests(cpu);
    const llvm::TargetTransformInfo info =
        machine->getTargetTransformInfo(*block.getParent());
    const RegisterFile registers(info);
    return MostAtATime(block, registers);
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

constexpr char kTwoSums[] = R"(
  %x = load <8 x float>, ptr %a
  %y = load <8 x float>, ptr %b
  %s = fadd <8 x float> %x, %y
  %z = load <8 x float>, ptr %c
  %t = fadd <8 x float> %s, %z
  store <8 x float> %t, ptr %c
)";

TEST_F(RegisterPressureTest, ValuesLiveFromTheirStartToTheirLastUse) {
  EXPECT_EQ(Most(kTwoSums), 2);
  EXPECT_EQ(Most(std::string(kTwoSums) + "  store <8 x float> %x, ptr %a\n"),
            3);
}

TEST_F(RegisterPressureTest, AValueThatFillsTwoRegistersCountsTwice) {
  EXPECT_EQ(Most("  %x = load <16 x float>, ptr %a\n"
                 "  store <16 x float> %x, ptr %b\n"),
            2);
}

TEST_F(RegisterPressureTest, AddressesAndConstantsFillNone) {
  EXPECT_EQ(Most("  %p = getelementptr i8, ptr %a, i64 32\n"
                 "  store <8 x float> zeroinitializer, ptr %p\n"),
            0);
}

TEST_F(RegisterPressureTest, PartsOfALoadBeginWithTheLast) {
  llvm::BasicBlock& block = Block(R"(
  %e = load float, ptr %a
  %i = insertelement <8 x float> poison, float %e, i64 0
  %x = shufflevector <8 x float> %i, <8 x float> poison, <8 x i32> zeroinitializer
  %y = load <8 x float>, ptr %b
  %s = fadd <8 x float> %x, %y
)");
  auto at = block.begin();
  llvm::Instruction &element = *at++, &insert = *at++, &spread = *at++,
                    &vector = *at++, &sum = *at++;
  const auto parts = PartsOfLoad(spread);
  ASSERT_EQ(parts.size(), 3);
  EXPECT_EQ(parts[0], &spread);
  EXPECT_EQ(parts[1], &insert);
  EXPECT_EQ(parts[2], &element);
  EXPECT_EQ(PartsOfLoad(vector).size(), 1);
  EXPECT_TRUE(PartsOfLoad(sum).empty());
}

}  // namespace
}  // namespace kiln::codegen_internal
