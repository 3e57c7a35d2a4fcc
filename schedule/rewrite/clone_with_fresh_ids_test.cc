#include "kiln/ir/tensor/clone_with_fresh_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

// Loops, a let, a block with iterators of its own, a tensor and a window onto
// one, and a block inside.
Function Rich() {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
    off = T.int64()
    for i in range(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:4])
            T.writes(B[vi, 0:4])
            kept = T.alloc_buffer((4,))
            row = T.match_buffer(A[vi, 0:4], (1, 4), strides=("s", 1), elem_offset=off, offset_factor=1)
            for j in range(4):
                with T.block("copy"):
                    vj = T.axis.spatial(4, j)
                    kept[vj] = row[0, vj]
            for j in range(4):
                with T.block("sum"):
                    vj = T.axis.spatial(4, j)
                    T.where(j < vi)
                    with T.init():
                        B[vi, vj] = T.float32(0)
                    B[vi, vj] = B[vi, vj] + kept[vj]
)");
}

// The loop over i, which all else stands in.
Stmt LoopOf(const Function& f) {
  return FindLoop(f, LoopsOf(f, "outer").at(0))->back();
}

// What a statement defines: ids, variables and tensors.
struct Definitions {
  std::set<LoopId> ids;
  std::set<const void*> objects;
  std::vector<std::string> blocks;
  explicit Definitions(const Stmt& stmt) {
    Visit(stmt, [&](const Stmt& s) {
      if (const auto* loop = s.As<ForNode>()) {
        ids.insert(loop->id);
        objects.insert(loop->var.get());
      }
      if (const auto* realize = s.As<BlockRealizeNode>()) Add(*realize->block);
      return true;
    });
  }
  void Add(const BlockNode& block) {
    ids.insert(block.id);
    blocks.push_back(block.name);
    for (const IterVar& iter : block.iters) objects.insert(iter.var.get());
    for (const Buffer& b : block.alloc_buffers) objects.insert(b.get());
    for (const auto& match : block.match_buffers) {
      objects.insert(match.buffer.get());
      objects.insert(match.buffer->strides[0].get());
      objects.insert(match.buffer->elem_offset.get());
    }
  }
};

template <typename T>
bool Disjoint(const std::set<T>& a, const std::set<T>& b) {
  for (const T& x : a) {
    if (b.count(x) > 0) return false;
  }
  return true;
}

TEST(CloneWithFreshIdsTest, IsTheSameButForNames) {
  Function f = Rich();
  const Stmt loop = LoopOf(f);
  EXPECT_TRUE(StructurallyEqual(loop, CloneWithFreshIds(loop, "_2", &f)));
}

TEST(CloneWithFreshIdsTest, BlocksGetTheSuffix) {
  Function f = Rich();
  const Stmt loop = LoopOf(f);
  EXPECT_THAT(Definitions(CloneWithFreshIds(loop, "_2", &f)).blocks,
              ElementsAre("outer_2", "copy_2", "sum_2"));
  EXPECT_THAT(Definitions(loop).blocks, ElementsAre("outer", "copy", "sum"));
}

TEST(CloneWithFreshIdsTest, SharesNothingThatTheStatementDefines) {
  Function f = Rich();
  const Stmt loop = LoopOf(f);
  const Stmt copy = CloneWithFreshIds(loop, "", &f);
  const Definitions before(loop), after(copy);
  EXPECT_EQ(after.ids.size(), before.ids.size());
  EXPECT_TRUE(Disjoint(before.ids, after.ids));
  EXPECT_EQ(after.objects.size(), before.objects.size());
  EXPECT_TRUE(Disjoint(before.objects, after.objects));
}

TEST(CloneWithFreshIdsTest, NoUseOfTheOldDefinitionsIsLeft) {
  Function f = Rich();
  const Stmt loop = LoopOf(f);
  const Definitions before(loop);
  const Stmt copy = CloneWithFreshIds(loop, "", &f);
  Visit(copy, [&](const Stmt& s) {
    ForEachExpr(s, [&](const Expr& e) {
      Visit(e, [&](const Expr& x) {
        EXPECT_EQ(before.objects.count(x.get()), 0);
        if (const auto* load = x.As<LoadNode>()) {
          EXPECT_EQ(before.objects.count(load->buffer.get()), 0);
        }
        return true;
      });
    });
    if (const auto* store = s.As<StoreNode>()) {
      EXPECT_EQ(before.objects.count(store->buffer.get()), 0);
    }
    return true;
  });
}

TEST(CloneWithFreshIdsTest, BothCopiesMayStandInOneFunction) {
  Function f = Rich();
  const Path path = *FindLoop(f, LoopsOf(f, "outer").at(0));
  const Stmt copy = CloneWithFreshIds(path.back(), "_2", &f);
  const Function both =
      ReplaceAt(std::move(f), path, MakeSeq({path.back(), copy}));
  KILN_EXPECT_OK(VerifyFunction(both));
}

// The extent of a match may be a variable that has a value already.
TEST(CloneWithFreshIdsTest, AMatchKeepsVariablesFromOutside) {
  Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    for i in range(2):
        with T.block("A"):
            vi = T.axis.spatial(2, i)
            T.reads()
            T.writes(A[0:n])
            all = T.match_buffer(A[0:n], (n,))
            for j in range(n):
                all[j] = T.float32(1)
)");
  const Path path = *FindLoop(f, LoopsOf(f, "A").at(0));
  const Stmt copy = CloneWithFreshIds(path.back(), "_2", &f);
  const auto extent = [](const Stmt& loop) {
    const auto* realize = loop.As<ForNode>()->body.As<BlockRealizeNode>();
    return realize->block->match_buffers[0].buffer->shape[0];
  };
  EXPECT_EQ(extent(copy), extent(path.back()));
  const Function both =
      ReplaceAt(std::move(f), path, MakeSeq({path.back(), copy}));
  KILN_EXPECT_OK(VerifyFunction(both));
}

TEST(CloneWithFreshIdsTest, WhatIsDefinedOutsideStays) {
  Function f = Rich();
  const Path path = *FindBlock(f, BlockNamed(f, "copy"));
  const Stmt copy = CloneWithFreshIds(path.back(), "_2", &f);
  const BlockNode& before = *path.realize()->block;
  const BlockNode& after = *copy.As<BlockRealizeNode>()->block;
  EXPECT_EQ(after.writes[0].buffer, before.writes[0].buffer);
  EXPECT_EQ(copy.As<BlockRealizeNode>()->values[0], path.realize()->values[0]);
  EXPECT_NE(after.iters[0].var, before.iters[0].var);
}

}  // namespace
}  // namespace kiln
