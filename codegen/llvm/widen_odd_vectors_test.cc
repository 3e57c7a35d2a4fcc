// Functions as LLVM's text, before and after, for processors with masked
// accesses (AVX-512, AVX2) and without (SSE). What comes out also has to pass
// LLVM's own verifier:
//
//   load <7 x float>, ptr %a    →    @llvm.masked.load.v8f32 of %a
#include "kiln/codegen/llvm/widen_odd_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "kiln/codegen/llvm/machine_for_tests.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::codegen_internal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What becomes of a function @f, as text; "invalid" where LLVM's verifier finds
// a fault in it.
std::string Widened(const std::string& text,
                    const std::string& cpu = "skylake-avx512") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const auto module = llvm::parseAssemblyString(text, error, context);
  if (!module) return "unread: " + error.getMessage().str();
  const auto machine = MachineForTests(cpu);
  module->setDataLayout(machine->createDataLayout());
  llvm::Function& f = *module->getFunction("f");
  f.addFnAttr("target-cpu", cpu);
  WidenOddVectors(f, machine->getTargetTransformInfo(f));
  if (llvm::verifyFunction(f, &llvm::errs())) return "invalid";
  std::string out;
  llvm::raw_string_ostream stream(out);
  f.print(stream);
  return out;
}

// C[0:7] = x * A[0:7] + C[0:7], of LANES lanes.
std::string Axpy(const std::string& lanes) {
  return absl::StrReplaceAll(R"(
define void @f(ptr %a, ptr %c, float %x) {
  %one = insertelement <LANES x float> poison, float %x, i64 0
  %all = shufflevector <LANES x float> %one, <LANES x float> poison, <LANES x i32> zeroinitializer
  %y = load <LANES x float>, ptr %a, align 4
  %z = load <LANES x float>, ptr %c, align 4
  %p = fmul contract <LANES x float> %all, %y
  %s = fadd contract <LANES x float> %p, %z
  store <LANES x float> %s, ptr %c, align 4
  ret void
})",
                             {{"LANES", lanes}});
}

TEST(WidenOddVectorsTest, SevenLanesBecomeEightBetweenMaskedAccesses) {
  for (const char* cpu : {"skylake-avx512", "haswell"}) {
    const std::string out = Widened(Axpy("7"), cpu);
    EXPECT_THAT(out, Not(HasSubstr("load <7 x float>"))) << cpu;
    EXPECT_THAT(out, HasSubstr("fmul contract <8 x float>")) << cpu;
    EXPECT_THAT(out, HasSubstr("@llvm.masked.load.v8f32")) << cpu;
    EXPECT_THAT(out, HasSubstr("i1 true, i1 false>")) << cpu;
  }
  EXPECT_THAT(Widened(Axpy("7")), HasSubstr("@llvm.masked.store.v8f32"));
}

// Processors without registers for masks take long for masked stores.
// Seven lanes that are added to seven, or to the first seven of sixteen.
TEST(WidenOddVectorsTest, FewLanesBesideRegistersOf64BytesFillOneToo) {
  constexpr char kText[] = R"(
define void @f(ptr %a, ptr %c) "prefer-vector-width"="512" {
  %y = load <7 x float>, ptr %a, align 4
  %b = fcmp olt <7 x float> %y, zeroinitializer
  %z = select <7 x i1> %b, <7 x float> zeroinitializer, <7 x float> %y
  store <7 x float> %z, ptr %c, align 4
  %w = load <LANES x float>, ptr %c, align 4
  store <LANES x float> %w, ptr %a, align 4
  ret void
})";
  const auto beside = [&](const char* lanes) {
    return Widened(absl::StrReplaceAll(kText, {{"LANES", lanes}}));
  };
  EXPECT_THAT(beside("16"), HasSubstr("@llvm.masked.store.v16f32"));
  EXPECT_THAT(beside("16"), HasSubstr("select <16 x i1>"));
  EXPECT_THAT(beside("16"), Not(HasSubstr("<8 x ")));
  EXPECT_THAT(beside("8"), HasSubstr("@llvm.masked.store.v8f32"));
  EXPECT_THAT(beside("4"), HasSubstr("select <8 x i1>"));
  // Not where they are most of it: two loads and three sums.
  constexpr char kMore[] = R"(
  %u = load <7 x float>, ptr %a, align 4
  %v = fadd <7 x float> %u, %u
  %x = fadd <7 x float> %v, %u
  store <7 x float> %x, ptr %c, align 4
  ret void
})";
  EXPECT_THAT(Widened(absl::StrReplaceAll(
                  kText, {{"LANES", "16"}, {"\n  ret void\n}", kMore}})),
              HasSubstr("select <8 x i1>"));
}

TEST(WidenOddVectorsTest, StoresAreMaskedWhereMasksHaveRegisters) {
  const std::string out = Widened(Axpy("7"), "haswell");
  EXPECT_THAT(out, HasSubstr("store <7 x float>"));
  EXPECT_THAT(out, Not(HasSubstr("masked.store")));
}

TEST(WidenOddVectorsTest, ThirteenLanesBecomeSixteen) {
  EXPECT_THAT(Widened(Axpy("13")), HasSubstr("@llvm.masked.load.v16f32"));
}

// 16 + 4 lanes fill a register and a part that has loads of its own.
TEST(WidenOddVectorsTest, PowersOfTwoAndWholeRegistersStay) {
  for (const char* lanes : {"1", "2", "8", "16", "20", "48"}) {
    EXPECT_THAT(Widened(Axpy(lanes)), Not(HasSubstr("masked"))) << lanes;
  }
  EXPECT_THAT(Widened(Axpy("23")), HasSubstr("@llvm.masked.load.v32f32"));
}

TEST(WidenOddVectorsTest, WithoutMasksNothingChanges) {
  const std::string out = Widened(Axpy("7"), "x86-64-v2");
  EXPECT_THAT(out, HasSubstr("fmul contract <7 x float>"));
  EXPECT_THAT(out, Not(HasSubstr("masked")));
}

// Elements of %x fill 8 lanes and LANES, which of two rows of C are sums.
std::string SharedAxpy(const std::string& lanes) {
  return absl::StrReplaceAll(R"(
define void @f(ptr %a, ptr %b, ptr %c, ptr %d, float %x) {
  %one = insertelement <8 x float> poison, float %x, i64 0
  %all = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
  %y = load <8 x float>, ptr %a, align 4
  %p = fmul contract <8 x float> %all, %y
  store <8 x float> %p, ptr %c, align 4
  %less = insertelement <LANES x float> poison, float %x, i64 0
  %few = shufflevector <LANES x float> %less, <LANES x float> poison, <LANES x i32> zeroinitializer
  %z = load <LANES x float>, ptr %b, align 4
  %is = fcmp olt <LANES x float> %z, %few
  %q = fmul contract <LANES x float> %few, %z
  %r = select <LANES x i1> %is, <LANES x float> %q, <LANES x float> %z
  %s = fadd contract <LANES x float> %q, %r
  store <LANES x float> %s, ptr %d, align 4
  ret void
})",
                             {{"LANES", lanes}});
}

// LLVM would keep x in registers of two sizes.
TEST(WidenOddVectorsTest, WhatSharesElementsWithRegistersIsAsWide) {
  for (const char* lanes : {"2", "3", "4"}) {
    const std::string out = Widened(SharedAxpy(lanes), "haswell");
    EXPECT_THAT(out, HasSubstr("fadd contract <8 x float>")) << out;
  }
  const std::string out = Widened(SharedAxpy("4"), "haswell");
  EXPECT_THAT(out, HasSubstr("load <4 x float>"));
  EXPECT_THAT(out, HasSubstr("store <4 x float>"));
  EXPECT_THAT(out, Not(HasSubstr("masked")));
  EXPECT_THAT(Widened(SharedAxpy("3"), "haswell"),
              HasSubstr("@llvm.masked.load.v8f32"));
}

TEST(WidenOddVectorsTest, SumsInALoopAreWideAllTheWay) {
  const std::string out = Widened(R"(
define void @f(ptr %a, ptr %c, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <3 x double> [ zeroinitializer, %entry ], [ %more, %loop ]
  %p = getelementptr double, ptr %a, i64 %i
  %y = load <3 x double>, ptr %p, align 8
  %more = call <3 x double> @llvm.fma.v3f64(<3 x double> %y, <3 x double> <double 1.0, double 2.0, double 3.0>, <3 x double> %sum)
  %next = add i64 %i, 3
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end
end:
  store <3 x double> %more, ptr %c, align 8
  ret void
}
declare <3 x double> @llvm.fma.v3f64(<3 x double>, <3 x double>, <3 x double>)
)");
  EXPECT_THAT(out, HasSubstr("phi <4 x double>"));
  EXPECT_THAT(out, HasSubstr("@llvm.fma.v4f64"));
  EXPECT_THAT(out, HasSubstr("double 3.000000e+00, double poison"));
  EXPECT_THAT(out, Not(HasSubstr("<3 x double>")));
}

TEST(WidenOddVectorsTest, ComparisonsChoicesAndConversionsAreWideToo) {
  const std::string out = Widened(R"(
define void @f(ptr %a, ptr %c) {
  %y = load <7 x i32>, ptr %a, align 4
  %less = icmp slt <7 x i32> %y, zeroinitializer
  %z = select <7 x i1> %less, <7 x i32> zeroinitializer, <7 x i32> %y
  %g = sitofp <7 x i32> %z to <7 x float>
  store <7 x float> %g, ptr %c, align 4
  ret void
})");
  EXPECT_THAT(out, HasSubstr("select <8 x i1>"));
  EXPECT_THAT(out, HasSubstr("to <8 x float>"));
  EXPECT_THAT(out, Not(HasSubstr("<7 x")));
}

// A division by the zero of a lane that nobody asked for would trap.
TEST(WidenOddVectorsTest, DivisionsOfIntegersStay) {
  const std::string out = Widened(R"(
define void @f(ptr %a, ptr %c) {
  %y = load <7 x i32>, ptr %a, align 4
  %z = load <7 x i32>, ptr %c, align 4
  %q = sdiv <7 x i32> %y, %z
  store <7 x i32> %q, ptr %c, align 4
  ret void
})");
  EXPECT_THAT(out, HasSubstr("sdiv <7 x i32>"));
  EXPECT_THAT(out, HasSubstr("@llvm.masked.store.v8i32"));
}

TEST(WidenOddVectorsTest, ReadersOfSingleLanesReadTheFirstOnes) {
  const std::string out = Widened(R"(
define float @f(ptr %a) {
  %y = load <3 x float>, ptr %a, align 4
  %last = extractelement <3 x float> %y, i64 2
  ret float %last
})");
  EXPECT_THAT(out, HasSubstr("@llvm.masked.load.v4f32"));
  EXPECT_THAT(out, HasSubstr("extractelement <3 x float>"));
}

TEST(WidenOddVectorsTest, VolatileAccessesStay) {
  const std::string out = Widened(R"(
define void @f(ptr %a) {
  %y = load volatile <7 x float>, ptr %a, align 4
  store volatile <7 x float> %y, ptr %a, align 4
  ret void
})");
  EXPECT_THAT(out, HasSubstr("load volatile <7 x float>"));
  EXPECT_THAT(out, HasSubstr("store volatile <7 x float>"));
}

}  // namespace
}  // namespace kiln::codegen_internal
