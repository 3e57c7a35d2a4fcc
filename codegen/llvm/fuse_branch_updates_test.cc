#include "kiln/codegen/llvm/fuse_branch_updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::codegen_internal {
namespace {

struct Counts {
  bool changed = false;
  int fused = 0;
  int additions = 0;
  int products = 0;
};

bool operator==(const Counts& a, const Counts& b) {
  return a.changed == b.changed && a.fused == b.fused &&
         a.additions == b.additions && a.products == b.products;
}

void PrintTo(const Counts& counts, std::ostream* os) {
  *os << (counts.changed ? "changed" : "unchanged") << ", " << counts.fused
      << " fused, " << counts.additions << " additions, " << counts.products
      << " products";
}

Counts Count(llvm::Function& f, bool changed) {
  Counts counts{.changed = changed};
  for (const llvm::Instruction& i : llvm::instructions(f)) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    counts.fused += call && call->getIntrinsicID() == llvm::Intrinsic::fmuladd;
    counts.additions += i.getOpcode() == llvm::Instruction::FAdd;
    counts.products += i.getOpcode() == llvm::Instruction::FMul;
  }
  return counts;
}

// Of a sum %s that two branches go on with, each in its own way.
Counts AfterPass(const std::string& then, const std::string& otherwise) {
  const std::string text = absl::StrCat(
      "define float @f(i1 %c, float %s, float %a, float %b) {\n"
      "  br i1 %c, label %then, label %else\n"
      "then:\n",
      then, "  br label %end\nelse:\n", otherwise,
      "  br label %end\nend:\n"
      "  %r = phi float [ %x, %then ], [ %y, %else ]\n  ret float %r\n}\n");
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str();
  if (!module) return {};
  llvm::Function& f = *module->getFunction("f");
  const bool changed = FuseBranchUpdates(f);
  EXPECT_FALSE(llvm::verifyFunction(f, &llvm::errs()));
  return Count(f, changed);
}

constexpr char kThen[] =
    "  %p = fmul contract float %a, %b\n"
    "  %x = fadd contract float %s, %p\n";

TEST(FuseBranchUpdatesTest, BothBranchesAddAProduct) {
  EXPECT_EQ(AfterPass(kThen,
                      "  %q = fmul contract float %b, %b\n"
                      "  %y = fadd contract float %q, %s\n"),
            (Counts{true, 2, 0, 0}));
}

TEST(FuseBranchUpdatesTest, OneBranchAloneIsNotTouched) {
  EXPECT_EQ(AfterPass(kThen, "  %y = fadd contract float %s, %b\n"),
            (Counts{false, 0, 2, 1}));
}

TEST(FuseBranchUpdatesTest, WhatMayNotBeContractedIsNotTouched) {
  EXPECT_EQ(AfterPass(kThen,
                      "  %q = fmul float %b, %b\n"
                      "  %y = fadd contract float %s, %q\n"),
            (Counts{false, 0, 2, 2}));
  EXPECT_EQ(AfterPass(kThen,
                      "  %q = fmul contract float %b, %b\n"
                      "  %y = fadd float %s, %q\n"),
            (Counts{false, 0, 2, 2}));
}

TEST(FuseBranchUpdatesTest, AProductThatIsUsedOnceMoreIsNotTouched) {
  EXPECT_EQ(AfterPass(kThen,
                      "  %q = fmul contract float %b, %b\n"
                      "  %t = fadd contract float %s, %q\n"
                      "  %y = fadd contract float %t, %q\n"),
            (Counts{false, 0, 3, 2}));
}

}  // namespace
}  // namespace kiln::codegen_internal
