#include "kiln/codegen/lower/storage/plan_storage.h"

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

const DType kF32 = DType::Float(32);
constexpr int64_t kLarge = 1 << 20;
const Buffer kOut = MakeBuffer("Out", kF32, {Int(8 * kLarge)});

// Fills `t` at `i`, and copies that to the output.
Stmt FillAndUse(const Buffer& t, const Expr& i) {
  return MakeSeq(
      {MakeStore(t, Float(1), {i}), MakeStore(kOut, Load(t, {i}), {i})});
}

Stmt Planned(const Stmt& body) {
  Function f;
  f.body = body;
  return PlanStorage(f)->body;
}

std::vector<Buffer> Allocated(const Stmt& s) {
  std::vector<Buffer> buffers;
  Visit(s, [&](const Stmt& x) {
    if (const auto* node = x.As<AllocateNode>())
      buffers.push_back(node->buffer);
    return true;
  });
  return buffers;
}

TEST(PlanStorageTest, SmallConstantAllocationsGoOnTheStack) {
  Buffer t = MakeBuffer("T", kF32, {Int(64)});
  Var i("i");
  Stmt s = Planned(MakeFor(1, i, Int(64), MakeAllocate(t, FillAndUse(t, i))));
  ASSERT_TRUE(s.As<ForNode>());
  ASSERT_EQ(Allocated(s).size(), 1u);
  EXPECT_EQ(Allocated(s)[0]->scope, "local");
}

TEST(PlanStorageTest, ALocalArrayTooLargeForTheStackIsAWorkspace) {
  Buffer t = MakeBuffer("T", kF32, {Int(kLarge)}, "local");
  Stmt s = Planned(MakeAllocate(t, FillAndUse(t, Int(0))));
  EXPECT_EQ(Allocated(s)[0]->scope, "workspace");
}

TEST(PlanStorageTest, ManySmallAllocationsTogetherLeaveTheStack) {
  std::vector<Stmt> stmts;
  for (int n = 0; n < 40; ++n) {
    Buffer t = MakeBuffer("T", kF32, {Int(4096)});
    stmts.push_back(MakeAllocate(t, FillAndUse(t, Int(0))));
  }
  int on_stack = 0;
  for (const Buffer& b : Allocated(Planned(MakeSeq(stmts)))) {
    on_stack += b->scope == "local";
  }
  EXPECT_EQ(on_stack, kMaxStackBytesTogether / (4096 * 4));
}

TEST(PlanStorageTest, AWorkspaceLeavesSerialLoops) {
  Buffer t = MakeBuffer("T", kF32, {Int(kLarge)});
  Var i("i"), j("j");
  Stmt body = MakeFor(2, j, Int(4), MakeAllocate(t, FillAndUse(t, j)));
  Stmt s = Planned(MakeFor(1, i, Int(64), body));
  ASSERT_TRUE(s.As<AllocateNode>());
  EXPECT_TRUE(s.As<AllocateNode>()->body.As<ForNode>());
}

TEST(PlanStorageTest, AWorkspaceStaysInsideOfAParallelLoop) {
  Buffer t = MakeBuffer("T", kF32, {Int(kLarge)});
  Var i("i"), j("j");
  Stmt body = MakeFor(2, j, Int(4), MakeAllocate(t, FillAndUse(t, j)));
  Stmt s = Planned(MakeFor(1, i, Int(64), body, ForKind::kParallel));
  ASSERT_TRUE(s.As<ForNode>());
  EXPECT_TRUE(s.As<ForNode>()->body.As<AllocateNode>());
}

// What a call does not take costs it nothing.
TEST(PlanStorageTest, AWorkspaceStaysInsideOfABranch) {
  Buffer t = MakeBuffer("T", kF32, {Int(kLarge)});
  Var n("n"), i("i");
  const Stmt loop =
      MakeFor(1, i, Int(kLarge), MakeAllocate(t, FillAndUse(t, i)));
  const Stmt other = MakeStore(kOut, Float(1), {Int(0)});
  const Stmt s = Planned(MakeIf(LE(n, Int(8)), loop, other));
  const auto* branches = s.As<IfNode>();
  ASSERT_TRUE(branches);
  EXPECT_TRUE(branches->then_case.As<AllocateNode>());
  EXPECT_TRUE(Allocated(branches->else_case).empty());
  // One in a serial loop is no place to allocate at.
  Var j("j");
  const Stmt inside =
      Planned(MakeFor(2, j, Int(4), MakeIf(LE(j, Int(2)), loop, other)));
  EXPECT_TRUE(inside.As<AllocateNode>());
}

TEST(PlanStorageTest, AWorkspaceWhoseSizeDependsOnALoopStaysInIt) {
  Var i("i");
  Buffer t = MakeBuffer("T", kF32, {Add(i, Int(1))});
  Stmt s = Planned(MakeFor(1, i, Int(64), MakeAllocate(t, FillAndUse(t, i))));
  ASSERT_TRUE(s.As<ForNode>());
}

TEST(PlanStorageTest, DisjointLifetimesShareTheLargerWorkspace) {
  Buffer t = MakeBuffer("T", kF32, {Int(kLarge)});
  Buffer u = MakeBuffer("U", kF32, {Int(2 * kLarge)});
  Stmt s = Planned(MakeSeq({MakeAllocate(t, FillAndUse(t, Int(0))),
                            MakeAllocate(u, FillAndUse(u, Int(0)))}));
  ASSERT_EQ(Allocated(s).size(), 1u);
  EXPECT_TRUE(IsConst(Allocated(s)[0]->shape[0], 2 * kLarge));
}

TEST(PlanStorageTest, OverlappingLifetimesDoNotShare) {
  Buffer t = MakeBuffer("T", kF32, {Int(kLarge)});
  Buffer u = MakeBuffer("U", kF32, {Int(kLarge)});
  Stmt copy = MakeStore(u, Load(t, {Int(0)}), {Int(0)});
  Stmt body = MakeSeq({FillAndUse(t, Int(0)), copy, FillAndUse(u, Int(0))});
  EXPECT_EQ(Allocated(Planned(MakeAllocate(t, MakeAllocate(u, body)))).size(),
            2u);
}

TEST(PlanStorageTest, ALoopThatReturnsToAnOuterWorkspaceKeepsItAlive) {
  // T lives across the iterations of i; U is used after T in each of them.
  Buffer t = MakeBuffer("T", kF32, {Int(kLarge)});
  Buffer u = MakeBuffer("U", kF32, {Int(kLarge)});
  Var i("i");
  Stmt body = MakeSeq({FillAndUse(t, i), MakeAllocate(u, FillAndUse(u, i))});
  Stmt s = Planned(MakeAllocate(t, MakeFor(1, i, Int(4), body)));
  EXPECT_EQ(Allocated(s).size(), 2u);
}

TEST(PlanStorageTest, DifferentElementTypesDoNotShare) {
  Buffer t = MakeBuffer("T", kF32, {Int(kLarge)});
  Buffer u = MakeBuffer("U", DType::Float(64), {Int(kLarge)});
  Stmt use = MakeStore(u, Float(1, DType::Float(64)), {Int(0)});
  Stmt s = Planned(
      MakeSeq({MakeAllocate(t, FillAndUse(t, Int(0))), MakeAllocate(u, use)}));
  EXPECT_EQ(Allocated(s).size(), 2u);
}

}  // namespace
}  // namespace kiln
