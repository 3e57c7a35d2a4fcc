#include "kiln/codegen/lower/pipeline.h"

#include <random>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::CompareMeaning;
using lower::MatmulTiling;
using lower::PaddedConv;
using lower::TiledMatmul;

std::vector<Stmt> StmtsOfKind(const Stmt& s, StmtKind kind) {
  std::vector<Stmt> found;
  Visit(s, [&](const Stmt& x) {
    if (x.kind() == kind) found.push_back(x);
    return true;
  });
  return found;
}

TEST(LowerTest, TheRegisterTileIsALocalArrayWithConstantVectorIndices) {
  MatmulTiling tiling;
  tiling.row_loop = ForKind::kParallel;
  KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(TiledMatmul(tiling)));
  const std::vector<Stmt> allocations =
      StmtsOfKind(lowered.body, StmtKind::kAllocate);
  ASSERT_EQ(allocations.size(), 1u);
  const Buffer& local = allocations[0].As<AllocateNode>()->buffer;
  EXPECT_TRUE(IsConst(local->shape[0], 6 * 64));
  EXPECT_EQ(local->scope, "local");
  int stores = 0;
  for (const Stmt& s : StmtsOfKind(lowered.body, StmtKind::kStore)) {
    const auto* store = s.As<StoreNode>();
    if (store->buffer != local) continue;
    const auto* ramp = store->indices[0].As<RampNode>();
    ASSERT_TRUE(ramp);
    EXPECT_TRUE(AsInt(ramp->base) && IsOne(ramp->stride));
    ++stores;
  }
  EXPECT_EQ(stores, 2 * 6 * 4);
}

TEST(LowerTest, WhatDividesHasNoConditions) {
  KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(TiledMatmul({})));
  EXPECT_TRUE(StmtsOfKind(lowered.body, StmtKind::kIf).empty());
}

TEST(LowerTest, TheInteriorOfAMatmulWithBordersHasNoConditions) {
  MatmulTiling tiling;
  tiling.m = 31;
  tiling.n = 200;
  KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(TiledMatmul(tiling)));
  // The first branch of the first `if` around a loop over k is the interior.
  bool found = false;
  for (const Stmt& s : StmtsOfKind(lowered.body, StmtKind::kIf)) {
    const Stmt& inside = s.As<IfNode>()->then_case;
    if (StmtsOfKind(inside, StmtKind::kIf).empty() &&
        !StmtsOfKind(inside, StmtKind::kFor).empty()) {
      found = true;
    }
  }
  EXPECT_TRUE(found);
  KILN_EXPECT_OK(CompareMeaning(TiledMatmul(tiling), lowered, 1));
}

TEST(LowerTest, RandomTilingsOfMatmulKeepTheirMeaning) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 60; ++round) {
    MatmulTiling t;
    t.m = 1 + pick(9), t.n = 1 + pick(40), t.k = 1 + pick(7);
    t.rows = 1 + pick(4), t.vectors = 1 + pick(3);
    t.lanes = int64_t{1} << pick(5);
    if (pick(8) == 0) t.lanes = 70;
    t.k_inner = 1 + pick(3);
    t.decompose = pick(2), t.local_accumulator = pick(2);
    t.row_loop = pick(2) ? ForKind::kParallel : ForKind::kSerial;
    t.tile_loop = pick(2) ? ForKind::kUnrolled : ForKind::kSerial;
    const Function f = TiledMatmul(t);
    KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(f));
    ASSERT_TRUE(CompareMeaning(f, lowered, seed).ok())
        << CompareMeaning(f, lowered, seed) << " m " << t.m << " n " << t.n
        << " k " << t.k << " rows " << t.rows << " vectors " << t.vectors
        << " lanes " << t.lanes << " k_inner " << t.k_inner << " decompose "
        << t.decompose << " local " << t.local_accumulator;
  }
}

TEST(LowerTest, PaddedConvolutionsKeepTheirMeaning) {
  for (int64_t pad = 0; pad < 3; ++pad) {
    for (int64_t height : {5, 9}) {
      const Function f = PaddedConv(height, 21, 3, pad, 2, 8);
      KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(f));
      KILN_EXPECT_OK(CompareMeaning(f, lowered, 3));
    }
  }
}

TEST(LowerTest, EveryPrefixOfThePipelineKeepsTheMeaning) {
  MatmulTiling tiling;
  tiling.m = 5, tiling.n = 23, tiling.k = 3;
  tiling.rows = 2, tiling.vectors = 2, tiling.lanes = 4;
  tiling.decompose = false;
  const Function f = TiledMatmul(tiling);
  for (const LowerPass& pass : LowerPasses()) {
    SCOPED_TRACE(std::string(pass.name));
    LowerOptions options;
    options.stop_after = std::string(pass.name);
    KILN_ASSERT_OK_AND_ASSIGN(Function after, Lower(f, options));
    KILN_EXPECT_OK(CompareMeaning(f, after, 7));
  }
}

TEST(LowerTest, TheObserverSeesEveryPassInOrder) {
  std::vector<std::string> names;
  LowerOptions options;
  options.observe = [&](std::string_view pass, const Function&, double) {
    names.push_back(std::string(pass));
  };
  KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(TiledMatmul({}), options));
  ASSERT_EQ(names.size(), LowerPasses().size());
  EXPECT_EQ(names.front(), LowerPasses().front().name);
}

TEST(LowerTest, OnlyRequiredPassesLeaveTheLoopsOfTheProgram) {
  std::vector<std::string> names;
  LowerOptions options;
  options.only_required = true;
  options.observe = [&](std::string_view pass, const Function&, double) {
    names.push_back(std::string(pass));
  };
  const Function f = PaddedConv(9, 21, 3, 1, 2, 1);
  KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(f, options));
  for (const std::string& name : names) {
    EXPECT_NE(name, "partition_loops");
    EXPECT_NE(name, "auto_vectorize");
  }
  EXPECT_LE(StmtsOfKind(lowered.body, StmtKind::kFor).size(),
            StmtsOfKind(f.body, StmtKind::kFor).size());
  KILN_EXPECT_OK(CompareMeaning(f, lowered, 3));
}

TEST(LowerTest, AnUnknownPassToStopAfterIsAnError) {
  LowerOptions options;
  options.stop_after = "no_such_pass";
  EXPECT_EQ(Lower(TiledMatmul({}), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// A loop nest of two loops of the given kinds around a store.
Function TwoLoops(ForKind outer, ForKind inner) {
  Function f;
  Buffer a = MakeBuffer("A", DType::Float(32), {Int(4), Int(4)});
  f.params = {{Var("a", DType::Handle()), a}};
  Var i("i"), j("j");
  Stmt body = MakeStore(a, Float(1), {i, j});
  body = MakeFor(f.NewId(), j, Int(4), body, inner);
  body = MakeFor(f.NewId(), i, Int(4), body, outer);
  f.body = MakeRoot(f.NewId(), {}, body);
  return f;
}

TEST(LowerTest, NestedParallelLoopsAreRefusedByName) {
  absl::Status status =
      Lower(TwoLoops(ForKind::kParallel, ForKind::kParallel)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_NE(message.find("loop j"), std::string::npos) << message;
  EXPECT_NE(message.find("loop i"), std::string::npos) << message;
}

TEST(LowerTest, ThreadBindingsAreRefused) {
  Function f = TwoLoops(ForKind::kSerial, ForKind::kThreadBinding);
  EXPECT_EQ(Lower(f).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(LowerTest, AnyKindsOfTwoLoopsKeepTheMeaning) {
  for (ForKind outer : {ForKind::kSerial, ForKind::kParallel,
                        ForKind::kVectorized, ForKind::kUnrolled}) {
    for (ForKind inner :
         {ForKind::kSerial, ForKind::kVectorized, ForKind::kUnrolled}) {
      const Function f = TwoLoops(outer, inner);
      KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(f));
      KILN_EXPECT_OK(CompareMeaning(f, lowered, 1));
    }
  }
}

}  // namespace
}  // namespace kiln
