#include "kiln/codegen/llvm/combine_horizontal_adds.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::codegen_internal {
namespace {

std::string Str(int i) { return std::to_string(i); }

// Sums of `lanes` lanes, one after another, as they come out of lowering.
class Sums {
 public:
  explicit Sums(int lanes, const std::string& type = "float")
      : lanes_(lanes), type_(type) {}

  // The sum of vector `i` into element i; `order` is that of its last lanes.
  void Add(int i, bool from_zero = true, const std::string& order = "0123") {
    const std::string z = "%z" + Str(i), y = "%y" + Str(i) + "_";
    loads_ += z + " = load " + Wide() + ", ptr %z, align 4\n";
    std::string sum;
    for (int block = 0; block < lanes_ / 4; ++block) {
      const std::string part = y + "b" + Str(block);
      Line(part + " = shufflevector " + Wide() + " " + z + ", " + Wide() +
           " poison, <4 x i32> <" + Mask(block * 4) + ">");
      if (block == 0 && !from_zero) {
        sum = part;
        continue;
      }
      const std::string next = y + "s" + Str(block);
      Line(next + " = fadd contract <4 x " + type_ + "> " + part + ", " +
           (sum.empty() ? "zeroinitializer" : sum));
      sum = next;
    }
    std::string total;
    for (int lane = 0; lane < 4; ++lane) {
      const std::string e = y + "e" + Str(lane), next = y + "t" + Str(lane);
      Line(e + " = extractelement <4 x " + type_ + "> " + sum + ", i64 " +
           order[lane]);
      if (lane > 0) {
        Line(next + " = fadd contract " + type_ + " " +
             (lane == 1 ? y + "e0" : total) + ", " + e);
        total = next;
      }
    }
    stores_ += "%p" + Str(i) + " = getelementptr " + type_ + ", ptr %c, i64 " +
               Str(i) + "\nstore " + type_ + " " + total + ", ptr %p" + Str(i) +
               "\n";
  }

  // What is added from here on comes after what was added before.
  void NextVectors() {
    loads_ += code_;
    code_.clear();
  }

  // How many operations on floating-point numbers are left.
  int AddsAfter() {
    llvm::LLVMContext context;
    llvm::SMDiagnostic error;
    const std::string text = "define void @f(ptr %z, ptr %c) {\n" + loads_ +
                             code_ + stores_ + "ret void\n}\n";
    const auto module = llvm::parseAssemblyString(text, error, context);
    EXPECT_TRUE(module) << error.getMessage().str() << text;
    if (!module) return -1;
    llvm::Function& f = *module->getFunction("f");
    CombineHorizontalAdds(f);
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    int adds = 0;
    for (const llvm::Instruction& i : llvm::instructions(f)) {
      adds += i.getOpcode() == llvm::Instruction::FAdd;
    }
    return adds;
  }

 private:
  void Line(const std::string& line) { code_ += line + "\n"; }
  std::string Wide() const { return "<" + Str(lanes_) + " x " + type_ + ">"; }
  static std::string Mask(int from) {
    std::string mask;
    for (int i = 0; i < 4; ++i) {
      mask += std::string(i ? ", " : "") + "i32 " + Str(from + i);
    }
    return mask;
  }

  int lanes_;
  std::string type_;
  std::string loads_, code_, stores_;
};

TEST(CombineHorizontalAddsTest, FourSumsTakeTheAdditionsOfOne) {
  for (const bool from_zero : {false, true}) {
    for (const int lanes : {8, 16}) {
      Sums sums(lanes);
      for (int i = 0; i < 4; ++i) sums.Add(i, from_zero);
      EXPECT_EQ(sums.AddsAfter(), lanes / 4 - 1 + from_zero + 3) << lanes;
    }
  }
}

TEST(CombineHorizontalAddsTest, GroupsHaveThreeOrFour) {
  const int one = 4 + 3;
  for (const auto& [count, adds] : {std::pair{2, 2 * one},
                                    {3, one},
                                    {5, one + 2 * one},
                                    {6, 2 * one},
                                    {12, 3 * one}}) {
    Sums sums(16);
    for (int i = 0; i < count; ++i) sums.Add(i);
    EXPECT_EQ(sums.AddsAfter(), adds) << count;
  }
}

TEST(CombineHorizontalAddsTest, VectorsThatAreKnownTooLateStay) {
  Sums sums(16);
  for (int i = 0; i < 4; ++i) {
    sums.Add(i);
    sums.NextVectors();
  }
  EXPECT_EQ(sums.AddsAfter(), 4 * 7);
}

TEST(CombineHorizontalAddsTest, OtherOrdersStay) {
  Sums sums(16);
  for (int i = 0; i < 4; ++i) sums.Add(i, true, "0132");
  EXPECT_EQ(sums.AddsAfter(), 4 * 7);
}

TEST(CombineHorizontalAddsTest, TheFirstTwoLanesMayComeInEitherOrder) {
  Sums sums(16, "double");
  for (int i = 0; i < 4; ++i) sums.Add(i, true, "1023");
  EXPECT_EQ(sums.AddsAfter(), 7);
}

}  // namespace
}  // namespace kiln::codegen_internal
