#include "kiln/codegen/llvm/compile.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::Not;

const DType kF32 = DType::Float(32);

class CompileTest : public testing::Test {
 protected:
  // The optimized LLVM IR of a function with the buffers A, B, C around `body`.
  std::string Ir(const Stmt& body, const Target& target = HostTarget()) {
    Function f;
    f.name = "f";
    f.next_id = 100;
    for (const Buffer& b : {a_, b_, c_}) f.params.push_back({Var(b->name), b});
    f.body = body;
    auto ir = CompileToLlvmIr(f, "f", target);
    EXPECT_TRUE(ir.ok()) << ir.status();
    return ir.ok() ? *ir : "";
  }
  Expr Lanes(const Expr& base, int64_t stride) const {
    return Ramp(base, Int(stride), 8);
  }
  Stmt Copy(const Expr& index) const {
    return MakeStore(c_, Load(a_, {index}), {Lanes(Int(0), 1)});
  }

  int64_t size_ = 1 << 20;
  Buffer a_ = MakeBuffer("A", kF32, {Int(size_)});
  Buffer b_ = MakeBuffer("B", kF32, {Int(size_)});
  Buffer c_ = MakeBuffer("C", kF32, {Int(size_)});
  Var i_{"i"}, k_{"k"};
};

TEST_F(CompileTest, ConsecutiveLanesAreOneAccess) {
  const std::string ir = Ir(Copy(Lanes(Int(16), 1)));
  EXPECT_THAT(ir, HasSubstr("load <8 x float>"));
  EXPECT_THAT(ir, HasSubstr("store <8 x float>"));
  EXPECT_THAT(ir, Not(HasSubstr("load float")));
}

TEST_F(CompileTest, LanesApartAreLoadedOneByOne) {
  EXPECT_THAT(Ir(Copy(Lanes(Int(0), 3))), HasSubstr("load float"));
}

TEST_F(CompileTest, ASquareThatIsTransposedIsLoadedByRows) {
  std::vector<Stmt> columns;
  for (int i = 0; i < 8; ++i) {
    columns.push_back(MakeStore(c_, Load(a_, {Lanes(Add(i_, Int(i)), 100)}),
                                {Lanes(Int(20 * i), 1)}));
  }
  const auto ir = [&] { return Ir(MakeFor(1, i_, Int(64), MakeSeq(columns))); };
  EXPECT_THAT(ir(), HasSubstr("shufflevector"));
  EXPECT_THAT(ir(), Not(HasSubstr("load float,")));
  columns.pop_back();
  EXPECT_THAT(ir(), HasSubstr("load float,"));
}

// Calls prove it, and copy what does not lie so (vm/packed/loaded_kernel.h).
TEST_F(CompileTest, BuffersDoNotAlias) {
  EXPECT_THAT(Ir(Copy(Lanes(Int(0), 1))), HasSubstr("ptr noalias align 64"));
}

TEST_F(CompileTest, NoMoreAlignmentIsAssumedThanIsDeclared) {
  a_ = EditBuffer(a_, [](BufferNode& b) { b.alignment = 8; });
  EXPECT_THAT(Ir(Copy(Lanes(Int(0), 1))), HasSubstr("ptr noalias align 8 "));
}

TEST_F(CompileTest, AProductInASumMayBecomeOneOperation) {
  const Expr c = Load(c_, {Int(0)});
  const Expr sum = Add(c, Mul(Load(a_, {Int(0)}), Load(b_, {Int(0)})));
  EXPECT_THAT(Ir(MakeStore(c_, sum, {Int(0)})), HasSubstr("fadd contract"));
}

TEST_F(CompileTest, ALoopDividesByOneNumberOnce) {
  const Expr value = Binary(ExprKind::kDiv, Load(a_, {i_}), Load(b_, {Int(0)}));
  const std::string ir =
      Ir(MakeFor(1, i_, Int(64), MakeStore(c_, value, {i_})));
  EXPECT_THAT(ir, HasSubstr("fmul"));
  EXPECT_LT(ir.find("fdiv"), ir.find("phi"));
}

TEST_F(CompileTest, QuotientsByPowersOfTwoAreShifts) {
  const Expr index = FloorDiv(i_, Int(8));
  const Stmt body = MakeStore(c_, Load(a_, {index}), {i_});
  const std::string ir = Ir(MakeFor(1, i_, Int(64), body));
  EXPECT_THAT(ir, HasSubstr("shr"));
  EXPECT_THAT(ir, Not(HasSubstr("div")));
}

TEST_F(CompileTest, QuotientsByConstantsAreRoundedOnce) {
  const Expr value = Binary(ExprKind::kDiv, Load(a_, {i_}), Float(1.5));
  const Stmt body = MakeStore(c_, value, {i_});
  EXPECT_THAT(Ir(MakeFor(1, i_, Int(64), body)), HasSubstr("fdiv"));
}

TEST_F(CompileTest, TheExponentialOfFloatsCallsNothing) {
  const Expr value = Call(kF32, Intrinsic::kExp, {Load(a_, {Int(0)})});
  EXPECT_THAT(Ir(MakeStore(c_, value, {Int(0)})), Not(HasSubstr("@exp")));
}

// LLVM ended the process where nine lanes of bfloat16 were compared or copied.
TEST_F(CompileTest, Bfloat16IsComparedAndCopiedInVectorsOfAnyLength) {
  auto target = ParseTarget("llvm -mcpu=sapphirerapids");
  KILN_ASSERT_OK(target.status());
  for (int lanes : {1, 3, 8, 9, 16, 31}) {
    const Buffer x = MakeBuffer("A", DType::BFloat16(), {Int(64)});
    const Buffer y = MakeBuffer("B", DType::BFloat16(), {Int(64)});
    const Expr at = lanes == 1 ? Int(0) : Ramp(Int(0), Int(1), lanes);
    const Expr value = Binary(ExprKind::kMax, Load(x, {at}), Load(y, {at}));
    Function f;
    f.name = "f";
    f.params = {{Var("A"), x}, {Var("B"), y}};
    for (const Expr& stored : {value, Load(x, {at})}) {
      f.body = MakeStore(y, stored, {at});
      KILN_EXPECT_OK(CompileToObject(f, "f", *target).status());
    }
  }
}

TEST_F(CompileTest, OtherFunctionsComeFromLibm) {
  const Expr value = Call(kF32, Intrinsic::kSin, {Load(a_, {Int(0)})});
  EXPECT_THAT(Ir(MakeStore(c_, value, {Int(0)})), HasSubstr("@sinf("));
}

TEST_F(CompileTest, AParallelLoopIsAFunctionAndAnEntryThatUnpacks) {
  const Stmt body = MakeStore(c_, Load(a_, {i_}), {i_});
  const std::string ir = Ir(MakeFor(1, i_, Int(64), body, ForKind::kParallel));
  EXPECT_THAT(ir, HasSubstr("@f.par0.body("));
  EXPECT_THAT(ir, HasSubstr("@f.par0("));
  EXPECT_THAT(ir, HasSubstr("optnone"));
}

// for k: C[0:8] = A[k*stride : k*stride + 8]
class PrefetchTest : public CompileTest {
 protected:
  Stmt Rows(const Buffer& from, int64_t extent, int64_t stride) {
    const Expr row = Lanes(Mul(k_, Int(stride)), 1);
    return MakeFor(1, k_, Int(extent),
                   MakeStore(c_, Load(from, {row}), {Lanes(Int(0), 1)}));
  }
};

TEST_F(PrefetchTest, RowsFarApartAreAskedForAhead) {
  EXPECT_THAT(Ir(Rows(a_, 512, 1024)), HasSubstr("@llvm.prefetch"));
}

TEST_F(PrefetchTest, WhatHardwareFollowsIsNot) {
  EXPECT_THAT(Ir(Rows(a_, 512, 16)), Not(HasSubstr("@llvm.prefetch")));
}

TEST_F(PrefetchTest, ShortLoopsDoNotLookAhead) {
  EXPECT_THAT(Ir(Rows(a_, 8, 1024)), Not(HasSubstr("@llvm.prefetch")));
}

TEST_F(PrefetchTest, SmallBuffersAreNearEnough) {
  size_ = 1 << 12;
  a_ = MakeBuffer("A", kF32, {Int(size_)});
  EXPECT_THAT(Ir(Rows(a_, 16, 256)), Not(HasSubstr("@llvm.prefetch")));
}

TEST_F(PrefetchTest, PassesOverAPanelAskForTheNextOne) {
  const Var j("j");
  const Expr row = Add(Mul(j, Int(16384)), Mul(k_, Int(16)));
  const auto passes = [&](int64_t count) {
    const Stmt rows = MakeFor(1, k_, Int(1024), Copy(Lanes(row, 1)));
    return Ir(MakeFor(3, j, Int(64), MakeFor(2, i_, Int(count), rows)));
  };
  EXPECT_THAT(passes(8), HasSubstr("i32 0, i32 2, i32 1"));
  EXPECT_THAT(passes(1), Not(HasSubstr("@llvm.prefetch")));
}

TEST_F(CompileTest, AVariableWithoutAValueIsNamed) {
  Function f;
  f.name = "f";
  f.params.push_back({Var("C"), c_});
  f.body = MakeStore(c_, Float(0), {i_});
  const auto ir = CompileToLlvmIr(f, "f", HostTarget());
  ASSERT_FALSE(ir.ok());
  EXPECT_THAT(std::string(ir.status().message()),
              HasSubstr("variable i has no value"));
}

}  // namespace
}  // namespace kiln
