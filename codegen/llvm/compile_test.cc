#include "kiln/codegen/llvm/compile.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/marks.h"

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
    f.attrs = attrs_;
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
  AttrMap attrs_;
};

TEST_F(CompileTest, ConsecutiveLanesAreOneAccess) {
  const std::string ir = Ir(Copy(Lanes(Int(16), 1)));
  EXPECT_THAT(ir, HasSubstr("load <8 x float>"));
  EXPECT_THAT(ir, HasSubstr("store <8 x float>"));
  EXPECT_THAT(ir, Not(HasSubstr("load float")));
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; ++at) ++count;
  return count;
}

// However many tiles a function has: a sum is loaded once, and stored once, and
// what rows of a tile share is loaded once.
TEST_F(CompileTest, SumsOfUnrolledStepsStayInRegisters) {
  constexpr int kTiles = 40, kSums = 20, kSteps = 6;
  std::vector<Stmt> tiles;
  for (int tile = 0; tile < kTiles; ++tile) {
    std::vector<Stmt> updates;
    for (int step = 0; step < kSteps; ++step) {
      for (int sum = 0; sum < kSums; ++sum) {
        const Expr at = Lanes(Int(tile * 256 + sum * 8), 1);
        const Expr from = Add(Mul(k_, Int(512)), Int(sum % 5 * 8 + step * 128));
        updates.push_back(MakeStore(
            c_, Add(Load(c_, {at}), Load(a_, {Lanes(from, 1)})), {at}));
      }
    }
    tiles.push_back(
        MakeFor(tile + 1, k_, Int(16), MakeSeq(std::move(updates))));
  }
  const std::string ir = Ir(MakeSeq(std::move(tiles)));
  EXPECT_EQ(Count(ir, "store <8 x float>"), kTiles * kSums);
  EXPECT_EQ(Count(ir, "load <8 x float>"), kTiles * (kSums + kSteps * 5));
}

TEST_F(CompileTest, LanesApartAreLoadedOneByOne) {
  EXPECT_THAT(Ir(Copy(Lanes(Int(0), 7))), HasSubstr("load float"));
}

TEST_F(CompileTest, LanesNearToEachOtherAreChosenFromWholeVectors) {
  for (const int64_t step : {-1, 2, 3, 4, 5, 6}) {
    const std::string ir = Ir(Copy(Lanes(Int(64), step)));
    EXPECT_LE(Count(ir, "load <8 x float>"), std::abs(step)) << step;
    EXPECT_THAT(ir, Not(HasSubstr("load float"))) << step;
  }
}

// Elements said twice, and those of two rows in turns.
TEST_F(CompileTest, QuotientsAndRemaindersOfLanesAreChosenFromVectors) {
  const Expr lanes = Lanes(Int(64), 1);
  const Expr halves = FloorDiv(lanes, Broadcast(Int(2), 8));
  const Expr odd = FloorMod(lanes, Broadcast(Int(2), 8));
  const Expr rows = Add(Mul(odd, Broadcast(Int(40), 8)), halves);
  for (const auto& [index, loads] : {std::pair{halves, 1}, {rows, 2}}) {
    const std::string ir = Ir(Copy(index));
    EXPECT_EQ(Count(ir, "load <4 x float>"), loads) << ir;
    EXPECT_THAT(ir, Not(HasSubstr("load float")));
  }
}

// LLVM takes vectors of bfloat16 apart into floats where it chooses lanes.
TEST_F(CompileTest, LanesOfBfloat16AreChosenAsTheirBits) {
  const Buffer a = MakeBuffer("A", DType::BFloat16(), {Int(64)});
  const Buffer c = MakeBuffer("C", DType::BFloat16(), {Int(64)});
  Function f;
  f.name = "f";
  for (const Buffer& b : {a, c}) f.params.push_back({Var(b->name), b});
  f.body = MakeStore(c, Load(a, {Lanes(Int(0), 2)}), {Lanes(Int(0), 1)});
  KILN_ASSERT_OK_AND_ASSIGN(const std::string ir,
                            CompileToLlvmIr(f, "f", HostTarget()));
  EXPECT_THAT(ir, HasSubstr("shufflevector <8 x i16>"));
  EXPECT_THAT(ir, Not(HasSubstr("shufflevector <8 x bfloat>")));
}

// C[0:8] = A[lanes] where B[0:8] < 3, and else 0
Stmt ChosenLanes(const Buffer& c, const Buffer& a, const Buffer& b,
                 const Expr& lanes) {
  const Expr first = Ramp(Int(0), Int(1), 8);
  const Expr chosen = LT(Load(b, {first}), Broadcast(Float(3), 8));
  return MakeStore(c,
                   Call(kF32.WithLanes(8), Intrinsic::kIfThenElse,
                        {chosen, Load(a, {lanes}), Broadcast(Float(0), 8)}),
                   {first});
}

TEST_F(CompileTest, OfLanesNextToEachOtherOnlyTheChosenAreLoaded) {
  EXPECT_THAT(Ir(ChosenLanes(c_, a_, b_, Lanes(Int(5), 1))),
              HasSubstr("<8 x float> @llvm.masked.load"));
}

TEST_F(CompileTest, OfLanesNearToEachOtherOnlyTheChosenAreLoaded) {
  const std::string ir = Ir(ChosenLanes(c_, a_, b_, Lanes(Int(64), 2)));
  EXPECT_EQ(Count(ir, "= call <8 x float> @llvm.masked.load") +
                Count(ir, "contract <8 x float> @llvm.masked.load"),
            2);
  EXPECT_THAT(ir, Not(HasSubstr("load float")));
}

TEST_F(CompileTest, AChoiceOfLanesApartIsRefused) {
  Function f;
  f.name = "f";
  for (const Buffer& b : {a_, b_, c_}) f.params.push_back({Var(b->name), b});
  f.body = ChosenLanes(c_, a_, b_, Lanes(Int(0), 7));
  EXPECT_THAT(CompileToLlvmIr(f, "f", HostTarget()).status().message(),
              HasSubstr("write a select"));
}

TEST_F(CompileTest, ASquareThatIsTransposedIsLoadedByRows) {
  std::vector<Stmt> columns;
  for (int i = 0; i < 8; ++i) {
    columns.push_back(MakeStore(c_, Load(a_, {Lanes(Add(i_, Int(i)), 100)}),
                                {Lanes(Int(20 * i), 1)}));
  }
  const auto ir = [&] { return Ir(MakeFor(1, i_, Int(64), MakeSeq(columns))); };
  EXPECT_THAT(ir(), HasSubstr("load float,")) << "nobody marked it";
  attrs_[kTransposedCopy] = AttrList{Attr("C")};
  EXPECT_THAT(ir(), HasSubstr("shufflevector"));
  EXPECT_THAT(ir(), Not(HasSubstr("load float,")));
  columns.pop_back();
  EXPECT_THAT(ir(), HasSubstr("@llvm.masked.load"));
  EXPECT_THAT(ir(), Not(HasSubstr("load float,")));
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

// A hint for A[index].
Stmt Prefetch(const Buffer& a, const Expr& index, int64_t rw, int64_t locality,
              int64_t cache = 1) {
  const Expr address =
      Call(DType::Handle(), Intrinsic::kAddressOf, {Load(a, {index})});
  return MakeEvaluate(Call(DType::Int(32), Intrinsic::kPrefetch,
                           {address, Int(rw), Int(locality), Int(cache)}));
}

TEST_F(CompileTest, AHintIsTranslatedAsItStands) {
  const Stmt body = MakeSeq({Prefetch(a_, Add(i_, Int(64)), 0, 3),
                             Prefetch(b_, Mul(i_, Int(3)), 1, 2),
                             MakeStore(c_, Load(a_, {i_}), {i_})});
  const std::string ir = Ir(MakeFor(1, i_, Int(64), body));
  EXPECT_THAT(ir, HasSubstr("i32 0, i32 3, i32 1)"));
  EXPECT_THAT(ir, HasSubstr("i32 1, i32 2, i32 1)"));
}

// Nothing asks for what no statement asks for.
TEST_F(CompileTest, CodeGenerationAddsNoHints) {
  const Stmt row = MakeStore(c_, Load(a_, {Lanes(Mul(k_, Int(1024)), 1)}),
                             {Lanes(Int(0), 1)});
  EXPECT_THAT(Ir(MakeFor(1, k_, Int(512), row)),
              Not(HasSubstr("@llvm.prefetch")));
}

TEST_F(CompileTest, HintsOfEveryKindCompileForEveryTarget) {
  for (const char* name :
       {"llvm -mcpu=x86-64", "llvm -mcpu=znver4", "llvm -mcpu=sapphirerapids",
        "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"}) {
    const auto target = ParseTarget(name);
    KILN_ASSERT_OK(target.status());
    for (int64_t rw : {0, 1}) {
      for (int64_t locality : {0, 1, 2, 3}) {
        Function f;
        f.name = "f";
        f.params = {{Var("A"), a_}};
        f.body = Prefetch(a_, Int(1 << 30), rw, locality);
        KILN_EXPECT_OK(CompileToObject(f, "f", *target).status());
      }
    }
  }
}

TEST_F(CompileTest, ProductsOfNarrowIntegersAreAddedUpByInstructions) {
  const DType i32 = DType::Int(32);
  const auto ir = [&](DType a, DType b, int lanes, int steps,
                      const char* name) {
    const Buffer x = MakeBuffer("A", a, {Int(size_)});
    const Buffer y = MakeBuffer("B", b, {Int(size_)});
    const Buffer sums = MakeBuffer("C", i32, {Int(size_)});
    const Expr to = Ramp(Int(0), Int(1), lanes),
               all = Ramp(Int(0), Int(1), lanes * steps);
    const auto factor = [&](const Buffer& buffer) {
      return Cast(i32.WithLanes(lanes * steps), Load(buffer, {all}));
    };
    Function f;
    f.name = "f";
    f.params = {{Var("A"), x}, {Var("B"), y}, {Var("C"), sums}};
    f.body = MakeStore(
        sums, Add(Load(sums, {to}), LaneSums(Mul(factor(x), factor(y)), steps)),
        {to});
    const auto target = ParseTarget(name);
    KILN_EXPECT_OK(target.status());
    KILN_EXPECT_OK(CompileToObject(f, "f", *target).status());
    const auto text = CompileToLlvmIr(f, "f", *target);
    KILN_EXPECT_OK(text.status());
    return text.ok() ? *text : "";
  };
  const DType s8 = DType::Int(8), u8 = DType::UInt(8), s16 = DType::Int(16);
  EXPECT_THAT(ir(u8, s8, 16, 4, "llvm -mcpu=cascadelake"),
              HasSubstr("vpdpbusd.512"));
  EXPECT_THAT(ir(s8, u8, 16, 4, "llvm -mcpu=znver4"),
              HasSubstr("vpdpbusd.512"));
  EXPECT_THAT(ir(s8, s8, 16, 2, "llvm -mcpu=cascadelake"),
              HasSubstr("vpdpwssd.512"));
  EXPECT_THAT(ir(u8, s8, 8, 4, "llvm -mcpu=alderlake"),
              HasSubstr("vpdpbusd.256"));
  EXPECT_THAT(ir(s16, u8, 16, 2, "llvm -mcpu=skylake-avx512"),
              HasSubstr("pmaddw.d.512"));
  EXPECT_THAT(ir(s16, s16, 8, 2, "llvm -mcpu=haswell"), HasSubstr("pmadd.wd"));
  EXPECT_THAT(ir(s16, s16, 4, 2, "llvm -mcpu=x86-64"), HasSubstr("pmadd.wd"));
  for (const char* other :
       {"llvm -mcpu=ivybridge", "llvm -mcpu=knl",
        "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"}) {
    EXPECT_THAT(ir(s16, s16, 8, 2, other), Not(HasSubstr("pmadd")));
  }
  EXPECT_THAT(ir(u8, s8, 16, 4, "llvm -mcpu=skylake-avx512"),
              Not(HasSubstr("vpdp")));
  EXPECT_THAT(ir(u8, s8, 7, 4, "llvm -mcpu=cascadelake"),
              HasSubstr("vpdpbusd.256"))
      << "of more lanes";
}

TEST_F(CompileTest, AHintOfAnotherKindIsRefused) {
  Function f;
  f.name = "f";
  f.params = {{Var("A"), a_}};
  for (const Stmt& hint :
       {Prefetch(a_, Int(0), 2, 3), Prefetch(a_, Int(0), 0, 4),
        Prefetch(a_, Int(0), 0, 3, 0), Prefetch(b_, Int(0), 0, 3)}) {
    f.body = hint;
    const absl::Status status = CompileToObject(f, "f", HostTarget()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("T.prefetch"));
  }
}

TEST_F(CompileTest, APackedFunctionIsRefusedByName) {
  Function f;
  f.name = "f";
  f.params = {{Var("A"), a_}};
  for (const Intrinsic op : {Intrinsic::kCallPacked, Intrinsic::kCallCPacked}) {
    f.body = MakeEvaluate(Call(DType::Int(32), op, {Str("sort")}));
    const absl::Status status = CompileToObject(f, "f", HostTarget()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()), HasSubstr("packed of \"sort\""));
  }
}

// It stands for nothing that a kernel does.
TEST_F(CompileTest, ANoteCompilesToItsBody) {
  Function f;
  f.name = "f";
  f.params = {{Var("C"), c_}};
  f.body = MakeLet(
      Var("note", DType::Int(32)),
      Call(DType::Int(32), Intrinsic::kAttr, {Int(0), Str("k"), Str("v")}),
      MakeStore(c_, Float(0), {Int(0)}));
  KILN_EXPECT_OK(CompileToObject(f, "f", HostTarget()).status());
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
