#include "kiln/ir/interp/interp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/numeric.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const DType kF32 = DType::Float(32);

Tensor Iota(DType dtype, std::vector<int64_t> shape, double scale = 1) {
  Tensor t(dtype, std::move(shape));
  for (int64_t i = 0; i < t.size(); ++i) t.Set(i, scale * i);
  return t;
}

Function MakeFunction(std::vector<Buffer> params, Stmt body,
                      std::vector<Buffer> allocs = {}) {
  Function f;
  f.name = "main";
  for (const Buffer& buffer : params) {
    f.params.push_back({Var(buffer->name, DType::Handle()), buffer});
  }
  f.body = MakeRoot(f.NewId(), std::move(allocs), std::move(body));
  return f;
}

// for i, j, k: block C over k with init.
Function Matmul(int64_t n, int64_t m, int64_t k, DType dtype = kF32) {
  Buffer a = MakeBuffer("A", dtype, {Int(n), Int(k)});
  Buffer b = MakeBuffer("B", dtype, {Int(k), Int(m)});
  Buffer c = MakeBuffer("C", dtype, {Int(n), Int(m)});
  BlockFields block;
  block.name = "C";
  Var vi("vi"), vj("vj"), vk("vk"), i("i"), j("j"), l("k");
  block.iters = {{vi, {Int(0), Int(n)}, IterType::kSpatial},
                 {vj, {Int(0), Int(m)}, IterType::kSpatial},
                 {vk, {Int(0), Int(k)}, IterType::kReduce}};
  block.init = MakeStore(c, Constant(0, dtype), {vi, vj});
  block.body = MakeStore(
      c, Add(Load(c, {vi, vj}), Mul(Load(a, {vi, vk}), Load(b, {vk, vj}))),
      {vi, vj});
  Stmt s = MakeRealize({i, j, l}, Bool(true), MakeBlock(block));
  s = MakeFor(12, l, Int(k), s);
  s = MakeFor(11, j, Int(m), s);
  return MakeFunction({a, b, c}, MakeFor(10, i, Int(n), s));
}

TEST(InterpTest, MatmulComputesWhatAHandWrittenLoopDoes) {
  std::vector<Tensor> args = {Iota(kF32, {3, 5}), Iota(kF32, {5, 4}, 0.5),
                              Tensor(kF32, {3, 4})};
  KILN_EXPECT_OK(Interpret(Matmul(3, 4, 5), args));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      float sum = 0;
      for (int k = 0; k < 5; ++k) sum += (i * 5 + k) * 0.5f * (k * 4 + j);
      EXPECT_EQ(args[2].GetReal(i * 4 + j), sum);
    }
  }
}

TEST(InterpTest, HalfRoundsAfterEveryOperation) {
  const DType half = DType::Float(16);
  std::vector<Tensor> args = {Tensor(half, {1, 2}), Tensor(half, {2, 1}),
                              Tensor(half, {1, 1})};
  args[0].Set(0, 2048);
  args[0].Set(1, 1);
  args[1].Set(0, 1);
  args[1].Set(1, 1);
  KILN_EXPECT_OK(Interpret(Matmul(1, 1, 2, half), args));
  EXPECT_EQ(args[2].GetReal(0), 2048);
}

TEST(InterpTest, Int8Wraps) {
  const DType i8 = DType::Int(8);
  std::vector<Tensor> args = {Tensor(i8, {1, 2}), Tensor(i8, {2, 1}),
                              Tensor(i8, {1, 1})};
  for (int i : {0, 1}) args[0].Set(i, 100), args[1].Set(i, 1);
  KILN_EXPECT_OK(Interpret(Matmul(1, 1, 2, i8), args));
  EXPECT_EQ(args[2].GetInt(0), -56);
}

TEST(InterpTest, WrongShapesAreRefused) {
  std::vector<Tensor> args = {Tensor(kF32, {3, 5}), Tensor(kF32, {6, 4}),
                              Tensor(kF32, {3, 4})};
  EXPECT_THAT(Interpret(Matmul(3, 4, 5), args),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("dimension 0 of argument B is 6 but should "
                                 "be 5")));
  args[1] = Tensor(DType::Int(32), {5, 4});
  EXPECT_THAT(
      Interpret(Matmul(3, 4, 5), args),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("float32")));
  args.pop_back();
  EXPECT_THAT(Interpret(Matmul(3, 4, 5), args),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("takes 3 arguments")));
}

TEST(InterpTest, TheBudgetStopsARunawayProgram) {
  std::vector<Tensor> args = {Tensor(kF32, {30, 50}), Tensor(kF32, {50, 40}),
                              Tensor(kF32, {30, 40})};
  EXPECT_THAT(
      Interpret(Matmul(30, 40, 50), args, {.max_steps = 1000}),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1000 steps")));
}

// B[i] = value(i) for i in [0, n), without blocks.
Function Map(DType dtype, int64_t n, const Buffer& a,
             std::function<Expr(const Var&)> value) {
  Var i("i");
  Buffer b = MakeBuffer("B", dtype, {Int(n)});
  return MakeFunction({a, b},
                      MakeFor(5, i, Int(n), MakeStore(b, value(i), {i})));
}

TEST(InterpTest, OutOfBoundsNamesBufferIndicesAndLoop) {
  Buffer a = MakeBuffer("A", kF32, {Int(4)});
  Function f =
      Map(kF32, 4, a, [&](const Var& i) { return Load(a, {Add(i, Int(2))}); });
  std::vector<Tensor> args = {Tensor(kF32, {4}), Tensor(kF32, {4})};
  EXPECT_THAT(Interpret(f, args),
              StatusIs(absl::StatusCode::kOutOfRange,
                       AllOf(HasSubstr("A[4] is out of bounds"),
                             HasSubstr("i = 2"), HasSubstr("main"))));
}

TEST(InterpTest, IfThenElseIsLazyAndSelectIsNot) {
  Buffer a = MakeBuffer("A", kF32, {Int(4)});
  auto guarded = [&](bool lazy) {
    return Map(kF32, 6, a, [&](const Var& i) {
      Expr inside = LT(i, Int(4)), value = Load(a, {i}), zero = Float(0);
      return lazy ? Call(kF32, Intrinsic::kIfThenElse, {inside, value, zero})
                  : Select(inside, value, zero);
    });
  };
  std::vector<Tensor> args = {Iota(kF32, {4}), Tensor(kF32, {6})};
  KILN_EXPECT_OK(Interpret(guarded(true), args));
  EXPECT_EQ(args[1].GetReal(3), 3);
  EXPECT_EQ(args[1].GetReal(5), 0);
  EXPECT_THAT(Interpret(guarded(false), args),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("A[4]")));
}

// x // 0 is 0 and x % 0 is x, of numbers that are data.
TEST(InterpTest, DataIsDividedByZeroIndicesAreNot) {
  const DType i32 = DType::Int(32);
  Buffer a = MakeBuffer("A", i32, {Int(2)});
  for (const ExprKind kind : {ExprKind::kFloorDiv, ExprKind::kTruncDiv,
                              ExprKind::kFloorMod, ExprKind::kTruncMod}) {
    const bool divides =
        kind == ExprKind::kFloorDiv || kind == ExprKind::kTruncDiv;
    Function data = Map(i32, 2, a, [&](const Var& i) {
      return Binary(kind, Int(7, i32), Load(a, {i}));
    });
    std::vector<Tensor> args = {Iota(i32, {2}), Tensor(i32, {2})};
    KILN_EXPECT_OK(Interpret(data, args));
    EXPECT_EQ(args[1].GetInt(0), divides ? 0 : 7);
    EXPECT_EQ(args[1].GetInt(1), divides ? 7 : 0);
    Function index = Map(DType::Index(), 2, a,
                         [&](const Var& i) { return Binary(kind, Int(7), i); });
    args[1] = Tensor(DType::Index(), {2});
    EXPECT_THAT(Interpret(index, args),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("division of 7 by 0")));
  }
}

TEST(InterpTest, TheLeastIntegerDividedByMinusOneWraps) {
  for (const int bits : {8, 16, 32, 64}) {
    const DType dtype = DType::Int(bits);
    Buffer a = MakeBuffer("A", dtype, {Int(2)});
    for (const ExprKind kind : {ExprKind::kFloorDiv, ExprKind::kTruncDiv,
                                ExprKind::kFloorMod, ExprKind::kTruncMod}) {
      const bool divides =
          kind == ExprKind::kFloorDiv || kind == ExprKind::kTruncDiv;
      Function f = Map(dtype, 1, a, [&](const Var& i) {
        return Binary(kind, Load(a, {i}), Load(a, {Add(i, Int(1))}));
      });
      const int64_t least = LowestInt(dtype);
      std::vector<Tensor> args = {Tensor(dtype, {2}), Tensor(dtype, {1})};
      args[0].SetInt(0, least);
      args[0].SetInt(1, -1);
      KILN_EXPECT_OK(Interpret(f, args));
      EXPECT_EQ(args[1].GetInt(0), divides ? least : 0) << bits;
    }
  }
}

TEST(InterpTest, IndexOverflowIsAnErrorAndDataOverflowIsNot) {
  const DType i64 = DType::Int(64);
  Buffer a = MakeBuffer("A", i64, {Int(2)});
  const Expr big = Int(int64_t{1} << 62);
  Function data =
      Map(i64, 2, a, [&](const Var& i) { return Mul(Load(a, {i}), big); });
  std::vector<Tensor> args = {Iota(i64, {2}, 4), Tensor(i64, {2})};
  KILN_EXPECT_OK(Interpret(data, args));
  EXPECT_EQ(args[1].GetInt(1), 0);
  Function index = Map(i64, 4, a, [&](const Var& i) { return Mul(i, big); });
  args[1] = Tensor(i64, {4});
  EXPECT_THAT(Interpret(index, args),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("overflows")));
}

// C[j] = the sum of A[i, j] over i in n, which is 0.
TEST(InterpTest, AReductionOverNoRowsIsItsInit) {
  const Var n("n"), i("i"), j("j"), vi("vi"), vj("vj");
  Buffer a = MakeBuffer("A", kF32, {n, Int(2)});
  Buffer c = MakeBuffer("C", kF32, {Int(2)});
  BlockFields block;
  block.name = "C";
  block.iters = {{vi, {Int(0), n}, IterType::kReduce},
                 {vj, {Int(0), Int(2)}, IterType::kSpatial}};
  block.init = MakeStore(c, Constant(7, kF32), {vj});
  block.body = MakeStore(c, Add(Load(c, {vj}), Load(a, {vi, vj})), {vj});
  const Stmt sum = MakeRealize({i, j}, Bool(true), MakeBlock(std::move(block)));
  const Function f =
      MakeFunction({a, c}, MakeFor(1, i, n, MakeFor(2, j, Int(2), sum)));
  std::vector<Tensor> args = {Tensor(kF32, {0, 2}), Tensor(kF32, {2})};
  KILN_ASSERT_OK(Interpret(f, args));
  EXPECT_EQ(args[1].GetReal(0), 7);
  EXPECT_EQ(args[1].GetReal(1), 7);
}

TEST(InterpTest, ReadingWhatNothingWroteIsAnErrorUnlessAllowed) {
  Buffer a = MakeBuffer("A", kF32, {Int(2)});
  Buffer t = MakeBuffer("T", kF32, {Int(2)});
  Function f =
      MakeFunction({a}, MakeStore(a, Load(t, {Int(1)}), {Int(0)}), {t});
  std::vector<Tensor> args = {Tensor(kF32, {2})};
  EXPECT_THAT(Interpret(f, args),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("T[1] is read but was never written")));
  KILN_EXPECT_OK(Interpret(f, args, {.check_uninitialized = false}));
}

// Of A[first], before A[0] = 1.
Function Prefetching(const Buffer& a, const Expr& first) {
  const Expr address =
      Call(DType::Handle(), Intrinsic::kAddressOf, {Load(a, {first})});
  const Expr prefetch = Call(DType::Int(32), Intrinsic::kPrefetch,
                             {address, Int(0), Int(3), Int(1)});
  return MakeFunction(
      {a}, MakeSeq({MakeEvaluate(prefetch), MakeStore(a, Float(1), {Int(0)})}));
}

TEST(InterpTest, PrefetchesChangeNothingWhereverTheyAre) {
  Buffer a = MakeBuffer("A", kF32, {Int(2)});
  for (int64_t index : {0, 1, 2, -1, 1 << 30}) {
    std::vector<Tensor> args = {Tensor(kF32, {2})};
    KILN_EXPECT_OK(Interpret(Prefetching(a, Int(index)), args));
    EXPECT_EQ(args[0].GetReal(0), 1) << index;
  }
}

TEST(InterpTest, WhatAPrefetchReadsToKnowWhereIsRead) {
  Buffer a = MakeBuffer("A", kF32, {Int(2)});
  Buffer rows = MakeBuffer("R", DType::Int(64), {Int(2)});
  for (int64_t at : {1, 2}) {
    Function f = Prefetching(a, Load(rows, {Int(at)}));
    f.params.push_back({Var("r", DType::Handle()), rows});
    std::vector<Tensor> args = {Tensor(kF32, {2}), Tensor(DType::Int(64), {2})};
    EXPECT_EQ(Interpret(f, args).ok(), at == 1) << at;
  }
}

TEST(InterpTest, UnknownExternAndUndefinedVariablesAreRefused) {
  Buffer a = MakeBuffer("A", kF32, {Int(2)});
  Expr call = Call(DType::Int(32), Intrinsic::kCallExtern, {Str("do_it")});
  EXPECT_THAT(
      Interpreter::Create(MakeFunction({a}, MakeEvaluate(call))).status(),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"do_it\"")));
  Stmt store = MakeStore(a, Float(0), {Var("nowhere")});
  EXPECT_THAT(
      Interpreter::Create(MakeFunction({a}, store)).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nowhere")));
}

TEST(InterpTest, APackedFunctionIsRefusedByNameAndANoteMeansNothing) {
  Buffer a = MakeBuffer("A", kF32, {Int(1)});
  for (const Intrinsic op : {Intrinsic::kCallPacked, Intrinsic::kCallCPacked}) {
    Expr call = Call(DType::Int(32), op, {Str("sort")});
    EXPECT_THAT(
        Interpreter::Create(MakeFunction({a}, MakeEvaluate(call))).status(),
        StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"sort\"")));
  }
  Expr note = Call(DType::Int(32), Intrinsic::kAttr,
                   {Int(0), Str("key"), Str("value")});
  Stmt store = MakeStore(a, Float(5), {Int(0)});
  std::vector<Tensor> args = {Tensor(kF32, {1})};
  KILN_EXPECT_OK(Interpret(
      MakeFunction({a}, MakeLet(Var("_", DType::Int(32)), note, store)), args));
  EXPECT_EQ(args[0].GetReal(0), 5);
}

TEST(InterpTest, SymbolicDimensionsAreBoundAndChecked) {
  Var n("n");
  Buffer a = MakeBuffer("A", kF32, {n, Mul(n, Int(2))});
  Buffer b = MakeBuffer("B", kF32, {n});
  Var i("i");
  Function f = MakeFunction(
      {a, b},
      MakeFor(5, i, n,
              MakeStore(b, Load(a, {i, Sub(Mul(n, Int(2)), Int(1))}), {i})));
  std::vector<Tensor> args = {Iota(kF32, {3, 6}), Tensor(kF32, {3})};
  KILN_EXPECT_OK(Interpret(f, args));
  EXPECT_EQ(args[1].GetReal(2), 17);
  args[0] = Tensor(kF32, {3, 7});
  EXPECT_THAT(Interpret(f, args), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("but should be 6")));
}

// A[n + m], B[2 * n - k], C[k]: B and C tell n, and A then m.
TEST(InterpTest, TheOneUnknownDimensionOfASumIsFound) {
  Var n("n", DType::Int(32)), m("m"), k("k");
  const Expr wide = Cast(DType::Index(), n);
  Buffer a = MakeBuffer("A", kF32, {Add(wide, m)});
  Buffer b = MakeBuffer("B", kF32, {Sub(Mul(Int(2), wide), k)});
  Buffer c = MakeBuffer("C", kF32, {k});
  Function f = MakeFunction(
      {a, b, c},
      MakeStore(c, Cast(kF32, Add(Mul(wide, Int(100)), m)), {Int(0)}));
  std::vector<Tensor> args = {Tensor(kF32, {11}), Tensor(kF32, {5}),
                              Tensor(kF32, {1})};
  KILN_EXPECT_OK(Interpret(f, args));
  EXPECT_EQ(args[2].GetReal(0), 308);
  args[1] = Tensor(kF32, {6});
  EXPECT_THAT(Interpret(f, args),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("dimension 0 of argument B is 6 but should be "
                                 "-1 and a multiple of 2")));
}

TEST(InterpTest, NothingTellsWhatADivisionLosesOrAProductHides) {
  Var n("n");
  for (const Expr& extent :
       {FloorDiv(n, Int(2)), Mul(n, n), FloorMod(n, Int(4))}) {
    Buffer a = MakeBuffer("A", kF32, {extent});
    EXPECT_THAT(
        Interpreter::Create(MakeFunction({a}, MakeEvaluate(Int(0)))).status(),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr("variable n is not defined here")));
  }
}

TEST(InterpTest, MatchBufferIsAViewWithTheStridesOfItsSource) {
  Buffer a = MakeBuffer("A", kF32, {Int(4), Int(6)});
  Var s("s"), offset("offset"), vi("vi"), i("i"), j("j");
  Buffer view = EditBuffer(MakeBuffer("V", kF32, {Int(3)}), [&](auto& node) {
    node.strides = {s};
    node.elem_offset = offset;
  });
  BlockFields block;
  block.name = "B";
  block.iters = {{vi, {Int(0), Int(4)}, IterType::kSpatial}};
  block.match_buffers = {{view, {a, {{vi, Int(1)}, {Int(2), Int(3)}}}}};
  block.body = MakeFor(
      8, j, Int(3),
      MakeStore(view, Cast(kF32, Add(Mul(offset, Int(10)), Add(s, j))), {j}));
  Function f = MakeFunction(
      {a},
      MakeFor(7, i, Int(4), MakeRealize({i}, Bool(true), MakeBlock(block))));
  std::vector<Tensor> args = {Tensor(kF32, {4, 6})};
  KILN_EXPECT_OK(Interpret(f, args));
  EXPECT_EQ(args[0].GetReal(2 * 6 + 1), 0);
  EXPECT_EQ(args[0].GetReal(2 * 6 + 4), (2 * 6 + 2) * 10 + 1 + 2);
}

TEST(InterpTest, VectorsLoadAllLanesBeforeTheyStore) {
  // A[0:4] = A[1:5] * 2 by broadcast
  Buffer a = MakeBuffer("A", kF32, {Int(5)});
  Expr value = Mul(Load(a, {Ramp(Int(1), Int(1), 4)}), Broadcast(Float(2), 4));
  Function f =
      MakeFunction({a}, MakeStore(a, value, {Ramp(Int(0), Int(1), 4)}));
  std::vector<Tensor> args = {Iota(kF32, {5})};
  KILN_EXPECT_OK(Interpret(f, args));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(args[0].GetReal(i), 2 * (i + 1));
}

TEST(InterpTest, NeighbouringLanesAreAddedUp) {
  // B[0:2] = lane_sums(A[0:6], 3), which wraps.
  const DType i8 = DType::Int(8);
  Buffer a = MakeBuffer("A", i8, {Int(6)}), b = MakeBuffer("B", i8, {Int(2)});
  Function f = MakeFunction(
      {a, b}, MakeStore(b, LaneSums(Load(a, {Ramp(Int(0), Int(1), 6)}), 3),
                        {Ramp(Int(0), Int(1), 2)}));
  std::vector<Tensor> args = {Iota(i8, {6}, 25), Tensor(i8, {2})};
  KILN_EXPECT_OK(Interpret(f, args));
  EXPECT_EQ(args[1].GetReal(0), 0 + 25 + 50);
  EXPECT_EQ(args[1].GetReal(1), 75 + 100 + 125 - 256);
}

TEST(InterpTest, ABlockIteratorOutsideItsDomainIsAnError) {
  Buffer a = MakeBuffer("A", kF32, {Int(8)});
  BlockFields block;
  block.name = "A";
  Var vi("vi"), i("i");
  block.iters = {{vi, {Int(0), Int(4)}, IterType::kSpatial}};
  block.body = MakeStore(a, Float(1), {vi});
  auto with = [&](Expr predicate) {
    return MakeFunction(
        {a},
        MakeFor(7, i, Int(8), MakeRealize({i}, predicate, MakeBlock(block))));
  };
  std::vector<Tensor> args = {Tensor(kF32, {8})};
  EXPECT_THAT(
      Interpret(with(Bool(true)), args),
      StatusIs(absl::StatusCode::kOutOfRange,
               AllOf(HasSubstr("iterator vi is 4"), HasSubstr("block \"A\""))));
  KILN_EXPECT_OK(Interpret(with(LT(i, Int(4))), args));
}

constexpr int64_t kHuge = int64_t{1} << 62;

TEST(InterpTest, ADomainAtTheEndOfTheIntegersHoldsItsValues) {
  Buffer a = MakeBuffer("A", kF32, {Int(8)});
  Var vi("vi");
  const auto run = [&](int64_t value, int64_t min, int64_t extent) {
    BlockFields block;
    block.name = "A";
    block.iters = {{vi, {Int(min), Int(extent)}, IterType::kSpatial}};
    block.body = MakeStore(a, Float(1), {Int(0)});
    std::vector<Tensor> args = {Tensor(kF32, {8})};
    return Interpret(MakeFunction({a}, MakeRealize({Int(value)}, Bool(true),
                                                   MakeBlock(block))),
                     args);
  };
  KILN_EXPECT_OK(run(2 * (kHuge - 1), 2 * (kHuge - 1), 2));
  EXPECT_THAT(run(kHuge, -kHuge, 2 * (kHuge - 1) + 1),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("iterator vi is 4611686018427387904")));
  EXPECT_THAT(run(0, 2 * (kHuge - 1), 100),
              StatusIs(absl::StatusCode::kOutOfRange,
                       HasSubstr("domain of 100 values from")));
  EXPECT_THAT(run(0, 0, 0), StatusIs(absl::StatusCode::kOutOfRange,
                                     HasSubstr("domain of 0 values")));
}

TEST(InterpTest, StridesThatOverflowAreTooLarge) {
  Buffer a = MakeBuffer("A", kF32, {Int(8)});
  const auto run = [&](std::vector<int64_t> shape, std::vector<int64_t> strides,
                       int64_t offset) {
    Buffer b = EditBuffer(MakeBuffer("B", kF32, {}), [&](auto& node) {
      for (const int64_t extent : shape) node.shape.push_back(Int(extent));
      for (const int64_t stride : strides) node.strides.push_back(Int(stride));
      if (offset != 0) node.elem_offset = Int(offset);
    });
    std::vector<Tensor> args = {Tensor(kF32, {8})};
    return Interpret(MakeFunction({a}, MakeStore(a, Float(1), {Int(0)}), {b}),
                     args);
  };
  const auto is_too_large = [](const char* why) {
    return StatusIs(absl::StatusCode::kInvalidArgument,
                    AllOf(HasSubstr("buffer B"), HasSubstr(why)));
  };
  EXPECT_THAT(run({5, 5}, {kHuge, 1}, 0), is_too_large("too large"));
  EXPECT_THAT(run({2, 2}, {kHuge, kHuge}, 0), is_too_large("too large"));
  EXPECT_THAT(run({2}, {1}, 2 * (kHuge - 1) + 1), is_too_large("too large"));
  EXPECT_THAT(run({kHuge, kHuge}, {}, 0), is_too_large("too large"));
  EXPECT_THAT(run({-4, kHuge, kHuge}, {}, 0), is_too_large("negative"));
  KILN_EXPECT_OK(run({0, kHuge, kHuge}, {}, 0));
  KILN_EXPECT_OK(run({5, 0}, {kHuge, 1}, 0));
}

TEST(InterpTest, TheOffsetOfAViewMayOverflow) {
  Buffer a = MakeBuffer("A", kF32, {Int(8)});
  Buffer empty =
      EditBuffer(MakeBuffer("E", kF32, {Int(0), Int(9)}),
                 [&](auto& node) { node.strides = {Int(1), Int(kHuge)}; });
  Buffer view =
      EditBuffer(MakeBuffer("V", kF32, {Int(0), Int(1)}),
                 [&](auto& node) { node.strides = {Int(1), Int(kHuge)}; });
  BlockFields block;
  block.name = "B";
  block.match_buffers = {{view, {empty, {{Int(0), Int(0)}, {Int(8), Int(1)}}}}};
  block.body = MakeStore(a, Float(1), {Int(0)});
  Function f =
      MakeFunction({a}, MakeRealize({}, Bool(true), MakeBlock(block)), {empty});
  std::vector<Tensor> args = {Tensor(kF32, {8})};
  EXPECT_THAT(Interpret(f, args),
              StatusIs(absl::StatusCode::kOutOfRange,
                       AllOf(HasSubstr("offset of buffer V overflows"),
                             HasSubstr("block \"B\""))));
}

// Every thread writes its element of shared memory, waits, and reads that of
// its mirror image. `sync` is the barrier statement.
Function Mirror(int64_t n, Stmt (*sync)(const Var& t)) {
  Buffer a = MakeBuffer("A", kF32, {Int(n)}),
         b = MakeBuffer("B", kF32, {Int(n)});
  Buffer shared = MakeBuffer("S", kF32, {Int(n)}, "shared");
  Var t("t");
  Stmt body = MakeSeq({MakeStore(shared, Load(a, {t}), {t}), sync(t),
                       MakeStore(b, Load(shared, {Sub(Int(n - 1), t)}), {t})});
  ForFields loop;
  loop.id = 9;
  loop.var = t;
  loop.min = Int(0);
  loop.extent = Int(n);
  loop.for_kind = ForKind::kThreadBinding;
  loop.thread_tag = "threadIdx.x";
  loop.body = MakeAllocate(shared, body);
  return MakeFunction({a, b}, MakeFor(loop));
}

Stmt Barrier() {
  return MakeEvaluate(
      Call(DType::Int(32), Intrinsic::kStorageSync, {Str("shared")}));
}

TEST(InterpTest, ThreadsMeetAtBarriers) {
  std::vector<Tensor> args = {Iota(kF32, {64}), Tensor(kF32, {64})};
  KILN_EXPECT_OK(
      Interpret(Mirror(64, [](const Var&) { return Barrier(); }), args));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(args[1].GetReal(i), 63 - i);
}

TEST(InterpTest, ABarrierThatSomeThreadsSkipIsAnError) {
  std::vector<Tensor> args = {Iota(kF32, {8}), Tensor(kF32, {8})};
  auto half = [](const Var& t) { return MakeIf(LT(t, Int(4)), Barrier()); };
  EXPECT_THAT(
      Interpret(Mirror(8, half), args),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("barrier")));
}

TEST(InterpTest, AFailingThreadStopsTheBlock) {
  std::vector<Tensor> args = {Iota(kF32, {8}), Tensor(kF32, {8})};
  Function f = Mirror(8, [](const Var&) { return Barrier(); });
  EXPECT_THAT(Interpret(f, args, {.max_steps = 4}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("4")));
}

TEST(InterpTest, ReversedParallelLoopsShowACarriedDependence) {
  Buffer a = MakeBuffer("A", kF32, {Int(4)});
  Var i("i");
  Stmt store = MakeStore(a, Add(Load(a, {i}), Float(1)), {Add(i, Int(1))});
  Function f =
      MakeFunction({a}, MakeFor(5, i, Int(3), store, ForKind::kParallel));
  std::vector<Tensor> forward = {Tensor(kF32, {4})}, back = forward;
  KILN_EXPECT_OK(Interpret(f, forward));
  KILN_EXPECT_OK(Interpret(f, back, {.reverse_parallel = true}));
  EXPECT_EQ(forward[0].GetReal(3), 3);
  EXPECT_EQ(back[0].GetReal(3), 1);
}

TEST(InterpTest, MathMatchesTheLibraryToTheLastBitOfFloat) {
  Buffer a = MakeBuffer("A", kF32, {Int(8)});
  Function f = Map(kF32, 8, a, [&](const Var& i) {
    return Call(kF32, Intrinsic::kExp, {Load(a, {i})});
  });
  std::vector<Tensor> args = {Iota(kF32, {8}, 0.3), Tensor(kF32, {8})};
  KILN_EXPECT_OK(Interpret(f, args));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(args[1].GetReal(i),
              static_cast<float>(std::exp(args[0].GetReal(i))));
  }
}

}  // namespace
}  // namespace kiln
